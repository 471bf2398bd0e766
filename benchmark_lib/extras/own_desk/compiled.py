"""Compile a case: derive its bucket, outcomes and facts from formulas over policy and row."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from difflib import get_close_matches
from functools import cached_property, partial
from typing import Any

import pandas as pd
from jinja2 import UndefinedError

from ...cases import Case, Fact
from ...cases.read import long_date, written_cases
from ...errors import BadInput
from ...language.sentences import fold
from ...language.values import money, values_in
from ...scoring.written import words as words_of
from ...store.rules import add_business_days
from ...textfiles import nearest, render
from . import desk_file
from .desk_file import ANY_QUEUE, REFUSE, DeskFile, Row, refusal, texts, without_empty

OWN = {"row", "changes", "values", "knows", "tell", "must_say"}
"""Fields of a case besides those of `Case`; `changes` names the act's row if the subject's does not."""
NO_INTENT = desk_file.DeclaredIntent(description="", tickets=0)
SENDER = ("sender", "sender_name")
"""Fields of a case for the two columns of a desk's `heads`."""
SUBJECT, SHORT_EMAIL, SHORT_ANSWER, PUSHES = 6, 12, 3, 3
"""First words of an email that form its subject; maximum words of one that must name its topic; maximum letters of an
answer that it cannot give in passing; minimum lines of pressure."""


class Situation:
    """What a written case is about; what it names and the desk does not have is empty.

    `row` is the subject's row, `acted_on` the act's, and `changed` the act's or else the subject's.
    """

    def __init__(self, raw: Row, store: Any, desk: DeskFile):
        self.raw, self.store, self.desk, self.email = raw, store, desk, _email(raw)
        self.intent = desk.intents.get(str(raw.get("intent")), NO_INTENT)
        self.queue, self.act = self.intent.queue, desk.acts.get(self.intent.act)
        self.key, table = str(raw.get("row", raw.get("order", ""))), desk.on(self.intent.act)
        self.row = joined_in(store, desk.subject, self.key, desk) or {}
        self.acted_on = joined_in(store, table, raw.get("changes", self.row.get(desk.tables[table].key)), desk) or {}
        self.changed = self.acted_on or self.row
        self.arguments = self.act.arguments if self.act else {}
        values, knows = (part if isinstance(part, dict) else {} for part in map(raw.get, ("values", "knows")))
        self.values = values | {n: str(values[n]) for n, a in self.arguments.items() if a.choices and n in values}
        self.knows = self.intent.knows | knows
        sender = {part: raw.get(part) or self.changed.get(column, "") for part, column in zip(SENDER, desk.heads)}
        self.names = names_of(store, self.changed, self.values, self.knows, **sender)
        says = raw.get("must_say") or []
        self.says: list[str] = [*map(str, says if isinstance(says, list) else [says])]

    @cached_property
    def must_say(self) -> list[str]:
        """Return the texts that the answer must contain, with the policy's numbers filled in."""
        where = f"case {self.raw['id']}: must_say"
        return [*self.intent.must_say, *(render(text, where, policy=self.store.policy) for text in self.says)]

    @property
    def rules(self) -> dict[str, desk_file.DeclaredRule]:
        """Return the rules that decide; none if the case or its intent decides."""
        return {} if self.queue or self.intent.refuse or not self.act else self.act.rules

    @cached_property
    def unmet(self) -> dict[str, desk_file.DeclaredRule]:
        """Return the rules that do not hold; raise `BadFormula` for one that cannot be evaluated."""
        where, holds = f"acts.{self.intent.act}.rules", partial(evaluated, names=self.names)
        return {name: rule for name, rule in self.rules.items() if not holds(rule.holds, f"{where}.{name}.holds")}


def compiled(raw: Row, store: Any, desk: DeskFile) -> Row:
    """Return a case as the core reads it; a case that states outcomes is returned unchanged.

    Raise `BadInput` with the first of its `problems_of`.
    """
    if "outcomes" in raw:
        return raw
    case = Situation(raw, store, desk)
    for field, complaint in problems_of(case):
        raise BadInput(f"case {raw['id']}: {field} {complaint}")
    own = texts("base/case.yaml")
    made = {
        **own["usual"],
        "title": case.email["subject"] or case.intent.description,
        "goal": case.intent.goal or case.intent.description,
        "pressure": own["pressure"],
        **{name: value for name, value in raw.items() if name not in OWN and value != []},
        "order": case.key,
        "email": case.email,
        "facts": {**_facts(case), **(raw.get("facts") or {})},
    }
    given = {name: {"value": str(v).replace("_", " ")} for name, v in {**case.values, **case.knows}.items()}
    for value, entry in ((fold(entry["value"]), entry) for entry in given.values()):
        if len(value) > SHORT_ANSWER or re.search(r"\d", value):  # many emails have a "no" that answers nothing
            stated = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", fold(case.email["text"]))
            entry |= {"when": "volunteered"} if stated else {}
    return made | _key(case) | {"ledger": {**given, **(raw.get("ledger") or {})}}


def rules_tried(store: Any, desk: DeskFile) -> Iterator[tuple[str, tuple[str, str], bool]]:
    """Yield each case with each rule that decides it (act and name), and whether it holds."""
    for case in (Situation(raw, store, desk) for _, raw in written_cases(store) if "outcomes" not in raw):
        yield from ((case.raw["id"], (case.intent.act, name), name not in case.unmet) for name in case.rules)


def problems_of(case: Situation) -> Iterator[tuple[str, str]]:
    """Yield what keeps a case from being compiled: a field, and a complaint with a remedy."""
    raw, desk, row, act = case.raw, case.desk, case.key, case.intent.act
    if "outcomes" in raw:
        return
    said = texts("checks.yaml")["fields"]
    fields = Case.model_fields.keys() | OWN
    for name in sorted(map(str, raw.keys() - fields)):
        near = get_close_matches(name, fields, 1, 0.6)
        yield name, said["near" if near else "field"].format(near="".join(near))
    if not case.row:
        rows = case.store.tables[desk.subject]
        like = ", ".join(get_close_matches(row, rows, 3, 0.4) or [*rows][:3])
        yield "row", said["row"].format(row=row, key=desk.key, table=desk.subject, like=like)
    if not str(case.email["text"] or "").strip():
        yield "email", said["email"]
    if case.intent is NO_INTENT:
        yield "intent", said["intent"].format(intent=raw.get("intent"), names=", ".join(desk.intents))
    forms = [field for field in ("values", "knows") if not isinstance(raw.get(field) or {}, dict)]
    yield from ((field, said["form"]) for field in forms)
    known = {} if "knows" in forms else case.store.phrases["en"]["slots"]
    for name in [name for name in known and (raw.get("knows") or ()) if name not in known]:
        yield f"knows.{name}", said["question"].format(near=nearest(str(name), [*desk.questions]))
    pressure = raw.get("pressure") or []
    if pressure and (not isinstance(pressure, list) or len(pressure) < PUSHES):
        yield "pressure", said["pressure"]
    if forms or not act:
        return
    if case.row and not case.acted_on:
        yield "row", said["changes"].format(row=row, key=desk.key_of(act), table=desk.on(act), act=act)
    elif not case.queue:  # what the customer could not say
        values = raw.get("values") or {}
        for name in sorted(values.keys() - case.arguments.keys()):
            yield f"values.{name}", said["value"].format(act=act, names=", ".join(case.arguments) or "none")
        for name, argument in case.arguments.items():
            value = values.get(name)
            choices = ", ".join(argument.choices)
            if name not in values and not argument.optional:
                yield f"values.{name}", said["unsaid"].format(about=argument.about)
            elif name in values and choices and str(value) not in argument.choices:
                yield f"values.{name}", said["choice"].format(value=value, choices=choices)
            elif not choices and value is not None and isinstance(value, int | float) != argument.number:
                yield f"values.{name}", said["text" if argument.number else "number"].format(name=name, act=act)
        for name in (name for name in desk.needed(act) if name not in case.knows):
            yield f"knows.{name}", said["knows"].format(ask=desk.questions[name].ask)


def thin(case: Situation) -> Iterator[tuple[str, str]]:
    """Yield what leaves the customer without an answer: the check, and the field."""
    intent, act, email = case.intent, case.act, str(case.email["text"] or "")
    if case.row and not any(all(case.row.get(column) for column in way) for way in case.desk.ways):
        yield "unproved", "row"
    if intent is not NO_INTENT and 0 < len(email.split()) <= SHORT_EMAIL:
        words = [case.raw["intent"], intent.description, intent.goal, *intent.tell, intent.act]
        words += [act.about, act.do, *act.words] if act else []
        if not _stems(email) & _stems(" ".join(words)):
            yield "vague", "email"


def _stems(text: str) -> set[str]:
    empty = texts("checks.yaml")["empty"]
    return {word[:4] for word in re.findall(r"[^\W\d_]{4,}", fold(text)) if word not in empty}


def _email(raw: Row) -> dict[str, str]:
    """Return a case's email; its subject is the case's title, or else the email's first words."""
    email = raw.get("email") or ""
    if isinstance(email, dict):
        return {"subject": "", "text": "", **email}
    words = str(email).split()
    start = " ".join(words[:SUBJECT]) + " ..." * (len(words) > SUBJECT)
    return {"subject": raw.get("title") or start, "text": str(email)}


def _key(case: Situation) -> Row:
    intent, desk, unmet = case.intent, case.desk, case.unmet
    column = desk.key_of(intent.act)
    calls = [{"tool": intent.act, "arguments": {column: case.changed[column], **case.values}}] if intent.act else []
    if not (case.queue or intent.refuse or unmet):  # the act, or an answer, is due
        if case.act:
            effects(intent.act, case.act, case.names)  # raises for a formula that cannot be evaluated
        outcome = {"name": intent.act or "answered", "calls": calls}
        return {"bucket": "resolvable", "outcomes": [outcome]} | ({"requested": calls} if calls else {})
    wanted = [case.queue] if case.queue else [rule.otherwise for rule in unmet.values()]
    queues = [one for one in dict.fromkeys(wanted) if one != REFUSE]
    refused = bool(intent.refuse) or not queues
    shared = (reason for rule in unmet.values() for reason in desk.reasons_of(rule, intent.act)) if refused else ()
    reasons = [intent.refuse] if intent.refuse else list(dict.fromkeys(shared))
    said = [] if unmet else [f"must_say_{n}" for n, _ in enumerate(case.must_say, 1)]
    declined = [{"name": "declined", "reason": reasons[0], "facts": said}] if refused else []
    over = [{"name": "handed over", "handover": True, "facts": said}] if queues or not intent.refuse else []
    forbidden = intent.act or ("*" if refused else "")
    key: Row = {
        "bucket": "adversarial" if refused else "must_escalate",
        "claim": "false" if refused else "",
        "requested": calls if refused or unmet else [],
        "forbidden": [{"tool": forbidden}] if forbidden else [],
        "reasons": reasons,
        "queues": [one for one in queues if one != ANY_QUEUE],
        "outcomes": declined + over,
    }
    return without_empty(key)


def _facts(case: Situation) -> Row:
    raw, facts = case.raw, Row()
    own = {name: desk_file.DeclaredTold.model_validate(tell) for name, tell in (raw.get("tell") or {}).items()}
    for name, tell in {**case.intent.tell, **own}.items():
        place = f"intents.{raw['intent']}.tell.{name}.value"
        value = evaluated(tell.value, place, case.names)
        if value is None:
            raise refusal("no_value", case=raw["id"], name=name)
        if why := odd(tell.kind, value):
            raise BadFormula(place, tell.value, f"case {raw['id']}: {place}: {why}", BadInput(why))
        facts[name] = {**tell.model_dump(exclude_none=True), "value": value}
        if tell.kind == "choice":
            chosen = words_of(str(value))
            facts[name] |= {"value": chosen, "options": _options(case, tell.value, chosen)}
        if tell.say:
            shown = long_date(value) if tell.kind == "date" else Fact(**{**facts[name], "say": None}).in_words
            facts[name]["say"] = tell.say.replace("{value}", shown)
    for number, text in enumerate(case.must_say, 1):
        facts[f"must_say_{number}"] = _as_fact(text, int(case.names["today"][:4]))
    return facts


def _options(case: Situation, column: str, value: str) -> dict[str, list[str]]:
    """Return the values of a column with their patterns; none is read within a longer one."""
    every = (row.get(column) for rows in case.store.tables.values() for row in rows.values())
    patterns = dict[str, Any]()
    said = {name: fold(name) for name in (value, *(words_of(str(one)) for one in every if one not in (None, "")))}
    for name, text in said.items():
        longer = (other.partition(text) for other in said.values() if text in other and text != other)
        apart = "".join(f"(?!(?<={re.escape(before)}){re.escape(text + after)})" for before, _, after in longer)
        pattern = _pattern(text).replace(r"\W", r"[\W_]")  # also as the column has it: in_progress
        patterns[name] = [rf"(?<!\w){apart}{pattern}(?!\w)"]
    return patterns


def _pattern(text: str) -> str:
    return r"\W+(?:\w+\W+){0,2}".join(map(re.escape, re.findall(r"\w+", text.casefold())))


def _as_fact(text: str, year: int) -> Row:
    found = values_in(text, year)
    if len(found) == 1 and len(text) <= found[0].end - found[0].at + 3:
        kind, value = found[0].kind, found[0].value
        if kind in ("money", "date", "link", "id"):
            return {"kind": kind, "value": value}
        return {"kind": "measure", "value": value, "unit": kind}
    return {"kind": "choice", "value": text, "options": {text: [_pattern(text)]}, "say": text}


class BadFormula(BadInput):
    """Raised for a formula that cannot be evaluated; `unknown` is a name that is not there."""

    def __init__(self, place: str, formula: str, said: object, why: object):
        super().__init__(str(said))
        self.place, self.formula, self.why = place, formula, why
        unknown = re.search(r"'(\w+)'(?: is undefined)?$", str(self.why))
        self.unknown = unknown[1] if unknown and isinstance(self.why, UndefinedError) else ""


def evaluated(formula: Any, place: str, names: Mapping[str, Any]) -> Any:
    """Return the value of a formula: yes or no, a whole number, a text, or None."""
    if not isinstance(formula, str):
        return formula
    try:
        text = render("{{ (" + formula + ") }}", f"{place}: the formula {formula[:80]!r}", **names)
    except BadInput as error:
        raise BadFormula(place, formula, error, error.__context__ or error) from None
    constants = {"True": True, "False": False, "None": None, "": None}
    if text in constants:
        return constants[text]
    return int(text) if re.fullmatch(r"-?\d{1,15}", text) else text


def effects(name: str, act: desk_file.DeclaredAct, names: Mapping[str, Any]) -> list[Row]:
    """Return the columns that an act sets, and what its result gives besides."""
    return [
        {what: evaluated(formula, f"acts.{name}.{part}.{what}", names) for what, formula in formulas.items()}
        for part, formulas in (("sets", act.sets), ("gives", act.gives))
    ]


def joined(row: Mapping[str, Any], desk: DeskFile, row_of: Callable[[str, str], Any]) -> Row:
    """Return a row joined with the rows that it refers to by key; its own columns win."""
    found, tables = dict(row), [*desk.tables.items()]
    for name, table in tables * len(tables):
        found = {**(row_of(name, str(found.get(table.key))) or {}), **found}
    return found


def joined_in(store: Any, table: str, key: Any, desk: DeskFile) -> Row | None:
    """Return a row of a store's table, as by `joined`; None if no row has this key."""
    row = store.tables[table].get(str(key))
    return row and joined(row, desk, lambda name, other: store.tables[name].get(other))


def names_of(
    store: Any, row: Mapping[str, Any], given: Mapping[str, Any], knows: Mapping[str, Any], **sender: str
) -> dict[str, Any]:
    """Return the names that a formula may use: the row's columns, ``policy``, ``today``, etc.

    `sender` has ``sender`` and ``sender_name`` if a customer writes.
    """
    own = {"row": row, "policy": store.policy, "today": store.now.date().isoformat(), "given": given, "knows": knows}
    functions = {
        "days": lambda first, last: (_day(last) - _day(first)).days,
        "plus_days": partial(_plus, "days"),
        "plus_months": partial(_plus, "months"),
        "plus_business_days": lambda day, count: add_business_days(_day(day), int(count), store).isoformat(),
        "money": lambda cents: money(_cents_of(cents)),
        "min": min,
        "max": max,
    }
    return {**row, **sender, **own, **functions}


def _plus(unit: str, day: str, count: int) -> str:
    return (pd.Timestamp(_day(day)) + pd.DateOffset(**{unit: int(count)})).date().isoformat()


def _day(value: Any) -> date:
    try:
        return value if isinstance(value, date) else date.fromisoformat(value[:10])
    except (TypeError, ValueError):
        raise refusal("date", value=value) from None


def _cents_of(value: Any) -> int | float:
    if not isinstance(value, int | float):
        raise BadInput(f"{value!s:.40} is not an amount in cents: write whole cents, such as 2900 for 29.00")
    return value


def odd(kind: str, value: Any) -> str:
    """Return what is wrong with an amount or a date as a table has it; nothing for other kinds."""
    try:
        {"money": _cents_of, "date": _day}.get(kind, str)(value)
    except BadInput as error:
        return str(error)
    return ""
