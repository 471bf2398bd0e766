"""``deskbench runs``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..commands import command
from ..errors import BadInput
from .codes import FINISHED

if TYPE_CHECKING:
    from ..experiment.summary import ListedRun

ACTIONS = {
    "list": (0, 0, "every run with model, setting, progress, cost and age (the default)"),
    "show": (1, 1, "RUN: its inputs and its results"),
    "fresh": (1, None, "RUN: move its file to data/runs/old, off every board, so that the same command starts over"),
}
"""Minimum and maximum number of runs for each action (None: no maximum), and its help."""
ARGUMENTS = {
    "ACTION?": {"help": "see above", "default": "list", "choices": ACTIONS},
    "RUN*": "a run file, or one in data/runs by its file name, run_id, model or name in tables",
}
NOTES = """To get rid of a run, delete its file in data/runs.
cost: ? unknown (no price, or an own agent's calls); + some calls have no known price; - a person played"""
DETAILS = "\n".join(["actions:", *(f"  {name:<15} {words}" for name, (*_, words) in ACTIONS.items()), "", NOTES])


def run_named(name: str, folder: Path | None = None, store: Any = None) -> Path:
    """Return the run file that tables show by this name, or that `find_run` finds."""
    from ..analysis.frames import Results
    from ..experiment.summary import find_run, list_runs

    listed = list_runs(folder) if name.endswith("]") else []
    every = Results([one.run for one in listed if one.run])
    found = [run for run, entry in (every.entries | every.hard.entries).items() if entry == name]
    return find_run(found[0] if len(found) == 1 else name, folder, store)


def execute(options: argparse.Namespace) -> int:
    """Carry out an action on the named runs."""
    from ..experiment import summary

    action, (least, most, words) = options.action, ACTIONS[options.action]
    if most is not None and len(options.runs) > most:
        raise BadInput(f"deskbench runs {action} takes {most or 'no'} RUN, not {len(options.runs)}: leave some out")
    if len(options.runs) < least:
        raise BadInput(f"deskbench runs {action} needs {words.split(':')[0]}: see `deskbench runs`")
    paths = [run_named(name) for name in options.runs]
    if action == "list":
        _list(summary.list_runs())
    elif action == "show":
        _show(summary.describe_run(paths[0]))
    else:
        for path in paths:
            print(f"{path.name} is now {summary.archive(path)}: the same command starts over")
    return FINISHED


def _list(runs: list[ListedRun]) -> None:
    from ..analysis.frames import Results
    from ..experiment.summary import runs_folder
    from ..reports.terminal import NARROWEST, columns, screen_width

    if not runs:
        print(f"there are no runs in {runs_folder()}: make one with `deskbench run MODEL`")
        return
    head = ["file", "model [setting]", "kind", "cases", "trials", "finished", "cost USD", "age", ""]
    every = Results([one.run for one in runs if one.run])
    names = every.entries | every.hard.entries
    rows = [head, *(_row(one, names) for one in runs)]
    width, right = screen_width(), (3, 4, 5, 6, 7)
    files, _, *others = ([*map(len, column)] for column in zip(*rows, strict=True))
    least = max(files) + 2 + NARROWEST + sum(2 + max(other) for other in others)
    if width is None or least <= width:
        print(*columns(rows, right=right, width=width, gives=1), sep="\n")
        return
    lines = columns([row[1:] for row in rows], right=[at - 1 for at in right], width=width, gives=0)
    print(*(f"{line}\n  {row[0]}" for line, row in zip(lines, rows, strict=True)), sep="\n")


def _row(one: ListedRun, names: dict[str, str]) -> list[str]:
    from ..analysis.frames import is_hard
    from ..analysis.panels import panel_of
    from ..records import OWN, is_played, source_of
    from ..reports.terminal import KINDS

    if one.run is None:
        return [one.path.stem, "cannot be read", "", "", "", "", "", "", "see `runs show`"]
    manifest = one.run.manifest
    cost, unpriced = one.run.cost()
    source = source_of(manifest)
    unknown = unpriced or source == OWN
    known = f"{cost:.2f}{'+' * bool(unknown)}" if not unknown or cost else "?"
    marks = ["playing"] * one.writing + ["partial"] * (one.partial and not one.writing)
    trials = sorted({*manifest["planned"].values()})
    return [
        one.path.stem,
        names.get(manifest["run_id"], manifest["model"]),
        KINDS[panel_of(manifest["model"], source)],
        f"{len(manifest['planned'])}{' hard' * is_hard(manifest)}",
        "-".join(str(n) for n in dict.fromkeys((trials[0], trials[-1]))),
        f"{one.finished}/{one.planned}",
        "-" if is_played(source) and not cost else known,
        _age(one),
        ", ".join(marks),
    ]


def _age(one: ListedRun) -> str:
    from datetime import UTC, datetime

    if one.last is None:
        return ""
    minutes = (datetime.now(UTC) - one.last).total_seconds() / 60
    unit, length = ("d", 1440) if minutes >= 1440 else ("h", 60) if minutes >= 60 else ("min", 1)
    return f"{max(minutes, 0) / length:.0f} {unit}"


def _show(one: ListedRun) -> None:
    from ..experiment.summary import summary
    from ..records import source_of
    from ..runfile import addresses, without_line_ends
    from ..scoring.written import counted

    if one.run is None:
        raise BadInput(one.problem)
    manifest = one.run.manifest
    print(f"{one.path}")
    for line in summary(one.run):
        print(f"  {without_line_ends(line)}")
    given = {name: part["value"] for name, part in manifest["inputs"].items()}
    inputs = [f"{name} {value}" for name, value in given.items() if value not in (None, [], {})]
    print(f"  run_id {manifest['run_id']}, {source_of(manifest)}; {counted(len(manifest['sessions']), 'session')}")
    print("  " + without_line_ends("; ".join(inputs)))
    for side, urls in addresses(manifest).items():
        print(without_line_ends(f"  the {side}'s model at {', '.join(urls)}"))
    if one.writing:
        print(f"  being played now: {command('watch', one.path)}")
    elif one.partial:
        print("  partial: rerun the same command to resume it")
