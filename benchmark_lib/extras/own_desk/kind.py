"""Make a kind of desk from a ``desk.yaml``: its tools, rules and compiled cases."""

import re
from collections.abc import Iterator
from functools import partial
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Literal

from ...language.layout import ANY_YEAR
from ...language.sentences import fold, kept, squash
from ...language.values import values_in
from ...project import DATA
from ...records import ToolCall
from ...scoring.written import words as words_of
from ...store import DeskKind, NotFound
from ...store.rules import Before, confirmation
from ...store.tools import Tool
from . import desk_file
from .compiled import SENDER, compiled, effects, evaluated, joined, joined_in, names_of
from .desk_file import ANY_QUEUE, BASE, DECLARED, FILE, REFUSE, DeskFile, Row, read_desk, rule_name, singular, texts

LISTED, SHORT = 10, 3
"""Maximum rows that a look-up lists; maximum letters of a word that never counts as the beginning of another."""
APART = r"[^\w.,;:!?]+"
"""Pattern of what may separate two words of a clause."""
SHIPPED = DATA / "stores" / "northline"
OWN = "base/phrases.yaml"


def kind_of(folder: Path) -> DeskKind:
    """Return the kind of the desk in a folder; raise `BadInput` if its ``desk.yaml`` is broken."""
    desk = read_desk(folder)
    ways = [" and ".join(map(words_of, way)) for way in desk.ways]
    intents = {name: {"description": intent.description} for name, intent in desk.intents.items()}
    shows, finds = f"show_{singular(desk.subject)}", f"find_{desk.subject}"
    return DeskKind(
        name=DECLARED,
        tables={name: (f"{name}.csv", table.key) for name, table in desk.tables.items()},
        files=(FILE,),
        content=desk_file.unweighted,
        subject=desk.subject,
        tools={tool.name: tool for tool in _tools(desk)},
        look_up=(shows, desk.key),
        lookups=frozenset({shows, finds}),
        rules=_rules(desk, ways),
        objects=tuple(dict.fromkeys(desk.key_of(name) for name in desk.acts)),
        case_names=lambda raw, row, store: {"order": joined_in(store, desk.subject, raw["order"], desk)},
        case_defaults=lambda names: {
            "customer_id": str(names["order"][desk.key]),
            **{part: names["order"][column] for part, column in zip(SENDER, desk.heads)},
        },
        usual_ledger=partial(_usual_ledger, desk),
        identity_slots=partial(_identity_slots, desk),
        evidence_slots=partial(_evidence_slots, desk),
        named_in=partial(_named_in, desk),
        described=partial(_described, desk),
        open_to=lambda arguments, case, store: set(arguments) - {table.key for table in desk.tables.values()},
        own_slots={name: (name,) for name in (*desk.arguments, desk.key)},
        everything=lambda call, case, words: [
            call(shows, **{desk.key: case.order}).result,
            call("search_knowledge_base", query=words).result,
        ],
        grounds=lambda case, store: [joined_in(store, desk.subject, case.order, desk)],
        proofs=tuple(dict.fromkeys(column for way in desk.ways for column in way if column not in desk.heads)),
        slots_not_had=tuple(desk.questions),
        compiled=lambda raw, store: compiled(raw, store, desk),
        usual={
            "info": {**texts("base/store.yaml"), "intents": intents, "proofs": ways},
            "policy": _policy(desk),
            "phrases": {"en": phrases(desk)},
        },
        usual_files={"prompts/agent.md": BASE / "agent.md"}
        | {name: SHIPPED / name for name in ("prompts/customer.md", "reader/weights.npz")},
    )


def _tools(desk: DeskFile) -> Iterator[Tool]:
    for name, table in desk.tables.items():
        key = _argument(table.key, str, f"Its {words_of(table.key)}.")
        yield _tool(f"show_{singular(name)}", f"Show one of the {words_of(name)}.", [key], partial(_show, desk, name))
    by = _argument("by", str, f"Email address or name of the customer, or part of a {words_of(desk.key)}.")
    about = f"List the {words_of(desk.subject)} of a customer."
    yield _tool(f"find_{desk.subject}", about, [by], partial(_find, desk))
    for name, act in desk.acts.items():
        arguments = [_argument(desk.key_of(name), str, f"The {words_of(desk.key_of(name))}.")]
        for argument, a in act.arguments.items():
            kind: Any = Literal[tuple(a.choices)] if a.choices else int if a.number else str
            arguments.append(_argument(argument, kind, a.about, a.optional))
        yield _tool(name, act.about, arguments, partial(_carry_out, desk, name), write=True)


def _argument(name: str, kind: Any, about: str, optional: bool = False) -> Parameter:
    kind, default = (kind | None, None) if optional else (kind, Parameter.empty)
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, about])


def _tool(name: str, about: str, arguments: list[Parameter], work: Any, write: bool = False) -> Tool:
    desk = Parameter("desk", Parameter.POSITIONAL_ONLY)
    work.__name__, work.__doc__, work.__signature__ = name, about, Signature([desk, *arguments])
    work.__annotations__ = {argument.name: argument.annotation for argument in arguments}
    return Tool(name, work, write)


def _row(desk: DeskFile, table: str, world: Any, given: Row) -> Row:
    key = desk.tables[table].key
    row: Row | None = world.row(table, given[key])
    if row is None:
        raise NotFound(f"There is no {words_of(key)} {given[key]!r}.")
    return row


def _show(desk: DeskFile, table: str, world: Any, /, **given: Any) -> Row:
    row, ((key, value),) = _row(desk, table, world, given), given.items()
    others = {name: [dict(r) for r in world.rows(name) if r.get(key) == value] for name in desk.tables}
    return {**row, **{name: rows[-LISTED:] for name, rows in others.items() if rows and name != table}}


def _find(desk: DeskFile, world: Any, by: str) -> Row:
    wanted = squash(by)
    columns = (desk.key, *desk.heads)
    every = (joined(row, desk, world.row) for row in world.rows(desk.subject))
    rows = [row for row in every if wanted and any(wanted in squash(str(row.get(c))) for c in columns)]
    return {desk.subject: [{c: row.get(c) for c in columns} for row in rows[:LISTED]]}


def _carry_out(desk: DeskFile, act: str, world: Any, /, **given: Any) -> Row:
    key, row = given[desk.key_of(act)], _row(desk, desk.on(act), world, given)
    names = names_of(world.store, joined(row, desk, world.row), given, {})
    values, shown = effects(act, desk.acts[act], names)
    world.edit(desk.on(act), key).update(values)
    return {desk.key_of(act): key, **values, **shown}


def _policy(desk: DeskFile) -> Row:
    rules: Row = {
        "identity": {"guards": [*desk.acts]},
        "confirmation": {"guards": [n for n, act in desk.acts.items() if act.confirm], "needs_act": "agreed"},
        **{rule_name(act, name): {"guards": [act]} for act, name in desk.rules},
    }
    queues = {intent.queue for intent in desk.intents.values()} | {rule.otherwise for rule in desk.rules.values()}
    queues -= {"", ANY_QUEUE, REFUSE}
    return {"queues": dict.fromkeys(sorted(queues), "") | {"general": "anything else"}, "process_rules": rules}


def _rules(desk: DeskFile, ways: list[str]) -> dict[str, Any]:
    identity, agreed = partial(_identified, desk), partial(confirmation)
    identity.__doc__ = f"The customer must have named {' or '.join(ways)} before the act."
    agreed.__doc__ = "The customer must have agreed before the act, with a yes as the last word on it."
    rules: dict[str, Any] = {"identity": identity, "confirmation": agreed}
    for act, name in desk.rules:
        keeps = rules[rule_name(act, name)] = partial(_keeps, desk, act, name)
        keeps.__doc__ = f"{words_of(act)}, {words_of(name)}"
    return rules


def _called(desk: DeskFile, tool: str, arguments: Row, store: Any) -> Row | None:
    """Return the row that a call of an act names, if there is one."""
    return joined_in(store, desk.on(tool), arguments.get(desk.key_of(tool)), desk)


def _keeps(desk: DeskFile, act: str, rule: str, call: ToolCall, before: Before, store: Any, terms: Row) -> bool | None:
    row = _called(desk, act, call.named, store)
    if row is None:
        return None
    knows = {slot: next(iter(before.gave(slot)), "") for slot in desk.questions}
    names = names_of(store, row, call.named, knows, sender=before.sender, sender_name=before.sender_name)
    return bool(evaluated(desk.rules[act, rule].holds, f"acts.{act}.rules.{rule}.holds", names))


def _identified(desk: DeskFile, call: ToolCall, before: Before, store: Any, terms: Row) -> bool | None:
    called, key = _called(desk, call.name, call.named, store), desk.key_of(call.name)
    if called is None:
        return None
    every = store.tables[desk.subject] if desk.on(call.name) != desk.subject else ()
    owners = (joined_in(store, desk.subject, one, desk) or {} for one in every)
    rows = [row for row in owners if row.get(key) == called[key]] or [called]
    return any(all(_proved(desk, column, row, before) for column in way) for way in desk.ways for row in rows)


def _proved(desk: DeskFile, column: str, row: Row, before: Before) -> bool:
    value = str(row.get(column) or "")
    heads = dict(zip(desk.heads, (before.sender, before.sender_name)))
    if not value or squash(value) in {squash(heads.get(column, "")), *map(squash, before.gave(column))}:
        return bool(value)
    said = fold("\n".join(kept(m.text) for m in before.messages if m.side == "customer"))
    return re.search(rf"(?<![\w.+-]){re.escape(fold(value))}(?![\w-]|\.\w)", said) is not None


def _usual_ledger(desk: DeskFile, case: Row, names: Row) -> Row:
    text = squash(f"{case['email']['subject']} {case['email']['text']}")
    heads = {squash(case["sender"]), squash(case["sender_name"])}
    values = {column: str(names["order"].get(column) or "") for way in desk.ways for column in way}
    said = {c for c, v in values.items() if squash(v) in text or (c in desk.heads and squash(v) in heads)}
    return {c: {"value": v, "when": "volunteered" if c in said else "asked"} for c, v in values.items() if v}


def _identity_slots(desk: DeskFile, case: Any, asked: set[str]) -> list[str]:
    ways = [way for way in desk.ways if all(map(case.ledger.get, way))]
    return min(([slot for slot in way if case.ledger[slot].when == "asked"] for way in ways), key=len, default=[])


def _evidence_slots(desk: DeskFile, call: Any, case: Any, store: Any, attached: set[str], known: set[str]) -> list[str]:
    act = desk.acts.get(call.tool)
    needed = [*desk.needed(call.tool), *(act.arguments if act else ())]
    entries = {slot: case.ledger[slot] for slot in needed if slot in case.ledger and slot not in known}
    return [slot for slot, entry in entries.items() if entry.when != "volunteered"]


def _named_in(desk: DeskFile, text: str, arguments: Row, store: Any) -> tuple[set[str], set[str]]:
    said, differing = squash(text), set[str]()
    named = {name for name, value in arguments.items() if squash(str(value)) and squash(str(value)) in said}
    for name, argument in ((n, a) for act in desk.acts.values() for n, a in act.arguments.items() if n in arguments):
        values = _values_in(text, argument, arguments[name])
        if values is not None:
            named = named | {name} if arguments[name] in values else named - {name}
            differing |= {name} if values and name not in named else set()
    for table, keyed in desk.tables.items():
        if keyed.key in arguments and keyed.key not in named:
            others = (key for key in store.tables[table] if len(key) > 2 and squash(key) in said)
            differing |= {keyed.key} if next(others, None) else set()
    return named, differing


def _described(desk: DeskFile, arguments: Row, tool: str, store: Any) -> dict[str, str]:
    row = _called(desk, tool, arguments, store) or {}
    return {column: str(value) for column, value in row.items() if value is not None and column not in arguments}


def _values_in(text: str, argument: desk_file.DeclaredArgument, own: Any) -> set[Any] | None:
    """Return an argument's values in a text; None for an argument without a unit or choices."""
    if argument.unit:
        return {own if v.value == str(own) else v.value for v in values_in(text, ANY_YEAR) if v.kind == argument.unit}
    folded = fold(text)
    choices = {c for c in argument.choices if re.search(rf"(?<!\w){re.escape(fold(words_of(c)))}(?!\w)", folded)}
    return choices if argument.choices else None


def phrases(desk: DeskFile) -> dict[str, Any]:
    """Return a desk's English phrases: the shipped ones, with its own slots, acts and reasons."""
    shipped = texts(str(SHIPPED / "phrases" / "en.yaml"))
    own = texts(OWN)
    columns = [*dict.fromkeys(column for way in desk.ways for column in way), "goal", "problem", "reason"]
    asked = (*desk.arguments.items(), *desk.questions.items())
    reasons = {desk.reason_of(rule): rule for rule in desk.rules.values()}
    return {
        "language": "en",
        **{part: shipped[part] for part in own["shipped"]},
        "slots": {column: _slot(column, desk.subject == "orders") for column in columns}
        | {name: _asked_slot(name, one, own["asking"]) for name, one in asked},
        "actions": {name: _action(name, act, desk) for name, act in desk.acts.items()}
        | {"hand_over_to_human": shipped["actions"]["hand_over_to_human"]},
        "declines": own["declines"],
        "reasons": {
            name: {"say": {"en": one.say}, "patterns": [*map(pattern_of, one.words or [one.say])]}
            for name, one in (*reasons.items(), *desk.refusals.items())
        },
    }


def _filled(part: Any, **words: str) -> Any:
    return desk_file.with_texts(part, lambda text, _: text.format(**words))


def _slot(name: str, orders: bool = False) -> dict[str, Any]:
    """Return the phrases for a column; for a number, adapt those for an order number."""
    words = words_of(name)
    shipped = texts(str(SHIPPED / "phrases" / "en.yaml"))["slots"]
    own: dict[str, Any] = _filled(texts(OWN)["slot"], words=words, named=pattern_of(words))
    if name in shipped and not orders:  # only what names no order
        slot = {part: said for part, said in shipped[name].items() if "order" not in said}
        return own | slot | {"answer": [one for one in slot["answer"] if "order" not in one]}
    if name not in shipped and words.endswith(" id"):
        noun = words.removesuffix(" id")
        own = desk_file.with_texts(shipped["order_id"], lambda said, _: re.sub(r"\border\b", noun, said))
    return shipped.get(name, own)


def _asked_slot(name: str, question: desk_file.DeclaredAsked, asking: list[str]) -> dict[str, Any]:
    patterns = [pattern_of(f"{asks} {words_of(name)}") for asks in asking]
    if question.words:  # a statement with these words, such as a refusal, does not ask for anything
        form = texts(OWN)["slot"]["patterns"]
        patterns = [one for w in question.words for one in _filled(form, words=w, named=pattern_of(w))]
    own = {"patterns": patterns, "ask": question.ask, "answer": question.answer}
    return _slot(name) | desk_file.without_empty(own)


def _action(name: str, act: desk_file.DeclaredAct, desk: DeskFile) -> dict[str, Any]:
    key = desk.key_of(name)
    do = act.do or f"{words_of(name)} for {words_of(key)} {{{key}}}"
    words = act.words or [words_of(name)]
    noun = words_of(singular(desk.on(name)))
    patterns = [*map(pattern_of, words)]
    verbs = [w.removesuffix(noun).split() for w in words if w.endswith(f" {noun}")]
    patterns += [rf"{pattern_of(verb)} (?:\w+ )?(?:it|this|that|[a-z]{{1,4}}-?\d{{3,}})\b" for verb, *_ in verbs]
    choices = "|".join(re.escape(fold(words_of(c))) for a in act.arguments.values() for c in a.choices)
    patterns += [rf"(?:on|to|onto) (?:\w+ )?(?:{choices})\b"] if choices else []
    units = "|".join(re.escape(a.unit.removesuffix("s")) for a in act.arguments.values() if a.unit)
    patterns += [rf"for (?:\d+|an?|one|two|three|four|five|six) (?:{units})"] if units else []
    said = _filled(texts(OWN)["action"], do=do)
    return {"patterns": patterns, "claims": patterns} | said | ({"done": act.done} if act.done else {})


def pattern_of(words: str) -> str:
    """Return a pattern for plain words that allows up to three other words between two of them.

    Each matches the beginning of a word; a word of up to three letters matches only a whole word, in its forms.
    """
    stems = []
    for word in fold(words).replace("'", " ").split():
        stem = re.escape(re.sub(r"(?<=\w{3})e$", "", word))
        stems.append(rf"{stem}\w*" if len(word) > SHORT else rf"{stem}(?:s|ed|ing)?(?!\w)")
    return rf"{APART}(?:\w+(?:[.,]\d+)*{APART}){{0,3}}".join(stems)
