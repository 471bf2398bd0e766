"""Make a kind of desk from a ``desk.yaml``: its tools, rules, phrases and compiled cases."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from ...language.layout import ANY_YEAR
from ...language.sentences import fold, kept, squash
from ...language.values import values_in
from ...records import ToolCall
from ...scoring.written import words as words_of
from ...store import DeskKind, NotFound
from ...store.consent import confirmation
from ...store.rules import Before
from ...store.tools import Tool
from .compiled import compiled, evaluated, joined, joined_in, names_of
from .desk_file import ANY_QUEUE, BASE, REFUSE, DeclaredAct, DeclaredArgument, DeskFile, read_desk, rule_name
from .phrases import SHIPPED, phrases, singular

DECLARED = "declared"
LISTED = 10
"""Maximum number of rows that a look-up lists."""


def kind_of(folder: Path) -> DeskKind:
    """Return the kind of the desk in a folder; raise `BadInput` if its ``desk.yaml`` is broken."""
    desk = read_desk(folder)
    shows, finds = f"show_{singular(desk.subject)}", f"find_{desk.subject}"
    owner, key = desk.owner, desk.key
    proofs = tuple(dict.fromkeys(column for way in desk.ways for column in way if column not in desk.heads))
    return DeskKind(
        name=DECLARED,
        tables={name: (f"{name}.csv", table.key) for name, table in desk.tables.items()},
        subject=desk.subject,
        tools=_tools(desk),
        look_up=(shows, key),
        lookups=frozenset({shows, finds}),
        rules=_rules(desk),
        objects=tuple(dict.fromkeys(desk.key_of(name) for name in desk.acts)),
        case_names=lambda raw, row, store: {"order": joined_in(store, desk.subject, raw["order"], desk)},
        case_defaults=lambda names: {
            "customer_id": str(names["order"][key]),
            "sender": names["order"][owner.email],
            "sender_name": names["order"][owner.name],
        },
        usual_ledger=partial(_usual_ledger, desk),
        identity_slots=partial(_identity_slots, desk),
        evidence_slots=partial(_evidence_slots, desk),
        named_in=partial(_named_in, desk),
        described=partial(_described, desk),
        open_to=lambda arguments, case, store: set(arguments) - {table.key for table in desk.tables.values()},
        own_slots={name: (name,) for name in (*desk.arguments, key)},
        everything=lambda call, case, words: [
            call(shows, **{key: case.order}).result,
            call("search_knowledge_base", query=words).result,
        ],
        grounds=lambda case, store: [joined_in(store, desk.subject, case.order, desk)],
        proofs=proofs,
        slots_not_had=tuple(desk.questions),
        compiled=lambda raw, store: compiled(raw, store, desk),
        usual={"info": _info(desk), "policy": _policy(desk), "phrases": {"en": phrases(desk)}},
        usual_files={
            "prompts/agent.md": BASE / "agent.md",
            "prompts/customer.md": SHIPPED / "prompts" / "customer.md",
            "reader/weights.npz": SHIPPED / "reader" / "weights.npz",
        },
    )


# ---------------------------------------------------------------------------------------------------------- tools


def _tools(desk: DeskFile) -> dict[str, Tool]:
    made: dict[str, Tool] = {}
    for name, table in desk.tables.items():
        shows, key = f"show_{singular(name)}", {table.key: (str, f"Its {words_of(table.key)}.", ...)}
        made[shows] = _tool(shows, f"Show one of the {words_of(name)}.", key, partial(_show, name, desk))
    by = f"Email address or name of the customer, or part of a {words_of(desk.key)}."
    made[f"find_{desk.subject}"] = _tool(
        f"find_{desk.subject}", f"List the {words_of(desk.subject)} of a customer.", {"by": (str, by, ...)},
        partial(_find, desk),
    )  # fmt: skip
    for name, act in desk.acts.items():
        table = desk.tables[desk.on(name)]
        arguments: dict[str, Any] = {table.key: (str, f"The {words_of(table.key)}.", ...)}
        for argument, a in act.arguments.items():
            kind: Any = Literal[tuple(a.choices)] if a.choices else int if a.number else str
            arguments[argument] = (kind | None if a.optional else kind, a.about, None if a.optional else ...)
        made[name] = _tool(name, act.about, arguments, partial(_carry_out, name, act, desk), write=True)
    return made


def _tool(
    name: str, about: str, arguments: dict[str, Any], work: Callable[..., dict[str, Any]], write: bool = False
) -> Tool:
    def function(desk: Any, **given: Any) -> dict[str, Any]:
        return work(desk, given)

    empty, keyword = inspect.Parameter.empty, inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("desk", inspect.Parameter.POSITIONAL_ONLY)] + [
        inspect.Parameter(argument, keyword, default=empty if default is ... else default)
        for argument, (_, _, default) in arguments.items()
    ]
    function.__name__, function.__doc__ = name, about
    function.__annotations__ = {argument: Annotated[kind, words] for argument, (kind, words, _) in arguments.items()}
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return Tool(name, function, write)


def _row(table: str, declared: DeskFile, desk: Any, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the key column of a table and the row that a call names."""
    key = declared.tables[table].key
    row: dict[str, Any] | None = desk.row(table, given[key])
    if row is None:
        raise NotFound(f"There is no {words_of(key)} {given[key]!r}.")
    return key, row


def _show(table: str, declared: DeskFile, desk: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return a row together with the rows of other tables that refer to it."""
    key, row = _row(table, declared, desk, given)
    others = {name: [dict(r) for r in desk.rows(name) if r.get(key) == given[key]] for name in declared.tables}
    return {**row, **{name: rows[-LISTED:] for name, rows in others.items() if rows and name != table}}


def _find(declared: DeskFile, desk: Any, given: dict[str, Any]) -> dict[str, Any]:
    wanted, columns = squash(given["by"]), (declared.key, *declared.heads)
    every = (joined(row, declared, desk.row) for row in desk.rows(declared.subject))
    rows = [row for row in every if wanted and any(wanted in squash(str(row.get(c))) for c in columns)]
    return {declared.subject: [{c: row.get(c) for c in columns} for row in rows[:LISTED]]}


def _carry_out(name: str, act: DeclaredAct, declared: DeskFile, desk: Any, given: dict[str, Any]) -> dict[str, Any]:
    table = declared.on(name)
    key, row = _row(table, declared, desk, given)
    names = names_of(desk.store, joined(row, declared, desk.row), given, {})
    values = {column: evaluated(formula, f"acts.{name}.sets.{column}", names) for column, formula in act.sets.items()}
    shown = {what: evaluated(formula, f"acts.{name}.gives.{what}", names) for what, formula in act.gives.items()}
    desk.edit(table, given[key]).update(values)
    return {key: given[key], **values, **shown}


# ---------------------------------------------------------------------------------------------------------- rules


def _rules(desk: DeskFile) -> dict[str, Any]:
    rules: dict[str, Any] = {"identity": _identity(desk), "confirmation": confirmation}
    for (act, name), rule in desk.rules.items():
        rules[rule_name(act, name)] = _predicate(desk, act, name, rule.holds, rule.say)
    return rules


def _predicate(desk: DeskFile, name: str, rule: str, holds: str, say: str) -> Any:
    table, title = desk.on(name), f"{words_of(name)}, {words_of(rule)}"

    def keeps(call: ToolCall, before: Before, store: Any, parameters: dict[str, Any]) -> bool | None:
        row = joined_in(store, table, call.named.get(desk.tables[table].key), desk)
        if row is None:
            return None
        knows = {slot: next(iter(before.gave(slot)), "") for slot in desk.questions}
        names = names_of(store, row, call.named, knows, sender=before.sender, sender_name=before.sender_name)
        return bool(evaluated(holds, f"acts.{name}", names))

    keeps.__doc__ = f"{title}: {say}"
    return keeps


def _identity(desk: DeskFile) -> Any:
    def identity(call: ToolCall, before: Before, store: Any, parameters: dict[str, Any]) -> bool | None:
        rows = _owners(desk, call, store)
        ways = ((way, row) for way in desk.ways for row in rows)
        return any(all(_proved(column, row, before, desk) for column in way) for way, row in ways) if rows else None

    identity.__doc__ = f"The customer had named {' or '.join(' and '.join(map(words_of, way)) for way in desk.ways)}."
    return identity


def _proved(column: str, row: dict[str, Any], before: Before, desk: DeskFile) -> bool:
    """Return whether a customer's words, answers or email header give a column's value."""
    value = str(row.get(column) or "")
    heads = {desk.owner.email: before.sender, desk.owner.name: before.sender_name}
    if not value or squash(value) in {squash(heads.get(column, "")), *map(squash, before.gave(column))}:
        return bool(value)
    said = fold("\n".join(kept(m.text) for m in before.messages if m.side == "customer"))
    return re.search(rf"(?<![\w.+-]){re.escape(fold(value))}(?![\w-]|\.\w)", said) is not None


def _owners(desk: DeskFile, call: ToolCall, store: Any) -> list[dict[str, Any]]:
    """Return the rows that prove who owns the called row: the subject's, or the row itself."""
    named = [(name, table.key) for name, table in desk.tables.items() if table.key in call.named]
    for name, key in named:
        keys = [call.named[key]] if name == desk.subject else [*store.tables[desk.subject]]
        every = (joined_in(store, desk.subject, one, desk) for one in keys)
        own = [row for row in every if row and row.get(key) == call.named[key]]
        called = joined_in(store, name, call.named[key], desk)
        return own or ([called] if called else [])
    return []


def _usual_ledger(desk: DeskFile, case: dict[str, Any], names: dict[str, Any]) -> dict[str, Any]:
    text = squash(f"{case['email']['subject']} {case['email']['text']}")
    heads = {squash(case["sender"]), squash(case["sender_name"])}
    values = {column: str(names["order"].get(column) or "") for way in desk.ways for column in way}
    said = {c for c, v in values.items() if squash(v) in text or (c in desk.heads and squash(v) in heads)}
    return {c: {"value": v, "when": "volunteered" if c in said else "asked"} for c, v in values.items() if v}


def _identity_slots(desk: DeskFile, case: Any, asked: set[str]) -> list[str]:
    open_ways = [
        [slot for slot in way if case.ledger[slot].when == "asked"]
        for way in desk.ways
        if all(map(case.ledger.get, way))
    ]
    return min(open_ways, key=len, default=[])


def _evidence_slots(desk: DeskFile, call: Any, case: Any, store: Any, attached: set[str], known: set[str]) -> list[str]:
    act = desk.acts.get(call.tool)
    needed = desk.needed(call.tool)
    needed += act.arguments if act else []
    entries = {slot: case.ledger[slot] for slot in needed if slot in case.ledger and slot not in known}
    return [slot for slot, entry in entries.items() if entry.when != "volunteered"]


def _named_in(desk: DeskFile, text: str, arguments: dict[str, Any], store: Any) -> tuple[set[str], set[str]]:
    """Return the arguments that a text names, and those for which it gives another row's key."""
    said, differing = squash(text), set[str]()
    named = {name for name, value in arguments.items() if squash(str(value)) and squash(str(value)) in said}
    for name, argument in ((n, a) for act in desk.acts.values() for n, a in act.arguments.items() if n in arguments):
        values = _values_in(text, argument, arguments[name])
        if values is not None:
            named = named - {name} if arguments[name] not in values else named | {name}
            differing |= {name} if values and name not in named else set()
    for table, declared in desk.tables.items():
        if declared.key in arguments and declared.key not in named:
            others = (key for key in store.tables[table] if len(key) > 2 and squash(key) in said)
            differing |= {declared.key} if next(others, None) else set()
    return named, differing


def _values_in(text: str, argument: DeclaredArgument, own: Any) -> set[Any] | None:
    """Return an argument's values in a text; None for an argument without a unit or choices."""
    if argument.unit:
        return {own if v.value == str(own) else v.value for v in values_in(text, ANY_YEAR) if v.kind == argument.unit}
    folded = fold(text)
    choices = {c for c in argument.choices if re.search(rf"(?<!\w){re.escape(fold(words_of(c)))}(?!\w)", folded)}
    return choices if argument.choices else None


def _described(desk: DeskFile, arguments: dict[str, Any], tool: str, store: Any) -> dict[str, str]:
    table = desk.on(tool) if tool in desk.acts else desk.subject
    row = joined_in(store, table, arguments.get(desk.tables[table].key), desk) or {}
    return {column: str(value) for column, value in row.items() if value is not None and column not in arguments}


# ------------------------------------------------------------------------------------------------------- defaults


def _info(desk: DeskFile) -> dict[str, Any]:
    return {
        "version": "1",
        "canary": None,
        "currency": "USD",
        "timezone": "local time",
        "languages": ["en"],
        "traps": {},
        "intents": {name: {"description": intent.description} for name, intent in desk.intents.items()},
        "proofs": [" and ".join(map(words_of, way)) for way in desk.ways],
    }


def _policy(desk: DeskFile) -> dict[str, Any]:
    writes = list(desk.acts)
    rules: dict[str, Any] = {
        "identity": {"guards": writes},
        "confirmation": {"guards": [name for name, act in desk.acts.items() if act.confirm], "needs_act": "agreed"},
    }
    rules |= {rule_name(act, name): {"guards": [act]} for act, name in desk.rules}
    queues = {intent.queue for intent in desk.intents.values()} | {rule.otherwise for rule in desk.rules.values()}
    queues -= {"", ANY_QUEUE, REFUSE}
    return {"queues": dict.fromkeys(sorted(queues), "") | {"general": "anything else"}, "process_rules": rules}
