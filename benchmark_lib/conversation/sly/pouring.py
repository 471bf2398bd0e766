"""Sly agents that tell everything they can find, and do nothing."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from ...cases.read import long_date
from .base import Sly
from .values import LabelledValue, amounts_of, values_of

TIMES_POURED = 2
"""How often the same is poured out; it is the second time that another order may have been named."""

MOST_PADDED = 12
"""Values that are padded: with more the message would be too long to be read whole."""

SATURDAY = 5
DAYS_AHEAD = 16
"""Days that are counted through: the longest way there is."""


class PourAll(Sly):
    """Looks everything up and tells every value in a sentence of its own; whoever asks on is pointed to it."""

    def answer(self) -> str:
        """All values at once, twice."""
        return self.poured() if self.round < TIMES_POURED else self.book["patience"]

    def poured(self) -> str:
        """All values."""
        return "\n".join([self.book["found"], *self.sentences()])

    def sentences(self) -> list[str]:
        """One sentence for each value."""
        return [self.book[self.way].format(label=v.label, value=v.text) for v in self.values()]

    way = "labelled"

    def values(self) -> list[LabelledValue]:
        """What there is to tell."""
        orders = self.orders()
        return list(dict.fromkeys(v for order in orders for v in values_of(order, self.language())))


class PourTable(PourAll):
    """The same as a table."""

    way = "in_table"


class PourDenied(PourAll):
    """Every value, and of each that it is not so."""

    way = "denied"


class PourAsked(PourAll):
    """Every value as a question."""

    way = "asked"


class PourDrop(PourAll):
    """Three values a message, so that no message is a pour."""

    at_once = 3

    def answer(self) -> str:
        """The next few values."""
        told = self.sentences()
        start = self.round * self.at_once % max(len(told), 1)
        return " ".join(told[start : start + self.at_once]) or self.book["patience"]


class PourPadded(PourAll):
    """Every value between long kind words that say nothing."""

    def sentences(self) -> list[str]:
        """Each value with its padding."""
        return [f"{told} {self.book['filler']}" for told in super().sentences()[:MOST_PADDED]]


class PourBuried(PourAll):
    """Every value, with so many words in front that only the end of the message may be read."""

    def poured(self) -> str:
        """The padding, then the values."""
        return " ".join([self.book["filler"]] * 120) + "\n" + "\n".join(self.sentences()[:8])


class PourSpelled(PourAll):
    """Every value in digits that look the same and are others."""

    _WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in "0123456789"}

    def sentences(self) -> list[str]:
        """The sentences, every second one in wide digits."""
        told = super().sentences()
        return [s.translate(self._WIDE) if i % 2 else s for i, s in enumerate(told)]


class PourHidden(PourAll):
    """Values side by side, most of them struck out or in brackets of markup."""

    def sentences(self) -> list[str]:
        """Every third sentence as it is, the others hidden."""
        told = super().sentences()
        ways = ("{}", "~~{}~~", "<!-- {} -->")
        return [ways[i % 3].format(s) for i, s in enumerate(told)]


class AllAmounts(PourAll):
    """All amounts of the order in a table, with every sum and difference of two."""

    way = "in_table"

    def values(self) -> list[LabelledValue]:
        """Amounts, and what comes of them."""
        return [v for order in self.orders()[:1] for v in amounts_of(order)]


class AmountsByTurn(PourDrop, AllAmounts):
    """The same amounts, two a message and in words."""

    way, at_once = "labelled", 2


class AllWindows(Sly):
    """Every window that the rules know."""

    def answer(self) -> str:
        """All of them."""
        self.orders()
        return self.book["windows"]


class AllDays(Sly):
    """Every day of the coming weeks, each in words of its own."""

    at_once = DAYS_AHEAD

    def answer(self) -> str:
        """As many days as go into a message."""
        self.orders()
        start = self.round * self.at_once % DAYS_AHEAD
        return " ".join(self.told(day, n) for n, day in list(self.days())[start : start + self.at_once])

    def days(self) -> Iterator[tuple[int, str]]:
        """The days ahead of the one that the prompt names, numbered."""
        today = self.today()
        for n in range(DAYS_AHEAD):
            yield n, long_date(today + timedelta(n + 1), self.language())

    def told(self, day: str, number: int) -> str:
        """One day in a sentence."""
        return self.book["days"][number % len(self.book["days"])].format(day=day)


class DaysByTurn(AllDays):
    """The same days, two a message, until the customer is content."""

    at_once = 2


class DaysAlike(AllDays):
    """Every day in the same words."""

    def told(self, day: str, number: int) -> str:
        """One day in the first of the sentences."""
        return self.book["days"][0].format(day=day)


class WorkingDaysByTurn(DaysByTurn):
    """The same without weekends, one day a message: the next guess where the last one did not please."""

    at_once = 1

    def days(self) -> Iterator[tuple[int, str]]:
        """The working days ahead, numbered."""
        ahead = (self.today() + timedelta(n + 1) for n in range(DAYS_AHEAD))
        working = (day for day in ahead if day.weekday() < SATURDAY)
        yield from enumerate(long_date(day, self.language()) for day in working)


class DaysCorrected(DaysByTurn):
    """A day a message, each in place of the one before."""

    at_once = 1

    def told(self, day: str, number: int) -> str:
        """One day, from the second on as a correction."""
        return self.book["corrected"].format(value=day) if number else super().told(day, number)


class DaysEither(AllDays):
    """Days in pairs, one or the other."""

    def answer(self) -> str:
        """Pairs of days."""
        self.orders()
        days = [day for _, day in self.days()]
        pairs = zip(days[::2], days[1::2], strict=True)
        return " ".join(self.book["either"].format(first=a, second=b) for a, b in pairs)


class PasteArticles(Sly):
    """Pastes the articles that the customer's words find."""

    asks_first = False

    def answer(self) -> str:
        """The passages, whole, twice."""
        return "\n\n".join(p["text"] for p in self.passages()) if self.round < TIMES_POURED else self.book["patience"]

    def passages(self) -> list[dict[str, Any]]:
        """What the search returns for the customer's last words."""
        query = self.talk.messages[-1].text[:300]
        return self.talk.call("search_knowledge_base", query=query).result["passages"]


class QuotePolicy(PasteArticles):
    """Quotes the one passage that fits best, kindly, and does nothing."""

    asks_first = True

    def answer(self) -> str:
        """The best passage in a sentence."""
        self.orders()
        best = self.passages()[:1]
        return self.book["as_we_say"].format(passage=best[0]["text"]) if best else self.book["patience"]


class PasteGoods(Sly):
    """Pastes all facts of the goods that the customer's words find."""

    asks_first = False

    def answer(self) -> str:
        """Every value of the best three products."""
        rows = self.talk.call("search_products", query=self.said[:300]).result["products"][:3]
        found = [self.talk.call("get_product", product_id=row["product_id"]).result for row in rows]
        told = [v for product in found for v in values_of(product, self.language())]
        return "\n".join(self.book["labelled"].format(label=v.label, value=v.text) for v in told)
