"""One metric over all models, and which places in its order the data can tell apart."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...scoring.metrics import Metric
from ..estimators.estimate import FEW_CLUSTERS, sentence
from ..estimators.ranks import order_chances, rank_intervals
from ..panels import PANELS, conversations_of, says_partial
from .comparison import paired_values
from .headlines import ESTIMATORS, case_matrix, headline, metric_of, of_bucket, why_none
from .rows import framed, pair

UNRANKED = {"imported": "imported records are not ranked", "players": "what was played from a chair is not ranked"}
"""The panels whose entries get no rank, with the reason."""

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results


@says_partial
def metric_table(results: Results | pd.DataFrame, metric: str) -> pd.DataFrame:
    """One metric of every model.

    Returns
    -------
    DataFrame
        One row per entry, the better first within its panel: panel, entry, metric, median (over trials), mean, low,
        high (interval of the mean), per_trial, cases, trials, conversations (with a value), of (on file, of the
        metric's bucket) and reason.
    """
    chosen, rows = metric_of(metric), []
    for (panel, entry), mine in conversations_of(results).groupby(["panel", "entry"], sort=False):
        conversations = of_bucket(mine, chosen)
        found = headline(mine, chosen)
        nothing = why_none(mine, chosen.bucket)
        row = {"panel": panel, "entry": entry, "metric": metric, **pair(found), "per_trial": found.per_trial}
        row |= {"cases": found.n, "trials": int(conversations["trial"].nunique()), "of": len(conversations)}
        scored = int(conversations[chosen.column].notna().sum())
        rows.append(row | {"conversations": scored, "reason": nothing or found.reason})
    table = framed(rows, "panel entry metric median mean low high per_trial cases trials conversations of reason")
    table = table.sort_values(["mean", "entry"], ascending=[chosen.higher_is_better is False, True], na_position="last")
    return table.sort_values("panel", kind="stable", key=_panel_place, ignore_index=True)


@says_partial
def rank_table(results: Results | pd.DataFrame, metric: str, *, n_resamples: int = 4_000) -> pd.DataFrame:
    """Places in the order of one metric, with the best and the worst place the data do not rule out; each panel on its own.

    Imported records of different benchmarks, domains or reward bases are never ranked against each other.

    Parameters
    ----------
    metric : str
        A metric with a better direction.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, metric, rank, low, high, mean (over the cases all models of the panel have),
        cases, of (models) and reason.
    """
    chosen, rows = metric_of(metric), []
    for panel, mine in conversations_of(results).groupby("panel", sort=False):
        if panel in UNRANKED or chosen.higher_is_better is None:
            why = UNRANKED.get(panel, "neither direction of this metric is better")
            nothing = (nan, nan, nan, nan, 0, mine["entry"].nunique(), why)
            rows += [(panel, entry, metric, *nothing) for entry in mine["entry"].unique()]
            continue
        rows += _ranked(str(panel), mine, chosen, n_resamples)
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


def _ranked(panel: str, mine: pd.DataFrame, metric: Any, n_resamples: int) -> list[tuple]:
    """The rows of one panel.

    Models on another version of the cases than most, or on less than half of the cases, are left out with a note.
    """
    versions = mine.groupby("entry", sort=False)["store_version"].first()
    common = versions.value_counts().index[0]
    means, held = {}, {}
    intents: dict[str, str] = {}
    for entry, conversations in mine.groupby("entry", sort=False):
        values, case_ids, labels = case_matrix(conversations, metric)
        intents |= dict(zip(case_ids, labels, strict=True))
        if versions[entry] == common:
            with_value = ~np.isnan(values).all(axis=1) if values.size else np.zeros(0, dtype=bool)
            means[entry] = {
                c: float(np.nanmean(v)) for c, v, known in zip(case_ids, values, with_value, strict=True) if known
            }
            held[entry] = len(case_ids)
    most = max(held.values())
    means = {entry: known for entry, known in means.items() if not held[entry] or 2 * held[entry] >= most}
    cases = sorted(intents)
    table = np.array([[means[entry].get(c, nan) for c in cases] for entry in means]).reshape(len(means), len(cases))
    clusters = [intents[c] for c in cases]
    clustered = FEW_CLUSTERS <= len(set(clusters)) < len(clusters)
    found = rank_intervals(
        table,
        higher_is_better=metric.higher_is_better,
        clusters=clusters if clustered else None,
        n_resamples=n_resamples,
    )
    scale = metric.scale.factor(found.n)
    places = {entry: i for i, entry in enumerate(means)}
    rows = []
    for entry in versions.index:
        if entry not in places:
            other = f"run on {versions[entry]}, others on {common}"
            words = f"run on {held[entry]} of {most} cases" if entry in held else other
            rows.append((panel, entry, metric.name, nan, nan, nan, nan, 0, len(means), f"{words}: not ranked together"))
            continue
        i = places[entry]
        why = why_none(mine[mine["entry"] == entry], metric.bucket) or "no conversation was scored"
        none = "" if means[entry] else why
        place = (found.rank[i], found.low[i], found.high[i], scale * found.estimate[i], found.n, len(means))
        rows.append((panel, entry, metric.name, *place, sentence(none, found.reason)))
    return rows


def _panel_place(column: Any) -> Any:
    return column.map({panel: place for place, panel in enumerate(PANELS)}).fillna(len(PANELS))
