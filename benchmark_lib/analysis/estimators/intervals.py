"""Intervals of a mean or share: exact, clustered, posterior, or bootstrapped over cases.

The hierarchical beta-binomial at the end also gives the intervals of pass^k and of unsafe actions. Units ``i`` (traps,
cases, intents) have chances ``theta_i ~ Beta(mu * kappa, (1 - mu) * kappa)``. The prior is ``mu ~ U(0, 1)`` and
``kappa ** -0.5 ~ half-Cauchy(1)`` (Gelman et al., *Bayesian Data Analysis*, 3rd ed., sections 5.3 and 5.7: a proper,
weak prior on the spread). The grid is dense at both ends of `mu`, where good and bad models are. Its cells have equal
prior mass in the spread, so sums over it are integrals. Nothing is drawn at random.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache
from math import ceil, floor, isnan, nan, sqrt
from typing import Any, NamedTuple

import numpy as np

from ...errors import BadInput
from ...scoring.written import counted
from .estimate import (
    FEW_CLUSTERS,
    TAILS,
    Estimate,
    exact_bound,
    generator,
    group_index,
    left_out,
    sentence,
)

_BATCH_ELEMENTS = 4_000_000
_ROUNDING = 1e-9
_PROPORTION_METHODS = {"wilson": "wilson", "clopper-pearson": "beta", "jeffreys": "jeffreys"}
_MU_CELLS, _SPREAD_CELLS = 48, 24


def proportion_interval(count: int, n: int, method: str = "wilson", *, confidence: float = 0.95) -> Estimate:
    """Estimate a share of independent conversations with its interval.

    The method is ``"wilson"``, ``"clopper-pearson"`` or ``"jeffreys"`` (Brown, Cai and DasGupta 2001); every interval
    includes 0 or 1 if the share is 0 or 1.
    """
    if method not in _PROPORTION_METHODS:
        raise BadInput(f"method is {method!r}: choose one of {', '.join(_PROPORTION_METHODS)}.")
    if not 0 <= count <= n:
        raise BadInput(f"count is {count} of {n}: it must be between 0 and n.")
    common: dict[str, Any] = dict(n=int(n), method=method, confidence=confidence)
    common["estimand"] = "chance of a success in one conversation"
    if n == 0:
        return Estimate(estimate=nan, reason="no conversation counts here", **common)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(count, n, alpha=1 - confidence, method=_PROPORTION_METHODS[method])
    share = count / n
    low, high = 0.0 if count == 0 else float(low), 1.0 if count == n else float(high)
    return Estimate(estimate=share, low=low, high=high, se=sqrt(share * (1 - share) / n), **common)


def cautious_share(right, wrong, *, confidence: float = 0.95) -> Estimate:
    """Estimate the share right among right and wrong, with the exact interval over whole cases.

    `right` and `wrong` are the shares of each case's trials that ended that way; any remainder is not counted. Each
    case counts as at most one unit, whatever its number of trials. The shares are summed over cases and rounded to
    whole cases: against the model for the lower end, in its favour for the upper. The interval is that of Clopper and
    Pearson (1934). Each end misses at most ``(1 - confidence) / 2`` of the time, whatever the true share. Cases of
    different difficulty make a sum of outcomes vary less than a binomial count (Hoeffding 1956). `n` is the number of
    cases with a trial that counts.
    """
    right, wrong = np.asarray(right, dtype=float), np.asarray(wrong, dtype=float)
    if right.shape != wrong.shape or not ((right >= 0) & (wrong >= 0) & (right + wrong < 1 + _ROUNDING)).all():
        shares = "shares of the trials of the same cases"
        raise BadInput(f"right and wrong must be {shares} that add up to at most 1 in each case.")
    good, bad, n = float(right.sum()), float(wrong.sum()), int((right + wrong > 0).sum())
    common: dict[str, Any] = dict(n=n, estimand="share right, cases like these", confidence=confidence)
    if not n:
        return Estimate(estimate=nan, reason="no conversation counts here", **common)
    against = floor(good + _ROUNDING), ceil(bad - _ROUNDING)
    in_favour = ceil(good - _ROUNDING), floor(bad + _ROUNDING)
    low, high = (
        proportion_interval(k, k + rest, "clopper-pearson", confidence=confidence) for k, rest in (against, in_favour)
    )
    return Estimate(
        estimate=good / (good + bad),
        low=0.0 if isnan(low.low) else low.low,
        high=1.0 if isnan(high.high) else high.high,
        method="Clopper-Pearson over whole cases, rounded outwards",
        **common,
    )


def clustered_mean(values, clusters, *, bounds: tuple[float, float] | None = (0.0, 1.0)) -> Estimate:
    """Estimate the mean over cases by Student's t with a cluster-robust standard error.

    The standard error has ``G - 1`` degrees of freedom (Liang and Zeger 1986, with the small-sample factor of Cameron
    and Miller 2015): ``se**2 = G / (G - 1) * sum_g (sum_{i in g} (y_i - mean))**2 / N**2``. Near 0 or 1, where t covers
    too little, use `clustered_rate`.

    Parameters
    ----------
    values, clusters : array_like, shape (cases,)
        One value per case, averaged over its trials, and the case's cluster; NaN is left out and counted.
    bounds : (float, float) or None
        Possible range of a value, for the exact bound if all values are equal; None for an unbounded metric.
    """
    values, index, groups, lacking = _clean_clusters(values, clusters)
    common: dict[str, Any] = dict(n=values.size, estimand="mean over cases, clusters like these")
    if not values.size:
        return Estimate(estimate=nan, reason=lacking or "no case has a value", **common)
    mean = float(values.mean())
    if groups < 2:
        alone = "one cluster shows no spread between clusters"
        return Estimate(estimate=mean, reason=sentence(alone, lacking), **common)
    if np.ptp(values) == 0:
        return _all_alike(mean, groups, f"over {groups} clusters", bounds, lacking, common)
    from scipy.special import stdtrit

    sums = np.bincount(index, weights=values - mean, minlength=groups)
    se = sqrt(groups / (groups - 1) * float(sums @ sums)) / values.size
    reach = float(stdtrit(groups - 1, TAILS[1])) * se
    method, reason = f"t over {groups} clusters, {groups - 1} df", sentence(_few(groups), lacking)
    return Estimate(estimate=mean, low=mean - reach, high=mean + reach, se=se, method=method, reason=reason, **common)


def clustered_rate(values, clusters, *, trials: int = 1) -> Estimate:
    """Estimate the mean over cases of values from 0 to 1, with an interval valid near the ends.

    The sum of a cluster counts as successes out of an effective size: its cases, times the variance of single successes
    within clusters, divided by the variance of the values. The hierarchical beta-binomial then gives the interval of
    the mean rate of clusters like these. `estimate` is the plain mean over cases, and the interval is stretched to
    contain it. `n` is the number of cases, `se` the posterior standard deviation.

    Parameters
    ----------
    values, clusters : array_like, shape (cases,)
        One value per case (share of its trials, or its pass^k), and the case's cluster; NaN is left out and counted.
    trials : int
        Conversations behind one value; the effective size is at most cases times `trials`.
    """
    values, index, groups, lacking = _clean_clusters(values, clusters)
    common: dict[str, Any] = dict(n=values.size, estimand="mean rate over clusters like these")
    if not values.size:
        return Estimate(estimate=nan, reason=lacking or "no case has a value", **common)
    if values.min() < 0 or values.max() > 1:
        outside = f"a value of {values.min():g} or {values.max():g} is not a rate"
        raise BadInput(f"{outside}: use clustered_mean for values outside 0 to 1.")
    mean = float(values.mean())
    sizes = np.bincount(index, minlength=groups).astype(float)
    sums = np.bincount(index, weights=values, minlength=groups)
    scale = _effective_scale(values, index, sums / sizes, sizes, trials)
    _, sd, low, high = population(sums * scale, sizes * scale)
    method = f"beta-binomial on a grid over {groups} clusters, equal-tailed"
    ends: dict[str, Any] = dict(low=min(low, mean), high=max(high, mean), se=sd)
    return Estimate(estimate=mean, **ends, method=method, reason=sentence(_few(groups), lacking), **common)


def clusters_or_cases(intents: Iterable[Any], case_ids: Iterable[Any]) -> list[Any]:
    """Return the unit of each value of an interval: its intent, or its case if intents are few."""
    labels = list(intents)
    return labels if len(set(labels)) >= FEW_CLUSTERS else list(case_ids)


def _effective_scale(values, index, means, sizes, trials: int) -> float:
    # the number of single successes that one value is worth
    within = float(((values - means[index]) ** 2).sum()) / max(values.size - means.size, 1)
    if within < 1e-15:  # equal values within every cluster, but for rounding
        return float(trials)
    mean = float(values.mean())
    between = max(float(np.var(means, ddof=1)) - within * float((1 / sizes).mean()), 0) if means.size > 1 else 0.0
    return float(np.clip((mean * (1 - mean) - between) / within, 1, trials))


def bootstrap_interval(
    values,
    *,
    clusters=None,
    method: str = "BCa",
    n_resamples: int = 10_000,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    rng: np.random.Generator | None = None,
) -> Estimate:
    """Bootstrap the mean over whole cases, or whole clusters of them (`scipy.stats.bootstrap`).

    Values and bounds are as in `clustered_mean`; clusters are resampled whole, but the mean is over cases. The method
    is ``"BCa"``, ``"percentile"`` or ``"basic"``. If BCa is not defined, the interval consists of percentiles of the
    same resamples. Trials are never resampled on their own: such an interval contains the truth only 6 times in 10.
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 1:
        shape = f"values have shape {values.shape}"
        raise BadInput(f"{shape}: pass one per case, averaged over its trials, not one per trial.")
    noun = "case" if clusters is None else "cluster"
    labels = np.arange(values.size) if clusters is None else clusters
    values, index, units, lacking = _clean_clusters(values, labels)
    common: dict[str, Any] = dict(n=values.size, estimand=f"mean over cases, {noun}s like these")
    over = f"over {counted(units, noun)}"
    if units < 2:
        why = "one unit shows no spread" if units else "no case has a value"
        point = float(values.mean()) if units else nan
        return Estimate(estimate=point, method=f"{method} {over}", reason=sentence(why, lacking), **common)
    sums, sizes = np.bincount(index, weights=values), np.bincount(index)
    if np.ptp(sums / sizes) <= 1e-12 * max(1, np.abs(values).max()):
        return _all_alike(float(values.mean()), units, over, bounds, lacking, common)
    equal = np.ptp(sizes) == 0  # a plain mean counts ties as BCa requires
    statistic, columns = (np.mean, (sums / sizes,)) if equal else (_ratio, (sums, sizes))
    draws = resampled(statistic, columns, method, n_resamples, rng)
    low, high = draws.confidence_interval
    if np.isnan([low, high]).any():
        low, high = np.quantile(draws.bootstrap_distribution, TAILS)
        method = "percentile (BCa not defined)"
    return Estimate(
        estimate=float(sums.sum() / sizes.sum()),
        low=float(low),
        high=float(high),
        se=float(draws.standard_error),
        method=f"{method} {over}",
        reason=lacking,
        **common,
    )


def resampled(statistic, columns, method: str, n_resamples: int, rng) -> Any:
    """Return `scipy.stats.bootstrap` of a statistic, its columns resampled together, in batches."""
    from scipy.stats import bootstrap

    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore")
        return bootstrap(
            tuple(columns),
            statistic,
            paired=len(columns) > 1,
            vectorized=True,
            method=method,
            n_resamples=n_resamples,
            batch=max(1, _BATCH_ELEMENTS // np.size(columns)),
            rng=generator(rng),
        )


def _ratio(total, size, axis=-1):
    return total.sum(axis=axis) / size.sum(axis=axis)


def _all_alike(mean: float, units: int, over: str, bounds, lacking: str, common: dict[str, Any]) -> Estimate:
    low, high = exact_bound(mean, units, bounds=bounds)
    unknown = "all values are equal and no bounds are known" if isnan(low) else ""
    reason = sentence(unknown, lacking)
    return Estimate(estimate=mean, low=low, high=high, se=0.0, method=f"exact bound {over}", reason=reason, **common)


def _clean_clusters(values, clusters):
    values = np.asarray(values, dtype=float).ravel()
    labels = np.asarray(clusters, dtype=object).ravel()
    if labels.size != values.size:
        raise BadInput(f"there are {labels.size} cluster labels for {values.size} values: pass one per value.")
    kept = ~np.isnan(values)
    index, groups = group_index(labels[kept])
    return values[kept], index, groups, left_out(kept, "case")


def _few(groups: int) -> str:
    be = "is" if groups == 1 else "are"
    return f"{counted(groups, 'cluster')} {be} few for an interval" if groups < FEW_CLUSTERS else ""


class Grid(NamedTuple):
    """Nodes of the two hyperparameters, flattened; `mu` varies slowest."""

    edges: np.ndarray
    """Edges of the cells of `mu` on the scale ``2 / pi * arcsin(sqrt(mu))``, shape (mu cells + 1,)."""
    mu: np.ndarray
    a: np.ndarray
    b: np.ndarray
    log_prior: np.ndarray
    """Log of the prior mass of each node, shape (nodes,) like the mean and the beta parameters."""


@lru_cache(maxsize=1)
def grid() -> Grid:
    """Return the grid, built once."""
    edges = np.linspace(0, 1, _MU_CELLS + 1)
    mass = np.diff(_to_rate(edges))
    spread = np.tan(np.pi / 2 * (np.arange(_SPREAD_CELLS) + 0.5) / _SPREAD_CELLS)
    mu = np.repeat(_to_rate((edges[1:] + edges[:-1]) / 2), _SPREAD_CELLS)
    kappa = np.tile(spread**-2, _MU_CELLS)
    return Grid(edges, mu, mu * kappa, (1 - mu) * kappa, np.log(np.repeat(mass, _SPREAD_CELLS)))


def posterior_weights(counts: np.ndarray, sizes: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the posterior mass of every node, for kinds of units that occur `times` times.

    The successes (`counts`) and trials (`sizes`) of a kind may be fractions.
    """
    from scipy.special import betaln

    nodes = grid()
    counts, sizes = np.asarray(counts, dtype=float)[:, None], np.asarray(sizes, dtype=float)[:, None]
    likelihood = betaln(nodes.a + counts, nodes.b + np.maximum(sizes - counts, 0)) - betaln(nodes.a, nodes.b)
    logs = times @ likelihood + nodes.log_prior
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def mu_quantiles(weights: np.ndarray, levels) -> np.ndarray:
    """Return quantiles of `mu` from the mass of every node, interpolated within a cell."""
    cumulated = np.concatenate([[0.0], weights.reshape(_MU_CELLS, _SPREAD_CELLS).sum(axis=1).cumsum()])
    return _to_rate(np.interp(levels, cumulated, grid().edges))


def population(counts, sizes, *, k: int | None = None) -> tuple[float, float, float, float]:
    """Return posterior mean, standard deviation, and both ends of the interval of a rate.

    `counts` and `sizes` are the successes and (effective) trials of each unit. With `k`, the rate is ``E[theta ** k]``,
    the chance that all of `k` trials succeed; without it, `mu`. The interval is equal-tailed.
    """
    counts, sizes = np.asarray(counts, dtype=float), np.asarray(sizes, dtype=float)
    pairs, times = np.unique(np.stack([counts, sizes]), axis=1, return_counts=True)
    nodes, weights = grid(), posterior_weights(pairs[0], pairs[1], times)
    levels = TAILS
    if k is None:
        values, (low, high) = nodes.mu, mu_quantiles(weights, levels)
    else:
        steps = np.arange(k)[:, None]
        values = np.prod((nodes.a + steps) / (nodes.a + nodes.b + steps), axis=0)
        points, which = np.unique(np.round(values, 12), return_inverse=True)
        mass = np.bincount(which.ravel(), weights=weights)
        low, high = np.interp(levels, (mass.cumsum() - mass / 2) / mass.sum(), points)
    mean = float(weights @ values)
    sd = float(np.sqrt(max(weights @ values**2 - mean**2, 0)))
    return mean, sd, *at_the_ends(low, high, counts, sizes, int((sizes > 0).sum()))


def at_the_ends(low: float, high: float, counts, sizes, units: int) -> tuple[float, float]:
    """Widen a rate to the exact bounds if all or no trials succeed, or units are few."""
    total, seen = float(np.sum(counts)), float(np.sum(sizes))
    if seen == 0:
        return float(low), float(high)
    none = total == 0
    every = np.isclose(total, seen, rtol=1e-12)
    # no failure makes a rate of few units surer
    if none or every or units < FEW_CLUSTERS:
        bound = TAILS[0] ** (1 / units)
        low = min(low, bound)
        high = max(high, 1 - bound)
    return 0.0 if none else float(low), 1.0 if every else float(high)


def _to_rate(scale: np.ndarray) -> np.ndarray:
    return np.sin(np.pi / 2 * np.asarray(scale)) ** 2
