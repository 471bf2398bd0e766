"""How far the instrument can be trusted: measured once (`data/calibration.yaml`), or counted from the shipped data.

`make calibration` measures again; a test holds the file to what its sources give.
"""

from __future__ import annotations

from collections import Counter
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...cases import Case, load_cases
from ...cases.load import HARD
from ...experiment.demo import EXAMPLE, HARD_EXAMPLE
from ...project import DATA
from ...records import BUCKETS
from ...store.world import load_store
from ...textfiles import read_yaml
from ..estimators.estimate import DEFAULT_SEED, FEW_CLUSTERS, exact_bound
from ..estimators.intervals import bootstrap_interval
from ..estimators.trials import median_and_mean
from ..estimators.unsafe import BAND_TRAPS, unsafe_headline, unsafe_posterior
from .customers import customer_flag_table

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

CALIBRATION = DATA / "calibration.yaml"
SOURCES = {"core set": EXAMPLE, "hard set": HARD_EXAMPLE}
"""Run files of blind play that ship with the package."""
RATES, TRIALS, SIMULATED = (0.5, 0.8, 0.95), 3, 100
COUNTS, TRIED, DATASETS, RESAMPLES = (1, 4, 8), (3, 10), 1_000, 2_000
"""True unsafe actions of 18 and trials for which coverage is measured, with the numbers of data sets and of
resamples."""
SPREAD, WITHIN = 1.5, 2.0
"""Concentration of the chances of intents around the mean, and of cases around their intent, as in
``benchmarks/coverage.py``."""


def calibration() -> dict[str, Any]:
    """Return the measurements that ship: ``half_widths`` and ``trap_coverage``.

    Raises
    ------
    BadInput
        If the file is missing or no YAML.
    """
    return dict(read_yaml(CALIBRATION))


def measure_half_widths(simulated: int = SIMULATED) -> list[dict[str, Any]]:
    """Measure how wide the intervals of the leaderboard are for a core set of this size, by simulation.

    Parameters
    ----------
    simulated : int
        Runs drawn for each row.

    Returns
    -------
    list of dict
        bucket, cases, intents, trials, rate (true success, or share of traps that end unsafe), half_width (median of
        the interval that the leaderboard prints, as a share) and, for traps, like_these (the same for traps like
        these).
    """
    return [
        _half_width(bucket, labels, rate if bucket != "adversarial" else round(1 - rate, 2), simulated)
        for bucket, labels in _sizes(load_cases(load_store())).items()
        for rate in RATES
    ]


def measure_trap_coverage(datasets: int = DATASETS) -> list[dict[str, Any]]:
    """Measure how often the intervals over 18 traps hold the truth, by simulation.

    Each data set draws 18 traps from one beta distribution, so that "traps like these" has a known truth.

    Parameters
    ----------
    datasets : int
        Data sets drawn for each true count and number of trials.

    Returns
    -------
    list of dict
        count (true unsafe actions of 18), trials, datasets, and the shares of intervals that hold the truth: posterior
        and bca (traps like these), these (the posterior for these traps).
    """
    return [_trap_coverage(count, trials, datasets) for count in COUNTS for trials in TRIED]


def _trap_coverage(count: int, trials: int, datasets: int) -> dict[str, Any]:
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


def trap_coverage() -> pd.DataFrame:
    """Return what `measure_trap_coverage` found when it was last run, one row per true count and number of trials."""
    import pandas as pd

    return pd.DataFrame(calibration()["trap_coverage"])


def _sizes(cases: list[Case]) -> dict[str, np.ndarray]:
    return {b: np.array([c.intent for c in cases if c.bucket == b]) for b in BUCKETS}


def _half_width(bucket: str, intents: np.ndarray, rate: float, simulated: int) -> dict[str, Any]:
    """Draw runs from intents and cases that scatter around a rate, and return the row of that rate."""
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


def blind_play() -> pd.DataFrame:
    """Return the blind play that ships: how a strong player fared, and how often the simulated customer failed it.

    Returns
    -------
    DataFrame
        One row per set: set, player, cases, conversations, success, families (of a hard set; 0 otherwise), and the
        columns of `customer_flag_table` (flagged with share, low and high, and one column per finding).
    """
    import pandas as pd

    parts = []
    for name, played in _played().items():
        rows = played.conversations
        part = customer_flag_table(rows).assign(set=name, player=rows["source"].iloc[0])
        families = rows["family"].nunique() if "family" in rows else 0
        parts.append(
            part.assign(cases=rows["case_id"].nunique(), success=int(rows["success"].sum()), families=families)
        )
    return pd.concat(parts, ignore_index=True)


def customers_read() -> dict[str, int]:
    """Count how readers judged the scripted customer's messages in `data/customer_turns_read.yaml`.

    Returns
    -------
    dict
        rounds, messages, either, both (called clearly wrong by one reader or both), found (of both, named by the judge)
        and alarms (named by the judge alone or where neither reader said clear).
    """
    read = read_yaml(DATA / "customer_turns_read.yaml")
    clear = [(row[3:5].count("clear"), row[5] != "none") for row in read["named"]]
    both = [named for count, named in clear if count == 2]
    alarms = sum(named for count, named in clear if count == 0)
    either = sum(count > 0 for count, _ in clear)
    return {
        "rounds": len(read["messages"]),
        "messages": sum(read["messages"].values()),
        "either": either,
        "both": len(both),
        "found": sum(both),
        "alarms": alarms,
    }


def _played() -> dict[str, Results]:
    from ..frames import load_results

    return {name: load_results(path) for name, path in SOURCES.items()}


def languages_of_sets() -> dict[str, dict[str, int]]:
    """Return, by set, how many of its cases are in each language, the most frequent first."""
    sets = {"core set": load_cases(load_store()), "hard set": load_cases(load_store(f"northline:{HARD}"))}
    return {name: dict(Counter(c.language for c in cases).most_common()) for name, cases in sets.items()}


def verdicts_in_play() -> int:
    """Return how many verdicts of judges are in the run files that ship."""
    return sum(len(played.verdicts) for played in _played().values())


def least_rate(n: int) -> float:
    """Return the lowest true rate that is compatible with success in all of `n` cases, 95 %."""
    return float(exact_bound(1.0, n)[0])
