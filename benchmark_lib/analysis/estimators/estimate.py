"""What every estimator returns, and the few rules they all share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import nan
from statistics import multimode

import numpy as np

from ...errors import BadInput

DEFAULT_SEED = 20260629
"""Seed of the generator used where no `rng` is given."""

TAILS = 0.025, 0.975
"""Levels of the ends of an interval, unless a function is given another confidence."""

FEW_CLUSTERS = 6
"""Below this many clusters an interval over clusters is printed with a warning in `reason`."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One number, with what is needed to print it honestly.

    Attributes
    ----------
    estimate, low, high, se, p : float
        Point, interval, standard error and p-value; NaN where the method has none.
    n : int
        Units the estimate rests on (cases, pairs, models: the method says which).
    estimand : str
        What is estimated, in words.
    method : str
        How the interval and the p-value were made.
    reason : str
        Why a value is NaN, what was left out, or what weakens the interval; empty if there is nothing to say.
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
    """The headline of a metric: the median over trials, and the mean with its interval; the median has none.

    Attributes
    ----------
    median : float
        Over the trials that are whole enough.
    mean : Estimate
        Over cases, with the interval that is printed with it; `n` counts cases.
    per_trial : tuple of float
        The metric in each trial with a value.
    like_these : Estimate or None
        The mean for a fresh set of cases, where `mean` is for these cases only.
    reason : str
        What weakens the pair; empty if there is nothing to say.
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
        """Return the pair on another scale: median, mean, interval and every trial multiplied by one factor."""
        ends = {name: factor * getattr(self.mean, name) for name in ("estimate", "low", "high", "se")}
        trials = tuple(factor * value for value in self.per_trial)
        return replace(self, median=factor * self.median, mean=replace(self.mean, **ends), per_trial=trials)


def generator(rng: np.random.Generator | None) -> np.random.Generator:
    """Return `rng`, or a fresh generator seeded with `DEFAULT_SEED`."""
    return np.random.default_rng(DEFAULT_SEED) if rng is None else rng


def sentence(*parts: str) -> str:
    """Join the reasons that are not empty."""
    return "; ".join(part for part in parts if part)


def left_out(kept: np.ndarray, noun: str, why: str = "without a value") -> str:
    """Say how many things, of those that `kept` flags, are left out, and why; empty for none."""
    missing = int((~kept).sum())
    return f"{counted(missing, noun)} {why} left out" if missing else ""


def usual(counts: Iterable[float]) -> int:
    """Return the number of cases that most models were run on; of two as common, the larger; 0 for none."""
    return int(max(multimode(n for n in counts if n == n), default=0))


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return ``"1 case"``, ``"3 cases"``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def exact_bound(value: float, n: int, *, bounds: tuple[float, float] | None = (0.0, 1.0), confidence: float = 0.95):
    """Return the interval of a mean when all `n` units gave the same value.

    The chance of a unit to give `value` is at least ``q = ((1 - confidence) / 2) ** (1 / n)``, and the rest of the
    units may lie anywhere within `bounds`. At an end of the bounds this is the interval of Clopper and Pearson (1934):
    none of 18 gives 0 to 0.185.

    Parameters
    ----------
    bounds : (float, float) or None
        Smallest and largest possible value of a unit; None when there are none.

    Returns
    -------
    low, high : float
        NaN, NaN without bounds, with `value` outside them, or with no unit.
    """
    if bounds is None or n < 1 or not bounds[0] <= value <= bounds[1]:
        return nan, nan
    q = ((1 - confidence) / 2) ** (1 / n)
    return float(q * value + (1 - q) * bounds[0]), float(q * value + (1 - q) * bounds[1])


def successes_of_trials(successes, trials) -> tuple[np.ndarray, np.ndarray]:
    """Return both as integer arrays of one shape; `trials` may be a scalar. Refuse impossible counts."""
    hits = np.asarray(successes, dtype=float)
    try:
        sizes = np.broadcast_to(np.asarray(trials, dtype=float), hits.shape)
    except ValueError:
        raise BadInput(
            f"counts have shape {hits.shape} and trials {np.shape(trials)}: give one number of trials per "
            "entry, or one for all."
        ) from None
    right = (hits >= 0) & (hits <= sizes) & (hits == np.rint(hits)) & (sizes == np.rint(sizes))
    if not right.all():
        place = tuple(int(i) for i in np.argwhere(~right)[0])
        raise BadInput(
            f"entry {place} counts {hits[place]} of {sizes[place]} trials: give whole numbers with 0 <= count "
            "<= trials."
        )
    return hits.astype(int), sizes.astype(int)


def group_index(labels) -> tuple[np.ndarray, int]:
    """Return the index of each label among the distinct ones, in order of appearance, and how many these are."""
    import pandas as pd

    index, names = pd.factorize(np.asarray(labels, dtype=object).ravel(), use_na_sentinel=False)
    return index, len(names)
