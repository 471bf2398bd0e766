"""Represent an agent's message as the parser understood it, whole and by sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

ASKS, SURE, LIKELY, POSSIBLE = 0.6, 0.5, 0.3, 0.12
"""Minimum probability of a request or asking for a yes, of other acts, of the only candidate, and of having a topic."""

PLAIN = CLAIMS = 0.75
"""Probabilities from which a sentence without a question mark is a question, and from which a report is believed."""

RATES: dict[str, dict[float, float]] = {
    "ask": {LIKELY: 0.05, ASKS: 0.02, PLAIN: 0.01},
    "yes": {LIKELY: 0.01, ASKS: 0.005},
    "offer": {LIKELY: 0.02, SURE: 0.01},
    "done": {LIKELY: 0.02, SURE: 0.01, CLAIMS: 0.003},
    "no": {LIKELY: 0.02, SURE: 0.01},
    "bye": {LIKELY: 0.02, SURE: 0.01},
}
"""Share of a new writer's sentences without an act that reach each probability of it (see ``make reader``)."""


def on_scale(act: str, chance: float, cuts: Sequence[float]) -> float:
    """Return an act's probability on the scale of `RATES`, from the reader's and its `cuts`."""
    return float(np.interp(chance, (0.0, *cuts, 1.0), (0.0, *RATES[act], 1.0))) if cuts else chance


@dataclass
class ParsedMessage:
    """One message as the customer understands it."""

    asked: list[str] = field(default_factory=list)
    """Slots that the message asks for."""
    proposed: list[str] = field(default_factory=list)
    """Tools for which the message asks for a yes."""
    claimed: list[str] = field(default_factory=list)
    """Tools that the message says were carried out."""
    reports: dict[str, float] = field(default_factory=dict)
    """Probability of each such report."""
    declined: list[str] = field(default_factory=list)
    """Tools that the message says will not be carried out."""
    slots: dict[str, float] = field(default_factory=dict)
    """Probability of each slot being wanted, in descending order."""
    in_passing: set[str] = field(default_factory=set)
    """Slots asked for only in a refusal ("without it I cannot") or an offer to help ("if you tell me")."""
    choices: list[set[str]] = field(default_factory=list)
    """Slots joined by "or" in one sentence: one of them suffices."""
    apart: set[str] = field(default_factory=set)
    """Slots asked for in a sentence that offers no choice and is no list item."""
    alternatives: set[str] = field(default_factory=set)
    """Tools that the message offers as alternatives: a yes would not choose one."""
    or_not: set[str] = field(default_factory=set)
    """Tools that the message asks whether to use, to which a bare yes gives no answer."""
    tools: dict[str, float] = field(default_factory=dict)
    """Probability that the message offers each tool, in descending order; reports count as well."""
    offered: list[str] = field(default_factory=list)
    """Tools that the message offers, with or without asking for a yes."""
    offer: bool = False
    """True if the message offers to do anything, understood or not."""
    confirm: bool = False
    """True if the message asks for a yes, even to an unknown action."""
    question: bool = False
    """True if the message asks anything except closing courtesies."""
    invites: bool = False
    """True if the message invites the customer to go on."""
    dates: set[str] = field(default_factory=set)
    """Kinds of dates it asks for: something ``ahead`` or ``behind``, or ``any`` if the words are unclear."""
    checks: bool = False
    """True if it asks whether something given works ("Does the link open?")."""
    closes: bool = False
    """True if it asks whether that is all."""

    @property
    def surely_claimed(self) -> set[str]:
        """Return the tools that it plainly says were carried out."""
        return {tool for tool, chance in self.reports.items() if chance >= CLAIMS}


@dataclass(frozen=True)
class ParsedSentence:
    """One sentence as the parser understood it."""

    acts: dict[str, float]
    slots: dict[str, float]
    tools: dict[str, float]
    """Probability of each act, and of each slot and tool as its topic."""
    marked: bool = False
    """True if it ends in a question mark."""
    either: bool = False
    """True if it contains "or"."""
    instead: bool = False
    """True if it offers an alternative to the previous request ("if you haven't got it, your name will do")."""
    one_of: bool = False
    """True if it announces a list of which one item suffices."""
    chooses: bool = False
    """True if it asks which of several things to take."""
    leaves: bool = False
    """True if it offers to leave things unchanged ("or shall it stay?")."""
    points: bool = False
    """True if it asks for an item of a list by its mark ("A or B?", "one letter: A or B")."""
    invites: bool = False
    """True if it invites the customer to go on."""
    item: bool = False
    """True if it is part of a list item."""
    plainly: bool = True
    """True if its request is its topic: it is no refusal and no conditional offer of help."""
    dates: frozenset[str] = frozenset()
    """Kinds of dates it asks for (see `ParsedMessage.dates`)."""
    checks: bool = False
    closes: bool = False
    """True if it asks whether something works, or whether that is all."""
    reported: dict[str, float] = field(default_factory=dict)
    """Probability of each tool that it may report, for detectors."""
    planned: bool = False
    """True if it is a step of a plan: a yes covers all of its steps."""

    @property
    def asks_for_a_yes(self) -> bool:
        """Return whether it asks for a yes; a question needs less explicit words."""
        yes = self.acts["yes"]
        return yes >= ASKS or (self.marked and yes >= max(LIKELY, self.acts["ask"], self.acts["bye"]))

    def about(self, act: str, least: float = SURE) -> list[str]:
        """Return the requested slots, or an act's tools; empty if the act itself is unlikely."""
        if self.acts[act] < least:
            return []
        topics = self.slots if act == "ask" else self.tools
        return [name for name, chance in topics.items() if chance >= least]
