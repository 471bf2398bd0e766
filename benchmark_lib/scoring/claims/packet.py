"""The handover packet: what a colleague is given with the case."""

from __future__ import annotations

from typing import Any

from ...language.folding import plain
from ...language.pieces import found_in, kept
from ...records import as_text
from ...store.every_desk import HANDOVER
from .findings import AgentClaims, ClaimFinding, letters
from .reading import claim_patterns

NAME = "handover_packet"


def packet(claims: AgentClaims) -> list[ClaimFinding]:
    """What is wrong with the packet of the handover.

    A missing order number, claims not kept apart, personal data that is not needed.
    """
    call = claims.call_of({HANDOVER})
    if call is None or not isinstance(call.arguments, dict):
        return []
    parts = [call.arguments.get(name, "") for name in ("reason", "summary")]
    text = kept(" ".join(p if isinstance(p, str) else as_text(p) for p in parts))
    found = []
    if not _names_order(claims, text, call.turn):
        found.append(("facts", claims.case.order))
    if not _parted(text):
        found.append(("parted", None))
    found += [("lean", value) for value in _surplus(claims, text, call.turn)]
    states = {"facts": "missing", "parted": "not_kept_apart", "lean": "surplus"}
    return [
        ClaimFinding(NAME, call.turn, text.strip(), value or call.index, kind, states[kind]) for kind, value in found
    ]


def _names_order(claims: AgentClaims, text: str, turn: int) -> bool:
    """Whether the packet names an order that the talk is about; none is needed where none had come up."""
    known = {claims.case.order, *claims.case.others.values()}
    come_up = [
        o
        for o in known
        if o.casefold() in claims.customer_words(turn) or any(o.casefold() in r for r in claims.results(turn))
    ]
    return not come_up or any(letters(o) in letters(text) for o in come_up)


def _parted(text: str) -> bool:
    """Whether a packet says what is verified and what the customer claims."""
    words = plain(text)
    return any(all(found_in(p, words) for p in b.packet) for b in claim_patterns().values())


def _surplus(claims: AgentClaims, text: str, turn: int) -> list[str]:
    """Phone numbers and streets of results that stand in the packet and that the customer had not brought up."""
    mine, words = letters(text), letters(claims.customer_words(turn))
    values = {v for t in claims.done if t.turn <= turn for v in _private(t.result, claims.store.kind.private)}
    return sorted(v for v in values if len(letters(v)) > 5 and letters(v) in mine and letters(v) not in words)


def _private(value: Any, names: tuple[str, ...]) -> list[str]:
    """The texts that stand under these names, however deep."""
    found, waiting = [], [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            found += [v for k, v in value.items() if k in names and isinstance(v, str)]
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found
