"""What repeated trials say.

Pass^k and how it decays, how often a case flips, and what is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...records import BUCKETS
from ...scoring.metrics import Metric
from ...scoring.scales import SHARE
from ...scoring.written import rounded
from ..estimators.estimate import FEW_CLUSTERS, counted, sentence, usual
from ..estimators.passk import pass_hat_k_curve
from ..estimators.trials import flip_rate, missing_bounds, whole_enough
from ..panels import VARIANT, conversations_of, panel_of, says_partial
from .headlines import case_matrix, headline, metric_of, why_none
from .rows import framed, interval

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

KS = tuple(range(1, 9))
SUCCESS = Metric("success", "Success", "success", None, SHARE, True, "Success of its bucket.")
AVERAGE = ("avg_k", "avg", "avg_low", "avg_high")
"""The columns of avg@k."""
TEXTBOOK_RATES = (0.9, 0.8, 0.7, 0.6)
"""Rates of the commonly published table: how often all of k trials succeed if every case succeeds equally often."""

MIXES = {"every case alike": None, "cases somewhat mixed": 4.0, "cases sure or hopeless": 0.5}
"""How far the chances of cases may lie apart: concentration ``a + b`` of the beta distribution they are drawn from."""


@dataclass(frozen=True)
class SuccessCounts:
    """Successes of one model in one bucket, one entry per case.

    Attributes
    ----------
    successes, trials : ndarray of int, shape (cases,)
        Trials that were scored, and those among them that succeeded; a case may have none.
    planned : int
        Recorded conversations, scored or not.
    case_ids, intents : tuple of str
    reason : str
        Why there are no counts, or why they must not be pooled; empty if they may.
    """

    successes: np.ndarray
    trials: np.ndarray
    planned: int
    case_ids: tuple[str, ...]
    intents: tuple[str, ...]
    reason: str = ""

    @property
    def clusters(self) -> tuple[str, ...] | None:
        """Return the intents if there are enough of them, of several cases each, to be clusters, otherwise None."""
        distinct = len(set(self.intents))
        return self.intents if FEW_CLUSTERS <= distinct < len(self.intents) else None


def success_counts(conversations: pd.DataFrame, bucket: str) -> SuccessCounts:
    """Count the successes of one model's conversations in one bucket.

    Parameters
    ----------
    bucket : str
        A bucket of the desk, or the domain of imported records.
    """
    rows = conversations[conversations["bucket"] == bucket]
    values, case_ids, intents = case_matrix(rows, SUCCESS)
    bases = rows.groupby("case_id")["reward_basis"].nunique() if "reward_basis" in rows else {}
    mixed = next((case for case, n in bases.items() if n > 1), "")
    pooled = f"rewards of case {mixed} have different bases, so they are not pooled" if mixed else ""
    hits, sizes = np.nansum(values, axis=1).astype(int), (~np.isnan(values)).sum(axis=1)
    named = tuple(i if isinstance(i, str) else case for i, case in zip(intents, case_ids, strict=True))
    return SuccessCounts(hits, sizes, len(rows), tuple(case_ids), named, pooled or why_none(conversations, bucket))


@says_partial
def reliability_table(results: Results | pd.DataFrame, ks: Iterable[int] = KS) -> pd.DataFrame:
    """Estimate pass^k of every model in every bucket, never pooled over buckets.

    Parameters
    ----------
    ks : iterable of int

    Returns
    -------
    DataFrame
        One row per entry, bucket and k: panel, entry, bucket, cases (with at least k trials), trials (median per case),
        k, estimate, low, high, reference (p^k of the mean: a lower bound, no estimate), label (observed, or
        beta-binomial extrapolation past the trials), usable (at least 2k trials) and reason; then, the same in every
        row of a bucket, avg_k (the trials of a case, most often) and avg, avg_low and avg_high: avg@k, the mean over
        cases of the share of their trials that succeed, which is the mean on the board. A bucket that a model did not
        run stands there with its reason.
    """
    ks, found = list(ks), []
    frame = conversations_of(results)
    of = {key: mine for key, mine in frame.groupby(["panel", "entry"], sort=False)}
    for panel, entry, bucket, counts in by_bucket(frame):
        who = {"panel": panel, "entry": entry, "bucket": bucket}
        nothing = counts.reason or _no_trial(counts)
        if nothing:
            none = {"cases": 0, "trials": 0, "k": ks[0], "label": "none", "usable": False, "reason": nothing}
            found.append(who | none)
            continue
        average = average_at_k(of[panel, entry], bucket, counts)
        found += [who | row | average for row in _curve_rows(counts, ks)]
    columns = "panel entry bucket cases trials k estimate low high reference label usable reason"
    return framed(found, " ".join([columns, *AVERAGE]))


def _curve_rows(counts: SuccessCounts, ks: list[int]) -> Iterable[dict[str, Any]]:
    curve = pass_hat_k_curve(counts.successes, counts.trials, ks, clusters=counts.clusters)
    reason = sentence(curve.reason, _unscored(counts))
    of_each = ("cases", "k", "estimate", "low", "high", "reference", "label", "usable")
    for values in zip(*(getattr(curve, name) for name in of_each), strict=True):
        yield {**dict(zip(of_each, values, strict=True)), "trials": curve.trials, "reason": reason}


def average_at_k(conversations: pd.DataFrame, bucket: str, counts: SuccessCounts) -> dict[str, float]:
    """Estimate avg@k of one model in one bucket: the mean over cases of the share of their k trials that succeed.

    Where pass^k asks that all of k trials succeed, this asks how many do; its interval is the one on the board.

    Parameters
    ----------
    bucket : str
        A bucket of the desk, or the domain of imported records.
    counts : SuccessCounts
        The successes of this bucket, which say how many trials most cases have.

    Returns
    -------
    dict of str to float
        avg_k, avg, avg_low, avg_high.
    """
    mean = headline(conversations, replace(SUCCESS, bucket=bucket)).mean
    return dict(zip(AVERAGE, (usual(counts.trials), mean.estimate, mean.low, mean.high), strict=True))


def wide_reliability(table: pd.DataFrame) -> pd.DataFrame:
    """Lay pass^k out as a readable table: one row per entry and bucket, one column per k, in percent.

    `table` is as `reliability_table` gives it.

    Returns
    -------
    DataFrame
        panel, entry, bucket, cases, trials, ``pass^1`` ..., ``avg@k`` (k and the interval with it), ``p^k`` (at the
        last k), reason; the highest first within its bucket. A star marks an extrapolation, a circle an estimate from
        fewer than 2k trials.
    """
    import pandas as pd

    rows, keys = [], ["panel", "entry", "bucket"]
    order = {name: {value: at for at, value in enumerate(table[name].unique())} for name in ("panel", "bucket")}
    first = table.drop_duplicates(keys).sort_values("estimate", ascending=False, kind="stable")
    first = first.sort_values(["panel", "bucket"], kind="stable", key=lambda column: column.map(order[column.name]))
    parts = dict(list(table.groupby(keys, sort=False)))
    for key in first[keys].itertuples(index=False, name=None):
        mine = parts[key]
        row = {
            **dict(zip(keys, key, strict=True)),
            "cases": int(mine["cases"].max()),
            "trials": int(mine["trials"].max()),
        }
        at = {k: _shown(one) for k, one in zip(mine["k"], mine.to_dict("records"), strict=True)}
        row |= {f"pass^{k}": at.get(k) for k in sorted(table["k"].unique())} | {"avg@k": _average(mine.iloc[0])}
        reference = mine["reference"].iloc[-1]
        row["p^k"] = None if reference != reference else rounded(100 * reference)
        rows.append(row | {"reason": mine["reason"].iloc[0]})
    return pd.DataFrame(rows)


def _shown(row: Any) -> str | None:
    if row["estimate"] != row["estimate"]:
        return None
    mark = "*" if row["label"] != "observed" else "" if row["usable"] else "°"
    return f"{rounded(100 * row['estimate'])}{mark}"


def _average(row: Any) -> str | None:
    if row["avg"] != row["avg"]:
        return None
    ends = f" ({' to '.join(SHARE.ends(row['avg_low'], row['avg_high']))})" if row["avg_low"] == row["avg_low"] else ""
    return f"{rounded(100 * row['avg'])}{ends}, k = {row['avg_k']:.0f}"


@says_partial
def flip_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count how often two trials of one case end differently, and how many cases always, sometimes and never succeed.

    Returns
    -------
    DataFrame
        One row per entry and bucket: panel, entry, bucket, cases, trials, estimate (flip rate), low, high, always,
        sometimes, never (cases) and reason.
    """
    found = []
    for panel, entry, bucket, counts in by_bucket(results):
        row: dict[str, Any] = {"panel": panel, "entry": entry, "bucket": bucket}
        nothing = counts.reason or _no_trial(counts)
        if nothing:
            counts_of = dict.fromkeys(("cases", "trials", "always", "sometimes", "never"), 0)
            found.append(row | counts_of | {"reason": nothing})
            continue
        rate, seen = flip_rate(counts.successes, counts.trials, clusters=counts.clusters), counts.trials > 0
        hits, sizes = counts.successes[seen], counts.trials[seen]
        row |= {"cases": int(seen.sum()), "trials": int(np.median(sizes)), **interval(rate)}
        row |= {"always": int((hits == sizes).sum()), "never": int((hits == 0).sum())}
        row |= {"sometimes": int(((hits > 0) & (hits < sizes)).sum())}
        why = rate.reason if np.isnan(rate.estimate) else sentence(_unscored(counts), rate.reason)
        found.append(row | {"reason": why})
    return framed(found, "panel entry bucket cases trials estimate low high always sometimes never reason")


@says_partial
def trial_table(results: Results | pd.DataFrame, metric: str | Metric = "resolved") -> pd.DataFrame:
    """Return a metric in each trial: the spread behind the median that the board shows.

    Returns
    -------
    DataFrame
        One row per entry and trial: panel, entry, metric, trial, value (a count is summed over the traps of the trial,
        a share or mean is over its cases), cases with a value, of, in_median (whether the median the board shows counts
        the trial: a count needs every trap, anything else half of the cases), and reason.
    """
    chosen, found = metric_of(metric), []
    for (panel, entry), mine in conversations_of(results).groupby(["panel", "entry"], sort=False):
        values, case_ids, _ = case_matrix(mine, chosen)
        if not values.size:
            found.append((panel, entry, metric, 0, nan, 0, 0, False, why_none(mine, chosen.bucket)))
        inside = (~np.isnan(values)).all(axis=0) if chosen.scale.summed else whole_enough(values)
        for number, column in enumerate(values.T, 1):
            seen = column[~np.isnan(column)]
            value = nan if not seen.size else float(seen.mean() * chosen.scale.factor(seen.size))
            lost = len(case_ids) - seen.size
            missing = f"{lost} of {counted(len(case_ids), 'case')} missing" if lost else ""
            counts = (int(seen.size), len(case_ids), bool(inside[number - 1]))
            found.append((panel, entry, metric, number, value, *counts, missing))
    return framed(found, "panel entry metric trial value cases of in_median reason")


def missing_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return what is missing from every run, and its success if every missing conversation failed, or succeeded.

    Parameters
    ----------
    results : Results or DataFrame
        With results the plan of each run is known; from conversations alone the trials that other cases have are taken
        as planned.

    Returns
    -------
    DataFrame
        One row per entry and bucket: panel, entry, bucket, seen, planned, missing (conversations), estimate, worst,
        best and reason. Planned cases that no run has played yet are in the bucket ``unknown``.
    """
    import pandas as pd

    frame = conversations_of(results)
    bucket_of = {
        case: bucket for case, bucket in zip(frame["case_id"], frame["bucket"], strict=True) if isinstance(bucket, str)
    }
    plan = None if isinstance(results, pd.DataFrame) else results.planned
    found = []
    for (panel, entry), mine in frame.groupby(["panel", "entry"], sort=False):
        found += _gaps(str(panel), str(entry), mine, _plan_of(mine, plan), bucket_of)
    if plan is not None:
        for (_, entry, model, source), goal in plan[~plan["run_id"].isin(set(frame["run_id"]))].groupby(
            ["run_id", "entry", "model", "source"], sort=False
        ):
            trials = dict(zip(goal["case_id"], goal["trials"], strict=True))
            found += _gaps(panel_of(model, source), entry, frame.iloc[:0], trials, bucket_of)
    return framed(found, "panel entry bucket seen planned missing estimate worst best reason")


def _gaps(panel: str, entry: str, mine: pd.DataFrame, goal: dict[str, int], bucket_of: dict[str, str]) -> list[tuple]:
    rows = []
    for bucket in [*buckets_of(mine), *sorted({bucket_of.get(c, "unknown") for c in goal} - set(buckets_of(mine)))]:
        counts = success_counts(mine, bucket)
        have = dict(zip(counts.case_ids, zip(counts.successes, counts.trials, strict=True), strict=True))
        cases = [c for c in goal if bucket_of.get(c, "unknown") == bucket]
        if cases:
            hits, sizes = zip(*(have.get(c, (0, 0)) for c in cases), strict=True)
            bounds = missing_bounds(hits, sizes, np.maximum([goal[c] for c in cases], sizes))
            seen = (bounds.n, bounds.planned, bounds.missing)
            rows.append((panel, entry, bucket, *seen, bounds.estimate, bounds.low, bounds.high, bounds.reason))
    return rows


def textbook_table(rates: Sequence[float] = TEXTBOOK_RATES, ks: Iterable[int] = KS) -> pd.DataFrame:
    """Compute pass^k for mean rates: with every case alike, as published, and with the mixes that are left out there.

    A mean rate alone does not fix pass^k. Where some cases are sure and some hopeless it decays far more slowly than
    ``p ** k``, which is only the lower bound (Jensen's inequality).

    Returns
    -------
    DataFrame
        One row per rate, mix of cases and k: rate, mix, k, value. Beta distributed chances: ``prod_j (a + j) / (a + b +
        j)``.
    """
    rows = []
    for rate in rates:
        for mix, concentration in MIXES.items():
            value = 1.0
            for k in range(1, max(ks) + 1):
                j = k - 1
                value *= rate if concentration is None else (rate * concentration + j) / (concentration + j)
                if k in ks:
                    rows.append((rate, mix, k, value))
    return framed(rows, "rate mix k value")


def wide_textbook(table: pd.DataFrame) -> pd.DataFrame:
    """Lay the textbook table out in readable form: one row per rate and mix, one column per k, in percent.

    `table` is as `textbook_table` gives it.
    """
    wide = 100 * table.set_index(["rate", "mix", "k"])["value"].unstack("k", sort=False)
    return wide.add_prefix("k = ").reset_index()


def by_bucket(results: Any) -> Iterable[tuple[str, str, str, SuccessCounts]]:
    """Yield panel, entry, bucket and counts for every bucket that any entry of the panel ran."""
    frame = conversations_of(results)
    for panel, rows in frame.groupby("panel", sort=False):
        buckets = buckets_of(rows)
        for entry, mine in rows.groupby("entry", sort=False):
            own = buckets if panel != "imported" else buckets_of(mine)
            for bucket in own:
                yield str(panel), str(entry), bucket, success_counts(mine, bucket)


def buckets_of(rows: pd.DataFrame) -> list[str]:
    """Return the buckets of rows, those of the desk first, without that of the crossed variants."""
    there = set(rows["bucket"].dropna()) - {VARIANT}
    return [b for b in BUCKETS if b in there] + sorted(there - set(BUCKETS))


def _no_trial(counts: SuccessCounts) -> str:
    return "" if counts.trials.any() else f"none of {counted(counts.planned, 'conversation')} was scored"


def _unscored(counts: SuccessCounts) -> str:
    missing = counts.planned - int(counts.trials.sum())
    few = f"{missing} of {counted(counts.planned, 'conversation')} not scored" if missing else ""
    distinct = len(set(counts.intents))
    small = counts.clusters is None and 1 < distinct < min(FEW_CLUSTERS, len(counts.intents))
    return sentence(few, f"intervals treat cases as units, since {distinct} intents are too few" if small else "")


def _plan_of(mine: pd.DataFrame, plan: pd.DataFrame | None) -> dict[str, int]:
    if plan is None:
        return dict.fromkeys(mine["case_id"].unique(), int(mine["trial"].nunique()))
    own = plan[plan["run_id"].isin(mine["run_id"].unique())]
    return {case: int(trials) for case, trials in own.groupby("case_id")["trials"].max().items()}
