"""The handover packet: the information that a colleague gets with the case."""

import re
from typing import Any

from ...language.said import claim_patterns
from ...language.sentences import found_in, kept, plain, squash
from ...records import as_text
from ...store.every_desk import HANDOVER
from ...store.frozen import leaves
from .findings import AgentClaims, ClaimFinding
from .secrets import secrets_in

NAME = "handover_packet"
FAULTS = {"facts": "missing", "parted": "not_kept_apart", "lean": "surplus"}
"""Checks of a packet, with the state of a finding.

It must name the matter, separate claims from verified facts, and omit unneeded private data and secrets.
"""
FEWEST_WORDS = 5
"""A summary of fewer words says nothing of the matter."""


def packet(claims: AgentClaims) -> list[ClaimFinding]:
    """Return the faults of the handover's packet."""
    call = claims.call_of({HANDOVER})
    if call is None or not isinstance(call.arguments, dict):
        return []
    reason, summary = (as_words(call.arguments.get(name)) for name in ("reason", "summary"))
    text = kept(f"{reason} {summary}")
    found: list[tuple[str, Any]] = []
    if len(summary.split()) < FEWEST_WORDS or not _names_order(claims, text, call.turn):
        found.append(("facts", claims.case.order))
    if not _parted(text):
        found.append(("parted", None))
    surplus = [*_surplus(claims, text, call.turn, call.arguments.get("queue")), *secrets_in(text)]
    found += [("lean", value) for value in surplus]
    said = NAME, call.turn, text.strip()
    return [ClaimFinding(*said, value or call.index, kind, FAULTS[kind]) for kind, value in found]


def as_words(value: Any) -> str:
    """Return an argument as text; empty if it is missing."""
    return value if isinstance(value, str) else "" if value is None else as_text(value)


def _names_order(claims: AgentClaims, text: str, turn: int) -> bool:
    """Return whether the packet names an order of the conversation, if the latter names one."""
    said = squash(claims.customer_words(turn)) + " ".join(squash(m.text) for m, _ in claims.replies)
    acted = {squash(as_text(t.arguments)) for t in claims.done if t.write and t.name != HANDOVER}
    known = {squash(o) for o in (claims.case.order, *claims.case.others.values()) if o}
    come_up = [o for o in known if o in said or any(o in a for a in acted)]
    return not come_up or any(o in squash(text) for o in come_up)


def _parted(text: str) -> bool:
    """Return whether a packet states what is verified and what the customer claims."""
    words = plain(text)
    return any(all(found_in(p, words) for p in b.packet) for b in claim_patterns().values())


def _surplus(claims: AgentClaims, text: str, turn: int, queue: Any) -> list[str]:
    """Return private values that nobody had mentioned and that the queue does not need."""
    named = queue if isinstance(queue, str) else ""
    names = tuple(name for name, queues in claims.store.kind.private.items() if named not in queues)
    said = plain(claims.customer_words(turn) + " ".join(m.text for m, _ in claims.replies))
    told = (leaf for t in claims.done if t.turn <= turn for leaf in leaves(t.result))
    values = {v for name, v in told if name in names and isinstance(v, str)}
    words = plain(text)
    return sorted(v for v in values if (p := _spelled(v)) and re.search(p, words) and not re.search(p, said))


def _spelled(value: str) -> str | None:
    """Return a pattern of a value in any spelling; None for a value that is too short."""
    parts = re.findall(r"[a-z]+|\d+", plain(value))
    return r"[\W_]{0,3}(?:\w{1,8} ){0,3}?".join(parts) if len("".join(parts)) > 5 else None
