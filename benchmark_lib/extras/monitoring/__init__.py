"""Monitoring of production: measures without cases, counted by week in logs and compared with a baseline.

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
from .drift import (
    FALSE_ALARMS,
    Baseline,
    Watched,
    baseline_of,
    behind_table,
    drift_table,
    level_of,
    rule_in_words,
    watched,
    week_table,
)
from .logs import ACTS, READS, REFUNDS, LeftOut, LogFormat, read_logs
from .made_up import CHANGES, made_up_year, week_of, write_year
from .measures import absent
from .recovery import elsewhere_table, false_alarm_table, first_alarms, found_table
from .tally import Tally, tally

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
    """Results from a desk's logs; `false_alarms` is the chance of any false alarm in a year of weekly looks."""

    counted: Tally
    baseline: Baseline
    rows: list[Watched]
    false_alarms: float
    left_out: LeftOut
    of_files: list[str]

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
        return behind_table(self.counted, self.rows)

    @property
    def rule(self) -> str:
        """Return the rule of the alarms with its rate of false alarms."""
        return rule_in_words(self.rows, self.false_alarms)

    @property
    def absent(self) -> dict[str, list[str]]:
        """Return the titles of measures that these logs cannot give, by reason."""
        found: dict[str, list[str]] = {}
        for measure in self.counted.chosen:
            if reason := self.counted.why_absent(measure):
                found.setdefault(reason, []).append(measure.title)
        for title, reason in absent().items():
            found.setdefault(reason, []).append(title)
        return found

    @property
    def notes(self) -> list[str]:
        """Return notes on the logs, one sentence each."""
        c, n = self.counted, self.counted.conversations.total()
        quiet = c.silent_weeks()
        silent = f"Weeks without a tool call: {len(quiet)} (first: {quiet[0] if quiet else ''})"
        return [
            text
            for applies, text in (
                (c.unnamed, f"{c.unnamed:,} of {n:,} conversations have no id and are named by file and line."),
                (c.twice, f"Conversations left out because their id had come up before: {c.twice:,}."),
                (self.left_out.lines, f"Lines left out: {self.left_out.lines:,}; the first: {self.left_out.first}"),
                (c.unknown_tools, _unknown(c)),
                (c.unread, _unread(c)),
                (quiet, f"{silent}; what needs calls is not counted there."),
            )
            if applies
        ] + self.of_files


def _unread(c: Tally) -> str:
    titles = {m.name: m.title for m in c.chosen}
    named = ", ".join(f"{titles[name]} {n:,}" for name, n in c.unread.most_common())
    return (
        f"Conversations that could not be read, because a tool's result has a form that is not known: {named}. "
        "They count in no rate of that measure."
    )


def _unknown(c: Tally) -> str:
    most = c.unknown_tools.most_common(MOST_NAMED)
    named = ", ".join(f"{name!r} ({n:,} conversation{'s' * (n != 1)})" for name, n in most)
    more = f" and {len(c.unknown_tools) - len(most)} more" if len(c.unknown_tools) > len(most) else ""
    return (
        f"Tools that are not known: {named}{more}. Detectors that compare words with calls abstain in these "
        "conversations; "
        "say which act each tool is in a file (--tool-acts FILE), or with --tool hand_over_to_human=THEIRS, "
        f"--tool {REFUNDS}=THEIRS, "
        f"or --tool {READS}=THEIRS for one that changes nothing."
    )


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
    _check_tools(tools or {}, desk)
    left_out = LeftOut()
    how = LogFormat(format, dict(tools or {}), left_out if leave_out_bad else None)
    counted = tally(read_logs(dict.fromkeys(Path(log) for log in logs), how), desk, has_store=store is not None)
    span = baseline_of(counted, baseline)
    rows = watched(counted, span)
    level_of(rows, false_alarms)
    return Monitored(counted, span, rows, false_alarms, left_out, how.notes)


def _check_tools(tools: Mapping[str, str], desk: Store) -> None:
    for theirs, act in tools.items():
        if act not in ACTS and act not in desk.tools:
            every = ", ".join([*sorted(ACTS), *sorted(name for name, tool in desk.tools.items() if tool.write)])
            raise BadInput(f"there is no act {act!r:.40} for the tool {theirs!r:.40}: name one of {every}")


def read_tool_acts(path: str | Path) -> dict[str, str]:
    """Read the act of each tool of a log from a YAML file, one per line: ``issueRefund: refund``.

    See ``docs/monitoring.md``. Raise `BadInput` for a file that is unreadable or no mapping of texts; `monitor` refuses
    unknown acts.
    """
    found = in_project(path)
    given = read_mapping(found)
    if not given:
        raise BadInput(f"{path} names no tool: give one line per tool, as in 'issueRefund: {REFUNDS}'")
    for theirs, act in given.items():
        if not isinstance(theirs, str) or not isinstance(act, str):
            mend = f"write the tool and one act, as in 'issueRefund: {REFUNDS}'"
            raise BadInput(f"{path}: {theirs!r:.40} is mapped to {act!r:.40}: {mend}")
    return given
