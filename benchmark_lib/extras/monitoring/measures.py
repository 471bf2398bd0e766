"""Measures of a logged conversation without a case: detectors, scorers and what each needs."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ...cases import Case
from ...language.detection import OTHER_LANGUAGE, written_in
from ...language.sentences import fold
from ...scoring.customer_audit import pattern
from ...scoring.ending import answers_in_language, person_given
from ...scoring.facts import truncate_for_scoring
from ...store import Store
from ...store.every_desk import HANDOVER
from ...textfiles import read_yaml
from ..claims import DETECTORS, KEPT, AgentClaims, ClaimFinding, actions, commitments
from ..claims.actions import refunds_not_made
from .alarms import FEWER, MORE
from .logs import ACTS, OTHER, REFUNDS, Logged

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("monitoring.yaml"))
WORDS, CALLS, HANDED, STORE = "words", "calls", "handover", "store"
"""Requirements of a measure: messages; logged calls; a known handover; the desk's own articles and tools."""
LONGEST_TEXT = 2_000
"""Characters of the customer's text from which its language is detected."""
ONLY_IF_PROMISED = frozenset({"escalation_honesty"})
"""Detectors whose rate covers only conversations with something to judge."""
UNREADABLE = (TypeError, AttributeError, LookupError, ValueError)
"""Exceptions of a measure if the result of a tool has another form than at our desks."""


class LoggedFacts:
    """Facts of a logged conversation for measures; expensive ones are computed on first use.

    Parameters
    ----------
    store : Store
        The desk whose words and tools are used.
    """

    def __init__(self, logged: Logged, store: Store):
        self.logged, self.record, self.store = logged, truncate_for_scoring(logged.record), store
        self.unknown = {c.name for c in self.record.tool_calls} - store.tools.keys() - ACTS
        for call in self.record.tool_calls:
            tool = store.tools.get(call.name)
            call.write = tool.write if tool is not None else call.name in (REFUNDS, OTHER)

    @cached_property
    def language(self) -> str | None:
        """Return the customer's language; None if it cannot be detected."""
        text = " ".join(m.text for m in self.record.messages if m.side == "customer")
        return written_in(text[:LONGEST_TEXT])

    @cached_property
    def claims(self) -> AgentClaims:
        """Return the agent's claims, for the detectors."""
        language = self.language if self.language not in (None, OTHER_LANGUAGE) else "en"
        case = Case.model_construct(id=self.record.case_id, language=language, sender="", order="", customer_id="")
        return AgentClaims(self.record, case, self.store, dated=False)

    @cached_property
    def handed_over(self) -> bool | None:
        """Return whether a person took over; None if an unknown tool may have done it."""
        called = any(c.name == HANDOVER and not c.error for c in self.record.tool_calls)
        if self.logged.handed_over is not None:
            return self.logged.handed_over or called
        return True if called else None if self.unknown else False

    def findings(self, measure: "Measure") -> list[ClaimFinding] | None:
        """Return the findings of a detector; None if it abstains."""
        detector = DETECTORS[measure.name]
        if (measure.needs != WORDS and self.unknown) or not self.claims.speaks(detector.languages):
            return None
        rows = detector.find(self.claims)
        # In a log a refund is an act, so a claimed refund is no promise.
        if measure.name == actions.NAME:
            return rows + refunds_not_made(self.claims)
        if measure.name == commitments.NAME:
            made = {s.text for _, reading in self.claims.replies for s in reading.refunds()}
            return [f for f in rows if f.sentence not in made]
        return rows


@dataclass(frozen=True)
class Measure:
    """A weekly measure.

    Attributes
    ----------
    name, title, definition : str
        Its key, and its words in tables and pages.
    needs : str
        One of `WORDS`, `CALLS`, `HANDED`, `STORE`.
    number : bool
        Whether it is a number; then the share above the baseline's 90th percentile is watched.
    both_sides : bool
        Whether a fall is watched as well as a rise.
    """

    name: str
    needs: str
    title: str
    definition: str
    number: bool = False
    both_sides: bool = False

    @property
    def sides(self) -> tuple[int, ...]:
        """Return the watched directions."""
        return (MORE, FEWER) if self.both_sides else (MORE,)

    def read(self, facts: LoggedFacts) -> bool | int | None:
        """Return the value for a conversation; None if the measure does not apply."""
        if self.name in READERS:
            return READERS[self.name](facts)
        rows = facts.findings(self)
        if rows is None or (not rows and self.name in ONLY_IF_PROMISED):
            return None
        return any(f.state != KEPT for f in rows)


def measures() -> tuple[Measure, ...]:
    """Return every measure, detectors first."""
    found = []
    for name, words in TEXTS["measures"].items():
        own = DETECTORS.get(name)
        given = {"title": own.title, "definition": own.definition} if own else {}
        found.append(Measure(name, **(given | words)))
    return tuple(found)


def _asks_for_person(facts: LoggedFacts) -> bool:
    wanted = pattern("human")
    return any(m.side == "customer" and wanted.search(fold(m.text)) for m in facts.record.messages)


def _denied(test: Callable[[LoggedFacts], bool | None], facts: LoggedFacts) -> bool | None:
    found = test(facts)
    return None if found is None else not found


def _person_given(facts: LoggedFacts) -> bool | None:
    return None if facts.handed_over is None else person_given(facts.record, facts.handed_over)


def _same_language(facts: LoggedFacts) -> bool | None:
    texts = (m.text for m in facts.record.replies())
    return None if facts.language is None else answers_in_language(texts, facts.language)


def _replied(facts: LoggedFacts) -> bool:
    replies = facts.record.replies()
    return bool(replies) and all(m.text.strip() for m in replies)


READERS: dict[str, Callable[[LoggedFacts], bool | int | None]] = {
    "handed_over": lambda facts: facts.handed_over,
    "asks_for_person": _asks_for_person,
    "person_not_given": partial(_denied, _person_given),
    "other_language": partial(_denied, _same_language),
    "no_reply": partial(_denied, _replied),
    "failed_call": lambda facts: any(c.error for c in facts.record.tool_calls) if facts.record.tool_calls else None,
    "agent_messages": lambda facts: len(facts.record.replies()),
    "agent_words": lambda facts: sum(len(m.text.split()) for m in facts.record.replies()),
    "tool_calls": lambda facts: len(facts.record.tool_calls),
}
"""Measures that are not detectors."""


def findings_of(facts: LoggedFacts, chosen: Iterable[Measure]) -> list[dict[str, Any]]:
    """Return what detectors find in a conversation; skip those that cannot read it."""
    found = []
    for measure in chosen:
        with suppress(*UNREADABLE):
            rows = facts.findings(measure) if measure.name in DETECTORS else None
            found += [f.as_dict() for f in rows or () if f.state != KEPT]
    return found


def read_all(facts: LoggedFacts, chosen: Iterable[Measure]) -> tuple[dict[str, int], list[str]]:
    """Return the values of the measures that apply, and the names of those that cannot read it."""
    found: dict[str, int] = {}
    unread = []
    for measure in chosen:
        try:
            value = measure.read(facts)
        except UNREADABLE:
            unread.append(measure.name)
            continue
        if value is not None:
            found[measure.name] = int(value)
    return found, unread
