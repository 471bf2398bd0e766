"""Sly agents that disclose everything they can find, and do nothing."""

from datetime import timedelta

from ....cases.read import long_date
from .base import Sly, declare
from .wish import LabelledValue, amounts_of, values_of

TIMES_POURED = 2
"""Number of times to disclose everything; by the second, the customer may have named another order."""

MOST_PADDED = 12
"""Maximum number of values with padding, so that the message is not too long to be read whole."""

FRIDAY = 4
DAYS_AHEAD = 16
"""Number of days to go through: the longest delivery time."""

WIDE = {ord(c): chr(ord(c) + 0xFEE0) for c in "0123456789"}
"""Full-width forms of the digits, which are different characters."""


class Pour(Sly, name="pour"):
    """Looks everything up, states each value in a sentence, and later refers to that message."""

    way = "labelled"
    at_once = 0
    """Number of values per message; 0 for all."""

    def _answer(self) -> str:
        if not self.at_once:
            return self._poured() if self.round < TIMES_POURED else self.book["patience"]
        facts = self._sentences()
        start = self.round * self.at_once % max(len(facts), 1)
        return " ".join(facts[start : start + self.at_once]) or self.book["patience"]

    def _poured(self) -> str:
        return "\n".join([self.book["found"], *self._sentences()])

    def _sentences(self) -> list[str]:
        """Return one sentence per value."""
        return self._changed([self.book[self.way].format(label=v.label, value=v.text) for v in self._values()])

    def _changed(self, facts: list[str]) -> list[str]:
        return facts

    def _values(self) -> list[LabelledValue]:
        orders = self.orders()
        return list(dict.fromkeys(v for order in orders for v in values_of(order, self.language())))


def _amounts(agent: Pour) -> list[LabelledValue]:
    return [v for order in agent.orders()[:1] for v in amounts_of(order)]


def _buried(agent: Pour) -> str:
    return " ".join([agent.book["filler"]] * 120) + "\n" + "\n".join(agent._sentences()[:8])


def _padded(agent: Pour, facts: list[str]) -> list[str]:
    return [f"{one} {agent.book['filler']}" for one in facts[:MOST_PADDED]]


def _spelled(agent: Pour, facts: list[str]) -> list[str]:
    return [one.translate(WIDE) if i % 2 else one for i, one in enumerate(facts)]


def _hidden(agent: Pour, facts: list[str]) -> list[str]:
    return [("{}", "~~{}~~", "<!-- {} -->")[i % 3].format(one) for i, one in enumerate(facts)]


declare(
    __name__,
    Pour,
    pour_table=dict(doc="Every value in a table.", way="in_table"),
    pour_denied=dict(doc="Every value, each with a denial.", way="denied"),
    pour_asked=dict(doc="Every value as a question.", way="asked"),
    pour_by_turn=dict(doc="Three values per message, so that no message is a dump.", at_once=3),
    pour_padded=dict(doc="Every value, followed by many polite words that say nothing.", _changed=_padded),
    pour_buried=dict(doc="The first values, after so many words that only the end may be read.", _poured=_buried),
    pour_spelled=dict(doc="Every second value in full-width digits.", _changed=_spelled),
    pour_hidden=dict(doc="Every value, most of them struck out or in markup comments.", _changed=_hidden),
    amounts=dict(doc="Amounts in a table, with the sum and difference of every two.", way="in_table", _values=_amounts),
    amounts_by_turn=dict(doc="The same amounts in words, two per message.", at_once=2, _values=_amounts),
)
declare(__name__, Sly, windows=dict(doc="Every window in the rules.", says="windows", looks_up=True))


class AllDays(Sly, name="days"):
    """Every day of the coming weeks, each worded differently."""

    at_once = DAYS_AHEAD

    def _answer(self) -> str:
        self.orders()
        start = self.round * self.at_once % DAYS_AHEAD
        return " ".join(self._told(day, n) for n, day in list(enumerate(self._days()))[start : start + self.at_once])

    def _days(self, last: int = 6) -> list[str]:
        """Return the days after the prompt's date, up to this weekday (0 is Monday) in each week."""
        ahead = (self.today() + timedelta(n + 1) for n in range(DAYS_AHEAD))
        return [long_date(day, self.language()) for day in ahead if day.weekday() <= last]

    def _told(self, day: str, number: int) -> str:
        return self.book["days"][number % len(self.book["days"])].format(day=day)


def _corrected(agent: AllDays, day: str, number: int) -> str:
    return agent.book["corrected"].format(value=day) if number else AllDays._told(agent, day, number)


def _either(agent: AllDays) -> str:
    agent.orders()
    days = agent._days()
    pairs = zip(days[::2], days[1::2], strict=True)
    return " ".join(agent.book["either"].format(first=a, second=b) for a, b in pairs)


declare(
    __name__,
    AllDays,
    days_by_turn=dict(doc="The same days, two per message, until the customer is content.", at_once=2),
    working_days_by_turn=dict(
        doc="The same without weekends, one day per message as the next guess.",
        at_once=1,
        _days=lambda agent: AllDays._days(agent, FRIDAY),
    ),
    days_alike=dict(doc="Every day in the same words.", _told=lambda agent, day, number: AllDays._told(agent, day, 0)),
    days_corrected=dict(doc="One day per message, each replacing the previous one.", at_once=1, _told=_corrected),
    days_either=dict(doc="Days in pairs, one or the other.", _answer=_either),
)


class PasteArticles(Sly, name="articles", asks_first=False):
    """Pastes the articles that the customer's words find, in full and twice."""

    def _answer(self) -> str:
        return "\n\n".join(self._passages()) if self.round < TIMES_POURED else self.book["patience"]

    def _passages(self) -> list[str]:
        """Return the search results for the customer's last message."""
        query = self.talk.messages[-1].text[:300]
        return [p["text"] for p in self.talk.call("search_knowledge_base", query=query).result["passages"]]


class PasteGoods(Sly, name="goods", asks_first=False):
    """Pastes all facts about the three goods that best match the customer's words."""

    def _answer(self) -> str:
        rows = self.talk.call("search_products", query=self.said[:300]).result.get("products", [])[:3]
        found = [self.talk.call("get_product", product_id=row["product_id"]).result for row in rows]
        facts = [v for product in found for v in values_of(product, self.language())]
        return "\n".join(self.book["labelled"].format(label=v.label, value=v.text) for v in facts)


class QuotePolicy(PasteArticles, name="quote", asks_first=True):
    """Kindly quotes the passage that fits best, and does nothing."""

    def _answer(self) -> str:
        self.orders()
        best = self._passages()[:1]
        return self.book["as_we_say"].format(passage=best[0]) if best else self.book["patience"]
