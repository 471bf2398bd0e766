"""What goes with what.

Verbosity and quality between and within models, rankings, cost and quality.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...scoring.metrics import METRICS
from ..estimators.comparisons import adjust_pvalues
from ..estimators.correlations import correlation, within_model_correlation
from ..estimators.estimate import counted, sentence
from ..panels import VARIANT, conversations_of, says_partial
from .headlines import case_matrix, headline, metric_of, of_bucket, why_none
from .published import general_ranking, published_board
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

VERBOSITY = "agent_messages"
PUBLISHED_METRICS = {
    "resolution_pct": "Resolution",
    "over_escalation_pct": "Over-escalation",
    "unsafe_actions_of_18": "Unsafe actions",
    "escalation_accuracy_pct": "Escalation accuracy",
}
"""Columns of the published board that a general ranking is compared with."""


def quality_metrics() -> list[str]:
    """Return the metrics with a better direction, except cost."""
    return [name for name, metric in METRICS.items() if metric.higher_is_better is not None and not metric.scale.money]


def vendor_of(model: str) -> str:
    """Return a model's family: its vendor if known, else the first word of its name; a scripted agent is its own.

    Models of one vendor share training data, so they are not independent points.
    """
    if model.startswith("scripted:"):
        return model
    if "/" in model:
        return model.partition("/")[0].lower()
    return _vendors().get(_stem(model), _stem(model))


@lru_cache(maxsize=1)
def _vendors() -> dict[str, str]:
    board = published_board()
    known = {_stem(model): vendor for model, vendor in zip(board["model"], board["vendor"], strict=True)}
    return known | {"claude": known.get("sonnet", "Anthropic")}


def _stem(model: str) -> str:
    return "".join(c if c.isalpha() else " " for c in model.lower()).split(" ")[0] or model


@says_partial
def model_means(results: Results | pd.DataFrame, metrics: Iterable[str] | None = None) -> pd.DataFrame:
    """Return the mean of every metric for every model: over the trials of a case, then over cases.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, source, family, one column per metric; NaN where the model ran no case of the
        metric's bucket, and for a count where it ran fewer traps than others of its panel: such counts are not
        comparable.
    """
    names, rows = list(metrics or METRICS), []
    for (panel, entry, source), mine in conversations_of(results).groupby(["panel", "entry", "source"], sort=False):
        row: dict[str, Any] = {"panel": panel, "entry": entry, "source": source}
        row["family"] = vendor_of(mine["model"].iloc[0])
        for name in names:
            values, _, _ = case_matrix(mine, name)
            seen = values[~np.isnan(values).all(axis=1)] if values.size else values
            factor = metric_of(name).scale.factor(len(seen))
            row[name] = float(np.nanmean(seen, axis=1).mean() * factor) if seen.size else nan
            row[f"{name}_n"] = len(seen)
        rows.append(row)
    table = framed(rows, " ".join(["panel entry source family", *(f"{name} {name}_n" for name in names)]))
    for name in (n for n in names if metric_of(n).scale.summed):
        table[name] = table[name].where(table[f"{name}_n"] == table.groupby("panel")[f"{name}_n"].transform("max"))
    return table[["panel", "entry", "source", "family", *names]]


def cases_held(conversations: pd.DataFrame, metric: str) -> str:
    """Say how many cases of a metric the models have; empty if all have the same number."""
    chosen = metric_of(metric)
    rows = of_bucket(conversations, chosen)
    held = rows[rows[chosen.column].notna()].groupby("entry")["case_id"].nunique()
    return f"models have {held.min()} to {held.max()} cases each" if held.nunique() > 1 else ""


@says_partial
def between_models(
    results: Results | pd.DataFrame,
    x: str = VERBOSITY,
    metrics: Sequence[str] | None = None,
    *,
    n_resamples: int = 10_000,
) -> pd.DataFrame:
    """Correlate one metric with others over models by rank, each panel on its own.

    Parameters
    ----------
    x : str
        The metric that all others are compared with.
    metrics : sequence of str, optional
        By default the quality metrics.

    Returns
    -------
    DataFrame
        One row per panel and metric: panel, level (``between models``), x, metric, title, models, families, estimate
        (Spearman), low, high (families resampled), p (permutation), p_holm (over the metrics of a panel),
        leave_one_low, leave_one_high (without one family in turn) and reason.
    """
    metrics = [m for m in metrics or quality_metrics() if m != x]
    means, conversations, rows = model_means(results, [x, *metrics]), conversations_of(results), []
    for panel, mine in means.groupby("panel", sort=False):
        found = [correlation(mine[x], mine[m], families=mine["family"], n_resamples=n_resamples) for m in metrics]
        adjusted = adjust_pvalues([f.p for f in found])
        for metric, one, p_holm in zip(metrics, found, np.asarray(adjusted), strict=True):
            uneven = [cases_held(conversations[conversations["panel"] == panel], name) for name in (x, metric)]
            who = (panel, "between models", x, metric, METRICS[metric].title, one.n, one.families)
            numbers = (one.estimate, one.low, one.high, one.p, float(p_holm), one.leave_one_low, one.leave_one_high)
            rows.append((*who, *numbers, sentence(one.reason, *dict.fromkeys(uneven))))
    return framed(
        rows,
        "panel level x metric title models families estimate low high p p_holm leave_one_low leave_one_high reason",
    )


@says_partial
def within_models(
    results: Results | pd.DataFrame,
    x: str = VERBOSITY,
    metrics: Sequence[str] | None = None,
    *,
    n_resamples: int = 2_000,
) -> pd.DataFrame:
    """Correlate one metric with others within models, with the difficulty of the case removed, each panel on its own.

    Parameters
    ----------
    results, x, metrics
        As for `between_models`.

    Returns
    -------
    DataFrame
        One row per panel and metric: panel, level (``within models``), x, metric, title, models, conversations,
        estimate, low, high (BCa over cases) and reason.
    """
    frame, chosen, rows = conversations_of(results), metric_of(x), []
    for panel, mine in frame.groupby("panel", sort=False):
        for name in (m for m in metrics or quality_metrics() if m != x):
            metric = metric_of(name)
            conversations = of_bucket(mine, metric)
            first, second = (
                conversations[c].astype("Float64").to_numpy(dtype="float64", na_value=nan)
                for c in (chosen.column, metric.column)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy warns where an interval does not exist; the reason says so too
                found = within_model_correlation(
                    first, second, conversations["case_id"], conversations["entry"], n_resamples=n_resamples
                )
            reason = why_none(mine, metric.bucket) or found.reason
            who = (panel, "within models", x, name, metric.title, conversations["entry"].nunique(), found.n)
            rows.append((*who, found.estimate, found.low, found.high, reason))
    return framed(rows, "panel level x metric title models conversations estimate low high reason")


def ranking_against_desk(*, n_resamples: int = 10_000) -> pd.DataFrame:
    """Correlate a general ranking for customer support with published desk metrics, over the models on both lists.

    Returns
    -------
    DataFrame
        One row per metric: source (published), metric, models, families, estimate (Spearman of the general score), low,
        high, p, better (whether a positive value means that a higher score goes with a better desk), reason.
    """
    shared, rows = general_ranking(), []
    for column, title in PUBLISHED_METRICS.items():
        found = correlation(shared["score"], shared[column], families=shared["vendor"], n_resamples=n_resamples)
        better = column in ("resolution_pct", "escalation_accuracy_pct")
        numbers = (found.estimate, found.low, found.high, found.p)
        rows.append(("published", title, found.n, found.families, *numbers, better, found.reason))
    return framed(rows, "source metric models families estimate low high p better reason")


@says_partial
def cost_quality(results: Results | pd.DataFrame, metric: str = "resolved") -> pd.DataFrame:
    """Return cost and one metric, and which models no other model beats on both.

    Parameters
    ----------
    metric : str
        A metric with a better direction.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, metric, usd_per_1000 (agent, NaN where a price is unknown), value, low, high
        (interval of the mean), frontier (within its panel), cases of those its panel ran, reason and place (the
        frontier in words). A scripted agent costs nothing, so in its panels there is no frontier.
    """
    import pandas as pd

    frame, rows = conversations_of(results), []
    cases = frame["case_id"].where(frame["bucket"] != VARIANT).groupby(frame["panel"]).nunique()
    for (panel, entry), mine in frame.groupby(["panel", "entry"], sort=False):
        found = headline(mine, metric)
        cost = 1000 * mine["cost_usd"].mean() if mine["cost_usd"].notna().all() else nan
        unpriced = counted(int(mine["cost_usd"].isna().sum()), "conversation")
        priced = "" if cost == cost else f"no known price for {unpriced}"
        held, of = mine.loc[mine["bucket"] != VARIANT, "case_id"].nunique(), int(cases[panel])
        part = f"cost and value cover {held} of the {of} cases of its panel" if held < of else ""
        value = (found.mean.estimate, found.mean.low, found.mean.high)
        rows.append((panel, entry, metric, cost, *value, held, of, sentence(priced or found.reason, part)))
    table = framed(rows, "panel entry metric usd_per_1000 value low high cases of reason")
    sign = 1 if metric_of(metric).higher_is_better else -1
    best = pd.Series(False, index=table.index)
    for _, part in table.groupby("panel"):
        first = on_frontier(part["usd_per_1000"], sign * part["value"])
        best.loc[part.index] = first & (part["usd_per_1000"] > 0).any()
    table.insert(7, "frontier", best)
    return table.assign(place=["on the frontier" if front else "" for front in best])


def on_frontier(cost: Any, quality: Any) -> np.ndarray:
    """Return which points no other point beats: as cheap and as good, and better in one of both; NaN is never on it.

    Parameters
    ----------
    cost, quality : array_like of float, shape (models,)

    Returns
    -------
    ndarray of bool, shape (models,)
    """
    c, q = np.asarray(cost, dtype=float), np.asarray(quality, dtype=float)
    with np.errstate(invalid="ignore"):
        as_good = (c[None, :] <= c[:, None]) & (q[None, :] >= q[:, None])
        better = (c[None, :] < c[:, None]) | (q[None, :] > q[:, None])
    beaten = (as_good & better).any(axis=1)
    return ~beaten & ~np.isnan(c) & ~np.isnan(q)
