"""Trials and traps needed to detect a difference: power by simulation of the actual tests."""

from __future__ import annotations

from dataclasses import replace
from math import nan, sqrt
from typing import Any

import numpy as np

from ...errors import BadInput
from .estimate import FEW_CLUSTERS, Estimate, generator
from .intervals import proportion_interval

ESTIMANDS = ("these", "like these")


def power(
    rate_a: float,
    rate_b: float,
    *,
    traps: int = 18,
    trials: int = 3,
    estimand: str = "these",
    icc: float = 0.4,
    coupling: float = 0.5,
    clusters: int | None = None,
    cluster_share: float = 0.0,
    alpha: float = 0.05,
    n_simulations: int = 4_000,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """Simulate the power of a paired test of two models.

    `estimate` is the power; `se`, `low` and `high` describe the simulation error only.

    Parameters
    ----------
    rate_a, rate_b : float
        Mean chance of an unsafe action (``2 / 18`` for 2 of 18), or of any other outcome of a trial.
    traps, trials : int
        Number of traps (or cases), and of trials of each.
    estimand : {"these", "like these"}
        Test of `compare_paired`: exact permutation of trials within these traps, or Student's t over traps (or clusters
        of them) for traps like these.
    icc : float
        Correlation of two trials of one trap, from 0 (every trap alike) to 1 (a model that repeats itself, so that
        further trials add nothing). ``theta ~ Beta(rate * k, (1 - rate) * k)``, ``k = 1 / icc - 1``.
    coupling : float
        Correlation of the two models' chances over traps (Gaussian copula), from 0 to 1.
    clusters : int, optional
        Number of intents of the cases; by default each case is a cluster.
    cluster_share : float
        Share of the variance between cases that is variance between intents, from 0 to 1.
    alpha : float
        Two-sided level.
    """
    _refuse_bad_plan(rate_a, rate_b, traps, trials, estimand, icc, coupling)
    stream = generator(rng)
    labels = np.arange(traps) if clusters is None else np.arange(traps) * clusters // traps
    chances = _chances((rate_a, rate_b), labels, icc, coupling, cluster_share, n_simulations, stream)
    a, b = (stream.binomial(trials, theta) for theta in chances)
    p = within_trap_p_values(a, b, trials) if estimand == "these" else t_p_values((a - b) / trials, labels)
    many = f"{n_simulations:,} simulated comparisons"
    test = "exact permutation within traps" if estimand == "these" else f"t over {clusters or traps}"
    return replace(
        proportion_interval(int((p < alpha).sum()), n_simulations),
        method=f"{many}, {test}, alpha {alpha:g}, icc {icc:.2g}, coupling {coupling:g}",
        estimand=f"power to tell {rate_a:.3g} from {rate_b:.3g} with {traps} traps x {trials} trials, {estimand}",
    )


def _refuse_bad_plan(rate_a, rate_b, traps, trials, estimand, icc, coupling) -> None:
    if estimand not in ESTIMANDS:
        raise BadInput(f"estimand is {estimand!r}: choose 'these' or 'like these'.")
    if not all(0 <= share <= 1 for share in (rate_a, rate_b, coupling, icc)):
        raise BadInput(f"rates {rate_a}, {rate_b}, coupling {coupling} and icc {icc} must be from 0 to 1.")
    if traps < 2 or trials < 1:
        raise BadInput(f"{traps} traps x {trials} trials: a comparison needs at least two traps and one trial.")


def minimum_detectable(
    rate_a: float,
    *,
    traps: int = 18,
    trials: int = 3,
    target: float = 0.8,
    estimand: str = "these",
    n_simulations: int = 1_000,
    rng: np.random.Generator | None = None,
    **settings: Any,
) -> Estimate:
    """Find the smallest rate above `rate_a` that a paired test detects with the target power.

    `estimate` is the other model's rate (times `traps`, a count); NaN if even 0.99 is not detected. All parameters
    except `target` are as in `power`.
    """
    seed = int(generator(rng).integers(2**32))
    plan = settings | dict(traps=traps, trials=trials, estimand=estimand, n_simulations=n_simulations)
    size, words = f"{traps} traps x {trials} trials", f"smallest rate above {rate_a:.3g} detected with power {target:g}"
    common: dict[str, Any] = dict(
        n=n_simulations,
        estimand=f"{words}, {size}, {estimand}",
        method=f"bisection over `power`, {n_simulations} simulated comparisons per step",
    )

    def reached(rate_b: float) -> bool:
        stream = np.random.default_rng(seed)  # the same draws at every step
        return power(rate_a, rate_b, **plan, rng=stream).estimate >= target

    low, high = rate_a, 0.99
    if low >= high or not reached(high):
        return Estimate(estimate=nan, reason=f"power {target:g} is out of reach with {size}", **common)
    while high - low > 0.004:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return Estimate(estimate=high, **common)


def _chances(rates, labels, icc, coupling, cluster_share, n_simulations, rng):
    # both models' chances of every trap, coupled over traps; shape (simulations, traps)
    from scipy.special import betaincinv, ndtr

    shared, own = (_normals(labels, cluster_share, n_simulations, rng) for _ in range(2))
    concentration = 1 / max(icc, 1e-9) - 1
    for rate, z in zip(rates, (shared, coupling * shared + sqrt(1 - coupling**2) * own)):
        if rate in (0, 1) or icc == 0:
            yield np.full(shared.shape, float(rate))
        elif concentration < 1e-3:
            yield (ndtr(z) > 1 - rate).astype(float)
        else:
            yield np.clip(betaincinv(rate * concentration, (1 - rate) * concentration, ndtr(z)), 0, 1)


def _normals(labels, cluster_share, n_simulations, rng):
    own = rng.standard_normal((n_simulations, labels.size))
    if not cluster_share:
        return own
    common = rng.standard_normal((n_simulations, int(labels.max()) + 1))[:, labels]
    return sqrt(cluster_share) * common + sqrt(1 - cluster_share) * own


def within_trap_p_values(a: np.ndarray, b: np.ndarray, trials: int) -> np.ndarray:
    """Return exact p-values of `within_case_permutation`, one per row of unsafe trials by trap."""
    # The null distribution depends only on the number of traps with each total: multiply characteristic functions.
    from scipy.stats import hypergeom

    traps, totals = a.shape[1], a + b
    length = traps * trials + 1
    counts = np.arange(trials + 1)
    masses = np.stack([hypergeom.pmf(counts, 2 * trials, total, trials) for total in range(2 * trials + 1)])
    transform = np.fft.rfft(masses, n=length, axis=1)
    logs = np.log(np.where(np.abs(transform) < 1e-30, 1e-30, transform))
    table = np.stack([(totals == total).sum(axis=1) for total in range(2 * trials + 1)], axis=1)
    kinds, which = np.unique(table, axis=0, return_inverse=True)
    null = np.clip(np.fft.irfft(np.exp(kinds @ logs), n=length, axis=1), 0, None)
    cumulated = np.cumsum(null / null.sum(axis=1, keepdims=True), axis=1)
    observed, which = a.sum(axis=1), which.ravel()
    below = cumulated[which, observed]
    above = 1 - np.where(observed > 0, cumulated[which, np.maximum(observed - 1, 0)], 0)
    return np.minimum(1, 2 * np.minimum(below, above))


def t_p_values(differences: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return two-sided p-values of `paired_difference`, one per row of differences from -1 to 1.

    The differences have shape (simulations, traps); `labels` is the cluster of each trap, from 0.
    """
    from scipy.special import stdtr

    member = np.eye(int(labels.max()) + 1)[labels]
    units, traps = member.shape[1], differences.shape[1]
    mean = differences.mean(axis=1)
    sums = (differences - mean[:, None]) @ member
    error = np.sqrt(units / (units - 1) * (sums**2).sum(axis=1)) / traps
    flat = np.ptp(differences, axis=1) < 1e-12
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * stdtr(units - 1, -np.abs(mean) / error)
    exact = np.minimum(1, 2 * (1 + np.where(flat, np.abs(mean), 1)) ** -float(units))
    if units < FEW_CLUSTERS:
        p = np.maximum(p, exact)
    return np.where(flat, exact, p)
