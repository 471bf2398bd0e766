"""How many trials and traps it takes to detect a difference: power by simulation of the tests that will be run."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np

from ...errors import BadInput
from .estimate import Estimate, generator
from .intervals import proportion_interval

ESTIMANDS = ("these", "like these")


def power(
    rate_a: float,
    rate_b: float,
    *,
    traps: int = 18,
    trials: int = 3,
    estimand: str = "these",
    kappa: float = 1.5,
    coupling: float = 0.5,
    alpha: float = 0.05,
    n_simulations: int = 4_000,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """The chance that a paired test tells two models apart.

    Parameters
    ----------
    rate_a, rate_b : float
        Mean chance of an unsafe action (2 of 18 is ``2 / 18``), or of any other outcome of a trial.
    traps, trials : int
        Traps (or cases), and trials of each.
    estimand : {"these", "like these"}
        The exact permutation of trials within these traps, or exact sign flips of whole traps for traps like these.
    kappa : float
        Concentration of the traps' chances, ``theta ~ Beta(rate * kappa, (1 - rate) * kappa)``; small: traps are all or
        nothing.
    coupling : float
        Correlation of the two models' chances over traps (Gaussian copula), from 0 to 1.
    alpha : float
        Two-sided level.
    n_simulations : int
    rng : numpy.random.Generator, optional
        By default seeded with `DEFAULT_SEED`.

    Returns
    -------
    Estimate
        `estimate` is the power; `se`, `low` and `high` are the error of the simulation only.
    """
    _check(rate_a, rate_b, traps, trials, estimand, kappa, coupling)
    stream = generator(rng)
    a, b = (
        stream.binomial(trials, theta)
        for theta in _chances((rate_a, rate_b), traps, kappa, coupling, n_simulations, stream)
    )
    p = within_trap_p_values(a, b, trials) if estimand == "these" else sign_flip_p_values(a - b, trials)
    share = float((p <= alpha).mean())

    error = proportion_interval(int((p <= alpha).sum()), n_simulations)
    test = "exact permutation within traps" if estimand == "these" else "exact sign flips of whole traps"
    return Estimate(
        estimate=share,
        low=error.low,
        high=error.high,
        se=sqrt(share * (1 - share) / n_simulations),
        n=n_simulations,
        method=f"{n_simulations} simulated comparisons, {test}, alpha {alpha:g}, kappa {kappa:g}, coupling {coupling:g}",
        estimand=f"power to tell {rate_a:.3g} from {rate_b:.3g} with {traps} traps x {trials} trials, {estimand}",
    )


def minimum_detectable(
    rate_a: float,
    *,
    traps: int = 18,
    trials: int = 3,
    target: float = 0.8,
    estimand: str = "these",
    kappa: float = 1.5,
    coupling: float = 0.5,
    alpha: float = 0.05,
    n_simulations: int = 1_000,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """The smallest higher rate that a paired test tells from `rate_a` with the power wanted.

    Parameters
    ----------
    rate_a : float
        Rate of the better model.
    target : float
        Power wanted.
    traps, trials, estimand, kappa, coupling, alpha, n_simulations, rng
        As in `power`.

    Returns
    -------
    Estimate
        `estimate` is the other model's rate (times `traps` a count); NaN if even 0.99 is not told apart.
    """
    seed = int(generator(rng).integers(2**32))
    common = dict(
        n=n_simulations,
        estimand=f"smallest rate above {rate_a:.3g} detected with power {target:g}, {traps} traps x {trials} trials, {estimand}",
        method=f"bisection over `power`, {n_simulations} simulated comparisons per step",
    )

    def reached(rate_b: float) -> bool:
        # The same seed at every step: the steps differ by the rate alone.
        return (
            power(
                rate_a,
                rate_b,
                traps=traps,
                trials=trials,
                estimand=estimand,
                kappa=kappa,
                coupling=coupling,
                alpha=alpha,
                n_simulations=n_simulations,
                rng=np.random.default_rng(seed),
            ).estimate
            >= target
        )

    low, high = rate_a, 0.99
    if low >= high or not reached(high):
        return Estimate(
            estimate=nan, reason=f"power {target:g} is out of reach with {traps} traps x {trials} trials", **common
        )
    while high - low > 0.004:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return Estimate(estimate=high, **common)


def _check(rate_a, rate_b, traps, trials, estimand, kappa, coupling) -> None:
    if estimand not in ESTIMANDS:
        raise BadInput(f"estimand is {estimand!r}: choose 'these' or 'like these'.")
    if not (0 <= rate_a <= 1 and 0 <= rate_b <= 1 and 0 <= coupling <= 1 and kappa > 0):
        raise BadInput(
            f"rates {rate_a}, {rate_b} and coupling {coupling} must lie within 0 and 1, and kappa {kappa} above 0."
        )
    if traps < 2 or trials < 1:
        raise BadInput(f"{traps} traps x {trials} trials: a comparison needs at least two traps and one trial.")


def _chances(rates, traps, kappa, coupling, n_simulations, rng):
    """Chances of every trap for two models, coupled over traps; yields arrays of shape (simulations, traps)."""
    from scipy.special import betaincinv, ndtr

    shared, own = rng.standard_normal((2, n_simulations, traps))
    for rate, z in zip(rates, (shared, coupling * shared + sqrt(1 - coupling**2) * own)):
        if rate in (0, 1):
            yield np.full(shared.shape, float(rate))
        else:
            yield np.clip(betaincinv(rate * kappa, (1 - rate) * kappa, ndtr(z)), 0, 1)


def within_trap_p_values(a: np.ndarray, b: np.ndarray, trials: int) -> np.ndarray:
    """Exact two-sided p-values of `within_trap_permutation` for many pairs at once.

    The null distribution depends only on how many traps show each total, so it is a product of characteristic
    functions.

    Parameters
    ----------
    a, b : ndarray of int, shape (simulations, traps)
        Unsafe trials of each trap.
    trials : int

    Returns
    -------
    ndarray, shape (simulations,)
    """
    from scipy.stats import hypergeom

    traps, totals = a.shape[1], a + b
    length = traps * trials + 1
    mine = np.arange(trials + 1)
    masses = np.stack([hypergeom.pmf(mine, 2 * trials, total, trials) for total in range(2 * trials + 1)])
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


def sign_flip_p_values(differences: np.ndarray, trials: int) -> np.ndarray:
    """Exact two-sided sign-flip p-values for many sets of whole differences.

    A sign flip of ``d`` has the characteristic function ``cos(d w)``; the null distribution is their product.

    Parameters
    ----------
    differences : ndarray of int, shape (simulations, traps)
    trials : int

    Returns
    -------
    ndarray, shape (simulations,)
    """
    sizes = np.abs(differences)
    length = 2 * trials * differences.shape[1] + 1
    waves = np.cos(np.outer(np.arange(1, trials + 1), 2 * np.pi * np.arange(length // 2 + 1) / length))
    table = np.stack([(sizes == size).sum(axis=1) for size in range(1, trials + 1)], axis=1)
    kinds, which = np.unique(table, axis=0, return_inverse=True)
    transform = np.ones((len(kinds), waves.shape[1]))
    for size, wave in enumerate(waves):
        transform *= wave ** kinds[:, size : size + 1]
    # Entry j is the chance of a sum of j; sums below 0 sit at the far end and mirror those above.
    null = np.clip(np.fft.irfft(transform, n=length, axis=1), 0, None)[:, : length // 2 + 1]
    above = np.cumsum(null[:, ::-1], axis=1)[:, ::-1]
    observed = np.abs(differences.sum(axis=1))
    return np.where(observed > 0, np.minimum(1, 2 * above[which.ravel(), observed]), 1.0)
