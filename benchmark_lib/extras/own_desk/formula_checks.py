"""Check the formulas and reasons of a desk file against its tables and its policy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from jinja2 import Environment, TemplateSyntaxError, meta, nodes

from ...errors import BadInput
from ...language.parser import parser_of
from ...language.sentences import plain
from .compiled import reason_name
from .complaints import Complaints, nearest, texts
from .desk_file import FILE, REFUSE, DeskFile
from .formulas import evaluated, names_of
from .kind import pattern_of, with_numbers

BUILT_IN = frozenset(names_of(SimpleNamespace(now=datetime(2026, 1, 1), policy={}), {}, {}, {}))
"""Names that every formula knows besides the columns of its row."""


def formulas(desk: DeskFile) -> Iterator[tuple[tuple[str, ...], str, str, dict[str, Any]]]:
    """Yield every formula of a desk: its path, its text, the table of its row, and arguments."""
    for name, act in desk.acts.items():
        given = {a: d.choices[0] if d.choices else int(d.number) for a, d in act.arguments.items()}
        parts: list[tuple[tuple[str, ...], Any]] = [(("sets", column), value) for column, value in act.sets.items()]
        parts += [(("rules", rule, "holds"), declared.holds) for rule, declared in act.rules.items()]
        parts += [(("gives", what), value) for what, value in act.gives.items()]
        for path, text in parts:
            if isinstance(text, str):
                yield ("acts", name, *path), text, desk.on(name), given
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
