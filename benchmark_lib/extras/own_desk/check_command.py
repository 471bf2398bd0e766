"""``deskbench desk check``."""

import argparse
import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from statistics import median
from typing import Any

import yaml
from jinja2 import TemplateSyntaxError
from pydantic import ValidationError

from ...cases import Case
from ...cases.read import read_case, with_canary
from ...cli.codes import FINISHED, UNSOUND
from ...commands import command
from ...errors import BadInput
from ...language.layout import ANY_YEAR
from ...language.parser import parser_of
from ...language.sentences import fold
from ...language.values import money, values_in
from ...store import FolderStore
from ...textfiles import front_matter, nearest, read_text, read_yaml, render
from ..audit.audit import audit, report, unsound_together
from . import desk_file
from .compiled import BadFormula, Situation, joined_in, odd, problems_of, rules_tried, thin
from .desk_file import DECLARED, FILE, POLICY, REFUSE, STORE, DeskFile, Row, desk_of, problems_of_form, refusal, texts
from .documents import typed_in

ARGUMENTS = {"FOLDER": "the folder of the desk, or its name under desks/"}
DESKS = Path("desks")
AMOUNT = re.compile(r"[$€£] ?\d[\d.,]*|\d[\d,]*[.,]\d\d?|\d{1,3}(,\d{3})+")
"""An amount as a spreadsheet writes it, in dollars rather than in cents."""
SMALL, LISTED = 1000, 4
"""Cents below which an amount may be meant in dollars; maximum further places that a complaint lists."""


def folder_of(name: str) -> Path:
    """Return the folder of the desk that a user names; raise `BadInput` if there is none."""
    for folder in (Path(name), DESKS / name):
        if (folder / STORE).is_file() or (folder / FILE).is_file():
            return folder
    raise refusal("no_desk", name=name)


def execute(options: argparse.Namespace) -> int:
    """Print everything that is missing or odd; if nothing is wrong, print the audit."""
    folder = folder_of(options.folder)
    found = Complaints(folder)
    problems, notes = found.listed("problems"), found.listed("notes")
    if not problems:
        done = audit(FolderStore(folder))
        print(report(done))
        for problem in map(str, done.problems):
            why = (words for pattern, words in found.words["audit"].items() if re.search(pattern, problem))
            problems.append(f"{problem} ({next(why, 'see docs/commands.md')})")
    print("\n".join([*problems, *(["", "worth a look:"] if notes else []), *notes, ""]))
    print(f"{len(problems)} problem{'s' * (len(problems) != 1)}")
    if not problems:
        print(f"next: {command('run', 'MODEL', '--store', str(folder))}")
    return UNSOUND if problems else FINISHED


class Complaints:
    """Everything that is missing or odd in a desk; raise `BadInput` for one of another kind.

    `all` has the complaints by check, file and topic, and `rows` the line of each row.
    """

    desk: DeskFile
    store: Any = None

    def __init__(self, folder: Path):
        self.folder, self.words = folder, texts("checks.yaml")
        self.all = defaultdict[tuple[str, str, str], dict[str, tuple[int, str]]](dict)
        self.rows = defaultdict[str, dict[str, int]](dict)
        self.odd: set[str] = set()
        self._trees: dict[str, Any] = {}
        self.drafted = desk_file.mark_of(folder).get("numbers", {})
        info, self.policy, content = map(self._yaml, (STORE, POLICY, FILE))
        if (kind := info.get("kind", DECLARED)) != DECLARED:
            raise refusal("kind", folder=folder, kind=kind)
        for name, such in self.words["such"].items():
            if not re.match(such["form"], str(info.get(name) or "")):
                self.add("store", STORE, [name], field=name, such=such["such"])
        paths = sorted((folder / "cases").glob("*.yaml"))
        cases = {file: self._yaml(file) for file in (f"cases/{path.name}" for path in paths)}
        with self._reading(FILE):
            try:
                if content:
                    self.desk = desk_of(content, self.policy, folder, self._reading)
                    self._check_tables()
            except ValidationError as error:
                for place, why in problems_of_form(error):
                    self.add("form", FILE, place, why=why)
        if not self.all:
            with self._reading(STORE):
                self.store = FolderStore(folder)
        if content and self.policy:
            self._check_texts(info)
        if self.store:
            self._check_cells()
            if not {"article", "head"} & {check for check, *_ in self.all}:
                self._check_names()
                self._check_cases(cases)

    def add(self, check: str, file: str, place: Any, /, about: str = "", at: str = "", **words: Any) -> None:
        """Add a complaint at a line or a path of YAML keys; those `about` one thing become one."""
        line = place if isinstance(place, int) else self._line(file, place)
        why = (self.words["problems"] | self.words["notes"])[check].format(at=at, **words)
        self.all[check, file, about or why].setdefault(at or f"line {line}", (line, why))

    def listed(self, part: str) -> list[str]:
        """Return the lines of the problems or of the notes, the most important first."""
        order, lines = [*self.words[part]], []
        for (check, file, _), places in ((key, places) for key, places in self.all.items() if key[0] in order):
            line, why = next(iter(places.values()))
            others = ", ".join([*places][1 : LISTED + 1]) + " ..." * (len(places) > LISTED + 1)
            more = self.words["more"].format(count=len(places) - 1, places=others) if others else ""
            lines.append((order.index(check), file, line, f"{file}:{line}: {why}{more}"))
        return [line for *_, line in sorted(lines)]

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
            line = entries[step][0].start_mark.line + 1
            node = entries[step][1]
        return line

    @contextmanager
    def _reading(self, file: str, place: Sequence[Any] | int = 1, check: str = "file") -> Iterator[None]:
        """Turn a reading error into a complaint, at the place it names or else the given one."""
        try:
            yield
        except (BadInput, csv.Error) as error:
            why = " ".join(str(error).split()).removeprefix(f"{self.folder / file}").removeprefix(": ").strip()
            line = ["".join(one) for one in re.findall(r"^:(\d+)|\bline (\d+)", why)]
            if place == 1 and (named := re.search(r"\bnames ([\w.]+), which", why)):
                lines = read_text(self.folder / file).split("\n")
                place = next((n for n, one in enumerate(lines, 1) if named[1] in one), 1)
            self.add(check, file, int(line[-1]) if line else place, why=re.sub(r"^:\d+: ", "", why))

    def _yaml(self, file: str) -> Row:
        with self._reading(file):
            content = read_yaml(self.folder / file)
            if isinstance(content, dict):
                return content
            raise refusal("form")
        return {}

    def _unknown(self, path: Sequence[str], name: str, owner: str, known: Sequence[str]) -> None:
        hint = nearest(name.rpartition(".")[2], known)
        self.add("unknown", FILE, path, where=".".join(path), name=name, owner=owner, near=hint)

    def _check_tables(self) -> None:
        for name, table in self.desk.tables.items():
            key, file, rows = table.key, f"{name}.csv", self.rows[name]
            with self._reading(file):
                lines = csv.DictReader(io.StringIO(read_text(self.folder / file), newline=""))
                columns = [column.strip() for column in lines.fieldnames or ()]
                mark = next((mark for mark in ";\t|" if key in "".join(columns[:1]).split(mark)), "")
                if mark and key not in columns:
                    self.add("separated", file, 1, mark=mark.replace("\t", "tab"))
                elif key not in columns:
                    self._unknown(("tables", name, "key"), key, file, columns)
                for row in (row for row in lines if any(row.values())) if key in columns else ():
                    own = (row.get(key) or "").strip()
                    wide = None in row or None in row.values()
                    if wide or not own or own in rows:
                        check = "wide" if wide else "key"
                        self.add(check, file, lines.line_num, about=check, key=key)
                    rows[own] = lines.line_num

    def _check_cells(self) -> None:
        told = [one for intent in self.desk.intents.values() for one in intent.tell.values()]
        formulas = " ".join(one.value for one in told if one.kind == "money")
        dates = {one.value for one in told if one.kind == "date"}
        for table, lines in self.rows.items():
            file, amounts = f"{table}.csv", defaultdict[str, dict[int, int]](dict)
            cells = ((line, *cell) for row, line in lines.items() for cell in self.store.tables[table][row].items())
            for line, column, value in cells:
                in_cents = "cents" in column or re.search(rf"\b{re.escape(column)}\b", formulas)
                kind = "money" if in_cents and AMOUNT.fullmatch(str(value)) else ""
                if value is not None and (why := odd("date" if column in dates else kind, value)):
                    self.odd.add(column)
                    self.add("cell", file, line, about=column, column=column, why=why)
                elif in_cents and isinstance(value, int) and value:
                    amounts[column][line] = value
            largest = max((max(own.values()) for own in amounts.values()), default=0)
            for column, own in amounts.items():
                top, (line, cents) = max(own.values()), next(iter(own.items()))
                if top < SMALL and (largest < SMALL or median(own.values()) < 100):
                    read = f"{cents} is read as {money(cents)}"
                    self.add("dollars", file, line, column=column, read=read, top=money(top), cents=100 * cents)

    def _columns(self, table: str) -> list[str]:
        return [*(joined_in(self.store, table, next(iter(self.store.tables[table]), ""), self.desk) or ())]

    def _check_names(self) -> None:
        desk, subject = self.desk, self.desk.subject
        columns = self._columns(subject)
        wanted = {column: ["owner", part] for column, part in zip(desk.heads, ("email", "name"))}
        wanted |= {column: ["proofs"] for way in desk.proofs for column in way}
        for column in wanted.keys() - {*columns} if columns else ():
            self._unknown(wanted[column], column, f"{subject}.csv", columns)
        for name, own in desk.acts.items():
            on = desk.on(name)
            known = [*own.arguments, *self._columns(on)]
            for part, said in (("do", own.do), ("done", own.done)):
                for one in {*re.findall(r"\{(\w+)\}", said)} - {*known}:
                    self._unknown(["acts", name, part], one, f"the table {on}", known)
        for name in desk.acts.keys() - {intent.act for intent in desk.intents.values()}:
            self.add("unused_act", FILE, ["acts", name], name=name)
        for (act, name), rule in desk.rules.items():
            place = ("acts", act, "rules", name, "words")
            for one in re.findall(r"\{(\w+)\}", rule.say):
                self.add("column", FILE, [*place[:-1], "say"], where=".".join(place[:-1]), name=one)
            if rule.otherwise == REFUSE and desk.reason_of(rule) not in parser_of(self.store).reasons_in([rule.say]):
                self.add("unheard", FILE, place, where=".".join(place[:-1]), say=rule.say)
        queues = {REFUSE: REFUSE, **(self.policy.get("queues") or {})}
        used = {r.otherwise: ["acts", act, "rules", name, "otherwise"] for (act, name), r in desk.rules.items()}
        used |= {intent.queue: ["intents", name, "queue"] for name, intent in desk.intents.items()}
        for name, meaning in {**self.store.policy["queues"], **queues}.items():
            if name in used and name not in queues and get_close_matches(name, queues, 1, 0.6):
                self._unknown(used[name], name, POLICY, [*queues])
            elif not meaning:
                self.add("no_meaning", POLICY, ["queues", name], name=name)

    def _check_cases(self, files: dict[str, Row]) -> None:
        places: dict[str, tuple[str, list[Any]]] = {}
        cases: list[Case] = []
        for file, content in files.items():
            with self._reading(file):
                listed = with_canary(content, self.folder / file, self.store).get("cases")
                if not isinstance(listed, list):
                    raise refusal("cases_list")
                for number, raw in enumerate(listed):
                    case = str(raw.get("id")) if isinstance(raw, dict) else ""
                    path = ["cases", number]
                    if not re.fullmatch(r"[a-z0-9_]+", case) or case in places:
                        self.add("id", file, path, case=case)
                        continue
                    places[case] = file, path
                    cases += self._case(raw, file, path)
        if not places:
            self.add("empty", FILE, ["intents"])
        elif len(cases) == len(places):
            tried = {(rule, holds) for _, rule, holds in rules_tried(self.store, self.desk)}
            for act, name in self.desk.rules:
                where, rule = ("acts", act, "rules", name, "holds"), (act, name)
                if not {(rule, True), (rule, False)} <= tried:
                    check = "never" if (rule, False) in tried else "always"
                    self.add(check, FILE, where, where=".".join(where))
            for name in self.desk.intents.keys() - {case.intent for case in cases}:
                self.add("no_cases", FILE, ["intents", name], name=name)
            for bucket in self.words["buckets"].keys() - {case.bucket for case in cases}:
                self.add("no_bucket", FILE, ["intents"], bucket=self.words["buckets"][bucket])
        for problem in unsound_together(self.store, cases):
            if problem.check == "near copy":
                self.add("copies", *places[problem.case_id], case=problem.case_id, why=problem.why)

    def _case(self, raw: Row, file: str, path: list[Any]) -> list[Case]:
        case, here = raw["id"], Situation(raw, self.store, self.desk)
        wrong = [*problems_of(here)]
        for field, why in wrong:
            self.add("case", file, [*path, *field.split(".")], case=case, field=field, why=why)
        for name, field in thin(here):
            self.add(name, file, [*path, field], case=case, ways=", or ".join(map(" and ".join, self.desk.ways)))
        if wrong:
            return []
        with self._reading(file, path):
            row = [*map(str, here.changed.values())]
            for text in here.says:
                self._check_typed(text, file, [*path, "must_say"], "stale", case=case, row=row)
            try:
                return [read_case(raw, self.store, self.folder / file)]
            except BadFormula as error:
                self._add_formula(error, here)
            except (LookupError, TypeError, AttributeError) as error:
                raise refusal("case_form", case=case, error=error) from None
        return []

    def _add_formula(self, error: BadFormula, case: Situation) -> None:
        table = self.desk.on(case.intent.act)
        path = error.place.split(".")
        part = re.search(rf"(policy|knows|given)\.{error.unknown}\b", error.formula)
        if error.unknown and part:
            self._unknown(path, part[0], part[1], [*case.names[part[1]]])
        elif error.unknown:
            self._unknown(path, error.unknown, f"the table {table}", [*case.names])
        elif isinstance(error.why, TemplateSyntaxError):
            self.add("formula", FILE, path, where=error.place, formula=error.formula, why=error.why)
        elif not any(re.search(rf"\b{column}\b", error.formula) for column in self.odd):
            row = case.changed[self.desk.tables[table].key]
            at = f"{row} at {table}.csv:{self.rows[table][row]}"
            cells = {n: cell for n, cell in case.changed.items() if re.search(rf"\b{n}\b", error.formula)}
            typed = [f"{n}: {cell}" for n, cell in cells.items() if AMOUNT.fullmatch(str(cell))]
            said = self.words["failing"]
            why = said["not_whole"].format(cell=typed[0]) if typed else error.why
            other = said["empty"] if None in cells.values() else ""
            self.add("failing", FILE, path, about=error.place, at=at, where=error.place, why=why, other=other)

    def _check_texts(self, info: Row) -> None:
        names = vars(self.store) if self.store else {"policy": self.policy, "info": info}
        for path in [self.folder / FILE, *sorted((self.folder / "articles").glob("*.md"))]:
            file = str(path.relative_to(self.folder))
            with self._reading(file, check="article"):
                head, text = front_matter(path)
                missing = [name for name in ("id", "title", "topics") if not head.get(name) and file != FILE]
                if missing:
                    self.add("head", file, 1, missing=", ".join(missing))
                render(text if file != FILE else "", str(path), policy=names["policy"], store=names["info"])
            for number, line in enumerate(read_text(path).split("\n"), 1):
                self._check_typed(line, file, number, "" if file == FILE else "differs")

    def _check_typed(self, text: str, file: str, place: Any, differs: str, **known: Any) -> None:
        plain = fold(re.sub(r"\{\{.*?\}\}|#.*", "-", text))
        for name, (was, unit) in self.drafted.items():
            for at, end in typed_in(plain, was, unit).items() if name in self.policy else ():
                check, now = "former" if self.policy[name] != was else "typed", self.policy[name]
                self.add(check, file, place, typed=plain[at:end], name=name, now=now)
        for value in values_in(plain, ANY_YEAR):
            unit = self.words["units"].get(value.kind, "(?!)")
            typed = plain[value.at : value.end].strip()
            own = {name: n for name, n in self.policy.items() if isinstance(n, int) and re.search(unit, name)}
            cents = {name: 100 if value.kind == "money" and "cent" not in name else 1 for name in own}
            if same := " or ".join(name for name, n in own.items() if str(cents[name] * n) == value.value):
                self.add("typed", file, place, typed=typed, name=same)
            elif own and differs and value.value not in known.get("row", ()):
                others = ", ".join(f"{name} {n}" for name, n in own.items())
                self.add(differs, file, place, typed=typed, known=others, **known)
