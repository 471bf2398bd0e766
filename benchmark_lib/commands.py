"""Write commands so that readers of a message can paste them into a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

PROGRAM = "deskbench"


def command(*words: object) -> str:
    """Return a command for a shell (sh, bash, zsh) that calls this program as it was started."""
    return shlex.join([_name(), *map(str, words)])


def command_on_a_page(*words: object) -> str:
    """Return a command for a page that other people read, without any path on this machine."""
    return shlex.join([PROGRAM, *map(str, words)])


@cache
def _name() -> str:
    """Return the program's name, or its file if a shell would not find it by that name."""
    started = Path(sys.argv[0])
    on_path = shutil.which(PROGRAM)
    if started.name != PROGRAM or (on_path and os.path.samefile(on_path, started)):
        return PROGRAM
    return from_here(started.resolve())


def from_here(path: Path) -> str:
    """Return a path as a command names it: relative to the current folder if it is inside."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
