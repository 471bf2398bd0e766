"""Results of estimators, and rules that all of them share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import nan
from statistics import multimode

import numpy as np

from ...errors import BadInput
from ...scoring.written import counted

DEFAULT_SEED = 20260629
"""Seed of the generator used without `rng`."""
TAILS = 0.025, 0.975
"""Quantiles at the ends of an interval, unless a function is given another confidence."""
FEW_CLUSTERS = 6
"""Below this number of clusters, `reason` warns about the interval."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One number, with everything needed to report it honestly.

    Attributes
    ----------
    estimate, low, high, se, p : float
        Point, interval, standard error and p-value; NaN if the method gives none.
    n : int
        Number of units (cases, pairs or models, depending on the method).
    estimand, method : str
        The quantity estimated, and the method of the interval and the p-value.
    reason : str
        Why a value is NaN, what was left out, or what weakens the interval; may be empty.
    confidence : float
        Level of the interval.
    """

    estimate: float
    low: float = nan
    high: float = nan
    se: float = nan
    p: float = nan
    n: int = 0
    estimand: str = ""
    method: str = ""
    reason: str = ""
    confidence: float = 0.95


@dataclass(frozen=True, kw_only=True)
class Headline:
    """Headline of a metric: median over trials, without an interval, and mean with its interval.

    Attributes
    ----------
    median, mean : float, Estimate
        Median over the trials that are `whole_enough`, and mean over cases.
    per_trial : tuple of float
        Value of each trial that has one.
    like_these : Estimate or None
        Mean for a fresh set of cases, if `mean` is for these cases only.
    reason : str
        What weakens median and mean; may be empty.
    """

    median: float
    mean: Estimate
    per_trial: tuple[float, ...] = ()
    like_these: Estimate | None = None
    reason: str = ""

    @property
    def n(self) -> int:
        """Return the number of cases with a value."""
        return self.mean.n

    def times(self, factor: float) -> Headline:
        """Return the headline on another scale: every value multiplied by one factor."""
        ends = {name: factor * getattr(self.mean, name) for name in ("estimate", "low", "high", "se")}
        trials = tuple(factor * value for value in self.per_trial)
        return replace(self, median=factor * self.median, mean=replace(self.mean, **ends), per_trial=trials)


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return `rng`, or a new generator seeded with `DEFAULT_SEED`."""
    return np.random.default_rng(DEFAULT_SEED if rng is None else rng)


def sentence(*parts: str) -> str:
    """Join the reasons that are not empty."""
    return "; ".join(filter(None, parts))


def left_out(kept: np.ndarray, noun: str, why: str = "without a value") -> str:
    """Return in words how many items `kept` leaves out, and why; empty if it leaves out none."""
    missing = int((~kept).sum())
    return f"{counted(missing, noun)} {why} left out" if missing else ""


def usual(counts: Iterable[float]) -> int:
    """Return the most common number of cases among models; in a tie the largest, 0 if none."""
    return int(max(multimode(n for n in counts if n == n), default=0))


def exact_bound(value: float, n: int, *, bounds: tuple[float, float] | None = (0.0, 1.0), confidence: float = 0.95):
    """Return the interval of a mean when all `n` units gave the same value.

    The chance that a unit gives `value` is at least ``q = ((1 - confidence) / 2) ** (1 / n)``. The other units may have
    any value within `bounds`. At an end of the bounds this is the interval of Clopper and Pearson (1934): for 0 of 18
    it is 0 to 0.185. Both ends are NaN if there are no bounds or no units, or if `value` is outside the bounds.
    """
    if bounds is None or n < 1 or not bounds[0] <= value <= bounds[1]:
        return nan, nan
    q = ((1 - confidence) / 2) ** (1 / n)
    return float(q * value + (1 - q) * bounds[0]), float(q * value + (1 - q) * bounds[1])


def successes_of_trials(successes, trials) -> tuple[np.ndarray, np.ndarray]:
    """Return both as integer arrays of one shape; `trials` may be a scalar. Refuse bad counts."""
    hits = np.asarray(successes, dtype=float)
    try:
        sizes = np.broadcast_to(np.asarray(trials, dtype=float), hits.shape)
    except ValueError:
        shapes = f"counts have shape {hits.shape} and trials {np.shape(trials)}"
        raise BadInput(f"{shapes}: pass one number of trials per entry, or one for all.") from None
    right = (hits >= 0) & (hits <= sizes) & (hits == np.rint(hits)) & (sizes == np.rint(sizes))
    if not right.all():
        place = tuple(int(i) for i in np.argwhere(~right)[0])
        entry = f"entry {place} counts {hits[place]} of {sizes[place]} trials"
        raise BadInput(f"{entry}: pass whole numbers with 0 <= count <= trials.")
    return hits.astype(int), sizes.astype(int)


def group_index(labels) -> tuple[np.ndarray, int]:
    """Return the index of each label among the distinct labels, and their number."""
    import pandas as pd

    index, names = pd.factorize(np.asarray(labels, dtype=object).ravel(), use_na_sentinel=False)
    return index, len(names)
