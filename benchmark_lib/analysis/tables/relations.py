"""Correlations: verbosity and quality between and within models, rankings, cost and quality."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ...scoring.metrics import METRICS
from ...scoring.written import counted
from ..cell import Row, fields, framed, grouped, interval
from ..estimators.agreement import correlation, within_model_correlation
from ..estimators.comparisons import adjust_pvalues
from ..estimators.estimate import sentence
from ..frames import Results
from ..panels import VARIANT, conversations_of, says_partial
from .headlines import by_case, headline, metric_of, of_bucket, values_of, why_none
from .measurements import published_board

VERBOSITY = "agent_messages"
QUALITY = [name for name, metric in METRICS.items() if metric.higher_is_better is not None and not metric.scale.money]
"""Metrics with a better direction, except cost."""


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

    One row per entry: panel, entry, source, family, one column per metric. A mean is NaN without a case of the metric's
    bucket, and for a count over fewer traps than others in the panel have.
    """
    names, sizes = list(metrics or METRICS), []

    def of_entry(group: pd.DataFrame) -> Row:
        row: Row = {"family": vendor_of(group["model"].iloc[0])}
        seen = {}
        for name in names:
            means = by_case(group, name).means
            means = means[~np.isnan(means)]
            seen[name] = len(means)
            row[name] = means.mean() * metric_of(name).scale.factor(len(means)) if len(means) else nan
        sizes.append(seen)
        return row

    table = grouped(conversations_of(results), of_entry, " ".join(["family", *names]), "panel entry source")
    counts = framed(sizes, " ".join(names))
    for name in (n for n in names if metric_of(n).scale.summed):
        table[name] = table[name].where(counts[name] == counts.groupby(table["panel"])[name].transform("max"))
    return table


def _uneven(conversations: pd.DataFrame, metric: str) -> str:
    """Return how many cases the models have, if numbers differ."""
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

    One row per panel and metric. ``estimate`` is Spearman's, with families resampled; ``p`` is by permutation, and
    ``p_holm`` adjusts it over the metrics of a panel. ``leave_one_low`` and ``leave_one_high`` are its range as each
    family is left out in turn.

    Parameters
    ----------
    x : str
        Metric to correlate with all others.
    metrics : sequence of str, optional
        By default the quality metrics.
    """
    metrics = [name for name in metrics or QUALITY if name != x]
    means, frame = model_means(results, [x, *metrics]), conversations_of(results)

    def of_panel(group: pd.DataFrame) -> Iterator[Row]:
        conversations = frame[frame["panel"] == group["panel"].iloc[0]]
        tests = [correlation(group[x], group[m], families=group["family"], n_resamples=n_resamples) for m in metrics]
        for metric, test, p_holm in zip(metrics, tests, adjust_pvalues([t.p for t in tests]), strict=True):
            row: Row = {"level": "between models", "x": x, "metric": metric, "title": METRICS[metric].title}
            row |= {"models": test.n, **fields(test, columns), "p_holm": float(p_holm)}
            uneven = dict.fromkeys(_uneven(conversations, name) for name in (x, metric))
            yield row | {"reason": sentence(test.reason, *uneven)}

    columns = "families estimate low high p leave_one_low leave_one_high"
    order = columns.replace(" p ", " p p_holm ")
    return grouped(means, of_panel, f"level x metric title models {order} reason", "panel")


@says_partial
def within_models(
    results: Results | pd.DataFrame,
    x: str = VERBOSITY,
    metrics: Sequence[str] | None = None,
    *,
    n_resamples: int = 2_000,
) -> pd.DataFrame:
    """Correlate one metric with others within models, without case difficulty, for each panel.

    One row per panel and metric, with a BCa interval over cases; the parameters are as for `between_models`.
    """

    def of_panel(group: pd.DataFrame) -> Iterator[Row]:
        for metric in (metric_of(name) for name in metrics or QUALITY if name != x):
            rows = of_bucket(group, metric)
            first, second = (values_of(rows, replace(m, bucket=None))[0] for m in (metric_of(x), metric))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # scipy warns of an undefined interval; the reason does so too
                result = within_model_correlation(
                    first, second, rows["case_id"], rows["entry"], n_resamples=n_resamples
                )
            row: Row = {"level": "within models", "x": x, "metric": metric.name, "title": metric.title}
            row |= {"models": rows["entry"].nunique(), "conversations": result.n, **interval(result)}
            yield row | {"reason": why_none(group, metric.bucket) or result.reason}

    columns = "level x metric title models conversations estimate low high reason"
    return grouped(conversations_of(results), of_panel, columns, "panel")


@says_partial
def cost_quality(results: Results | pd.DataFrame, metric: str = "resolved") -> pd.DataFrame:
    """Return cost and one metric, and which models no other model beats on both.

    One row per entry. ``usd_per_1000`` is the agent's cost, NaN if a price is unknown; ``value`` has the interval of
    the mean. ``frontier`` is True if no model of the panel beats this one, ``place`` says so in words, and ``of``
    counts the cases that the panel ran. Scripted agents cost nothing, so their panels have no frontier.
    """
    frame = conversations_of(results)
    cases = frame["case_id"].where(frame["bucket"] != VARIANT)
    total_of = cases.groupby(frame["panel"]).nunique()

    def of_entry(group: pd.DataFrame) -> Row:
        head, unpriced = headline(group, metric), int(group["cost_usd"].isna().sum())
        cost = nan if unpriced else 1000 * group["cost_usd"].mean()
        why = f"no known price for {counted(unpriced, 'conversation')}" if unpriced else head.reason
        own, total = cases[group.index].nunique(), total_of[group["panel"].iloc[0]]
        part = f"cost and value cover {own} of the {total} cases of its panel" if own < total else ""
        row = {"metric": metric, "usd_per_1000": cost, **interval(head.mean, "value"), "frontier": False}
        return row | {"cases": own, "of": total, "reason": sentence(why, part)}

    table = grouped(frame, of_entry, "metric usd_per_1000 value low high frontier cases of reason", "panel entry")
    sign = 1 if metric_of(metric).higher_is_better else -1
    for _, part in table.groupby("panel"):
        paid = (part["usd_per_1000"] > 0).any()
        table.loc[part.index, "frontier"] = paid & on_frontier(part["usd_per_1000"], sign * part["value"])
    return table.assign(place=["on the frontier" if front else "" for front in table["frontier"]])


def on_frontier(cost: Any, quality: Any) -> np.ndarray:
    """Return which points no other point beats in cost and quality; False for NaN.

    A point beats another if it is as cheap and as good, and better in one of the two. `cost`, `quality` and the
    returned array have the shape (models,).
    """
    c, q = np.asarray(cost, dtype=float), np.asarray(quality, dtype=float)
    with np.errstate(invalid="ignore"):
        as_good = (c[None, :] <= c[:, None]) & (q[None, :] >= q[:, None])
        better = (c[None, :] < c[:, None]) | (q[None, :] > q[:, None])
    beaten = (as_good & better).any(axis=1)
    return ~beaten & ~np.isnan(c) & ~np.isnan(q)
