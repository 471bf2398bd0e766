"""Counts behind a number: conversations that count, their total, and the query for each."""

from typing import Any

import numpy as np
import pandas as pd

from ..scoring.columns import Score, names_of
from ..scoring.detectors import WHERE_TRUE_IS_RIGHT, detectors
from ..scoring.metrics import Metric
from .query import KNOWN, NO, YES
from .tables.headlines import median_trials, trials_in_words, values_of


def behind_metric(rows: pd.DataFrame, metric: Metric, **who: Any) -> dict[str, Any]:
    """Count the conversations behind a metric: those with a true flag, or all for a mean.

    They are ``k`` of the ``n`` conversations with a value; ``yes`` and ``known`` are the query fields that list the
    ``k`` and the ``n``.
    """
    return _behind(values_of(rows, metric)[0], metric, who)


def behind_trials(rows: pd.DataFrame, metric: Metric, **who: Any) -> list[dict[str, Any]]:
    """Return `behind_metric` for each trial that has a value."""
    values, trials = values_of(rows, metric, "trial")
    known = np.unique(trials[~np.isnan(values)])
    return [_behind(values[trials == trial], metric, who | {"trial": trial}) for trial in known]


def behind_median(rows: pd.DataFrame, metric: Metric, **who: Any) -> dict[str, Any]:
    """Return `behind_metric` for the trial with the median value, or the two trials around it.

    ``of`` names the trials in words. ``k`` is 0 if no trial is complete enough for a median.
    """
    values, trials = values_of(rows, metric, "trial")
    chosen = median_trials(rows, metric)
    if not chosen:
        return _behind(values, metric, who) | {"k": 0, "of": ""}
    if len(np.unique(trials)) < 2:
        return _behind(values, metric, who) | {"of": ""}
    counts = _behind(values[np.isin(trials, chosen)], metric, who | {"trial": chosen})
    return counts | {"of": f" of {trials_in_words(chosen)}"}


def _behind(values: np.ndarray, metric: Metric, who: dict[str, Any]) -> dict[str, Any]:
    filters = who | ({"bucket": metric.bucket} if metric.bucket else {})
    known, n = {**filters, metric.column: KNOWN}, int((~np.isnan(values)).sum())
    if not metric.scale.bounds:
        return {"k": n, "n": n, "yes": known, "known": known}
    return {"k": int(np.nansum(values)), "n": n, "yes": {**filters, metric.column: YES}, "known": known}


def behind_repeats(rows: pd.DataFrame, **who: Any) -> dict[str, Any]:
    """Count the conversations behind pass^k, where every trial of a case must succeed.

    The result is the `tally` of success plus ``cases``, the number of cases with a failure; ``failing``, the number of
    conversations on these cases; and ``fell``, the query fields that list them.
    """
    share = rows["success"].astype("Float64").groupby(rows["case_id"]).transform("mean")
    failed = rows.loc[(share < 1).fillna(False), "case_id"]
    fell = {**who, "trials_succeed": ["sometimes", "never"]}
    counts = {"failing": len(failed), "cases": failed.nunique(), "fell": fell}
    return counts | (tally(rows["success"], **who) or {"k": 0, "n": 0})


def behind_finding(detector: str, **who: Any) -> dict[str, dict[str, Any]]:
    """Return query fields for a detector's findings, and for the conversations that it decided."""
    column = names_of(Score)[detectors()[detector].column]
    return {"yes": {**who, column: NO if detector in WHERE_TRUE_IS_RIGHT else YES}, "known": {**who, column: KNOWN}}


def tally(values: pd.Series, /, **filters: Any) -> dict[str, Any] | None:
    """Count the true flags among a column's known flags, with queries; None if none is known."""
    known = values.dropna()
    if known.empty:
        return None
    k, n, flag = int(known.sum()), len(known), str(values.name)
    yes, some = {**filters, flag: YES}, {**filters, flag: KNOWN}
    return {"k": k, "n": n, "width": f"{100 * k / n:.1f}", "yes": yes, "known": some}
