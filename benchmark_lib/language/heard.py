"""Represent an agent's message as the parser understood it, by sentence and as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

ASKS, SURE, LIKELY, POSSIBLE = 0.6, 0.5, 0.3, 0.12
"""Minimum probabilities: of a request or a question for a yes, of other acts, the only candidate, any topic."""

PLAIN = CLAIMS = 0.75
"""Minimum probability for a sentence without a mark to be a question, and for a report to be believed."""

EVIDENT = 0.9
"""Minimum probability of a slot beside which others need `PLAIN`, and of a question for what was shown before."""

REMEMBERED = 6
"""Most sentences or lines between an offer and a bare "Shall I go ahead?" that refers to it."""

RATES: dict[str, dict[float, float]] = {
    "ask": {LIKELY: 0.05, ASKS: 0.02, PLAIN: 0.01},
    "yes": {LIKELY: 0.01, ASKS: 0.005},
    "offer": {LIKELY: 0.02, SURE: 0.01},
    "done": {LIKELY: 0.02, SURE: 0.01, CLAIMS: 0.003},
    "no": {LIKELY: 0.02, SURE: 0.01},
    "bye": {LIKELY: 0.02, SURE: 0.01},
}
"""By act and its probability, the share of a new writer's sentences without the act that reach this probability (see
``make reader``)."""


def on_scale(act: str, chance: float, cuts: Sequence[float]) -> float:
    """Return an act's probability on the scale of `RATES`, given the reader's and its `cuts`."""
    return float(np.interp(chance, (0.0, *cuts, 1.0), (0.0, *RATES[act], 1.0))) if cuts else chance


@dataclass
class ParsedMessage:
    """One message as the customer understands it."""

    asked: list[str] = field(default_factory=list)
    """Slots that the message asks for."""
    proposed: list[str] = field(default_factory=list)
    """Tools for which the message asks for a yes."""
    claimed: list[str] = field(default_factory=list)
    """Tools that the message says were used."""
    reports: dict[str, float] = field(default_factory=dict)
    """Probability of each such report."""
    declined: list[str] = field(default_factory=list)
    """Tools that the message says will not be used."""
    refuses: bool = False
    """True if it refuses something, whether understood or not."""
    checks_facts: bool = False
    """True if it asks whether what it says is right, and offers nothing."""
    slots: dict[str, float] = field(default_factory=dict)
    """Probability of each slot being wanted, in descending order."""
    in_passing: set[str] = field(default_factory=set)
    """Slots asked for only in a refusal ("without it I cannot") or an offer to help ("if you tell me")."""
    choices: list[set[str]] = field(default_factory=list)
    """Slots joined by "or" in one sentence: one of them suffices."""
    apart: set[str] = field(default_factory=set)
    """Slots asked for in a sentence that offers no choice and is not a list item."""
    alternatives: set[str] = field(default_factory=set)
    """Tools that the message offers as alternatives, so that a bare yes chooses none."""
    or_not: set[str] = field(default_factory=set)
    """Tools that the message asks whether to use or not, so that a bare yes is no answer."""
    tools: dict[str, float] = field(default_factory=dict)
    """Probability that the message offers each tool, in descending order; reports count as well."""
    offered: list[str] = field(default_factory=list)
    """Tools that the message offers, with or without asking for a yes."""
    offer: bool = False
    """True if the message offers to do anything, whether understood or not."""
    confirm: bool = False
    """True if the message asks for a yes, even to an unknown action."""
    question: bool = False
    """True if the message asks anything other than a closing courtesy."""
    invites: bool = False
    """True if the message invites the customer to go on."""
    dates: set[str] = field(default_factory=set)
    """Kinds of dates it asks for: something ``ahead`` or ``behind``, or ``any`` if unclear."""
    checks: bool = False
    """True if it asks whether something given works ("Does the link open?")."""
    closes: bool = False
    """True if it asks whether that is all."""

    @property
    def surely_claimed(self) -> set[str]:
        """Return the tools that it plainly says were used."""
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
    """True if it offers an alternative to the previous request ("if not, your name will do")."""
    one_of: bool = False
    """True if it announces a list from which one item suffices."""
    chooses: bool = False
    """True if it asks which of several things to take."""
    leaves: bool = False
    """True if it offers to leave things unchanged ("or shall it stay?")."""
    checks_facts: bool = False
    """True if it asks whether something is right, without naming an act or a slot."""
    points: bool = False
    """True if it asks for an item of a list by its mark ("A or B?", "one letter: A or B")."""
    invites: bool = False
    """True if it invites the customer to go on."""
    item: bool = False
    """True if it is part of a list item."""
    plainly: bool = True
    """True if its request is its topic, and not part of a refusal or an offer of help."""
    dates: frozenset[str] = frozenset()
    """Kinds of dates it asks for (see `ParsedMessage.dates`)."""
    checks: bool = False
    closes: bool = False
    """True if it asks whether something works, or whether that is all."""
    reported: dict[str, float] = field(default_factory=dict)
    """Probability of each tool that it may report, for detectors."""
    planned: bool = False
    """True if it is a step in a plan; a yes covers all steps."""

    @property
    def surest(self) -> float:
        """Return the probability of its likeliest slot."""
        return max(self.slots.values(), default=0.0)

    @property
    def may_do(self) -> bool:
        """Return whether it names an act that it does not refuse."""
        return self.acts["no"] < LIKELY and bool(_sure(self.tools))

    def refuses_a_part(self, first: Self, second: Self) -> bool:
        """Return whether one of its halves refuses an act, and the other offers one."""
        halves = (first, second), (second, first)
        refused = any(one.acts["no"] >= SURE and other.may_do for one, other in halves)
        return refused or (self.acts["no"] >= SURE and second.may_do and bool(second.about("offer")))

    def asks_two_things(self, first: Self, second: Self, whole: bool) -> bool:
        """Return whether one half asks for a slot (the first, unless `whole`), the other for a yes."""
        halves = ((first, second), (second, first))[: 1 + whole]
        asks = (
            one.acts["ask"] >= POSSIBLE
            and one.surest >= PLAIN
            and one.acts["yes"] < LIKELY
            and other.asks_for_a_yes
            and not other.about("ask")
            for one, other in halves
        )
        return self.marked and any(asks)

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
        if max(topics.values(), default=0.0) >= EVIDENT:
            least = max(least, PLAIN)
        return [name for name, chance in topics.items() if chance >= least]


def understood(sentences: list[ParsedSentence]) -> ParsedMessage:
    """Combine the parsed sentences into a parsed message."""
    parsed = ParsedMessage()
    offers: list[list[str]] = []
    wanted = steps = False
    spoken: dict[str, float] = {}
    for one in sentences:
        asks = one.acts["ask"] >= ASKS
        yes = one.asks_for_a_yes and bool(parsed.offer or spoken or not one.checks_facts)
        steps = one.planned or (steps and one.item)
        offers.append(one.about("offer") + (offers[-1] if steps and offers else []))
        parsed.offer |= one.acts["offer"] >= SURE
        parsed.refuses |= one.acts["no"] >= SURE
        parsed.checks_facts |= one.checks_facts
        _add(parsed.offered, offers[-1])
        if yes:
            parsed.confirm = True
            near = offers[-1] or next(filter(None, reversed(offers[-1 - REMEMBERED :])), [])
            near = near or _likeliest(one.tools, SURE)
            near = near or _likeliest({t: c for t, c in spoken.items() if t not in parsed.declined}, PLAIN)
            _add(parsed.proposed, near)
            parsed.offer |= bool(near)
        if one.acts["offer"] >= POSSIBLE and one.acts["done"] < LIKELY:
            spoken = one.tools or spoken
        _add(parsed.asked, one.about("ask") if asks else [])
        _add(parsed.claimed, one.about("done"))
        refused = one.about("no")
        # Not in "I cannot split it, but can cancel it all"
        if len(refused) > 1 or one.acts["no"] >= one.acts["offer"]:
            _add(parsed.declined, refused)
        if max(one.acts[act] for act in ("offer", "yes", "done")) >= POSSIBLE:
            _likelier(parsed.tools, one.tools, 1.0)
        _likelier(parsed.slots, one.slots, one.acts["ask"])
        _likelier(parsed.reports, {t: c for t, c in one.tools.items() if t in one.about("done")}, one.acts["done"])
        parsed.invites |= one.invites
        parsed.dates |= one.dates if "date" in one.about("ask") else set()
        parsed.checks |= one.checks
        parsed.closes |= one.closes
        wanted |= yes and one.marked
        parsed.question |= (yes and one.marked) or (asks and bool(one.marked or one.about("ask")))
    parsed.confirm &= bool(wanted or parsed.proposed or not parsed.claimed)
    parsed.confirm |= parsed.checks_facts and parsed.offer
    parsed.checks_facts &= not parsed.confirm
    parsed.question |= parsed.confirm
    parsed.slots, parsed.tools = _sorted(parsed.slots), _sorted(parsed.tools)
    plainly = {slot for one in sentences if one.plainly for slot in one.about("ask")}
    parsed.in_passing = {slot for one in sentences for slot in one.about("ask")} - plainly
    parsed.choices = _choices(sentences)
    parsed.apart = {s for one in sentences if not (one.item or one.either or one.instead) for s in one.about("ask")}
    parsed.alternatives, parsed.or_not = _alternatives(sentences), _or_not(sentences)
    return parsed


def _choices(sentences: list[ParsedSentence]) -> list[set[str]]:
    """Return groups of slots, one of which suffices: in a sentence, an alternative or a list."""
    groups: list[set[str]] = []
    before, items = set[str](), set[str]()
    listed = goes_on = False
    for one in sentences:
        slots = {slot for slot, chance in one.slots.items() if min(chance, one.acts["ask"]) >= LIKELY}
        listed &= one.item
        items, goes_on = items if goes_on or not one.item else set(), one.item
        if slots and listed:
            groups[-1] |= slots
        elif slots and one.instead and before:
            groups.append(before | slots)
        elif slots and one.either and (one.marked or len(slots) > 1):
            groups.append(slots)
        if one.one_of:
            groups.append(slots | items)
            listed = True
        before |= slots
        items |= slots if one.item else set()
    return groups


def _alternatives(sentences: list[ParsedSentence]) -> set[str]:
    """Return the tools between which a message offers a choice, with "or" or "which of them"."""
    choices, every = set[str](), set[str]()
    held_out: list[str] = []
    items = 0
    for one in sentences:
        tools, offers = {*_sure(one.tools)}, one.about("offer")
        if one.marked and one.either and len(tools) > 1:
            choices |= tools
        elif one.points and len(every) > 1:
            choices |= every
        elif one.marked and (one.points or (one.chooses and one.acts["yes"] < ASKS)):
            choices |= {*held_out, *tools} if items > 1 or len({*held_out, *tools}) > 1 else set()
        items += one.item
        held_out = offers if offers and not one.item else held_out + offers
        every |= {*offers}
    return choices


def _or_not(sentences: list[ParsedSentence]) -> set[str]:
    """Return tools to use or leave: "or shall it stay?", or "which?" after "you can, or I"."""
    tools, held_out = set[str](), set[str]()
    either = False
    for one in sentences:
        if one.leaves:
            tools |= {*_sure(one.tools)} or held_out
        elif one.chooses and either and one.acts["yes"] < ASKS and one.about("ask") == ["goal"]:
            tools |= held_out
        if offers := set(one.about("offer")):
            held_out, either = offers, one.either
        either |= one.either
    return tools


def _sure(chances: dict[str, float]) -> list[str]:
    return [name for name, chance in chances.items() if chance >= SURE]


def _sorted(chances: dict[str, float]) -> dict[str, float]:
    return {n: c for n, c in sorted(chances.items(), key=lambda pair: -pair[1]) if c >= POSSIBLE}


def _likelier(known: dict[str, float], new: dict[str, float], share: float) -> None:
    for name, chance in new.items():
        known[name] = max(known.get(name, 0.0), chance * share)


def _likeliest(chances: dict[str, float], least: float) -> list[str]:
    best = max(chances, key=chances.__getitem__, default="")
    return [best] if best and chances[best] >= least else []


def _add(known: list[str], new: list[str]) -> None:
    known += [n for n in new if n not in known]
