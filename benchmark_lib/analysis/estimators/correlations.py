"""Correlations between models (units: vendors' families) and within models (units: cases)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from ...errors import BadInput
from ...scoring.written import percent
from .estimate import TAILS, Estimate, counted, generator, group_index, left_out, sentence
from .intervals import resampled

FEW_FAMILIES = 4
_BATCH_ELEMENTS = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Rank correlation over models.

    `families` is the number of units of the bootstrap. `leave_one_low` and `leave_one_high` are the lowest and highest
    correlation if one family is left out.
    """

    families: int = 0
    leave_one_low: float = nan
    leave_one_high: float = nan


def correlation(
    x, y, *, families=None, n_resamples: int = 10_000, rng: np.random.Generator | None = None
) -> Correlation:
    """Estimate Spearman's rank correlation of two metrics over models.

    `p` is twice the smaller one-sided value of `scipy.stats.permutation_test`, which draws a sample if there are more
    than `n_resamples` permutations. It treats models as exchangeable, although families are not. The interval consists
    of percentiles over resampled families, stretched to contain the estimate.

    Parameters
    ----------
    x, y : array_like of float, shape (models,)
        Models with a NaN are left out and counted.
    families : array_like, shape (models,), optional
        Vendor of each model; by default each model is a family.
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    if x.size != y.size:
        raise BadInput(f"x has {x.size} models and y {y.size}: pass both for the same models.")
    kept = ~(np.isnan(x) | np.isnan(y))
    lacking = left_out(kept, "model", "without both values")
    family = np.arange(x.size) if families is None else np.asarray(families, dtype=object).ravel()
    index, many = group_index(family[kept])
    x, y = x[kept], y[kept]
    estimand = "spearman correlation over models, families like these"
    common: dict[str, Any] = dict(n=x.size, families=many, estimand=estimand)
    if x.size < 3 or min(np.ptp(x), np.ptp(y)) == 0:
        undefined = "fewer than three models" if x.size < 3 else "one metric is the same for every model"
        return Correlation(estimate=nan, reason=sentence(undefined, lacking), **common)
    stream = generator(rng)
    point = float(weighted_correlation(x, y, np.ones((1, x.size)))[0])
    low, high, se, thin = _family_bootstrap(x, y, index, n_resamples, stream)
    without = weighted_correlation(x, y, (index[None, :] != np.arange(many)[:, None]).astype(float))
    known = without[~np.isnan(without)]
    broken = "p treats models of one family as independent" if families is not None and many < x.size else ""
    return Correlation(
        estimate=point,
        low=min(low, point),
        high=max(high, point),
        se=se,
        p=_permutation_p(x, y, n_resamples, stream),
        leave_one_low=float(known.min()) if known.size else nan,
        leave_one_high=float(known.max()) if known.size else nan,
        reason=sentence(thin, broken, lacking),
        method=f"percentiles of {n_resamples} resamples of {counted(many, 'family', 'families')}; permutation p",
        **common,
    )


def weighted_correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of weighted models, one per row of weights; NaN if constant.

    The weights, shape (rows, models), say how often each model counts.
    """
    # One product for all resamples: scipy.stats.spearmanr on each takes 200 times as long (12 models).
    ranks = [weights @ ((v[:, None] < v[None, :]) + 0.5 * (v[:, None] == v[None, :])) for v in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        size = weights.sum(axis=1, keepdims=True)
        rx, ry = (rank - (weights * rank).sum(axis=1, keepdims=True) / size for rank in ranks)
        spread = (weights * rx * rx).sum(axis=1) * (weights * ry * ry).sum(axis=1)
        return (weights * rx * ry).sum(axis=1) / np.sqrt(np.where(spread > 1e-12, spread, nan))


def _family_bootstrap(x, y, index, n_resamples, rng) -> tuple[float, float, float, str]:
    families = int(index.max()) + 1
    if families < FEW_FAMILIES:
        return nan, nan, nan, f"no interval from {counted(families, 'family', 'families')}"
    times = rng.multinomial(families, np.full(families, 1 / families), size=n_resamples).astype(float)
    values = weighted_correlation(x, y, times[:, index])
    values = values[~np.isnan(values)]
    lost = 1 - values.size / n_resamples
    thin = f"{percent(lost)} of the resamples left out: one metric is the same in all of them" if lost >= 0.01 else ""
    low, high = np.quantile(values, TAILS)
    return float(low), float(high), float(values.std(ddof=1)), thin


def _permutation_p(x, y, n_resamples, rng) -> float:
    from scipy.stats import permutation_test, rankdata

    ranks = rankdata(y) - (y.size + 1) / 2
    test = permutation_test(
        (rankdata(x),),
        lambda values, axis=-1: (values * ranks).sum(axis=axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, _BATCH_ELEMENTS // x.size),
        axis=-1,
        rng=rng,
    )
    return float(test.pvalue)


def within_model_correlation(
    x, y, cases, models=None, *, n_resamples: int = 10_000, rng: np.random.Generator | None = None
) -> Estimate:
    """Estimate the Pearson correlation of two metrics within models, without case difficulty.

    From each value, the mean of its case (over all models and trials) is subtracted, then the mean of its model; the
    remainders are pooled. Raw correlations within a model mostly show that hard cases take more words.
    The interval is the BCa bootstrap over whole cases, and `n` counts conversations.

    Parameters
    ----------
    x, y, cases, models : array_like, shape (conversations,)
        Conversations with a NaN are left out and counted; without `models` all values belong to one model.
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    cases = np.asarray(cases, dtype=object).ravel()
    models = np.full(x.size, "model", dtype=object) if models is None else np.asarray(models, dtype=object).ravel()
    if not x.size == y.size == cases.size == models.size:
        sizes = f"{x.size}, {y.size}, {cases.size} and {models.size}"
        raise BadInput(f"x, y, cases and models have {sizes} entries: pass one per conversation.")
    kept = ~(np.isnan(x) | np.isnan(y))
    lacking = left_out(kept, "conversation", "without both values")
    estimand = "correlation within models with the case held fixed, cases like these"
    common: dict[str, Any] = dict(n=int(kept.sum()), estimand=estimand)
    case, model = group_index(cases[kept])[0], group_index(models[kept])[0]
    x, y = (_centred(_centred(values[kept], case), model) for values in (x, y))
    products = np.stack([np.bincount(case, weights=w) for w in (x * y, x * x, y * y)])
    total = products.sum(axis=1)
    if total[1] <= 1e-12 or total[2] <= 1e-12:
        reason = "nothing varies within a case: several trials or differing models are needed"
        return Estimate(estimate=nan, reason=sentence(reason, lacking), **common)
    low, high, se, unknown = nan, nan, nan, "no interval from so few cases"
    if products.shape[1] >= 3:
        draws = resampled(_pooled, products, "BCa", n_resamples, rng)
        (low, high), se = draws.confidence_interval, draws.standard_error
        unknown = unknown if np.isnan(low) else ""
    return Estimate(
        estimate=float(total[0] / np.sqrt(total[1] * total[2])),
        low=float(low),
        high=float(high),
        se=float(se),
        method=f"BCa over {counted(products.shape[1], 'case')}",
        reason=sentence(unknown, lacking),
        **common,
    )


def _centred(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    return values - (np.bincount(index, weights=values) / np.bincount(index))[index]


def _pooled(xy, xx, yy, axis=-1):
    return xy.sum(axis=axis) / np.sqrt(xx.sum(axis=axis) * yy.sum(axis=axis))
