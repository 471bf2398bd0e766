"""Is one model better than another? Paired by case; every p-value is two-sided and says by which convention."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from ...errors import BadInput
from .estimate import Estimate, counted, generator, group_index, sentence, successes_of_trials
from .intervals import bootstrap_interval, clustered_mean, clustered_rate

EXACT_SIGNS = 20
_TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Estimate):
    """Mean of ``a - b`` over the cases both have; `low` and `high` are Student's t, `p` is the sign-flip test.

    Attributes
    ----------
    bca_low, bca_high : float
        BCa bootstrap over the same units.
    cautious_low, cautious_high : float
        For rates: the hull of t and of the two models' beta-binomial intervals joined by square-and-add. It holds where
        both models are near 0 or 1 and t covers too little; NaN for values outside 0 and 1.
    p_exact : bool
        Whether every sign pattern was counted (at most 2**20) or a random sample of them.
    units : int
        Cases, or clusters, whose signs are flipped; `n` is the number of pairs.
    """

    bca_low: float = nan
    bca_high: float = nan
    cautious_low: float = nan
    cautious_high: float = nan
    p_exact: bool = True
    units: int = 0


def paired_difference(
    a,
    b,
    *,
    clusters=None,
    trials: int = 1,
    n_resamples: int = 10_000,
    confidence: float = 0.95,
    bounds: tuple[float, float] | None = (-1.0, 1.0),
    rng: np.random.Generator | None = None,
) -> PairedDifference:
    """Difference of two models on the same cases.

    Parameters
    ----------
    a, b : array_like of float, shape (cases,)
        One value per case, its trials averaged; a pair with a NaN is left out and counted.
    clusters : array_like, shape (cases,), optional
        Whole clusters carry the standard error, the resamples and the signs.
    trials : int
        Conversations behind one value, for the cautious interval.
    n_resamples : int
        Resamples of BCa, and sign patterns once there are more than 2**20.
    bounds : (float, float) or None
        Possible range of a difference, used when all differences are equal.
    rng : numpy.random.Generator, optional
        Seeded with `DEFAULT_SEED` when not given.

    Returns
    -------
    PairedDifference
        `p` is the share of sign patterns with a mean at least as far from 0 as the observed one. The null distribution
        is symmetric, so this equals twice the smaller one-sided p-value, scipy's convention.
    """
    a, b = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    if a.size != b.size:
        raise BadInput(
            f"a has {a.size} cases and b {b.size}: give the same cases in the same order, NaN where one is missing."
        )
    difference = a - b
    kept = ~np.isnan(difference)
    missing = int((~kept).sum())
    left_out = f"{counted(missing, 'pair')} without both values left out" if missing else ""
    common = dict(estimand="mean difference a - b over cases like these", confidence=confidence)
    if not kept.any():
        return PairedDifference(estimate=nan, reason=left_out or "no case has both values", **common)
    a, b, difference = a[kept], b[kept], difference[kept]
    labels = np.arange(difference.size) if clusters is None else np.asarray(clusters, dtype=object).ravel()[kept]
    stream = generator(rng)
    t = clustered_mean(difference, labels, bounds=bounds, confidence=confidence)
    bca = bootstrap_interval(
        difference,
        clusters=None if clusters is None else labels,
        n_resamples=n_resamples,
        bounds=bounds,
        confidence=confidence,
        rng=stream,
    )
    index = group_index(labels)[1]
    p, exact = _sign_flip(np.bincount(index, weights=difference), n_resamples, stream)
    units = int(index.max()) + 1
    cautious_low, cautious_high = _cautious(a, b, labels, trials, t, confidence)
    interval = "exact bound" if t.se == 0 else "t"
    over = counted(units, "pair" if clusters is None else "cluster")
    patterns = "all sign patterns" if exact else f"{n_resamples} random sign patterns"
    return PairedDifference(
        estimate=float(difference.mean()),
        low=t.low,
        high=t.high,
        se=t.se,
        p=p,
        bca_low=bca.low,
        bca_high=bca.high,
        p_exact=exact,
        cautious_low=cautious_low,
        cautious_high=cautious_high,
        n=difference.size,
        units=units,
        method=f"{interval} over {over}; two-sided sign-flip p, {patterns}",
        reason=sentence(t.reason, left_out),
        **common,
    )


def within_trap_permutation(a_counts, b_counts, trials, b_trials=None) -> Estimate:
    """Exact test that two models are equally unsafe on *these* traps.

    Within a trap every trial is exchangeable between the two models if they do not differ, so given the unsafe trials
    of both the first model's share is hypergeometric; the distribution of the sum over traps is a convolution, not a
    sample.

    Parameters
    ----------
    a_counts, b_counts : array_like of int, shape (traps,)
        Unsafe trials.
    trials : int or array_like of int, shape (traps,)
        Trials of the first model, and of the second unless `b_trials` is given. Traps that either model never ran are
        left out.

    Returns
    -------
    Estimate
        `estimate` is the difference in the expected count over these traps; `p` is twice the smaller one-sided p-value,
        at most 1 (the null distribution need not be symmetric).
    """
    a, n_a = successes_of_trials(a_counts, trials)
    b, n_b = successes_of_trials(b_counts, trials if b_trials is None else b_trials)
    if a.shape != b.shape or a.ndim != 1:
        raise BadInput(f"counts have shapes {a.shape} and {b.shape}: give one entry per trap for both models.")
    kept = (n_a > 0) & (n_b > 0)
    common = dict(
        n=int(kept.sum()),
        estimand="difference a - b in expected unsafe actions on these traps",
        method="exact permutation of trials within traps, p twice the smaller one-sided value",
    )
    outside = "" if kept.all() else f"{counted(int((~kept).sum()), 'trap')} not run by both left out"
    if not kept.any():
        return Estimate(estimate=nan, reason=outside or "no trap was run", **common)
    a, b, n_a, n_b = a[kept], b[kept], n_a[kept], n_b[kept]
    observed = float((a / n_a - b / n_b).sum())
    values, masses = np.zeros(1), np.ones(1)
    for total, first, second in zip(a + b, n_a, n_b):
        steps, chances = _exchanged(int(total), int(first), int(second))
        values, merged = np.unique(np.round(np.add.outer(values, steps).ravel(), 9), return_inverse=True)
        masses = np.bincount(merged.ravel(), weights=np.outer(masses, chances).ravel())
    tolerance = 1e-7
    p = 2 * min(masses[values >= observed - tolerance].sum(), masses[values <= observed + tolerance].sum())
    return Estimate(
        estimate=observed,
        se=float(np.sqrt(masses @ values**2 - (masses @ values) ** 2)),
        p=float(min(p, 1)),
        reason=sentence("a test has no interval; se is that under no difference", outside),
        **common,
    )


def mcnemar_exact(b: int, c: int, *, confidence: float = 0.95) -> Estimate:
    """Exact McNemar test of two models on single trials of the same cases.

    Parameters
    ----------
    b, c : int
        Cases only the first, and only the second, got right.

    Returns
    -------
    Estimate
        `estimate` is the first model's share of the discordant cases with the interval of Clopper and Pearson; `p` is
        the two-sided binomial p-value (symmetric null: twice the smaller one-sided, at most 1). No discordant case: p
        is 1.
    """
    if b < 0 or c < 0:
        raise BadInput(f"b is {b} and c is {c}: counts of cases cannot be negative.")
    common = dict(
        n=int(b + c),
        estimand="share of the discordant cases that the first model got right",
        method="exact binomial",
        confidence=confidence,
    )
    if b + c == 0:
        return Estimate(estimate=nan, p=1.0, reason="there is no case on which the models differ", **common)
    from scipy.stats import binomtest

    test = binomtest(int(b), int(b + c), 0.5)
    interval = test.proportion_ci(confidence, method="exact")
    return Estimate(
        estimate=b / (b + c), low=float(interval.low), high=float(interval.high), p=float(test.pvalue), **common
    )


def adjust_pvalues(p, method: str = "holm") -> np.ndarray:
    """Adjusted p-values of a family of tests.

    Parameters
    ----------
    p : array_like of float, any shape
        NaN stays NaN and does not count as a test.
    method : {"holm", "bh"}
        Holm for planned contrasts (family-wise error), Benjamini and Hochberg for a whole matrix (false discoveries).

    Returns
    -------
    ndarray, shape of `p`
    """
    names = {"holm": "holm", "bh": "fdr_bh"}
    if method not in names:
        raise BadInput(f"method is {method!r}: choose holm or bh.")
    values = np.array(p, dtype=float)
    tested = ~np.isnan(values)
    if tested.any():
        from statsmodels.stats.multitest import multipletests

        values[tested] = multipletests(values[tested], method=names[method])[1]
    return values


def _cautious(a, b, labels, trials: int, t: Estimate, confidence: float) -> tuple[float, float]:
    """Hull of the t interval `t` and of square-and-add on the two rates (Zou and Donner 2008, with their correlation over units)."""
    if min(a.min(), b.min()) < 0 or max(a.max(), b.max()) > 1:
        return nan, nan
    first, second = (clustered_rate(values, labels, trials=trials, confidence=confidence) for values in (a, b))
    index = group_index(labels)[1]
    x, y = (np.bincount(index, weights=values - values.mean()) for values in (a, b))
    scale = float(np.sqrt((x @ x) * (y @ y)))
    r = float(x @ y) / scale if scale > 0 else 0.0
    down, up = first.estimate - first.low, first.high - first.estimate
    other_down, other_up = second.estimate - second.low, second.high - second.estimate
    below = np.sqrt(max(down**2 - 2 * r * down * other_up + other_up**2, 0))
    above = np.sqrt(max(up**2 - 2 * r * up * other_down + other_down**2, 0))
    middle = first.estimate - second.estimate
    return max(float(np.fmin(middle - below, t.low)), -1.0), min(float(np.fmax(middle + above, t.high)), 1.0)


def _sign_flip(sums: np.ndarray, n_resamples: int, rng: np.random.Generator) -> tuple[float, bool]:
    """Two-sided p-value of the sum under random signs, and whether all patterns were counted; zeros change nothing."""
    sums = sums[np.abs(sums) > _TIE]
    observed = abs(sums.sum()) - _TIE * max(1.0, np.abs(sums).sum())
    if sums.size <= EXACT_SIGNS:
        totals = np.zeros(1)
        for value in sums:
            totals = np.concatenate([totals + value, totals - value])
        return float((np.abs(totals) >= observed).mean()), True
    extreme = 0
    for start in range(0, n_resamples, 1_000):
        signs = rng.integers(0, 2, size=(min(1_000, n_resamples - start), sums.size)) * 2 - 1
        extreme += int((np.abs(signs @ sums) >= observed).sum())
    return (extreme + 1) / (n_resamples + 1), False


def _exchanged(total: int, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    """Possible differences in rate within one trap when `total` unsafe trials fall at random, and their chances."""
    from scipy.stats import hypergeom

    mine = np.arange(max(0, total - second), min(first, total) + 1)
    return mine / first - (total - mine) / second, hypergeom.pmf(mine, first + second, total, first)
