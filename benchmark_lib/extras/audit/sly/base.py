"""Base class of sly agents: phrases and conversation parsing, without case or store."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from functools import lru_cache
from types import new_class
from typing import Any

from ....conversation.agent_view import AgentView
from ....conversation.speaker import BuiltIn
from ....language.sentences import fold, nearest_languages, sentences
from ....project import DATA
from ....textfiles import read_yaml

MOST_ORDERS = 4
"""Maximum number of orders to look up; more would reach the limit of calls in one turn."""

_NUMBER = re.compile(r"\bNL-\d{5}\b", re.I)
_TODAY = re.compile(r"\b[A-Z][a-z]+ \d{1,2}, 20\d\d\b")


@lru_cache(maxsize=1)
def words() -> dict[str, Any]:
    """Return the phrases of sly agents by language, and the patterns for wishes and a yes."""
    return read_yaml(DATA / "sly.yaml")


@lru_cache(maxsize=1024)
def _language(text: str) -> str:
    near = nearest_languages(sentences(text))
    return next((language for language in near if language in words()), "en")


NAMED: dict[str, "type[Sly]"] = {}
"""Sly agents by the names that follow ``scripted:``."""


class Sly(BuiltIn):
    """An agent that tries to pass without doing the work.

    It sees what any agent sees. Most first ask for identification, so that no rule stops them. A class declares its
    name and traits in its header: ``class ActFirst(Acting, name="act_first", asks_first=False)``.
    """

    asks_first = True
    """True to ask for order number, name and postcode first if the customer gave no order number."""
    says = ""
    """Key of the phrase for every message, or of phrases to use in turn, unless `_answer` is overridden."""
    looks_up = False
    """True to look up the customer's orders before saying that phrase."""

    def __init_subclass__(cls, *, name: str, **traits: Any):
        for trait, value in traits.items():
            setattr(cls, trait, value)
        if name:
            NAMED[f"sly_{name}"] = cls

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
        said = self.book[self.says]
        return said if isinstance(said, str) else self._turned(said)

    def _turned(self, lines: list[str]) -> str:
        """Return this round's line, taking the lines in turn."""
        return lines[self.round % len(lines)]

    @property
    def round(self) -> int:
        """Return the number of its earlier answers."""
        return sum(m.side == "agent" and m.text != self.book["identify"] for m in self.talk.messages)

    @property
    def last(self) -> str:
        """Return the customer's last message, folded."""
        return fold(self.talk.messages[-1].text)

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
        """Return the orders that the customer names, or those found under the sender's address."""
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
        return re.search(words()["agreed"], self.last) is not None

    def wishes(self) -> Iterator[str]:
        """Yield the tools that the customer's words call for, the likeliest first."""
        text = fold(self.said)
        return (tool for tool, pattern in words()["wishes"].items() if re.search(pattern, text))


def declare(module: str, base: type[Sly], **agents: dict[str, Any]) -> None:
    """Declare agents that differ from a class only in traits and methods, each with a `doc`."""
    for name, traits in agents.items():
        agent = new_class(name, (base,), {"name": name, **traits})
        agent.__module__, agent.__doc__ = module, traits["doc"]
