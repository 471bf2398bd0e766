"""What stands at the end of a run: the board in the terminal, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import yaml

from ..cases.operator_rules import rules_played
from ..commands import command
from ..runfile import SUFFIX, is_hidden

if TYPE_CHECKING:
    from ..runfile import RunFile

MOST_ROWS = 12
"""Runs on the board in the terminal: that which ended and the newest beside it."""


def say_what_next(run: RunFile) -> None:
    """Print the board of the runs beside this one, and three lines on what to do with it."""
    from ..analysis.copies import without_copies
    from ..analysis.entries import entry_names
    from ..reports.terminal import terminal_board

    beside = sorted(run.path.parent.glob(f"*{SUFFIX}"), key=lambda path: -path.stat().st_mtime)
    every = without_copies(_readable([run.path, *(path for path in beside if not is_hidden(path))]), keep=run.run_id)
    print(terminal_board(every[:MOST_ROWS], mine=run.run_id))
    name = entry_names(one.manifest for one in every)[run.run_id]
    for line in next_steps(run, name):
        print(line)


def next_steps(run: RunFile, entry: str) -> Sequence[str]:
    """Three commands that go on from a finished run; a fourth where it was told an operator's rules."""
    path = _short(run.path)
    here = run.path.parent
    runs = [] if (here.name, here.parent.name) == ("runs", "data") else ["-p", f"runs={orjson.dumps([path]).decode()}"]
    return (
        "next:",
        f"  a report on this run: {command('notebook', '20_model_report', '-p', f'entry={_as_yaml(entry)}', *runs)}",
        f"  its conversations: {command('watch', path, '--page')}",
        *(
            [f"  how it keeps its rules: {command('notebook', '22_operator_rules', *runs)}"]
            if rules_played(run.manifest)
            else []
        ),
        f"  every run in data/runs as pages to share: {command('site')}",
    )


def _as_yaml(text: str) -> str:
    """A text as YAML reads it: as it is, or in quotes where YAML would read something else."""
    try:
        same = yaml.safe_load(text) == text
    except yaml.YAMLError:
        same = False
    return text if same else orjson.dumps(text).decode()


def _short(path: Path) -> str:
    """A path as seen from the current folder, if it is below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _readable(paths: Sequence[Path]) -> list[RunFile]:
    """The runs at these paths, each once; one that cannot be read is left to the commands that were asked for it."""
    from ..errors import BadInput
    from ..runfile import RunFile

    found: dict[str, RunFile] = {}
    for path in paths:
        try:
            run = RunFile(path)
            found.setdefault(run.run_id, run)
        except BadInput:
            continue
    return list(found.values())
