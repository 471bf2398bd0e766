"""What every part of the attack shares.

A figure with its goal, a limit on CPU time, and a command that is always ended.
"""

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND_S = 40.0
"""Seconds after which a command that should have ended long ago is killed."""
LAST_WORDS_S = 3.0


@dataclass(frozen=True)
class Figure:
    """One line of the table.

    Attributes
    ----------
    what : str
        What was counted or measured.
    value, goal : str
        Today's value and what it should be, as they are printed.
    passed : bool
        Whether the goal is met.
    """

    what: str
    value: str
    goal: str
    passed: bool


def count(what: str, found: int, of: int | None = None, note: str = "") -> Figure:
    """Return a count whose goal is 0."""
    shown = f"{found:,}" if of is None else f"{found:,} of {of:,}"
    return Figure(what, f"{shown} ({note})" if note and found else shown, "0", found == 0)


def at_most(what: str, value: float, goal: float, unit: str, cut: bool = False) -> Figure:
    """Return a measurement with an upper bound; `cut` marks one that was ended before it was complete."""
    return Figure(what, f"{'over ' if cut else ''}{value:.3g} {unit}", f"<= {goal:g} {unit}", value <= goal and not cut)


def yes(what: str, held: bool, otherwise: str = "no") -> Figure:
    """Return a statement that has to hold; `otherwise` says what was found if it does not."""
    return Figure(what, "yes" if held else otherwise, "yes", held)


class OutOfTime(BaseException):
    """A measurement took more CPU time than it was given; no library catches this exception on the way."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """End the block with `OutOfTime` after this much CPU time of the process (main thread only).

    CPU time counts, not elapsed time, because another process on the machine must not decide what is slow.
    """

    def end(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(
        signal.ITIMER_PROF, seconds, 0.5
    )  # again and again: a handler may run where exceptions are swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def cpu_seconds(action: Callable[[], object], limit: float) -> tuple[float, bool]:
    """Return the CPU time of a call in seconds, and whether it was cut at the limit."""
    started = time.process_time()
    try:
        with limited(limit):
            action()
    except OutOfTime:
        return time.process_time() - started, True
    return time.process_time() - started, False


@dataclass(frozen=True)
class Ended:
    """How a command ended.

    It holds the exit code (None if the command had to be killed), everything it printed, and how long it took.
    """

    code: int | None
    said: str
    seconds: float

    @property
    def traceback(self) -> bool:
        """Return whether it printed a traceback."""
        return "Traceback (most recent call last)" in self.said


def environment(**more: str) -> dict[str, str]:
    """Return a command's environment: this project can be imported, and there is no key or address of the user's own."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"} | more


def start(arguments: list[str], folder: Path, memory_mb: int = 0, **more: str) -> subprocess.Popen[str]:
    """Start ``deskbench ARGUMENTS`` in a folder; merge its output and error output.

    It stays in the process group of its part, which is ended as a whole.
    """

    def limit() -> None:
        if memory_mb:
            resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))

    return subprocess.Popen(
        [sys.executable, "-m", "benchmark_lib", *arguments],
        cwd=folder,
        env=environment(**more),
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=limit,
    )


def finish(process: subprocess.Popen[str], seconds: float = COMMAND_S, since: float | None = None) -> Ended:
    """Wait for a command for at most `seconds`, then kill it."""
    began = time.monotonic() if since is None else since
    try:
        said, _ = process.communicate(timeout=seconds)
        return Ended(process.returncode, said, time.monotonic() - began)
    except subprocess.TimeoutExpired:
        process.kill()
    try:
        said, _ = process.communicate(timeout=LAST_WORDS_S)
    except subprocess.TimeoutExpired as late:  # a process that it started keeps its output open
        said = (late.output or b"").decode(errors="replace")
    return Ended(None, said, time.monotonic() - began)


def deskbench(arguments: list[str], folder: Path, seconds: float = COMMAND_S, memory_mb: int = 0, **more: str) -> Ended:
    """Run ``deskbench ARGUMENTS`` until it ends or its time is over."""
    return finish(start(arguments, folder, memory_mb, **more), seconds)
