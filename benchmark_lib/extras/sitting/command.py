"""``deskbench sit``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ...cli.codes import FINISHED, RESUMABLE, note
from ...cli.options import PATTERN, RUN_FILE, SETTINGS, STORE, TOOLS
from ...cli.play import run_to_signal, stopped_by_signals
from ...errors import BadInput

if TYPE_CHECKING:
    from ...experiment import Experiment
    from ...runfile import RunFile


ARGUMENTS = {
    "--chair SIDE": ("which chair you take: agent (default) or customer", "agent"),
    "--port N": ("let programs play over HTTP on this port of 127.0.0.1 (0: any free port)", int),
    "--chairs N": ("how many players play at once over the port (default: 1)", 1),
    "--name NAME": ("the player's name in tables (default: human)", "human"),
    "--source WORDS": (
        "who played, as recorded in the run file, such as human:anna or 'blind play' (default: human)",
        "human",
    ),
    "--other MODEL": "who plays the other side: a model or a scripted agent (default: scripted)",
    "--base-url URL": "base URL of the other side's OpenAI-compatible endpoint (default: OpenAI)",
    **SETTINGS,
    **STORE,
    "--prompt FILE": "a system prompt for the agent to use instead of the store's",
    "--rules RULES": "operator rules added to the agent's prompt, as for `deskbench run`",
    **TOOLS,
    "--cases PATTERN": (f"{PATTERN}`deskbench cases` lists the names", "all"),
    "--shuffle SEED": ("shuffle the cases with this seed (default: 0)", 0),
    "--trials N": ("trials per case (default: 1)", 1),
    "--messages N": ("maximum number of customer messages per conversation (default: 8)", 8),
    "--seed N": ("random seed (default: 0)", 0),
    **RUN_FILE,
    "--replay": "replay the run file without players, and compare every record",
}


def execute(options: argparse.Namespace) -> int:
    """Play in the terminal or over the port until all conversations are finished."""
    if options.port is None and options.chairs != 1:
        raise BadInput("a terminal has one chair: omit --chairs, or choose a --port")
    return run_to_signal(lambda seen: _sit(options, seen))


async def _sit(options: argparse.Namespace, seen: list[int]) -> int:
    from .session import goodbyes, play, seated

    chairs, experiment = seated(**{k: v for k, v in vars(options).items() if k not in ("command", "execute", "port")})
    with stopped_by_signals(experiment, seen, {}):
        if options.replay:
            run = await experiment.run()
            many = f"{experiment.replayed} conversation{'s' * (experiment.replayed != 1)}"
            print(f"{many} of {run.path} replayed, each identical byte for byte")
        elif options.port is None:
            from .terminal import in_terminal

            _tell(await in_terminal(chairs, experiment), experiment)
        else:
            from .port import serving

            async with serving(chairs, options.port) as address:
                many = f"{chairs.count} chairs" if chairs.count > 1 else "one chair"
                print(f"{many} at {address}; how to play: curl -s {address}/", flush=True)
                _tell(await play(chairs, experiment), experiment)
                if experiment.stopped is None:
                    await goodbyes(chairs)
    return FINISHED if experiment.stopped is None else RESUMABLE


def _tell(run: RunFile, experiment: Experiment) -> None:
    finished, planned = run.counts()["finished"], sum(run.manifest["planned"].values())
    print(f"{finished} of {planned} conversations finished; run file: {run.path}", flush=True)
    if experiment.stopped is not None:
        note(f"everything finished is saved; {experiment.stopped.sentence}")
