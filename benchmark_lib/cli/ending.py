"""What stands at the end of a run: the board in the terminal, and what to do next."""

from __future__ import annotations

import contextlib
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
    from ..reports.terminal import terminal_board

    beside = sorted(run.path.parent.glob(f"*{SUFFIX}"), key=lambda path: -path.stat().st_mtime)
    every = without_copies(_readable([run.path, *(path for path in beside if not is_hidden(path))]), keep=run.run_id)
    print(terminal_board(every[:MOST_ROWS], mine=run.run_id))
    for line in next_steps(run):
        print(line)


def next_steps(run: RunFile) -> Sequence[str]:
    """Three commands that go on from a finished run: each names its file, so that it stays true whatever is played later.

    A fourth where it was told an operator's rules.
    """
    from ..analysis.frames import is_hard

    path = _short(run.path)
    here, given = run.path.parent, [f"entry={_as_yaml(run.path.stem)}"]
    hard = is_hard(run.manifest)
    this, elsewhere = f"runs={orjson.dumps([path]).decode()}", (here.name, here.parent.name) != ("runs", "data")
    given += [this] if hard or elsewhere else []
    ruled = ("22_operator_rules", *(("-p", this) if elsewhere else ()))
    given += ["panel=null"] if hard else []  # beside the agents of the panel a run of the hard set is left out
    return (
        "next:",
        f"  a report on this run: {command('notebook', '20_model_report', *(word for one in given for word in ('-p', one)))}",
        f"  its conversations: {command('watch', path, '--page')}",
        *([f"  how it keeps its rules: {command('notebook', *ruled)}"] if rules_played(run.manifest) else []),
        f"  every run in data/runs as pages to share: {command('site')}",
    )


def _as_yaml(text: str) -> str:
    """A text as YAML reads it: as it is, or in quotes where YAML would read something else."""
    with contextlib.suppress(yaml.YAMLError):
        if yaml.safe_load(text) == text:
            return text
    return orjson.dumps(text).decode()


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
        with contextlib.suppress(BadInput):
            run = RunFile(path)
            found.setdefault(run.run_id, run)
    return list(found.values())
