"""Commands as they are told: whoever copies one from a message can paste it into a shell."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

PROGRAM = "deskbench"


def command(*words: object) -> str:
    """Return a command of Deskbench with its arguments, quoted for a shell (sh, bash, zsh) and named as this one was called."""
    return shlex.join([_name(), *map(str, words)])


@cache
def _name() -> str:
    """Return the name on the path, or where that is another program or none, the way by which this process was started."""
    started = Path(sys.argv[0])
    on_path = shutil.which(PROGRAM)
    if started.name != PROGRAM or (on_path and os.path.samefile(on_path, started)):
        return PROGRAM
    here = Path.cwd()
    started = started.resolve()
    return str(started.relative_to(here) if started.is_relative_to(here) else started)
