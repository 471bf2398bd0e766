"""Alarms for a rate that leaves its baseline, with a known chance of false alarms.

`counts` and `ns` are arrays of int, shape (weeks,), in order of the weeks: the positive conversations, and all to which
the measure applies. A week without conversations has 0 of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from ...analysis.estimators.estimate import Estimate
from ...errors import BadInput

WINDOWS = (1, 4, 13)
"""Numbers of weeks to pool at every look: one week reveals a jump, the longest window a slow drift."""
LOOKS = 52
"""Weekly looks over which the chance of a false alarm is controlled."""
RESTLESS = 0.2
"""P-value of the chi-square test below which the baseline's weeks are taken to vary more than by chance."""
MORE, FEWER = 1, -1
"""The directions in which a rate is watched."""


@dataclass(frozen=True)
class RateAlarms:
    """Results of every weekly look at one rate.

    `p`, of shape (weeks, windows), has the one-sided p-value of each window that ends with the week; 1 if there is
    nothing to compare. A p-value of at most `limit` raises an alarm. `weeks` has all weeks with an alarm, and `window`
    the length in weeks of the window with the smallest p-value at the first alarm.
    """

    p: np.ndarray
    limit: float
    weeks: tuple[int, ...]
    window: int | None

    @property
    def first(self) -> int | None:
        """Return the first week with an alarm, or None."""
        return self.weeks[0] if self.weeks else None


def rate_alarms(
    base_count: int,
    base_n: int,
    counts,
    ns,
    *,
    level: float,
    side: int = MORE,
    dispersion: float = 1.0,
    windows: tuple[int, ...] = WINDOWS,
    looks: int = LOOKS,
) -> RateAlarms:
    """Compare the last weeks with the baseline (`base_count` of `base_n`) at every weekly look.

    Each look compares the last 1, 4 and 13 weeks with the baseline by Fisher's one-sided exact test (Fisher 1935). The
    test allows for a baseline that is itself an estimate. A p-value of at most ``level / (looks * windows)`` raises an
    alarm. By Bonferroni's inequality, the chance of any false alarm within `looks` looks is then at most `level`, even
    with overlapping windows. This assumes independent conversations with a constant rate.

    Parameters
    ----------
    level : float
        Largest chance of a false alarm within `looks` looks.
    side : {1, -1}
        1 watches for a rise, -1 for a fall.
    dispersion : float
        Ratio of the weeks' variance to that expected by chance (`dispersion_allowed`); counts are divided by it, as in
        a quasi-binomial model (McCullagh and Nelder 1989, 4.5).
    """
    import pandas as pd
    from scipy.stats import hypergeom

    if not 0 < level < 1:
        raise BadInput(f"the chance of a false alarm is {level!r}: use a number between 0 and 1, such as 0.05")
    counts, ns = np.asarray(counts, dtype=float), np.asarray(ns, dtype=float)
    limit = level / (looks * len(windows))
    p = np.ones((len(ns), len(windows)))
    for at, window in enumerate(windows):
        pooled = (pd.Series(v).rolling(window, min_periods=1).sum().to_numpy() for v in (counts, ns))
        b, m, x, n = (np.rint(v / max(dispersion, 1.0)).astype(int) for v in (base_count, base_n, *pooled))
        tail = hypergeom.sf(x - 1, m + n, b + x, n) if side == MORE else hypergeom.cdf(x, m + n, b + x, n)
        p[:, at] = np.where((n > 0) & (m > 0), np.clip(tail, 0.0, 1.0), 1.0)
    alarms = tuple(int(week) for week in np.flatnonzero((p <= limit).any(axis=1)))
    return RateAlarms(p, limit, alarms, windows[int(p[alarms[0]].argmin())] if alarms else None)


def weekly_needed(base_weeks: int, share: float, weeks: int, *, level: float, most: int = 5_000) -> int:
    """Return the conversations a week that make a rise of a fault from 0 to `share` an alarm.

    The rise lasts for `weeks`. `most` is returned if that many are too few.
    """
    looks = ((n, rate_alarms(0, n * base_weeks, [n * share] * weeks, [n] * weeks, level=level)) for n in range(1, most))
    return next((n for n, look in looks if look.weeks), most)


def dispersion_of(counts, ns) -> float:
    """Estimate the dispersion of weeks relative to chance.

    Return Pearson's chi-square over its degrees of freedom, which is about 1 under chance alone. Return NaN with fewer
    than two weeks, or if all or none of the conversations are positive.
    """
    counts, ns = np.asarray(counts, dtype=float), np.asarray(ns, dtype=float)
    counts, ns = counts[ns > 0], ns[ns > 0]
    share = counts.sum() / ns.sum() if ns.size else nan
    if ns.size < 2 or not 0 < share < 1:
        return nan
    return float((np.square(counts - ns * share) / (ns * share * (1 - share))).sum() / (ns.size - 1))


def dispersion_allowed(counts, ns) -> float:
    """Return the divisor for the counts, so that a baseline with restless weeks raises no alarm.

    If a chi-square test at level 0.2 finds that weeks vary more than by chance, use the upper 95% bound of the
    dispersion. An estimate from a dozen weeks is often too small. Otherwise use the dispersion, but at least 1.
    """
    from scipy.stats import chi2

    dispersion, free = dispersion_of(counts, ns), int((np.asarray(ns) > 0).sum()) - 1
    if dispersion != dispersion:
        return 1.0
    if chi2.sf(dispersion * free, free) < RESTLESS:
        dispersion *= free / float(chi2.ppf(0.05, free))
    return max(dispersion, 1.0)


def rate_change(base_count: int, base_n: int, count: int, n: int, *, confidence: float = 0.95) -> Estimate:
    """Estimate the difference between a rate (`count` of `n` conversations) and the baseline's.

    The interval is the hybrid score interval of Newcombe (1998, method 10).
    """
    common: dict[str, Any] = dict(
        n=int(n), estimand="rate minus the rate of the baseline", method="Newcombe", confidence=confidence
    )
    if not base_n or not n:
        where = "the baseline" if not base_n else "these weeks"
        return Estimate(estimate=nan, reason=f"the measure applies to no conversation of {where}", **common)
    from statsmodels.stats.proportion import confint_proportions_2indep

    low, high = confint_proportions_2indep(
        count, n, base_count, base_n, method="newcomb", compare="diff", alpha=1 - confidence
    )
    return Estimate(estimate=count / n - base_count / base_n, low=float(low), high=float(high), **common)
