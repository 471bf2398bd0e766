"""Promises by class, and whether anything stands behind them: kept, unbacked or beyond authority.

A class is judged on the whole record, so that a promise and the call that keeps it may stand in any order.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...language.parser import parser_of
from ...language.values import values_in
from ...store.every_desk import HANDOVER
from .findings import KEPT, AgentClaims, ClaimFinding
from .published import published

if TYPE_CHECKING:
    pass

NAME = "commitments"


def promises(claims: AgentClaims) -> list[ClaimFinding]:
    """Every promise of the talk with its state."""
    found = []
    for turn, kind, sentence in claims.about("promise"):
        judged = _JUDGE[kind](claims, turn, sentence)
        if judged is not None:
            state, compared = judged
            found.append(ClaimFinding(NAME, turn, sentence, compared, kind, state))
    return found


def by_class(found: list[ClaimFinding]) -> dict[str, dict[str, int]]:
    """How many promises of each class are in each state."""
    counts = Counter((f.kind, f.state) for f in found)
    return {kind: {s: n for (k, s), n in counts.items() if k == kind} for kind in sorted({k for k, _ in counts})}


def _refund(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any] | None:
    """Backed by a return or a cancellation, of the talk or on the desk before it, or by a colleague who decides.

    What a message says of the money beside the offer of such an act is part of the offer.
    """
    through = set(claims.store.policy.get("refunds", {}).get("through", ()))
    call = claims.call_of(through | {HANDOVER})
    if call is not None:
        return KEPT, call.index
    shown = (t.index for t in claims.done for tool in through if claims.store.kind.shows(t.result, tool, sentence))
    before = next(shown, None)
    if before is not None:
        return KEPT, before
    offered = (parser_of(claims.store).parse(m.text) for m, _ in claims.replies if m.turn == turn)
    return None if any(through.intersection(parsed.proposed) for parsed in offered) else ("unbacked", None)


def _credit(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any] | None:
    """Always beyond authority; to name a code that the store knows is no promise."""
    known = published(claims.store).text
    values = values_in(sentence, claims.store.now.year)
    return None if any(v.kind == "id" and v.value.lower() in known for v in values) else ("beyond_authority", None)


def _callback(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any]:
    """Only a person can get in touch again: kept where the talk was handed over."""
    call = claims.call_of({HANDOVER})
    return (KEPT, call.index) if call else ("beyond_authority", None)


_JUDGE = {"refund": _refund, "credit": _credit, "callback": _callback}
