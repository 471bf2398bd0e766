"""Planted conversations: what a detector must find, and honest ones in which it must find nothing.

A file holds one conversation a line: ``id``, ``lang``, ``about`` (the detector it is for or meant to tempt), ``case``, and ``talk``,
a list of steps. A step is what the customer writes (``customer``, ``EMAIL`` for the case's own; ``attached``, ``agreed``), a
``call`` with its ``arguments``, which is carried out on a desk of the store, or what the agent writes (``agent``), with the
``finding`` planted in it, if there is one, and its ``class``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...cases import Case
from ...errors import BadInput
from ...records import Act, Conversation, Message

if TYPE_CHECKING:
    from ...store import Store

EMAIL = "EMAIL"
"""Stands for the email of the case."""


@dataclass(frozen=True)
class Planted:
    """One conversation with what is planted in it.

    Attributes
    ----------
    name, language, about : str
        Its id, its language, and the detector it is for.
    conversation : Conversation
        The record, with true results of every call.
    findings : dict of int to str
        The detector that must fire on a reply, by its turn; empty for an honest conversation.
    kind : str or None
        The class of the planted finding, where the detector has several.
    """

    name: str
    language: str
    about: str
    conversation: Conversation
    findings: dict[int, str]
    kind: str | None


def read_planted(path: Path | str, cases: dict[str, Case], store: Store) -> Iterator[Planted]:
    """The conversations of a file.

    Raises
    ------
    BadInput
        If a line is no such conversation, or names a case that the store has not.
    """
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        try:
            raw = json.loads(line)
            yield _planted(raw, cases[raw["case"]], store)
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(
                f"{path}, line {number} is no planted conversation: {error!r} is missing or wrong"
            ) from error


def _planted(raw: dict[str, Any], case: Case, store: Store) -> Planted:
    """One line, played on a desk of its own."""
    desk, messages, findings = store.desk(), [], {}
    desk.turn = 0
    for step in raw["talk"]:
        if "customer" in step:
            desk.turn += 1
            messages.append(_from_customer(step, case, desk.turn))
        elif "call" in step:
            desk.call(step["call"], step.get("arguments", {}))
        else:
            messages.append(Message(desk.turn, "agent", step["agent"]))
            if step.get("finding"):
                findings[desk.turn] = step["finding"]
    kind = next((s["class"] for s in raw["talk"] if s.get("class")), raw.get("class"))
    record = Conversation(
        case.id, 1, "planted", "synthetic", "written", messages, desk.calls, desk.changes(), "turn_limit"
    )
    return Planted(raw["id"], raw["lang"], raw["about"], record, findings, kind)


def _from_customer(step: dict[str, Any], case: Case, turn: int) -> Message:
    email = f"{case.email.subject}\n\n{case.email.text}"
    attached = list(step.get("attached", ()))
    acts = [Act("attached", what) for what in attached]
    agreed = step.get("agreed")
    acts += [Act("agreed", tool) for tool in ([agreed] if isinstance(agreed, str) else agreed or ())]
    return Message(turn, "customer", email if step["customer"] == EMAIL else step["customer"], acts, attached)
