"""Correlations between models, with vendors' families as the units, and within models, with cases as the units."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np

from ...errors import BadInput
from ...scoring.written import percent
from .estimate import Estimate, counted, generator, group_index, left_out, sentence

FEW_FAMILIES = 4


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Rank correlation over models.

    Attributes
    ----------
    families : int
        Units of the bootstrap.
    leave_one_out : dict
        The correlation without each family in turn.
    leave_one_low, leave_one_high : float
        Range of those.
    partial, partial_p : float
        Correlation among models of the same tier, and its p-value from permutations within tiers; NaN without `tier`.
    """

    families: int = 0
    leave_one_out: dict = field(default_factory=dict)
    leave_one_low: float = nan
    leave_one_high: float = nan
    partial: float = nan
    partial_p: float = nan


@dataclass(frozen=True, kw_only=True)
class WithinCorrelation(Estimate):
    """Correlation within models on case-centred values; `per_model` has the same for each model alone."""

    per_model: dict = field(default_factory=dict)


def correlation(
    x,
    y,
    *,
    method: str = "spearman",
    families=None,
    tier=None,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Correlation:
    """Rank correlation of two metrics over models.

    Parameters
    ----------
    x, y : array_like of float, shape (models,)
        A model with a NaN is left out and counted.
    method : {"spearman", "kendall"}
        Kendall's is tau-b.
    families : array_like, shape (models,), optional
        Vendor of each model; each model is its own family when not given.
    tier : array_like, shape (models,), optional
        Cost tier, taken as a category: Spearman centres the ranks within tiers, Kendall counts pairs of one tier.

    Returns
    -------
    Correlation
        `p` from `scipy.stats.permutation_test`: every permutation up to `n_resamples` of them, else a random sample;
        two-sided as twice the smaller one-sided value. It takes models as exchangeable, which families break; the
        interval, percentiles over resampled families and stretched to hold the estimate, does not.
    """
    if method not in ("spearman", "kendall"):
        raise BadInput(f"method is {method!r}: choose spearman or kendall.")
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    if x.size != y.size:
        raise BadInput(f"x has {x.size} models and y {y.size}: give both for the same models.")
    kept = ~(np.isnan(x) | np.isnan(y))
    lacking = left_out(kept, "model", "without both values")
    family = np.arange(x.size) if families is None else np.asarray(families, dtype=object).ravel()
    names, index = group_index(family[kept])
    x, y = x[kept], y[kept]
    estimand = f"{method} correlation over models, families like these"
    common: dict[str, Any] = dict(n=x.size, families=len(names), estimand=estimand, confidence=confidence)
    if x.size < 3 or min(np.ptp(x), np.ptp(y)) == 0:
        undefined = "fewer than three models" if x.size < 3 else "one metric is the same for every model"
        return Correlation(estimate=nan, reason=sentence(undefined, lacking), **common)
    stream = generator(rng)
    point = float(weighted_correlation(x, y, np.ones((1, x.size)), method)[0])
    low, high, se, thin = _family_bootstrap(x, y, index, method, n_resamples, confidence, stream)
    low, high = min(low, point), max(high, point)
    partial, partial_p = nan, nan
    if tier is not None:
        tiers = np.asarray(tier, dtype=object).ravel()[kept]
        partial, partial_p = _partial(x, y, tiers, method, n_resamples, stream)
    broken = "p treats models of one family as independent" if families is not None and len(names) < x.size else ""
    return Correlation(
        estimate=point,
        low=low,
        high=high,
        se=se,
        p=_permutation_p(x, y, method, n_resamples, stream),
        partial=partial,
        partial_p=partial_p,
        reason=sentence(thin, broken, lacking),
        method=f"percentiles of {n_resamples} resamples of {counted(len(names), 'family', 'families')}; permutation p",
        **_without_each(x, y, names, index, method),
        **common,
    )


def _without_each(x: np.ndarray, y: np.ndarray, names: np.ndarray, index: np.ndarray, method: str) -> dict[str, Any]:
    """The correlation without each family in turn, and the range of those."""
    without = weighted_correlation(x, y, (index[None, :] != np.arange(len(names))[:, None]).astype(float), method)
    known = without[~np.isnan(without)]
    low, high = (float(known.min()), float(known.max())) if known.size else (nan, nan)
    each = dict(zip(names.tolist(), without.tolist()))
    return {"leave_one_out": each, "leave_one_low": low, "leave_one_high": high}


def within_model_correlation(
    x,
    y,
    cases,
    models=None,
    *,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> WithinCorrelation:
    """Pearson correlation of two metrics of conversations within models, with the difficulty of the case removed.

    The mean of its case (over all models and trials given) and then the mean of its model are subtracted from each
    value; the remainders are pooled. Raw correlations within a model mostly say that hard cases take more words.

    Parameters
    ----------
    x, y : array_like of float, shape (conversations,)
        A conversation with a NaN is left out and counted.
    cases : array_like, shape (conversations,)
    models : array_like, shape (conversations,), optional
        By default all values belong to one model.

    Returns
    -------
    WithinCorrelation
        Interval: BCa bootstrap over whole cases. `n` counts conversations.
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    cases = np.asarray(cases, dtype=object).ravel()
    models = np.full(x.size, "model", dtype=object) if models is None else np.asarray(models, dtype=object).ravel()
    if not x.size == y.size == cases.size == models.size:
        raise BadInput(
            f"x, y, cases and models have {x.size}, {y.size}, {cases.size} and {models.size} entries: give one per conversation."
        )
    kept = ~(np.isnan(x) | np.isnan(y))
    lacking = left_out(kept, "conversation", "without both values")
    estimand = "correlation within models with the case held fixed, cases like these"
    common: dict[str, Any] = dict(n=int(kept.sum()), estimand=estimand, confidence=confidence)
    _, case = group_index(cases[kept])
    names, model = group_index(models[kept])
    x, y = (_centred(_centred(values[kept], case), model) for values in (x, y))
    products = np.stack([np.bincount(case, weights=w) for w in (x * y, x * x, y * y)]) if x.size else np.zeros((3, 0))
    total = products.sum(axis=1)
    if total[1] <= 1e-12 or total[2] <= 1e-12:
        reason = "nothing varies within a case: several trials or differing models are needed"
        return WithinCorrelation(estimate=nan, reason=sentence(reason, lacking), **common)
    squares = (x * y, x * x, y * y)
    per_model = {name: _pearson_sums(*(float(w[model == i].sum()) for w in squares)) for i, name in enumerate(names)}
    low, high, se = _case_bootstrap(products, n_resamples, confidence, generator(rng))
    unknown = "no interval from so few cases" if np.isnan(low) else ""
    return WithinCorrelation(
        estimate=_pearson_sums(*total),
        low=low,
        high=high,
        se=se,
        per_model=per_model,
        method=f"BCa over {counted(products.shape[1], 'case')}",
        reason=sentence(unknown, lacking),
        **common,
    )


def weighted_correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray, method: str) -> np.ndarray:
    """Correlation of weighted models.

    Parameters
    ----------
    x, y : ndarray, shape (models,)
    weights : ndarray, shape (rows, models)
        How often each model counts; a row of weights is one correlation.
    method : {"spearman", "kendall"}

    Returns
    -------
    ndarray, shape (rows,)
        NaN where one of the two is constant.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if method == "kendall":
            sx, sy = (np.sign(v[:, None] - v[None, :]) for v in (x, y))
            pairs = [((weights @ matrix) * weights).sum(axis=1) for matrix in (sx * sy, sx * sx, sy * sy)]
            return pairs[0] / np.sqrt(pairs[1] * pairs[2])
        ranks = [weights @ ((v[:, None] < v[None, :]) + 0.5 * (v[:, None] == v[None, :])) for v in (x, y)]
        size = weights.sum(axis=1, keepdims=True)
        rx, ry = (rank - (weights * rank).sum(axis=1, keepdims=True) / size for rank in ranks)
        spread = (weights * rx * rx).sum(axis=1) * (weights * ry * ry).sum(axis=1)
        return (weights * rx * ry).sum(axis=1) / np.sqrt(np.where(spread > 1e-12, spread, nan))


def _family_bootstrap(x, y, index, method, n_resamples, confidence, rng) -> tuple[float, float, float, str]:
    """Percentile interval and standard error over resampled families, and why there is none."""
    families = int(index.max()) + 1
    if families < FEW_FAMILIES:
        return nan, nan, nan, f"no interval from {counted(families, 'family', 'families')}"
    times = rng.multinomial(families, np.full(families, 1 / families), size=n_resamples).astype(float)
    values = weighted_correlation(x, y, times[:, index], method)
    values = values[~np.isnan(values)]
    lost = 1 - values.size / n_resamples
    thin = f"{percent(lost)} of the resamples left out: one metric is the same in all of them" if lost >= 0.01 else ""
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high), float(values.std(ddof=1)), thin


def _permutation_p(x, y, method, n_resamples, rng) -> float:
    """Two-sided p-value of independence, models exchangeable."""
    from scipy.stats import permutation_test, rankdata

    if method == "spearman":
        ranks = rankdata(y) - (y.size + 1) / 2

        def statistic(values, axis=-1):
            return (values * ranks).sum(axis=axis)
    else:
        signs = np.sign(y[:, None] - y[None, :])

        def statistic(values, axis=-1):
            return (np.sign(values[..., :, None] - values[..., None, :]) * signs).sum(axis=(-1, -2))

    batch = max(1, 4_000_000 // (x.size if method == "spearman" else x.size**2))
    test = permutation_test(
        (rankdata(x),),
        statistic,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=n_resamples,
        batch=batch,
        axis=-1,
        rng=rng,
    )
    return float(test.pvalue)


def _partial(x, y, tier, method, n_resamples, rng) -> tuple[float, float]:
    """Correlation within tiers and its p-value from permutations within tiers (twice the smaller one-sided value)."""
    from scipy.stats import rankdata

    _, group = group_index(tier)
    if method == "spearman":
        first, second = (_centred(rankdata(v), group) for v in (x, y))
        scale = np.sqrt((first @ first) * (second @ second))

        def statistic(order):
            return second[order] @ first
    else:
        same = group[:, None] == group[None, :]
        first, second = (np.sign(v[:, None] - v[None, :]) * same for v in (x, y))
        scale = np.sqrt((first**2).sum() * (second**2).sum())

        def statistic(order):
            return np.stack([(first * second[np.ix_(o, o)]).sum() for o in order])

    if scale <= 1e-12:
        return nan, nan
    observed = float(statistic(np.arange(x.size)[None, :])[0])
    orders = np.tile(np.arange(x.size), (n_resamples, 1))
    for number in range(int(group.max()) + 1):
        members = np.flatnonzero(group == number)
        orders[:, members] = rng.permuted(orders[:, members], axis=1)
    values = statistic(orders)
    tolerance = 1e-9 * scale
    tails = [(values >= observed - tolerance).sum(), (values <= observed + tolerance).sum()]
    return float(observed / scale), float(min(1, 2 * (min(tails) + 1) / (n_resamples + 1)))


def _centred(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Values minus the mean of their group."""
    if not values.size:
        return values
    return values - (np.bincount(index, weights=values) / np.bincount(index))[index]


def _pearson_sums(xy: float, xx: float, yy: float) -> float:
    return float(xy / np.sqrt(xx * yy)) if xx > 1e-12 and yy > 1e-12 else nan


def _case_bootstrap(products: np.ndarray, n_resamples, confidence, rng) -> tuple[float, float, float]:
    """BCa interval of the pooled correlation from the sums of products of each case, shape (3, cases)."""
    from scipy.stats import bootstrap

    if products.shape[1] < 3:
        return nan, nan, nan

    def pooled(xy, xx, yy, axis=-1):
        return xy.sum(axis=axis) / np.sqrt(xx.sum(axis=axis) * yy.sum(axis=axis))

    with np.errstate(invalid="ignore", divide="ignore"):
        result = bootstrap(
            tuple(products),
            pooled,
            paired=True,
            vectorized=True,
            n_resamples=n_resamples,
            confidence_level=confidence,
            batch=max(1, 4_000_000 // products.size),
            method="BCa",
            rng=rng,
        )
    return float(result.confidence_interval.low), float(result.confidence_interval.high), float(result.standard_error)
