"""Test of the alarms in many made-up years, drawn as counts of texts: detection, delay, false alarms."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
import pandas as pd

from ...analysis.estimators.intervals import proportion_interval
from .alarms import MORE
from .drift import BASELINE_WEEKS, FALSE_ALARMS, HIGH, Watched, alarms_of, level_of
from .made_up import (
    CHANGES,
    FIRST_WEEK,
    HONEST,
    PER_WEEK,
    USUAL,
    WEEKS,
    Change,
    TextValues,
    shares_by_week,
    text_values,
    texts,
)

CHART_SIGMAS = 3
"""Standard deviations of the limits of a p-chart, the usual choice."""


def drawn_year(
    rng: np.random.Generator,
    *,
    changes: tuple[Change, ...] = CHANGES,
    per_week: int = PER_WEEK,
    baseline_weeks: int = BASELINE_WEEKS,
    unrest: float = 0.0,
) -> list[Watched]:
    """Draw the counts of one made-up year, equal to those from reading its log.

    Parameters
    ----------
    changes : tuple of Change
        Planted changes; empty for a year without change.
    unrest : float
        Extra variation of each kind's share between weeks: standard deviation of its logarithm.
    """
    read, shares = text_values(), shares_by_week(changes)
    if unrest:
        shares = shares * np.exp(rng.normal(-(unrest**2) / 2, unrest, shares.shape[:1])[:, None] * _not_honest())
        shares /= shares.sum(axis=1, keepdims=True)
    texts = np.array([rng.multinomial(rng.poisson(per_week), week) for week in shares])
    return watched_texts(read, texts, baseline_weeks)


def _not_honest() -> np.ndarray:
    return np.array([kind != HONEST for kind in texts().kinds], dtype=float)


def watched_texts(read: TextValues, texts: np.ndarray, baseline_weeks: int) -> list[Watched]:
    """Convert counts of texts, shape (weeks, texts), to counts of every measure."""
    weeks = tuple(FIRST_WEEK + timedelta(weeks=n) for n in range(baseline_weeks, len(texts)))
    found = []
    for at, measure in enumerate(read.measures):
        values = read.values[:, at]
        applies = np.isfinite(values)
        base = texts[:baseline_weeks].sum(axis=0)
        above = _exceeded(values, base * applies) if measure.number else 0
        counts, ns = texts @ (applies & (values > above)).astype(int), texts @ applies.astype(int)
        if ns.sum():
            b = baseline_weeks
            parts = (counts[b:], ns[b:], counts[:b], ns[:b])
            found.append(Watched(measure, above, weeks, *(tuple(map(int, part)) for part in parts)))
    return found


def _exceeded(values: np.ndarray, weights: np.ndarray) -> int:
    order = np.argsort(np.where(np.isfinite(values), values, np.inf))
    sums = np.cumsum(weights[order])
    return int(values[order[np.searchsorted(sums, HIGH * sums[-1])]])


def chart_alarm(one: Watched) -> int | None:
    """Return the first week outside a textbook p-chart's limits (Montgomery 2012, 7.2), on the watched sides."""
    base, n = sum(one.base_counts), sum(one.base_ns)
    if not n:
        return None
    share, ns = base / n, np.maximum(one.ns, 1)
    reach = CHART_SIGMAS * np.sqrt(share * (1 - share) / ns)
    rates = np.asarray(one.counts) / ns
    out = np.zeros(len(ns), dtype=bool)
    for side in one.measure.sides:
        out |= rates > share + reach if side == MORE else rates < share - reach
    out &= np.asarray(one.ns) > 0
    return int(out.argmax()) if out.any() else None


def first_alarms(years: int, rng: np.random.Generator, *, false_alarms: float = FALSE_ALARMS, **more) -> pd.DataFrame:
    """Return the first alarm of each measure in many made-up years.

    Parameters
    ----------
    **more
        As for `drawn_year`.

    Returns
    -------
    DataFrame
        One row per year and measure: year, measure, title, alarm and chart (week of the year, from 0, of the first
        alarm of this rule and of a p-chart; NaN without one).
    """
    rows = []
    for year, generator in enumerate(rng.spawn(years)):
        counted = drawn_year(generator, **more)
        level = level_of(counted, false_alarms)
        for one in counted:
            weeks = [a.first for a in alarms_of(one, level).values() if a.first is not None]
            begun = len(one.base_ns)
            chart = chart_alarm(one)
            alarm = begun + min(weeks) if weeks else np.nan
            rows.append((year, one.measure.name, one.measure.title, alarm, np.nan if chart is None else begun + chart))
    return pd.DataFrame(rows, columns=["year", "measure", "title", "alarm", "chart"])


def false_alarm_table(alarms: pd.DataFrame, rules: Sequence[str] = ("alarm", "chart")) -> pd.DataFrame:
    """Count the years without change that had an alarm.

    Returns
    -------
    DataFrame
        One row per rule: rule, years, with_alarm, share with low and high (Wilson, 95 %), alarms_per_year (measures
        with an alarm).
    """
    rows = []
    for rule in rules:
        by_year = alarms.groupby("year")[rule].count()
        n, hit = len(by_year), int((by_year > 0).sum())
        rate = proportion_interval(hit, n)
        rows.append((RULES[rule], n, hit, rate.estimate, rate.low, rate.high, float(by_year.mean())))
    return pd.DataFrame(rows, columns=["rule", "years", "with_alarm", "share", "low", "high", "alarms_per_year"])


RULES = {"alarm": "this rule", "chart": "p-chart, 3 sigma"}


def found_table(alarms: pd.DataFrame, changes: tuple[Change, ...] = CHANGES, rule: str = "alarm") -> pd.DataFrame:
    """Return how often each planted change was found, and how soon.

    Returns
    -------
    DataFrame
        One row per change: title, before, after, change_week, grows_over, years, too_soon (an alarm before the change),
        found (the first alarm after it), share with low and high (Wilson, of all years), weeks_median and weeks_90. The
        last two are weeks from the change to the end of the alarm's week, over all years; infinite if too few years
        found it.
    """
    rows = []
    for change in changes:
        mine = alarms[alarms["measure"] == change.kind]
        week, n = mine[rule], len(mine)
        found, soon = int((week >= change.week).sum()), int((week < change.week).sum())
        waits = np.sort((week[~(week < change.week)] - change.week + 1).fillna(np.inf).to_numpy())
        rate = proportion_interval(found, n)
        half, most = (float(waits[int(np.ceil(q * len(waits))) - 1]) if len(waits) else np.nan for q in (0.5, 0.9))
        title = mine["title"].iloc[0] if n else change.kind
        numbers = (USUAL[change.kind], change.share, change.week, change.over, n, soon, found)
        rows.append((title, *numbers, rate.estimate, rate.low, rate.high, half, most))
    return pd.DataFrame(rows, columns=FOUND_COLUMNS)


FOUND_COLUMNS = [
    *("title", "before", "after", "change_week", "grows_over", "years", "too_soon", "found", "share", "low", "high"),
    *("weeks_median", "weeks_90"),
]


def elsewhere_table(alarms: pd.DataFrame, changes: tuple[Change, ...] = CHANGES, rule: str = "alarm") -> pd.DataFrame:
    """Return alarms of measures without a planted change.

    In a year with planted changes they may still be true: texts of a planted kind are also shorter, or have fewer
    calls.

    Returns
    -------
    DataFrame
        One row per measure: title, years, with_alarm, before_any (alarms before the first planted change, which are
        false).
    """
    first = min((change.week for change in changes), default=WEEKS)
    rest = alarms[~alarms["measure"].isin([change.kind for change in changes])]
    marked = rest.assign(gone=rest[rule].notna(), early=rest[rule] < first)
    counts = {"years": ("year", "size"), "with_alarm": ("gone", "sum"), "before_any": ("early", "sum")}
    return marked.groupby("title", sort=False).agg(**counts).reset_index()
