"""Experiments played one after another, each to its end or to a signal, and how each ended."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..experiment.forecast import forecast_against_real
from ..experiment.summary import summary
from ..experiment.writer import CannotSave
from .codes import FINISHED, RESUMABLE, SIGNAL, note
from .ending import say_what_next
from .signals import heard_signals

if TYPE_CHECKING:
    from ..experiment import Experiment
    from ..runfile import RunFile

GRACE_S = {"SIGINT": 60.0, "SIGTERM": 8.0}
"""How long calls in flight, which are paid for, are waited for.

Who sends SIGTERM often sends SIGKILL ten seconds later.
"""


def play(experiments: Iterable[Experiment], *, brief: bool = False) -> int:
    """Play experiments until one is ended by a signal; returns the highest exit code.

    Where it is to be `brief`, a scripted agent has one line, those that were finished before are counted in one, and the
    page of the leaderboard follows.
    """
    code, done, before, made = FINISHED, None, 0, False
    for experiment in experiments:
        short = brief and not experiment.calls_models
        experiment.progress = experiment.progress and not short
        code_of_this, run = _play(experiment)
        if run is not None:
            if short and experiment.nothing_to_play:
                before += 1
            elif short and code_of_this == FINISHED:
                print(_in_a_line(run), flush=True)
            else:
                _tell(experiment, run)
        code, done = max(code, code_of_this), None if experiment.replay else run
        made = not (short or experiment.nothing_to_play)
        if code >= SIGNAL:
            break
    if before:
        print(f"finished before: {before} run{'s' * (before > 1)} of scripted agents (`deskbench runs` lists them)")
    if code == FINISHED and done is not None:
        say_what_next(done, page_follows=brief, made=made)
    return code


def _play(experiment: Experiment) -> tuple[int, RunFile | None]:
    """Play one experiment to its end; returns its exit code, and the run file if it came that far."""
    seen: list[int] = []
    try:
        run = asyncio.run(_with_signals(experiment, seen))
    except CannotSave as error:
        note(f"{error}: make room, then give the same command again to go on")
        return RESUMABLE, None
    if run is not None and experiment.stopped is None:
        return FINISHED, run
    return SIGNAL + seen[0] if seen else RESUMABLE, run


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
            told = f"stopping: calls in flight are waited for, {grace_s:g} s at most; once more to stop at once"
            print(told, file=sys.stderr)
        why = f"interrupted by {name}: give the same command again to go on"
        loop.call_soon_threadsafe(experiment.stop, why, grace_s)

    with heard_signals(on_signal):
        try:
            return await experiment.run()
        except asyncio.CancelledError:
            if not seen:
                raise
            return None


def _in_a_line(run: RunFile) -> str:
    """How a scripted agent fared; what went wrong in conversations of its follows."""
    finished, _, *wrong, _ = summary(run)
    return "; ".join([finished, *wrong])


def _tell(experiment: Experiment, run: RunFile) -> None:
    if experiment.replay:
        print(
            f"{experiment.replayed} conversation{'s' * (experiment.replayed != 1)} played again, each came out byte for byte"
        )
    for line in summary(run):
        print(line)
    if experiment.foreseen is not None:
        for line in forecast_against_real(run):
            print(line)
    print(f"run file: {run.path}", flush=True)
    if experiment.stopped:
        note(f"what is finished is saved; {experiment.stopped.sentence}")
