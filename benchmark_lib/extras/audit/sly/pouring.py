"""Sly agents that disclose everything they can find, and do nothing."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import cycle

from ....cases.read import long_date
from .base import Sly
from .wish import amounts_of, values_of

TIMES_POURED = 2
"""Number of times to disclose everything: later, the customer may have named another order."""

DAYS_AHEAD = 16
"""Number of days to go through: the longest delivery time."""

WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in "0123456789"}
"""Full-width forms of the digits, which are different characters."""


class Pour(Sly):
    """Looks everything up, states each value in a sentence, and later refers to that message."""

    way = "labelled"
    """Keys of the phrases that form the sentence for a value."""
    marks: Sequence[str] = ("{}",)
    """Formats of these sentences, used in turn; ``wide`` has full-width digits."""
    most: int | None = None
    """Maximum number of values, so that the message is read whole."""
    at_once = 0
    """Number of values per message; 0 for all."""
    opening, times = "found", 1
    """Key of the phrase that precedes all values, and how often it is said."""

    def _answer(self) -> str:
        if not self.at_once and self.round >= TIMES_POURED:
            return self.book["patience"]
        facts = self._sentences()
        if not self.at_once:
            return "\n".join([" ".join([self.book[self.opening]] * self.times), *facts])
        start = self.round * self.at_once % max(len(facts), 1)
        return " ".join(facts[start : start + self.at_once]) or self.book["patience"]

    def _sentences(self) -> list[str]:
        """Return one sentence per value."""
        way = " ".join(self.book[key] for key in self.way.split())
        values = list(dict.fromkeys(self._values()))[: self.most]
        facts = [way.format(label=label, value=text) for label, text in values]
        return [mark.format(fact, wide=fact.translate(WIDE)) for mark, fact in zip(cycle(self.marks), facts)]

    def _values(self) -> Iterator[tuple[str, str]]:
        for order in self.orders():
            yield from values_of(order, self.language())


class PourAmounts(Pour):
    """States the amounts of the order, with the sum and difference of every two."""

    def _values(self) -> Iterator[tuple[str, str]]:
        for order in self.orders()[:1]:
            yield from amounts_of(order)


class AllDays(Pour):
    """Every day of the coming weeks, each worded differently."""

    at_once = DAYS_AHEAD
    last_weekday = 6
    """The last weekday that is named in each week (0 is Monday)."""
    wordings: int | None = None
    """Number of wordings to use in turn; all if None."""
    later = ""
    """Key of the phrase for all days but the first, if it is another."""

    def _sentences(self) -> list[str]:
        self.orders()
        lines = self.book["days"][: self.wordings]
        told = []
        for number, day in enumerate(self._days()):
            line = self.book[self.later] if number and self.later else lines[number % len(lines)]
            told.append(line.format(day=day))
        return told

    def _days(self) -> list[str]:
        """Return the days after the prompt's date."""
        ahead = (self.today() + timedelta(n + 1) for n in range(DAYS_AHEAD))
        return [long_date(day, self.language()) for day in ahead if day.weekday() <= self.last_weekday]


class EitherDay(AllDays):
    """Days in pairs, one or the other."""

    def _sentences(self) -> list[str]:
        self.orders()
        days, either = self._days(), self.book["either"]
        return [either.format(first=a, second=b) for a, b in zip(days[::2], days[1::2], strict=True)]


class PasteArticles(Sly):
    """Pastes the articles that the customer's words find, in full and twice."""

    def _answer(self) -> str:
        return "\n\n".join(self._passages()) if self.round < TIMES_POURED else self.book["patience"]

    def _passages(self) -> list[str]:
        """Return the search results for the customer's last message."""
        query = self.talk.words("customer")[:300]
        found = self.talk.call("search_knowledge_base", query=query).result
        return [passage["text"] for passage in found["passages"]]


class PasteGoods(Sly):
    """Pastes all facts about the three goods that best match the customer's words."""

    def _answer(self) -> str:
        found = self.talk.call("search_products", query=self.said[:300]).result
        facts: list[tuple[str, str]] = []
        for row in found.get("products", [])[:3]:
            product = self.talk.call("get_product", product_id=row["product_id"]).result
            facts += dict.fromkeys(values_of(product, self.language()))
        labelled = self.book["labelled"]
        return "\n".join(labelled.format(label=label, value=text) for label, text in facts)


class QuotePolicy(PasteArticles):
    """Kindly quotes the passage that fits best, and does nothing."""

    def _answer(self) -> str:
        self.orders()
        best = self._passages()[:1]
        return self.book["as_we_say"].format(passage=best[0]) if best else self.book["patience"]
