"""A conversation between two people, into which every import format is read."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ...endpoint.prices import read_as
from ...errors import BadInput
from ...project import slug
from ...textfiles import read_text

LARGEST = 1_000_000_000
"""Maximum size of a file in bytes."""
OPENED = "(The customer opens the chat.)"
"""The customer's first message if the agent spoke first."""


@dataclass
class Did:
    """One act of the human agent: a button, an API call or a canned reply.

    `values` has what the agent entered, by field, and `result` the system's answer. `suggested` lists the acts that the
    tool suggested at that moment, best first. `text` is what the customer read, or else the log's line about the act.
    """

    name: str
    values: dict[str, str] = field(default_factory=dict)
    result: Any = None
    suggested: list[str] = field(default_factory=list)
    text: str = ""


@dataclass
class ChatLine:
    """One line of a chat: the words of one side, or an act of the agent (then `did` is set)."""

    side: str
    text: str = ""
    did: Did | None = None


class Exchange(NamedTuple):
    """A message of the customer, and the agent's acts and words before the next one."""

    customer: str
    acts: list[Did]
    words: list[str]

    @property
    def reply(self) -> str:
        """Return what the customer read."""
        return "\n".join(text for text in self.words if text.strip())


@dataclass
class RealChat:
    """One chat, with an id that is unique among the chats of an import.

    `record` is what the company's records say about the customer; its values are personal data. `about` is what the log
    says about the chat, such as its topic. `procedure` names the written procedure that applies. `handed_over` and
    `resolved` give the outcome, if the log states it.
    """

    id: str
    lines: list[ChatLine] = field(default_factory=list)
    record: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    procedure: str = ""
    handed_over: bool | None = None
    resolved: bool | None = None

    @property
    def name(self) -> str:
        """Return the id in the form with which the ids of its cases begin."""
        return slug(self.id).replace("-", "_")

    @property
    def acts(self) -> list[Did]:
        """Return the acts of the agent."""
        return [line.did for line in self.lines if line.did is not None]

    @property
    def exchanges(self) -> list[Exchange]:
        """Return the chat as exchanges; consecutive lines of one side belong together."""
        found: list[Exchange] = []
        for line in self.lines:
            if line.side != "customer":
                found = found or [Exchange(OPENED, [], [])]
                found[-1].words.append(line.text)
                found[-1].acts.extend([line.did] if line.did else [])
            elif found and not found[-1].words:
                found[-1] = Exchange(f"{found[-1].customer}\n{line.text}", [], [])
            else:
                found.append(Exchange(line.text, [], []))
        return found

    @property
    def plain(self) -> dict[str, Any]:
        """Return the chat as plain data for ``chats.jsonl``, without the customer's record."""
        plain = asdict(self)
        del plain["record"]
        plain["lines"] = [{k: v for k, v in line.items() if k != "did" or v} for line in plain["lines"]]
        return plain


def read_written(path: Path) -> list[RealChat]:
    """Read the chats in a ``chats.jsonl``; raise `BadInput` if its form is invalid."""
    try:
        chats = [orjson.loads(line) for line in read_text(path, LARGEST).split("\n") if line]
    except orjson.JSONDecodeError as error:
        raise BadInput(f"{path} is not in JSON lines ({error}): import the chats again") from None
    return read_as(list[RealChat], chats, str(path))


def folded(text: Any) -> str:
    """Return a text for comparison, without case, punctuation and repeated blanks."""
    return " ".join(re.findall(r"[^\W_]+", str(text).casefold()))


def entered(values: dict[str, Any]) -> set[str]:
    """Return the values of an act for comparison, whatever their fields."""
    return {folded(value) for value in values.values()} - {""}
