"""The commands ``run``, ``score`` and ``recover``: arguments here, the work in the library."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import BadInput

ALL_SCRIPTED = "scripted:all"
INTERRUPTED = 128
TRACEBACKS_SHOWN = 3
GRACE_S = {"SIGINT": 60.0, "SIGTERM": 8.0}
"""How long calls in flight, which are paid for, are waited for; who sends SIGTERM often sends SIGKILL ten seconds later."""


def run(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench run``."""
    add = parser.add_argument
    add("model", metavar="MODEL", nargs="?", help="the endpoint's name of a model, or scripted:NAME, or scripted:all")
    add("--base-url", metavar="URL", help="an OpenAI-compatible endpoint (default: OpenAI's own)")
    add("--agent", metavar="MODULE:OBJECT", help="an agent of your own; MODEL is then only its label")
    add("--isolate", action="store_true", help="run the agent of your own in a process of its own, which sees only messages and tools")
    add("--customer", default="scripted", metavar="MODEL", help="scripted (default) or the name of a model")
    add("--customer-base-url", metavar="URL", help="the endpoint of the customer's model")
    add("--store", default="northline", metavar="DIR", help="a store by name or its folder (default: northline)")
    add("--prompt", metavar="FILE", help="a system prompt in place of the store's")
    add("--tools", metavar="MODULE:NAME", help="tools of your own beside the store's")
    add("--cases", default="all", metavar="PATTERN", help="ids, intents, buckets or failure kinds, parted by commas, with * and ?")
    add("--trials", type=int, default=3, help="trials a case (default: 3)")
    add("--messages", type=int, default=8, help="the most customer messages a conversation (default: 8)")
    add("--seed", type=int, default=0, help="seeds every random number (default: 0)")
    add("--settings", metavar="FILE", help="model settings by role, a YAML file")
    add("--concurrency", type=int, default=50, help="the most conversations at once (default: 50)")
    add("--timeout", type=float, metavar="S", help="seconds one attempt of a model call may take (default: 120)")
    add("--tool-timeout", type=float, metavar="S", help="seconds one call of a tool of your own may take (default: 30)")
    add("--budget-usd", type=float, metavar="X", help="stop before the run file has cost more than this")
    add("--out", metavar="FILE", help="the run file (default: one in data/runs, named after the options)")
    add("--replay", action="store_true", help="play a finished file again without an endpoint and compare every record")
    parser.set_defaults(execute=_run)


def score(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench score``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="run files")
    parser.add_argument("--store", default="northline", metavar="DIR", help="the store they were played on")
    parser.add_argument("--again", action="store_true", help="also score what has scores of this version")
    parser.set_defaults(execute=_score)


def recover(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench recover``."""
    parser.add_argument("file", metavar="FILE", help="the damaged run file; it is left as it is")
    parser.add_argument("--out", required=True, metavar="NEW", help="the file to write")
    parser.set_defaults(execute=_recover)


def _run(options: argparse.Namespace) -> int:
    from . import Experiment

    if options.model is None and options.agent is None:
        raise BadInput("no model is named: write `deskbench run MODEL`, where scripted:oracle needs no key")
    given = {k: v for k, v in vars(options).items() if k not in ("command", "execute")}
    experiment = Experiment(**given)
    if options.model != ALL_SCRIPTED:
        return _play(experiment)
    code = 0
    for one in _every_scripted(experiment):
        code = max(code, _play(one))
        if code >= INTERRUPTED:
            break
    return code


def _every_scripted(experiment: Any) -> list[Any]:
    """One experiment for each scripted agent; ``--out`` is then a folder."""
    from ..conversation import AGENTS
    from ..project import slug
    from ..runfile import SUFFIX

    if experiment.out is not None and Path(experiment.out).is_file():
        raise BadInput(f"{experiment.out} is a file, and {ALL_SCRIPTED} makes one file an agent: give --out a folder")
    found = []
    for name in AGENTS:
        model = f"scripted:{name}"
        out = None if experiment.out is None else Path(experiment.out) / f"{slug(model)}{SUFFIX}"
        found.append(replace(experiment, model=model, out=out))
    return found


def _play(experiment: Any) -> int:
    """Run one experiment to its end, or to a signal, and say how it ended."""
    import asyncio

    from .writer import CannotSave

    try:
        run = asyncio.run(_with_signals(experiment))
    except CannotSave as error:
        print(f"deskbench: {error}: make room, then give the same command again to go on", file=sys.stderr)
        return 3
    if isinstance(run, int):
        return INTERRUPTED + run
    _tell(experiment, run)
    return experiment.stopped.code if experiment.stopped else 0


async def _with_signals(experiment: Any) -> Any:
    """Run an experiment; Ctrl-C and SIGTERM end it in order, a second one at once. Returns the run, or the signal that came before it began."""
    import asyncio

    from .signals import heard_signals

    loop, task, seen = asyncio.get_running_loop(), asyncio.current_task(), []

    def on_signal(number: int, name: str) -> None:
        seen.append(number)
        grace_s = GRACE_S[name] if len(seen) == 1 else 0.0
        if not experiment.running:
            loop.call_soon_threadsafe(task.cancel)
            return
        if grace_s:
            print(f"stopping: calls in flight are waited for, {grace_s:g} s at most; once more to stop at once", file=sys.stderr)
        why = f"interrupted by {name}: give the same command again to go on"
        loop.call_soon_threadsafe(experiment.stop, INTERRUPTED + number, why, grace_s)

    with heard_signals(on_signal):
        try:
            return await experiment.run()
        except asyncio.CancelledError:
            if not seen:
                raise
            return seen[0]


def _tell(experiment: Any, run: Any) -> None:
    from .summary import summary

    if experiment.replay:
        print(f"{experiment.replayed} conversations played again, each came out byte for byte")
    for line in summary(run):
        print(line)
    print(f"run file: {run.path}", flush=True)
    if experiment.stopped:
        print(f"deskbench: what is finished is saved; {experiment.stopped.sentence}", file=sys.stderr)


def _score(options: argparse.Namespace) -> int:
    from ..runfile import RunFile
    from .rescore import rescore
    from .scoring import score_faults
    from .summary import summary
    from .writer import CannotSave

    code = 0
    for file in options.files:
        try:
            made, found = rescore(file, options.store, options.again)
        except CannotSave as error:
            print(f"deskbench: {error}: make room, then give the same command again", file=sys.stderr)
            return 3
        print(f"{file}: scored {made} of {found} conversations")
        for line in summary(RunFile(file)):
            print(f"  {line}")
        faults = [*score_faults(RunFile(file))]
        if faults:
            code = 3
            _tell_faults(file, faults)
    return code


def _tell_faults(file: str, faults: list[Any]) -> None:
    """Say which conversations could not be scored, and show one traceback of each kind."""
    shown = {f.traceback.splitlines()[-1] if f.traceback else "": f for f in reversed(faults)}
    for fault in [*shown.values()][:TRACEBACKS_SHOWN]:
        print(f"case {fault.case_id}, trial {fault.trial}:\n{fault.traceback or fault.reason}", file=sys.stderr)
    print(f"deskbench: {len(faults)} conversations of {file} cannot be scored, which is a fault of Deskbench: report it with the traceback "
          "above, and give the same command again after an update", file=sys.stderr)  # fmt: skip


def _recover(options: argparse.Namespace) -> int:
    from ..runfile.salvage import recover as copy

    copied = copy(options.file, options.out)
    print(f"{options.out} holds the {copied.rows['conversations']} conversations of {options.file} that are intact, with {copied.rows['scores']} scores "
          f"and {copied.rows['calls']} model calls")  # fmt: skip
    if copied.lost:
        print(f"at least {copied.lost} damaged rows were left out: `deskbench score` makes scores again, the same `deskbench run` plays what is missing")
    return 0
