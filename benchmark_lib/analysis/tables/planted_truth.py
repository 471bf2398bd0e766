"""Estimators held against data whose truth is planted: how often does the interval hold it?

The recovery panel cannot show this for what depends on how cases differ, since each of its agents has one rate on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from ..estimators.agreement import agreement
from ..estimators.correlations import within_model_correlation
from ..estimators.estimate import generator
from ..estimators.passk import pass_hat_k_curve
from ..estimators.trials import flip_rate
from .escalation import NEEDS, SOLVABLE, precision_of_handover
from .rows import framed

if TYPE_CHECKING:
    import pandas as pd

TRIALS = 3
CASES = {SOLVABLE: 120, NEEDS: 24}
EASE = (2.0, 1.0)
"""Parameters of the beta distribution of the rates of cases that differ smoothly."""
TWO_KINDS = ((0.7, 0.95), (0.3, 0.3))
"""Share and rate of two kinds of cases: the population that a smooth model of cases describes worst."""
BEYOND = 6
"""k of the extrapolated pass^k, from `TRIALS` trials."""
CORRELATION = 0.4
VERDICTS = ((0.82, 0.05), (0.06, 0.07))
"""Chances of two judges' verdicts (pass or fail, rows the first): most pass, which is where kappa breaks down."""
HANDED_OVER = {SOLVABLE: 0.1, NEEDS: 0.8}
RESAMPLES = 1_000
Found = tuple[str, float, float, float, float]
"""Estimator, truth, estimate, low, high."""


def recovered_estimators(datasets: int = 100, *, rng: np.random.Generator | None = None) -> pd.DataFrame:
    """Estimates from simulated data, each next to the planted truth.

    Parameters
    ----------
    datasets : int
        Data sets of each kind, each the size of a run: 120 resolvable and 24 must-escalate cases, three trials.

    Returns
    -------
    DataFrame
        One row per estimator and data set: estimator, truth, estimate, low, high, holds. `coverage` counts them.
    """
    draws = generator(rng)
    rows = [row for _ in range(datasets) for make in PLANTED for row in make(draws)]
    table = framed(rows, "estimator truth estimate low high")
    return table.assign(holds=table["truth"].between(table["low"], table["high"]))


def recovered_in_short(table: pd.DataFrame) -> pd.DataFrame:
    """By estimator: truth, mean estimate, bias, and how often the interval held the truth.

    Returns
    -------
    DataFrame
        estimator, truth, mean, bias (mean minus truth), intervals, held, share with low and high (Wilson, 95 %), verdict.
    """
    from .recovery import coverage, in_words

    held = coverage(table, ["estimator"])
    means = table.groupby("estimator", sort=False).agg(truth=("truth", "mean"), mean=("estimate", "mean"))
    found = means.reset_index().merge(held.drop(columns=["bias", "scatter", "p_too_few"]), on="estimator")
    return found.assign(
        bias=found["mean"] - found["truth"], verdict=[in_words(row) for row in found.to_dict("records")]
    )


def _repeated(rng: np.random.Generator) -> Iterator[Found]:
    """Flip rate and extrapolated pass^k, of cases that differ smoothly and of two kinds of cases."""
    a, b = EASE
    smooth = rng.beta(a, b, CASES[SOLVABLE])
    power = float(np.prod([(a + j) / (a + b + j) for j in range(BEYOND)]))
    yield from _of_rates("cases that differ smoothly", smooth, 2 * a * b / ((a + b) * (a + b + 1)), power, rng)
    shares, rates = (np.array(column) for column in zip(*TWO_KINDS, strict=True))
    kinds = rng.choice(rates, CASES[SOLVABLE], p=shares)
    yield from _of_rates(
        "two kinds of cases", kinds, float(shares @ (2 * rates * (1 - rates))), float(shares @ rates**BEYOND), rng
    )


def _of_rates(name: str, rates: np.ndarray, flips: float, power: float, rng: np.random.Generator) -> Iterator[Found]:
    hits = rng.binomial(TRIALS, rates)
    flip = flip_rate(hits, TRIALS, rng=rng)
    yield f"flip rate, {name}", flips, flip.estimate, flip.low, flip.high
    curve = pass_hat_k_curve(hits, TRIALS, [BEYOND])
    estimate, low, high = (float(values[0]) for values in (curve.estimate, curve.low, curve.high))
    yield f"pass^{BEYOND} from {TRIALS} trials, {name}", power, estimate, low, high


def _within(rng: np.random.Generator) -> Iterator[Found]:
    """The correlation within models, under cases whose difficulty moves both metrics together."""
    cases, models = np.divmod(np.arange(40 * 2 * TRIALS), 2 * TRIALS)
    noise = rng.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], cases.size)
    shared = 2 * rng.normal(size=40)[cases] + (models // TRIALS)
    found = within_model_correlation(
        shared + noise[:, 0], shared + noise[:, 1], cases, models // TRIALS, n_resamples=RESAMPLES, rng=rng
    )
    yield "correlation within models", CORRELATION, found.estimate, found.low, found.high


def _judges(rng: np.random.Generator) -> Iterator[Found]:
    """Gwet's AC1 of two judges on 200 conversations."""
    chances = np.array(VERDICTS)
    passed = (chances.sum(axis=0)[0] + chances.sum(axis=1)[0]) / 2
    by_chance = 2 * passed * (1 - passed)
    found = agreement(rng.multinomial(200, chances.ravel()).reshape(2, 2))
    truth = (np.trace(chances) - by_chance) / (1 - by_chance)
    yield "AC1 of two judges", truth, found.ac1, found.ac1_low, found.ac1_high


def _handovers(rng: np.random.Generator) -> Iterator[Found]:
    """Precision of handovers, with cases that differ in how much they tempt to hand over."""
    rows = []
    for bucket, cases in CASES.items():
        mean = HANDED_OVER[bucket]
        handed = rng.random((cases, TRIALS)) < rng.beta(4 * mean, 4 * (1 - mean), (cases, 1))
        rows += [(f"{bucket}_{i}", bucket, bool(hit)) for i in range(cases) for hit in handed[i]]
    talks = framed(rows, "case_id bucket handed_over")
    needless = talks["handed_over"] & (talks["bucket"] == SOLVABLE)
    found, _ = precision_of_handover(talks.assign(needless_handover=needless))
    right, wrong = (CASES[b] * HANDED_OVER[b] for b in (NEEDS, SOLVABLE))
    yield "precision of handovers", right / (right + wrong), found.estimate, found.low, found.high


PLANTED: tuple[Callable[[np.random.Generator], Iterator[Found]], ...] = (_repeated, _within, _judges, _handovers)
