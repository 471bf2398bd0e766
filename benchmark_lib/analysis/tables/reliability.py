"""Repeated trials and their planning: pass^k, flips, missing conversations, and power."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ...records import BUCKETS
from ...scoring.metrics import SHARE, Metric
from ...scoring.written import counted, rounded
from ..cell import Row, framed, interval, summarise
from ..estimators.estimate import FEW_CLUSTERS, sentence, usual
from ..estimators.planning import ESTIMANDS, minimum_detectable, power
from ..estimators.trials import pass_hat_k_curve
from ..frames import Results
from ..panels import VARIANT, conversations_of
from .headlines import SUCCESS, by_case, case_matrix, complete_trials, headline, metric_of, trial_numbers, why_none

KS = tuple(range(1, 9))


@dataclass(frozen=True)
class SuccessCounts:
    """Successes and scored trials of one model in one bucket, by case; a case may have no trial.

    `planned` counts recorded conversations, scored or not. `reason` says why there are no counts, or why they must not
    be pooled; it may be empty.
    """

    bucket: str
    successes: np.ndarray
    trials: np.ndarray
    planned: int
    intents: tuple[str, ...]
    reason: str = ""

    @property
    def clusters(self) -> tuple[str, ...] | None:
        """Return the intents if enough of them have several cases to be clusters; otherwise None."""
        distinct = len(set(self.intents))
        return self.intents if FEW_CLUSTERS <= distinct < len(self.intents) else None

    @property
    def why_none(self) -> str:
        """Return why nothing can be estimated; empty if something can."""
        unscored = f"none of {counted(self.planned, 'conversation')} was scored"
        return self.reason or ("" if self.trials.any() else unscored)

    @property
    def left_out(self) -> str:
        """Return in words what was not scored, and whether intents are too few to be clusters."""
        missing, distinct = self.planned - int(self.trials.sum()), len(set(self.intents))
        few = f"{missing} of {counted(self.planned, 'conversation')} not scored" if missing else ""
        small = self.clusters is None and 1 < distinct < min(FEW_CLUSTERS, len(self.intents))
        return sentence(few, f"intervals treat cases as units, since {distinct} intents are too few" if small else "")


def success_counts(conversations: pd.DataFrame, bucket: str) -> SuccessCounts:
    """Count successes of one model in one bucket of the desk, or one domain of imported records."""
    rows = conversations[conversations["bucket"] == bucket]
    values = by_case(rows, SUCCESS)
    bases = rows.groupby("case_id")["reward_basis"].nunique() if "reward_basis" in rows else {}
    mixed = next((case for case, n in bases.items() if n > 1), "")
    pooled = f"rewards of case {mixed} have different bases, so they are not pooled" if mixed else ""
    named = tuple(i if isinstance(i, str) else case for i, case in zip(values.intents, values.cases, strict=True))
    why = pooled or why_none(conversations, bucket)
    return SuccessCounts(bucket, values.hits.astype(int), values.trials, len(rows), named, why)


def by_bucket(
    results: Results | pd.DataFrame, rows_of: Callable[[pd.DataFrame, SuccessCounts], Iterable[Row]], columns: str
) -> pd.DataFrame:
    """Return rows for every entry and each bucket of its panel; `columns` follow the bucket."""
    frame = conversations_of(results)
    ran = {panel: buckets_of(rows) for panel, rows in frame.groupby("panel")}

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        panel = group["panel"].iloc[0]
        for bucket in buckets_of(group) if panel == "imported" else ran[panel]:
            yield from ({"bucket": bucket, **row} for row in rows_of(group, success_counts(group, bucket)))

    return summarise(frame, of_entry, f"bucket {columns}")


def buckets_of(rows: pd.DataFrame) -> list[str]:
    """Return the buckets of rows, those of the desk first, without crossed variants."""
    names = sorted(set(rows["bucket"].dropna()) - {VARIANT})
    return sorted(names, key=[*BUCKETS, *names].index)


def reliability_table(results: Results | pd.DataFrame, ks: Iterable[int] = KS) -> pd.DataFrame:
    """Estimate pass^k of every model in every bucket, never pooled over buckets.

    One row per entry, bucket and k. ``cases`` counts those with at least k trials, and ``trials`` is the median per
    case. ``reference`` is p^k of the mean: a lower bound, not an estimate. ``label`` is observed, or beta-binomial
    extrapolation beyond the trials; ``usable`` needs 2k trials. Every row of a bucket also has the columns of
    `average_at_k`. A bucket that a model did not run has a row with the reason.
    """
    ks, of_k = list(ks), ("cases", "k", "estimate", "low", "high", "reference", "label", "usable")

    def rows(group: pd.DataFrame, counts: SuccessCounts) -> list[Row]:
        if why := counts.why_none:
            return [{"cases": 0, "trials": 0, "k": ks[0], "label": "none", "usable": False, "reason": why}]
        curve = pass_hat_k_curve(counts.successes, counts.trials, ks, clusters=counts.clusters)
        rest = average_at_k(group, counts) | {"trials": curve.trials, "reason": sentence(curve.reason, counts.left_out)}
        points = zip(*(getattr(curve, name) for name in of_k), strict=True)
        return [dict(zip(of_k, point, strict=True)) | rest for point in points]

    columns = "cases trials k estimate low high reference label usable reason avg_k avg avg_low avg_high"
    return by_bucket(results, rows, columns)


def average_at_k(conversations: pd.DataFrame, counts: SuccessCounts) -> dict[str, float]:
    """Estimate avg@k of one model in one bucket: the mean share of successful trials of a case.

    pass^k counts cases in which all k trials succeed; avg@k counts trials, with the interval of the board. The keys are
    avg_k, avg, avg_low and avg_high.
    """
    mean = headline(conversations, replace(SUCCESS, bucket=counts.bucket)).mean
    return {"avg_k": usual(counts.trials), **interval(mean, "avg", "avg_")}


def wide_reliability(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out `reliability_table` with one row per entry and bucket and one column per k, in %.

    The columns ``pass^1`` ... are followed by ``avg@k`` (with k and its interval) and ``p^k`` (for the last k); the
    highest row is first within its bucket. A star marks an extrapolation, a circle an estimate from fewer than 2k
    trials.
    """
    keys = ["panel", "entry", "bucket"]
    shown = table.assign(shown=[_shown(row) for row in table.to_dict("records")])
    points = shown.pivot(index=keys, columns="k", values="shown").add_prefix("pass^")
    rows = table.groupby(keys, sort=False)
    last = rows["reference"].last().map(lambda p: "" if p != p else rounded(100 * p))
    averages = [_average(row) for row in rows.head(1).to_dict("records")]
    wide = rows[["cases", "trials"]].max().join(points).assign(**{"avg@k": averages, "p^k": last})
    wide = wide.join(rows[["estimate", "reason"]].first())
    places = {name: {value: at for at, value in enumerate(table[name].unique())} for name in ("panel", "bucket")}
    order = wide.reset_index().sort_values("estimate", ascending=False, kind="stable")
    order = order.sort_values(["panel", "bucket"], kind="stable", key=lambda names: names.map(places[names.name]))
    return order.drop(columns="estimate").reset_index(drop=True)


def _shown(row: Row) -> str:
    if row["estimate"] != row["estimate"]:
        return ""
    mark = "*" if row["label"] != "observed" else "" if row["usable"] else "°"
    return f"{rounded(100 * row['estimate'])}{mark}"


def _average(row: Row) -> str:
    if row["avg"] != row["avg"]:
        return ""
    ends = f" ({' to '.join(SHARE.ends(row['avg_low'], row['avg_high']))})" if row["avg_low"] == row["avg_low"] else ""
    return f"{rounded(100 * row['avg'])}{ends}, k = {row['avg_k']:.0f}"


def trial_table(results: Results | pd.DataFrame, metric: str | Metric = "resolved") -> pd.DataFrame:
    """Return a metric in each trial: the spread behind the median of the board.

    One row per entry and trial. For a count, ``value`` is the sum over the trial's traps; otherwise it is the mean over
    the ``cases`` with a value. ``in_median`` is True if the board's median counts the trial (`complete_trials`).
    """
    chosen = metric_of(metric)

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        values, case_ids, _ = case_matrix(group, chosen)
        row: Row = {"metric": metric, "of": len(case_ids)}
        if not values.size:
            none = {"trial": 0, "value": nan, "cases": 0, "in_median": False}
            yield row | none | {"reason": why_none(group, chosen.bucket)}
        inside = complete_trials(values, chosen)
        for number, column, whole in zip(trial_numbers(group, chosen), values.T, inside, strict=True):
            seen = column[~np.isnan(column)]
            value = float(seen.mean() * chosen.scale.factor(seen.size)) if seen.size else nan
            lost = len(case_ids) - seen.size
            missing = f"{lost} of {counted(len(case_ids), 'case')} missing" if lost else ""
            trial = {"trial": number, "value": value, "cases": seen.size, "in_median": bool(whole), "reason": missing}
            yield row | trial

    return summarise(results, of_entry, "metric trial value cases of in_median reason")


# --- planning


def power_table(
    rate_a: float,
    rate_b: float,
    *,
    units: Iterable[int] = (18, 36, 72),
    trials: Iterable[int] = (1, 3, 5, 10),
    n_simulations: int = 2_000,
    **settings: Any,
) -> pd.DataFrame:
    """Simulate the power of plans to distinguish two models, on these traps and on similar ones.

    One row per plan and estimand; ``low`` and ``high`` are the simulation error of the power.

    Parameters
    ----------
    rate_a, rate_b : float
        Mean chance of the outcome in one conversation, such as ``2 / 18``.
    units, trials : iterable of int
        Numbers of traps (or cases), and of trials of each.
    **settings
        Parameters of `estimators.power` (icc, coupling, clusters, cluster_share, alpha).
    """
    rows = []
    for estimand, n, t in product(ESTIMANDS, units, trials):
        result = power(rate_a, rate_b, traps=n, trials=t, estimand=estimand, n_simulations=n_simulations, **settings)
        plan = {"rate_a": rate_a, "rate_b": rate_b, "units": n, "trials": t, "conversations": n * t}
        rows.append(plan | {"estimand": estimand, **interval(result, "power"), "method": result.method})
    return framed(rows, "rate_a rate_b units trials conversations estimand power low high method")


def detectable_table(
    rate_a: float, *, units: Iterable[int], trials: Iterable[int], n_simulations: int = 1_000, **settings: Any
) -> pd.DataFrame:
    """Find the smallest difference that each plan detects with a power of 0.8, as a count of 18.

    One row per plan and estimand; ``count_b`` is the smallest count detected.
    """
    rows, per = [], 18
    for estimand, n, t in product(ESTIMANDS, units, trials):
        plan: Row = dict(traps=n, trials=t, estimand=estimand, n_simulations=n_simulations)
        result = minimum_detectable(rate_a, **plan, **settings)
        counts = (per * rate_a, per * result.estimate, per * (result.estimate - rate_a))
        rows.append((n, t, estimand, *counts, result.reason))
    return framed(rows, "units trials estimand count_a count_b difference reason")
