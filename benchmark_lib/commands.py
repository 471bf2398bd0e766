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
    """Return a command quoted for a shell (sh, bash, zsh), named as this process was called."""
    return shlex.join([_name(), *map(str, words)])


def command_on_a_page(*words: object) -> str:
    """Return a command for a page that other people read, without a path of this machine."""
    return shlex.join([PROGRAM, *map(str, words)])


@cache
def _name() -> str:
    """Return the name on the path or, if that is missing or another program, this one's path."""
    started = Path(sys.argv[0])
    on_path = shutil.which(PROGRAM)
    if started.name != PROGRAM or (on_path and os.path.samefile(on_path, started)):
        return PROGRAM
    here = Path.cwd()
    started = started.resolve()
    return str(started.relative_to(here) if started.is_relative_to(here) else started)
