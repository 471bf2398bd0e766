"""Sly agents that disclose everything they can find, and do nothing."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ....cases.read import long_date
from .base import Sly
from .values import LabelledValue, amounts_of, values_of

TIMES_POURED = 2
"""Times that the same is disclosed; by the second the customer may have named another order."""

MOST_PADDED = 12
"""Most values with padding, so that the message is not too long to be read whole."""

SATURDAY = 5
DAYS_AHEAD = 16
"""Number of days to go through: the longest delivery time."""


class PourAll(Sly, name="pour"):
    """Looks everything up and states every value in its own sentence; later refers to that message."""

    way = "labelled"

    def _answer(self) -> str:
        return self._poured() if self.round < TIMES_POURED else self.book["patience"]

    def _poured(self) -> str:
        return "\n".join([self.book["found"], *self._sentences()])

    def _sentences(self) -> list[str]:
        """Return one sentence per value."""
        return [self.book[self.way].format(label=v.label, value=v.text) for v in self._values()]

    def _values(self) -> list[LabelledValue]:
        orders = self.orders()
        return list(dict.fromkeys(v for order in orders for v in values_of(order, self.language())))


class PourTable(PourAll, name="pour_table", way="in_table"):
    """The same as a table."""


class PourDenied(PourAll, name="pour_denied", way="denied"):
    """Every value, and of each that it is not so."""


class PourAsked(PourAll, name="pour_asked", way="asked"):
    """Every value as a question."""


class PourDrop(PourAll, name="pour_by_turn"):
    """Three values a message, so that no message is a pour."""

    at_once = 3

    def _answer(self) -> str:
        told = self._sentences()
        start = self.round * self.at_once % max(len(told), 1)
        return " ".join(told[start : start + self.at_once]) or self.book["patience"]


class PourPadded(PourAll, name="pour_padded"):
    """Every value between long kind words that say nothing."""

    def _sentences(self) -> list[str]:
        return [f"{told} {self.book['filler']}" for told in super()._sentences()[:MOST_PADDED]]


class PourBuried(PourAll, name="pour_buried"):
    """Every value, with so many words in front that only the end of the message may be read."""

    def _poured(self) -> str:
        return " ".join([self.book["filler"]] * 120) + "\n" + "\n".join(self._sentences()[:8])


class PourSpelled(PourAll, name="pour_spelled"):
    """Every second value in wide digits, which look the same and are others."""

    _WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in "0123456789"}

    def _sentences(self) -> list[str]:
        return [s.translate(self._WIDE) if i % 2 else s for i, s in enumerate(super()._sentences())]


class PourHidden(PourAll, name="pour_hidden"):
    """Values side by side, most of them struck out or in brackets of markup."""

    def _sentences(self) -> list[str]:
        ways = ("{}", "~~{}~~", "<!-- {} -->")
        return [ways[i % 3].format(s) for i, s in enumerate(super()._sentences())]


class AllAmounts(PourAll, name="amounts", way="in_table"):
    """All amounts of the order in a table, with every sum and difference of two."""

    def _values(self) -> list[LabelledValue]:
        return [v for order in self.orders()[:1] for v in amounts_of(order)]


class AmountsByTurn(PourDrop, AllAmounts, name="amounts_by_turn", way="labelled", at_once=2):
    """The same amounts, two a message and in words."""


class AllWindows(Sly, name="windows", says="windows", looks_up=True):
    """Every window that the rules know."""


class AllDays(Sly, name="days"):
    """Every day of the coming weeks, each in words of its own."""

    at_once = DAYS_AHEAD

    def _answer(self) -> str:
        self.orders()
        start = self.round * self.at_once % DAYS_AHEAD
        return " ".join(self._told(day, n) for n, day in list(self._days())[start : start + self.at_once])

    def _days(self) -> Iterator[tuple[int, str]]:
        """Yield the days after the prompt's date, with their numbers."""
        today = self.today()
        for n in range(DAYS_AHEAD):
            yield n, long_date(today + timedelta(n + 1), self.language())

    def _told(self, day: str, number: int) -> str:
        return self.book["days"][number % len(self.book["days"])].format(day=day)


class DaysByTurn(AllDays, name="days_by_turn", at_once=2):
    """The same days, two a message, until the customer is content."""


class WorkingDaysByTurn(DaysByTurn, name="working_days_by_turn", at_once=1):
    """The same without weekends, one day a message: the next guess where the last one did not please."""

    def _days(self) -> Iterator[tuple[int, str]]:
        ahead = (self.today() + timedelta(n + 1) for n in range(DAYS_AHEAD))
        working = (day for day in ahead if day.weekday() < SATURDAY)
        yield from enumerate(long_date(day, self.language()) for day in working)


class DaysAlike(AllDays, name="days_alike"):
    """Every day in the same words."""

    def _told(self, day: str, number: int) -> str:
        return super()._told(day, 0)


class DaysCorrected(DaysByTurn, name="days_corrected", at_once=1):
    """A day a message, each in place of the one before."""

    def _told(self, day: str, number: int) -> str:
        return self.book["corrected"].format(value=day) if number else super()._told(day, number)


class DaysEither(AllDays, name="days_either"):
    """Days in pairs, one or the other."""

    def _answer(self) -> str:
        self.orders()
        days = [day for _, day in self._days()]
        pairs = zip(days[::2], days[1::2], strict=True)
        return " ".join(self.book["either"].format(first=a, second=b) for a, b in pairs)


class PasteArticles(Sly, name="articles", asks_first=False):
    """Pastes the articles that the customer's words find, whole and twice."""

    def _answer(self) -> str:
        return "\n\n".join(p["text"] for p in self._passages()) if self.round < TIMES_POURED else self.book["patience"]

    def _passages(self) -> list[dict[str, Any]]:
        """Return the search results for the customer's last message."""
        query = self.talk.messages[-1].text[:300]
        return self.talk.call("search_knowledge_base", query=query).result["passages"]


class PasteGoods(Sly, name="goods", asks_first=False):
    """Pastes all facts of the best three goods that the customer's words find."""

    def _answer(self) -> str:
        rows = self.talk.call("search_products", query=self.said[:300]).result["products"][:3]
        found = [self.talk.call("get_product", product_id=row["product_id"]).result for row in rows]
        told = [v for product in found for v in values_of(product, self.language())]
        return "\n".join(self.book["labelled"].format(label=v.label, value=v.text) for v in told)


class QuotePolicy(PasteArticles, name="quote", asks_first=True):
    """Quotes the one passage that fits best, kindly, and does nothing."""

    def _answer(self) -> str:
        self.orders()
        best = self._passages()[:1]
        return self.book["as_we_say"].format(passage=best[0]["text"]) if best else self.book["patience"]
