"""``deskbench compare``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadInput
from .codes import FINISHED

if TYPE_CHECKING:
    from ..analysis.frames import Results
    from ..analysis.tables.comparison import Comparison

WIDTH, HEAD = 100, 42
MOST_CASES = 8
"""Maximum number of differing cases to print; the notebook and the page show all."""

ARGUMENTS = {
    "RUN+": "two or more runs: files, or their names (of the file, run id, model, or as in tables)",
    "--folder FOLDER": ("where to look up runs by name (default: data/runs)", "data/runs"),
    "--store DIR": "only find runs on this store, as its files are now (default: any)",
    "--every-pair": "compare every pair, not only the first run with each of the others",
    "--all": "also test the metrics that were not planned, each on its own (exploratory)",
    "--partial": "also compare unfinished runs",
}


def execute(options: argparse.Namespace) -> int:
    """Compare the runs and print the verdicts."""
    from ..analysis.tables.pairs import chosen_runs, compare_pairs

    everything, names = _named(options.runs, Path(options.folder), options.store)
    results, partial = chosen_runs(everything, names, partial=options.partial)
    entries = [results.entries[run.run_id] for run in results.runs]
    compared = compare_pairs(results, entries, every_pair=options.every_pair, explore=options.all)
    print(*_lines(results, entries, partial, compared, options.all), sep="\n")
    return FINISHED


def _named(given: list[str], folder: Path, store: str | None) -> tuple[Results, list[str]]:
    # the named runs of one set, and the entry of each
    from ..analysis.frames import is_hard, load_results
    from ..cases.load import content_of
    from ..runfile import RunFile
    from ..store import load_store
    from .runs import run_named

    current = load_store(store) if store else None
    runs = [RunFile(run_named(text, folder, current)) for text in given]
    for run in runs:
        if current and run.manifest["inputs"]["store"]["hash"] != content_of(current):
            raise BadInput(f"{run.path} was not played on {store} as its files are now: leave out that run or --store")
    if len({is_hard(run.manifest) for run in runs}) > 1:
        raise BadInput("hard and other runs are never compared with each other: name runs on one set")
    results = load_results(*runs)
    results = results.hard if is_hard(runs[0].manifest) else results
    return results, [results.entries[run.run_id] for run in runs]


def _lines(
    results: Results, entries: list[str], partial: dict[str, str], compared: list[list[Comparison]], explored: bool
) -> list[str]:
    # no line is wider than WIDTH unless a name is
    from ..analysis.panels import conversations_of
    from ..analysis.tables.comparison import SAID, why_it_ends_there
    from ..analysis.tables.nuisance import shift_in_words
    from ..analysis.tables.verdicts import largest_in_words, outcome_in_words, what_is_tested
    from ..reports.terminal import wrapped

    conversations, several = conversations_of(results), len(compared) > 1
    notes = [f"Note: {results.entries[run]}: {why}." for run, why in partial.items()]
    for name in entries:
        if shift := shift_in_words(conversations[conversations["entry"] == name]):
            notes.append(f"Note: {name}: {shift}.")
    lines: list[str] = []
    for pair in compared:
        rows, (a, b) = [one.row() for one in pair], pair[0].names
        lines += [*wrapped([outcome_in_words(rows)]), "", f"A  {a}", f"B  {b}", SAID["means"], ""]
        lines += [line for one in pair if one.tested for line in _row_lines(one, several)]
        if largest := largest_in_words(rows):
            lines += ["", *wrapped([largest])]
        lines += ["", *_cases_lines(results, a, b), ""]
    tested = [one for pair in compared for one in pair if one.tested]
    unsure = any(one.open_here and one.cases for one in tested)
    last = [SAID["ends note"]] * any(map(why_it_ends_there, tested))
    last += [SAID["procedure"] + f" {SAID['disagree']}" * unsure]
    last += [SAID["explored"] if explored else f"{what_is_tested()} {SAID['further']}"]
    return [*lines, *wrapped([*last, *[SAID["every row"]] * several, *[""] * bool(notes), *notes])]


def _row_lines(compared: Comparison, several: bool) -> list[str]:
    from ..analysis.estimators.comparisons import ONLY_THESE, SURE
    from ..analysis.tables.comparison import SAID, direction_in_words, why_it_ends_there
    from ..analysis.tables.verdicts import mean_in_words, signed
    from ..analysis.tables.verdicts import signed_interval as interval
    from ..reports.terminal import wrapped
    from ..scoring.written import counted

    metric, numbers, sure = compared.metric, compared.numbers, compared.word == SURE
    noun, verdict = metric.scale.noun, compared.verdict
    low, high = compared.all_interval
    if several and sure and low <= 0 <= high:
        verdict += SAID["open over all"].format(interval=interval(metric, low, high))
    kind = "adjusted" if compared.p_adjusted == compared.p_adjusted else "95%"
    parts = [f"{counted(compared.cases, noun)} x {compared.trials} {'trial' if compared.trials == '1' else 'trials'}"]
    if (ends := interval(metric, numbers["low"], numbers["high"])) and not sure:
        name = "ends like" if compared.word == ONLY_THESE else "ends"
        parts.append(SAID[name].format(noun=noun, level=kind, interval=ends))
    if (ends := interval(metric, numbers["these_low"], numbers["these_high"])) and compared.word != ONLY_THESE:
        parts.append(SAID["ends these"].format(noun=noun, level=kind, interval=ends))
    if compared.reason and not compared.verdict.endswith(compared.reason):
        why = why_it_ends_there(compared).partition(": ")[2]
        parts.append(compared.reason.replace(f": {why}", " (1)") if why else compared.reason)
    better = direction_in_words(metric)
    head = f"  {metric.title}{f' ({better})' if better else ''}"
    a, b = (mean_in_words(metric, mean, compared.cases) for mean in compared.means.values())
    values = f"A {a:>10}   B {b:>10}   B-A {signed(metric, numbers['difference']):>12}"
    lines = [f"{head:<{HEAD}} {values}"] if len(head) <= HEAD else [head, f"{'':<{HEAD}} {values}"]
    below = [verdict, "; ".join(parts)] if compared.cases else [verdict]
    return [*lines, *wrapped(below, "      ")]


def _cases_lines(results: Results, a: str, b: str) -> list[str]:
    from ..analysis.tables.comparison import SAID
    from ..analysis.tables.pairs import differing_cases
    from ..reports.terminal import wrapped
    from ..scoring.written import counted

    cases = differing_cases(results, a, b)
    if cases.empty:
        return wrapped([SAID["alike"]])
    names = [f"{row.case_id} ({row.differ})" for row in cases.head(MOST_CASES).itertuples()]
    names += [f"and {len(cases) - MOST_CASES} more, listed in notebook 15_compare"] if len(cases) > MOST_CASES else []
    return wrapped([f"Where they differ, {counted(len(cases), 'case')}: {'; '.join(names)}."])
