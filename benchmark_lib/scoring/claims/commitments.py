"""Promises by class, and whether anything stands behind them: kept, unbacked, beyond authority, too early.

A class is judged on the whole record, so that a promise and the call that keeps it may stand in any order.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from ...language.folding import plain
from ...language.parser import parser_of
from ...language.values import values_in
from ...language.words import near_days, weekdays
from ...store.calendar import add_business_days
from ...store.every_desk import HANDOVER
from .findings import KEPT, AgentClaims, ClaimFinding
from .published import published
from .reading import claim_patterns

if TYPE_CHECKING:
    from ...store import Store

NAME = "commitments"
SOON = 30
"""Days from today within which a day that is promised is that of a delivery."""


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


def _date(claims: AgentClaims, turn: int, sentence: str) -> tuple[str, Any] | None:
    """A delivery before the first day on which any can arrive, or, promised firmly, before the last on which it may."""
    days = _days_named(sentence, claims.store)
    if not days:
        return None
    promised, firm = max(days), any(b.firm.search(plain(sentence)) for b in claim_patterns().values())
    sure = _arrival(claims, turn, last=firm)
    return (KEPT, promised.isoformat()) if promised >= sure else ("too_early", sure.isoformat())


_JUDGE = {"refund": _refund, "date": _date, "credit": _credit, "callback": _callback}


def _arrival(claims: AgentClaims, turn: int, last: bool) -> date:
    """The first day on which goods can arrive by the windows of the policy, or the last; the earliest of all that can.

    A parcel under way counts from the day it left, or by what a result expects; what is not packed yet from today. Today
    where a parcel is out for delivery.
    """
    today, store = claims.store.now.date(), claims.store
    results = claims.results(turn)
    if any("out_for_delivery" in r and '"delivered"' not in r for r in results):
        return today
    field = store.kind.due_field
    due = {m.group(1) for r in results for m in re.finditer(rf'"{field}":"(\d{{4}}-\d\d-\d\d)', r)} if field else set()
    shipping = store.policy.get("shipping", {}).get("business_days", {})
    processing = store.policy.get("processing", {}).get("business_days", [0, 0])
    countries = {m.group(1).upper() for r in results for m in re.finditer(r'"country":"(\w\w)"', r)} & set(shipping)
    windows = [shipping[c] for c in (countries or shipping)] or [[0, 0]]
    transit = min(w[1] if last else w[0] for w in windows)
    left = {m.group(1) for r in results for m in re.finditer(r'"shipped_at":"(\d{4}-\d\d-\d\d)', r)}
    ways = [add_business_days(day, transit, store) for day in map(date.fromisoformat, sorted(left))]
    fresh = add_business_days(today, transit + (processing[1] if last else 0), store)
    return min([fresh, *(day for day in [*ways, *map(date.fromisoformat, sorted(due))] if day >= today)])


def _days_named(sentence: str, store: Store) -> list[date]:
    """The days from today on that a sentence names, also by a word such as tomorrow or a weekday."""
    today, text = store.now.date(), plain(sentence)
    found = [date.fromisoformat(v.value) for v in values_in(sentence, store.now.year) if v.kind == "date"]
    if not found:
        found = [today + timedelta(n) for n, words in near_days().items() if re.search(rf" (?:{words})\b", text)]
    if not found:
        named = (n for n, names in enumerate(weekdays()) if re.search(rf" (?:{names})\b", text))
        found = [today + timedelta((n - today.weekday()) % 7 or 7) for n in named]
    return [day for day in found if 0 <= (day - today).days <= SOON]
