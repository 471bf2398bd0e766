"""Measures of a logged conversation that need no case, and the frame of a log's values."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from ...cases import Case
from ...errors import BadInput
from ...language.sentences import OTHER_LANGUAGE, fold, written_in
from ...scoring.customer_audit import pattern
from ...scoring.ending import ASKED_TWICE, answers_in_language
from ...scoring.facts import truncate_for_scoring
from ...store import Store
from ...store.desk import HANDOVER
from ...textfiles import read_yaml
from ..claims import DETECTORS, KEPT, AgentClaims, ClaimFinding, commitments
from ..claims.commitments import refunds_not_made
from .alarms import FEWER, MORE
from .logs import ACTS, OTHER, REFUNDS, Logged

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("monitoring.yaml"))
WORDS, CALLS, HANDED, STORE = "words", "calls", "handover", "store"
"""What a measure may need: messages; logged calls; a known handover; the desk's own articles and tools.
`CALLS` and `HANDED` are also the columns of a log's frame that say whether a conversation has them."""
LONGEST_TEXT = 2_000
"""Number of characters of the customer's text that are used to detect its language."""
ONLY_IF_PROMISED = frozenset({"escalation_honesty"})
"""Detectors whose rate covers only conversations in which there is something to judge."""
ABOUT = ["week", "name", "place", "link", "named", CALLS, HANDED]
"""Columns of a log's frame that precede the measures."""
MOST_WEEKS = 1_000
"""Maximum number of weeks in a log; a timestamp from 1970 among those from this year is a mistake."""
MOST_TOOLS, LONGEST_NAME = 1_000, 200
"""Maximum number of unknown tools to store, and of characters in a conversation's name."""
BATCH = 2_000
"""Number of rows that are turned into a compact frame together."""
UNREADABLE = (TypeError, AttributeError, LookupError, ValueError)
"""Exceptions that a measure may raise if a tool's result does not have the form that our desks use."""


class LoggedFacts:
    """Facts about a logged conversation, read with a desk's phrases and tools when first used."""

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
        if any(c.name == HANDOVER and not c.error for c in self.record.tool_calls):
            return True
        return self.logged.handed_over if self.logged.handed_over is not None or self.unknown else False

    def findings(self, measure: "Measure") -> list[ClaimFinding] | None:
        """Return the findings of a detector; None if it abstains."""
        detector = DETECTORS[measure.name]
        if (measure.needs != WORDS and self.unknown) or not self.claims.speaks(detector.languages):
            return None
        rows = detector.find(self.claims)
        # In a log a refund is an act, so a claimed refund is no promise.
        if measure.name == commitments.PHANTOM:
            return rows + refunds_not_made(self.claims)
        if measure.name == commitments.COMMITMENTS:
            made = {s.text for _, reading in self.claims.replies for s in reading.refunds()}
            return [f for f in rows if f.sentence not in made]
        return rows


@dataclass(frozen=True)
class Measure:
    """A weekly measure."""

    name: str
    needs: str
    """One of `WORDS`, `CALLS`, `HANDED`, `STORE`."""
    title: str
    definition: str
    number: bool = False
    """Whether the value is a number; its share above the baseline's 90th percentile is watched."""
    both_sides: bool = False
    """Whether a fall is watched as well as a rise."""

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
    own = {d.name: {"title": d.title, "definition": d.definition} for d in DETECTORS.values()}
    return tuple(Measure(name, **(own.get(name, {}) | words)) for name, words in TEXTS["measures"].items())


def _times_asked(facts: LoggedFacts) -> int:
    said = (fold(m.text) for m in facts.record.messages if m.side == "customer")
    return sum(bool(pattern("human").search(text) or re.search(TEXTS["wants_person"], text)) for text in said)


def _person_not_given(facts: LoggedFacts) -> bool | None:
    return None if facts.handed_over is None or _times_asked(facts) < ASKED_TWICE else not facts.handed_over


def _other_language(facts: LoggedFacts) -> bool | None:
    texts = (m.text for m in facts.record.replies())
    same = None if facts.language is None else answers_in_language(texts, facts.language)
    return None if same is None else not same


READERS: dict[str, Callable[[LoggedFacts], bool | int | None]] = {
    "handed_over": lambda facts: facts.handed_over,
    "asks_for_person": lambda facts: _times_asked(facts) > 0,
    "person_not_given": _person_not_given,
    "other_language": _other_language,
    "no_reply": lambda facts: "" in ([m.text.strip() for m in facts.record.replies()] or [""]),
    "failed_call": lambda facts: any(c.error for c in facts.record.tool_calls) if facts.record.tool_calls else None,
    "agent_messages": lambda facts: len(facts.record.replies()),
    "agent_words": lambda facts: sum(len(m.text.split()) for m in facts.record.replies()),
    "tool_calls": lambda facts: len(facts.record.tool_calls),
}
"""Measures that are not detectors."""


def findings_of(logged: Logged, store: Store, chosen: Iterable[Measure]) -> list[dict[str, Any]]:
    """Return what detectors find in a conversation; skip detectors that cannot read it."""
    facts, listed = LoggedFacts(logged, store), []
    for measure in chosen:
        with suppress(*UNREADABLE):
            rows = facts.findings(measure) if measure.name in DETECTORS else None
            listed += [f.as_dict(measure.name) for f in rows or () if f.state != KEPT]
    return listed


def read_all(facts: LoggedFacts, chosen: Iterable[Measure]) -> tuple[list[float | None], list[str]]:
    """Return each measure's value, None if it does not apply, and the names of failed ones."""
    values: list[float | None] = []
    unread = []
    for measure in chosen:
        try:
            values.append(measure.read(facts))
        except UNREADABLE:
            values.append(None)
            unread.append(measure.name)
    return values, unread


@dataclass
class LogFrame:
    """The conversations of a log."""

    chosen: tuple[Measure, ...]
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    """One row per conversation: week (its Monday, in UTC), name, place (file and line), link, named (has an id), calls
    (has tool calls), handover (whether it is known), and each measure, NaN where it does not apply."""
    unknown_tools: Counter[str] = field(default_factory=Counter)
    """Number of conversations that call each unknown tool, by its name."""
    unread: Counter[str] = field(default_factory=Counter)
    """Number of conversations that each measure could not read, by measure."""
    twice: int = 0
    """Number of conversations omitted because of a repeated id."""
    days: set[str] = field(default_factory=set)
    """Every day with a conversation, in UTC."""

    @property
    def weeks(self) -> list[str]:
        """Return every Monday from the first week with a conversation to the last."""
        return list(pd.date_range(self.rows["week"].min(), self.rows["week"].max(), freq="7D").strftime("%Y-%m-%d"))

    def why_absent(self, measure: Measure) -> str:
        """Return the key of the reason why a measure has no number."""
        if measure not in self.chosen:
            return STORE
        needs = CALLS if measure.needs == STORE else measure.needs
        if needs != WORDS and not self.rows[needs].any():
            return needs
        return "unknown" if self.unknown_tools and needs != WORDS else "nothing"


def read_frame(logs: Iterable[Logged], store: Store, *, has_store: bool = False) -> LogFrame:
    """Read logged conversations into a frame, with the phrases and tools of `store`.

    With `has_store`, the log comes from this very desk, so that its articles apply. Raise `BadInput` if there is no
    conversation, or if the times span more than `MOST_WEEKS`.
    """
    log = LogFrame(tuple(m for m in measures() if has_store or m.needs != STORE))
    types = dict.fromkeys((m.name for m in log.chosen), "float32")
    rows = _rows(log, logs, store)
    parts = [pd.DataFrame(b, columns=[*ABOUT, *types]).astype(types) for b in iter(lambda: [*islice(rows, BATCH)], [])]
    if not parts:
        raise BadInput("the log contains no conversation: name a file with at least one")
    log.rows = pd.concat(parts, ignore_index=True)
    if len(weeks := log.weeks) > MOST_WEEKS:
        places = log.rows.groupby("week")["place"].first()
        ends = " to ".join(f"{week} ({places[week]})" for week in (weeks[0], weeks[-1]))
        raise BadInput(f"the times in the log span {ends}: correct the time that is wrong, or remove its line")
    for column, needs in (CALLS, {CALLS, STORE}), (HANDED, {HANDED}):
        unlogged = ~log.rows.groupby("week")[column].transform("any")
        log.rows.loc[unlogged, [m.name for m in log.chosen if m.needs in needs]] = float("nan")
    return log


def _rows(log: LogFrame, logs: Iterable[Logged], store: Store) -> Iterator[tuple[Any, ...]]:
    seen = set()
    for logged in logs:
        if logged.named and hash(logged.name) in seen:  # a hash takes less memory than a name
            log.twice += 1
            continue
        seen.add(hash(logged.name))
        facts = LoggedFacts(logged, store)
        values, unread = read_all(facts, log.chosen)
        log.unread.update(unread)
        if len(log.unknown_tools) < MOST_TOOLS:
            log.unknown_tools.update({name[:LONGEST_NAME] for name in facts.unknown})
        log.days.add(logged.at.date().isoformat())
        monday, called = logged.at.date() - timedelta(days=logged.at.weekday()), bool(logged.record.tool_calls)
        about = (monday.isoformat(), logged.name[:LONGEST_NAME], logged.place, logged.link or "", logged.named)
        yield (*about, called, called or logged.handed_over is not None, *values)
