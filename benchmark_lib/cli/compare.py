"""``deskbench compare``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from ..outputs import write_csv, writing
from .codes import FINISHED

if TYPE_CHECKING:
    from ..analysis.frames import Results
    from ..analysis.tables.comparison import Comparison

WIDTH, HEAD = 100, 42
MOST_CASES = 8
"""Maximum number of differing cases to print; the notebook and the page show all."""


ARGUMENTS = {
    "RUN+": ("two or more run files, or names from `deskbench runs`: a file name, a model name or a run id"),
    "--folder FOLDER": ("where to look up runs by name (default: data/runs)", "data/runs"),
    "--every-pair": "compare every pair, not only the first run with each of the others",
    "--all": "also test the metrics that were not planned, each on its own (exploratory)",
    "--hard": "compare the runs of these names on the hard set",
    "--partial": "also compare unfinished runs",
    "--out FILE": "also write the table, as .csv or .md",
}


def execute(options: argparse.Namespace) -> int:
    """Compare the runs and print the verdicts."""
    from ..analysis.tables.pairs import chosen_runs, compare_pairs, pairs_table
    from .ending import steps_from_comparison

    if options.out and Path(options.out).suffix not in (".csv", ".md"):
        raise BadInput(f"{options.out} is neither .csv nor .md: give --out one of these endings")
    everything, names = _named(options.runs, options.folder, options.hard)
    results, partial = chosen_runs(everything, names, partial=options.partial)
    entries = [results.entries[run.run_id] for run in results.runs]
    compared = compare_pairs(results, entries, every_pair=options.every_pair, explore=options.all)
    lines = _lines(results, entries, partial, compared, options.all)
    if options.out:  # before printing: a reader such as `head` may close the output after a few lines
        _write(pairs_table(compared), Path(options.out))
        lines.append(f"table: {options.out}")
    print(*lines, sep="\n")
    print("", *steps_from_comparison(results.runs[0], results.runs[1]), sep="\n")
    return FINISHED


def _named(given: list[str], folder: str, hard: bool) -> tuple[Results, list[str]]:
    # the available runs of one set, and the entry of each given file or name
    from ..analysis.entries import entry_meant
    from ..analysis.frames import is_hard, load_results
    from ..runfile import SUFFIX, RunFile

    paths = {text: text if text.endswith(SUFFIX) else Path(folder) / f"{text}{SUFFIX}" for text in given}
    files = {text: RunFile(path) for text, path in paths.items() if path == text or Path(path).is_file()}
    results = load_results(*files.values(), *([] if files.keys() >= set(given) else [folder]))
    sets = {is_hard(run.manifest) for run in files.values()} | ({True} if hard else set())
    if len(sets) > 1:
        raise BadInput("hard and other runs are never compared with each other: name runs on one set")
    results, names = results.hard if sets == {True} else results, []
    for text in given:
        meant = entry_meant(results, text)
        name = results.entries[files[text].run_id] if text in files else _entry(str(meant), results, folder)
        if name in names:
            raise BadInput(f"{text!r} is the same run as one named before: name each run only once")
        names.append(name)
    if len(names) < 2:
        raise BadInput("a comparison needs at least two runs: name another one")
    return results, names


def _entry(text: str, results: Results, folder: str) -> str:
    from ..experiment.run_list import find_run
    from ..runfile import RunFile

    known = sorted(set(results.entries.values()))
    meant = [name for name in known if name == text] or [name for name in known if name.startswith(f"{text} [")]
    if len(meant) > 1:
        raise BadInput(f"{text!r} has {len(meant)} runs in {folder}: name one of {', '.join(map(repr, meant))}")
    if meant:
        return meant[0]
    if entry := results.entries.get(RunFile(find_run(text, Path(folder))).run_id):
        return entry
    raise BadInput(f"{text!r} was played on the other set: add or omit --hard")


def _lines(
    results: Results, entries: list[str], partial: dict[str, str], compared: list[list[Comparison]], explored: bool
) -> list[str]:
    # no line is wider than WIDTH unless a name is
    from ..analysis.panels import conversations_of
    from ..analysis.tables.nuisance import shift_in_words
    from ..analysis.tables.verdicts import SAID, largest_in_words, outcome_in_words, what_is_tested

    conversations, several = conversations_of(results), len(compared) > 1
    notes = [f"Note: {results.entries[run]}: {why}." for run, why in partial.items()]
    for name in entries:
        if shift := shift_in_words(conversations[conversations["entry"] == name]):
            notes.append(f"Note: {name}: {shift}.")
    lines: list[str] = []
    for pair in compared:
        rows, (a, b) = [one.row() for one in pair], pair[0].names
        lines += [*_wrapped(outcome_in_words(rows)), "", f"A  {a}", f"B  {b}", SAID["means"], ""]
        lines += [line for one in pair if one.tested for line in _row_lines(one, several)]
        if largest := _wrapped(largest_in_words(rows)):
            lines += ["", *largest]
        lines += ["", *_cases_lines(results, a, b), ""]
    unsure = any(one.open_here and one.cases for pair in compared for one in pair)
    lines += _wrapped(f"{SAID['procedure']} {SAID['disagree']}" if unsure else SAID["procedure"])
    lines += _wrapped(SAID["explored"] if explored else f"{what_is_tested()} {SAID['further']}")
    lines += _wrapped(SAID["every row"]) if several else []
    return [*lines, *([""] if notes else []), *(line for note in notes for line in _wrapped(note))]


def _row_lines(compared: Comparison, several: bool) -> list[str]:
    from ..analysis.estimators.comparisons import ONLY_THESE, SURE
    from ..analysis.estimators.estimate import counted
    from ..analysis.tables.verdicts import SAID, direction_in_words, level_in_words, mean_in_words, signed
    from ..analysis.tables.verdicts import signed_interval as interval

    metric, numbers, sure = compared.metric, compared.numbers, compared.word == SURE
    noun, (low, high), verdict = metric.scale.noun, compared.all_interval, compared.verdict
    if several and sure and low <= 0 <= high:
        verdict += SAID["open over all"].format(interval=interval(metric, low, high))
    parts = [f"{counted(compared.cases, noun)} x {compared.trials} {'trial' if compared.trials == '1' else 'trials'}"]
    if (ends := interval(metric, numbers["low"], numbers["high"])) and not sure:
        name = "ends like" if compared.word == ONLY_THESE else "ends"
        parts.append(SAID[name].format(noun=noun, level=level_in_words(1 - compared.alpha), interval=ends))
    if (ends := interval(metric, numbers["these_low"], numbers["these_high"])) and compared.word != ONLY_THESE:
        parts.append(
            SAID["ends these"].format(noun=noun, level=level_in_words(1 - compared.these_alpha), interval=ends)
        )
    parts += [] if not compared.reason or compared.verdict.endswith(compared.reason) else [compared.reason]
    better = direction_in_words(metric)
    head = f"  {metric.title}{f' ({better})' if better else ''}"
    a, b = (mean_in_words(metric, mean, compared.cases) for mean in compared.means.values())
    values = f"A {a:>10}   B {b:>10}   B-A {signed(metric, numbers['difference']):>12}"
    lines = [f"{head:<{HEAD}} {values}"] if len(head) <= HEAD else [head, f"{'':<{HEAD}} {values}"]
    below = [verdict, "; ".join(parts)] if compared.cases else [verdict]
    return [*lines, *(line for text in below for line in _wrapped(text, "      "))]


def _cases_lines(results: Results, a: str, b: str) -> list[str]:
    from ..analysis.estimators.estimate import counted
    from ..analysis.tables.pairs import differing_cases
    from ..analysis.tables.verdicts import SAID

    cases = differing_cases(results, a, b)
    if cases.empty:
        return _wrapped(SAID["alike"])
    names = [f"{row.case_id} ({row.differ})" for row in cases.head(MOST_CASES).itertuples()]
    names += [f"and {len(cases) - MOST_CASES} more"] if len(cases) > MOST_CASES else []
    return _wrapped(f"Where they differ, {counted(len(cases), 'case')}: {'; '.join(names)}.")


def _wrapped(text: str, indent: str = "") -> list[str]:
    import textwrap

    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
    wrapper.break_on_hyphens = False  # a name stays on one line
    return wrapper.wrap(text)


def _write(table: Any, file: Path) -> None:
    from ..reports.paper import markdown

    columns = ["entry_a", "entry_b", "title", "a", "b", "difference", "low", "high", "level"]
    columns += ["these_low", "these_high", "these_level", "verdict"]
    with writing(file):
        if file.suffix == ".csv":
            write_csv(table, file)
        else:
            text = table[columns].map(lambda v: f"{v:.4g}" if isinstance(v, float) and v == v else v)
            file.write_text(markdown(text), encoding="utf-8")
