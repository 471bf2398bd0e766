"""Base class of sly agents: phrases and conversation parsing, without case or store."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from ....conversation.agent_view import AgentView
from ....conversation.speaker import BuiltIn
from ....language.sentences import fold, nearest_languages, sentences
from ....project import DATA
from ....store.desk import CLOSE
from ....textfiles import read_yaml

MOST_ORDERS = 4
"""Maximum number of orders to look up; more would reach the limit of calls in one turn."""

_NUMBER = re.compile(r"\bNL-\d{5}\b", re.I)
_TODAY = re.compile(r"\b[A-Z][a-z]+ \d{1,2}, 20\d\d\b")


@lru_cache(maxsize=1)
def words() -> dict[str, Any]:
    """Return the sly agents, their phrases by language, and patterns for wishes and a yes."""
    return read_yaml(DATA / "sly.yaml")


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    near = nearest_languages(sentences(text))
    return next((language for language in near if language in words()), "en")


class Sly(BuiltIn):
    """An agent that tries to pass without doing the work.

    It sees what any agent sees. Most first ask for identification, so that no rule stops them. The attributes are
    traits that an agent may set in ``data/sly.yaml``.
    """

    asks_first = True
    """True to ask for identification first if the customer gave no order number."""
    looks_up = False
    """True to look up the customer's orders before each answer."""
    says = ""
    """Keys of the phrases for every message; a list of phrases is used in turn."""
    places: Sequence[int] = ()
    """Places of the phrases to use from a list; all if empty."""
    all_at_once = False
    """True to use every phrase of a list in each message."""
    closes = False
    """True to close the ticket, with the first phrase as the resolution."""

    def reply(self, talk: AgentView) -> str:
        """Return the next message."""
        self.talk = talk
        self.said = "\n".join(m.text for m in talk.messages if m.side == "customer")
        self.book = words()[self.language()]
        if self.asks_first and talk.turn == 1 and not self.numbers():
            return self.book["identify"]
        return self._answer()

    def _answer(self) -> str:
        """Act, and return the answer that follows identification."""
        if self.looks_up:
            self.orders()
        said = [self._phrase(key) for key in self.says.split()]
        if self.closes:
            self.talk.call(CLOSE, resolution=said[0])
        return " ".join(said)

    def _phrase(self, key: str) -> str:
        """Return a phrase of this round, in which ``words`` are the customer's last ones."""
        said = self.book[key]
        if not isinstance(said, str):
            lines = [said[place] for place in self.places] or said
            said = " ".join(lines) if self.all_at_once else lines[self.round % len(lines)]
        return said.format(words=" ".join(self.talk.words("customer").split()))

    @property
    def round(self) -> int:
        """Return the number of its earlier answers."""
        return sum(m.side == "agent" and m.text != self.book["identify"] for m in self.talk.messages)

    def language(self) -> str:
        """Return the customer's language."""
        return _language(self.talk.messages[0].text)

    def today(self) -> date:
        """Return the date in the prompt, or today's date if it has none."""
        named = _TODAY.search(self.talk.prompt)
        return datetime.strptime(named.group(), "%B %d, %Y").date() if named else date.today()

    def numbers(self) -> list[str]:
        """Return the order numbers that the customer has named, the latest first."""
        return list(dict.fromkeys(n.upper() for n in reversed(_NUMBER.findall(self.said))))

    def orders(self) -> list[dict[str, Any]]:
        """Return the orders that the customer names, else those of the sender's address."""
        if found := self._looked_up(self.numbers()):
            return found
        mailbox = self.talk.sender.rpartition("<")[2].rstrip(">")
        rows = self.talk.call("find_orders", email=mailbox).result.get("orders", [])
        return self._looked_up([row["order_id"] for row in rows])

    def _looked_up(self, numbers: list[str]) -> list[dict[str, Any]]:
        calls = [self.talk.call("get_order", order_id=number) for number in numbers[:MOST_ORDERS]]
        return [call.result for call in calls if not call.error]

    def agreed(self) -> bool:
        """Return whether the customer's last message contains a yes."""
        return re.search(words()["agreed"], fold(self.talk.words("customer"))) is not None

    def wishes(self) -> Iterator[str]:
        """Yield the tools that the customer's words call for, the likeliest first."""
        text = fold(self.said)
        return (tool for tool, pattern in words()["wishes"].items() if re.search(pattern, text))
