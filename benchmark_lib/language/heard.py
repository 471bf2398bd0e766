"""What a message of an agent comes to, as it was heard: the whole, and its sentences."""

from dataclasses import dataclass, field

ASKS, SURE, LIKELY, POSSIBLE = 0.6, 0.5, 0.3, 0.12
"""Probabilities. From the first a sentence asks for something, or for a yes; from the second anything else is heard;
from the third where nothing else was; from the last a sentence is read for what it is about at all."""

CLAIMS = 0.75
"""Probability from which a report is taken at its word: by a customer, and against an agent that did not act."""


@dataclass
class ParsedMessage:
    """One message as the customer understands it."""

    asked: list[str] = field(default_factory=list)
    """Slots the message asks for."""
    proposed: list[str] = field(default_factory=list)
    """Tools the message asks a yes for."""
    claimed: list[str] = field(default_factory=list)
    """Tools the message says were carried out."""
    reports: dict[str, float] = field(default_factory=dict)
    """How surely it says so of each."""
    declined: list[str] = field(default_factory=list)
    """Tools the message says will not be carried out."""
    slots: dict[str, float] = field(default_factory=dict)
    """How likely each slot is asked for, the likeliest first."""
    in_passing: set[str] = field(default_factory=set)
    """Slots asked for only where a sentence is about something else: a refusal ("without it I cannot"), an offer to
    help ("if you tell me")."""
    choices: list[set[str]] = field(default_factory=list)
    """Slots that stand in one sentence with an "or" between them: one of them will do."""
    apart: set[str] = field(default_factory=set)
    """Slots asked for in a sentence that holds out no choice and is no point of a list."""
    alternatives: set[str] = field(default_factory=set)
    """Tools between which it asks for a choice: a yes would not say which."""
    or_not: set[str] = field(default_factory=set)
    """Tools that it asks whether to use or to leave, which a bare yes would not say either."""
    tools: dict[str, float] = field(default_factory=dict)
    """How likely the message offers each tool, the likeliest first; read leniently, a report counts as well."""
    offered: list[str] = field(default_factory=list)
    """Tools the message offers, whether or not it asks for a yes."""
    offer: bool = False
    """The message offers to do something, whether or not it was understood what."""
    confirm: bool = False
    """The message asks for a yes, whether or not the action was understood."""
    question: bool = False
    """The message asks something (closing courtesies left out)."""
    invites: bool = False
    """The message asks for whatever the customer wants to say next."""
    dates: set[str] = field(default_factory=set)
    """What the dates are of that it asks for: something ``ahead`` or ``behind``, or ``any`` where the words do not
    tell."""
    checks: bool = False
    """It asks whether something that was given works ("Does the link open?")."""
    closes: bool = False
    """It asks whether to leave it at that."""

    @property
    def surely_claimed(self) -> set[str]:
        """Tools that it plainly says were carried out."""
        return {tool for tool, chance in self.reports.items() if chance >= CLAIMS}


@dataclass(frozen=True)
class ParsedSentence:
    """One sentence as it was heard."""

    acts: dict[str, float]
    slots: dict[str, float]
    tools: dict[str, float]
    """The probability of each act, and of each slot and tool that it may be about."""
    marked: bool = False
    """It ends in a question mark."""
    either: bool = False
    """It has an "or" in it."""
    instead: bool = False
    """What it asks for will do in place of what was asked for before it ("if you haven't got it, your name will
    do")."""
    one_of: bool = False
    """It holds out several things of which one will do, in the list that follows it."""
    chooses: bool = False
    """It asks which of several things it shall be."""
    leaves: bool = False
    """It holds out to leave things as they are ("or shall it stay?")."""
    points: bool = False
    """It asks for one of the points of a list by their marks ("A or B?", "one letter: A or B")."""
    invites: bool = False
    """It asks for whatever the customer wants to say next."""
    item: bool = False
    """It stands in an item of a list."""
    plainly: bool = True
    """What it asks for is what it is about: it is no refusal and no offer to help on a condition."""
    dates: frozenset[str] = frozenset()
    """What a date that it asks for is of (see `ParsedMessage.dates`)."""
    checks: bool = False
    closes: bool = False
    """It asks whether something works, or whether to leave it at that."""
    reported: dict[str, float] = field(default_factory=dict)
    """The probability of each tool that it may be about where it reports one, as detectors hear it."""

    @property
    def asks_for_a_yes(self) -> bool:
        """Whether it asks for a yes, where it is a question also in other words than the plainest."""
        yes = self.acts["yes"]
        return yes >= ASKS or (self.marked and yes >= max(LIKELY, self.acts["ask"], self.acts["bye"]))

    def about(self, act: str, least: float = SURE) -> list[str]:
        """The slots that are asked for, or the tools that an act is about; none where the act itself is not sure."""
        if self.acts[act] < least:
            return []
        topics = self.slots if act == "ask" else self.tools
        return [name for name, chance in topics.items() if chance >= least]
