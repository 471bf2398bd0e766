"""Exit codes for scripts, and messages for people. No other module defines an exit code."""

import sys

FINISHED, UNSOUND, REFUSED, RESUMABLE = range(4)
"""``UNSOUND``: ``audit`` found problems in the cases, or a judge failed its probe."""
CRASHED = 70
"""A fault of Deskbench itself; by convention the code of an internal error."""
SIGNAL = 128
"""Ended by a signal, whose number is added."""
INTERRUPTED = SIGNAL + 2
READER_GONE = SIGNAL + 13
"""The reader of the output has closed it, as ``head`` does; by convention the code of SIGPIPE."""
EXPLAINED = (
    "exit codes: 0 finished; 1 the audit found problems, or a judge failed its probe; 2 the input was refused; 70 a "
    "fault in Deskbench; 3 stopped, 130 or 143 interrupted: rerun the same command to resume"
)


def note(text: str) -> None:
    """Print a message for a person on standard error."""
    print(f"deskbench: {text}", file=sys.stderr, flush=True)


def confirmed(question: str) -> bool:
    """Ask a question in a terminal and return whether the answer is yes."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
