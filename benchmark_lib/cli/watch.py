"""``deskbench watch``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BadInput
from .codes import FINISHED

if TYPE_CHECKING:
    from ..reports.watching import Look

NEWEST = 12
"""Maximum number of conversations listed in the terminal."""
CLEAR = "\x1b[H\x1b[2J"
EVERY_S = 2.0
"""Seconds between updates."""
ARGUMENTS = {
    "RUN?": "a run file, or the name of one in data/runs (default: the most recent)",
    "--page": "also write a page that reloads itself, with every finished conversation",
    "--once": "show the state once and exit",
}


def execute(options: argparse.Namespace) -> int:
    """Print the state of a run repeatedly until no process is writing it."""
    from ..experiment.summary import list_runs, runs_folder
    from ..experiment.writer import RunLock
    from ..project import project_folder, slug
    from ..reports.watching import WatchPage, look
    from ..runfile import RunFile
    from .runs import run_named

    readable = (listed.path for listed in list_runs() if listed.run is not None)
    path = run_named(options.run) if options.run else next(readable, None)
    if path is None:
        raise BadInput(f"there is no run to watch in {runs_folder()}: start one with `deskbench run MODEL`")
    run = RunFile(path)
    page = WatchPage(run, project_folder() / "reports" / "watch" / slug(path.stem)) if options.page else None
    if page is not None:
        print(f"page: {page.index.resolve()}", flush=True)
    while True:
        going_on = RunLock(path).taken  # checked first, so that rows written before the end are shown below
        seen = look(run)
        if page is not None:
            page.write(seen, EVERY_S, going_on)
        _show(seen, page.index if page else None, going_on)
        if options.once or not going_on:
            return FINISHED
        time.sleep(EVERY_S)


def _show(seen: Look, page: Path | None, going_on: bool) -> None:
    from ..analysis.panels import fitted
    from ..reports.terminal import columns, screen_width

    screen, width = sys.stdout.isatty(), screen_width()
    lines = seen.sentences()
    if screen or not going_on:
        newest = [
            [f"{one.case_id}, trial {one.trial}", one.words, one.ended_by.replace("_", " "), one.finished_at[11:19]]
            for one in seen.finished[: -NEWEST - 1 : -1]
        ]
        lines += ["", *columns(newest, width=width)] if newest else []
    if not going_on and not seen.over:
        lines.append("nothing is playing this run now: rerun the same command to resume it")
    if screen and page is not None:
        lines.append(f"page: {page.resolve()}")
    printable = ["".join(c if c.isprintable() else "?" for c in line) for line in lines]
    if screen:
        sys.stdout.flush()
        os.write(sys.stdout.fileno(), CLEAR.encode())  # not through the stream, which replaces control characters
    print("\n".join(fitted(line, width) if width else line for line in printable), flush=True)
