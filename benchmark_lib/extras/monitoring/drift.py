"""Weekly counts as rates with intervals, changes from the baseline, and alarms."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from ...analysis.cell import interval
from ...analysis.estimators.intervals import proportion_interval
from ...errors import BadInput
from ...scoring.written import counted
from ...store import Store
from ..claims import DETECTORS
from .alarms import FEWER, LOOKS, MORE, WINDOWS, RateAlarms, dispersion_allowed, rate_alarms, rate_change, weekly_needed
from .logs import LogReader
from .measures import TEXTS, LogFrame, Measure, measures

BASELINE_WEEKS = 13
"""Default length of the baseline in weeks: a quarter of a year, but at most half of a short log."""
RECENT = 4
"""Number of weeks that the table of drift compares with the baseline."""
FALSE_ALARMS = 0.05
"""Chance of any false alarm, across all measures, in a year of weekly looks."""
RISE = 0.1
"""Share of a new fault for which the number of conversations needed is given."""
HIGH = 0.9
"""Share of the baseline's conversations that do not exceed a number's threshold."""
MOST_NAMED = 6
"""Maximum number of unknown tools named in a note."""
MOST_BEHIND = 50
"""Maximum number of conversations listed per measure and week."""
_SPAN = re.compile(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)")


def sunday(week: str) -> date:
    """Return the last day of a week."""
    return date.fromisoformat(week) + timedelta(days=6)


def baseline_of(log: LogFrame, span: str | None = None, left_out: int = 0) -> list[str]:
    """Return the whole weeks in `span` (``FROM..TO``), or the default baseline.

    `left_out` lines of the log were not read. Raise `BadInput` if the weeks cannot be compared with later weeks.
    """
    weeks, refused = log.weeks, TEXTS["refused"]
    if span is None:
        if len(weeks) < 2:
            out = refused["left_out"].format(twice=log.twice, left_out=left_out) if log.twice or left_out else ""
            raise BadInput(refused["single_week"].format(out=out))
        return weeks[: min(BASELINE_WEEKS, len(weeks) // 2)]
    days = _SPAN.fullmatch(span)
    try:
        first, last = map(date.fromisoformat, days.groups() if days else ())
    except ValueError:
        first, last = date.max, date.min
    if first > last:
        raise BadInput(refused["span"].format(span=span[:40]))
    within = [week for week in weeks if first <= date.fromisoformat(week) and sunday(week) <= last]
    if log.rows["week"].isin(within).sum() == 0:
        raise BadInput(refused["no_week"].format(span=span, first=weeks[0], last=sunday(weeks[-1])))
    if within[-1] == weeks[-1]:
        raise BadInput(refused["nothing_left"].format(span=span, last=weeks[-1]))
    return within


@dataclass(frozen=True)
class Watched:
    """Weekly counts of one measure; the first `base` weeks are the baseline."""

    measure: Measure
    above: int
    """Threshold of a number: larger values are positive. It is 0 for yes-or-no measures."""
    counts: np.ndarray
    ns: np.ndarray
    """Positive conversations of each week, and all to which the measure applies."""
    base: int

    @property
    def title(self) -> str:
        """The title of the measure; for a number, with its threshold."""
        return f"{self.measure.title} (over {self.above})" if self.measure.number else self.measure.title

    @property
    def dispersion(self) -> float:
        """The divisor of the counts in the test for alarms."""
        return dispersion_allowed(self.counts[: self.base], self.ns[: self.base])

    def pooled(self, first: int | None, last: int | None) -> tuple[int, int]:
        """Return the pooled counts of some weeks."""
        return int(self.counts[first:last].sum()), int(self.ns[first:last].sum())

    def alarms(self, level: float) -> dict[int, RateAlarms]:
        """Return the results of every weekly look, by side."""
        counts = (*self.pooled(None, self.base), self.counts[self.base :], self.ns[self.base :])
        dispersion = self.dispersion
        return {s: rate_alarms(*counts, level=level, side=s, dispersion=dispersion) for s in self.measure.sides}

    def is_deaf(self, level: float) -> bool:
        """Return whether no alarm is possible, whatever the watched conversations show."""
        seen = np.arange(len(self.ns)) >= self.base
        extremes = (replace(self, counts=np.where(seen, most, self.counts)) for most in (self.ns, 0))
        return not any(look.weeks for extreme in extremes for look in extreme.alarms(level).values())


def watched(chosen: Iterable[Measure], values: pd.DataFrame, by_week: Any, base: int) -> list[Watched]:
    """Count every measure over the conversations to which it applies.

    `values` has a column for each measure, with NaN where it does not apply. `by_week`, an array (sparse or not) of
    shape (weeks, rows), says how often each row occurs in each week. The first `base` weeks are the baseline.
    """
    weights = np.asarray(by_week[:base].sum(axis=0)).ravel()
    series = []
    for measure in chosen:
        column = values[measure.name].to_numpy(float)
        applies = np.isfinite(column)
        above, weighed = 0, weights[applies]
        if measure.number and weighed.any():
            above = int(np.quantile(column[applies], HIGH, weights=weighed, method="inverted_cdf"))
        counts, ns = (by_week @ which.astype(int) for which in (applies & (column > above), applies))
        if ns.any():
            series.append(Watched(measure, above, counts, ns, base))
    return series


def rate_columns(count: int, n: int, name: str = "") -> dict[str, Any]:
    """Return a share with its counts and Wilson interval, in columns that begin with `name`."""
    before = f"{name}_" if name else ""
    rate = interval(proportion_interval(count, n), name or "share", before)
    return {f"{before}count": count, f"{before}n": n, **rate}


def level_of(rows: list[Watched], false_alarms: float) -> float:
    """Return the chance of a false alarm per measure and side."""
    return false_alarms / max(sum(len(one.measure.sides) for one in rows), 1)


@dataclass(frozen=True)
class Monitored:
    """Results from a desk's logs; the logs can be read again."""

    logs: LogReader
    store: Store
    log: LogFrame
    baseline: list[str]
    """Mondays of the baseline's weeks."""
    false_alarms: float
    """Chance of any false alarm, across all measures, in a year of weekly looks."""

    @cached_property
    def mondays(self) -> list[str]:
        """Return every Monday from the start of the baseline to the newest week."""
        return [week for week in self.log.weeks if week >= self.baseline[0]]

    @cached_property
    def rows(self) -> list[Watched]:
        """Return the weekly counts of every measure that the log can give, from the baseline on."""
        rows = self.log.rows[self.log.rows["week"] >= self.baseline[0]]
        place = pd.Index(self.mondays).get_indexer(rows["week"]), np.arange(len(rows))
        by_week = csr_array((np.ones(len(rows), dtype=int), place), shape=(len(self.mondays), len(rows)))
        return watched(self.log.chosen, rows, by_week, len(self.baseline))

    @cached_property
    def level(self) -> float:
        """Return the chance of a false alarm per measure and side."""
        return level_of(self.rows, self.false_alarms)

    @cached_property
    def weeks(self) -> pd.DataFrame:
        """Return every measure in every week.

        One row per measure and week: measure, title, week (its Monday), part (baseline or watched), count, n, and share
        with low and high (Wilson, 95%).
        """
        rows = []
        for one in self.rows:
            for at, (week, count, n) in enumerate(zip(self.mondays, one.counts, one.ns, strict=True)):
                part = "baseline" if at < one.base else "watched"
                about = {"measure": one.measure.name, "title": one.title, "week": week, "part": part}
                rows.append(about | rate_columns(int(count), int(n)))
        return pd.DataFrame(rows)

    @property
    def recent(self) -> int:
        """Return how many weeks the table of drift pools: four, or all of fewer."""
        return min(RECENT, len(self.mondays) - len(self.baseline))

    @cached_property
    def deaf(self) -> list[str]:
        """Return the titles of measures with too few conversations for any alarm."""
        return [one.title for one in self.rows if one.is_deaf(self.level)]

    @property
    def power(self) -> str:
        """Return how many conversations a week an alarm needs, and which measures have too few."""
        base = len(self.baseline)
        needed = weekly_needed(base, RISE, RECENT, level=self.level)
        counts = {"needed": needed, "now": int(self.log.rows.groupby("week").size().median())}
        told = str(TEXTS["power"]).format(share=100 * RISE, weeks=RECENT, base=counted(base, "week"), **counts)
        return told + str(TEXTS["deaf"]).format(titles=", ".join(self.deaf)) * bool(self.deaf)

    @cached_property
    def drift(self) -> pd.DataFrame:
        """Return the last four weeks (or all of fewer) compared with the baseline, and the alarms.

        One row per measure, those with an alarm first: measure, title, definition; base_count, base_n, base with
        base_low and base_high (Wilson); last_count, last_n, last (the newest week) with last_low and last_high;
        recent_count, recent_n, recent (the last four weeks) with recent_low and recent_high; change with change_low and
        change_high (Newcombe, not adjusted); dispersion (divisor of the counts in the test for alarms); alarm (Monday
        of the first week with an alarm, or empty); alarm_side (more or fewer), alarm_window (weeks pooled), alarms
        (number of weeks with an alarm); on (whether the newest week has an alarm); p (smallest p-value of the newest
        look), limit, reason.
        """
        return pd.DataFrame(sorted(map(self._drift, self.rows), key=lambda row: row["alarm"] or "9999"))

    def _drift(self, one: Watched) -> dict[str, Any]:
        base, recent, looks = one.pooled(None, one.base), one.pooled(-self.recent, None), one.alarms(self.level)
        change = rate_change(*base, *recent)
        side = min((s for s, a in looks.items() if a.weeks), key=lambda s: looks[s].weeks[0], default=MORE)
        first = looks[side]
        p = min(float(look.p[-1].min()) for look in looks.values())
        return {
            **{"measure": one.measure.name, "title": one.title, "definition": one.measure.definition},
            **rate_columns(*base, "base"),
            **rate_columns(*one.pooled(-1, None), "last"),
            **rate_columns(*recent, "recent"),
            **interval(change, "change", "change_"),
            "dispersion": one.dispersion,
            "alarm": self.mondays[one.base + first.weeks[0]] if first.weeks else "",
            "alarm_side": {MORE: "more", FEWER: "fewer"}[side] if first.weeks else "",
            "alarm_window": first.window or 0,
            "alarms": len(first.weeks),
            "on": p <= first.limit,
            "p": p,
            "limit": first.limit,
            "reason": change.reason,
        }

    @cached_property
    def behind(self) -> pd.DataFrame:
        """Return the conversations behind each number, by name and place, without their words.

        One row per measure, week and conversation, at most 50 per measure and week, the highest values first: measure,
        title, week, value, conversation, place (file and line), link.
        """
        parts, log = [], self.log.rows
        for one in self.rows:
            name = one.measure.name
            rows = log[log[name] > one.above].sort_values(["week", name], ascending=[True, False], kind="stable")
            rows = rows.groupby("week").head(MOST_BEHIND).rename(columns={"name": "conversation", name: "value"})
            rows = rows.assign(measure=name, title=one.title, value=rows["value"].astype(int))
            parts.append(rows[["measure", "title", "week", "value", "conversation", "place", "link"]])
        return pd.concat(parts, ignore_index=True)

    @property
    def rule(self) -> str:
        """Return the rule for alarms with its rate of false alarms."""
        limit = self.level / (LOOKS * len(WINDOWS))
        numbers = {"tests": sum(len(one.measure.sides) for one in self.rows), "measures": len(self.rows)}
        chance = {"chance": self.false_alarms, "percent": 100 * self.false_alarms}
        return str(TEXTS["rule"]).format(limit=limit, looks=LOOKS, windows=len(WINDOWS), **numbers, **chance)

    @property
    def absent(self) -> dict[str, list[str]]:
        """Return the titles of measures that these logs cannot give, by reason."""
        titles: dict[str, list[str]] = {}
        given = {one.measure.name for one in self.rows}
        for measure in measures():
            if measure.name not in given:
                why = str(TEXTS["absent"][self.log.why_absent(measure)]).format(counts=measure.definition.rstrip("."))
                titles.setdefault(why, []).append(measure.title)
        rest = [d.title for d in DETECTORS.values() if d.name not in TEXTS["measures"]]
        return {**titles, TEXTS["absent"]["case"]: [*rest, *TEXTS["scores"]]}

    @property
    def notes(self) -> list[str]:
        """Return notes on the logs, one sentence each."""
        log, called = self.log, self.log.rows.groupby("week")["calls"].any()
        quiet = list(called.index[~called]) if called.any() else []
        titles = {m.name: m.title for m in log.chosen}
        most = [f"{t!r} ({n:,} conversation{'s' * (n != 1)})" for t, n in log.unknown_tools.most_common(MOST_NAMED)]
        more = len(log.unknown_tools) - len(most)
        facts = {
            "unnamed": int((~log.rows["named"]).sum()),
            "twice": log.twice,
            "left_out": self.logs.left_out,
            "uncalled": ", ".join(map(repr, sorted(self.logs.tools.keys() - self.logs.called))),
            "unknown": ", ".join(most) + f" and {more} more" * (more > 0),
            "unread": ", ".join(f"{titles[name]} {n:,}" for name, n in log.unread.most_common()),
            "silent": len(quiet),
        }
        more_facts = {"n": len(log.rows), "first": self.logs.first_left_out, "first_silent": quiet[0] if quiet else ""}
        notes = [TEXTS["notes"][name].format(**facts, **more_facts) for name, applies in facts.items() if applies]
        return notes + self.logs.notes
