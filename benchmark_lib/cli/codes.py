"""Exit codes: what a script can act on, and sentences for who looks on. They stand here and nowhere else."""

import sys

FINISHED = 0
UNSOUND = 1
"""``audit`` found problems in the cases."""
REFUSED = 2
RESUMABLE = 3
CRASHED = 70
"""A fault of Deskbench itself; by convention the code of an internal error."""
SIGNAL = 128
"""Ended by a signal, whose number is added."""
INTERRUPTED = SIGNAL + 2
READER_GONE = SIGNAL + 13
"""Whoever read the output has closed it, as ``head`` does; by convention the code of SIGPIPE."""


def note(text: str) -> None:
    """Tell a person, on the standard error, what is no part of the output."""
    print(f"deskbench: {text}", file=sys.stderr, flush=True)


EXPLAINED = "exit codes: 0 finished; 1 the audit found problems; 2 the input was refused; 70 a fault of Deskbench; 3 stopped, 130 or 143 interrupted: the same command goes on"
