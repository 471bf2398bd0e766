"""Experiments played one after another, each to its end or to a signal, and how each ended."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..experiment.summary import summary
from ..experiment.writer import CannotSave
from .codes import FINISHED, RESUMABLE, SIGNAL
from .signals import heard_signals

if TYPE_CHECKING:
    from ..experiment import Experiment
    from ..runfile import RunFile

GRACE_S = {"SIGINT": 60.0, "SIGTERM": 8.0}
"""How long calls in flight, which are paid for, are waited for.

Who sends SIGTERM often sends SIGKILL ten seconds later.
"""


def play(experiments: Iterable[Experiment]) -> int:
    """Play experiments until one is ended by a signal; returns the highest exit code."""
    code = FINISHED
    for experiment in experiments:
        code = max(code, _play(experiment))
        if code >= SIGNAL:
            break
    return code


def _play(experiment: Experiment) -> int:
    seen: list[int] = []
    try:
        run = asyncio.run(_with_signals(experiment, seen))
    except CannotSave as error:
        print(f"deskbench: {error}: make room, then give the same command again to go on", file=sys.stderr)
        return RESUMABLE
    if run is not None:
        _tell(experiment, run)
        if experiment.stopped is None:
            return FINISHED
    return SIGNAL + seen[0] if seen else RESUMABLE


async def _with_signals(experiment: Experiment, seen: list[int]) -> RunFile | None:
    """Run an experiment; Ctrl-C and SIGTERM end it in order, a second one at once.

    The signals are added to `seen`. Returns None where one came before the run began.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def on_signal(number: int, name: str) -> None:
        seen.append(number)
        grace_s = GRACE_S[name] if len(seen) == 1 else 0.0
        if not experiment.running:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            return
        if grace_s:
            print(
                f"stopping: calls in flight are waited for, {grace_s:g} s at most; once more to stop at once",
                file=sys.stderr,
            )
        loop.call_soon_threadsafe(
            experiment.stop, f"interrupted by {name}: give the same command again to go on", grace_s
        )

    with heard_signals(on_signal):
        try:
            return await experiment.run()
        except asyncio.CancelledError:
            if not seen:
                raise
            return None


def _tell(experiment: Experiment, run: RunFile) -> None:
    if experiment.replay:
        print(f"{experiment.replayed} conversations played again, each came out byte for byte")
    for line in summary(run):
        print(line)
    print(f"run file: {run.path}", flush=True)
    if experiment.stopped:
        print(f"deskbench: what is finished is saved; {experiment.stopped.sentence}", file=sys.stderr)
