"""Checks of the numbers: a panel with known rates, simulated data, and shipped measurements.

Each agent of the panel has one rate on all cases, so the panel cannot show effects of differences between cases. The
simulated data can.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from math import nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from ...cases.load import HARD
from ...cases.variants import TOLD, arms
from ...experiment.demo import EXAMPLE, HARD_EXAMPLE
from ...experiment.known_panel import TRUTHS, true_correlation
from ...project import DATA
from ...scoring.metrics import METRICS
from ...store.world import load_store
from ...textfiles import read_yaml
from ..estimators.agreement import agreement
from ..estimators.correlations import correlation, within_model_correlation
from ..estimators.estimate import Estimate, exact_bound, generator
from ..estimators.intervals import proportion_interval
from ..estimators.passk import pass_hat_k_curve, pass_hat_k_interval
from ..estimators.trials import flip_rate
from ..frames import Results, load_results
from ..panels import conversations_of
from .escalation import NEEDS, SOLVABLE, precision_of_handover
from .headlines import by_case, headline
from .nuisance import customer_flag_table
from .rows import Row, fields, framed, grouped, interval

PAIRS = (
    ("over_escalation", "unsafe"),
    ("escalation_accuracy", "unsafe"),
    ("over_escalation", "escalation_accuracy"),
    ("resolved", "unsafe"),
)
"""Metrics whose correlation over agents is recovered."""

PASS_K = 3
TRIALS = 3
CASES = {SOLVABLE: 120, NEEDS: 24}
EASE = (2.0, 1.0)
"""Parameters of the beta distribution of smoothly varying case rates."""
TWO_KINDS = ((0.7, 0.95), (0.3, 0.3))
"""Share and rate of two kinds of cases: the population that a smooth model of cases fits worst."""
BEYOND = 6
"""k of the extrapolated pass^k, from `TRIALS` trials."""
CORRELATION = 0.4
VERDICTS = ((0.82, 0.05), (0.06, 0.07))
"""Joint probabilities of two judges' verdicts (pass, fail; rows: first judge). With so many passes, kappa breaks
down."""
HANDED_OVER = {SOLVABLE: 0.1, NEEDS: 0.8}
RESAMPLES, LEVEL = 1_000, 0.95
CALIBRATION = DATA / "calibration.yaml"
SOURCES = {"core set": EXAMPLE, "hard set": HARD_EXAMPLE}
"""Run files of blind play in the package."""


def holding(rows: Iterable[Row], columns: str) -> pd.DataFrame:
    """Return estimates as a frame; ``holds`` is True if the interval contains the truth."""
    table = framed(rows, columns)
    return table.assign(holds=table["truth"].between(table["low"], table["high"]))


# --- a panel of agents with known rates


def recovered_rates(panel: pd.DataFrame, results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return the recorded and the true rates of every agent.

    One row per agent and interval. ``z`` is the recorded mean minus the truth in units of the exact binomial standard
    deviation; it is NaN if that is 0, and for pass^k.
    """
    frame = conversations_of(results)
    agents = panel.to_dict("records")
    rows = [row for agent in agents for row in _of_agent(agent, frame[frame["entry"] == agent["model"]])]
    return holding(rows, "entry metric interval truth estimate low high z")


def _of_agent(agent: dict[str, Any], group: pd.DataFrame) -> Iterator[Row]:
    for metric in TRUTHS:
        truth, values, head = agent[f"true_{metric}"], by_case(group, metric), headline(group, metric)
        mean, fresh, scale = head.mean, head.like_these, METRICS[metric].scale.factor(head.n)
        row = {"entry": agent["model"], "metric": metric, "truth": truth}
        z = _z(mean.estimate / scale, truth / scale, int(values.trials.sum())) if head.n else nan
        yield row | {"interval": "these traps" if fresh else "mean", **interval(mean), "z": z}
        if fresh:
            yield row | {"interval": "traps like these", "estimate": mean.estimate, **fields(fresh, "low high")}
        if metric == "resolved" and values.trials.max(initial=0) >= PASS_K:
            again = pass_hat_k_interval(values.hits, values.trials, PASS_K, clusters=values.intents)
            yield row | {"interval": f"pass^{PASS_K}", "truth": truth**PASS_K, **interval(again)}


def _z(mean: float, truth: float, n: int) -> float:
    spread = sqrt(truth * (1 - truth) / n) if n else 0.0
    return (mean - truth) / spread if spread else nan


def intervals_held(rates: pd.DataFrame) -> pd.DataFrame:
    """Return how often each kind of interval of `recovered_rates` contains the true rate.

    One row per metric and interval: title, interval, agents (number), held (share).
    """
    named = rates.assign(title=[METRICS[name].title for name in rates["metric"]])
    groups = named.groupby(["title", "interval"], as_index=False, sort=False)
    return groups.agg(agents=("holds", "size"), held=("holds", "mean"))


def recovered_correlations(panel: pd.DataFrame, rates: pd.DataFrame) -> pd.DataFrame:
    """Correlate the metrics of `recovered_rates` over the agents, and their true rates as well.

    One row per pair of `PAIRS`. ``truth`` is over the population of agents, ``panel_truth`` over the true rates of
    these agents; ``holds`` and ``holds_panel`` say whether the interval contains them.
    """
    plain = rates[rates["interval"].isin(["mean", "these traps"])]
    recorded = plain.pivot(index="entry", columns="metric", values="estimate").reindex(panel["model"])
    rows = []
    for one, other in PAIRS:
        result = correlation(recorded[one], recorded[other], n_resamples=4_000)
        exact = correlation(panel[f"true_{one}"], panel[f"true_{other}"], n_resamples=10)
        row = {"pair": f"{METRICS[one].title} and {METRICS[other].title.lower()}", "panel_truth": exact.estimate}
        rows.append(row | {"truth": true_correlation(one, other), **fields(result, "estimate low high p")})
    table = holding(rows, "pair truth panel_truth estimate low high p")
    return table.assign(holds_panel=table["panel_truth"].between(table["low"], table["high"]))


def coverage(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Count how often intervals contained the truth; the share has a Wilson interval."""

    def row(group: pd.DataFrame) -> Row:
        held = int(group["holds"].sum())
        return {"intervals": len(group), "held": held, **interval(proportion_interval(held, len(group)), "share")}

    return grouped(table, row, "intervals held share low high", " ".join(by))


def in_words(row: dict[str, Any]) -> str:
    """Return in words how a row of `coverage` compares with 0.95, by its Wilson interval."""
    if row["high"] < LEVEL:
        return "less often than they should"
    return "more often than they need to" if row["low"] > LEVEL else "as often as they should"


# --- simulated data


def recovered_estimators(datasets: int = 100, *, rng: np.random.Generator | None = None) -> pd.DataFrame:
    """Estimate from simulated data, and give the planted truth with each estimate.

    There are `datasets` data sets of each kind, the size of a run: 120 resolvable and 24 must-escalate cases, three
    trials. One row per estimator and data set: estimator, truth, estimate, low, high, holds. `coverage` counts them.
    """
    draws = generator(rng)
    rows = [row for _ in range(datasets) for make in PLANTED for row in make(draws)]
    return holding(rows, "estimator truth estimate low high")


def recovered_in_short(table: pd.DataFrame) -> pd.DataFrame:
    """Return truth, mean estimate, bias (mean minus truth) and coverage of each estimator."""
    means = table.groupby("estimator", sort=False).agg(truth=("truth", "mean"), mean=("estimate", "mean"))
    short = means.reset_index().merge(coverage(table, ["estimator"]), on="estimator")
    return short.assign(bias=short["mean"] - short["truth"], verdict=list(map(in_words, short.to_dict("records"))))


def _planted(estimator: str, truth: float, estimate: Estimate) -> Row:
    return {"estimator": estimator, "truth": truth, **interval(estimate)}


def _repeated(rng: np.random.Generator) -> Iterator[Row]:
    a, b = EASE
    smooth = rng.beta(a, b, CASES[SOLVABLE])
    power = float(np.prod([(a + j) / (a + b + j) for j in range(BEYOND)]))
    yield from _of_rates("cases that differ smoothly", smooth, 2 * a * b / ((a + b) * (a + b + 1)), power, rng)
    shares, rates = (np.array(column) for column in zip(*TWO_KINDS, strict=True))
    kinds = rng.choice(rates, CASES[SOLVABLE], p=shares)
    flips, power = float(shares @ (2 * rates * (1 - rates))), float(shares @ rates**BEYOND)
    yield from _of_rates("two kinds of cases", kinds, flips, power, rng)


def _of_rates(name: str, rates: np.ndarray, flips: float, power: float, rng: np.random.Generator) -> Iterator[Row]:
    hits = rng.binomial(TRIALS, rates)
    yield _planted(f"flip rate, {name}", flips, flip_rate(hits, TRIALS, rng=rng))
    curve = pass_hat_k_curve(hits, TRIALS, [BEYOND])
    ends = {end: float(getattr(curve, end)[0]) for end in ("estimate", "low", "high")}
    yield {"estimator": f"pass^{BEYOND} from {TRIALS} trials, {name}", "truth": power, **ends}


def _within(rng: np.random.Generator) -> Iterator[Row]:
    cases, models = np.divmod(np.arange(40 * 2 * TRIALS), 2 * TRIALS)
    noise = rng.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], cases.size)
    shared = 2 * rng.normal(size=40)[cases] + (models // TRIALS)
    first, second = shared + noise[:, 0], shared + noise[:, 1]
    result = within_model_correlation(first, second, cases, models // TRIALS, n_resamples=RESAMPLES, rng=rng)
    yield _planted("correlation within models", CORRELATION, result)


def _judges(rng: np.random.Generator) -> Iterator[Row]:
    chances = np.array(VERDICTS)
    passed = (chances.sum(axis=0)[0] + chances.sum(axis=1)[0]) / 2
    by_chance = 2 * passed * (1 - passed)
    result = agreement(rng.multinomial(200, chances.ravel()).reshape(2, 2))
    ac1 = Estimate(estimate=result.ac1, low=result.ac1_low, high=result.ac1_high)
    yield _planted("AC1 of two judges", (np.trace(chances) - by_chance) / (1 - by_chance), ac1)


def _handovers(rng: np.random.Generator) -> Iterator[Row]:
    rows = []
    for bucket, cases in CASES.items():
        mean = HANDED_OVER[bucket]
        handed = rng.random((cases, TRIALS)) < rng.beta(4 * mean, 4 * (1 - mean), (cases, 1))
        rows += [(f"{bucket}_{i}", bucket, bool(hit)) for i in range(cases) for hit in handed[i]]
    conversations = framed(rows, "case_id bucket handed_over")
    needless = conversations["handed_over"] & (conversations["bucket"] == SOLVABLE)
    right, wrong = (CASES[b] * HANDED_OVER[b] for b in (NEEDS, SOLVABLE))
    result, _ = precision_of_handover(conversations.assign(needless_handover=needless))
    yield _planted("precision of handovers", right / (right + wrong), result)


PLANTED: tuple[Callable[[np.random.Generator], Iterator[Row]], ...] = (_repeated, _within, _judges, _handovers)


# --- shipped measurements (`data/calibration.yaml`) and counts of shipped data


def calibration() -> dict[str, Any]:
    """Return the measurements of `make calibration`; refuse a missing or invalid file."""
    return dict(read_yaml(CALIBRATION))


def trap_coverage() -> pd.DataFrame:
    """Return how often intervals over 18 traps contained the truth, by true count and trials."""
    return framed(calibration()["trap_coverage"], "count trials datasets posterior bca these")


def blind_play() -> pd.DataFrame:
    """Return the success of the shipped blind play, and the failures of its simulated customer.

    One row per set: set, player, cases, conversations, success, families (number in a hard set; otherwise 0), and the
    columns of `customer_flag_table`.
    """
    parts = []
    for name, played in _played().items():
        rows = played.conversations
        families = rows["family"].nunique() if "family" in rows else 0
        more = {"cases": rows["case_id"].nunique(), "success": int(rows["success"].sum()), "families": families}
        parts.append(customer_flag_table(rows).assign(set=name, player=rows["source"].iloc[0], **more))
    return pd.concat(parts, ignore_index=True)


def customers_read() -> dict[str, int]:
    """Count how readers judged the scripted customer's messages (``customer_turns_read.yaml``).

    The counts are rounds, messages, either and both (clearly wrong to at least one reader, or to both), found (those in
    both that the judge named) and alarms (named by the judge, but clearly wrong to neither reader).
    """
    read = read_yaml(DATA / "customer_turns_read.yaml")
    counts = Counter((row[3:5].count("clear"), row[5] != "none") for row in read["named"])
    both, caught, alarms = counts[2, True] + counts[2, False], counts[2, True], counts[0, True]
    either = both + counts[1, True] + counts[1, False]
    sizes = {"rounds": len(read["messages"]), "messages": sum(read["messages"].values())}
    return sizes | {"either": either, "both": both, "found": caught, "alarms": alarms}


def _played() -> dict[str, Results]:
    return {name: load_results(path) for name, path in SOURCES.items()}


@cache
def languages_of_sets() -> dict[str, dict[str, int]]:
    """Return the number of cases in each language, by set, counted without parsing the cases."""
    counts: dict[str, dict[str, int]] = {}
    for name, store in {"core set": load_store(), "hard set": load_store(f"northline:{HARD}")}.items():
        raw = ((path, raw_case) for path in store.path.glob("cases/*.yaml") for raw_case in read_yaml(path)["cases"])
        cases = [arm for path, raw_case in raw for arm in arms(raw_case, store, path) if arm.get("arm") != TOLD]
        counts[name] = Counter(case.get("language", "en") for case in cases)
    return counts


def verdicts_in_play() -> int:
    """Return the number of judges' verdicts in the shipped run files."""
    return sum(len(played.verdicts) for played in _played().values())


def least_rate(n: int) -> float:
    """Return the lowest true rate compatible with success in all of `n` cases, at 95%."""
    return float(exact_bound(1.0, n)[0])
