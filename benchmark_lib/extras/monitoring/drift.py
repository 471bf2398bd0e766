"""Weekly counts to rates with intervals, drift from the baseline, and alarms."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import nan
from typing import Any

import pandas as pd

from ...analysis.estimators.intervals import proportion_interval
from ...errors import BadInput
from .alarms import LOOKS, MORE, WINDOWS, RateAlarms, dispersion_allowed, rate_alarms, rate_change
from .measures import Measure
from .tally import Tally

BASELINE_WEEKS = 13
"""Default weeks of the baseline: the first quarter of a year, but at most half of a short log."""
RECENT = 4
"""Weeks compared with the baseline in the table of drift."""
FALSE_ALARMS = 0.05
"""Chance of any false alarm, over all measures, in a year of weekly looks."""
HIGH = 0.9
"""Share of the baseline's conversations that do not exceed the threshold of a number."""
_SPAN = re.compile(r"(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)")


@dataclass(frozen=True)
class Baseline:
    """The weeks for comparison: the Mondays of the first and the last."""

    first: date
    last: date

    def holds(self, week: date) -> bool:
        """Return whether a week is in the baseline."""
        return self.first <= week <= self.last

    @property
    def words(self) -> str:
        """Return ``2025-01-06 to 2025-04-06``, including the last day."""
        return f"{self.first} to {self.last + timedelta(days=6)}"


def baseline_of(counted: Tally, span: str | None = None) -> Baseline:
    """Return the whole weeks of `span` (``FROM..TO``), or the default baseline; raise `BadInput` if it is unusable."""
    weeks = counted.weeks
    if span is None:
        if len(weeks) < 2:
            raise BadInput("the log covers a single week: a comparison needs at least two, so give a longer log")
        chosen = weeks[: min(BASELINE_WEEKS, len(weeks) // 2)]
        return Baseline(chosen[0], chosen[-1])
    found = _SPAN.fullmatch(span)
    try:
        first, last = (date.fromisoformat(day) for day in found.groups()) if found else (None, None)
    except ValueError:
        first = last = None
    if first is None or last is None or first > last:
        raise BadInput(f"--baseline {span[:40]!r} is not a span of days: write it as 2026-01-05..2026-03-29")
    within = [week for week in weeks if first <= week and week + timedelta(days=6) <= last]
    if not any(counted.conversations[week] for week in within):
        covers = f"the log covers {weeks[0]} to {weeks[-1] + timedelta(days=6)}"
        raise BadInput(f"no whole week (Monday to Sunday) with a conversation lies in {span}: {covers}")
    if within[-1] == weeks[-1]:
        raise BadInput(f"nothing is left to watch after the baseline {span}: end it before {weeks[-1]}")
    return Baseline(within[0], within[-1])


@dataclass(frozen=True)
class Watched:
    """The counts of one measure: those of the baseline's weeks, and those of each watched week, in order."""

    measure: Measure
    above: int
    weeks: tuple[date, ...]
    counts: tuple[int, ...]
    ns: tuple[int, ...]
    base_counts: tuple[int, ...]
    base_ns: tuple[int, ...]


def watched(counted: Tally, baseline: Baseline) -> list[Watched]:
    """Count every measure that the log can give."""
    weeks = [week for week in counted.weeks if week >= baseline.first]
    base, later = [w for w in weeks if baseline.holds(w)], [w for w in weeks if w > baseline.last]
    found = []
    for measure in counted.chosen:
        if counted.why_absent(measure):
            continue
        above = _high(counted, measure, base) if measure.number else 0
        pairs = [_pair(counted, measure, week, above) for week in (*base, *later)]
        counts, ns = zip(*pairs, strict=True)
        at = len(base)
        found.append(Watched(measure, above, tuple(later), counts[at:], ns[at:], counts[:at], ns[:at]))
    return found


def _pair(counted: Tally, measure: Measure, week: date, above: int) -> tuple[int, int]:
    """Return the positive conversations of a week, and their total number."""
    if not counted.known(measure, week):
        return 0, 0
    values: Mapping[int, int] = counted.values.get((week, measure.name), {})
    return sum(n for value, n in values.items() if value > above), sum(values.values())


def _high(counted: Tally, measure: Measure, weeks: list[date]) -> int:
    """Return the smallest number that at most one in ten conversations of the baseline exceeds."""
    values = sorted(
        (v, n) for w in weeks if counted.known(measure, w) for v, n in counted.values.get((w, measure.name), {}).items()
    )
    total, below = sum(n for _, n in values), 0
    for value, n in values:
        below += n
        if below >= HIGH * total:
            return value
    return 0


def week_table(rows: list[Watched]) -> pd.DataFrame:
    """Return every measure in every week.

    Returns
    -------
    DataFrame
        One row per measure and week: measure, title, week (its Monday), part (baseline or watched), count, n, share
        with low and high (Wilson, 95 %).
    """
    found = []
    for one in rows:
        first = one.weeks[0] - timedelta(weeks=len(one.base_ns))
        counts, ns = (*one.base_counts, *one.counts), (*one.base_ns, *one.ns)
        for number, (count, n) in enumerate(zip(counts, ns, strict=True)):
            rate = proportion_interval(count, n)
            part = "baseline" if number < len(one.base_ns) else "watched"
            week = first + timedelta(weeks=number)
            shown = (one.measure.name, title_of(one), week.isoformat(), part, count, n)
            found.append((*shown, rate.estimate, rate.low, rate.high))
    return pd.DataFrame(found, columns=WEEK_COLUMNS)


WEEK_COLUMNS = ["measure", "title", "week", "part", "count", "n", "share", "low", "high"]


def title_of(one: Watched) -> str:
    """Return the title of a measure, with the threshold of a number."""
    return f"{one.measure.title} (over {one.above})" if one.measure.number else one.measure.title


def alarms_of(one: Watched, level: float) -> dict[int, RateAlarms]:
    """Return the results of every look, by side."""
    spread = dispersion_allowed(one.base_counts, one.base_ns)
    return {
        side: rate_alarms(
            sum(one.base_counts), sum(one.base_ns), one.counts, one.ns, level=level, side=side, dispersion=spread
        )
        for side in one.measure.sides
    }


def level_of(rows: list[Watched], false_alarms: float) -> float:
    """Return the chance of a false alarm per measure and side; raise `BadInput` for one outside 0 to 1."""
    if not 0 < false_alarms < 1:
        raise BadInput(f"the chance of a false alarm is {false_alarms!r}: give a number between 0 and 1, such as 0.05")
    return false_alarms / max(sum(len(one.measure.sides) for one in rows), 1)


def rule_in_words(rows: list[Watched], false_alarms: float) -> str:
    """Describe the rule of the alarms, with its rate of false alarms."""
    tests = sum(len(one.measure.sides) for one in rows)
    limit = level_of(rows, false_alarms) / (LOOKS * len(WINDOWS))
    return (
        f"An alarm is raised where the last 1, 4 or 13 weeks differ from the baseline with p <= {limit:.2g} "
        "(Fisher's exact test, one-sided): "
        f"{false_alarms:g} shared among {LOOKS} weekly looks, {len(WINDOWS)} windows and {tests} tests of "
        f"{len(rows)} measures (Bonferroni). "
        "If nothing changes, the chance of any false alarm in a year of weekly looks is at most "
        f"{100 * false_alarms:g} %, provided that conversations are "
        "independent; where the weeks of the baseline vary more than chance, counts are divided by an upper "
        "bound of how much more."
    )


def drift_table(rows: list[Watched], *, false_alarms: float = FALSE_ALARMS) -> pd.DataFrame:
    """Compare the last four weeks with the baseline, and list the alarms.

    Parameters
    ----------
    false_alarms : float
        Chance of any false alarm over all measures in a year of weekly looks.

    Returns
    -------
    DataFrame
        One row per measure, those with an alarm first: measure, title, definition; base_count, base_n, base with
        base_low and base_high (Wilson); last_count, last_n, last (the newest week) with last_low and last_high;
        recent_count, recent_n, recent (the last four weeks) with recent_low and recent_high; change with change_low and
        change_high (Newcombe, not adjusted); dispersion (divisor of the counts for the alarms); alarm (Monday of the
        first week with an alarm, or empty), alarm_side (more or fewer), alarm_window (weeks pooled), alarms (number of
        weeks with an alarm), on (whether the newest week has an alarm), p (the smallest of the newest look), limit,
        reason.
    """
    level = level_of(rows, false_alarms)
    found = [_drift(one, level) for one in rows]
    found.sort(key=lambda row: row["alarm"] or "9999")
    return pd.DataFrame(found)


def _drift(one: Watched, level: float) -> dict[str, Any]:
    base, n = sum(one.base_counts), sum(one.base_ns)
    recent, size = sum(one.counts[-RECENT:]), sum(one.ns[-RECENT:])
    change = rate_change(base, n, recent, size)
    return {
        "measure": one.measure.name,
        "title": title_of(one),
        "definition": one.measure.definition,
        **_rate("base", base, n),
        **_rate("last", one.counts[-1], one.ns[-1]),
        **_rate("recent", recent, size),
        **{"change": change.estimate, "change_low": change.low, "change_high": change.high},
        "dispersion": dispersion_allowed(one.base_counts, one.base_ns),
        **_alarm(one, level),
        "reason": change.reason,
    }


def _rate(name: str, count: int, n: int) -> dict[str, Any]:
    rate = proportion_interval(count, n)
    counts = {f"{name}_count": count, f"{name}_n": n}
    return counts | {name: rate.estimate, f"{name}_low": rate.low, f"{name}_high": rate.high}


def _alarm(one: Watched, level: float) -> dict[str, Any]:
    by_side = alarms_of(one, level)
    gone_off = {side: a for side, a in by_side.items() if a.first is not None}
    side = min(gone_off, key=lambda s: gone_off[s].weeks[0], default=None)
    newest = min(float(a.p[-1].min()) for a in by_side.values()) if one.weeks else nan
    limit = next(iter(by_side.values())).limit
    if side is None:
        told = {"alarm": "", "alarm_side": "", "alarm_window": 0, "alarms": 0, "on": False}
    else:
        a = gone_off[side]
        told = {
            "alarm": one.weeks[a.weeks[0]].isoformat(),
            "alarm_side": "more" if side == MORE else "fewer",
            "alarm_window": a.window,
            "alarms": len(a.weeks),
            "on": any(len(one.weeks) - 1 in alarm.weeks for alarm in gone_off.values()),
        }
    return {**told, "p": newest, "limit": limit}


def behind_table(counted: Tally, rows: list[Watched]) -> pd.DataFrame:
    """Return the conversations of each number, by name and place, without their words.

    Returns
    -------
    DataFrame
        One row per measure, week and conversation: measure, title, week, value, conversation, place (file and line),
        link. At most 50 per measure and week, the highest values first.
    """
    found = []
    for one in rows:
        for week in counted.weeks:
            kept = counted.behind.get((week, one.measure.name), ())
            for b in sorted((b for b in kept if b.value > one.above), key=lambda b: (-b.value, b.place)):
                which = (one.measure.name, title_of(one), week.isoformat())
                found.append((*which, b.value, b.name, b.place, b.link or ""))
    return pd.DataFrame(found, columns=["measure", "title", "week", "value", "conversation", "place", "link"])
