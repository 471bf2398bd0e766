"""Compare two models, paired by case; in `compare_paired`, p-value and interval agree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import nan
from typing import Any, TypeVar

import numpy as np

from ...errors import BadInput
from ...scoring.written import counted
from .estimate import FEW_CLUSTERS, Estimate, exact_bound, group_index, left_out, sentence, successes_of_trials
from .intervals import clustered_mean

ALPHA = 0.05
ON_THESE = "difference a - b in expected count on these cases"
_TIE = 1e-9
_WIDEST_LOG_ODDS = 14.0
"""Largest finite log odds ratio, a million to one; larger ratios count as infinite."""


@dataclass(frozen=True, kw_only=True)
class PairedDifference(Estimate):
    """Mean of ``a - b`` over shared cases; `low`, `high` and `p` are by Student's t over units.

    The standard error is over `units`, which are cases or clusters of them; `n` is the number of pairs. `bounds`, the
    possible range of a difference, limits the interval.
    """

    units: int = 0
    bounds: tuple[float, float] | None = None

    def interval(self, alpha: float) -> tuple[float, float]:
        """Return the interval that excludes 0 exactly if the p-value is below `alpha`."""
        if self.units < 2 or self.se != self.se:
            return nan, nan
        if self.se == 0:
            return exact_bound(self.estimate, self.units, bounds=self.bounds, confidence=1 - alpha)
        from scipy.special import stdtrit

        reach = -float(stdtrit(self.units - 1, alpha / 2)) * self.se
        least, most = self.bounds or (-np.inf, np.inf)
        low, high = self.estimate - reach, self.estimate + reach
        if self.units < FEW_CLUSTERS and self.bounds:
            # no surer than equal differences of the largest size
            surest = replace(self, estimate=most, se=0.0)
            low = min(low, surest.interval(alpha)[0])
            surest = replace(self, estimate=least, se=0.0)
            high = max(high, surest.interval(alpha)[1])
        return max(low, least), min(high, most)


def paired_difference(a, b, *, clusters=None, bounds: tuple[float, float] | None = (-1.0, 1.0)) -> PairedDifference:
    """Estimate the difference of two models on cases like these, and test it.

    Simulations favoured Student's t over sign flips and bootstraps (``benchmarks/comparisons.md``). Over clusters, it
    keeps its level even if intents differ or an endpoint repeats itself. If all differences are equal, the interval is
    `exact_bound` and p is the level at which it excludes 0. Over ``G < FEW_CLUSTERS`` units, others are never surer
    than equal ones at an end of the bounds: p is at least ``2 ** (1 - G)``.

    Parameters
    ----------
    a, b : array_like of float, shape (cases,)
        One value per case, averaged over its trials; pairs with a NaN are left out and counted.
    clusters : array_like, shape (cases,), optional
        Intents of the cases, over which the standard error is taken; by default each case is a cluster.
    bounds : (float, float) or None
        Possible range of a difference.
    """
    a, b = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    if a.size != b.size:
        sizes = f"a has {a.size} cases and b {b.size}"
        raise BadInput(f"{sizes}: pass the same cases in the same order, NaN where one is missing.")
    difference = a - b
    kept = ~np.isnan(difference)
    lacking = left_out(kept, "pair", "without both values")
    common: dict[str, Any] = dict(estimand="mean difference a - b over cases like these", bounds=bounds)
    if not kept.any():
        return PairedDifference(estimate=nan, reason=lacking or "no case has both values", **common)
    difference = difference[kept]
    labels = np.arange(difference.size) if clusters is None else np.asarray(clusters, dtype=object).ravel()[kept]
    mean = clustered_mean(difference, labels, bounds=bounds)
    units = group_index(labels)[1]
    over = counted(units, "pair" if clusters is None else "cluster")
    result = PairedDifference(
        estimate=mean.estimate,
        se=mean.se,
        p=_p_of_zero(mean.estimate, mean.se, units, bounds),
        n=mean.n,
        units=units,
        method=f"{'exact bound' if mean.se == 0 else 't'} over {over}, two-sided",
        reason=sentence(mean.reason, lacking),
        **common,
    )
    low, high = result.interval(ALPHA)
    return replace(result, low=low, high=high)


def _p_of_zero(mean: float, se: float, units: int, bounds: tuple[float, float] | None) -> float:
    # level at which the interval of the mean begins to exclude 0
    if units < 2 or se != se:
        return nan
    if abs(mean) <= _TIE and se == 0:
        return 1.0
    from scipy.special import stdtr

    plain = float(2 * stdtr(units - 1, -abs(mean) / se)) if se > 0 else 0.0
    if bounds is None or (se > 0 and units >= FEW_CLUSTERS):
        return plain if se > 0 else nan
    behind, most = bounds if mean > 0 else bounds[::-1]
    farthest = most if se > 0 else mean  # exact_bound: q * farthest + (1 - q) * behind is 0
    return float(min(1.0, max(plain, 2 * (behind / (behind - farthest)) ** units)))


def within_case_permutation(a_counts, b_counts, trials, b_trials=None) -> Estimate:
    """Test exactly whether two models do equally well on *these* cases, and invert the test.

    Under the null hypothesis the trials of a case are exchangeable between the models. Given a case's total successes,
    the number from the first model is then hypergeometric. With the same odds ratio in every case, it is noncentral
    hypergeometric. The interval covers the odds ratios that are not rejected, converted to differences in rate that fit
    the successes of each case. It is never shorter than the normal interval from the spread of the trials. `estimate`
    is the difference in the expected count over these cases; `p` is twice the smaller one-sided p-value, at most 1 (the
    null distribution need not be symmetric).

    Parameters
    ----------
    a_counts, b_counts : array_like of int, shape (cases,)
        Number of trials of each case with the outcome.
    trials, b_trials : int or array_like of int, shape (cases,)
        Number of trials of the first model, and of the second if it differs.
    """
    a, n_a = successes_of_trials(a_counts, trials)
    b, n_b = successes_of_trials(b_counts, trials if b_trials is None else b_trials)
    if a.shape != b.shape or a.ndim != 1:
        raise BadInput(f"counts have shapes {a.shape} and {b.shape}: pass one entry per case for both models.")
    kept = (n_a > 0) & (n_b > 0)
    outside = left_out(kept, "case", "not run by both")
    if not kept.any():
        return Estimate(estimate=nan, estimand=ON_THESE, reason=outside or "no case was run")
    strata = _Strata(a[kept], b[kept], n_a[kept], n_b[kept])
    low, high = strata.interval(ALPHA)
    method = "exact permutation of trials within cases, p twice the smaller one-sided value; interval by inversion"
    result: dict[str, Any] = dict(estimate=strata.observed, low=low, high=high, se=strata.spread, p=strata.p)
    return Estimate(**result, n=strata.cases, estimand=ON_THESE, method=method, reason=outside)


class _Strata:
    """Counts of two models by case; the statistic is the sum of the first model's counts."""

    def __init__(self, a: np.ndarray, b: np.ndarray, n_a: np.ndarray, n_b: np.ndarray):
        self.observed = float((a / n_a - b / n_b).sum())
        variances = [
            np.divide(k * (n - k), n**2 * (n - 1), out=np.zeros(k.size), where=n > 1) for k, n in ((a, n_a), (b, n_b))
        ]
        self.error = float(np.sqrt(np.sum(variances)))
        self.cases, self.fewest = a.size, int(min(n_a.sum(), n_b.sum()))
        rows, times = np.unique(np.stack([n_a, n_b, a + b], axis=1), axis=0, return_counts=True)
        informative = (rows[:, 2] > 0) & (rows[:, 2] < rows[:, 0] + rows[:, 1])  # others do not depend on the odds
        self.rows, self.times = rows[informative].astype(float), times[informative]
        masses, least = np.ones(1), int((a + b == n_a + n_b) @ n_a)
        for (m, n, t), many in zip(rows[informative], times[informative], strict=True):
            least += many * max(0, t - n)
            for _ in range(many):  # sums of positive terms keep the digits of small chances
                masses = np.convolve(masses, _hypergeometric(int(m), int(n), int(t)))
        with np.errstate(divide="ignore"):
            self._logs = np.log(masses)
        self._place = int(a.sum()) - least

    def tails(self, log_odds: float) -> tuple[float, float]:
        """Return the chances of a statistic at most, and at least, as large as the observed one."""
        logs = self._logs + log_odds * np.arange(self._logs.size)
        masses = np.exp(logs - logs.max())
        masses /= masses.sum()
        return float(masses[: self._place + 1].sum()), float(masses[self._place :].sum())

    @property
    def p(self) -> float:
        return min(1.0, 2 * min(self.tails(0.0)))

    @property
    def spread(self) -> float:
        """Return the standard deviation of the difference in count under the null hypothesis."""
        if not len(self.rows):
            return 0.0
        m, n, t = self.rows.T
        variance = t * m * n * (m + n - t) / ((m + n) ** 2 * (m + n - 1))
        return float(np.sqrt(self.times @ (variance * (1 / m + 1 / n) ** 2)))

    def interval(self, alpha: float) -> tuple[float, float]:
        if not len(self.rows):  # all trials of every case ended alike: the exact bound for so many trials
            reach = self.cases * (1 - (alpha / 2) ** (1 / self.fewest))
            return max(self.observed - reach, -self.cases), min(self.observed + reach, self.cases)
        low = -np.inf if self._place == 0 else self._where(1, alpha / 2)
        high = np.inf if self._place == self._logs.size - 1 else self._where(0, alpha / 2)
        low, high = min(self.difference(low), self.observed), max(self.difference(high), self.observed)
        # no shorter than the spread of the trials, for cases whose odds differ; the test decides about 0
        from scipy.special import ndtri

        reach = -float(ndtri(alpha / 2)) * self.error
        wide_low, wide_high = self.observed - reach, self.observed + reach
        low = low if low > 0 >= wide_low else min(low, wide_low)
        high = high if high < 0 <= wide_high else max(high, wide_high)
        return max(low, -self.cases), min(high, self.cases)

    def _where(self, tail: int, chance: float) -> float:
        from scipy.optimize import brentq

        def excess(log_odds: float) -> float:
            return self.tails(log_odds)[tail] - chance

        # search the side of 0 on which the interval agrees with p
        other = -_WIDEST_LOG_ODDS if (excess(0.0) > 0) == (tail == 1) else _WIDEST_LOG_ODDS
        if excess(other) * excess(0.0) >= 0:
            return float(np.copysign(np.inf, other))
        return float(brentq(excess, *sorted((0.0, other)), xtol=1e-4))

    def difference(self, log_odds: float) -> float:
        m, n, t = self.rows.T
        if np.isinf(log_odds):
            counts = np.minimum(m, t) if log_odds > 0 else np.maximum(0, t - n)
        else:
            odds = np.exp(log_odds)
            b, c = (n - t) + odds * (m + t), odds * m * t
            counts = 2 * c / (b + np.sqrt(np.maximum(b**2 - 4 * (odds - 1) * c, 0)))
        return float(self.times @ (counts / m - (t - counts) / n))


@lru_cache(maxsize=4096)
def _hypergeometric(m: int, n: int, t: int) -> np.ndarray:
    # distribution of the first model's count, given m and n trials and t successes of both together
    from scipy.stats import hypergeom

    return hypergeom.pmf(np.arange(max(0, t - n), min(m, t) + 1), m + n, t, m)


Made = TypeVar("Made", bound="Contrast")
SURE, ONLY_THESE, NOISE = "clear difference", "differs on these cases only", "too close to call"
NOTHING, NOT_TESTED = "no test", "shown, not tested"


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Test of two models' values, for both estimands.

    Attributes
    ----------
    like : PairedDifference
        Difference for cases like these: fresh cases of these kinds, so that both cases and trials are random.
    these_p, cases : float, int
        P-value for these cases, where only trials are random (NaN unless there are two outcomes), and number of cases.
    alpha, these_alpha : float
        Levels of the two tests: 0.05, or less if Holm divides it among planned contrasts.
    p_adjusted, these_p_adjusted : float
        P-values to compare with 0.05; NaN for an unplanned contrast.
    among : int
        Number of contrasts covered at once by `interval`, if it comes from `simultaneous`; otherwise 0.
    tested : bool
        False if the difference is shown without a test.
    """

    like: PairedDifference
    cases: int = 0
    these_p: float = nan
    alpha: float = ALPHA
    these_alpha: float = ALPHA
    p_adjusted: float = nan
    these_p_adjusted: float = nan
    among: int = 0
    tested: bool = True
    strata: _Strata | None = field(default=None, repr=False, compare=False)

    @property
    def difference(self) -> float:
        """Return the mean of a - b over the matched cases."""
        return self.like.estimate

    @property
    def interval(self) -> tuple[float, float]:
        """Return the interval for cases like these; it excludes 0 exactly if `word` is `SURE`."""
        return self.like.interval(self.alpha)

    @property
    def these_interval(self) -> tuple[float, float]:
        """Return the interval for these cases, as a mean over them, at the level of its test."""
        if self.strata is None:
            return nan, nan
        low, high = self.strata.interval(self.these_alpha)
        return max(low / self.cases, -1.0), min(high / self.cases, 1.0)

    @property
    def word(self) -> str:
        """Return `SURE`, `ONLY_THESE` or `NOISE`; `NOTHING` and `NOT_TESTED` mean no test."""
        if not self.tested:
            return NOT_TESTED
        if self.like.p < self.alpha:
            return SURE
        if self.these_p < self.these_alpha:
            return ONLY_THESE
        return NOISE if self.like.p == self.like.p else NOTHING

    @property
    def open_here(self) -> bool:
        """Return True if a difference is clear for cases like these but not for these cases."""
        return self.word == SURE and self.these_p >= self.these_alpha


def compare_paired(
    a, b, *, trials=None, b_trials=None, clusters=None, bounds: tuple[float, float] | None = (-1.0, 1.0)
) -> Contrast:
    """Compare two models on the same cases: the procedure behind every tested difference.

    The values are as in `paired_difference`. If `trials` and `b_trials` give the trials behind each value, shares of
    trials are also tested for these cases. `adjusted` divides the level among planned contrasts.
    """
    a, b = np.asarray(a, dtype=float).ravel(), np.asarray(b, dtype=float).ravel()
    like = paired_difference(a, b, clusters=clusters, bounds=bounds)
    kept = ~np.isnan(a - b)
    contrast = Contrast(like=like, cases=int(kept.sum()))
    if trials is None or not kept.any():
        return contrast
    both = trials, trials if b_trials is None else b_trials
    n_a, n_b = (np.broadcast_to(np.asarray(n), a.shape)[kept].astype(int) for n in both)
    hits = a[kept] * n_a, b[kept] * n_b
    a, b = (np.rint(h).astype(int) for h in hits)
    if bounds is None or any((np.abs(h - whole) > 1e-6).any() for h, whole in zip(hits, (a, b))):
        return contrast
    strata = _Strata(a, b, n_a, n_b)
    return replace(contrast, these_p=strata.p, strata=strata)


def adjusted(comparisons: Iterable[Made]) -> list[Made]:
    """Return planned contrasts with Holm-adjusted p-values, and intervals at Holm's levels.

    Each interval excludes 0 exactly if the adjusted p-value is below 0.05. The two estimands are separate families.
    """
    planned = list(comparisons)
    like, like_alpha = _holm([c.like.p for c in planned])
    these, these_alpha = _holm([c.these_p for c in planned])
    return [
        replace(c, p_adjusted=float(p), alpha=float(level), these_p_adjusted=float(q), these_alpha=float(other))
        for c, p, level, q, other in zip(planned, like, like_alpha, these, these_alpha, strict=True)
    ]


def simultaneous(comparisons: Iterable[Made], among: int) -> list[Made]:
    """Return contrasts with intervals valid for `among` contrasts at once (Bonferroni).

    Each is `SURE` exactly if its interval excludes 0. Adjusted p-values come from `adjusted` alone.
    """
    return [replace(c, alpha=ALPHA / among, these_alpha=ALPHA / among, among=among) for c in comparisons]


def _holm(p) -> tuple[np.ndarray, np.ndarray]:
    # also returns the level at which each plain p-value is significant exactly if its adjusted one is
    plain, tests = np.asarray(p, dtype=float), int((~np.isnan(p)).sum())
    corrected = adjust_pvalues(plain)
    if not tests:
        return corrected, np.full(plain.shape, ALPHA)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.where(plain > 0, plain / corrected, 1 / tests)
    return corrected, ALPHA * np.nan_to_num(np.clip(share, 1 / tests, 1.0), nan=1.0)


def adjust_pvalues(p) -> np.ndarray:
    """Return a family's p-values adjusted by Holm, in the same shape; a NaN is not a test."""
    values = np.array(p, dtype=float)
    tested = ~np.isnan(values)
    if not tested.any():
        return values
    # Not statsmodels: it collects garbage at each call, which takes a third of the time to build a site.
    plain = values[tested]
    order = np.argsort(plain, kind="stable")
    stepped = np.maximum.accumulate(plain[order] * np.arange(len(plain), 0, -1))
    plain[order] = np.minimum(stepped, 1.0)
    values[tested] = plain
    return values
