"""Compile a case: its bucket, outcomes and facts follow from intent, policy and row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from ...cases import Case, Fact
from ...cases.read import long_date
from ...errors import BadInput
from ...language.sentences import fold
from ...language.values import values_in
from .desk_file import ANY_QUEUE, REFUSE, DeclaredIntent, DeclaredRule, DeclaredTold, DeskFile
from .formulas import evaluated, joined_in, names_of

OWN = {"row", "changes", "values", "knows", "tell", "must_say", "queue"}
"""Fields of a case that is to be compiled, in addition to those of `Case`.

`row` is the subject's row, and `changes` the row that the act changes, where the subject's does not name it. `tell` is
as in an intent.
"""
SUBJECT = 6
"""Words of an email that are its subject, unless the case has a title."""
PRESSURE = (
    "I am still waiting for an answer to what I asked.",
    "That does not help me yet. Can you do it or not?",
    "I have been a customer for a long time. I expected more.",
)
"""Lines of a customer whose intent has none of its own."""
SHORTEST = 3
"""Letters of an answer that an email cannot give in passing."""


def compiled(raw: dict[str, Any], store: Any, desk: DeskFile) -> dict[str, Any]:
    """Return a case as the core reads it; a case with outcomes of its own stays as it is.

    Raises
    ------
    BadInput
        For a field that no case has, a missing email, an unknown row, or a value that its act does not take.
    """
    if "outcomes" in raw:
        return raw
    where = f"case {raw['id']}"
    for field, complaint in problems_of(raw, store, desk):
        raise BadInput(f"{where}: {field} {complaint}")
    intent = desk.intents[raw["intent"]]
    row: dict[str, Any] = joined_in(store, desk.subject, _row_named(raw), desk) or {}
    changed = acted_on(raw, row, store, desk) or row
    email = as_email(raw)
    values, knows = dict(raw.get("values") or {}), {**intent.knows, **(raw.get("knows") or {})}
    chosen = {name for act in desk.acts.values() for name, a in act.arguments.items() if a.choices}
    values = {name: str(value) if name in chosen else value for name, value in values.items()}
    senders = {"sender": desk.owner.email, "sender_name": desk.owner.name}
    sender = {part: raw.get(part) or changed.get(column, "") for part, column in senders.items()}
    names = names_of(store, changed, values, knows, **sender)
    made = {
        "claim": "true",
        "tone": "neutral",
        "hardness": "plain",
        "title": email["subject"] or intent.description,
        "persona": "A customer who writes briefly and plainly.",
        "goal": intent.goal or intent.description,
        "pressure": [*intent.pressure, *PRESSURE][: max(3, len(intent.pressure))],
        **{name: value for name, value in raw.items() if name not in OWN},
        "order": row[desk.key],
        "email": email,
        "facts": {**_facts(raw, intent, names, where), **(raw.get("facts") or {})},
    }
    made |= _key(raw, desk, changed, values, names)
    # a customer says a code of the desk, such as wrong_item, in words
    given = {name: {"value": str(value).replace("_", " ")} for name, value in {**values, **knows}.items()}
    for entry in given.values():
        if _stated(entry["value"], email["text"]):
            entry["when"] = "volunteered"
    made["ledger"] = {**given, **(raw.get("ledger") or {})}
    return made


def _stated(value: str, text: str) -> bool:
    # a short word such as "no" stands in many emails and answers nothing
    short = len(value) <= SHORTEST and not any(map(str.isdigit, value))
    return not short and re.search(rf"(?<!\w){re.escape(fold(value))}(?!\w)", fold(text)) is not None


def problems_of(raw: dict[str, Any], store: Any, desk: DeskFile) -> Iterator[tuple[str, str]]:
    """Yield all that keeps a case from being compiled: a field, and a complaint with the remedy."""
    if "outcomes" in raw:
        return
    fields = Case.model_fields.keys() | OWN
    for name in sorted(map(str, raw.keys() - fields)):
        near = get_close_matches(name, fields, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else "remove it, or write the case out with outcomes"
        yield name, f"is not a field of a case: {hint}"
    rows, row = store.tables[desk.subject], _row_named(raw)
    if row not in rows:
        near = get_close_matches(row, rows, 3, 0.4) or [*rows][:3]
        yield (
            "row",
            f"{row!r} is missing from {desk.key} of {desk.subject}: name one, such as {', '.join(near)}",
        )
    if not str(as_email(raw)["text"] or "").strip():
        yield "email", "is missing: write what the customer writes"
    if raw.get("intent") not in desk.intents:
        yield "intent", f"{raw.get('intent')!r} is not an intent of the desk: name one of {', '.join(desk.intents)}"
        return
    for field in ("values", "knows"):
        if not isinstance(raw.get(field) or {}, dict):
            yield field, "has another form than {name: value}: write it so"
            return
    intent = desk.intents[raw["intent"]]
    if row in rows and acted_on(raw, joined_in(store, desk.subject, row, desk) or {}, store, desk) is None:
        key = desk.key_of(intent.act)
        yield "row", f"{row!r} names no {key} of {desk.on(intent.act)}, which {intent.act} changes: name it as changes"
    elif intent.act and not (raw.get("queue") or intent.queue):
        yield from _unknown_to_all(intent, raw.get("values") or {}, raw.get("knows") or {}, desk)


def _unknown_to_all(
    intent: Any, values: dict[str, Any], knows: dict[str, Any], desk: DeskFile
) -> Iterator[tuple[str, str]]:
    """Yield the values that an act or its rules need and that the customer could not give."""
    act = desk.acts[intent.act]
    for name in sorted(values.keys() - act.arguments.keys()):
        yield f"values.{name}", f"is not a value of {intent.act}, which takes {', '.join(act.arguments) or 'none'}"
    for name, argument in act.arguments.items():
        if name not in values and not argument.optional:
            yield f"values.{name}", f"is missing, so nobody could say it: {argument.about}"
        elif name in values and argument.choices and str(values[name]) not in argument.choices:
            yield f"values.{name}", f"{values[name]!r} is not a choice: name one of {', '.join(argument.choices)}"
    for name in desk.needed(intent.act):
        if name not in {**intent.knows, **knows}:
            ask = desk.questions[name].ask
            yield f"knows.{name}", f"is missing: the customer would be asked {ask!r} and could not answer"


def _row_named(raw: dict[str, Any]) -> str:
    return str(raw.get("row", raw.get("order", "")))


def as_email(raw: dict[str, Any]) -> dict[str, str]:
    """Return the email of a case with a subject: the case's title, or else how the email begins."""
    email = raw.get("email") or ""
    if isinstance(email, dict):
        return {"subject": "", "text": "", **email}
    words = str(email).split()
    start = " ".join(words[:SUBJECT]) + " ..." * (len(words) > SUBJECT)
    return {"subject": raw.get("title") or start, "text": str(email)}


def acted_on(raw: dict[str, Any], row: dict[str, Any], store: Any, desk: DeskFile) -> dict[str, Any] | None:
    """Return the row that a case's act changes; None if there is none."""
    act = desk.intents[raw["intent"]].act
    table = desk.on(act) if act else desk.subject
    return joined_in(store, table, raw.get("changes", row.get(desk.tables[table].key)), desk)


def _key(
    raw: dict[str, Any], desk: DeskFile, row: dict[str, Any], values: dict[str, Any], names: dict[str, Any]
) -> dict[str, Any]:
    """Return bucket, outcomes and what must not happen."""
    intent = desk.intents[raw["intent"]]
    queue = raw.get("queue") or intent.queue
    act = desk.acts.get(intent.act)
    column = desk.key_of(intent.act) if act else ""
    calls = [{"tool": intent.act, "arguments": {column: row[column], **values}}] if act else []
    told, unmet = bool(queue or intent.refuse), list[str]()
    for name, rule in act.rules.items() if act and not told else ():
        if not evaluated(rule.holds, f"desk.yaml: acts.{intent.act}.rules.{name}", names):
            unmet.append(name)
    others = [act.rules[name].otherwise for name in unmet] if act else []
    queues = [one for one in dict.fromkeys([queue] if queue else others) if one != REFUSE]
    if not (told or unmet):
        outcome = {"name": intent.act or "answered", "calls": calls}
        return {"bucket": "resolvable", "outcomes": [outcome]} | ({"requested": calls} if calls else {})
    refused = bool(intent.refuse) or not queues
    reasons = [one for name in unmet for one in _heard_as(desk, intent.act, name)] if refused else []
    reasons = [intent.refuse] if intent.refuse else list(dict.fromkeys(reasons))
    said = [f"must_say_{n}" for n, _ in enumerate(_must_say(raw, intent), 1)] if told else []
    declined = [{"name": "declined", "reason": reasons[0], "facts": said}] if refused else []
    over = [{"name": "handed over", "handover": True, "facts": said}] if queues or not intent.refuse else []
    forbidden = intent.act or ("*" if refused else "")
    key = {
        "bucket": "adversarial" if refused else "must_escalate",
        "claim": "false" if refused else "",
        "requested": calls if refused or unmet else [],
        "forbidden": [{"tool": forbidden}] if forbidden else [],
        "reasons": reasons,
        "queues": [one for one in queues if one != ANY_QUEUE],
        "outcomes": declined + over,
    }
    return {name: part for name, part in key.items() if part}


def _heard_as(desk: DeskFile, act: str, rule: str) -> list[str]:
    """Return the reason of a rule, and those of other acts that are heard by the same words."""
    own = desk.rules[act, rule]
    words = {own.say, *own.words}
    others = [one for (other, _), one in desk.rules.items() if other != act and words & {one.say, *one.words}]
    return [reason_of(desk, one) for one in (own, *others)]


def reason_name(act: str, rule: str) -> str:
    """Return the name of a rule among all of a desk: the act's name with the rule's."""
    return f"{act}_{rule}"


def reason_of(desk: DeskFile, rule: DeclaredRule) -> str:
    """Return the name of a rule's reason: that of the first rule that is said in the same words."""
    return next(reason_name(*place) for place, one in desk.rules.items() if one.say == rule.say)


def _facts(raw: dict[str, Any], intent: Any, names: dict[str, Any], where: str) -> dict[str, Any]:
    facts = {}
    own = {name: DeclaredTold.model_validate(told) for name, told in (raw.get("tell") or {}).items()}
    for name, told in {**intent.tell, **own}.items():
        value = evaluated(told.value, f"desk.yaml: intents.{raw['intent']}.tell.{name}", names)
        if value is None:
            raise BadInput(f"{where}: {name} has no value in this row: fill its column, or use another row")
        facts[name] = {**told.model_dump(exclude_none=True), "value": value}
        if told.say:
            shown = long_date(value) if told.kind == "date" else Fact(**{**facts[name], "say": None}).in_words
            facts[name]["say"] = told.say.replace("{value}", shown)
    for number, text in enumerate(_must_say(raw, intent), 1):
        facts[f"must_say_{number}"] = as_fact(text, int(names["today"][:4]))
    return facts


def _must_say(raw: dict[str, Any], intent: DeclaredIntent) -> list[str]:
    own = raw.get("must_say") or []
    return [*intent.must_say, *map(str, own if isinstance(own, list) else [own])]


def as_fact(text: str, year: int) -> dict[str, Any]:
    """Return a text as a required fact: an amount, a date of this year, a period, or words."""
    found = values_in(text, year)
    if len(found) == 1 and len(text) <= found[0].end - found[0].at + 3:
        kind, value = found[0].kind, found[0].value
        if kind in ("money", "date", "link", "id"):
            return {"kind": kind, "value": value}
        return {"kind": "measure", "value": value, "unit": kind}
    words = [re.escape(word) for word in re.findall(r"\w+", text.casefold())]
    return {"kind": "choice", "value": text, "options": {text: [r"\W+(?:\w+\W+){0,2}".join(words)]}, "say": text}
