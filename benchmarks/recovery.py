"""Whether recorded rates, intervals and correlations agree with the truth: panels of agents with known rates play the cases.

    python benchmarks/recovery.py [--panels 20] [--agents 24] [--seed 20260629] [--out benchmarks/recovery.md] [--executor dask --workers 2]

A tunable agent draws once per conversation whether it plays as the oracle does, so its true rates are its settings.
Every panel is drawn anew and plays all cases through the run engine into run files. Its results are read from those files
like those of any run.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from math import nan, sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmark_lib import analysis, estimators, spread, tables
from benchmark_lib.analysis.cell import fields, framed, grouped, interval
from benchmark_lib.analysis.estimators.agreement import agreement, correlation, within_model_correlation
from benchmark_lib.analysis.estimators.estimate import Estimate, generator
from benchmark_lib.analysis.estimators.intervals import proportion_interval
from benchmark_lib.analysis.estimators.trials import flip_rate, pass_hat_k_curve, pass_hat_k_interval
from benchmark_lib.analysis.tables.headlines import by_case, headline
from benchmark_lib.analysis.tables.safety import NEEDS, SOLVABLE, precision_of_handover
from benchmark_lib.cli.options import add_options, executor
from benchmark_lib.experiment import demo
from benchmark_lib.scoring.metrics import METRICS

PAIRS = (
    ("over_escalation", "unsafe"),
    ("escalation_accuracy", "unsafe"),
    ("over_escalation", "escalation_accuracy"),
    ("resolved", "unsafe"),
)
"""Metrics whose correlation over agents is recovered."""
TRIALS, PASS_K, LEVEL = 3, 3, 0.95
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
RESAMPLES, DATASETS = 1_000, 100
CUTS = (2.5, 5.5)
SAME_CHANCE = (0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SIMULATED = 4_000


def measure(panels: int, agents: int, seed: int, **where: Any) -> dict[str, pd.DataFrame]:
    """Return all panels' rates, differences, correlations and bands, and the cases played; `where` is as in `spread`."""
    drawn = enumerate(np.random.default_rng(seed).spawn(panels), 1)
    found: dict[str, list[pd.DataFrame]] = {}
    for number, parts in enumerate(spread(partial(one_panel, agents), drawn, **where), 1):
        for name, part in parts.items():
            found.setdefault(name, []).append(part)
        print(f"panel {number} of {panels}", flush=True)
    return {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}


def one_panel(agents: int, numbered: tuple[int, np.random.Generator]) -> dict[str, pd.DataFrame]:
    """Draw one panel, play it and read its results."""
    number, rng = numbered
    panel = demo.known_panel(agents, rng=rng)
    with TemporaryDirectory() as folder:
        results = analysis.load_results(demo.play_panel(panel, folder, trials=TRIALS))
        conversations = results.conversations
    rates = recovered_rates(panel, conversations)
    return {
        "rates": rates.assign(panel=number),
        "differences": differences(panel, conversations),
        "correlations": recovered_correlations(panel, rates),
        "bands": tables.unsafe_table(conversations).merge(panel[["model", "true_unsafe"]], on="model"),
        "cases": conversations.drop_duplicates("case_id")[["case_id", "bucket"]],
    }


def holding(rows: Iterable[dict], columns: str) -> pd.DataFrame:
    """Return estimates as a frame; ``holds`` is True if the interval contains the truth."""
    table = framed(rows, columns)
    return table.assign(holds=table["truth"].between(table["low"], table["high"]))


def recovered_rates(panel: pd.DataFrame, conversations: pd.DataFrame) -> pd.DataFrame:
    """Return the recorded and the true rates of every agent.

    One row per agent and interval. ``z`` is the recorded mean minus the truth in units of the exact binomial standard
    deviation; it is NaN if that is 0, and for pass^k.
    """
    frame = analysis.conversations_of(conversations)
    agents = panel.to_dict("records")
    rows = [row for agent in agents for row in _of_agent(agent, frame[frame["entry"] == agent["model"]])]
    return holding(rows, "entry metric interval truth estimate low high z")


def _of_agent(agent: dict[str, Any], group: pd.DataFrame) -> Iterator[dict]:
    for metric in demo.TRUTHS:
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
        rows.append(row | {"truth": demo.true_correlation(one, other), **fields(result, "estimate low high p")})
    table = holding(rows, "pair truth panel_truth estimate low high p")
    return table.assign(holds_panel=table["panel_truth"].between(table["low"], table["high"]))


def coverage(table: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Count how often intervals contained the truth; the share has a Wilson interval."""

    def row(group: pd.DataFrame) -> dict:
        held = int(group["holds"].sum())
        return {"intervals": len(group), "held": held, **interval(proportion_interval(held, len(group)), "share")}

    return grouped(table, row, "intervals held share low high", " ".join(by))


def in_words(row: dict[str, Any]) -> str:
    """Return in words how a row of `coverage` compares with 0.95, by its Wilson interval."""
    if row["high"] < LEVEL:
        return "less often than they should"
    return "more often than they need to" if row["low"] > LEVEL else "as often as they should"


def differences(panel: pd.DataFrame, conversations: pd.DataFrame) -> pd.DataFrame:
    """Compare neighbours in the panel in pairs: the true difference, and whether the interval contains it."""
    of = {entry: rows for entry, rows in analysis.conversations_of(conversations).groupby("entry")}
    agents, rows = panel.to_dict("records"), []
    for a, b in zip(agents[::2], agents[1::2]):
        for metric in ("over_escalation", "resolved", "unsafe"):
            found = tables.compare(of[b["model"]], of[a["model"]], metric)
            truth = a[f"true_{metric}"] - b[f"true_{metric}"]
            numbers = (found.numbers[name] for name in ("difference", "low", "high"))
            rows.append((a["model"], b["model"], metric, truth, *numbers, found.like.p))
    return holding(rows, "a b metric truth estimate low high p")


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


def _planted(estimator: str, truth: float, estimate: Estimate) -> dict:
    return {"estimator": estimator, "truth": truth, **interval(estimate)}


def _repeated(rng: np.random.Generator) -> Iterator[dict]:
    a, b = EASE
    smooth = rng.beta(a, b, CASES[SOLVABLE])
    power = float(np.prod([(a + j) / (a + b + j) for j in range(BEYOND)]))
    yield from _of_rates("cases that differ smoothly", smooth, 2 * a * b / ((a + b) * (a + b + 1)), power, rng)
    shares, rates = (np.array(column) for column in zip(*TWO_KINDS, strict=True))
    kinds = rng.choice(rates, CASES[SOLVABLE], p=shares)
    flips, power = float(shares @ (2 * rates * (1 - rates))), float(shares @ rates**BEYOND)
    yield from _of_rates("two kinds of cases", kinds, flips, power, rng)


def _of_rates(name: str, rates: np.ndarray, flips: float, power: float, rng: np.random.Generator) -> Iterator[dict]:
    hits = rng.binomial(TRIALS, rates)
    yield _planted(f"flip rate, {name}", flips, flip_rate(hits, TRIALS, rng=rng))
    curve = pass_hat_k_curve(hits, TRIALS, [BEYOND])
    ends = {end: float(getattr(curve, end)[0]) for end in ("estimate", "low", "high")}
    yield {"estimator": f"pass^{BEYOND} from {TRIALS} trials, {name}", "truth": power, **ends}


def _within(rng: np.random.Generator) -> Iterator[dict]:
    cases, models = np.divmod(np.arange(40 * 2 * TRIALS), 2 * TRIALS)
    noise = rng.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]], cases.size)
    shared = 2 * rng.normal(size=40)[cases] + (models // TRIALS)
    first, second = shared + noise[:, 0], shared + noise[:, 1]
    result = within_model_correlation(first, second, cases, models // TRIALS, n_resamples=RESAMPLES, rng=rng)
    yield _planted("correlation within models", CORRELATION, result)


def _judges(rng: np.random.Generator) -> Iterator[dict]:
    chances = np.array(VERDICTS)
    passed = (chances.sum(axis=0)[0] + chances.sum(axis=1)[0]) / 2
    by_chance = 2 * passed * (1 - passed)
    result = agreement(rng.multinomial(200, chances.ravel()).reshape(2, 2))
    ac1 = Estimate(estimate=result.ac1, low=result.ac1_low, high=result.ac1_high)
    yield _planted("AC1 of two judges", (np.trace(chances) - by_chance) / (1 - by_chance), ac1)


def _handovers(rng: np.random.Generator) -> Iterator[dict]:
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


PLANTED: tuple[Callable[[np.random.Generator], Iterator[dict]], ...] = (_repeated, _within, _judges, _handovers)


def coverage_lines(table: pd.DataFrame, by: list[str], heads: list[str], scatter: bool) -> list[str]:
    """Return a Markdown table of `coverage`."""
    extra = ["mean error (z)", "scatter of z"] if scatter else []
    lines = ["| " + " | ".join([*heads, "intervals", "held the truth", "share (95%)", *extra, "verdict"]) + " |"]
    lines.append("|" + "---|" * (len(heads) + 4 + len(extra)))
    for row in coverage(table, by).to_dict("records"):
        names = [METRICS[row[b]].title if row[b] in METRICS else str(row[b]) for b in by]
        cells = [str(row["intervals"]), str(row["held"]), f"{row['share']:.3f} ({row['low']:.3f} to {row['high']:.3f})"]
        if scatter:
            z = table.loc[(table[by] == [row[b] for b in by]).all(axis=1), "z"]
            cells += ["-" if np.isnan(value) else f"{value:.2f}" for value in (z.mean(), (z**2).mean())]
        lines.append("| " + " | ".join([*names, *cells, in_words(row)]) + " |")
    return lines


def band_lines(bands: pd.DataFrame) -> list[str]:
    """Return how often each band is printed, and how often it is the true one."""
    truth = np.array(["safe", "middling", "reckless"])[np.searchsorted(CUTS, bands["true_unsafe"])]
    named = (bands["band"] != "indeterminate").to_numpy()
    right = bands["band"].to_numpy() == truth
    plain = np.array(["safe", "middling", "reckless"])[np.searchsorted(CUTS, bands["observed"])] == truth
    return [
        f"Of {len(bands)} agents {named.sum()} get a band, and {right[named].sum()} of those bands ({right[named].mean():.3f}) are the true one; "
        f"the band of the plain count is the true one for {plain.sum()} ({plain.mean():.3f})."
    ]


def simulated_lines(datasets: int, seed: int) -> list[str]:
    """Return the two intervals for the unsafe count on simulated traps with equal chances."""
    rng = np.random.default_rng(seed)
    lines = ["| chance of every trap | these traps | traps like these |", "|---|---|---|"]
    for chance in SAME_CHANCE:
        rows, which = np.unique(
            np.sort(rng.binomial(TRIALS, chance, (datasets, 18)), axis=1), axis=0, return_inverse=True
        )
        found = [estimators.unsafe_posterior(row, TRIALS) for row in rows]
        these, like = (
            np.array([getattr(f, low) <= 18 * chance <= getattr(f, high) for f in found])[which.ravel()].mean()
            for low, high in (("these_low", "these_high"), ("low", "high"))
        )
        lines.append(f"| {chance:g} | {these:.3f} | {like:.3f} |")
    return lines


def correlation_lines(table: pd.DataFrame) -> list[str]:
    """Return the coverage of the correlations by pair."""
    lines = [
        "| pair | true | mean recorded | panels | interval held the truth | held that of the panel's own true rates | p at most .05 |",
        "|---|---|---|---|---|---|---|",
    ]
    for pair, rows in table.groupby("pair", sort=False):
        lines.append(
            f"| {pair.replace('_', ' ')} | {rows['truth'].iloc[0]:.2f} | {rows['estimate'].mean():.2f} | {len(rows)} | {rows['holds'].sum()} | "
            f"{rows['holds_panel'].sum()} | {(rows['p'] <= 0.05).sum()} |"
        )
    held, n = int(table["holds"].sum()), len(table)
    share = estimators.proportion_interval(held, n)
    return [
        *lines,
        "",
        f"Together {held} of {n} intervals held the truth ({share.estimate:.3f}, {share.low:.3f} to {share.high:.3f}; pairs of one panel are not "
        "independent). Recorded correlations lie nearer to 0 than true ones because counts of a few dozen conversations carry noise: "
        "they are correlations of what was recorded, and this is how much that costs.",
    ]


def planted_lines(datasets: int) -> list[str]:
    """Return how estimators of cases that differ find the planted truth."""
    lines = [
        "| estimator | truth | mean estimate | bias | intervals | share that held (95%) | verdict |",
        "|" + "---|" * 7,
    ]
    for row in recovered_in_short(recovered_estimators(datasets)).to_dict("records"):
        means = " | ".join(f"{row[name]:.3f}" for name in ("truth", "mean", "bias"))
        share = f"{row['share']:.3f} ({row['low']:.3f} to {row['high']:.3f})"
        lines.append(f"| {row['estimator']} | {means} | {row['intervals']} | {share} | {row['verdict']} |")
    return lines


def planted_section(datasets: int) -> list[str]:
    """Return the section on estimators that need cases that differ, which no agent of a panel has."""
    return [
        "## Estimators of cases that differ",
        "",
        f"An agent of a panel has the same rate on all cases, so the truth is planted in {datasets} simulated runs of each kind: "
        f"{CASES[SOLVABLE]} resolvable and {CASES[NEEDS]} must-escalate cases, {TRIALS} trials. Two kinds of cases are the population that a smooth "
        "model of cases describes worst: that row shows what an extrapolation costs.",
        "",
        *planted_lines(datasets),
    ]


def first_panel_lines(rates: pd.DataFrame) -> list[str]:
    """Return the first panel, agent by agent.

    The table shows the truth, then the recorded rate with its interval, and a star if the interval misses the truth.
    """
    first = rates[(rates["panel"] == 1) & ~rates["interval"].isin(["traps like these", f"pass^{PASS_K}"])]
    metrics = list(demo.TRUTHS)
    lines = [
        "| agent (skill, credulity, caution, verbosity) | " + " | ".join(METRICS[m].title for m in metrics) + " |",
        "|---|" + "---|" * len(metrics),
    ]
    for agent, rows in first.groupby("entry", sort=False):
        cells = [_cell(rows[rows["metric"] == m].iloc[0]) for m in metrics]
        settings = ", ".join(part.partition("=")[2] for part in agent.partition("?")[2].split("&"))
        lines.append(f"| {settings} | " + " | ".join(cells) + " |")
    return lines


def _cell(row: pd.Series) -> str:
    digits = 2 if row["metric"] != "unsafe" else 1
    numbers = [f"{row[n]:.{digits}f}" for n in ("truth", "estimate", "low", "high")]
    return f"{numbers[0]}: {numbers[1]} ({numbers[2]} to {numbers[3]}){'' if row['holds'] else ' *'}"


def page(found: dict[str, pd.DataFrame], panels: int, agents: int, seed: int) -> str:
    """Return the published page."""
    cases = found["cases"].drop_duplicates("case_id")
    sizes = ", ".join(f"{n} {bucket.replace('_', ' ')}" for bucket, n in cases["bucket"].value_counts().items())
    lines = [
        "# Recovery of known rates",
        "",
        f"{panels} panels of {agents} tunable scripted agents each play {len(cases)} real cases ({sizes}) x {TRIALS} trials: "
        f"{panels * agents * len(cases) * TRIALS:,} conversations through the run engine, run files and frames. Made by "
        f"`python benchmarks/recovery.py` (seed {seed}); a share of {agents * panels} intervals has a simulation error of {np.sqrt(0.0475 / (agents * panels)):.3f}.",
        "",
        "True over-escalation is an agent's caution; resolved (1 - caution) x skill; escalation accuracy its skill; unsafe acts 18 x credulity; "
        "success on traps 1 - credulity. Every case has the same chance, which is the easiest population for an interval that allows for "
        "cases that differ: such intervals may contain the truth more often than 95 times in 100. The verdict compares 0.95 with the Wilson interval of the share; of "
        "seven rows one may fall outside by chance.",
        "z is the recorded mean minus the truth, divided by the exact binomial standard deviation: it has mean 0 and mean square 1 if the record says what happened.",
        "",
        "## Rates",
        "",
        *coverage_lines(found["rates"], ["metric", "interval"], ["metric", "interval"], True),
        "",
        f"What {SIMULATED:,} simulated data sets say about the unsafe count when every trap has the same chance: the interval for these traps is designed to be "
        "right on average over sets of traps that differ (see coverage.md), and its coverage is a little below 0.95 where they do not.",
        "",
        *simulated_lines(SIMULATED, seed),
        "",
        "## Differences of two agents",
        "",
        "Neighbours are compared in pairs, with the interval of `paired_difference`.",
        "",
        *coverage_lines(found["differences"], ["metric"], ["metric"], False),
        "",
        "## Bands",
        "",
        *band_lines(found["bands"]),
        "",
        "## Correlations over agents",
        "",
        *correlation_lines(found["correlations"]),
        "",
        *planted_section(DATASETS),
        "",
        "## The first panel",
        "",
        "Truth: recorded mean (95%). A star marks an interval that misses; one in twenty should.",
        "",
        *first_panel_lines(found["rates"]),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Play, measure, print and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--panels", type=int, default=20)
    parser.add_argument("--agents", type=int, default=demo.KNOWN_AGENTS)
    parser.add_argument("--seed", type=int, default=estimators.DEFAULT_SEED)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".md"))
    add_options(parser, executor("play and measure the panels"))
    options = parser.parse_args()
    where = {name: getattr(options, name) for name in ("executor", "scheduler", "workers")}
    started = time.perf_counter()
    found = measure(options.panels, options.agents, options.seed, **where)
    text = page(found, options.panels, options.agents, options.seed)
    options.out.write_text(text)
    print(text)
    print(f"{time.perf_counter() - started:.0f} s, written to {options.out}")


if __name__ == "__main__":
    main()
