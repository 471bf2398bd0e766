"""Estimators for forks: a rate over prefixes, a rate from branches, the effect of a change."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import Any

import numpy as np

from ...analysis.estimators.comparisons import paired_difference
from ...analysis.estimators.estimate import FEW_CLUSTERS, TAILS, Estimate, successes_of_trials
from ...analysis.estimators.intervals import clustered_rate, proportion_interval

ALONE = "one trial per case shows no spread among trials, so the interval is that of whole conversations"
"""Reason where forks cannot narrow an interval."""


def rate_over_prefixes(counts, sizes) -> Estimate:
    """Estimate the mean rate over prefixes like these, with each prefix's forks as a cluster.

    Parameters
    ----------
    counts, sizes : array_like of int, shape (prefixes,)
        Forks with the outcome, and forks with a value; a prefix without a value is left out.

    Returns
    -------
    Estimate
        The mean over prefixes with the interval of `clustered_rate` (a beta-binomial over prefixes). For one prefix,
        the share of its forks with Wilson's interval. `n` counts forks.
    """
    counts, sizes = successes_of_trials(counts, sizes)
    counts, sizes = counts[sizes > 0], sizes[sizes > 0]
    if counts.size <= 1:
        rate = proportion_interval(int(counts.sum()), int(sizes.sum()))
        return replace(rate, estimand="chance of the outcome after this prefix")
    single = np.concatenate([np.arange(n) < k for k, n in zip(counts, sizes, strict=True)])
    rate = clustered_rate(single, np.repeat(np.arange(counts.size), sizes))
    mean = float((counts / sizes).mean())
    words = "mean chance of the outcome after prefixes like these"
    low, high = min(rate.low, mean), max(rate.high, mean)
    return replace(rate, estimate=mean, low=low, high=high, estimand=words)


def branch_weighted_rate(rates, cases) -> Estimate:
    """Estimate a rate on these cases from forks, each branch weighted by its frequency.

    The expected rate is ``sum over branches of P(branch) * P(outcome | branch)``. Each recorded conversation is a draw
    of a branch, so the share among its forks replaces its single outcome. Where a conversation was not forked, the
    outcome itself counts. The estimate is the mean over cases of their trials' mean. This is one level of splitting
    (Glasserman et al. 1999, Operations Research 47, with the branch as the only level).

    Parameters
    ----------
    rates : array_like of float, shape (conversations,)
        The share among the forks of each conversation, or its outcome (0 or 1); NaN is left out.
    cases : array_like, shape (conversations,)
        The case of each conversation.

    Returns
    -------
    Estimate
        Wilson's interval at an effective number of conversations: ``p (1 - p)`` over the variance of the estimate, but
        at least their actual number. The variance comes from the spread among trials of a case, with its degrees of
        freedom (Korn and Graubard 1998). `n` counts conversations.
    """
    from scipy.stats import norm, t
    from statsmodels.stats.proportion import proportion_confint

    rates, cases = np.asarray(rates, dtype=float), np.asarray(cases, dtype=object)
    rates, cases = rates[~np.isnan(rates)], cases[~np.isnan(rates)]
    words: dict[str, Any] = dict(estimand="expected rate on these cases", method="splitting, Wilson at the effective n")
    if not rates.size:
        return Estimate(estimate=nan, reason="no conversation has a value", **words)
    groups = [rates[cases == case] for case in dict.fromkeys(cases)]
    mean, effective = float(np.mean([group.mean() for group in groups])), float(rates.size)
    spread = np.array([group.var(ddof=1) / group.size for group in groups if group.size > 1])
    variance = float(spread.mean()) / len(groups) if spread.size else 0.0
    if variance > 0:
        df = sum(group.size - 1 for group in groups)
        shrunk = (norm.ppf(TAILS[1]) / t.ppf(TAILS[1], df)) ** 2
        effective = max(effective, mean * (1 - mean) / variance * shrunk)
    low, high = proportion_confint(mean * effective, effective, method="wilson")
    ends = {"low": max(float(low), 0.0), "high": min(float(high), 1.0), "se": variance**0.5}
    return Estimate(estimate=mean, **ends, n=rates.size, reason="" if spread.size else ALONE, **words)


def effect(changed, sizes, plain, plain_sizes) -> Estimate:
    """Estimate how much a change alters a rate, point by point.

    Parameters
    ----------
    changed, sizes, plain, plain_sizes : array_like of int, shape (points,)
        Forks with the outcome and forks with a value, with the change and without it, at the same points.

    Returns
    -------
    Estimate
        The mean difference over points. With six points or more, the interval is Student's t over points (for points
        like these); with fewer, it is Newcombe's over all forks (for these points). `n` counts points.
    """
    rows = np.array([changed, sizes, plain, plain_sizes], dtype=float)
    changed, sizes, plain, plain_sizes = rows[:, (rows[1] > 0) & (rows[3] > 0)]
    if not sizes.size:
        return Estimate(estimate=nan, reason="no point has forks with and without the change")
    if sizes.size >= FEW_CLUSTERS:
        found = paired_difference(changed / sizes, plain / plain_sizes)
        return replace(found, estimand="mean effect at such points")
    from statsmodels.stats.proportion import confint_proportions_2indep

    totals = (changed.sum(), sizes.sum(), plain.sum(), plain_sizes.sum())
    low, high = map(float, confint_proportions_2indep(*totals, method="newcomb", compare="diff"))
    mean, words = float((changed / sizes - plain / plain_sizes).mean()), "mean effect at these points"
    return Estimate(estimate=mean, low=low, high=high, n=sizes.size, method="Newcombe over forks", estimand=words)
