"""The panel whose true rates are known.

What was recorded of it next to the truth, and how often the intervals contain it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from ...experiment.known_panel import TRUTHS, true_correlation
from ...scoring.metrics import METRICS
from ..estimators.comparisons import paired_difference
from ..estimators.correlations import correlation
from ..estimators.intervals import proportion_interval
from ..estimators.passk import pass_hat_k_interval
from ..panels import conversations_of
from .headlines import ESTIMATORS, case_matrix, headline
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

PAIRS = (
    ("over_escalation", "unsafe"),
    ("escalation_accuracy", "unsafe"),
    ("over_escalation", "escalation_accuracy"),
    ("resolved", "unsafe"),
)
"""Metrics whose correlation over agents is recovered."""

PASS_K = 3


def recovered_rates(panel: pd.DataFrame, results: Results | pd.DataFrame) -> pd.DataFrame:
    """What was recorded of every agent, next to what is true.

    Returns
    -------
    DataFrame
        One row per agent and interval: entry, metric, interval, truth, estimate, low, high, holds, and z, the recorded
        mean minus the truth in units of the exact binomial standard deviation (NaN where that is 0, and for pass^k,
        which needs 3 trials).
    """
    frame = conversations_of(results)
    rows = [
        row for agent in panel.to_dict("records") for row in _of_agent(agent, frame[frame["entry"] == agent["model"]])
    ]
    table = framed(rows, "entry metric interval truth estimate low high z")
    return table.assign(holds=table["truth"].between(table["low"], table["high"]))


def _of_agent(agent: dict[str, Any], mine: pd.DataFrame) -> Iterator[tuple]:
    for metric in TRUTHS:
        truth, (values, _, intents) = agent[f"true_{metric}"], case_matrix(mine, metric)
        seen = ~np.isnan(values)
        found = headline(mine, metric)
        mean, scale = found.mean, METRICS[metric].scale.factor(found.n)
        z = _z(mean.estimate / scale, truth / scale, int(seen.sum())) if found.n else nan
        interval = "these traps" if found.like_these else "mean"
        yield agent["model"], metric, interval, truth, mean.estimate, mean.low, mean.high, z
        if found.like_these:
            fresh = found.like_these
            yield agent["model"], metric, "traps like these", truth, mean.estimate, fresh.low, fresh.high, nan
        if metric == "resolved" and seen.sum(axis=1).max(initial=0) >= PASS_K:
            again = pass_hat_k_interval(np.nansum(values, axis=1), seen.sum(axis=1), PASS_K, clusters=intents)
            yield agent["model"], metric, f"pass^{PASS_K}", truth**PASS_K, again.estimate, again.low, again.high, nan


def _z(mean: float, truth: float, n: int) -> float:
    spread = sqrt(truth * (1 - truth) / n) if n else 0.0
    return (mean - truth) / spread if spread else nan


def recovered_differences(panel: pd.DataFrame, results: Results | pd.DataFrame) -> pd.DataFrame:
    """Neighbours in the panel compared in pairs: the true difference, and whether the conservative interval contains it.

    Returns
    -------
    DataFrame
        One row per disjoint pair and metric: a, b, metric, truth, estimate, low, high, p, holds.
    """
    frame = conversations_of(results)
    of = {entry: rows for entry, rows in frame.groupby("entry")}
    agents, rows = panel.to_dict("records"), []
    for a, b in zip(agents[::2], agents[1::2]):
        for metric in ("over_escalation", "resolved", "unsafe"):
            (x, _, intents), (y, _, _) = (case_matrix(of[agent["model"]], metric) for agent in (a, b))
            chosen = METRICS[metric]
            scale, clusters = chosen.scale.factor(len(x)), ESTIMATORS[chosen.estimator].clusters(intents)
            found = paired_difference(np.nanmean(x, axis=1), np.nanmean(y, axis=1), clusters=clusters)
            truth = a[f"true_{metric}"] - b[f"true_{metric}"]
            numbers = (scale * v for v in (found.estimate, found.low, found.high))
            rows.append((a["model"], b["model"], metric, truth, *numbers, found.p))
    table = framed(rows, "a b metric truth estimate low high p")
    return table.assign(holds=table["truth"].between(table["low"], table["high"]))


def intervals_held(rates: pd.DataFrame) -> pd.DataFrame:
    """How often each kind of interval holds the true rate.

    `rates` is as `recovered_rates` gives it.

    Returns
    -------
    DataFrame
        One row per metric and interval: title, interval, agents (number), held (share).
    """
    named = rates.assign(title=[METRICS[name].title for name in rates["metric"]])
    return named.groupby(["title", "interval"], as_index=False, sort=False).agg(
        agents=("holds", "size"), held=("holds", "mean")
    )


def recovered_correlations(panel: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """Correlations of recorded metrics over the agents of a panel, next to those of their true rates.

    `rates` is as `recovered_rates` gives it.

    Returns
    -------
    DataFrame
        One row per pair of `PAIRS`: truth (over all agents such a panel is drawn from), panel_truth (over the true
        rates of these agents), estimate, low, high, p, holds (of truth), holds_panel.
    """
    plain = rates[rates["interval"].isin(["mean", "these traps"])]
    recorded = plain.pivot(index="entry", columns="metric", values="estimate").reindex(panel["model"])
    rows = []
    for one, other in PAIRS:
        found = correlation(recorded[one], recorded[other], n_resamples=4_000)
        exact = correlation(panel[f"true_{one}"], panel[f"true_{other}"], n_resamples=10)
        name = f"{METRICS[one].title} and {METRICS[other].title.lower()}"
        truths = (true_correlation(one, other), exact.estimate)
        rows.append((name, *truths, found.estimate, found.low, found.high, found.p))
    table = framed(rows, "pair truth panel_truth estimate low high p")
    within = {name: table[name].between(table["low"], table["high"]) for name in ("truth", "panel_truth")}
    return table.assign(holds=within["truth"], holds_panel=within["panel_truth"])


def coverage(table: pd.DataFrame, by: list[str], *, nominal: float = 0.95) -> pd.DataFrame:
    """How often intervals contained the truth, compared with how often they should.

    Parameters
    ----------
    table : DataFrame
        With a column `holds` and, optionally, `z`.
    by : list of str
        Columns that name a kind of interval.
    nominal : float
        Level of the intervals.

    Returns
    -------
    DataFrame
        `by`, intervals, held, share with its Wilson interval (low, high), p_too_few (exact binomial chance of at most
        as many, if each held with probability `nominal`), bias (mean z) and scatter (mean z squared; 1 where the
        recorded rates scatter as they should).
    """
    import pandas as pd
    from scipy.stats import binom

    rows = []
    for key, group in table.groupby(by, sort=False):
        held, n = int(group["holds"].sum()), len(group)
        share = proportion_interval(held, n)
        z = group["z"].dropna() if "z" in group else pd.Series(dtype=float)
        bias, scatter = (float(z.mean()), float((z**2).mean())) if len(z) else (nan, nan)
        chance = float(binom.cdf(held, n, nominal))
        rows.append((*key, n, held, share.estimate, share.low, share.high, chance, bias, scatter))
    return framed(rows, " ".join([*by, "intervals held share low high p_too_few bias scatter"]))


def in_words(row: dict[str, Any], *, nominal: float = 0.95) -> str:
    """Whether a row of `coverage` is as it should be, by its Wilson interval."""
    if row["high"] < nominal:
        return "less often than they should"
    return "more often than they need to" if row["low"] > nominal else "as often as they should"
