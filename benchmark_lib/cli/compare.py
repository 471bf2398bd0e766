"""``deskbench compare``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands import command
from ..errors import BadInput
from ..outputs import write_csv, writing
from .codes import FINISHED
from .ending import steps_from_comparison

if TYPE_CHECKING:
    from ..analysis.frames import Results

WIDTH, HEAD = 100, 42


ARGUMENTS = {
    "RUN+": "two or more run files, or their names as `deskbench runs` lists them: of the file or of the model, or a run id",
    "--folder FOLDER": ("where runs are looked up by name (default: data/runs)", "data/runs"),
    "--every-pair": "compare every two, not the first with the others",
    "--all": "also test the metrics that were not planned, each by itself (exploratory)",
    "--hard": "compare the runs that these names have on the hard set",
    "--partial": "also compare runs that are unfinished",
    "--out FILE": "also write the table, as .csv or .md",
}


def execute(options: argparse.Namespace) -> int:
    """Compare the runs and print the verdicts."""
    from ..analysis.tables.many import chosen_runs, compare_runs

    if options.out and Path(options.out).suffix not in (".csv", ".md"):
        raise BadInput(f"{options.out} is neither .csv nor .md: give --out one of these endings")
    everything, names = _named(options.runs, options.folder, options.hard)
    results, partial = chosen_runs(everything, names, partial=options.partial)
    entries = [results.entries[run.run_id] for run in results.runs]
    table = compare_runs(results, entries, every_pair=options.every_pair, explore=options.all)
    lines = _lines(results, entries, partial, table.to_dict("records"), options.all)
    if options.out:  # before anything is printed: a reader such as `head` may be gone after a few lines
        _write(table, Path(options.out))
        lines.append(f"table: {options.out}")
    print(*lines, sep="\n")
    print("", *steps_from_comparison(results.runs[0], results.runs[1]), sep="\n")
    return FINISHED


def _named(given: list[str], folder: str, hard: bool) -> tuple[Results, list[str]]:
    """The runs at hand of one of the two sets, and the entry of each that was given by file or by name."""
    from ..analysis.entries import entry_meant
    from ..analysis.frames import is_hard, load_results
    from ..runfile import SUFFIX, RunFile

    beside = {text: Path(folder) / f"{text}{SUFFIX}" for text in given}
    files = {text: RunFile(text) for text in given if text.endswith(SUFFIX)}
    files |= {text: RunFile(path) for text, path in beside.items() if text not in files and path.is_file()}
    by_name = [text for text in given if text not in files]
    results = load_results(*files.values(), *([folder] if by_name else []))
    sets = {is_hard(run.manifest) for run in files.values()} | ({True} if hard else set())
    if len(sets) > 1:
        raise BadInput("hard and other runs are named together: the two sets are never compared or pooled")
    results = results.hard if sets == {True} else results
    entries, names = results.entries, []
    for text in given:
        meant, known = str(entry_meant(results, text)), sorted(set(entries.values()))
        found = entries[files[text].run_id] if text in files else _entry(meant, known, folder)
        if found in names:
            raise BadInput(f"{text!r} is the same run as one named before: name each run once")
        names.append(found)
    if len(names) < 2:
        raise BadInput("a comparison needs at least two runs: name another one")
    return results, names


def _entry(text: str, known: list[str], folder: str) -> str:
    """The one entry a name means."""
    import difflib

    from ..runfile import SUFFIX, RunFile, is_hidden

    meant = [name for name in known if name == text] or [name for name in known if name.startswith(f"{text} [")]
    if len(meant) == 1:
        return meant[0]
    if meant:
        raise BadInput(f"{text!r} has {len(meant)} runs in {folder}: name one of {', '.join(repr(m) for m in meant)}")
    hidden = [path for path in sorted(Path(folder).glob(f"*{SUFFIX}")) if is_hidden(path)]
    mine = [path.stem for path in hidden if RunFile(path).manifest["model"] == text]
    if len(mine) > 1:
        raise BadInput(
            f"{text!r} has {len(mine)} hidden runs, {', '.join(mine)}: `deskbench runs unhide` brings one back"
        )
    if mine:
        raise BadInput(f"{text!r} is hidden: {command('runs', 'unhide', mine[0])} brings it back")
    near = difflib.get_close_matches(text, known, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"the runs are {', '.join(known[:12])}"
    raise BadInput(f"there is no run {text!r} in {folder}: {hint}")


def _lines(
    results: Results, entries: list[str], partial: dict[str, str], rows: list[dict[str, Any]], explored: bool
) -> list[str]:
    """What is printed, no line wider than `WIDTH` unless a name is."""
    from ..analysis.estimators.comparisons import NOT_TESTED
    from ..analysis.panels import conversations_of
    from ..analysis.tables.comparison import outcome_in_words
    from ..analysis.tables.drift import shift_in_words
    from ..analysis.tables.verdicts import TRIALS_VARY, largest_in_words, what_is_tested

    conversations = conversations_of(results)
    notes = [f"{name}: {why}" for run, why in partial.items() for name in [results.entries[run]]]
    for name in entries:
        said = shift_in_words(conversations[conversations["entry"] == name])
        notes += [f"{name}: {said}"] if said else []
    pairs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        pairs.setdefault((row["entry_a"], row["entry_b"]), []).append(row)
    lines: list[str] = []
    for (a, b), mine in pairs.items():
        lines += [*_wrapped(outcome_in_words(mine)), "", f"A  {a}", f"B  {b}", MEANS, ""]
        lines += [line for row in mine if row["word"] != NOT_TESTED for line in _row_lines(row, len(pairs) > 1)]
        largest = _wrapped(largest_in_words(mine))
        lines += [*([""] if largest else []), *largest, "", *_cases_lines(results, a, b), ""]
    unsure = [DISAGREE] if any(TRIALS_VARY in row["verdict"] for row in rows) else []
    lines += _wrapped(" ".join([NOTE, *unsure]))
    lines += _wrapped(EXPLORED if explored else f"{what_is_tested()} {FURTHER}")
    if len(pairs) > 1:
        lines += _wrapped(f"Each pair is corrected for its own planned metrics. {EVERY_ROW}")
    return [*lines, *([""] if notes else []), *(line for note in notes for line in _wrapped(f"Note: {note}."))]


MEANS = "Means over all trials of the cases both played (the board shows medians). B-A is B minus A."
NOTE = (
    "A verdict says without a sign by how much the better one is better, for fresh cases like these (Student's t over intents, or over cases where "
    "intents are fewer than six); 'exactly these cases' asks whether only the trials fell so by chance (a permutation of trials). "
    "Intervals are of 95 %, or of as much more as Holm asks of their test, so each leaves out 0 exactly where its test finds a difference."
)
DISAGREE = (
    "A difference can be clear for fresh cases and not for exactly these, as each is judged by a spread of its own: of the difference "
    "from case to case, and of each model's trials within a case, taken as independent. Where both models go wrong in the same "
    "trials the second is the wider."
)
EXPLORED = "Only the planned metrics are adjusted together (Holm). A plain p is exploratory: one in twenty is below 0.05 by chance."
FURTHER = "--all shows all of them, and tests each by itself."
MOST_CASES = 8
"""So many cases on which two differ are named; the notebook and the page have all."""
EVERY_ROW = "Where the interval that is simultaneous over the planned metrics of all pairs does not leave out 0, the verdict says so."


def _row_lines(row: dict[str, Any], several: bool) -> list[str]:
    """The lines of one metric."""
    from ..analysis.estimators.comparisons import ONLY_THESE, SURE
    from ..analysis.estimators.estimate import counted
    from ..analysis.tables.verdicts import level_in_words
    from ..scoring.metrics import METRICS

    metric = METRICS[row["metric"]]
    scale = metric.scale
    verdict = row["verdict"]
    if several and row["word"] == SURE and row["all_low"] <= 0 <= row["all_high"]:
        every = _interval(metric, row["all_low"], row["all_high"])
        verdict += f"; the interval that is simultaneous over all pairs, B-A {every}, does not leave out 0"
    where = (
        f"{counted(int(row['cases']), scale.noun)} x {row['trials']} {'trial' if row['trials'] == '1' else 'trials'}"
    )
    noun, told = f"{scale.noun}s", row["word"] in (SURE, ONLY_THESE)
    like, these = (_interval(metric, row[f"{of}low"], row[f"{of}high"]) for of in ("", "these_"))
    level = f"{level_in_words(row['level'])} interval"
    ends = [f"B-A for {noun} like these, {level}: {like}" if told else f"B-A, {level}: {like}"]
    ends = ends if like and row["word"] != SURE else []
    if these and row["word"] != ONLY_THESE:
        ends.append(f"B-A on exactly these {noun}, {level_in_words(row['these_level'])} interval: {these}")
    reason = "" if row["verdict"].endswith(row["reason"] or "-") else str(row["reason"])
    below = [verdict, *(["; ".join([where, *ends, *([reason] if reason else [])])] if row["cases"] else [])]
    return [*_numbers(row), *(line for text in below for line in _wrapped(text, "      "))]


def _numbers(row: dict[str, Any]) -> list[str]:
    """A metric with the means of both and their difference, on one line or two."""
    from ..analysis.tables.verdicts import direction_in_words, mean_in_words, signed
    from ..scoring.metrics import METRICS

    metric = METRICS[row["metric"]]
    better = direction_in_words(metric)
    head = f"  {row['title']}{f' ({better})' if better else ''}"
    a, b = (mean_in_words(metric, row[side], row["cases"]) for side in "ab")
    values = f"A {a:>10}   B {b:>10}   B-A {signed(metric, row['difference']):>12}"
    return [f"{head:<{HEAD}} {values}"] if len(head) <= HEAD else [head, f"{'':<{HEAD}} {values}"]


def _cases_lines(results: Results, a: str, b: str) -> list[str]:
    """The cases on which two differ, the widest in success first, each with what differs."""
    from ..analysis.estimators.estimate import counted
    from ..analysis.tables.comparison import differing_cases

    cases = differing_cases(results, a, b)
    told = [f"{row.case_id} ({row.differ})" for row in cases.head(MOST_CASES).itertuples()]
    more = [f"and {len(cases) - MOST_CASES} more"] if len(cases) > MOST_CASES else []
    head = f"Where they differ, {counted(len(cases), 'case')}: " if told else "There is no case on which they differ"
    return _wrapped(f"{head}{'; '.join([*told, *more])}.")


def _interval(metric: Any, low: float, high: float) -> str:
    """An interval of B minus A; empty where there is none."""
    from ..analysis.tables.verdicts import signed

    return f"{signed(metric, low, points=False)} to {signed(metric, high)}" if low == low and high == high else ""


def _wrapped(text: str, indent: str = "") -> list[str]:
    """The lines of a text in a terminal's width, with no name broken."""
    import textwrap

    wrapper = textwrap.TextWrapper(WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
    wrapper.break_on_hyphens = False  # a name stays on one line
    return wrapper.wrap(text)


def _write(table: Any, file: Path) -> None:
    """Write the table as CSV, or as a Markdown table of its main columns."""
    from ..reports.paper import markdown

    columns = ["entry_a", "entry_b", "title", "a", "b", "difference", "low", "high", "level"]
    columns += ["these_low", "these_high", "these_level", "verdict"]
    with writing(file):
        if file.suffix == ".csv":
            write_csv(table, file)
        else:
            text = table[columns].map(lambda v: f"{v:.4g}" if isinstance(v, float) and v == v else v)
            file.write_text(markdown(text), encoding="utf-8")
