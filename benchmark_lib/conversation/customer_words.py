"""How a scripted customer's message is put together: sentences, a yes first, and the acts beside them."""

import re
from dataclasses import dataclass

from ..language.heard import ParsedMessage
from ..records import Act, ToolCall

CERTAIN = 0.75
"""Chance from which it answers what it has told before or does not know, and takes a report or an offer for certain."""


@dataclass
class Round:
    """One of the agent's turns, as the customer takes it."""

    words: str
    heard: ParsedMessage
    calls: list[ToolCall]
    fresh: bool


class Draft:
    """A message in the making."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.acts: list[Act] = []
        self.attachments: list[str] = []
        self.left = False

    @property
    def moves(self) -> bool:
        """Whether something was given, agreed, refused or brought up, so that the conversation goes on without a push."""
        return bool(self.acts)

    def add(self, words: str, *acts: Act, first: bool = False) -> None:
        """Add a sentence with its acts; a yes goes first."""
        self.parts.insert(0, words) if first else self.parts.append(words)
        self.acts += acts


def filled(wording: str, value: str) -> str:
    """A wording with its value; of two closing marks that meet, one stays."""
    before, place, after = wording.partition("{value}")
    if not place:
        return wording
    value = value.strip().rstrip(".") if after else value.strip()
    if not before and value.partition(" ")[0].isalpha():
        value = value[0].upper() + value[1:]
    return before + value + (after[1:] if after[:1] == "." and value[-1:] in "!?…" else after)


def written(parts: list[str], last: bool = True) -> str:
    """The parts of a message as one text, each closed by a mark, or by kisses; the last one as it stands where its writer has no use for marks."""
    said = [p.strip() for p in parts if p.strip()]
    closed = [f"{p}." if p[-1].isalnum() and not re.search(r"[.!?] x+$", p) else p for p in said]
    return " ".join(closed if last else [*closed[:-1], *said[-1:]])
