"""Test of the alarms in made-up years: detection, delay, false alarms."""

from datetime import timedelta

import numpy as np
import pandas as pd

from .drift import BASELINE_WEEKS, FALSE_ALARMS, Watched, level_of, rate_columns, watched
from .made_up import CHANGES, FIRST_WEEK, HONEST, PER_WEEK, USUAL, WEEKS, Change, shares_by_week, text_values, texts
from .measures import measures

CHART_SIGMAS = 3
"""Standard deviations of the limits of a p-chart, the usual choice."""


def drawn_year(
    rng: np.random.Generator,
    *,
    changes: tuple[Change, ...] = CHANGES,
    per_week: int = PER_WEEK,
    unrest: float = 0.0,
) -> list[Watched]:
    """Draw the counts of one made-up year, equal to those read from its log.

    Parameters
    ----------
    changes : tuple of Change
        Planted changes; empty for a year without change.
    unrest : float
        Extra variation of each kind's share between weeks: standard deviation of its logarithm.
    """
    shares = shares_by_week(changes)
    if unrest:
        honest = (texts()["kind"] == HONEST).to_numpy()
        shares = shares * np.exp(rng.normal(-(unrest**2) / 2, unrest, shares.shape[:1])[:, None] * ~honest)
        shares /= shares.sum(axis=1, keepdims=True)
    drawn = np.array([rng.multinomial(rng.poisson(per_week), week) for week in shares])
    weeks = [(FIRST_WEEK + timedelta(weeks=n)).isoformat() for n in range(len(drawn))]
    return watched(measures(), text_values(), drawn, weeks, BASELINE_WEEKS)


def chart_alarm(one: Watched) -> int | None:
    """Return the first week outside a textbook p-chart's limits (Montgomery 2012, 7.2).

    Only the watched sides count.
    """
    base, n = one.pooled(None, one.base)
    if not n:
        return None
    share, ns = base / n, one.ns[one.base :]
    above = one.counts[one.base :] / np.maximum(ns, 1) - share
    reach = CHART_SIGMAS * np.sqrt(share * (1 - share) / np.maximum(ns, 1))
    out = np.any([side * above > reach for side in one.measure.sides], axis=0) & (ns > 0)
    return int(out.argmax()) if out.any() else None


def first_alarms(years: int, rng: np.random.Generator, **more) -> pd.DataFrame:
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
        counts = drawn_year(generator, **more)
        level = level_of(counts, FALSE_ALARMS)
        for one in counts:
            alarm = min((a.weeks[0] for a in one.alarms(level).values() if a.weeks), default=np.nan)
            chart = chart_alarm(one)
            first = (one.base + alarm, np.nan if chart is None else one.base + chart)
            rows.append((year, one.measure.name, one.measure.title, *first))
    return pd.DataFrame(rows, columns=["year", "measure", "title", "alarm", "chart"])


RULES = {"alarm": "this rule", "chart": "p-chart, 3 sigma"}


def false_alarm_table(alarms: pd.DataFrame) -> pd.DataFrame:
    """Count the years without change that had an alarm.

    Returns
    -------
    DataFrame
        One row per rule: rule, with_alarm, years, share with low and high (Wilson, 95%), alarms_per_year (measures
        with an alarm).
    """
    rows = []
    for rule, words in RULES.items():
        by_year = alarms.groupby("year")[rule].count()
        rate = rate_columns(int((by_year > 0).sum()), len(by_year))
        rows.append({"rule": words, **rate, "alarms_per_year": by_year.mean()})
    return pd.DataFrame(rows).rename(columns={"n": "years", "count": "with_alarm"})


def found_table(alarms: pd.DataFrame, changes: tuple[Change, ...] = CHANGES) -> pd.DataFrame:
    """Return how often each planted change was found, and how soon.

    Returns
    -------
    DataFrame
        One row per change: title, before, after, change_week, found (years whose first alarm came after it), years,
        share with low and high (Wilson), grows_over, too_soon (years with an alarm before it), weeks_median and
        weeks_90. The last two are weeks from the change to the end of the alarm's week, over all years; infinite if too
        few years found it.
    """
    rows = []
    for change in changes:
        own_alarms = alarms[alarms["measure"] == change.kind]
        week = own_alarms["alarm"]
        soon = int((week < change.week).sum())
        waits = (week[~(week < change.week)] - change.week + 1).fillna(np.inf)
        half, most = np.quantile(waits, (0.5, 0.9), method="inverted_cdf") if len(waits) else (np.nan, np.nan)
        title = own_alarms["title"].iloc[0] if len(own_alarms) else change.kind
        planted = {"before": USUAL[change.kind], "after": change.share, "change_week": change.week}
        rate = rate_columns(int((week >= change.week).sum()), len(own_alarms))
        waited = {"grows_over": change.over, "too_soon": soon, "weeks_median": half, "weeks_90": most}
        rows.append({"title": title, **planted, **rate, **waited})
    return pd.DataFrame(rows).rename(columns={"n": "years", "count": "found"})


def elsewhere_table(alarms: pd.DataFrame, changes: tuple[Change, ...] = CHANGES) -> pd.DataFrame:
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
    marked = rest.assign(gone=rest["alarm"].notna(), early=rest["alarm"] < first)
    counts = {"years": ("year", "size"), "with_alarm": ("gone", "sum"), "before_any": ("early", "sum")}
    return marked.groupby("title", sort=False).agg(**counts).reset_index()
