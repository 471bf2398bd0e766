"""Commands as they are told: whoever copies one from a message can paste it into a shell."""

from __future__ import annotations

import shlex


def command(*words: object) -> str:
    """A command of Deskbench with its arguments, each quoted where a shell (sh, bash, zsh) would read it as something else."""
    return shlex.join(["deskbench", *map(str, words)])
