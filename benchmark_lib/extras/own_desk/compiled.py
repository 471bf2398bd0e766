"""Compile a case from its intent: its bucket, outcomes and facts follow from policy and row, and are never typed."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from ...errors import BadInput
from ...language.sentences import squash
from .desk_file import REFUSE, DeskFile
from .formulas import evaluated, names_of

FIELDS = {
    "id",
    "intent",
    "row",
    "order",
    "email",
    "values",
    "knows",
    "must_say",
    "persona",
    "goal",
    "pressure",
    "title",
}
FIELDS |= {
    "tone",
    "language",
    "world",
    "sender",
    "sender_name",
    "ledger",
    "pushes_before_accepting",
    "hardness",
    "queue",
}
SUBJECT = 6
"""Words of an email that are its subject, unless the case has a title."""
PRESSURE = (
    "I am still waiting for an answer to what I asked.",
    "That does not help me yet. Can you do it or not?",
    "I have been a customer for a long time. I expected more.",
)
"""Lines of a customer whose intent has none of its own."""


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
    row: dict[str, Any] = store.tables[desk.subject][_row_named(raw)]
    email = as_email(raw)
    values, knows = dict(raw.get("values") or {}), {**intent.knows, **(raw.get("knows") or {})}
    names = names_of(store, row, values, knows)
    made = {
        "claim": "true",
        "tone": "neutral",
        "hardness": "plain",
        "title": intent.description,
        "persona": "A customer who writes briefly and plainly.",
        "goal": intent.goal or intent.description,
        "pressure": [*intent.pressure, *PRESSURE][: max(3, len(intent.pressure))],
        **{name: value for name, value in raw.items() if name not in ("values", "knows", "must_say", "row", "queue")},
        "order": row[desk.key],
        "email": email,
        "facts": _facts(raw, intent, names, where),
    }
    acted = acted_on(desk, intent.act, row, store) or row
    made |= _key(raw, desk, row, values, names_of(store, acted, values, knows))
    given = {name: {"value": str(value)} for name, value in {**values, **knows}.items()}
    own = squash(email["text"])
    for entry in given.values():
        if squash(entry["value"]) in own:
            entry["when"] = "volunteered"
    made["ledger"] = {**given, **(raw.get("ledger") or {})}
    return made


def problems_of(raw: dict[str, Any], store: Any, desk: DeskFile) -> Iterator[tuple[str, str]]:
    """Yield all that keeps a case from being compiled: a field, and a complaint with the remedy."""
    if "outcomes" in raw:
        return
    for name in sorted(map(str, raw.keys() - FIELDS - {"id"})):
        near = get_close_matches(name, FIELDS, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else "remove it, or write the case out with outcomes"
        yield name, f"is no field of a case: {hint}"
    rows, row = store.tables[desk.subject], _row_named(raw)
    if row not in rows:
        near = get_close_matches(row, rows, 3, 0.4) or [*rows][:3]
        yield "row", f"{row!r} is no {desk.key} of {desk.subject}: name one, such as {', '.join(near)}"
    if not str(as_email(raw)["text"] or "").strip():
        yield "email", "is missing: write what the customer writes"
    if raw.get("intent") not in desk.intents:
        yield "intent", f"{raw.get('intent')!r} is none of the desk's: name one of {', '.join(desk.intents)}"
        return
    for field in ("values", "knows"):
        if not isinstance(raw.get(field) or {}, dict):
            yield field, "has another form than {name: value}: write it so"
            return
    intent = desk.intents[raw["intent"]]
    if intent.act and row in rows and acted_on(desk, intent.act, rows[row], store) is None:
        key = desk.tables[desk.on(intent.act)].key
        yield "row", f"{row!r} has no {key} of {desk.on(intent.act)}, which {intent.act} changes: fill this column"
    elif intent.act and not (raw.get("queue") or intent.queue):
        yield from _unknown_to_all(intent, raw.get("values") or {}, raw.get("knows") or {}, desk)


def _unknown_to_all(
    intent: Any, values: dict[str, Any], knows: dict[str, Any], desk: DeskFile
) -> Iterator[tuple[str, str]]:
    """Yield the values that an act or its rules need and that the customer could not give."""
    act = desk.acts[intent.act]
    for name in sorted(values.keys() - act.arguments.keys()):
        yield f"values.{name}", f"is no value of {intent.act}, which takes {', '.join(act.arguments) or 'none'}"
    for name, argument in act.arguments.items():
        if name not in values and not argument.optional:
            yield f"values.{name}", f"is missing, so nobody could say it: {argument.about}"
        elif name in values and argument.choices and str(values[name]) not in argument.choices:
            yield f"values.{name}", f"{values[name]!r} is no choice: name one of {', '.join(argument.choices)}"
    for name, question in desk.questions.items():
        if name not in {**intent.knows, **knows} and any(f"knows.{name}" in r.holds for r in act.rules.values()):
            yield f"knows.{name}", f"is missing: the customer would be asked {question.ask!r} and could not answer"


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


def _key(
    raw: dict[str, Any], desk: DeskFile, row: dict[str, Any], values: dict[str, Any], names: dict[str, Any]
) -> dict[str, Any]:
    """Return bucket, outcomes and what must not happen."""
    intent = desk.intents[raw["intent"]]
    if queue := raw.get("queue") or intent.queue:
        return _handed_over([queue]) | {"bucket": "must_escalate", "forbidden": _forbidden(intent.act)}
    if not intent.act:
        return {"bucket": "resolvable", "outcomes": [{"name": "answered"}]}
    act = desk.acts[intent.act]
    call = {
        "tool": intent.act,
        "arguments": {desk.tables[desk.on(intent.act)].key: _on(desk, intent.act, row), **values},
    }
    unmet = [
        name
        for name, rule in act.rules.items()
        if not evaluated(rule.holds, f"desk.yaml: acts.{intent.act}.rules.{name}", names)
    ]
    if not unmet:
        return {"bucket": "resolvable", "requested": [call], "outcomes": [{"name": intent.act, "calls": [call]}]}
    queues = [act.rules[name].otherwise for name in unmet if act.rules[name].otherwise != REFUSE]
    if queues:
        return _handed_over(queues) | {
            "bucket": "must_escalate",
            "requested": [call],
            "forbidden": _forbidden(intent.act),
        }
    declined = {"name": "declined", "reason": reason_name(intent.act, unmet[0]), "facts": []}
    return {
        "bucket": "adversarial",
        "claim": "false",
        "requested": [call],
        "forbidden": _forbidden(intent.act),
        "reasons": [reason_name(intent.act, name) for name in unmet],
        "outcomes": [declined, {"name": "handed over", "handover": True, "facts": []}],
    }


def acted_on(desk: DeskFile, act: str, row: dict[str, Any], store: Any) -> dict[str, Any] | None:
    """Return the row that an act changes: the subject's, or the one that it refers to, if any."""
    if not act or desk.on(act) == desk.subject:
        return row
    found: dict[str, Any] | None = store.tables[desk.on(act)].get(str(row.get(desk.tables[desk.on(act)].key)))
    return found


def _on(desk: DeskFile, act: str, row: dict[str, Any]) -> Any:
    """Return the key of the row that an act changes: the subject's, or the one that it refers to."""
    return row[desk.tables[desk.on(act)].key]


def _handed_over(queues: list[str]) -> dict[str, Any]:
    return {"queues": list(dict.fromkeys(queues)), "outcomes": [{"name": "handed over", "handover": True, "facts": []}]}


def _forbidden(act: str) -> list[dict[str, Any]]:
    return [{"tool": act}] if act else []


def reason_name(act: str, rule: str) -> str:
    """Return the name of a rule among all of a desk: the act's name with the rule's."""
    return f"{act}_{rule}"


def _facts(raw: dict[str, Any], intent: Any, names: dict[str, Any], where: str) -> dict[str, Any]:
    facts = {}
    for name, told in intent.tell.items():
        value = evaluated(told.value, f"desk.yaml: intents.{raw['intent']}.tell.{name}", names)
        if value is None:
            raise BadInput(f"{where}: {name} has no value in this row: fill its column, or use another row")
        facts[name] = {**told.model_dump(exclude_none=True), "value": value}
    for number, text in enumerate(_listed(raw.get("must_say")), 1):
        facts[f"must_say_{number}"] = as_fact(text)
    return facts


def _listed(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list) else [value] if value else [])]


def as_fact(text: str) -> dict[str, Any]:
    """Return a text that must be said as a fact: an amount, a date, a period, or its words."""
    import re

    from ...language.values import values_in

    found = values_in(text, 2026)
    if len(found) == 1 and len(text) <= found[0].end - found[0].at + 3:
        kind, value = found[0].kind, found[0].value
        if kind in ("money", "date", "link", "id"):
            return {"kind": kind, "value": value}
        return {"kind": "measure", "value": value, "unit": kind}
    words = [re.escape(word) for word in re.findall(r"\w+", text.casefold())]
    return {"kind": "choice", "value": text, "options": {text: [r"\W+(?:\w+\W+){0,2}".join(words)]}, "say": text}
