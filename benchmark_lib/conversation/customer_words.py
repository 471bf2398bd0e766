"""Assembly of a scripted customer's message: sentences, a yes first, and their acts."""

import re
from dataclasses import dataclass

from ..language.heard import ParsedMessage
from ..records import Act, ToolCall

CERTAIN = 0.75
"""Minimum probability at which the customer repeats an answer, admits ignorance, or believes a report or offer."""


@dataclass
class Round:
    """One turn of the agent as the customer understands it."""

    words: str
    heard: ParsedMessage
    calls: list[ToolCall]
    fresh: bool
    menu: bool = False
    """True if it asks for a yes to three acts or more, as alternatives: it offers and reports none of them."""


class Draft:
    """A message under construction."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.acts: list[Act] = []
        self.attachments: list[str] = []
        self.left = self.presses = False

    @property
    def moves(self) -> bool:
        """Return whether the message has an act, so that the conversation continues without a push."""
        return bool(self.acts)

    def add(self, words: str, *acts: Act, first: bool = False) -> None:
        """Add a sentence with its acts; with `first`, put it at the start."""
        self.parts.insert(0, words) if first else self.parts.append(words)
        self.acts += acts


def filled(wording: str, value: str) -> str:
    """Return a wording with its value; if two closing marks meet, keep one."""
    before, place, after = wording.partition("{value}")
    if not place:
        return wording
    value = value.strip().rstrip(".") if after else value.strip()
    if not before and value.partition(" ")[0].isalpha():
        value = value[0].upper() + value[1:]
    return before + value + (after[1:] if after[:1] == "." and value[-1:] in "!?…" else after)


def written(parts: list[str], last: bool = True) -> str:
    """Join parts, each closed by a mark or by kisses; the last stays as it is unless `last`.

    A part that begins with two line breaks begins a paragraph.
    """
    filled_parts = [p.rstrip() for p in parts if p.strip()]
    closed = [f"{p}." if p[-1].isalnum() and not re.search(r"[.!?] x+$", p) else p for p in filled_parts]
    return " ".join(closed if last else [*closed[:-1], *filled_parts[-1:]]).replace(" \n", "\n").strip()
