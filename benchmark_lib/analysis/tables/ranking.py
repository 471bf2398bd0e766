"""One metric over all models, and which places in its order the data can tell apart."""

from __future__ import annotations

from math import nan
from statistics import multimode
from typing import TYPE_CHECKING, Any

import numpy as np

from ...scoring.metrics import Metric
from ..estimators.estimate import FEW_CLUSTERS
from ..estimators.ranks import order_chances, rank_intervals
from ..panels import PANELS, conversations_of, partial_words, progress, says_partial
from .comparison import paired_values
from .headlines import ESTIMATORS, case_matrix, headline, metric_of, named, of_bucket, why_none
from .rows import framed, pair

UNRANKED = {"imported": "imported records are not ranked", "players": "what was played from a chair is not ranked"}
"""The panels whose entries get no rank, with the reason."""

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results


def metric_table(results: Results | pd.DataFrame, metric: str | Metric) -> pd.DataFrame:
    """One metric of every model.

    Returns
    -------
    DataFrame
        One row per entry, the better first within its panel and partial runs below them: panel, entry, metric, median
        (over trials), mean, low, high (interval of the mean), per_trial, cases, trials, conversations (with a value), of
        (on file, of the metric's bucket), reason and partial.
    """
    chosen, rows = metric_of(metric), []
    for (panel, entry), mine in conversations_of(results).groupby(["panel", "entry"], sort=False):
        conversations = of_bucket(mine, chosen)
        found = headline(mine, chosen)
        nothing = why_none(mine, chosen.bucket)
        row = {"panel": panel, "entry": entry, "metric": metric, **pair(found), "per_trial": found.per_trial}
        row |= {"cases": found.n, "trials": int(conversations["trial"].nunique()), "of": len(conversations)}
        scored = int(conversations[chosen.column].notna().sum())
        row |= {"conversations": scored, "reason": nothing or found.reason, "partial": partial_words(*progress(mine))}
        rows.append(row)
    table = framed(
        rows, "panel entry metric median mean low high per_trial cases trials conversations of reason partial"
    )
    table = table.sort_values(["mean", "entry"], ascending=[chosen.higher_is_better is False, True], na_position="last")
    table = table.sort_values("partial", kind="stable", key=lambda words: words.ne(""))
    return table.sort_values("panel", kind="stable", key=_panel_place, ignore_index=True)


@says_partial
def rank_table(results: Results | pd.DataFrame, metric: str | Metric, *, n_resamples: int = 4_000) -> pd.DataFrame:
    """Places in the order of one metric, with the best and the worst place the data do not rule out; each panel on its own.

    A partial run, and one that lacks cases others have, gets no place. Imported records of different benchmarks, domains
    or reward bases are never ranked against each other.

    Parameters
    ----------
    metric : str or Metric
        A metric with a better direction.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, metric, rank, low, high, mean (over the cases all models with a place have),
        cases, of (models with a place) and reason.
    """
    chosen, rows = metric_of(metric), []
    for panel, mine in conversations_of(results).groupby("panel", sort=False):
        if panel in UNRANKED or chosen.higher_is_better is None:
            why = UNRANKED.get(panel, "neither direction of this metric is better")
            nothing = (nan, nan, nan, nan, 0, mine["entry"].nunique(), why)
            rows += [(panel, entry, metric, *nothing) for entry in mine["entry"].unique()]
            continue
        rows += _ranked(str(panel), mine, chosen, named(chosen), n_resamples)
    table = framed(rows, "panel entry metric rank low high mean cases of reason")
    return table.sort_values(["rank", "entry"]).sort_values("panel", kind="stable", key=_panel_place, ignore_index=True)


def sure_of_order(metric: Metric, first: pd.DataFrame, second: pd.DataFrame) -> float:
    """The chance that the first of two entries is truly better than the second in one metric, on the cases both have.

    Parameters
    ----------
    first, second : DataFrame
        Conversations of the two entries.
    """
    both = paired_values(metric, first, second).dropna(subset=["a", "b"])
    clusters = ESTIMATORS[metric.estimator].clusters(both["intent"].to_numpy())
    found = order_chances(
        both[["a", "b"]].to_numpy().T, higher_is_better=bool(metric.higher_is_better), clusters=clusters
    )
    return float(found[0]) if len(both) else nan


def _ranked(panel: str, mine: pd.DataFrame, metric: Metric, name: str | Metric, n_resamples: int) -> list[tuple]:
    """The rows of one panel; what `_unplaced` names is not ranked."""
    of = dict(iter(mine.groupby("entry", sort=False)))
    why = _unplaced(of, metric)
    means: dict[str, dict[str, float]] = {}
    intents: dict[str, str] = {}
    for entry in (e for e in of if e not in why):
        values, case_ids, labels = case_matrix(of[entry], metric)
        intents |= dict(zip(case_ids, labels, strict=True))
        if known := {c: float(np.nanmean(v)) for c, v in zip(case_ids, values) if not np.isnan(v).all()}:
            means[entry] = known
        else:
            why[entry] = why_none(of[entry], metric.bucket) or "no conversation was scored"
    cases = sorted(intents)
    table = np.array([[known.get(c, nan) for c in cases] for known in means.values()]).reshape(len(means), len(cases))
    clusters = [intents[c] for c in cases]
    clustered = FEW_CLUSTERS <= len(set(clusters)) < len(clusters)
    found = rank_intervals(
        table,
        higher_is_better=metric.higher_is_better is True,
        clusters=clusters if clustered else None,
        n_resamples=n_resamples,
    )
    scale = metric.scale.factor(found.n)
    rows = [(panel, e, name, nan, nan, nan, nan, 0, len(means), words) for e, words in why.items()]
    for i, entry in enumerate(means):
        place = (found.rank[i], found.low[i], found.high[i], scale * found.estimate[i], found.n, len(means))
        rows.append((panel, entry, name, *place, found.reason))
    return rows


def _unplaced(of: dict[str, pd.DataFrame], metric: Metric) -> dict[str, str]:
    """Why entries of a panel get no place beside the others: another version of the cases than most, a partial run, or fewer cases."""
    versions = {entry: conversations["store_version"].iloc[0] for entry, conversations in of.items()}
    common = multimode(versions.values())[0]
    why = {
        entry: f"run on {version}, others on {common}: not ranked"
        for entry, version in versions.items()
        if version != common
    }
    for entry in (e for e in of if e not in why):
        if words := partial_words(*progress(of[entry])):
            why[entry] = f"partial, {words} conversations: not ranked"
    held = {entry: set(of_bucket(of[entry], metric)["case_id"]) for entry in of if entry not in why}
    every = set().union(*held.values())
    lacking = {
        e: f"run on {len(mine)} of {len(every)} cases: not ranked" for e, mine in held.items() if mine and mine != every
    }
    return why | lacking


def _panel_place(column: Any) -> Any:
    return column.map({panel: place for place, panel in enumerate(PANELS)}).fillna(len(PANELS))
