"""Correlations: verbosity and quality between and within models, rankings, cost and quality."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...scoring.metrics import METRICS
from ..estimators.comparisons import adjust_pvalues
from ..estimators.correlations import correlation, within_model_correlation
from ..estimators.estimate import counted, sentence
from ..panels import VARIANT, conversations_of, says_partial
from .comparison import Side
from .headlines import headline, metric_of, of_bucket, values_of, why_none
from .published import general_ranking, published_board
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

VERBOSITY = "agent_messages"
QUALITY = [name for name, metric in METRICS.items() if metric.higher_is_better is not None and not metric.scale.money]
"""Metrics with a better direction, except cost."""
PUBLISHED_METRICS = {
    "resolution_pct": "Resolution",
    "over_escalation_pct": "Over-escalation",
    "unsafe_actions_of_18": "Unsafe actions",
    "escalation_accuracy_pct": "Escalation accuracy",
}
"""Columns of the published board that are compared with a general ranking."""


def vendor_of(model: str) -> str:
    """Return a model's family: its known vendor, else the first word of its name.

    Models of one vendor share training data, so they are not independent points. A scripted agent is its own family.
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
    """Return every metric's mean for every model: over the trials of a case, then over cases.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, source, family, one column per metric. NaN without a case of the metric's
        bucket, and for a count over fewer traps than others of the panel, since such counts are not comparable.
    """
    names, rows, sizes = list(metrics or METRICS), [], []
    for (panel, entry, source), group in conversations_of(results).groupby(["panel", "entry", "source"], sort=False):
        side = Side(group)
        values = {name: side.values(metric_of(name)) for name in names}
        seen = {name: counts.means[counts.trials > 0] for name, counts in values.items()}
        means = [m.mean() * metric_of(n).scale.factor(len(m)) if len(m) else nan for n, m in seen.items()]
        rows.append((panel, entry, source, vendor_of(group["model"].iloc[0]), *means))
        sizes.append({name: len(means) for name, means in seen.items()})
    table, counts = framed(rows, " ".join(["panel entry source family", *names])), framed(sizes, " ".join(names))
    for name in (n for n in names if metric_of(n).scale.summed):
        table[name] = table[name].where(counts[name] == counts.groupby(table["panel"])[name].transform("max"))
    return table


def cases_held(conversations: pd.DataFrame, metric: str) -> str:
    """Return how many cases of a metric the models have; empty if all have the same number."""
    chosen = metric_of(metric)
    rows = of_bucket(conversations, chosen).dropna(subset=[chosen.column])
    counts = rows.groupby("entry")["case_id"].nunique()
    return f"models have {counts.min()} to {counts.max()} cases each" if counts.nunique() > 1 else ""


@says_partial
def between_models(
    results: Results | pd.DataFrame,
    x: str = VERBOSITY,
    metrics: Sequence[str] | None = None,
    *,
    n_resamples: int = 10_000,
) -> pd.DataFrame:
    """Correlate one metric with others over models by rank, for each panel.

    Parameters
    ----------
    x : str
        Metric with which all others are compared.
    metrics : sequence of str, optional
        By default the quality metrics.

    Returns
    -------
    DataFrame
        One row per panel and metric: panel, level (``between models``), x, metric, title, models, families, estimate
        (Spearman), low, high (families resampled), p (permutation), p_holm (over the metrics of a panel),
        leave_one_low, leave_one_high (without one family in turn) and reason.
    """
    metrics = [name for name in metrics or QUALITY if name != x]
    means, conversations, rows = model_means(results, [x, *metrics]), conversations_of(results), []
    for panel, group in means.groupby("panel", sort=False):
        tests = [correlation(group[x], group[m], families=group["family"], n_resamples=n_resamples) for m in metrics]
        for metric, c, p_holm in zip(metrics, tests, adjust_pvalues([f.p for f in tests]), strict=True):
            uneven = [cases_held(conversations[conversations["panel"] == panel], name) for name in (x, metric)]
            who = (panel, "between models", x, metric, METRICS[metric].title, c.n, c.families)
            numbers = (c.estimate, c.low, c.high, c.p, float(p_holm), c.leave_one_low, c.leave_one_high)
            rows.append((*who, *numbers, sentence(c.reason, *dict.fromkeys(uneven))))
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
    """Correlate one metric with others within models, without case difficulty, for each panel.

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
    for panel, group in frame.groupby("panel", sort=False):
        for name in (name for name in metrics or QUALITY if name != x):
            metric = metric_of(name)
            conversations = of_bucket(group, metric)
            first, second = (values_of(conversations, replace(m, bucket=None))[0] for m in (chosen, metric))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy warns of an undefined interval; the reason does so too
                result = within_model_correlation(
                    first, second, conversations["case_id"], conversations["entry"], n_resamples=n_resamples
                )
            reason = why_none(group, metric.bucket) or result.reason
            who = (panel, "within models", x, name, metric.title, conversations["entry"].nunique(), result.n)
            rows.append((*who, result.estimate, result.low, result.high, reason))
    return framed(rows, "panel level x metric title models conversations estimate low high reason")


def ranking_against_desk() -> pd.DataFrame:
    """Correlate a general ranking for customer support with published metrics of the desk.

    Returns
    -------
    DataFrame
        One row per metric, over the models on both lists: source (published), metric, models, families, estimate
        (Spearman of the general score), low, high, p, better (True if a higher metric is better), reason.
    """
    shared, rows = general_ranking(), []
    for column, title in PUBLISHED_METRICS.items():
        result = correlation(shared["score"], shared[column], families=shared["vendor"])
        better = column in ("resolution_pct", "escalation_accuracy_pct")
        numbers = (result.estimate, result.low, result.high, result.p)
        rows.append(("published", title, result.n, result.families, *numbers, better, result.reason))
    return framed(rows, "source metric models families estimate low high p better reason")


@says_partial
def cost_quality(results: Results | pd.DataFrame, metric: str = "resolved") -> pd.DataFrame:
    """Return cost and one metric, and which models no other model beats on both.

    Returns
    -------
    DataFrame
        One row per entry: panel, entry, metric, usd_per_1000 (agent, NaN if a price is unknown), value, low, high
        (interval of the mean), frontier (within its panel), cases of those its panel ran, reason and place (the
        frontier in words). Scripted agents cost nothing, so their panels have no frontier.
    """
    frame, rows = conversations_of(results), []
    cases = frame["case_id"].where(frame["bucket"] != VARIANT)
    for (panel, entry), group in frame.groupby(["panel", "entry"], sort=False):
        head, unpriced = headline(group, metric), int(group["cost_usd"].isna().sum())
        cost = nan if unpriced else 1000 * group["cost_usd"].mean()
        why = f"no known price for {counted(unpriced, 'conversation')}" if unpriced else head.reason
        own, total = (cases[frame[key] == name].nunique() for key, name in (("entry", entry), ("panel", panel)))
        part = f"cost and value cover {own} of the {total} cases of its panel" if own < total else ""
        value = (head.mean.estimate, head.mean.low, head.mean.high)
        rows.append((panel, entry, metric, cost, *value, False, own, total, sentence(why, part)))
    table = framed(rows, "panel entry metric usd_per_1000 value low high frontier cases of reason")
    sign = 1 if metric_of(metric).higher_is_better else -1
    for _, part in table.groupby("panel"):
        paid = (part["usd_per_1000"] > 0).any()
        table.loc[part.index, "frontier"] = paid & on_frontier(part["usd_per_1000"], sign * part["value"])
    return table.assign(place=["on the frontier" if front else "" for front in table["frontier"]])


def on_frontier(cost: Any, quality: Any) -> np.ndarray:
    """Return which points no other point beats in cost and quality; False for NaN.

    A point beats another if it is as cheap and as good, and better in one of both. `cost`, `quality` and the returned
    array have the shape (models,).
    """
    c, q = np.asarray(cost, dtype=float), np.asarray(quality, dtype=float)
    with np.errstate(invalid="ignore"):
        as_good = (c[None, :] <= c[:, None]) & (q[None, :] >= q[:, None])
        better = (c[None, :] < c[:, None]) | (q[None, :] > q[:, None])
    beaten = (as_good & better).any(axis=1)
    return ~beaten & ~np.isnan(c) & ~np.isnan(q)
