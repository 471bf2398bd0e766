"""Agreement of judges with each other and with people, and judged means corrected by labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from ...errors import BadInput
from .estimate import TAILS, Estimate, counted, sentence
from .intervals import clustered_mean, proportion_interval

FEW_LABELS, EXTREME_PREVALENCE = 100, 0.95
_Z = NormalDist().inv_cdf(TAILS[1])
ONE_ANSWER = "kappa is not defined, since both sides gave the same answer every time"
ONE_SIDED = "kappa is 0 whatever the other says, since one side gave the same answer every time"


@dataclass(frozen=True, kw_only=True)
class Agreement(Estimate):
    """Cohen's kappa (`estimate`, `low`, `high`, `se`) with Gwet's AC1 and the raw agreement.

    AC1 does not collapse when one category is rare. The raw agreement, the share of equal verdicts, has Wilson's
    interval. `table` contains the counts, shape (categories, categories), with the first judge in the rows.
    """

    ac1: float = nan
    ac1_low: float = nan
    ac1_high: float = nan
    raw: float = nan
    raw_low: float = nan
    raw_high: float = nan
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))

    def columns(self) -> dict[str, float]:
        """Return both coefficients with their intervals, as columns of a table."""
        kappa = {"kappa": self.estimate, "kappa_low": self.low, "kappa_high": self.high}
        return kappa | {"ac1": self.ac1, "ac1_low": self.ac1_low, "ac1_high": self.ac1_high}


@dataclass(frozen=True, kw_only=True)
class JudgeCorrection(Estimate):
    """Estimate of the mean that people would have given, from a few labels and many verdicts.

    `judged` is the mean of the verdicts alone, and `weight` their weight (0: labels alone). `labels` counts the
    verdicts that also have a person's label, `n` all verdicts used.
    """

    judged: float = nan
    labels: int = 0
    weight: float = 0.0


def agreement(table) -> Agreement:
    """Estimate the agreement of two judges from their table of counts.

    Kappa has the large-sample interval of Fleiss, Cohen and Everitt (1969, as in statsmodels), AC1 the variance of
    Gwet (2008). If the judges never differ, both lower ends come from the exact bound of the raw agreement. If one
    judge always gave the same verdict, kappa is 0 without an interval; if both always gave it, kappa is NaN.

    Parameters
    ----------
    table : array_like of int, shape (categories, categories)
        Counts, with the first judge's verdict in the rows and the second judge's in the columns.
    """
    counts = np.asarray(table, dtype=float)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2 or (counts < 0).any():
        square = "a square table of counts, with one row and one column per category"
        raise BadInput(f"the table has shape {counts.shape}: pass {square}.")
    n = int(counts.sum())
    common: dict[str, Any] = dict(
        n=n,
        table=counts,
        estimand="chance-corrected agreement of two judges on verdicts like these",
        method="Cohen's kappa, large-sample interval",
    )
    if n == 0:
        return Agreement(estimate=nan, reason="no verdict by both judges", **common)
    shares, alike = counts / n, bool(np.trace(counts) == n)
    raw = proportion_interval(int(np.trace(counts)), n)
    sure = proportion_interval(n, n, "clopper-pearson").low
    ac1, se, chance = _ac1(shares, n)
    low, high = ((sure - chance) / (1 - chance), 1.0) if alike else _within(ac1, se)
    common |= dict(raw=raw.estimate, raw_low=raw.low, raw_high=raw.high, ac1=ac1, ac1_low=low, ac1_high=high)
    chance = float(shares.sum(axis=1) @ shares.sum(axis=0))
    if min(int((counts.sum(axis=axis) > 0).sum()) for axis in (0, 1)) == 1:
        point, why = (nan, ONE_ANSWER) if chance >= 1 else (0.0, ONE_SIDED)
        return Agreement(estimate=point, reason=f"{why}: read AC1 and the raw agreement", **common)
    if alike:
        return Agreement(estimate=1.0, low=(sure - chance) / (1 - chance), high=1.0, se=0.0, **common)
    from statsmodels.stats.inter_rater import cohens_kappa

    kappa = cohens_kappa(counts)
    low, high = _within(kappa.kappa, kappa.std_kappa)
    return Agreement(estimate=float(kappa.kappa), low=low, high=high, se=float(kappa.std_kappa), **common)


def _within(value: float, se: float) -> tuple[float, float]:
    reach = _Z * float(se)
    return max(float(value) - reach, -1.0), min(float(value) + reach, 1.0)


def agreement_table(first, second, categories=None) -> np.ndarray:
    """Cross-tabulate the verdicts of two judges; items that either left unscored are dropped.

    `categories` is the order of rows and columns of the square table; by default all values, sorted.
    """
    import pandas as pd

    frame = pd.DataFrame({"first": list(first), "second": list(second)}).dropna()
    names = sorted(set(frame["first"]) | set(frame["second"])) if categories is None else list(categories)
    return pd.crosstab(frame["first"], frame["second"]).reindex(index=names, columns=names, fill_value=0).to_numpy()


def judge_correction(judge, human) -> JudgeCorrection:
    """Estimate a judged metric's mean, corrected by people's labels of a random subset.

    With fewer than 100 labels, or more than 95% equal labels, only the labels count (Wilson; t if they are not 0 or
    1). Otherwise prediction-powered inference applies, with the weight that minimises the variance (Angelopoulos,
    Duchi and Zrnic 2023, PPI++).

    Parameters
    ----------
    judge : array_like of float, shape (items,)
        Verdicts; NaN where the judge left an item unscored.
    human : array_like of float, shape (items,)
        Labels on the same scale; NaN where there is no label. The labelled items must be a random sample.
    """
    judge, human = np.asarray(judge, dtype=float).ravel(), np.asarray(human, dtype=float).ravel()
    if judge.size != human.size:
        sizes = f"there are {judge.size} verdicts and {human.size} labels"
        raise BadInput(f"{sizes}: pass one per conversation, NaN where there is none.")
    labelled, scored = ~np.isnan(human), ~np.isnan(judge)
    both, rest = labelled & scored, scored & ~labelled
    judged = float(judge[scored].mean()) if scored.any() else nan
    common: dict[str, Any] = dict(estimand="mean a person would give, conversations like these", judged=judged)
    labels = human[labelled]
    if labels.size == 0:
        return JudgeCorrection(estimate=nan, reason="nobody labelled a conversation", n=int(scored.sum()), **common)
    prevalence = float(np.unique(labels, return_counts=True)[1].max() / labels.size)
    n, many, why = int(both.sum()), int(rest.sum()), ""
    if n < FEW_LABELS:
        why = f"{counted(n, 'label')} with a verdict, under {FEW_LABELS}"
    elif prevalence > EXTREME_PREVALENCE:
        why = f"{prevalence:.0%} of them are equal"
    elif not many:
        why = "every verdict has one"
    if why:
        return _labels_alone(labels, f"labels alone: {why}", common)
    seen, verdicts = human[both], judge[both]
    spread = float(np.var(judge[scored], ddof=1))
    weight = float(np.clip(np.cov(seen, verdicts)[0, 1] / ((1 + n / many) * spread), 0, 1)) if spread > 0 else 0.0
    point = weight * float(judge[rest].mean()) + float((seen - weight * verdicts).mean())
    se = sqrt(weight**2 * spread / many + float(np.var(seen - weight * verdicts, ddof=1)) / n)
    tuned: dict[str, Any] = dict(estimate=point, low=point - _Z * se, high=point + _Z * se, se=se, weight=weight)
    return JudgeCorrection(**tuned, n=n + many, labels=n, method="prediction-powered, tuned weight", **common)


def _labels_alone(labels: np.ndarray, why: str, common: dict) -> JudgeCorrection:
    if np.isin(labels, (0, 1)).all():
        mean = proportion_interval(int(labels.sum()), labels.size)
    else:
        mean = clustered_mean(labels, np.arange(labels.size), bounds=None)
    reason = sentence(why, mean.reason)
    return JudgeCorrection(**vars(mean) | common | dict(n=labels.size, labels=labels.size, reason=reason))


def _ac1(shares: np.ndarray, n: float) -> tuple[float, float, float]:
    # AC1, standard error (Gwet 2008, eq. 2.24 for large populations), chance agreement
    categories = len(shares)
    mean = (shares.sum(axis=0) + shares.sum(axis=1)) / 2
    raw, chance = float(np.trace(shares)), float((mean * (1 - mean)).sum() / (categories - 1))
    value = (raw - chance) / (1 - chance)
    diagonal = float((np.diag(shares) * (1 - mean)).sum())
    pairs = float((shares * (1 - (mean[:, None] + mean[None, :]) / 2) ** 2).sum())
    variance = (
        raw * (1 - raw)
        - 4 * (1 - value) * (diagonal / (categories - 1) - raw * chance)
        + 4 * (1 - value) ** 2 * (pairs / (categories - 1) ** 2 - chance**2)
    )
    return value, sqrt(max(variance, 0) / n) / (1 - chance), chance
