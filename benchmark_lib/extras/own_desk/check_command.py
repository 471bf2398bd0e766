"""``deskbench desk check``."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import yaml
from jinja2 import Environment, TemplateSyntaxError, meta, nodes
from pydantic import ValidationError

from ...cases import Case
from ...cases.read import read_case, with_canary
from ...cli.codes import FINISHED, UNSOUND
from ...commands import command
from ...errors import BadInput
from ...language.layout import ANY_YEAR
from ...language.parser import parser_of
from ...language.sentences import fold, plain
from ...language.values import values_in
from ...store import Store
from ...textfiles import front_matter, read_text, read_yaml
from ..audit.audit import audit, report, unsound_together
from .compiled import evaluated, names_of, problems_of, thin
from .desk_file import FILE, POLICY, REFUSE, DeskFile, desk_of, problems_of_form, rule_name, texts
from .kind import DECLARED
from .phrases import pattern_of

ARGUMENTS = {"FOLDER": "the folder of the desk, or its name under desks/"}
DESKS, STORE = Path("desks"), "store.yaml"
Place = Sequence[Any] | int
"""A line, or a path of keys and indices in a YAML file."""
Formula = tuple[tuple[str, ...], str, str, dict[str, Any]]
"""The path of a formula, its text, the table of its row, and the arguments of its act."""
BUILT_IN = frozenset(names_of(SimpleNamespace(now=datetime(2026, 1, 1), policy={}), {}, {}, {}))
"""Names that every formula may use besides the columns of its row."""


class Complaint(NamedTuple):
    """State what is wrong or odd, with its rank by importance, its place, and the remedy."""

    rank: int
    file: str
    line: int
    why: str

    @property
    def is_problem(self) -> bool:
        """Return whether the complaint makes the desk wrong; otherwise it is only worth a look."""
        return self.rank < len(texts("checks.yaml")["problems"])

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.why}"


class Complaints:
    """Collect the complaints about a folder, and know the lines of its YAML files."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.all: set[Complaint] = set()
        self._trees: dict[str, Any] = {}

    def add(self, check: str, file: str, place: Place, **words: Any) -> None:
        """Add a complaint in the words of a check in ``checks.yaml``."""
        every = {**texts("checks.yaml")["problems"], **texts("checks.yaml")["notes"]}
        line = place if isinstance(place, int) else self._line(file, place)
        self.all.add(Complaint([*every].index(check), file, line, every[check].format(**words)))

    def _line(self, file: str, path: Sequence[Any]) -> int:
        if file not in self._trees:
            self._trees[file] = yaml.compose(read_text(self.folder / file), getattr(yaml, "CSafeLoader", yaml.Loader))
        node, line = self._trees[file], 1
        for step in map(str, path):
            entries = {k.value: (k, v) for k, v in node.value} if isinstance(node, yaml.MappingNode) else {}
            if isinstance(node, yaml.SequenceNode):
                entries = {str(n): (one, one) for n, one in enumerate(node.value)}
            if step not in entries:
                break
            line, node = entries[step][0].start_mark.line + 1, entries[step][1]
        return line

    @contextmanager
    def reading(self, file: str, place: Place = 1, check: str = "file") -> Iterator[None]:
        """Turn a reading error into a complaint, at the place it names or else the given one."""
        try:
            yield
        except (BadInput, csv.Error) as error:
            why = " ".join(str(error).split()).removeprefix(f"{self.folder / file}").removeprefix(": ").strip()
            line = re.search(r"^:(\d+)|\bline (\d+)", why)
            self.add(check, file, int(line[1] or line[2]) if line else place, why=re.sub(r"^:\d+: ", "", why))

    def yaml(self, file: str) -> dict[str, Any] | None:
        """Return the mapping of a YAML file, or None with a complaint."""
        with self.reading(file):
            content = read_yaml(self.folder / file)
            if isinstance(content, dict):
                return content
            raise BadInput("it is empty or not of the form `name: value`: compare it with that of `deskbench desk new`")
        return None


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint at the nearest known name."""
    near = get_close_matches(name, known, 1, 0.6)
    return f"did you mean {near[0]}?" if near else f"the names are {', '.join(known) or 'none'}"


def folder_of(name: str) -> Path:
    """Return the folder of the desk that a user names; raise `BadInput` if there is none."""
    for folder in (Path(name), DESKS / name):
        if (folder / STORE).is_file() or (folder / FILE).is_file():
            return folder
    raise BadInput(f"there is no desk {name!r}: name its folder, or make one with `deskbench desk new NAME`")


def execute(options: argparse.Namespace) -> int:
    """Print everything that is missing or odd; if nothing is wrong, print the audit."""
    folder = folder_of(options.folder)
    complaints = check(folder)
    problems = [str(one) for one in complaints if one.is_problem]
    if not problems:
        done = audit(Store(folder))
        print(report(done))
        for problem in map(str, done.problems):
            why = (words for pattern, words in texts("checks.yaml")["audit"].items() if re.search(pattern, problem))
            problems.append(f"{problem} ({next(why, 'see docs/commands.md')})")
    notes = [str(one) for one in complaints if not one.is_problem]
    print("\n".join([*problems, *(["", "worth a look:"] if notes else []), *notes, ""]))
    print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if not problems:
        print(f"next: {command('run', 'MODEL', '--store', str(folder))}")
    return UNSOUND if problems else FINISHED


def check(folder: Path) -> list[Complaint]:
    """Return all problems and notes about a declared desk, the most important first.

    Raises
    ------
    BadInput
        If the folder contains a desk of another kind.
    """
    found = Complaints(folder)
    info, policy, content = found.yaml(STORE) or {}, found.yaml(POLICY) or {}, found.yaml(FILE)
    if info.get("kind", DECLARED) != DECLARED:
        raise BadInput(f"{folder} is of the kind {info['kind']!r}: use `deskbench audit --store {folder}`")
    for name, such in texts("checks.yaml")["such"].items():
        if not re.match(such["form"], str(info.get(name) or "")):
            found.add("store", STORE, [name], field=name, such=such["such"])
    for path in (folder / "cases").glob("*.yaml"):
        found.yaml(f"cases/{path.name}")
    desk = None
    with found.reading(FILE):
        try:
            desk = desk_of(content, policy, folder) if content else None
        except ValidationError as error:
            for place, why in problems_of_form(error):
                found.add("form", FILE, place, why=why)
    if desk is None:
        return sorted(found.all)
    places: dict[tuple[str, str], str] = {}
    known: dict[str, Any] = {f"the table {name}": _check_table(found, desk, name, places) for name in desk.tables}
    store = None
    with found.reading(STORE):
        store = None if found.all else Store(folder)
    for one in _formulas(desk):
        _check_formula(found, desk, one, {**known, "policy": policy}, store, places)
    for name in desk.acts.keys() - {intent.act for intent in desk.intents.values()}:
        found.add("unused_act", FILE, ["acts", name], name=name)
    if store is not None:
        _check_reasons(found, desk, store)
        _check_cases(found, desk, store)
        _check_texts(found, store, policy)
    return sorted(found.all)


def _check_table(found: Complaints, desk: DeskFile, name: str, places: dict[tuple[str, str], str]) -> list[str]:
    """Check the rows of a table and note their places; return its columns."""
    key, columns, file = desk.tables[name].key, list[str](), f"{name}.csv"
    with found.reading(file):
        lines = csv.DictReader(io.StringIO(read_text(found.folder / file), newline=""))
        columns = [column.strip() for column in lines.fieldnames or ()]
        for row in lines if key in columns else ():
            own, wide = (row.get(key) or "").strip(), None in row or None in row.values()
            if wide or not own or (name, own) in places:
                found.add("wide" if wide else "key", file, lines.line_num, key=key)
            places[name, own] = f"{file}:{lines.line_num}"
    wanted: dict[str, tuple[str, ...]] = {key: ("tables", name, "key")}
    if name == desk.subject:
        wanted |= {desk.owner.email: ("owner", "email"), desk.owner.name: ("owner", "name")}
        wanted |= {column: ("proofs",) for way in desk.proofs for column in way}
    for column in wanted.keys() - {*columns}:
        path = wanted[column]
        found.add("unknown", FILE, path, where=".".join(path), name=column, owner=file, near=nearest(column, columns))
    return columns


def _formulas(desk: DeskFile) -> Iterator[Formula]:
    for name, act in desk.acts.items():
        given = {a: d.choices[0] if d.choices else int(d.number) for a, d in act.arguments.items()}
        parts: dict[tuple[str, ...], Any] = {("sets", column): value for column, value in act.sets.items()}
        parts |= {("rules", rule, "holds"): declared.holds for rule, declared in act.rules.items()}
        parts |= {("gives", what): value for what, value in act.gives.items()}
        yield from (
            (("acts", name, *path), text, desk.on(name), given) for path, text in parts.items() if isinstance(text, str)
        )
    for name, intent in desk.intents.items():
        given = dict.fromkeys(desk.acts[intent.act].arguments, "-") if intent.act else {}
        for fact, tell in intent.tell.items():
            yield ("intents", name, "tell", fact, "value"), tell.value, desk.subject, given


def _check_formula(
    found: Complaints, desk: DeskFile, one: Formula, known: dict[str, Any], store: Any, places: dict[Any, str]
) -> None:
    """Check that a formula is readable and uses only known names; then evaluate it on each row."""
    path, text, table, given = one
    where, values, failures = ".".join(path), set(), []
    try:
        tree = Environment(autoescape=True).parse("{{ (" + text + ") }}")
    except TemplateSyntaxError as error:
        return found.add("unreadable", FILE, path, where=where, formula=text, why=error.message)
    known = {"knows": desk.questions, "given": given, **known}
    names = [(f"the table {table}", name, name) for name in meta.find_undeclared_variables(tree) - BUILT_IN]
    for node in tree.find_all(nodes.Getattr):
        if (of := getattr(node.node, "name", "")) in ("policy", "knows", "given"):
            names.append((of, node.attr, f"{of}.{node.attr}"))
    wrong = [(owner, name, shown) for owner, name, shown in names if name not in known[owner]]
    for owner, name, shown in wrong:
        near = nearest(name, [*known[owner]])
        found.add("unknown", FILE, path, where=where, name=shown, owner=owner, near=near)
    for key, row in store.tables[table].items() if store and not wrong else ():
        try:
            names_there = names_of(store, row, given, dict.fromkeys(desk.questions, "-"))
            values.add(bool(evaluated(text, where, names_there)))
        except BadInput as error:
            failures.append((key, error.__context__ or error))
    if failures and (path[0] == "acts" or not values):  # the cases show whatever only some rows can tell
        row, why = failures[0]
        words = {"row": row, "at": places.get((table, row), table), "why": why, "rows": len(failures)}
        found.add("failing", FILE, path, where=where, **words)
    elif path[-1] == "holds" and not re.search(r"\b(knows|given)\b", text) and len(values) == 1:
        found.add("always" if values.pop() else "never", FILE, path, where=where)
    return None


def _check_reasons(found: Complaints, desk: DeskFile, store: Any) -> None:
    """Check that each refusal is understood, and that its words match no other answer."""
    for (act, name), rule in desk.rules.items():
        place = ("acts", act, "rules", name, "words")
        if rule.otherwise == REFUSE and rule_name(act, name) not in parser_of(store).reasons_in([rule.say]):
            found.add("unheard", FILE, place, where=".".join(place[:-1]), say=rule.say)
        own = [r.say for other, r in desk.acts[act].rules.items() if other != name]
        for phrase in rule.words or [rule.say]:
            pattern = re.compile(rf"(?<!\w){pattern_of(phrase)}")
            answers = (text for text in [*texts("checks.yaml")["any"], *own] if pattern.search(plain(text)))
            if other := next(answers, ""):
                found.add("general", FILE, place, where=".".join(place), words=phrase, other=other)


def _check_cases(found: Complaints, desk: DeskFile, store: Any) -> None:
    """Check the cases one by one, then together."""
    places: dict[str, tuple[str, list[Any]]] = {}
    cases: list[Case] = []
    last = [*texts("checks.yaml")["problems"]].index("failing")
    formulas_hold = all(one.rank > last for one in found.all)
    for file, path, raw in _written(found, store):
        case = str(raw.get("id")) if isinstance(raw, dict) else ""
        if not re.fullmatch(r"[a-z0-9_]+", case) or case in places:
            found.add("id", file, path, case=case)
            continue
        places[case] = file, path
        wrong = [*problems_of(raw, store, desk)]
        for field, why in wrong:
            found.add("case", file, [*path, *field.split(".")], case=case, field=field, why=why)
        for name, field, why in thin(raw, desk, store):
            found.add(name, file, [*path, field], case=case, why=why)
        if formulas_hold and not wrong:
            with found.reading(file, path):
                try:
                    cases.append(read_case(raw, store, found.folder / file))
                except (LookupError, TypeError, AttributeError) as error:
                    raise BadInput(f"case {case} has the wrong form ({error}): compare it with an example") from None
    if not places:
        found.add("empty", FILE, ["intents"])
    elif len(cases) == len(places):
        buckets = texts("checks.yaml")["buckets"]
        for name in desk.intents.keys() - {case.intent for case in cases}:
            found.add("no_cases", FILE, ["intents", name], name=name)
        for bucket in buckets.keys() - {case.bucket for case in cases}:
            found.add("no_bucket", FILE, ["intents"], bucket=buckets[bucket])
    for problem in unsound_together(store, cases):
        if problem.check == "near copy":
            found.add("copies", *places[problem.case_id], case=problem.case_id, why=problem.why)


def _written(found: Complaints, store: Any) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield each case as written, with its file and its path in that file."""
    for path in sorted((found.folder / "cases").glob("*.yaml")):
        file = f"cases/{path.name}"
        with found.reading(file):
            listed = with_canary(found.yaml(file) or {}, path, store).get("cases")
            if not isinstance(listed, list):
                raise BadInput("it has no list of cases: begin it with the line `cases:`")
            yield from ((file, ["cases", number], raw) for number, raw in enumerate(listed))


def _check_texts(found: Complaints, store: Any, policy: Any) -> None:
    """Check articles and queues, and that the numbers in texts come from the policy."""
    for path in [found.folder / FILE, *sorted((found.folder / "articles").glob("*.md"))]:
        file = str(path.relative_to(found.folder))
        with found.reading(file, check="article"):
            head, text = front_matter(path)
            missing = [name for name in ("id", "title", "topics") if not head.get(name) and file != FILE]
            if missing:
                found.add("head", file, 1, missing=", ".join(missing))
            store.filled(text if file != FILE else "", str(path))
        for line, typed, same, others in _typed_numbers(read_text(path), policy):
            if same:
                found.add("typed", file, line, typed=typed, name=same)
            elif others and file != FILE:
                found.add("differs", file, line, typed=typed, known=others)
    queues = {**store.policy["queues"], **(policy.get("queues") or {})}
    for name in (name for name, meaning in queues.items() if not meaning):
        found.add("no_meaning", POLICY, ["queues", name], name=name)


def _typed_numbers(text: str, policy: dict[str, Any]) -> Iterator[tuple[int, str, str, str]]:
    """Yield each typed number: line, words, its name in the policy, and others of the same unit."""
    for number, line in enumerate(re.sub(r"\{\{.*?\}\}|#.*", "-", text).split("\n"), 1):
        for value in values_in(fold(line), ANY_YEAR):
            pattern = texts("checks.yaml")["units"].get(value.kind, "(?!)")
            own = {name: n for name, n in policy.items() if isinstance(n, int) and re.search(pattern, name)}
            cents = {name: 100 if value.kind == "money" and "cent" not in name else 1 for name in own}
            same = " or ".join(name for name, n in own.items() if str(cents[name] * n) == value.value)
            others = ", ".join(f"{name} {n}" for name, n in own.items())
            yield number, fold(line)[value.at : value.end].strip(), same, others
