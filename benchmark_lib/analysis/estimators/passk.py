"""pass^k: the chance that an agent succeeds on a case in *every one* of k trials.

The estimate is that of Yao et al. (2024, tau-bench, section 3.2): the mean over cases of ``C(c, k) / C(n, k)``. It is
not pass@k (at least one of k). ``p ** k``, for the mean success rate ``p``, is a lower bound for any mix of cases
(Jensen's inequality): a reference line, not an estimate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np

from ...errors import BadInput
from .estimate import FEW_CLUSTERS, Estimate, counted, left_out, sentence, successes_of_trials
from .intervals import clustered_rate, population

EXTRAPOLATED = "beta-binomial extrapolation"


@dataclass(frozen=True, kw_only=True)
class PassCurve:
    """pass^k over k; every array has one entry per `k`.

    Attributes
    ----------
    estimate, low, high : ndarray
        Unbiased estimate where a case has at least k trials. Beyond that, it is the last unbiased estimate times the
        decline of the model's posterior mean, but never below the reference: the curve continues without rising. There,
        neither arm of the interval is shorter than at the previous k, except at an end of 0. NaN with fewer than six
        cases or without a repeated case, since the data then do not show how much cases differ.
    reference : ndarray
        ``p ** k`` of the mean success rate: a lower bound, not an estimate.
    label : tuple of str
        ``"observed"`` or ``"beta-binomial extrapolation"``.
    usable : ndarray of bool
        True if at least 2k trials are behind the estimate.
    cases : ndarray of int
        Number of cases behind each estimate: those with at least k trials or, beyond the trials, with the most.
    n, trials : int
        Cases, and the median number of trials per case.
    """

    k: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    reference: np.ndarray
    label: tuple
    usable: np.ndarray
    cases: np.ndarray
    n: int
    trials: int
    estimand: str = "chance that all of k trials of a case like these succeed"
    reason: str = ""


def case_pass_hat_k(successes, trials, k: int) -> np.ndarray:
    """Return ``C(c, k) / C(n, k)`` for each case; NaN for a case with fewer than `k` trials.

    Parameters
    ----------
    successes : array_like of int, shape (cases,)
    trials : int or array_like of int, shape (cases,)
        Trials that count, excluding infrastructure faults.
    k : int
        At least 1.
    """
    if int(k) != k or k < 1:
        raise BadInput(f"k is {k}: pass^k needs a whole number of at least 1.")
    from scipy.special import comb

    hits, sizes = successes_of_trials(successes, trials)
    with np.errstate(invalid="ignore"):  # 0 / 0 with fewer trials than k
        return comb(hits, k) / comb(sizes, k)


def pass_hat_k(successes, trials, k: int) -> float:
    """Return the mean of `case_pass_hat_k` over the cases with at least `k` trials, or NaN."""
    values = case_pass_hat_k(successes, trials, k)
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else nan


def pass_hat_k_interval(successes, trials, k: int, *, clusters=None) -> Estimate:
    """Estimate pass^k with an interval for cases like these.

    The parameters are those of `case_pass_hat_k`; `clusters` gives the cluster of each case. `n` is the number of cases
    with at least `k` trials. Without clusters the interval is the posterior of ``E[theta ** k]`` under the hierarchical
    beta-binomial, with cases as units. With clusters (intents) it is that of `clustered_rate`. Both are widened to
    contain the estimate, which the model may exclude: if every case passes 2 of 3 trials, pass^3 is 0.
    """
    hits, sizes = successes_of_trials(successes, trials)
    values = case_pass_hat_k(hits, sizes, k)
    inside = ~np.isnan(values)
    common: dict[str, Any] = dict(estimand=f"chance that all of {k} trials of a case like these succeed")
    outside = left_out(inside, "case", f"of {hits.size} with fewer than {k} trials")
    if not inside.any():
        return Estimate(estimate=nan, reason=f"no case has {k} trials", **common)
    hits, sizes, values = hits[inside], sizes[inside], values[inside]
    thin = f"fewer than {2 * k} trials per case" if k > 1 and np.median(sizes) < 2 * k else ""
    if clusters is not None:
        labels = np.asarray(clusters, dtype=object)[inside]
        rate = clustered_rate(values, labels, trials=int(np.median(sizes)))
        return replace(rate, reason=sentence(outside, thin, rate.reason), **common)
    _, se, low, high = population(hits, sizes, k=k)
    point = float(values.mean())
    result: dict[str, Any] = dict(estimate=point, low=min(low, point), high=max(high, point), se=se, n=values.size)
    method = "beta-binomial on a grid, cases as units, equal-tailed"
    return Estimate(**result, method=method, reason=sentence(outside, thin), **common)


def pass_hat_k_curve(successes, trials, ks=range(1, 9), *, clusters=None) -> PassCurve:
    """Estimate pass^k for several k; beyond the number of trials, extrapolate with a label.

    Successes and trials are as in `case_pass_hat_k`. Clusters matter only up to the number of trials; the extrapolation
    treats cases as units.
    """
    hits, sizes = map(np.atleast_1d, successes_of_trials(successes, trials))
    ks = np.array(list(ks), dtype=int)
    seen = sizes[sizes > 0]
    most, typical = int(seen.max(initial=0)), int(np.median(seen)) if seen.size else 0
    rate, beyond = pass_hat_k(hits, sizes, 1), ks > most
    thin, last, modelled = "", nan, nan
    if beyond.any() and (seen.size < FEW_CLUSTERS or most < 2):  # the trials do not show how much cases differ
        few = f"{counted(seen.size, 'case')} with {counted(most, 'trial')} at most"
        thin = f"{few}: too few to extrapolate past the trials"
    elif beyond.any():
        last, modelled = pass_hat_k(hits, sizes, most), population(hits, sizes, k=most)[0]
    rows = list[tuple[float, float, float]]()
    for k, extrapolated in zip(ks, beyond):
        if not seen.size or (extrapolated and thin):
            rows.append((nan, nan, nan))
        elif extrapolated:
            mean, _, low, high = population(hits, sizes, k=int(k))
            point = min(last, max(last * mean / modelled, rate**k))
            before, below, above = rows[-1] if rows else (point, point, point)
            # beyond the data no arm is shorter than at the previous k
            low, high = min(low, point - (before - below)), max(high, point + (above - before))
            rows.append((point, max(low, 0.0), min(high, 1.0)))
        else:
            observed = pass_hat_k_interval(hits, sizes, int(k), clusters=clusters)
            rows.append((observed.estimate, observed.low, observed.high))
    estimates, lows, highs = np.array(rows, dtype=float).reshape(-1, 3).T
    cases = np.array([(seen >= min(k, most)).sum() for k in ks], dtype=int)
    fewer = [
        f"pass^{k} is based on {counted(number, 'case')} of {seen.size}"
        for k, number in zip(ks, cases)
        if k <= most and number < seen.size
    ]
    uneven = f"cases have {seen.min()} to {most} trials: {', '.join(fewer)}" if fewer else ""
    return PassCurve(
        k=ks,
        estimate=estimates,
        low=lows,
        high=highs,
        reference=rate ** ks.astype(float),
        label=tuple(EXTRAPOLATED if past else "observed" for past in beyond),
        usable=2 * ks <= typical,
        cases=cases,
        n=int(seen.size),
        trials=typical,
        reason=sentence(uneven, thin) if seen.size else "no case has a trial",
    )
