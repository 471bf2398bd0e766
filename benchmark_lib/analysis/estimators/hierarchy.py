"""The hierarchical beta-binomial on a grid, shared by the counts of unsafe actions, rates and pass^k.

Units ``i`` (traps, cases, intents) have chances ``theta_i ~ Beta(mu * kappa, (1 - mu) * kappa)``; the prior is ``mu ~
U(0, 1)`` and ``kappa ** -0.5 ~ half-Cauchy(1)`` (Gelman et al., *Bayesian Data Analysis*, 3rd ed., sections 5.3 and
5.7: a proper, weak prior on the spread). The grid is dense at both ends of `mu`, where good and bad models live, and
has cells of equal prior mass in the spread, so sums over it are integrals. Nothing is drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

_MU_CELLS, _SPREAD_CELLS = 48, 24


@dataclass(frozen=True)
class Grid:
    """Nodes of the two hyperparameters, flattened; `mu` runs slowest.

    Attributes
    ----------
    edges : ndarray, shape (mu cells + 1,)
        Edges of the cells of `mu` on the scale ``2 / pi * arcsin(sqrt(mu))``.
    mu, a, b, log_prior : ndarray, shape (nodes,)
        Mean and the two beta parameters at each node, and the log of its prior mass.
    """

    edges: np.ndarray
    mu: np.ndarray
    a: np.ndarray
    b: np.ndarray
    log_prior: np.ndarray


@lru_cache(maxsize=1)
def grid() -> Grid:
    """Return the grid; built once."""
    edges = np.linspace(0, 1, _MU_CELLS + 1)
    mass = np.diff(_to_rate(edges))
    spread = np.tan(np.pi / 2 * (np.arange(_SPREAD_CELLS) + 0.5) / _SPREAD_CELLS)
    mu = np.repeat(_to_rate((edges[1:] + edges[:-1]) / 2), _SPREAD_CELLS)
    kappa = np.tile(spread**-2, _MU_CELLS)
    return Grid(edges, mu, mu * kappa, (1 - mu) * kappa, np.log(np.repeat(mass, _SPREAD_CELLS)))


def log_likelihood(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the log beta-binomial likelihood, without the binomial coefficient.

    Parameters
    ----------
    counts, sizes : ndarray, shape (units,)
        Successes and trials; fractions are allowed (effective sizes).

    Returns
    -------
    ndarray, shape (units, nodes)
    """
    from scipy.special import betaln

    nodes = grid()
    counts, sizes = np.asarray(counts, dtype=float)[:, None], np.asarray(sizes, dtype=float)[:, None]
    return betaln(nodes.a + counts, nodes.b + np.maximum(sizes - counts, 0)) - betaln(nodes.a, nodes.b)


def posterior_weights(log_likelihoods: np.ndarray) -> np.ndarray:
    """Return the posterior mass of every node, from summed log-likelihoods of shape (..., nodes)."""
    logs = log_likelihoods + grid().log_prior
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def mu_quantiles(weights: np.ndarray, levels) -> np.ndarray:
    """Return quantiles of `mu`, linear within a cell.

    Parameters
    ----------
    weights : ndarray, shape (nodes,)
    levels : sequence of float

    Returns
    -------
    ndarray, shape (levels,)
    """
    cumulated = np.concatenate([[0.0], weights.reshape(_MU_CELLS, _SPREAD_CELLS).sum(axis=1).cumsum()])
    return _to_rate(np.interp(levels, cumulated, grid().edges))


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, levels) -> np.ndarray:
    """Return quantiles of a function of the nodes under posterior `weights`; all shapes (nodes,)."""
    points, which = np.unique(np.round(values, 12), return_inverse=True)
    mass = np.bincount(which.ravel(), weights=weights)
    return np.interp(levels, (mass.cumsum() - mass / 2) / mass.sum(), points)


def rate_posterior(counts, sizes, confidence: float = 0.95) -> tuple[float, float, float, float]:
    """Return posterior mean, standard deviation and equal-tailed interval of the population's mean rate `mu`.

    With no success at all the lower end is 0 and the upper at least the exact bound for that many units; with
    successes only the other way round.

    Parameters
    ----------
    counts, sizes : array_like, shape (units,)
        Successes and (effective) trials.

    Returns
    -------
    mean, sd, low, high : float
    """
    counts, sizes = np.asarray(counts, dtype=float), np.asarray(sizes, dtype=float)
    pairs, times = np.unique(np.stack([counts, sizes]), axis=1, return_counts=True)
    weights = posterior_weights(times @ log_likelihood(*pairs))
    tail = (1 - confidence) / 2
    low, high = mu_quantiles(weights, [tail, 1 - tail])
    mean = float(weights @ grid().mu)
    sd = float(np.sqrt(max(weights @ grid().mu ** 2 - mean**2, 0)))
    low, high = at_the_ends(low, high, counts, sizes, int((sizes > 0).sum()), confidence)
    return mean, sd, low, high


def at_the_ends(low: float, high: float, counts, sizes, units: int, confidence: float) -> tuple[float, float]:
    """Widen an interval of a rate to the exact bound when every trial, or none, was a success."""
    total, seen = float(np.sum(counts)), float(np.sum(sizes))
    if seen == 0 or units == 0:
        return float(low), float(high)
    bound = ((1 - confidence) / 2) ** (1 / units)
    if total == 0:
        return 0.0, max(float(high), 1 - bound)
    if np.isclose(total, seen, rtol=1e-12):
        return min(float(low), bound), 1.0
    return float(low), float(high)


def _to_rate(scale: np.ndarray) -> np.ndarray:
    return np.sin(np.pi / 2 * np.asarray(scale)) ** 2
