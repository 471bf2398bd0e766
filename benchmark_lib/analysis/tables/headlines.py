"""Values of a metric: for one model, as an array and as an estimate, and for every model."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...errors import BadInput
from ...records import BUCKET_NOUNS, BUCKETS
from ...scoring.metrics import METRICS, SHARE, Metric, number
from ...scoring.written import counted
from ..cell import Row, pair, summarise
from ..estimators.estimate import FEW_CLUSTERS, Headline
from ..estimators.trials import median_and_mean, whole_enough
from ..estimators.unsafe import unsafe_headline
from ..frames import Results
from ..panels import PANELS


@dataclass(frozen=True)
class Estimator:
    """Way of estimating a metric.

    `words` name the mean that accompanies the median; `clustered` is True if the cases of an intent are a cluster.
    `headline` makes a `Headline` from values, shape (cases, trials), and planned trials; None means the median and mean
    per case.
    """

    words: str
    clustered: bool
    headline: Callable[..., Headline] | None = None

    def clusters(self, intents: Any) -> Any:
        """Return the clusters of the cases; None if each case is its own, or intents are too few."""
        return intents if self.clustered and len(set(intents)) >= FEW_CLUSTERS else None


ESTIMATORS = {
    "clustered mean": Estimator("mean over cases like these, clustered by intent", clustered=True),
    "unsafe posterior": Estimator("mean count on these traps, beta-binomial posterior", False, unsafe_headline),
}
"""Estimators by `Metric.estimator`."""
SUCCESS = Metric("success", "Success", "success", None, SHARE, True, "Success of its bucket.")


def metric_of(metric: str | Metric) -> Metric:
    """Return a metric by name; refuse an unknown name and suggest the nearest.

    Raises
    ------
    BadInput
        If there is no such metric.
    """
    if isinstance(metric, Metric):
        return metric
    if metric not in METRICS:
        near = difflib.get_close_matches(metric, METRICS, 1, 0.4)
        mend = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(METRICS)}"
        raise BadInput(f"there is no metric {metric!r}: {mend}")
    return METRICS[metric]


def named(metric: Metric) -> str | Metric:
    """Return the name of a metric, as in a column; a custom metric is returned unchanged."""
    return metric.name if METRICS.get(metric.name) is metric else metric


def metric(
    conversations: pd.DataFrame,
    column: str,
    *,
    title: str | None = None,
    bucket: str | None = None,
    higher_is_better: bool | None = None,
    unit: str = "",
    definition: str = "",
) -> Metric:
    """Make a metric from a column that you added to the frame of conversations.

    Tables, tests and figures accept it in place of a metric's name, together with the frame that has the column.

    Parameters
    ----------
    conversations : DataFrame
        ``load_results(...).conversations`` with the column; a missing value leaves the conversation out.
    column : str
        Values of true and false, or 0 and 1, give a share; other numbers give a mean per conversation.
    title, definition : str, optional
        Heading in tables (by default, the column's name), and a sentence that explains the column.
    bucket : str, optional
        Bucket of the cases that count; by default all.
    higher_is_better : bool, optional
        Better direction; by default, entries are compared without calling either better.
    unit : str, optional
        Unit of a number, such as "words". With a unit, 0 and 1 also count as numbers.

    Raises
    ------
    BadInput
        If the column is missing or contains other values, or a metric of that name exists.
    """
    if column not in conversations:
        raise BadInput(f"there is no column {column!r} in this frame: add it first, or pass the frame that has it")
    if column in METRICS:
        raise BadInput(f"the metric {column!r} already exists: use its name, or give your column another one")
    if bucket is not None and bucket not in set(conversations["bucket"]):
        raise BadInput(f"no conversation is in the bucket {bucket!r}: choose {', '.join(BUCKETS)}, or omit it")
    what = ""
    try:
        known = _numbers(conversations[column].dropna())
        what = "an infinite number" if np.isinf(known).any() else "" if len(known) else "no value"
    except (TypeError, ValueError):
        what = "something other than numbers"
    if what:
        raise BadInput(f"the column {column!r} contains {what}: use true and false, or numbers")
    scale = SHARE if not unit and np.isin(known, (0, 1)).all() else number(unit or "units", digits=2)
    title = title or column.replace("_", " ").capitalize()
    definition = definition or f"{title}, a column of your own."
    return Metric(column, title, column, bucket, scale, higher_is_better, definition)


def _numbers(column: pd.Series) -> np.ndarray:
    column = column.convert_dtypes() if column.dtype == object else column
    return column.astype("Float64").to_numpy(dtype="float64", na_value=nan)


def of_bucket(conversations: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Return the conversations that count for a metric."""
    return conversations if metric.bucket is None else conversations[conversations["bucket"] == metric.bucket]


def values_of(conversations: pd.DataFrame, metric: Metric, *labels: str) -> list[np.ndarray]:
    """Return a metric's values, NaN if missing, and other columns of the same conversations."""
    if metric.column not in conversations:
        raise BadInput(f"there is no column {metric.column!r} in these conversations: pass the frame that has it")
    values = _numbers(conversations[metric.column])
    columns = [values, *(conversations[name].to_numpy() for name in labels)]
    if metric.bucket is None:
        return columns
    over = (conversations["bucket"] == metric.bucket).to_numpy(dtype=bool, na_value=False)
    return [column[over] for column in columns]


def why_none(conversations: pd.DataFrame, bucket: str | None) -> str:
    """Return why one model has no conversation in a bucket; empty if it has one."""
    if (conversations["bucket"] == bucket).any() or (bucket is None and len(conversations)):
        return ""
    unscored = int(conversations["bucket"].isna().sum())
    if unscored:
        return f"{counted(unscored, 'conversation')} without a score: run `deskbench score`"
    return f"no {BUCKET_NOUNS.get(bucket or '', f'{bucket} case' if bucket else 'such case')} was run"


def case_matrix(conversations: pd.DataFrame, metric: str | Metric) -> tuple[np.ndarray, list[str], list[str]]:
    """Return the values of one model's metric.

    Returns
    -------
    values : ndarray, shape (cases, trials)
        NaN for a missing or unscored conversation.
    case_ids, intents : list of str
        Labels of the rows.
    """
    values, cases, numbers, intents = values_of(conversations, metric_of(metric), "case_id", "trial", "intent")
    case, case_ids = pd.factorize(cases, sort=True)
    trial, trials = pd.factorize(numbers, sort=True)
    table = np.full((len(case_ids), len(trials)), nan)
    table[case, trial] = values
    intent_of = dict(zip(cases, intents, strict=True))
    return table, list(case_ids), [intent_of[c] for c in case_ids]


class Values(NamedTuple):
    """Values of one entry in one metric, by case: trials with a value, and their sum and mean."""

    cases: np.ndarray
    intents: np.ndarray
    trials: np.ndarray
    hits: np.ndarray
    means: np.ndarray

    def at(self, chosen: np.ndarray) -> Values:
        """Return the values of some cases."""
        return Values(*(column[chosen] for column in self))


def by_case(conversations: pd.DataFrame, metric: str | Metric) -> Values:
    """Return one model's metric in the order of the cases; the mean is NaN without a value."""
    table, *labels = case_matrix(conversations, metric)
    trials, hits = (~np.isnan(table)).sum(axis=1), np.nansum(table, axis=1)
    means = np.divide(hits, trials, out=np.full(len(hits), nan), where=trials > 0)
    cases, intents = (np.array(names, dtype=object) for names in labels)
    return Values(cases, intents, trials, hits, means)


def headline(conversations: pd.DataFrame, metric: str | Metric) -> Headline:
    """Return one model's metric as published: median over trials, and mean with its interval."""
    chosen = metric_of(metric)
    estimate = ESTIMATORS[chosen.estimator].headline
    if estimate is None:
        pair = per_case(conversations, chosen)
        return pair.times(chosen.scale.factor(pair.n))
    rows = of_bucket(conversations, chosen)
    planned = rows["planned_trials"].fillna(0).max() if "planned_trials" in rows and len(rows) else 0
    return estimate(case_matrix(conversations, chosen)[0], planned=int(planned))


def per_case(conversations: pd.DataFrame, metric: str | Metric) -> Headline:
    """Return one model's metric per case, so that sets of different size are comparable."""
    chosen = metric_of(metric)
    values, _, intents = case_matrix(conversations, chosen)
    clusters = ESTIMATORS[chosen.estimator].clusters(intents)
    return median_and_mean(values, clusters=clusters, rate=chosen.scale.bounds is not None)


def metric_table(results: Results | pd.DataFrame, metric: str | Metric) -> pd.DataFrame:
    """Return one metric of every model, the best first within each panel and partial runs last.

    One row per entry. ``median`` is over trials, ``low`` and ``high`` are the interval of the mean. ``conversations``
    counts those with a value, ``of`` all in the metric's bucket.
    """
    chosen = metric_of(metric)

    def row(group: pd.DataFrame) -> Row:
        over, head = of_bucket(group, chosen), headline(group, chosen)
        counts = {"cases": head.n, "trials": over["trial"].nunique(), "of": len(over)}
        counts["conversations"] = over[chosen.column].notna().sum()
        reason = why_none(group, chosen.bucket) or head.reason
        return {"metric": metric, **pair(head), "per_trial": head.per_trial, **counts, "reason": reason}

    table = summarise(results, row, "metric median mean low high per_trial cases trials conversations of reason")
    table = table.assign(place=table["panel"].map(list(PANELS).index), last=table["partial"].ne(""))
    worst_first = [True, True, chosen.higher_is_better is False, True]
    table = table.sort_values(["place", "last", "mean", "entry"], ascending=worst_first, ignore_index=True)
    return table.drop(columns=["place", "last"])


# --- the trials behind a median


def trial_numbers(conversations: pd.DataFrame, metric: Metric) -> list[int]:
    """Return the numbers of the trials of a metric, the columns of its `case_matrix`."""
    return [int(trial) for trial in np.unique(values_of(conversations, metric, "trial")[1])]


def complete_trials(values: np.ndarray, metric: Metric) -> np.ndarray:
    """Return which trials (columns of `case_matrix`) the median of a headline counts.

    A count needs a value for every trap; any other metric needs half as many values as the fullest trial has.
    """
    return (~np.isnan(values)).all(axis=0) if metric.scale.summed else whole_enough(values)


def median_trials(conversations: pd.DataFrame, metric: Metric) -> list[int]:
    """Return the trial whose value is the median of one model's headline, or the two around it."""
    values = case_matrix(conversations, metric)[0]
    columns = zip(trial_numbers(conversations, metric), values.T, complete_trials(values, metric), strict=True)
    means = {trial: float(np.nanmean(column)) for trial, column, complete in columns if complete}
    in_order = sorted(means.values())
    middle = {in_order[(len(means) - 1) // 2], in_order[len(means) // 2]} if means else set()
    return sorted(next(trial for trial, mean in means.items() if mean == value) for value in middle)


def trials_in_words(trials: list[int]) -> str:
    """Return in words which trials give the median over trials."""
    which = " and ".join(map(str, trials))
    return f"trial {which}, whose value is the median" if len(trials) == 1 else f"trials {which}, around the median"
