"""``python -m benchmarks.attack``: run every part of the attack in the time given, and print a table of figures and goals.

The exit code is 1 if a goal is not met. Every part runs in a process of its own that is ended when its time is over, so
a part that hangs or exhausts memory becomes a line of the table.
"""

import argparse
import contextlib
import json
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib import import_module

from .figure import ROOT, Figure, environment

PARTS = {
    "tools": 6,
    "agents": 10,
    "endpoint_says": 11,
    "addresses": 5,
    "growth": 8,
    "loop": 10,
    "command_line": 12,
    "files": 10,
    "scores": 15,
    "reading": 13,
}
"""Modules with a ``measure(seed, seconds)``, in order, and their shares of the time.

Time that one does not use goes to those after it.
"""
LEAST_S, BORROWED = 20.0, 0.35
"""Minimum seconds of a part, and the share of the remaining time after which it is ended, if that exceeds its own share."""
MEMORY_BYTES = 8 << 30


def main() -> int:
    """Run the attack, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="time for all of it (default: 600)")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(PARTS),
        metavar="NAME",
        help=f"one part, may be given again: {', '.join(PARTS)}",
    )
    parser.add_argument("--seed", type=int, default=12, help="makes the hostile material (default: 12)")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        _measure(options.measure, options.seed, options.seconds)
        return 0
    names, began, missed = options.only or list(PARTS), time.monotonic(), 0
    total = 0
    for place, name in enumerate(names):
        left = options.seconds - (time.monotonic() - began)
        seconds = max(LEAST_S, left * PARTS[name] / sum(PARTS[n] for n in names[place:]))
        print(f"\n{name.replace('_', ' ')}", flush=True)
        for figure in _part(name, options.seed, seconds, max(1.25 * seconds, BORROWED * left)):
            total, missed = total + 1, missed + (not figure.passed)
            print(
                f"  {'ok  ' if figure.passed else 'MISS'}  {figure.what}: {figure.value} (goal {figure.goal})",
                flush=True,
            )
    print(
        f"\n{total - missed} of {total} figures meet their goals; {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f} when it ended"
    )
    return 1 if missed else 0


def _part(name: str, seed: int, seconds: float, most_s: float) -> Iterator[Figure]:
    """Yield the figures of one part as they come, and one more if it failed or ran too long."""
    line = f"-m benchmarks.attack --measure {name} --seed {seed} --seconds {seconds}"
    process = subprocess.Popen(
        [sys.executable, *line.split()],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    told: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: [told.put(text) for text in (*process.stdout, "")], daemon=True).start()
    until = time.monotonic() + most_s
    try:
        while text := told.get(timeout=max(until - time.monotonic(), 0.1)):
            if text.startswith("{"):
                yield Figure(**json.loads(text))
        if process.wait():
            yield Figure("this part comes to its end", f"no (exit {process.returncode})", "yes", False)
    except queue.Empty:
        yield Figure("this part comes to its end", f"no, ended after {most_s:.0f} s", "yes", False)
    finally:
        _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    """End a part and everything that it started in its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _measure(name: str, seed: int, seconds: float) -> None:
    """Run one part for the parent process, and print its figures as JSON lines."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    for figure in import_module(f".{name}", __package__).measure(seed, seconds):
        print(json.dumps(asdict(figure)), flush=True)


if __name__ == "__main__":
    sys.exit(main())
