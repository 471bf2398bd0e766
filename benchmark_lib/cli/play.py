"""Experiments played one after another, each to its end or to a signal, and how each ended."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..experiment.forecast import forecast_against_real
from ..experiment.summary import summary
from .codes import FINISHED, RESUMABLE, SIGNAL, note
from .ending import say_what_next
from .signals import run_to_signal, stopped_by_signals

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
    runs: list[RunFile] = []

    async def work(seen: list[int]) -> int:
        with stopped_by_signals(experiment, seen, GRACE_S):
            runs.append(await experiment.run())
        seen[:] = seen if experiment.stopped is not None else []
        return FINISHED if experiment.stopped is None else RESUMABLE

    return run_to_signal(work), runs[0] if runs else None


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
