"""Exit codes: what a script can act on, and sentences for who looks on. Nothing else defines one."""

import sys

FINISHED, UNSOUND, REFUSED, RESUMABLE = range(4)
"""``UNSOUND``: ``audit`` found problems in the cases."""
CRASHED = 70
"""A fault of Deskbench itself; by convention the code of an internal error."""
SIGNAL = 128
"""Ended by a signal, whose number is added."""
INTERRUPTED = SIGNAL + 2
READER_GONE = SIGNAL + 13
"""Whoever read the output has closed it, as ``head`` does; by convention the code of SIGPIPE."""
EXPLAINED = (
    "exit codes: 0 finished; 1 the audit found problems; 2 the input was refused; 70 a fault of Deskbench; 3 "
    "stopped, 130 or 143 interrupted: the same command goes on"
)


def note(text: str) -> None:
    """Tell a person, on the standard error, what is no part of the output."""
    print(f"deskbench: {text}", file=sys.stderr, flush=True)


def confirmed(question: str) -> bool:
    """Ask a person in a terminal, and return whether the answer was a yes."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
