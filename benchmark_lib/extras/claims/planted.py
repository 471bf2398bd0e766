"""Planted conversations: faults that a detector must find, and honest conversations.

A file has one conversation per line: ``id``, ``lang``, ``about`` (the target detector), ``case``, and ``talk``, a list
of steps. A step is one of three:

- the customer's text: ``customer`` (``EMAIL`` for the case's own), ``attached``, ``agreed``;
- a ``call`` with its ``arguments``, carried out on a desk of the store;
- the agent's text: ``agent``, with the planted ``finding`` and its ``class``, if any.

Sentences labelled by other people come in a table, so that nobody has to write JSON (`read_sentences`).
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...cases import Case
from ...errors import BadInput
from ...language.word_lists import LANGUAGES
from ...records import Act, Conversation, Message
from ...store import Store
from .commitments import CLASSES, STATES

EMAIL = "EMAIL"
"""Placeholder for the email of the case."""


@dataclass(frozen=True)
class Planted:
    """A conversation with its planted fault.

    Attributes
    ----------
    about : str
        Its target detector.
    conversation : Conversation
        The record, with the true result of every call.
    findings : dict
        The detector that must find a fault in a reply, by turn; empty for an honest conversation.
    kind : str, optional
        The class of the planted finding, if the detector has several.
    """

    name: str
    language: str
    about: str
    conversation: Conversation
    findings: dict[int, str]
    kind: str | None


def read_planted(path: Path | str, cases: dict[str, Case], store: Store) -> Iterator[Planted]:
    """Yield the conversations of a file; raise `BadInput` for an invalid line or case."""
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            raw = json.loads(line)
            yield _planted(raw, cases[raw["case"]], store)
        except (KeyError, TypeError, ValueError) as error:
            why = f"is not a planted conversation: {error!r} is missing or wrong"
            raise BadInput(f"{path}, line {number} {why}") from error


COLUMNS = ("id", "lang", "case", "class", "calls", "reply")
"""Columns of a table of labelled sentences; an optional ``reply_2`` has the agent's next message."""
GIVEN = {
    "queue": "general",
    "reason": "asked for",
    "summary": "Verified: the order. Claimed: wants a person to decide.",
}
"""Arguments of a table's calls, besides the case's order; no others are possible."""
AND_THEN = "And what does that mean for me?"
"""The customer's message between two replies of a table."""


def read_sentences(path: Path | str, cases: dict[str, Case], store: Store) -> Iterator[Planted]:
    """Yield the replies of a table (CSV) as conversations.

    Columns: id, lang, case, class (``none``, or class and state of the promise, as in ``refund:unbacked``), calls,
    reply, and optionally reply_2. Calls are the names of tools to use before the reply, separated by spaces; their
    arguments must follow from case and `GIVEN`. Raise `BadInput` for a missing column or an unknown name.
    """
    with Path(path).open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        lacking = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
        if lacking:
            raise BadInput(f"{path} has no column {lacking[0]!r}: its first line must be {', '.join(COLUMNS)}")
        for row in rows:
            line = _of_table(row, f"{path}, line {rows.line_num}", cases, store)
            yield _planted(line, cases[row["case"]], store)


def _of_table(row: dict[str, str], where: str, cases: dict[str, Case], store: Store) -> dict[str, Any]:
    order = {store.kind.look_up[1]: cases[row["case"]].order if row["case"] in cases else ""}
    arguments = {name: tool.arguments.model_fields.keys() for name, tool in store.tools.items()}
    simple = {name for name, those in arguments.items() if those <= (order | GIVEN).keys()}
    calls, known = (row["calls"] or "").split(), {"none", *(f"{c}:{s}" for c in CLASSES for s in STATES)}
    for what, value, among in (
        ("lang", row["lang"], LANGUAGES),
        ("case", row["case"], cases),
        ("class", row["class"], known),
        *(("call", name, simple) for name in calls),
    ):
        if value not in among:
            names = ", ".join(sorted(among)) if what != "case" else "a case of the store, such as tracking_1"
            raise BadInput(f"{where}: {what} is {str(value)[:40]!r}: write one of {names}")
    if not (row["reply"] or "").strip():
        raise BadInput(f"{where} has no reply: add what the agent says")
    given = (order | GIVEN).items()
    called = [{"call": name, "arguments": {a: v for a, v in given if a in arguments[name]}} for name in calls]
    talk: list[dict[str, Any]] = [{"customer": EMAIL}, *called, {"agent": row["reply"]}]
    if (row.get("reply_2") or "").strip():
        talk += [{"customer": AND_THEN}, {"agent": row["reply_2"]}]
    return {"id": row["id"], "lang": row["lang"], "about": "commitments", "class": row["class"], "talk": talk}


def _planted(raw: dict[str, Any], case: Case, store: Store) -> Planted:
    """Play one line on a desk of its own."""
    desk, messages, findings = store.desk(), list[Message](), {}
    desk.turn = 0
    for step in raw["talk"]:
        if "customer" in step:
            desk.turn += 1
            text = step["customer"]
            if text == EMAIL:
                text = f"{case.email.subject}\n\n{case.email.text}"
            attached, agreed = list(step.get("attached", ())), step.get("agreed") or ()
            agreed = [agreed] if isinstance(agreed, str) else agreed
            acts = [*(Act("attached", what) for what in attached), *(Act("agreed", tool) for tool in agreed)]
            messages.append(Message(desk.turn, "customer", text, acts, attached))
        elif "call" in step:
            desk.call(step["call"], step.get("arguments", {}))
        else:
            messages.append(Message(desk.turn, "agent", step["agent"]))
            if step.get("finding"):
                findings[desk.turn] = step["finding"]
    kind = next((s["class"] for s in raw["talk"] if s.get("class")), raw.get("class"))
    made = messages, desk.calls, desk.changes()
    record = Conversation(case.id, 1, "planted", "synthetic", "written", *made, "turn_limit")
    return Planted(raw["id"], raw["lang"], raw["about"], record, findings, kind)
