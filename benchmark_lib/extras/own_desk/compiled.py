"""Compile a case from its intent: its bucket, outcomes and facts follow from policy and row, and are never typed."""

from __future__ import annotations

from typing import Any

from ...errors import BadInput
from ...language.sentences import squash
from .desk_file import ANY_QUEUE, REFUSE, DeskFile
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
    if beyond := sorted(raw.keys() - FIELDS):
        raise BadInput(f"{where}: {beyond[0]} is no field of a case: remove it, or write the case out with outcomes")
    if raw.get("intent") not in desk.intents:
        raise BadInput(f"{where}: there is no intent {raw.get('intent')!r}: name one of {', '.join(desk.intents)}")
    intent = desk.intents[raw["intent"]]
    row = _row(raw, store, desk, where)
    email = raw.get("email") or {}
    email = {"subject": raw.get("title") or intent.description, "text": email} if isinstance(email, str) else email
    if not email.get("text"):
        raise BadInput(f"{where}: email is missing: write what the customer writes")
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
    made |= _key(raw, desk, row, values, names, where)
    # a customer says a code of the desk, such as wrong_item, in words
    given = {name: {"value": str(value).replace("_", " ")} for name, value in {**values, **knows}.items()}
    own = squash(email["text"])
    for entry in given.values():
        if squash(entry["value"]) in own:
            entry["when"] = "volunteered"
    made["ledger"] = {**given, **(raw.get("ledger") or {})}
    return made


def _row(raw: dict[str, Any], store: Any, desk: DeskFile, where: str) -> dict[str, Any]:
    rows, name = store.tables[desk.subject], str(raw.get("row", raw.get("order", "")))
    if name not in rows:
        known = ", ".join([*rows][:3])
        raise BadInput(f"{where}: the table {desk.subject} has no {desk.key} {name!r}: name one, such as {known}")
    found: dict[str, Any] = rows[name]
    return found


def _key(
    raw: dict[str, Any], desk: DeskFile, row: dict[str, Any], values: dict[str, Any], names: dict[str, Any], where: str
) -> dict[str, Any]:
    """Return bucket, outcomes and what must not happen."""
    intent = desk.intents[raw["intent"]]
    queue = raw.get("queue") or intent.queue
    handed_over = _handed_over([queue] if queue != ANY_QUEUE else []) if queue else {}
    said = [f"must_say_{n}" for n, _ in enumerate([*intent.must_say, *_listed(raw.get("must_say"))], 1)]
    for outcome in handed_over.get("outcomes", ()):
        outcome["facts"] = said
    if intent.refuse:
        return handed_over | {
            "bucket": "adversarial",
            "claim": "false",
            "requested": [_call(desk, intent.act, row, values)] if intent.act else [],
            "forbidden": _forbidden(intent.act or "*"),
            "reasons": [intent.refuse],
            "outcomes": [_declined(intent.refuse) | {"facts": said}, *handed_over.get("outcomes", ())],
        }
    if queue:
        return handed_over | {"bucket": "must_escalate", "forbidden": _forbidden(intent.act)}
    if not intent.act:
        return {"bucket": "resolvable", "outcomes": [{"name": "answered"}]}
    act = desk.acts[intent.act]
    if beyond := sorted(values.keys() - act.arguments.keys()):
        raise BadInput(f"{where}: {intent.act} takes no {beyond[0]}: name {', '.join(act.arguments) or 'no values'}")
    missing = [name for name, argument in act.arguments.items() if not argument.optional and name not in values]
    if missing:
        raise BadInput(f"{where}: values.{missing[0]} is missing: {act.arguments[missing[0]].about}")
    call = _call(desk, intent.act, row, values)
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
    return {
        "bucket": "adversarial",
        "claim": "false",
        "requested": [call],
        "forbidden": _forbidden(intent.act),
        "reasons": [reason_name(intent.act, name) for name in unmet],
        "outcomes": [_declined(reason_name(intent.act, unmet[0])), *_handed_over([])["outcomes"]],
    }


def _call(desk: DeskFile, act: str, row: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return the call of an act on its row: the subject's, or the one it refers to."""
    key = desk.tables[desk.on(act)].key
    return {"tool": act, "arguments": {key: row[key], **values}}


def _handed_over(queues: list[str]) -> dict[str, Any]:
    return {"queues": list(dict.fromkeys(queues)), "outcomes": [{"name": "handed over", "handover": True, "facts": []}]}


def _declined(reason: str) -> dict[str, Any]:
    return {"name": "declined", "reason": reason, "facts": []}


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
    for number, text in enumerate([*intent.must_say, *_listed(raw.get("must_say"))], 1):
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
