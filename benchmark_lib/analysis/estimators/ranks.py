"""Which places in a ranking the data can tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .comparisons import paired_difference
from .estimate import counted, generator, group_index, sentence


@dataclass(frozen=True, kw_only=True)
class RankIntervals:
    """Rank of every model, 1 is best, with intervals that hold for all models at once.

    Attributes
    ----------
    rank, low, high : ndarray, shape (models,)
        Place by the mean (ties share the better one), best and worst place that the data do not rule out; NaN for a
        model without values.
    estimate : ndarray, shape (models,)
        Mean over the cases all models have.
    n : int
        The number of those cases.
    """

    rank: np.ndarray
    low: np.ndarray
    high: np.ndarray
    estimate: np.ndarray
    n: int
    estimand: str = "place in the order of means over cases like these"
    method: str = ""
    reason: str = ""
    confidence: float = 0.95


def rank_intervals(
    values,
    *,
    higher_is_better: bool = True,
    clusters=None,
    n_resamples: int = 4_000,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> RankIntervals:
    """Ranks with simultaneous intervals from all pairwise differences (Mogstad, Romano, Shaikh and Wilhelm 2024).

    A model's best place is one below the models that are surely better than it, its worst place one above those surely
    worse; "surely" by one critical value for all pairs: a quantile of the largest studentised difference over bootstrap
    resamples of whole cases or clusters.

    Parameters
    ----------
    values : array_like of float, shape (models, cases)
        One value per case, its trials averaged. A case that a model lacks is left out for all, and counted; a model
        without any value gets no rank.
    clusters : array_like, shape (cases,), optional
    """
    table = np.atleast_2d(np.asarray(values, dtype=float))
    present = ~np.isnan(table).all(axis=1)
    shared = ~np.isnan(table[present]).any(axis=0) if present.any() else np.zeros(table.shape[1], dtype=bool)
    absent, lost = int((~present).sum()), int((~shared).sum())
    reason = sentence(
        f"{counted(absent, 'model')} without any value" if absent else "",
        f"{counted(lost, 'case')} of {shared.size} that some models lack left out" if lost and present.any() else "",
    )
    blank = np.full(len(table), np.nan)
    out: dict[str, Any] = {"rank": blank.copy(), "low": blank.copy(), "high": blank.copy(), "estimate": blank.copy()}
    units = _unit_sums(
        table[present][:, shared], None if clusters is None else np.asarray(clusters, dtype=object)[shared]
    )
    if not shared.any() or len(units[1]) < 2:
        few = "ranks need at least two cases (or clusters) that every model has"
        return RankIntervals(**out, n=int(shared.sum()), reason=sentence(few, reason), confidence=confidence)
    means, better = _surely_better(*units, n_resamples, confidence, generator(rng), 1 if higher_is_better else -1)
    scores = means if higher_is_better else -means
    out["estimate"][present] = means
    out["rank"][present] = 1 + (scores[None, :] > scores[:, None] + 1e-12).sum(axis=1)
    out["low"][present] = 1 + better.sum(axis=0)
    out["high"][present] = present.sum() - better.sum(axis=1)
    noun = "case" if clusters is None else "cluster"
    return RankIntervals(
        **out,
        n=int(shared.sum()),
        reason=reason,
        confidence=confidence,
        method=f"largest studentised difference of all pairs, bootstrap over {counted(len(units[1]), noun)}",
    )


def order_chances(values, *, higher_is_better: bool = True, clusters=None) -> np.ndarray:
    """How sure the order of neighbours is: the chance that each model is truly no worse than the next one.

    Half where two cannot be told apart. One-sided Student's t of the paired difference over units, read as a chance
    (the posterior of a difference under a flat prior); for two models near each other it is as often right as it says
    (``benchmarks/comparisons.md``).

    Parameters
    ----------
    values : array_like of float, shape (models, cases)
        One value per case, its trials averaged, models in the order that is asked about.
    clusters : array_like, shape (cases,), optional

    Returns
    -------
    ndarray, shape (models - 1,)
        NaN where two share fewer than two units.
    """
    from scipy.stats import t

    table = np.atleast_2d(np.asarray(values, dtype=float))
    labels = None if clusters is None else np.asarray(clusters, dtype=object)
    sign, chances = (1 if higher_is_better else -1), np.full(max(len(table) - 1, 0), np.nan)
    for place, (first, second) in enumerate(pairwise(table)):
        found = paired_difference(first, second, clusters=labels, bounds=None)
        if found.units < 2:
            continue
        gap = sign * found.estimate
        alike = found.se == 0  # every unit alike: each is one toss of a coin
        even = 0.5 if abs(gap) < 1e-12 else 1 - 0.5**found.units if gap > 0 else 0.5**found.units
        chances[place] = even if alike else float(t.cdf(gap / found.se, found.units - 1))
    return chances


def _unit_sums(table: np.ndarray, labels) -> tuple[np.ndarray, np.ndarray]:
    """Sums over cases of each unit, shape (models, units), and the cases in each unit."""
    if labels is None:
        return table, np.ones(table.shape[1])
    names, index = group_index(labels)
    member = np.eye(len(names))[index]
    return table @ member, member.sum(axis=0)


def _surely_better(sums, sizes, n_resamples, confidence, rng, sign) -> tuple[np.ndarray, np.ndarray]:
    """Means, and a matrix that is true where the row's model beats the column's beyond the shared critical value."""
    units, models = sizes.size, len(sums)
    means = sums.sum(axis=1) / sizes.sum()
    residuals = sums - means[:, None] * sizes
    covariance = residuals @ residuals.T * units / (units - 1) / sizes.sum() ** 2
    spread = np.diag(covariance)
    error = np.sqrt(np.maximum(spread[:, None] + spread[None, :] - 2 * covariance, 0))
    told = error > 1e-12
    scale = np.where(told, error, np.inf)
    times = rng.multinomial(units, np.full(units, 1 / units), size=n_resamples)
    shifts = (times @ residuals.T) / (times @ sizes)[:, None]
    largest = np.zeros(n_resamples)
    for first in range(models - 1):
        gaps = np.abs(shifts[:, first : first + 1] - shifts[:, first + 1 :]) / scale[first, first + 1 :]
        np.maximum(largest, gaps.max(axis=1), out=largest)
    critical = float(np.quantile(largest, confidence))
    gap = sign * (means[:, None] - means[None, :])
    certain = ~told & (gap > 1e-9) & (units >= 6)  # the same gap on every unit: the sign flips give p = 2 / 2**units
    return means, (told & (gap > critical * error)) | certain
