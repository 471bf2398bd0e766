"""Monitoring of production logs: measures without cases, counted by week.

Only a conversation's name, its place in the log and its numbers are kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from ...endpoint.plain_data import read_mapping
from ...errors import BadInput
from ...project import in_project
from ...store import Store
from ...store.world import load_store
from ..claims import DETECTORS
from .drift import (
    FALSE_ALARMS,
    Watched,
    baseline_of,
    behind_table,
    drift_table,
    level_of,
    rule_in_words,
    watched_log,
    week_table,
)
from .frame import LogFrame, read_frame
from .logs import ACTS, REFUNDS, LogReader
from .made_up import CHANGES, made_up_year, week_of, write_year
from .measures import TEXTS, measures
from .recovery import elsewhere_table, false_alarm_table, first_alarms, found_table

__all__ = [
    "CHANGES",
    "FALSE_ALARMS",
    "Monitored",
    "elsewhere_table",
    "false_alarm_table",
    "first_alarms",
    "found_table",
    "made_up_year",
    "monitor",
    "read_tool_acts",
    "week_of",
    "write_year",
]

USUAL_STORE = "northline"
"""The default desk, whose words and tool names are used to parse a log."""
MOST_NAMED = 6
"""Most unknown tools named in a note."""


@dataclass(frozen=True)
class Monitored:
    """Results from a desk's logs.

    Attributes
    ----------
    logs : LogReader
        The conversations, which can be read again.
    baseline : list of str
        Mondays of the weeks for comparison.
    rows : list of Watched
        Weekly counts of each measure.
    false_alarms : float
        Chance of any false alarm in a year of weekly looks.
    """

    logs: LogReader
    store: Store
    log: LogFrame
    baseline: list[str]
    rows: list[Watched]
    false_alarms: float

    @cached_property
    def weeks(self) -> pd.DataFrame:
        """Return every measure in every week, as `drift.week_table`."""
        return week_table(self.rows)

    @cached_property
    def drift(self) -> pd.DataFrame:
        """Return the comparison with the baseline, and the alarms, as `drift.drift_table`."""
        return drift_table(self.rows, false_alarms=self.false_alarms)

    @cached_property
    def behind(self) -> pd.DataFrame:
        """Return the conversations of each number, as `drift.behind_table`."""
        return behind_table(self.log, self.rows)

    @property
    def rule(self) -> str:
        """Return the rule of the alarms with its rate of false alarms."""
        return rule_in_words(self.rows, self.false_alarms)

    @property
    def absent(self) -> dict[str, list[str]]:
        """Return the titles of measures that these logs cannot give, by reason."""
        found: dict[str, list[str]] = {}
        given = {one.measure.name for one in self.rows}
        for measure in measures():
            if measure.name not in given:
                found.setdefault(TEXTS["absent"][self.log.why_absent(measure)], []).append(measure.title)
        rest = [d.title for d in DETECTORS.values() if d.name not in TEXTS["measures"]]
        return {**found, TEXTS["absent"]["case"]: [*rest, *TEXTS["scores"]]}

    @property
    def notes(self) -> list[str]:
        """Return notes on the logs, one sentence each."""
        log, quiet = self.log, self.log.silent_weeks
        titles = {m.name: m.title for m in log.chosen}
        most = [f"{t!r} ({n:,} conversation{'s' * (n != 1)})" for t, n in log.unknown_tools.most_common(MOST_NAMED)]
        more = len(log.unknown_tools) - len(most)
        facts = {
            "unnamed": int((~log.rows["named"]).sum()),
            "twice": log.twice,
            "left_out": self.logs.left_out,
            "unknown": ", ".join(most) + f" and {more} more" * (more > 0),
            "unread": ", ".join(f"{titles[name]} {n:,}" for name, n in log.unread.most_common()),
            "silent": len(quiet),
        }
        more_facts = {"n": len(log.rows), "first": self.logs.first_left_out, "first_silent": quiet[0] if quiet else ""}
        notes = [TEXTS["notes"][name].format(**facts, **more_facts) for name, applies in facts.items() if applies]
        return notes + self.logs.notes


def monitor(
    *logs: str | Path,
    baseline: str | None = None,
    store: str | Path | None = None,
    tools: Mapping[str, str] | None = None,
    format: str | None = None,
    false_alarms: float = FALSE_ALARMS,
    leave_out_bad: bool = False,
) -> Monitored:
    """Read a desk's logs and compare every week with the baseline.

    Parameters
    ----------
    *logs : path
        Files of logged conversations: JSON lines (also ``.gz``), results of tau2 (or its folder), logs of Inspect.
    baseline : str, optional
        Two days, ``2026-01-05..2026-03-29``; by default the first 13 weeks, or half of a short log.
    store : str or path, optional
        The desk of the logs: a known store or a store folder. Its articles define what may be disclosed; without it,
        measures that need them are absent.
    tools : mapping of str to str, optional
        The act of each tool in the log: the name of a desk's tool, ``refund``, ``read`` (changes nothing), or ``other``
        (a change that no measure uses). `read_tool_acts` reads them from a file.
    false_alarms : float
        Chance of any false alarm, over all measures, in a year of weekly looks.
    leave_out_bad : bool
        Whether to count and omit unreadable lines; otherwise the first is refused.

    Raises
    ------
    BadInput
        For logs that cannot be read, have no times, or leave nothing to compare.
    """
    if not logs:
        raise BadInput("no log is named: name at least one file of logged conversations")
    desk = load_store(store or USUAL_STORE)
    if desk.foreign:
        raise BadInput(f"--store {store}: the desks of tau2 have no articles to read a log by, so leave it out")
    for theirs, act in (tools or {}).items():
        if act not in ACTS and act not in desk.tools:
            every = ", ".join([*sorted(ACTS), *sorted(name for name, tool in desk.tools.items() if tool.write)])
            raise BadInput(f"there is no act {act!r:.40} for the tool {theirs!r:.40}: name one of {every}")
    reader = LogReader(logs, format, tools or {}, leave_out_bad)
    log = read_frame(reader, desk, has_store=store is not None)
    weeks = baseline_of(log, baseline)
    rows = watched_log(log, weeks)
    level_of(rows, false_alarms)
    return Monitored(reader, desk, log, weeks, rows, false_alarms)


def read_tool_acts(path: str | Path) -> dict[str, str]:
    """Read the act of each tool of a log from a YAML file, as in ``issueRefund: refund``.

    See ``docs/monitoring.md``. Raise `BadInput` for a file that is unreadable or no mapping of texts; `monitor` refuses
    unknown acts.
    """
    given = read_mapping(in_project(path))
    if not given:
        raise BadInput(f"{path} names no tool: give one line per tool, as in 'issueRefund: {REFUNDS}'")
    for theirs, act in given.items():
        if not isinstance(theirs, str) or not isinstance(act, str):
            mend = f"write the tool and one act, as in 'issueRefund: {REFUNDS}'"
            raise BadInput(f"{path}: {theirs!r:.40} is mapped to {act!r:.40}: {mend}")
    return given
