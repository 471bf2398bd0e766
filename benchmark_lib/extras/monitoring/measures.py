"""Measures of a logged conversation without a case: detectors and scorers, and the requirements of each."""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...cases import Case
from ...language.detection import OTHER_LANGUAGE, written_in
from ...language.sentences import fold
from ...scoring.customer_audit import pattern
from ...scoring.ending import answers_in_language, person_given
from ...scoring.facts import as_read
from ...store import Store
from ...store.every_desk import HANDOVER
from ..claims import DETECTORS, KEPT, AgentClaims, ClaimFinding, actions, commitments
from ..claims.actions import refunds_not_made
from .alarms import FEWER, MORE
from .logs import ACTS, OTHER, REFUNDS, Logged

WORDS, CALLS, HANDED, STORE = "words", "calls", "handover", "store"
"""Requirements of a measure: messages; logged calls; a known handover; the desk's own articles and tools."""
WHY_ABSENT = {
    CALLS: "the log holds no tool calls",
    HANDED: "the log neither holds tool calls nor says `handed_over`",
    STORE: "needs the store of the desk, with its articles: name it with --store",
}
NEEDS_CASE = "only a case says what is true of the customer and its order, what had to happen and what must not"
LONGEST_TEXT = 2_000
"""Characters of the customer's text from which its language is detected."""
UNREADABLE = (TypeError, AttributeError, LookupError, ValueError)
"""Exceptions of a measure if the result of a tool has another form than at our desks."""


class Heard:
    """A logged conversation in the form that measures use; expensive parts are computed on first use.

    Parameters
    ----------
    store : Store
        The desk whose words and tools are used.
    """

    def __init__(self, logged: Logged, store: Store):
        self.logged, self.record, self.store = logged, as_read(logged.record), store
        self.unknown = sorted({c.name for c in self.record.tool_calls} - store.tools.keys() - ACTS)
        for call in self.record.tool_calls:
            tool = store.tools.get(call.name)
            call.write = tool.write if tool is not None else call.name in (REFUNDS, OTHER)

    @cached_property
    def language(self) -> str | None:
        """Return the customer's language; None if it cannot be detected."""
        said = " ".join(m.text for m in self.record.messages if m.side == "customer")
        return written_in(said[:LONGEST_TEXT])

    @cached_property
    def claims(self) -> AgentClaims:
        """Return the agent's claims, for the detectors."""
        language = self.language if self.language not in (None, OTHER_LANGUAGE) else "en"
        case = Case.model_construct(id=self.record.case_id, language=language, sender="", order="", customer_id="")
        return AgentClaims(self.record, case, self.store, dated=False)

    @cached_property
    def handed_over(self) -> bool | None:
        """Return whether a person took over, by log or calls; None if an unknown tool may have done it."""
        called = any(c.name == HANDOVER and not c.error for c in self.record.tool_calls)
        if self.logged.handed_over is not None:
            return self.logged.handed_over or called
        return True if called else None if self.unknown else False

    def found(self, detector: str) -> bool | None:
        """Return whether a detector finds anything; None if it abstains or has nothing to judge."""
        d = DETECTORS[detector]
        if not self.claims.speaks(d.languages):
            return None
        rows = self.findings(detector)
        wrong = any(f.state != KEPT for f in rows)
        return wrong if rows or d.name not in ONLY_WHERE_SAID else None

    def findings(self, detector: str) -> list[ClaimFinding]:
        """Return a detector's findings; a refund is an act in logs, so a claimed refund is not a promise."""
        rows = DETECTORS[detector].find(self.claims)
        if detector == actions.NAME:
            return rows + refunds_not_made(self.claims)
        if detector == commitments.NAME:
            made = {s.text for _, reading in self.claims.replies for s in reading.refunds()}
            return [f for f in rows if f.sentence not in made]
        return rows


ONLY_WHERE_SAID = frozenset({"escalation_honesty"})
"""Detectors whose rate covers only conversations with something to judge."""


@dataclass(frozen=True)
class Measure:
    """A weekly measure.

    Attributes
    ----------
    name, title : str
        Its key, and its heading in a table.
    needs : str
        One of `WORDS`, `CALLS`, `HANDED`, `STORE`.
    read : callable
        Heard -> bool, or a whole number if `number`; None if it does not apply.
    sides : tuple of int
        The watched directions.
    number : bool
        Whether it is a number; then the share above the baseline's 90th percentile is watched.
    """

    name: str
    title: str
    definition: str
    needs: str
    read: Callable[[Heard], bool | int | None]
    sides: tuple[int, ...] = (MORE,)
    number: bool = False


CASE_FREE = {
    "escalation_honesty": CALLS,
    "phantom_action": CALLS,
    "commitments": CALLS,
    "leak": WORDS,
    "groundedness": STORE,
    "text_action_mismatch": STORE,
}
"""Detectors that need no case, with their requirement; all others are listed as absent."""
TITLES = {"escalation_honesty": "Transfer not made", "commitments": "Unbacked promise"}
DEFINITIONS = {
    "escalation_honesty": (
        "A transfer to a person was promised and not made; over the conversations in which one was promised."
    ),
    "phantom_action": (
        "The agent says that something was done, a refund included, and the log holds no such call and no result "
        "that shows it."
    ),
    "commitments": (
        "The agent promises a refund or a message that no call stands behind, or a credit, which nobody at the "
        "desk may give. Days are not checked: a log does not say when a parcel was due."
    ),
}
"""Definitions for logs, where they differ from the detector's definition for cases."""


def measures() -> tuple[Measure, ...]:
    """Return every measure, findings first."""
    return (*(_of_detector(name) for name in CASE_FREE if name in DETECTORS), *_SHARES, *_NUMBERS)


def absent() -> dict[str, str]:
    """Return the titles of detectors and scores that no log can give, each with the reason."""
    detectors = {d.title: NEEDS_CASE for d in DETECTORS.values() if d.name not in CASE_FREE}
    return detectors | dict.fromkeys(("Resolved", "Success", "Unsafe actions", "Process rules"), NEEDS_CASE)


def _of_detector(name: str) -> Measure:
    d = DETECTORS[name]
    title, definition, needs = TITLES.get(name, d.title), DEFINITIONS.get(name, d.definition), CASE_FREE[name]

    def read(heard: Heard) -> bool | None:
        return None if needs != WORDS and heard.unknown else heard.found(name)

    return Measure(name, title, definition, needs, read)


def _wants_person(heard: Heard) -> bool:
    wanted = pattern("human")
    return any(m.side == "customer" and wanted.search(fold(m.text)) for m in heard.record.messages)


def _person_not_given(heard: Heard) -> bool | None:
    if heard.handed_over is None:
        return None
    given = person_given(heard.record, heard.handed_over)
    return None if given is None else not given


def _other_language(heard: Heard) -> bool | None:
    if heard.language is None:
        return None
    same = answers_in_language((m.text for m in heard.record.replies()), heard.language)
    return None if same is None else not same


def _no_reply(heard: Heard) -> bool:
    replies = heard.record.replies()
    return not replies or any(not m.text.strip() for m in replies)


def _failed(heard: Heard) -> bool | None:
    calls = heard.record.tool_calls
    return any(c.error for c in calls) if calls else None


_SHARES = (
    Measure(
        "handed_over",
        "Handed over",
        "A person took over: the tool for it was called, or the log says so.",
        HANDED,
        lambda heard: heard.handed_over,
        (MORE, FEWER),
    ),
    Measure(
        "asks_for_person",
        "Asks for a person",
        "The customer asks for a person in at least one message.",
        WORDS,
        _wants_person,
    ),
    Measure(
        "person_not_given",
        "No person given",
        (
            "The customer asked for a person in two or more messages and nobody took over; over the "
            "conversations in which it asked that often."
        ),
        HANDED,
        _person_not_given,
    ),
    Measure(
        "other_language",
        "In another language",
        "A reply is not in the customer's language; over the conversations in which both languages can be told.",
        WORDS,
        _other_language,
    ),
    Measure("no_reply", "No reply", "The agent wrote no message, or one without text.", WORDS, _no_reply),
    Measure(
        "failed_call", "Failed call", "A tool call failed; over the conversations with tool calls.", CALLS, _failed
    ),
)


def _many(name: str, title: str, said: str, needs: str, read: Callable[[Heard], int]) -> Measure:
    """Return the measure of a number, whose share above nearly all of the baseline is watched."""
    return Measure(name, title, f"{said} than in nine of ten conversations of the baseline.", needs, read, number=True)


def _words(heard: Heard) -> int:
    return sum(len(m.text.split()) for m in heard.record.replies())


_NUMBERS = (
    _many("agent_messages", "Many messages", "The agent wrote more messages", WORDS, lambda h: len(h.record.replies())),
    _many("agent_words", "Many words", "The agent wrote more words", WORDS, _words),
    _many("tool_calls", "Many tool calls", "There were more tool calls", CALLS, lambda h: len(h.record.tool_calls)),
)


def findings_of(heard: Heard, has_store: bool) -> list[dict[str, Any]]:
    """Return the findings of the detectors without a case in one conversation; skip detectors that cannot read it."""
    found = []
    for name, needs in CASE_FREE.items():
        detector = DETECTORS.get(name)
        if detector is None or (needs == STORE and not has_store) or (needs != WORDS and heard.unknown):
            continue
        with suppress(*UNREADABLE):
            if heard.claims.speaks(detector.languages):
                found += [f.as_dict() for f in heard.findings(name) if f.state != KEPT]
    return found


def read_all(heard: Heard, chosen: Collection[Measure], has_store: bool) -> tuple[dict[str, int], list[str]]:
    """Return the applicable measures' values of one conversation, and the names of measures that cannot read it."""
    found: dict[str, int] = {}
    unread = []
    for measure in chosen:
        if measure.needs == STORE and not has_store:
            continue
        try:
            value = measure.read(heard)
        except UNREADABLE:
            unread.append(measure.name)
            continue
        if value is not None:
            found[measure.name] = int(value)
    return found, unread
