"""Repeated trials of the same cases: headline, pass^k, flips, missing trials, wordings.

pass^k is the chance that an agent succeeds on a case in *every one* of k trials, not pass@k (at least one of k). The
estimate is that of Yao et al. (2024, tau-bench, section 3.2): the mean over cases of ``C(c, k) / C(n, k)``. ``p ** k``,
for the mean success rate ``p``, is a lower bound for any mix of cases (Jensen's inequality): a reference line only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from math import nan
from typing import Any

import numpy as np

from ...errors import BadInput
from ...scoring.written import counted
from .estimate import FEW_CLUSTERS, Estimate, Headline, generator, left_out, sentence, successes_of_trials
from .intervals import bootstrap_interval, clustered_mean, clustered_rate, population

FEW_TRIALS = "the median of fewer than 3 says no more than the mean"
"""End of the reason why a median of few trials says little; the number of trials precedes it."""


@dataclass(frozen=True, kw_only=True)
class MissingBounds(Estimate):
    """Observed mean, with what it would be if all missing conversations failed, or succeeded."""

    missing: int = 0
    planned: int = 0


def median_and_mean(values, *, clusters=None, rate: bool | None = None) -> Headline:
    """Return the published headline of a metric: median over trials, mean with its interval.

    The median is over trials that are `whole_enough`, the mean over cases of the mean of their trials. A rate has the
    interval of `clustered_rate`, or of pass^1 without clusters of several cases (traps have none). Any other value has
    Student's t over clusters, or BCa over cases.

    Parameters
    ----------
    values : array_like of float, shape (cases, trials)
        One entry per conversation; NaN for a missing one, or if the metric does not apply.
    clusters : array_like, shape (cases,), optional
        Cluster (intent) of each case.
    rate : bool, optional
        True if each conversation either succeeds or fails; by default, True if every value is 0 or 1.
    """
    table = np.atleast_2d(np.asarray(values, dtype=float))
    seen = ~np.isnan(table)
    rows, columns = seen.any(axis=1), seen.any(axis=0)
    if not seen.any():
        return Headline(median=nan, mean=Estimate(estimate=nan), reason="no conversation has a value")
    table, seen = table[rows][:, columns], seen[rows][:, columns]
    per_trial, means, sizes = np.nanmean(table, axis=0), np.nanmean(table, axis=1), seen.sum(axis=1)
    labels = None if clusters is None else np.asarray(clusters, dtype=object)[rows]
    if rate is None:
        rate = bool(np.isin(table[seen], (0, 1)).all())
    if rate and labels is not None and len(set(labels)) < len(labels):
        interval = clustered_rate(means, labels, trials=int(np.median(sizes)))
    elif rate:
        interval = pass_hat_k_interval(np.nansum(table, axis=1), sizes, 1)
    elif labels is not None:
        interval = clustered_mean(means, labels, bounds=None)
    else:
        interval = bootstrap_interval(means, bounds=None)
    kept = whole_enough(table)
    few = f"{counted(int(kept.sum()), 'trial')}: {FEW_TRIALS}" if kept.sum() < 3 else ""
    excluded = counted(int((~kept).sum()), "trial")
    short = "" if kept.all() else f"the median leaves out {excluded} with values for fewer than half of the cases"
    holes = "" if seen.all() else f"{int(seen.sum())} of {seen.size} conversations have a value"
    dropped = "" if rows.all() else f"{counted(int((~rows).sum()), 'case')} without any value"
    mean = replace(interval, estimate=float(means.mean()), n=len(means), estimand="mean for cases like these")
    return Headline(
        median=float(np.median(per_trial[kept])),
        mean=mean,
        per_trial=tuple(per_trial.tolist()),
        reason=sentence(few, short, holes, dropped, interval.reason),
    )


def whole_enough(values) -> np.ndarray:
    """Return which trials (columns) have at least half as many values as the fullest trial."""
    # A stopped run leaves a last trial of a few cases, which must not move the headline.
    sizes = (~np.isnan(np.atleast_2d(np.asarray(values, dtype=float)))).sum(axis=0)
    return (sizes > 0) & (2 * sizes >= sizes.max(initial=0))


def flip_rate(successes, trials, *, clusters=None, rng=None) -> Estimate:
    """Estimate the chance that two trials of a case differ.

    The estimate is the mean over cases of ``2 c (n - c) / (n (n - 1))``, leaving out cases with fewer than two trials.
    The interval is BCa over whole clusters, or over cases if fewer than `FEW_CLUSTERS` clusters have two trials.
    """
    hits, sizes = successes_of_trials(successes, trials)
    inside = sizes >= 2
    hits, sizes = hits[inside], sizes[inside]
    estimand = "chance that two trials of a case like these disagree"
    if not hits.size:
        return Estimate(estimate=nan, reason="no case has two trials", estimand=estimand)
    values = 2 * hits * (sizes - hits) / (sizes * (sizes - 1))
    labels = None if clusters is None else np.asarray(clusters, dtype=object)[inside]
    many, thin = FEW_CLUSTERS if labels is None else len(set(labels)), ""
    if many < FEW_CLUSTERS:
        labels, too_few = None, f"{counted(many, 'cluster')} with two trials are too few"
        thin = f"the interval treats cases as units, since {too_few}"
    rate = bootstrap_interval(values, clusters=labels, rng=rng)
    outside = left_out(inside, "case", "with fewer than 2 trials")
    return replace(rate, estimand=estimand, reason=sentence(outside, thin, rate.reason))


@dataclass(frozen=True, kw_only=True)
class TrialShift(Estimate):
    """The trial that differs most from the others, as when a provider changes the model.

    `trial` is the index of the trial farthest from the others (-1 for none), `estimate` its mean and `others` the mean
    of the other trials on the same cases.
    """

    trial: int = -1
    others: float = nan


def trial_shift(values, *, n_resamples: int = 4_999, rng=None) -> TrialShift:
    """Test whether the trials of a run are exchangeable, by shuffling values within each case.

    The values have shape (cases, trials), with NaN for a missing value. Only cases with a value in every trial that is
    `whole_enough` count. `p` is the share of shuffles (including the observed order) in which some trial's mean is at
    least as far from the overall mean as observed.
    """
    table = np.atleast_2d(np.asarray(values, dtype=float))
    kept = np.flatnonzero(whole_enough(table))
    words: dict[str, Any] = dict(estimand="mean of the trial farthest from the others")
    words["method"] = "values shuffled within cases"
    rows = ~np.isnan(table[:, kept]).any(axis=1)
    if kept.size < 2 or not rows.any():
        return TrialShift(estimate=nan, reason="fewer than two trials of the same cases", **words)
    table = table[rows][:, kept]
    means = table.mean(axis=0)
    mixed = table[np.ptp(table, axis=1) > 0]
    place = int(np.argmax(np.abs(means - means.mean())))
    point, others = float(means[place]), float(np.delete(means, place).mean())
    result = partial(TrialShift, estimate=point, others=others, trial=int(kept[place]), n=len(table), **words)
    if not len(mixed):
        return result(p=1.0)
    # Not scipy.stats.permutation_test, which refuses a single case.
    stream, mean = generator(rng), mixed.sum() / kept.size
    observed, extreme = np.abs(mixed.sum(axis=0) - mean).max() - 1e-9, 1
    for start in range(0, n_resamples, 500):
        order = stream.random((min(500, n_resamples - start), *mixed.shape)).argsort(axis=2)
        sums = np.take_along_axis(np.broadcast_to(mixed, order.shape), order, axis=2).sum(axis=1)
        extreme += int((np.abs(sums - mean).max(axis=1) >= observed).sum())
    return result(p=extreme / (n_resamples + 1))


def missing_bounds(successes, trials, planned) -> MissingBounds:
    """Bound the mean over cases that a run without missing conversations would have had.

    Successes, trials and planned conversations are counts for each case. `low` and `high` are the bounds; `n` counts
    the observed conversations.
    """
    hits, sizes = successes_of_trials(successes, trials)
    goal = np.broadcast_to(np.asarray(planned, dtype=int), hits.shape)
    if (goal < sizes).any():
        more = f"{int((goal < sizes).sum())} cases have more trials than planned"
        raise BadInput(f"{more}: planned must be at least trials.")
    kept = goal > 0
    if not kept.any():
        return MissingBounds(estimate=nan, reason="no conversation was planned")
    hits, sizes, goal = hits[kept], sizes[kept], goal[kept]
    some, missing, planned_all = sizes > 0, int((goal - sizes).sum()), int(goal.sum())
    return MissingBounds(
        estimate=float((hits[some] / sizes[some]).mean()) if some.any() else nan,
        low=float((hits / goal).mean()),
        high=float(((hits + goal - sizes) / goal).mean()),
        n=int(sizes.sum()),
        missing=missing,
        planned=planned_all,
        method="every missing conversation failed, or succeeded",
        estimand="mean over cases with every planned conversation",
        reason=f"{missing} of {planned_all} conversations missing" if missing else "",
    )


@dataclass(frozen=True, kw_only=True)
class WordingSpread:
    """Two variance components of one trial's success, the first with a test against chance.

    `wording` is the variance of the chance of success over wordings of one case; its p-value tests whether words
    matter. It is unbiased, so it can be negative. `trial` is the variance over trials of one wording.
    """

    wording: Estimate
    trial: Estimate

    @property
    def share(self) -> float:
        """Return the share of the variance within a case that is due to its words, from 0 to 1."""
        total = max(self.wording.estimate, 0.0) + self.trial.estimate
        return max(self.wording.estimate, 0.0) / total if total > 0 else nan


def wording_spread(successes, trials, cases, *, n_resamples: int = 1_999, rng=None) -> WordingSpread:
    """Estimate the variance over wordings and trials, from a one-way random layout by case.

    If ``k`` of ``n`` trials of a wording succeed, ``k (n - k) / (n (n - 1))`` estimates the variance of a trial. The
    variance of wordings is that of ``k / n`` within a case, less the contribution of trials (Searle, Casella and
    McCulloch 1992, section 3.6). Each is averaged over cases; the interval is Student's t over cases. The test shuffles
    the results of a case among its wordings. Successes, trials and cases have one entry per wording; wordings with
    fewer than two trials are left out.
    """
    hits, sizes, names = np.asarray(successes, dtype=float), np.asarray(trials, dtype=int), np.asarray(cases)
    kept = sizes >= 2
    hits, sizes, names = hits[kept], sizes[kept], names[kept]
    groups = [names == name for name in dict.fromkeys(names.tolist()) if (names == name).sum() >= 2]
    if not groups:
        reason = "no case has two wordings with two trials each"
        return WordingSpread(wording=Estimate(estimate=nan, reason=reason), trial=Estimate(estimate=nan, reason=reason))
    parts = np.array([_components(hits[m], sizes[m]) for m in groups])
    p = _shuffled([(hits[m], sizes[m]) for m in groups], n_resamples, generator(rng))
    left = f"{int((~kept).sum())} wordings with fewer than two trials left out" if (~kept).any() else ""
    method = "t over cases; p by shuffling trials among wordings"
    wording, trial = (
        replace(mean, estimand=words, method=method, reason=sentence(mean.reason, left))
        for words, column in zip(("variance over wordings of a case", "variance over trials of a wording"), parts.T)
        for mean in [clustered_mean(column, np.arange(len(groups)), bounds=None)]
    )
    return WordingSpread(wording=replace(wording, p=p), trial=trial)


def _components(hits: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    within = hits * (sizes - hits) / (sizes * (sizes - 1))
    return float((hits / sizes).var(ddof=1) - (within / sizes).mean()), float(within.mean())


def _shuffled(layout: list[tuple[np.ndarray, np.ndarray]], n_resamples: int, rng: np.random.Generator) -> float:
    # share of shuffles in which wordings differ at least as much as observed
    draws, observed = np.zeros(n_resamples), 0.0
    for hits, sizes in layout:
        observed += (hits**2 / sizes).sum()
        drawn = rng.multivariate_hypergeometric(sizes, int(hits.sum()), size=n_resamples)
        draws += (drawn**2 / sizes).sum(axis=1)
    return float((1 + (draws >= observed - 1e-9).sum()) / (1 + n_resamples))


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
