"""A frame of logged conversations, one row each, with numbers and no words."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import Any

import pandas as pd

from ...errors import BadInput
from ...store import Store
from .logs import Logged
from .measures import CALLS, HANDED, STORE, LoggedFacts, Measure, measures, read_all

ABOUT = ["week", "name", "place", "link", "named", "calls", "handover"]
"""Columns before those of the measures."""
MOST_WEEKS = 1_000
"""Maximum number of weeks of a log; a time stamp of 1970 among those of this year is a mistake."""
MOST_TOOLS = 1_000
"""Maximum number of names of unknown tools to store."""
LONGEST_NAME = 200
"""Maximum number of characters of a conversation's name to store."""
BATCH = 2_000
"""Rows that become a compact frame together."""


@dataclass
class LogFrame:
    """The conversations of a log.

    Attributes
    ----------
    chosen : tuple of Measure
        The measures that were read.
    rows : DataFrame
        One row per conversation: week (its Monday, in UTC), name, place (file and line), link, named (has an id), calls
        (has tool calls), handover (its state is known), and each measure; NaN if it does not apply.
    unknown_tools, unread : Counter of str
        Conversations with an unknown tool, by its name; those with results that a measure could not read, by measure.
    twice : int
        Conversations omitted because of a repeated id.
    """

    chosen: tuple[Measure, ...]
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    unknown_tools: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    twice: int = 0

    @property
    def weeks(self) -> list[str]:
        """Return every Monday from the first week with a conversation to the last."""
        return list(pd.date_range(self.rows["week"].min(), self.rows["week"].max(), freq="7D").strftime("%Y-%m-%d"))

    @property
    def silent_weeks(self) -> list[str]:
        """Return the weeks without any tool call, if other weeks have calls."""
        called = self.rows.groupby("week")["calls"].any()
        return list(called.index[~called]) if called.any() else []

    def why_absent(self, measure: Measure) -> str:
        """Return the key of the reason why a measure has no number."""
        if measure not in self.chosen:
            return STORE
        needs = CALLS if measure.needs == STORE else measure.needs
        if needs in (CALLS, HANDED) and not self.rows["calls" if needs == CALLS else "handover"].any():
            return needs
        return "unknown" if self.unknown_tools and needs in (CALLS, HANDED) else "nothing"


def read_frame(logs: Iterable[Logged], store: Store, *, has_store: bool = False) -> LogFrame:
    """Read logged conversations into a frame.

    Parameters
    ----------
    store : Store
        The desk whose words and tools are used.
    has_store : bool
        Whether the log is of this very desk, so that its articles apply.

    Raises `BadInput` if there is no conversation, or the times span more than `MOST_WEEKS`.
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
    for needs, known in ({CALLS, STORE}, "calls"), ({HANDED}, "handover"):
        unlogged = ~log.rows.groupby("week")[known].transform("any")
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
        found, unread = read_all(facts, log.chosen)
        log.unread.update(unread)
        if len(log.unknown_tools) < MOST_TOOLS:
            log.unknown_tools.update({name[:LONGEST_NAME] for name in facts.unknown})
        monday, called = logged.at.date() - timedelta(days=logged.at.weekday()), bool(logged.record.tool_calls)
        about = (monday.isoformat(), logged.name[:LONGEST_NAME], logged.place, logged.link or "", logged.named)
        values = (found.get(m.name, float("nan")) for m in log.chosen)
        yield (*about, called, called or logged.handed_over is not None, *values)
