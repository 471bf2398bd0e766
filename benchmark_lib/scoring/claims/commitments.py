"""Promises by class, and whether anything stands behind them: kept, unbacked, beyond authority, contradicted."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from typing import Any

from ...language.folding import plain
from ...language.values import Value, values_in
from ...language.words import near_days, weekdays
from ...store.every_desk import HANDOVER
from .findings import KEPT, AgentClaims, ClaimFinding
from .grounding import ground_of

NAME = "commitments"
BACKED_BY = {"callback": {HANDOVER}}
"""Tools that stand behind a class; those behind a refund are the store's (`refunds.through` of its policy)."""


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


def _refund(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any]:
    """Backed by a return or a cancellation of the talk; the amount, where one is named, must be one of the order."""
    call = claims.call_of(set(claims.store.policy.get("refunds", {}).get("through", ())))
    if call is None:
        over = claims.call_of({HANDOVER})
        return ("beyond_authority", over.index) if over else ("unbacked", None)
    ground = ground_of(claims, turn)
    wrong = next(
        (v for v in values_in(sentence, claims.store.now.year) if v.kind == "money" and not ground.holds(v, sentence)),
        None,
    )
    return ("contradicted", call.index) if wrong else (KEPT, call.index)


def _date(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any] | None:
    """Held against the day a tool result expects the delivery on.

    Where there is none, against the required facts and the published windows.
    """
    ground = ground_of(claims, turn)
    values = [v for v in values_in(sentence, claims.store.now.year) if v.kind == "date"]
    day = date.fromisoformat(values[0].value) if values else _day_named(sentence, claims.store.now.date())
    if day is None:
        return None
    promised, due = Value("date", day.isoformat(), 0), ground.due()
    if ground.required(promised, sentence) or (due is None and ground.holds(promised, sentence)):
        return KEPT, day.isoformat()
    if due is None:
        return "unbacked", None
    return (KEPT if due <= day else "contradicted"), due.isoformat()


def _credit(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any] | None:
    """Always beyond authority; to repeat the terms of a code that the store knows is no promise."""
    ground = ground_of(claims, turn)
    if any(v.kind == "id" and ground.holds(v, sentence) for v in values_in(sentence, claims.store.now.year)):
        return None
    return "beyond_authority", None


def _callback(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any]:
    """Only a person can get in touch again: kept where the talk was handed over."""
    call = claims.call_of(BACKED_BY["callback"])
    return (KEPT, call.index) if call else ("beyond_authority", None)


_JUDGE = {"refund": _refund, "date": _date, "credit": _credit, "callback": _callback}


def _day_named(sentence: str, today: date) -> date | None:
    """The day that a word such as tomorrow or a weekday means; None where no day is named."""
    text = plain(sentence)
    for days, words in near_days().items():
        if re.search(rf" (?:{words})\b", text):
            return today + timedelta(days)
    for number, names in enumerate(weekdays()):
        if re.search(rf" (?:{names})\b", text):
            return today + timedelta((number - today.weekday()) % 7 or 7)
    return None
