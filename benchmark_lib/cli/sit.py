"""``deskbench sit``."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING

from ..errors import BadInput
from .codes import FINISHED, RESUMABLE, SIGNAL
from .signals import heard_signals

if TYPE_CHECKING:
    from ..experiment import Experiment
    from ..runfile import RunFile
    from ..sitting.chairs import Chairs

GO_ON = "give the same command again to go on"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench sit``."""
    add = parser.add_argument
    add("--chair", default="agent", metavar="SIDE", help="which chair you take: agent (default) or customer")
    add("--port", type=int, metavar="N", help="let programs play over HTTP on this port of 127.0.0.1 (0: any free one)")
    add("--chairs", type=int, default=1, metavar="N", help="how many players play at once over the port (default: 1)")
    add("--name", default="human", metavar="NAME", help="the player's name in tables (default: human)")
    add(
        "--source",
        default="human",
        metavar="WORDS",
        help="who played, as the run file says it, such as human:anna or 'blind play' (default: human)",
    )
    add("--other", metavar="MODEL", help="who has the other side: a model, or a scripted agent (default: scripted)")
    add("--base-url", metavar="URL", help="base URL of the other side's OpenAI-compatible endpoint (default: OpenAI)")
    add("--settings", metavar="FILE", help="YAML file with model settings by role")
    add("--store", default="northline", metavar="DIR", help="name or folder of a store (default: northline)")
    add("--prompt", metavar="FILE", help="a system prompt for the agent to use instead of the store's")
    add("--rules", metavar="RULES", help="operator rules added to the agent's prompt, as for `deskbench run`")
    add("--tools", metavar="MODULE:NAME", help="your own tools, in addition to the store's")
    add(
        "--cases",
        default="all",
        metavar="PATTERN",
        help="case ids, intents, buckets or failure kinds, separated by commas; * and ? are wildcards; hard for the hard set, hard:NAME for a part of it; `deskbench cases` lists the names",
    )
    add("--shuffle", type=int, default=0, metavar="SEED", help="another order of the cases (default: 0)")
    add("--trials", type=int, default=1, help="trials per case (default: 1)")
    add("--messages", type=int, default=8, help="maximum number of customer messages per conversation (default: 8)")
    add("--seed", type=int, default=0, help="random seed (default: 0)")
    add("--out", metavar="FILE", help="the run file (default: in data/runs, named after the options)")
    add("--replay", action="store_true", help="play what is on file again, without players, and compare every record")


def execute(options: argparse.Namespace) -> int:
    """Seat the players, and play until everything is played or the sitting is stopped."""
    from ..experiment.writer import CannotSave

    if options.port is None and options.chairs != 1:
        raise BadInput("there is one chair in a terminal: leave --chairs out, or give --port a number")
    seen: list[int] = []
    try:
        return asyncio.run(_sit(options, seen))
    except CannotSave as error:
        print(f"deskbench: {error}: make room, then {GO_ON}", file=sys.stderr)
        return RESUMABLE
    except asyncio.CancelledError:
        if not seen:
            raise
        return SIGNAL + seen[0]


async def _sit(options: argparse.Namespace, seen: list[int]) -> int:
    from ..sitting.session import seated

    chairs, experiment = seated(**{k: v for k, v in vars(options).items() if k not in ("command", "execute", "port")})
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def on_signal(number: int, name: str) -> None:
        seen.append(number)
        if experiment.running:
            loop.call_soon_threadsafe(experiment.stop, f"interrupted by {name}: {GO_ON}", 0.0)
        elif task is not None:
            loop.call_soon_threadsafe(task.cancel)

    with heard_signals(on_signal):
        if options.replay:
            run = await experiment.run()
            print(f"{experiment.replayed} conversations of {run.path} played again, each came out byte for byte")
        elif options.port is None:
            from ..sitting.terminal import in_terminal

            _tell(await in_terminal(chairs, experiment), experiment)
        else:
            await _over_port(chairs, experiment, options.port)
    return SIGNAL + seen[0] if seen else FINISHED if experiment.stopped is None else RESUMABLE


async def _over_port(chairs: Chairs, experiment: Experiment, port: int) -> None:
    from ..sitting.port import serving
    from ..sitting.session import goodbyes, play

    async with serving(chairs, port) as address:
        many = f"{chairs.count} chairs" if chairs.count > 1 else "one chair"
        print(f"{many} at {address}; how to play: curl -s {address}/", flush=True)
        _tell(await play(chairs, experiment), experiment)
        if experiment.stopped is None:
            await goodbyes(chairs)


def _tell(run: RunFile, experiment: Experiment) -> None:
    """How far the sitting has come, without a word of how well."""
    finished, planned = run.counts()["finished"], sum(run.manifest["planned"].values())
    print(f"{finished} of {planned} conversations finished; run file: {run.path}", flush=True)
    if experiment.stopped is not None:
        print(f"deskbench: what is finished is saved; {experiment.stopped.sentence}", file=sys.stderr)
