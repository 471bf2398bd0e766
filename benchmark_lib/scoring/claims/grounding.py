"""Groundedness: each amount, date, number, link and window of a reply stands in what the agent had seen, or follows from it by a kept rule.

Allowed derivations, and no others:

- sums and differences of up to three amounts of one order or one product list, an amount times a quantity of 2 to 5,
  and rounding to whole units;
- a day that lies as many business days after a day of a result, or after today, as the published windows say (packing,
  transit, refund, and packing plus transit), or as many calendar days or months as another published window says;
- the distance in days between today and a day of a result, or between two of them;
- a value that the case requires to be told: the author of the case has derived it from the store;
- the name of a weekday, as it stands beside no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...language.folding import fold
from ...language.values import Value, values_in
from ...store.calendar import add_business_days
from .findings import AgentClaims, ClaimFinding

if TYPE_CHECKING:
    from ...store import Store

NAME = "groundedness"
QUANTITIES = range(2, 6)
MANY = 60
"""Amounts of a talk beyond which sums are no longer tried: with so many, any amount is a sum of some."""


def ungrounded(claims: AgentClaims) -> list[ClaimFinding]:
    """Values that stand nowhere and follow from nothing."""
    found = []
    for message, reading in claims.replies:
        values = [(s, v) for s in reading.sentences for v in values_in(s.text, claims.store.now.year)]
        ground = ground_of(claims, message.turn) if values else None
        for sentence, value in values:
            if not ground.holds(value, sentence.text):
                found.append(ClaimFinding(NAME, message.turn, sentence.text, value.value, value.kind, "unsupported"))
    return found


def values_told(claims: AgentClaims) -> int:
    """How many typed values the replies tell."""
    return sum(
        len(values_in(s.text, claims.store.now.year)) for _, reading in claims.replies for s in reading.sentences
    )


def ground_of(claims: AgentClaims, turn: int) -> Ground:
    """What the agent had seen when it wrote its reply of a turn."""
    if turn not in claims.grounds:
        claims.grounds[turn] = Ground(claims, turn)
    return claims.grounds[turn]


class Ground:
    """What a reply may rest on: the tool results and the ids the desk accepted, the customer's words, the prompt, the required facts.

    Parameters
    ----------
    claims : AgentClaims
        The conversation.
    turn : int
        The reply's turn.
    """

    def __init__(self, claims: AgentClaims, turn: int):
        self.claims, self.store, self.turn = claims, claims.store, turn
        self.today = claims.store.now.date()
        self._known: dict[tuple[str, str], bool] = {}

    @cached_property
    def results(self) -> list[str]:
        """The results seen by then."""
        return self.claims.results(self.turn)

    @cached_property
    def words(self) -> str:
        """What the customer had written by then."""
        return self.claims.customer_words(self.turn)

    def holds(self, value: Value, sentence: str = "") -> bool:
        """Whether a value, which stands in a sentence, stands in the ground or follows from it."""
        return self.required(value, sentence) or self._stands(value)

    @cached_property
    def told(self) -> dict[str, set[str]]:
        """The values in the customer's words, by kind."""
        found: dict[str, set[str]] = {}
        for value in values_in(self.words, self.today.year):
            found.setdefault(value.kind, set()).add(value.value)
        return found

    def _stands(self, value: Value) -> bool:
        key = (value.kind, value.value)
        if key not in self._known:
            self._known[key] = self._is_known(value)
        return self._known[key]

    def _is_known(self, value: Value) -> bool:
        if value.kind in ("id", "link"):
            text = fold(value.value)
            seen = text in self.words or any(text in r for r in self.results) or text in _prompt(self.store)
            return seen or text in self.claims.accepted(self.turn)
        if value.kind == "money":
            return self._money(int(value.value))
        if value.kind == "date":
            return self._date(date.fromisoformat(value.value))
        return self._window(value)

    def due(self) -> date | None:
        """The earliest day on which a tool result expects a delivery."""
        pattern = re.compile(rf'"{self.store.kind.due_field}":"(\d{{4}}-\d\d-\d\d)')
        days = [m.group(1) for r in self.results for m in pattern.finditer(r)]
        return min(filter(None, map(_as_day, days)), default=None)

    def required(self, value: Value, sentence: str) -> bool:
        """Whether it is a value the case requires to be told, or an order it is about."""
        case = self.claims.case
        if value.kind == "id" and value.value in (case.order, *case.others.values()):
            return True
        for fact in case.facts.values():
            if value.kind == fact.kind and fold(str(fact.value)).rstrip("/") == fold(value.value).rstrip("/"):
                return True
            if fact.kind == "measure" and fact.unit == value.kind and str(fact.value) == value.value:
                return True
            if fact.kind == "choice" and fact.found_in(fold(sentence)):
                return True
        return False

    def _money(self, cents: int) -> bool:
        if cents in self._cents or str(cents) in self.told.get("money", ()):
            return True
        if cents in self.amounts or (cents % 100 == 0 and not self.amounts.isdisjoint(range(cents - 99, cents + 100))):
            return True
        return cents in self._sums

    @cached_property
    def _cents(self) -> set[int]:
        """The amounts that stand as numbers in the results, nothing to pay among them."""
        return {int(n) for r in self.results for n in re.findall(r'_cents":(\d{1,15})[,}]', r)}

    @cached_property
    def amounts(self) -> set[int]:
        """Every amount of the results, in cents; amounts in the words of an article too."""
        found = self._cents - {0}
        for r in self.results:
            if '"passages"' in r or "$" in r or " usd" in r:
                found |= {int(v.value) for v in values_in(r, self.today.year) if v.kind == "money"}
        return found

    @cached_property
    def _sums(self) -> frozenset[int]:
        """What the amounts can add up to; nothing where there are too many."""
        return _sums(frozenset(self.amounts)) if len(self.amounts) <= MANY else frozenset()

    def _date(self, day: date) -> bool:
        if any(day.isoformat() in r for r in self.results):
            return True
        return day in self.days or day.isoformat() in self.told.get("date", ()) or day in self._ahead

    @cached_property
    def days(self) -> set[date]:
        """Today, every day of the results, and the days of the prompt."""
        texts = [*self.results, _prompt(self.store)]
        named = {m.group() for text in texts for m in re.finditer(r"(?<!\d)20\d\d-\d\d-\d\d", text)}
        found = {self.today, *filter(None, map(_as_day, named))}
        for r in self.results:
            if '"passages"' in r:
                found |= {date.fromisoformat(v.value) for v in values_in(r, self.today.year) if v.kind == "date"}
        return found

    @cached_property
    def _ahead(self) -> set[date]:
        """Days that published windows lead to, from a day of the results or from today."""
        return {
            day for start in self.days if abs((self.today - start).days) < 800 for day in _led_to(start, self.store)
        }

    def _window(self, value: Value) -> bool:
        if value.value in self.told.get(value.kind, ()) or (value.kind, value.value) in self._windows:
            return True
        if value.kind == "percent":
            return f'"percent":{value.value}' in "".join(self.results) or f"{value.value} percent" in _prompt(
                self.store
            )
        if value.kind in ("days", "business_days", "hours"):
            return self._distance(value)
        return False

    @cached_property
    def _windows(self) -> set[tuple[str, str]]:
        """The windows of articles and descriptions, and each end of one."""
        seen = [
            v for r in self.results if '"passages"' in r or '"description"' in r for v in values_in(r, self.today.year)
        ]
        return {(v.kind, part) for v in seen for part in (v.value, *v.value.split("-"))}

    def _distance(self, value: Value) -> bool:
        """Whether it is the distance between today and a day of the results, or between two of those."""
        if "-" in value.value or "." in value.value:
            return False
        count = int(value.value) // (24 if value.kind == "hours" else 1)
        days = {d.toordinal() for d in self.days}
        return count > 0 and any(day + count in days for day in days)


@lru_cache(maxsize=512)
def _sums(amounts: frozenset[int]) -> frozenset[int]:
    """Sums and differences of up to three amounts, and small multiples."""
    found = set(amounts) | {a * n for a in amounts for n in QUANTITIES}
    for a, b in combinations(sorted(amounts), 2):
        found |= {a + b, b - a}
    if len(amounts) <= 25:
        for a, b, c in combinations(sorted(amounts), 3):
            found |= {a + b + c, a + b - c, a + c - b, b + c - a, c - a - b}
    return frozenset(found)


@lru_cache(maxsize=16)
def _windows(store: Store) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
    """Business days, calendar days and months that the store's policy publishes."""
    found: dict[str, set[int]] = {"business_days": set(), "days": set(), "months": set()}
    for name, number in _numbers(store.policy):
        unit = next((u for u in found if name == u or name.endswith("_" + u)), None)
        if unit:
            found[unit].add(number)
    business = found["business_days"] | {a + b for a in found["business_days"] for b in found["business_days"]}
    return frozenset(business), frozenset(found["days"]), frozenset(found["months"])


def _numbers(value: Any, name: str = "") -> Iterator[tuple[str, int]]:
    """Every whole number of the policy with the nearest name that ends in a unit of time."""
    if isinstance(value, dict):
        for key, inner in value.items():
            timed = str(key).endswith(("days", "months"))
            yield from _numbers(inner, str(key) if timed or not name.endswith(("days", "months")) else name)
    elif isinstance(value, list):
        for inner in value:
            yield from _numbers(inner, name)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield name, value


@lru_cache(maxsize=4096)
def _led_to(start: date, store: Store) -> frozenset[date]:
    """The days that the published windows lead to from a day."""
    business, days, months = _windows(store)
    found = {add_business_days(start, n, store) for n in business} | {start + timedelta(n) for n in days}
    for n in months:
        year, month = divmod(start.year * 12 + start.month - 1 + n, 12)
        found.add(date(year, month + 1, min(start.day, 28)))
    return frozenset(found)


@lru_cache(maxsize=16)
def _prompt(store: Store) -> str:
    """The agent's prompt as texts are searched; none where a store of one's own has no prompt file."""
    try:
        return fold(store.prompt()[0])
    except BadInput:
        return ""


def _as_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
