"""Make a kind of desk from a ``desk.yaml``: its tools, rules and compiled cases."""

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
    own = _Kind(folder)
    desk = own.desk
    intents = {name: {"description": intent.description} for name, intent in desk.intents.items()}
    shows, finds = f"show_{singular(desk.subject)}", f"find_{desk.subject}"
    return DeskKind(
        name=DECLARED,
        tables={name: (f"{name}.csv", table.key) for name, table in desk.tables.items()},
        files=(FILE,),
        content=desk_file.unweighted,
        subject=desk.subject,
        tools=own._tools(),
        look_up=(shows, desk.key),
        lookups=frozenset({shows, finds}),
        rules=own._rules(),
        objects=tuple(dict.fromkeys(desk.key_of(name) for name in desk.acts)),
        case_names=lambda raw, row, store: {"order": joined_in(store, desk.subject, raw["order"], desk)},
        case_defaults=lambda names: {
            "customer_id": str(names["order"][desk.key]),
            **{part: names["order"][column] for part, column in zip(SENDER, desk.heads)},
        },
        usual_ledger=own._usual_ledger,
        identity_slots=own._identity_slots,
        evidence_slots=own._evidence_slots,
        named_in=own._named_in,
        described=own._described,
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
            "info": {**texts("base/store.yaml"), "intents": intents, "proofs": own.ways},
            "policy": own._policy(),
            "phrases": {"en": phrases(desk)},
        },
        usual_files={"prompts/agent.md": BASE / "agent.md"}
        | {name: SHIPPED / name for name in ("prompts/customer.md", "reader/weights.npz")},
    )


class _Kind:
    """A declared desk, and what a `DeskKind` asks of it."""

    def __init__(self, folder: Path):
        self.desk = read_desk(folder)
        self.ways = [" and ".join(map(words_of, way)) for way in self.desk.ways]

    def _tools(self) -> dict[str, Tool]:
        desk, made = self.desk, list[Tool]()
        for name, table in desk.tables.items():
            key = {table.key: (str, f"Its {words_of(table.key)}.", ...)}
            about = f"Show one of the {words_of(name)}."
            made.append(_tool(f"show_{singular(name)}", about, key, partial(self._show, name)))
        by = f"Email address or name of the customer, or part of a {words_of(desk.key)}."
        about = f"List the {words_of(desk.subject)} of a customer."
        made.append(_tool(f"find_{desk.subject}", about, {"by": (str, by, ...)}, self._find))
        for name, act in desk.acts.items():
            key_of = desk.key_of(name)
            arguments: dict[str, Any] = {key_of: (str, f"The {words_of(key_of)}.", ...)}
            for argument, a in act.arguments.items():
                kind: Any = Literal[tuple(a.choices)] if a.choices else int if a.number else str
                arguments[argument] = (kind | None if a.optional else kind, a.about, None if a.optional else ...)
            made.append(_tool(name, act.about, arguments, partial(self._carry_out, name, act), write=True))
        return {tool.name: tool for tool in made}

    def _row(self, table: str, world: Any, given: Row) -> tuple[str, Row]:
        key = self.desk.tables[table].key
        row: Row | None = world.row(table, given[key])
        if row is None:
            raise NotFound(f"There is no {words_of(key)} {given[key]!r}.")
        return key, row

    def _show(self, table: str, world: Any, given: Row) -> Row:
        key, row = self._row(table, world, given)
        others = {name: [dict(r) for r in world.rows(name) if r.get(key) == given[key]] for name in self.desk.tables}
        return {**row, **{name: rows[-LISTED:] for name, rows in others.items() if rows and name != table}}

    def _find(self, world: Any, given: Row) -> Row:
        wanted = squash(given["by"])
        columns = (self.desk.key, *self.desk.heads)
        every = (joined(row, self.desk, world.row) for row in world.rows(self.desk.subject))
        rows = [row for row in every if wanted and any(wanted in squash(str(row.get(c))) for c in columns)]
        return {self.desk.subject: [{c: row.get(c) for c in columns} for row in rows[:LISTED]]}

    def _carry_out(self, name: str, act: desk_file.DeclaredAct, world: Any, given: Row) -> Row:
        table = self.desk.on(name)
        key, row = self._row(table, world, given)
        names = names_of(world.store, joined(row, self.desk, world.row), given, {})
        values, shown = effects(name, act, names)
        world.edit(table, given[key]).update(values)
        return {key: given[key], **values, **shown}

    def _rules(self) -> dict[str, Any]:
        own = {rule_name(*place): self._predicate(*place, rule) for place, rule in self.desk.rules.items()}
        agreed = partial(confirmation)
        agreed.__doc__ = "The customer must have agreed before the act, with a yes as the last word on it."
        return {"identity": self._identity(), "confirmation": agreed, **own}

    def _predicate(self, name: str, rule: str, declared: desk_file.DeclaredRule) -> Any:
        desk, table = self.desk, self.desk.on(name)

        def keeps(call: ToolCall, before: Before, store: Any, parameters: Row) -> bool | None:
            row = joined_in(store, table, call.named.get(desk.tables[table].key), desk)
            if row is None:
                return None
            knows = {slot: next(iter(before.gave(slot)), "") for slot in desk.questions}
            names = names_of(store, row, call.named, knows, sender=before.sender, sender_name=before.sender_name)
            return bool(evaluated(declared.holds, f"acts.{name}.rules.{rule}.holds", names))

        keeps.__doc__ = f"{words_of(name)}, {words_of(rule)}"
        return keeps

    def _identity(self) -> Any:
        ways = self.desk.ways

        def identity(call: ToolCall, before: Before, store: Any, parameters: Row) -> bool | None:
            rows = self._owners(call, store)
            proved = (all(self._proved(column, row, before) for column in way) for way in ways for row in rows)
            return any(proved) if rows else None

        identity.__doc__ = f"The customer must have named {' or '.join(self.ways)} before the act."
        return identity

    def _proved(self, column: str, row: Row, before: Before) -> bool:
        value = str(row.get(column) or "")
        heads = dict(zip(self.desk.heads, (before.sender, before.sender_name)))
        if not value or squash(value) in {squash(heads.get(column, "")), *map(squash, before.gave(column))}:
            return bool(value)
        said = fold("\n".join(kept(m.text) for m in before.messages if m.side == "customer"))
        return re.search(rf"(?<![\w.+-]){re.escape(fold(value))}(?![\w-]|\.\w)", said) is not None

    def _owners(self, call: ToolCall, store: Any) -> list[Row]:
        """Return the rows that prove who owns the called row: the subject's, or the row itself."""
        desk = self.desk
        for name, key in ((name, table.key) for name, table in desk.tables.items() if table.key in call.named):
            keys = [call.named[key]] if name == desk.subject else [*store.tables[desk.subject]]
            every = (joined_in(store, desk.subject, one, desk) for one in keys)
            own = [row for row in every if row and row.get(key) == call.named[key]]
            called = joined_in(store, name, call.named[key], desk)
            return own or ([called] if called else [])
        return []

    def _usual_ledger(self, case: Row, names: Row) -> Row:
        text = squash(f"{case['email']['subject']} {case['email']['text']}")
        heads = {squash(case["sender"]), squash(case["sender_name"])}
        values = {column: str(names["order"].get(column) or "") for way in self.desk.ways for column in way}
        said = {c for c, v in values.items() if squash(v) in text or (c in self.desk.heads and squash(v) in heads)}
        return {c: {"value": v, "when": "volunteered" if c in said else "asked"} for c, v in values.items() if v}

    def _identity_slots(self, case: Any, asked: set[str]) -> list[str]:
        ways = [way for way in self.desk.ways if all(map(case.ledger.get, way))]
        return min(([slot for slot in way if case.ledger[slot].when == "asked"] for way in ways), key=len, default=[])

    def _evidence_slots(self, call: Any, case: Any, store: Any, attached: set[str], known: set[str]) -> list[str]:
        act = self.desk.acts.get(call.tool)
        needed = [*self.desk.needed(call.tool), *(act.arguments if act else ())]
        entries = {slot: case.ledger[slot] for slot in needed if slot in case.ledger and slot not in known}
        return [slot for slot, entry in entries.items() if entry.when != "volunteered"]

    def _named_in(self, text: str, arguments: Row, store: Any) -> tuple[set[str], set[str]]:
        said, differing = squash(text), set[str]()
        named = {name for name, value in arguments.items() if squash(str(value)) and squash(str(value)) in said}
        acts = self.desk.acts.values()
        for name, argument in ((n, a) for act in acts for n, a in act.arguments.items() if n in arguments):
            values = _values_in(text, argument, arguments[name])
            if values is not None:
                named = named - {name} if arguments[name] not in values else named | {name}
                differing |= {name} if values and name not in named else set()
        for table, keyed in self.desk.tables.items():
            if keyed.key in arguments and keyed.key not in named:
                others = (key for key in store.tables[table] if len(key) > 2 and squash(key) in said)
                differing |= {keyed.key} if next(others, None) else set()
        return named, differing

    def _described(self, arguments: Row, tool: str, store: Any) -> dict[str, str]:
        table = self.desk.on(tool if tool in self.desk.acts else "")
        row = joined_in(store, table, arguments.get(self.desk.tables[table].key), self.desk) or {}
        return {column: str(value) for column, value in row.items() if value is not None and column not in arguments}

    def _policy(self) -> Row:
        desk = self.desk
        rules: Row = {
            "identity": {"guards": [*desk.acts]},
            "confirmation": {"guards": [n for n, act in desk.acts.items() if act.confirm], "needs_act": "agreed"},
            **{rule_name(act, name): {"guards": [act]} for act, name in desk.rules},
        }
        queues = {intent.queue for intent in desk.intents.values()} | {rule.otherwise for rule in desk.rules.values()}
        queues -= {"", ANY_QUEUE, REFUSE}
        return {"queues": dict.fromkeys(sorted(queues), "") | {"general": "anything else"}, "process_rules": rules}


def _tool(name: str, about: str, arguments: Row, work: Callable[..., Row], write: bool = False) -> Tool:
    """Return a tool; arguments have type, description and default, ``...`` for none."""

    def function(desk: Any, **given: Any) -> Row:
        return work(desk, given)

    parameters = [inspect.Parameter("desk", inspect.Parameter.POSITIONAL_ONLY)] + [
        inspect.Parameter(argument, inspect.Parameter.KEYWORD_ONLY, default=inspect.Parameter.empty if d is ... else d)
        for argument, (_, _, d) in arguments.items()
    ]
    function.__name__, function.__doc__ = name, about
    function.__annotations__ = {argument: Annotated[kind, words] for argument, (kind, words, _) in arguments.items()}
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return Tool(name, function, write)


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
    asked: dict[str, desk_file.DeclaredAsked] = {**desk.arguments, **desk.questions}
    reasons: dict[str, desk_file.DeclaredRefusal] = {desk.reason_of(rule): rule for rule in desk.rules.values()}
    return {
        "language": "en",
        **{part: shipped[part] for part in own["shipped"]},
        "slots": {column: _slot(column, desk.subject == "orders") for column in columns}
        | {name: _asked_slot(name, one, own["asking"]) for name, one in asked.items()},
        "actions": {name: _action(name, act, desk) for name, act in desk.acts.items()}
        | {"hand_over_to_human": shipped["actions"]["hand_over_to_human"]},
        "declines": own["declines"],
        "reasons": {
            name: {"say": {"en": one.say}, "patterns": [*map(pattern_of, one.words or [one.say])]}
            for name, one in (reasons | desk.refusals).items()
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
    return _slot(name) | {part: said for part, said in own.items() if said}


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
