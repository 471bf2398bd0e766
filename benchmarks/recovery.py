"""Whether recorded rates, intervals and correlations agree with the truth: panels of agents with known rates play the cases.

    python benchmarks/recovery.py [--panels 20] [--agents 24] [--seed 20260629] [--out benchmarks/recovery.md] [--executor dask --workers 2]

A tunable agent draws once per conversation whether it plays as the oracle does, so its true rates are its settings.
Every panel is drawn anew and plays all cases through the run engine into run files. Its results are read from those files
like those of any run.
"""

import argparse
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from benchmark_lib import analysis, estimators, spread, tables
from benchmark_lib.analysis.tables import recovery
from benchmark_lib.cli.options import add_options, executor
from benchmark_lib.experiment import known_panel
from benchmark_lib.scoring.metrics import METRICS

TRIALS = 3
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
    panel = known_panel.known_panel(agents, rng=rng)
    with TemporaryDirectory() as folder:
        results = analysis.load_results(known_panel.play_panel(panel, folder, trials=TRIALS))
        conversations = results.conversations
    rates = recovery.recovered_rates(panel, conversations)
    return {
        "rates": rates.assign(panel=number),
        "differences": differences(panel, conversations),
        "correlations": recovery.recovered_correlations(panel, rates),
        "bands": tables.unsafe_table(conversations).merge(panel[["model", "true_unsafe"]], on="model"),
        "cases": conversations.drop_duplicates("case_id")[["case_id", "bucket"]],
    }


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
    return recovery.holding(rows, "a b metric truth estimate low high p")


def coverage_lines(table: pd.DataFrame, by: list[str], heads: list[str], scatter: bool) -> list[str]:
    """Return a Markdown table of `recovery.coverage`."""
    extra = ["mean error (z)", "scatter of z"] if scatter else []
    lines = ["| " + " | ".join([*heads, "intervals", "held the truth", "share (95%)", *extra, "verdict"]) + " |"]
    lines.append("|" + "---|" * (len(heads) + 4 + len(extra)))
    for row in recovery.coverage(table, by).to_dict("records"):
        names = [METRICS[row[b]].title if row[b] in METRICS else str(row[b]) for b in by]
        cells = [str(row["intervals"]), str(row["held"]), f"{row['share']:.3f} ({row['low']:.3f} to {row['high']:.3f})"]
        if scatter:
            z = table.loc[(table[by] == [row[b] for b in by]).all(axis=1), "z"]
            cells += ["-" if np.isnan(value) else f"{value:.2f}" for value in (z.mean(), (z**2).mean())]
        lines.append("| " + " | ".join([*names, *cells, recovery.in_words(row)]) + " |")
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


def first_panel_lines(rates: pd.DataFrame) -> list[str]:
    """Return the first panel, agent by agent.

    The table shows the truth, then the recorded rate with its interval, and a star if the interval misses the truth.
    """
    first = rates[(rates["panel"] == 1) & ~rates["interval"].isin(["traps like these", f"pass^{recovery.PASS_K}"])]
    metrics = list(known_panel.TRUTHS)
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
    parser.add_argument("--agents", type=int, default=known_panel.AGENTS)
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
