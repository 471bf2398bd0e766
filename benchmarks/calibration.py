"""Simulate how wide the leaderboard's intervals are, and how often those over 18 traps contain the truth.

    python -m benchmarks.calibration

writes ``data/calibration.yaml`` and ``docs/limits.md``, as `make calibration` does. It draws data as
``benchmarks/coverage.py`` does.
"""

from math import nan
from typing import Any

import numpy as np
import yaml

from benchmark_lib.analysis.estimators.estimate import DEFAULT_SEED, FEW_CLUSTERS
from benchmark_lib.analysis.estimators.intervals import bootstrap_interval
from benchmark_lib.analysis.estimators.trials import median_and_mean
from benchmark_lib.analysis.estimators.unsafe import BAND_TRAPS, unsafe_headline, unsafe_posterior
from benchmark_lib.analysis.tables.measurements import CALIBRATION
from benchmark_lib.cases import load_cases
from benchmark_lib.records import BUCKETS
from benchmark_lib.reports.site.method import limits, limits_page
from benchmark_lib.store.world import load_store

RATES, TRIALS, SIMULATED = (0.5, 0.8, 0.95), 3, 100
COUNTS, TRIED, DATASETS, RESAMPLES = (1, 4, 8), (3, 10), 1_000, 2_000
"""True numbers of unsafe actions out of 18, and numbers of trials, for which coverage is measured; the numbers of data
sets and of resamples."""
SPREAD, WITHIN = 1.5, 2.0
"""Concentration of the intents' chances around the mean, and of the cases' chances around their intent's, as in
``coverage.py``."""


def measure_half_widths(simulated: int = SIMULATED) -> list[dict[str, Any]]:
    """Measure how wide the intervals of the leaderboard are for a core set of this size, by simulation.

    Parameters
    ----------
    simulated : int
        Runs drawn for each row.

    Returns
    -------
    list of dict
        bucket, cases, intents, trials, rate (true success, or share of traps that end unsafe), half_width (median for
        the interval that the leaderboard prints, as a share) and, for traps, like_these (the same for traps like
        these).
    """
    return [
        half_width(bucket, labels, rate if bucket != "adversarial" else round(1 - rate, 2), simulated)
        for bucket, labels in sizes().items()
        for rate in RATES
    ]


def measure_trap_coverage(datasets: int = DATASETS) -> list[dict[str, Any]]:
    """Measure how often the intervals over 18 traps contain the truth, by simulation.

    Each data set draws 18 traps from one beta distribution, so that "traps like these" has a known truth.

    Parameters
    ----------
    datasets : int
        Data sets drawn for each true count and number of trials.

    Returns
    -------
    list of dict
        count (true unsafe actions of 18), trials, datasets, and the shares of intervals that contain the truth: posterior
        and bca (traps like these), these (the posterior for these traps).
    """
    return [trap_coverage(count, trials, datasets) for count in COUNTS for trials in TRIED]


def trap_coverage(count: int, trials: int, datasets: int) -> dict[str, Any]:
    """Draw data sets with one true count, and return the row for that count and number of trials."""
    rng, mean = np.random.default_rng(DEFAULT_SEED), count / BAND_TRAPS
    theta = rng.beta(mean * SPREAD, (1 - mean) * SPREAD, (datasets, BAND_TRAPS))
    hits, which = np.unique(np.sort(rng.binomial(trials, theta), axis=1), axis=0, return_inverse=True)
    posterior = [unsafe_posterior(row, trials) for row in hits]
    bca = [bootstrap_interval(row / trials, n_resamples=RESAMPLES, rng=rng) for row in hits]
    row: dict[str, Any] = {"count": count, "trials": trials, "datasets": datasets}
    for name, found, low, high, truth in (
        ("posterior", posterior, "low", "high", count),
        ("bca", bca, "low", "high", mean),
        ("these", posterior, "these_low", "these_high", theta.sum(axis=1)),
    ):
        ends = [np.array([getattr(one, end) for one in found])[which.ravel()] for end in (low, high)]
        row[name] = round(float(((ends[0] <= truth) & (truth <= ends[1])).mean()), 3)
    return row


def sizes() -> dict[str, np.ndarray]:
    """Return the intents of the core set's cases, by bucket."""
    cases = load_cases(load_store())
    return {b: np.array([c.intent for c in cases if c.bucket == b]) for b in BUCKETS}


def half_width(bucket: str, intents: np.ndarray, rate: float, simulated: int) -> dict[str, Any]:
    """Draw runs from intents and cases that scatter around a rate, and return the row for that rate."""
    rng = np.random.default_rng(DEFAULT_SEED)
    names, index = np.unique(intents, return_inverse=True)
    these, like = [], []
    for _ in range(simulated):
        centre = np.clip(rng.beta(rate * SPREAD, (1 - rate) * SPREAD, names.size), 0.001, 0.999)[index]
        chance = centre if names.size == index.size else rng.beta(WITHIN * centre, WITHIN * (1 - centre))
        values = rng.binomial(1, chance[:, None], (index.size, TRIALS)).astype(float)
        if bucket == "adversarial":
            found = unsafe_headline(values, planned=TRIALS)
            like.append((found.like_these.high - found.like_these.low) / 2 / index.size if found.like_these else nan)
            these.append((found.mean.high - found.mean.low) / 2 / index.size)
        else:
            clusters = intents if names.size >= FEW_CLUSTERS else None
            mean = median_and_mean(values, clusters=clusters, rate=True).mean
            these.append((mean.high - mean.low) / 2)
    row = {"bucket": bucket, "cases": int(index.size), "intents": int(names.size), "trials": TRIALS, "rate": rate}
    row["half_width"] = round(float(np.median(these)), 3)
    return row | ({"like_these": round(float(np.median(like)), 3)} if like else {})


def main() -> None:
    """Repeat the measurements, and write both files."""
    found = {"half_widths": measure_half_widths(), "trap_coverage": measure_trap_coverage()}
    head = "# Made by `make calibration`, never by hand: how wide intervals are, and how often they hold the truth.\n"
    CALIBRATION.write_text(head + yaml.safe_dump(found, sort_keys=False), encoding="utf-8")
    limits.cache_clear()
    (CALIBRATION.parents[1] / "docs/limits.md").write_text(limits_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
