"""Check the formulas and reasons of a desk, then each case and the cases together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, meta, nodes

from ...cases import Case
from ...cases.read import read_case, with_canary
from ...errors import BadInput
from ...language.parser import parser_of
from ...language.sentences import fold, plain
from ..audit.audit import unsound_together
from .compiled import as_email, problems_of, reason_name
from .complaints import Complaints, nearest, texts
from .desk_file import FILE, REFUSE, DeskFile
from .formulas import evaluated, names_of
from .kind import with_numbers
from .phrases import pattern_of

SHORT = 12
"""Words of an email that is expected to name its matter."""
BUILT_IN = frozenset(names_of(SimpleNamespace(now=datetime(2026, 1, 1), policy={}), {}, {}, {}))
"""Names that every formula knows besides the columns of its row."""


def formulas(desk: DeskFile) -> Iterator[tuple[tuple[str, ...], str, str, dict[str, Any]]]:
    """Yield every formula of a desk: its path, its text, the table of its row, and arguments."""
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
        for fact, told in intent.tell.items():
            yield ("intents", name, "tell", fact, "value"), told.value, desk.subject, given


def check_formulas(
    found: Complaints, desk: DeskFile, columns: dict[str, list[str] | None], policy: dict[str, Any]
) -> None:
    """Check that formulas can be read and name only what exists."""
    for path, text, table, given in formulas(desk):
        where, own = ".".join(path), columns[table]
        try:
            tree = Environment(autoescape=True).parse("{{ (" + text + ") }}")
        except TemplateSyntaxError as error:
            found.add("unreadable", FILE, path, where=where, formula=text, why=error.message)
            continue
        known = {"policy": policy, "knows": desk.questions, "given": given}
        names = [(f"the table {table}", own, name, name) for name in meta.find_undeclared_variables(tree) - BUILT_IN]
        for node in tree.find_all(nodes.Getattr):
            if (of := getattr(node.node, "name", "")) in known:
                names.append((of, [*known[of]], node.attr, f"{of}.{node.attr}"))
        for owner, among, name, shown in names:
            if among is not None and name not in among:
                found.add("unknown", FILE, path, where=where, name=shown, owner=owner, near=nearest(name, among))
    for name in desk.acts.keys() - {intent.act for intent in desk.intents.values()}:
        found.add("unused_act", FILE, ["acts", name], name=name)


def check_rows(found: Complaints, desk: DeskFile, store: Any, places: dict[tuple[str, str], str]) -> None:
    """Evaluate each formula on each row; note idle rules, and words that any refusal has."""
    known_wrong = " ".join(one.why for one in found.all)
    for path, text, table, given in formulas(desk):
        where, values, failures = ".".join(path), set(), []
        for key, row in store.tables[table].items() if where not in known_wrong else ():
            names = names_of(store, row, given, dict.fromkeys(desk.questions, "-"))
            try:
                values.add(bool(evaluated(text, where, names)))
            except BadInput as error:
                failures.append((key, error.__context__ or error))
        if failures and (path[0] == "acts" or not values):  # what only some rows can tell, the cases show
            row, why = failures[0]
            words = {"row": row, "at": places.get((table, row), table), "why": why, "rows": len(failures)}
            found.add("failing", FILE, path, where=where, **words)
        elif path[-1] == "holds" and not re.search(r"\b(knows|given)\b", text) and len(values) == 1:
            found.add("always" if values.pop() else "never", FILE, path, where=where)
    for name, act in with_numbers(desk, found.folder).acts.items():
        for rule, declared in act.rules.items():
            place = ("acts", name, "rules", rule, "words")
            if declared.otherwise == REFUSE and reason_name(name, rule) not in parser_of(store).reasons_in(
                [declared.say]
            ):
                found.add("unheard", FILE, place, where=".".join(place[:-1]), say=declared.say)
            others = [*texts()["any"], *(r.say for other, r in act.rules.items() if other != rule)]
            for phrase in declared.words or [declared.say]:
                pattern = re.compile(rf"(?<!\w){pattern_of(phrase)}")
                if other := next((text for text in others if pattern.search(plain(text))), ""):
                    found.add("general", FILE, place, where=".".join(place), words=phrase, other=other)


def check_cases(found: Complaints, desk: DeskFile, store: Any) -> None:
    """Check the cases one by one, then together."""
    places: dict[str, tuple[str, list[Any]]] = {}
    cases: list[Case] = []
    last = [*texts()["problems"]].index("failing")
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
        for check, field, why in thin(raw, desk, store):
            found.add(check, file, [*path, field], case=case, why=why)
        if formulas_hold and not wrong:
            with found.reading(file, path):
                try:
                    cases.append(read_case(raw, store, found.folder / file))
                except (LookupError, TypeError, AttributeError) as error:
                    raise BadInput(f"case {case} has the wrong form ({error}): compare it with an example") from None
    if not places:
        found.add("empty", FILE, ["intents"])
    elif len(cases) == len(places):
        for name in desk.intents.keys() - {case.intent for case in cases}:
            found.add("no_cases", FILE, ["intents", name], name=name)
        for bucket in texts()["buckets"].keys() - {case.bucket for case in cases}:
            found.add("no_bucket", FILE, ["intents"], bucket=texts()["buckets"][bucket])
    for problem in unsound_together(store, cases):
        if problem.check == "near copy":
            found.add("copies", *places[problem.case_id], case=problem.case_id, why=problem.why)


def _written(found: Complaints, store: Any) -> Iterator[tuple[str, list[Any], Any]]:
    """Yield each case as written, with its file and its path there."""
    for path in sorted((found.folder / "cases").glob("*.yaml")):
        file = f"cases/{path.name}"
        with found.reading(file):
            listed = with_canary(found.yaml(file) or {}, path, store).get("cases")
            if not isinstance(listed, list):
                raise BadInput("it has no list of cases: begin it with a line `cases:`")
            yield from ((file, ["cases", number], raw) for number, raw in enumerate(listed))


def thin(raw: dict[str, Any], desk: DeskFile, store: Any) -> Iterator[tuple[str, str, str]]:
    """Yield what a customer could not answer: a check, a field of the case, and words."""
    row = store.tables[desk.subject].get(str(raw.get("row", raw.get("order"))))
    if row and not any(all(row.get(column) for column in way) for way in desk.ways):
        yield "unproved", "row", ", or ".join(" and ".join(way) for way in desk.ways)
    intent, email = desk.intents.get(str(raw.get("intent"))), str(as_email(raw)["text"] or "")
    if intent and email:
        act = desk.acts.get(intent.act)
        words = [raw["intent"], intent.description, intent.goal, *intent.tell, intent.act]
        words += [act.about, act.do, *act.words] if act else []
        short = len(email.split()) <= SHORT
        if (short or act) and not _stems(email) & _stems(" ".join(words)):
            yield "vague" if short else "elsewhere", "email", ""


def _stems(text: str) -> set[str]:
    return {word[:4] for word in re.findall(r"[^\W\d_]{4,}", fold(text)) if word not in texts()["empty"]}
