"""Estimators of forks: a rate with its prefix as the cluster, a rate from branches, the effect of one change."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np

from ...analysis.estimators.comparisons import paired_difference
from ...analysis.estimators.estimate import FEW_CLUSTERS, TAILS, Estimate, counted, sentence
from ...analysis.estimators.intervals import clustered_rate, proportion_interval
from ...errors import BadInput

ALONE = "one trial a case shows no spread among trials, so the interval is that of whole conversations"
"""Reason where forks cannot narrow an interval."""


def rate_over_prefixes(counts, sizes) -> Estimate:
    """Estimate the mean rate over prefixes like these, each prefix one cluster of its forks.

    Parameters
    ----------
    counts, sizes : array_like of int, shape (prefixes,)
        Forks with the outcome, and forks with a value; a prefix without any is left out.

    Returns
    -------
    Estimate
        The mean over prefixes with the interval of `clustered_rate` (a beta-binomial over prefixes); of one prefix, the
        share of its forks with Wilson's interval. `n` counts forks.
    """
    counts, sizes = _counts(counts, sizes)
    if counts.size == 1:
        found = proportion_interval(int(counts[0]), int(sizes[0]))
        return _with(found, sizes, "chance of the outcome after this prefix", found.reason)
    values = np.repeat(counts / np.maximum(sizes, 1), sizes)
    found = clustered_rate(_single(counts, sizes), np.repeat(np.arange(counts.size), sizes))
    mean = float((counts / sizes).mean()) if counts.size else nan
    low, high = min(found.low, mean), max(found.high, mean)
    return Estimate(
        estimate=mean, low=low, high=high, se=found.se, n=values.size, method=found.method, reason=found.reason,
        estimand="mean chance of the outcome after prefixes like these",
    )  # fmt: skip


def branch_weighted_rate(rates, cases) -> Estimate:
    """Estimate a model's rate on these cases from forks, each branch weighted by how often it was reached.

    The expected rate is ``sum over branches of P(branch) * P(outcome | branch)``. Each recorded conversation is a draw
    of a branch, so its own forks replace its single outcome: the mean over cases of the mean over trials of the share
    among forks, or of the outcome itself where a conversation was not forked. This is one level of splitting
    (Glasserman et al. 1999, Operations Research 47, with the branch as the only level).

    Parameters
    ----------
    rates : array_like of float, shape (conversations,)
        The share among the forks of each conversation, or its outcome (0 or 1); NaN is left out.
    cases : array_like, shape (conversations,)
        The case of each.

    Returns
    -------
    Estimate
        Wilson's interval at an effective number of conversations: ``p (1 - p)`` over the variance of the estimate,
        which comes from the spread among trials of a case, with its degrees of freedom (Korn and Graubard 1998); at
        least the number of conversations. `n` counts conversations.
    """
    from scipy.stats import norm, t
    from statsmodels.stats.proportion import proportion_confint

    rates, cases = np.asarray(rates, dtype=float), np.asarray(cases, dtype=object)
    kept = ~np.isnan(rates)
    rates, cases = rates[kept], cases[kept]
    words: dict[str, Any] = dict(
        estimand="expected rate on these cases", method="splitting, Wilson at the effective number"
    )
    if not rates.size:
        return Estimate(estimate=nan, reason="no conversation has a value", **words)
    groups = [rates[cases == case] for case in dict.fromkeys(cases)]
    mean = float(np.mean([group.mean() for group in groups]))
    spread = np.array([group.var(ddof=1) / group.size for group in groups if group.size > 1])
    variance = float(spread.mean()) / len(groups) if spread.size else 0.0
    effective = float(rates.size)
    if variance > 0:
        df = sum(group.size - 1 for group in groups)
        effective = max(effective, mean * (1 - mean) / variance * (norm.ppf(TAILS[1]) / t.ppf(TAILS[1], df)) ** 2)
    low, high = proportion_confint(mean * effective, effective, method="wilson")
    return Estimate(
        estimate=mean, low=max(float(low), 0.0), high=min(float(high), 1.0), se=variance**0.5, n=rates.size,
        reason="" if spread.size else ALONE, **words,
    )  # fmt: skip


def effect(changed, sizes, plain, plain_sizes) -> Estimate:
    """Estimate how much a change alters a rate, point by point.

    Parameters
    ----------
    changed, sizes, plain, plain_sizes : array_like of int, shape (points,)
        Forks with the outcome and forks with a value, with the change and without it, at the same points.

    Returns
    -------
    Estimate
        The mean over points of the difference. From six points on, Student's t over points (points like these); below,
        Newcombe's interval over all forks (these points). `n` counts points.
    """
    changed, sizes = np.asarray(changed, dtype=float), np.asarray(sizes, dtype=float)
    plain, plain_sizes = np.asarray(plain, dtype=float), np.asarray(plain_sizes, dtype=float)
    kept = (sizes > 0) & (plain_sizes > 0)
    changed, sizes, plain, plain_sizes = (values[kept] for values in (changed, sizes, plain, plain_sizes))
    if not kept.any():
        return Estimate(estimate=nan, reason="no point has forks with and without the change")
    a, b = changed / sizes, plain / plain_sizes
    if kept.sum() >= FEW_CLUSTERS:
        found = paired_difference(a, b)
        return Estimate(
            estimate=found.estimate, low=found.low, high=found.high, se=found.se, p=found.p, n=found.n,
            method=f"t over {counted(found.n, 'point')}", reason=found.reason,
            estimand="mean effect at points like these",
        )  # fmt: skip
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(
        changed.sum(), sizes.sum(), plain.sum(), plain_sizes.sum(), method="newcomb", compare="diff"
    )
    return Estimate(
        estimate=float((a - b).mean()), low=float(low), high=float(high), n=int(kept.sum()),
        method="Newcombe over forks", estimand="mean effect at these points",
    )  # fmt: skip


def _counts(counts, sizes) -> tuple[np.ndarray, np.ndarray]:
    counts, sizes = np.asarray(counts, dtype=int), np.asarray(sizes, dtype=int)
    if counts.shape != sizes.shape or (counts < 0).any() or (counts > sizes).any():
        raise BadInput(
            "counts and sizes differ: give each prefix its forks with the outcome and its forks with a value"
        )
    return counts[sizes > 0], sizes[sizes > 0]


def _single(counts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([np.arange(n) < k for k, n in zip(counts, sizes, strict=True)] or [[]]).astype(float)


def _with(found: Estimate, sizes: np.ndarray, estimand: str, reason: str) -> Estimate:
    return Estimate(
        estimate=found.estimate, low=found.low, high=found.high, se=found.se, n=int(sizes.sum()), method=found.method,
        estimand=estimand, reason=sentence(reason),
    )  # fmt: skip
