"""How far results move with the words of a case, held against how far they move from one trial to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

import numpy as np

from .estimate import Estimate, generator, sentence
from .intervals import clustered_mean


@dataclass(frozen=True, kw_only=True)
class WordingSpread:
    """Two variance components of one trial's success, and whether the first is more than chance.

    Attributes
    ----------
    wording : Estimate
        Variance of the chance of success over wordings of one case, with the p-value of no effect of the words at all. It
        is unbiased, so that it falls below 0 where the words move nothing.
    trial : Estimate
        Variance over trials of one wording.
    """

    wording: Estimate
    trial: Estimate

    @property
    def share(self) -> float:
        """The part of the variance within a case that is due to its words, from 0 to 1."""
        total = max(self.wording.estimate, 0.0) + self.trial.estimate
        return max(self.wording.estimate, 0.0) / total if total > 0 else nan


def wording_spread(successes, trials, cases, *, n_resamples: int = 1_999, rng=None) -> WordingSpread:
    """Variance over wordings and variance over trials, from a one-way random layout within each case.

    With ``k`` of ``n`` trials of a wording successful, the variance of a trial is estimated by ``k (n - k) / (n (n - 1))``
    and that of wordings by the variance of ``k / n`` over the wordings of a case, less what trials add to it (Searle,
    Casella and McCulloch 1992, section 3.6). Each is averaged over cases; the interval is Student's t over cases. The test
    shuffles the results of a case among its wordings.

    Parameters
    ----------
    successes, trials : array_like of int, shape (wordings,)
        Of each wording of each case; wordings with fewer than two trials are left out.
    cases : array_like, shape (wordings,)
        The case that each of them tells.
    """
    hits, sizes, names = np.asarray(successes, dtype=float), np.asarray(trials, dtype=int), np.asarray(cases)
    kept = sizes >= 2
    hits, sizes, names = hits[kept], sizes[kept], names[kept]
    mine = [names == name for name in dict.fromkeys(names.tolist()) if (names == name).sum() >= 2]
    if not mine:
        reason = "no case has two wordings with two trials each"
        return WordingSpread(wording=Estimate(estimate=nan, reason=reason), trial=Estimate(estimate=nan, reason=reason))
    parts = np.array([_components(hits[m], sizes[m]) for m in mine])
    p = _shuffled([(hits[m], sizes[m]) for m in mine], n_resamples, generator(rng))
    labels = np.arange(len(mine))
    found = [clustered_mean(column, labels, bounds=None) for column in parts.T]
    left = f"{int((~kept).sum())} wordings with fewer than two trials left out" if (~kept).any() else ""
    method = "t over cases; p by shuffling trials among wordings"
    wording, trial = (
        replace(f, n=len(mine), estimand=words, method=method, reason=sentence(f.reason, left))
        for f, words in zip(found, ("variance over wordings of a case", "variance over trials of a wording"))
    )
    return WordingSpread(wording=replace(wording, p=p), trial=trial)


def _components(hits: np.ndarray, sizes: np.ndarray) -> tuple[float, float]:
    """The two components of one case."""
    within = hits * (sizes - hits) / (sizes * (sizes - 1))
    return float((hits / sizes).var(ddof=1) - (within / sizes).mean()), float(within.mean())


def _shuffled(layout: list[tuple[np.ndarray, np.ndarray]], n_resamples: int, rng: np.random.Generator) -> float:
    """Share of shuffles in which wordings differ at least as much as they do."""
    draws = np.zeros(n_resamples)
    observed = 0.0
    for hits, sizes in layout:
        observed += (hits**2 / sizes).sum()
        drawn = rng.multivariate_hypergeometric(sizes, int(hits.sum()), size=n_resamples)
        draws += (drawn**2 / sizes).sum(axis=1)
    return float((1 + (draws >= observed - 1e-9).sum()) / (1 + n_resamples))
