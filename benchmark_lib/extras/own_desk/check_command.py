"""``deskbench desk check``."""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
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
from .compiled import BadFormula, Situation, joined_in, problems_of, thin
from .desk_file import FILE, POLICY, REFUSE, DeskFile, desk_of, problems_of_form, rule_name, texts
from .kind import DECLARED
from .phrases import pattern_of

ARGUMENTS = {"FOLDER": "the folder of the desk, or its name under desks/"}
DESKS, STORE = Path("desks"), "store.yaml"
Complaint = tuple[int, str, int, str]
"""What is wrong or odd: its rank by importance, its file and line, and a sentence with the remedy."""


class Complaints:
    """Collect the complaints about a folder, and know the lines of its YAML files."""

    def __init__(self, folder: Path):
        self.folder, self.words = folder, texts("checks.yaml")
        self.all: set[Complaint] = set()
        self._trees: dict[str, Any] = {}

    def add(self, check: str, file: str, place: Sequence[Any] | int, **words: Any) -> None:
        """Add a complaint in the words of ``checks.yaml``, at a line or at a path of keys in a YAML file."""
        every = self.words["problems"] | self.words["notes"]
        line = place if isinstance(place, int) else self._line(file, place)
        self.all.add(([*every].index(check), file, line, every[check].format(**words)))

    def listed(self, part: str) -> list[str]:
        """Return the lines of the problems or of the notes, the most important first."""
        first = len(self.words["problems"])
        own = (one for one in sorted(self.all) if (one[0] < first) == (part == "problems"))
        return [f"{file}:{line}: {why}" for _, file, line, why in own]

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
    def reading(self, file: str, place: Sequence[Any] | int = 1, check: str = "file") -> Iterator[None]:
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
    found = check(folder)
    problems, notes = found.listed("problems"), found.listed("notes")
    if not problems:
        done = audit(Store(folder))
        print(report(done))
        for problem in map(str, done.problems):
            why = (words for pattern, words in found.words["audit"].items() if re.search(pattern, problem))
            problems.append(f"{problem} ({next(why, 'see docs/commands.md')})")
    print("\n".join([*problems, *(["", "worth a look:"] if notes else []), *notes, ""]))
    print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if not problems:
        print(f"next: {command('run', 'MODEL', '--store', str(folder))}")
    return UNSOUND if problems else FINISHED


def check(folder: Path) -> Complaints:
    """Find all that is wrong or odd in a declared desk; raise `BadInput` for a desk of another kind."""
    found = Complaints(folder)
    info, policy, content = found.yaml(STORE) or {}, found.yaml(POLICY) or {}, found.yaml(FILE)
    if info.get("kind", DECLARED) != DECLARED:
        raise BadInput(f"{folder} is of the kind {info['kind']!r}: use `deskbench audit --store {folder}`")
    for name, such in found.words["such"].items():
        if not re.match(such["form"], str(info.get(name) or "")):
            found.add("store", STORE, [name], field=name, such=such["such"])
    for path in (folder / "cases").glob("*.yaml"):
        found.yaml(f"cases/{path.name}")
    desk, store = None, None
    with found.reading(FILE):
        try:
            desk = desk_of(content, policy, folder) if content else None
        except ValidationError as error:
            for place, why in problems_of_form(error):
                found.add("form", FILE, place, why=why)
    places = {place: at for name in desk.tables for place, at in _rows(found, desk, name)} if desk else {}
    with found.reading(STORE):
        store = None if found.all or desk is None else Store(folder)
    if desk and store:
        for name in desk.acts.keys() - {intent.act for intent in desk.intents.values()}:
            found.add("unused_act", FILE, ["acts", name], name=name)
        _check_owner(found, desk, store)
        _check_reasons(found, desk, store)
        _check_cases(found, desk, store, places)
        _check_texts(found, store, policy)
    return found


def _rows(found: Complaints, desk: DeskFile, name: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Check the rows of a table; yield each row's table and key, and its place."""
    key, file, seen = desk.tables[name].key, f"{name}.csv", set[str]()
    with found.reading(file):
        lines = csv.DictReader(io.StringIO(read_text(found.folder / file), newline=""), skipinitialspace=True)
        columns = [column.strip() for column in lines.fieldnames or ()]
        if key not in columns:
            _unknown(found, ("tables", name, "key"), key, file, columns)
        for row in lines if key in columns else ():
            own, wide = (row.get(key) or "").strip(), None in row or None in row.values()
            if wide or not own or own in seen:
                found.add("wide" if wide else "key", file, lines.line_num, key=key)
            seen.add(own)
            yield (name, own), f"{file}:{lines.line_num}"


def _unknown(found: Complaints, path: Sequence[str], name: str, owner: str, known: Sequence[str]) -> None:
    near = nearest(name.rpartition(".")[2], known)
    found.add("unknown", FILE, path, where=".".join(path), name=name, owner=owner, near=near)


def _check_owner(found: Complaints, desk: DeskFile, store: Any) -> None:
    columns = [*(joined_in(store, desk.subject, next(iter(store.tables[desk.subject]), ""), desk) or ())]
    wanted = {desk.owner.email: ("owner", "email"), desk.owner.name: ("owner", "name")}
    wanted |= {column: ("proofs",) for way in desk.proofs for column in way}
    for column in wanted.keys() - {*columns} if columns else ():
        _unknown(found, wanted[column], column, f"{desk.subject}.csv", columns)


def _check_reasons(found: Complaints, desk: DeskFile, store: Any) -> None:
    """Check that each refusal is understood, and that its words match no other answer."""
    for (act, name), rule in desk.rules.items():
        place = ("acts", act, "rules", name, "words")
        if rule.otherwise == REFUSE and desk.reason_of(rule) not in parser_of(store).reasons_in([rule.say]):
            found.add("unheard", FILE, place, where=".".join(place[:-1]), say=rule.say)
        own = [r.say for other, r in desk.acts[act].rules.items() if other != name]
        for phrase in rule.words or [rule.say]:
            pattern = re.compile(rf"(?<!\w){pattern_of(phrase)}")
            answers = (text for text in [*found.words["any"], *own] if pattern.search(plain(text)))
            if other := next(answers, ""):
                found.add("general", FILE, place, where=".".join(place), words=phrase, other=other)


def _check_cases(found: Complaints, desk: DeskFile, store: Any, rows: dict[Any, str]) -> None:
    """Check the cases one by one, with the formulas that they need, then together."""
    places: dict[str, tuple[str, list[Any]]] = {}
    cases: list[Case] = []
    tried: dict[tuple[str, str], set[bool]] = {place: set() for place in desk.rules}
    for file, path, raw in _written(found, store):
        case = str(raw.get("id")) if isinstance(raw, dict) else ""
        if not re.fullmatch(r"[a-z0-9_]+", case) or case in places:
            found.add("id", file, path, case=case)
            continue
        places[case] = file, path
        wrong = [*problems_of(raw, store, desk)]
        for field, why in wrong:
            found.add("case", file, [*path, *field.split(".")], case=case, field=field, why=why)
        for name, field in thin(raw, desk, store):
            found.add(name, file, [*path, field], case=case, ways=", or ".join(map(" and ".join, desk.ways)))
        with found.reading(file, path):
            try:
                cases += [] if wrong else [read_case(raw, store, found.folder / file)]
                if not wrong and "outcomes" not in raw:
                    here = Situation(raw, store, desk)
                    for name in here.rules:
                        tried[here.intent.act, name].add(name not in here.unmet)
            except BadFormula as error:
                _add_formula(found, error, Situation(raw, store, desk), rows)
            except (LookupError, TypeError, AttributeError) as error:
                raise BadInput(f"case {case} has the wrong form ({error}): compare it with an example") from None
    if not places:
        found.add("empty", FILE, ["intents"])
    elif len(cases) == len(places):
        for (act, rule), values in tried.items():
            where = ("acts", act, "rules", rule, "holds")
            if len(values) < 2:
                found.add("never" if values == {False} else "always", FILE, where, where=".".join(where))
        for name in desk.intents.keys() - {case.intent for case in cases}:
            found.add("no_cases", FILE, ["intents", name], name=name)
        for bucket in found.words["buckets"].keys() - {case.bucket for case in cases}:
            found.add("no_bucket", FILE, ["intents"], bucket=found.words["buckets"][bucket])
    for problem in unsound_together(store, cases):
        if problem.check == "near copy":
            found.add("copies", *places[problem.case_id], case=problem.case_id, why=problem.why)


def _add_formula(found: Complaints, error: BadFormula, case: Situation, rows: dict[Any, str]) -> None:
    """Add a complaint about a formula that fails in a case."""
    table, path = case.desk.on(case.intent.act), error.place.split(".")
    part = re.search(rf"(policy|knows|given)\.{error.unknown}\b", error.formula)
    if error.unknown:
        known, owner = (case.names[part[1]], part[1]) if part else (case.names, f"the table {table}")
        return _unknown(found, path, part[0] if part else error.unknown, owner, [*known])
    row = case.changed[case.desk.tables[table].key]
    at = rows.get((table, row), table)
    return found.add("failing", FILE, path, where=error.place, row=row, at=at, why=error.why)


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
        for number, line in enumerate(re.sub(r"\{\{.*?\}\}|#.*", "-", read_text(path)).split("\n"), 1):
            for value in values_in(fold(line), ANY_YEAR):
                pattern, typed = found.words["units"].get(value.kind, "(?!)"), fold(line)[value.at : value.end].strip()
                own = {name: n for name, n in policy.items() if isinstance(n, int) and re.search(pattern, name)}
                cents = {name: 100 if value.kind == "money" and "cent" not in name else 1 for name in own}
                same = " or ".join(name for name, n in own.items() if str(cents[name] * n) == value.value)
                if same:
                    found.add("typed", file, number, typed=typed, name=same)
                elif own and file != FILE:
                    others = ", ".join(f"{name} {n}" for name, n in own.items())
                    found.add("differs", file, number, typed=typed, known=others)
    for name, meaning in {**store.policy["queues"], **(policy.get("queues") or {})}.items():
        if not meaning:
            found.add("no_meaning", POLICY, ["queues", name], name=name)
