"""Agreement of judges and people, judged means corrected by labels, and correlations."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np

from ...errors import BadInput
from ...scoring.written import counted, percent
from .estimate import TAILS, Estimate, generator, group_index, left_out, sentence
from .intervals import clustered_mean, proportion_interval, resampled

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


# --- Correlations

FEW_FAMILIES = 4
_BATCH_ELEMENTS = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Correlation(Estimate):
    """Rank correlation over models.

    `families` is the number of units of the bootstrap. `leave_one_low` and `leave_one_high` are the lowest and highest
    correlation if one family is left out.
    """

    families: int = 0
    leave_one_low: float = nan
    leave_one_high: float = nan


def correlation(
    x, y, *, families=None, n_resamples: int = 10_000, rng: np.random.Generator | None = None
) -> Correlation:
    """Estimate Spearman's rank correlation of two metrics over models.

    `p` is twice the smaller one-sided value of `scipy.stats.permutation_test`, which draws a sample if there are more
    than `n_resamples` permutations. It treats models as exchangeable, although families are not. The interval consists
    of percentiles over resampled families, stretched to contain the estimate.

    Parameters
    ----------
    x, y : array_like of float, shape (models,)
        Models with a NaN are left out and counted.
    families : array_like, shape (models,), optional
        Vendor of each model; by default each model is a family.
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    if x.size != y.size:
        raise BadInput(f"x has {x.size} models and y {y.size}: pass both for the same models.")
    kept = ~(np.isnan(x) | np.isnan(y))
    lacking = left_out(kept, "model", "without both values")
    family = np.arange(x.size) if families is None else np.asarray(families, dtype=object).ravel()
    index, many = group_index(family[kept])
    x, y = x[kept], y[kept]
    estimand = "spearman correlation over models, families like these"
    common: dict[str, Any] = dict(n=x.size, families=many, estimand=estimand)
    if x.size < 3 or min(np.ptp(x), np.ptp(y)) == 0:
        undefined = "fewer than three models" if x.size < 3 else "one metric is the same for every model"
        return Correlation(estimate=nan, reason=sentence(undefined, lacking), **common)
    stream = generator(rng)
    point = float(weighted_correlation(x, y, np.ones((1, x.size)))[0])
    low, high, se, thin = _family_bootstrap(x, y, index, n_resamples, stream)
    without = weighted_correlation(x, y, (index[None, :] != np.arange(many)[:, None]).astype(float))
    known = without[~np.isnan(without)]
    broken = "p treats models of one family as independent" if families is not None and many < x.size else ""
    return Correlation(
        estimate=point,
        low=min(low, point),
        high=max(high, point),
        se=se,
        p=_permutation_p(x, y, n_resamples, stream),
        leave_one_low=float(known.min()) if known.size else nan,
        leave_one_high=float(known.max()) if known.size else nan,
        reason=sentence(thin, broken, lacking),
        method=f"percentiles of {n_resamples} resamples of {counted(many, 'family', 'families')}; permutation p",
        **common,
    )


def weighted_correlation(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return Spearman's correlation of weighted models, one per row of weights; NaN if constant.

    The weights, shape (rows, models), say how often each model counts.
    """
    # One product for all resamples: scipy.stats.spearmanr on each takes 200 times as long (12 models).
    ranks = [weights @ ((v[:, None] < v[None, :]) + 0.5 * (v[:, None] == v[None, :])) for v in (x, y)]
    with np.errstate(invalid="ignore", divide="ignore"):
        size = weights.sum(axis=1, keepdims=True)
        rx, ry = (rank - (weights * rank).sum(axis=1, keepdims=True) / size for rank in ranks)
        spread = (weights * rx * rx).sum(axis=1) * (weights * ry * ry).sum(axis=1)
        return (weights * rx * ry).sum(axis=1) / np.sqrt(np.where(spread > 1e-12, spread, nan))


def _family_bootstrap(x, y, index, n_resamples, rng) -> tuple[float, float, float, str]:
    families = int(index.max()) + 1
    if families < FEW_FAMILIES:
        return nan, nan, nan, f"no interval from {counted(families, 'family', 'families')}"
    times = rng.multinomial(families, np.full(families, 1 / families), size=n_resamples).astype(float)
    values = weighted_correlation(x, y, times[:, index])
    values = values[~np.isnan(values)]
    lost = 1 - values.size / n_resamples
    thin = f"{percent(lost)} of the resamples left out: one metric is the same in all of them" if lost >= 0.01 else ""
    low, high = np.quantile(values, TAILS)
    return float(low), float(high), float(values.std(ddof=1)), thin


def _permutation_p(x, y, n_resamples, rng) -> float:
    from scipy.stats import permutation_test, rankdata

    ranks = rankdata(y) - (y.size + 1) / 2
    test = permutation_test(
        (rankdata(x),),
        lambda values, axis=-1: (values * ranks).sum(axis=axis),
        permutation_type="pairings",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, _BATCH_ELEMENTS // x.size),
        axis=-1,
        rng=rng,
    )
    return float(test.pvalue)


def within_model_correlation(
    x, y, cases, models=None, *, n_resamples: int = 10_000, rng: np.random.Generator | None = None
) -> Estimate:
    """Estimate the Pearson correlation of two metrics within models, without case difficulty.

    From each value, the mean of its case (over all models and trials) is subtracted, then the mean of its model; the
    remainders are pooled. Raw correlations within a model mostly show that hard cases take more words.
    The interval is the BCa bootstrap over whole cases, and `n` counts conversations.

    Parameters
    ----------
    x, y, cases, models : array_like, shape (conversations,)
        Conversations with a NaN are left out and counted; without `models` all values belong to one model.
    """
    x, y = np.asarray(x, dtype=float).ravel(), np.asarray(y, dtype=float).ravel()
    cases = np.asarray(cases, dtype=object).ravel()
    models = np.full(x.size, "model", dtype=object) if models is None else np.asarray(models, dtype=object).ravel()
    if not x.size == y.size == cases.size == models.size:
        sizes = f"{x.size}, {y.size}, {cases.size} and {models.size}"
        raise BadInput(f"x, y, cases and models have {sizes} entries: pass one per conversation.")
    kept = ~(np.isnan(x) | np.isnan(y))
    lacking = left_out(kept, "conversation", "without both values")
    estimand = "correlation within models with the case held fixed, cases like these"
    common: dict[str, Any] = dict(n=int(kept.sum()), estimand=estimand)
    case, model = group_index(cases[kept])[0], group_index(models[kept])[0]
    x, y = (_centred(_centred(values[kept], case), model) for values in (x, y))
    products = np.stack([np.bincount(case, weights=w) for w in (x * y, x * x, y * y)])
    total = products.sum(axis=1)
    if total[1] <= 1e-12 or total[2] <= 1e-12:
        reason = "nothing varies within a case: several trials or differing models are needed"
        return Estimate(estimate=nan, reason=sentence(reason, lacking), **common)
    low, high, se, unknown = nan, nan, nan, "no interval from so few cases"
    if products.shape[1] >= 3:
        draws = resampled(_pooled, products, "BCa", n_resamples, rng)
        (low, high), se = draws.confidence_interval, draws.standard_error
        unknown = unknown if np.isnan(low) else ""
    return Estimate(
        estimate=float(total[0] / np.sqrt(total[1] * total[2])),
        low=float(low),
        high=float(high),
        se=float(se),
        method=f"BCa over {counted(products.shape[1], 'case')}",
        reason=sentence(unknown, lacking),
        **common,
    )


def _centred(values: np.ndarray, index: np.ndarray) -> np.ndarray:
    return values - (np.bincount(index, weights=values) / np.bincount(index))[index]


def _pooled(xy, xx, yy, axis=-1):
    return xy.sum(axis=axis) / np.sqrt(xx.sum(axis=axis) * yy.sum(axis=axis))
