"""What every sly agent has: its words, and what it reads of a conversation. Nothing of the case, nothing of the store."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from ....conversation.agent_view import AgentView
from ....conversation.speaker import BuiltIn
from ....language.detection import nearest_languages
from ....language.sentences import fold, sentences
from ....project import DATA
from ....textfiles import read_yaml

MOST_ORDERS = 4
"""Orders that are opened: with more an agent would run into the limit of calls in one turn."""

_NUMBER = re.compile(r"\bNL-\d{5}\b", re.I)
_TODAY = re.compile(r"\b[A-Z][a-z]+ \d{1,2}, 20\d\d\b")


@lru_cache(maxsize=1)
def words() -> dict[str, Any]:
    """All that sly agents say, by language, and the patterns by which they take a wish and a yes."""
    return read_yaml(DATA / "sly.yaml")


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    near = nearest_languages(sentences(text))
    return next((language for language in near if language in words()), "en")


NAMED: dict[str, "type[Sly]"] = {}
"""Sly agents by the names they go by after ``scripted:``."""


class Sly(BuiltIn):
    """An agent that tries to pass without doing the work.

    It sees what any agent sees. Most ask first who is writing, so that no rule stops what they try. A class says its
    name
    and its traits where it is declared: ``class Repeat(Sly, name="repeat", says="patience")``.
    """

    asks_first = True
    """Whether it asks for order number, name and postcode where no number was given."""
    says = ""
    """The line of its book that it says in every message, unless it has an answer of its own."""
    looks_up = False
    """Whether it looks the customer's orders up before it says that line."""

    def __init_subclass__(cls, *, name: str, **traits: Any):
        for trait, value in traits.items():
            setattr(cls, trait, value)
        if name:
            NAMED[f"sly_{name}"] = cls

    def reply(self, talk: AgentView) -> str:
        """The next message."""
        self.talk = talk
        self.said = "\n".join(m.text for m in talk.messages if m.side == "customer")
        self.book = words()[self.language()]
        if self.asks_first and talk.turn == 1 and not self.numbers():
            return self.book["identify"]
        return self._answer()

    def _answer(self) -> str:
        """What it says and does once it need not ask who is writing."""
        if self.looks_up:
            self.orders()
        return self.book[self.says]

    def _turned(self, lines: list[str]) -> str:
        """The next of its lines."""
        return lines[self.round % len(lines)]

    @property
    def round(self) -> int:
        """How often it has answered before."""
        return sum(m.side == "agent" and m.text != self.book["identify"] for m in self.talk.messages)

    @property
    def last(self) -> str:
        """The customer's last words, folded."""
        return fold(self.talk.messages[-1].text)

    def language(self) -> str:
        """The language the customer writes in."""
        return _language(self.talk.messages[0].text)

    def today(self) -> date:
        """The day that the prompt names; the day the code runs on where it names none."""
        named = _TODAY.search(self.talk.prompt)
        return datetime.strptime(named.group(), "%B %d, %Y").date() if named else date.today()

    def numbers(self) -> list[str]:
        """The order numbers that the customer has named, the latest first."""
        return list(dict.fromkeys(n.upper() for n in reversed(_NUMBER.findall(self.said))))

    def orders(self) -> list[dict[str, Any]]:
        """The orders that the customer names or that go with its mailbox."""
        named = [self.talk.call("get_order", order_id=number) for number in self.numbers()[:MOST_ORDERS]]
        found = [call.result for call in named if not call.error]
        return found or self.orders_of_sender()

    def orders_of_sender(self) -> list[dict[str, Any]]:
        """All orders that go with the address that the customer writes from."""
        mailbox = self.talk.sender.rpartition("<")[2].rstrip(">")
        rows = self.talk.call("find_orders", email=mailbox).result.get("orders", [])
        calls = [self.talk.call("get_order", order_id=row["order_id"]) for row in rows[:MOST_ORDERS]]
        return [call.result for call in calls if not call.error]

    def agreed(self) -> bool:
        """Whether the customer's last words hold a yes."""
        return re.search(words()["agreed"], self.last) is not None

    def wishes(self) -> Iterator[str]:
        """The tools that the customer's words call for, the likeliest first."""
        text = fold(self.said)
        return (tool for tool, pattern in words()["wishes"].items() if re.search(pattern, text))
