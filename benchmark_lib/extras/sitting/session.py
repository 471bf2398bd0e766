"""A session of ``deskbench sit``: a run with a person or a program on one side."""

import asyncio
from typing import Any

from ...errors import BadInput
from ...experiment import Experiment
from ...experiment.players import Players
from ...runfile import RunFile
from .chairs import Chairs

PLAYED = "All conversations are finished."
STOPPED = "The sitting was stopped; everything you sent is saved, and you can resume it later."
FAREWELL_S = 60.0
"""Seconds for which a port waits for players that do not yet know of the end."""
MOST_CHAIRS = 100


def seated(
    chair: str = "agent",
    chairs: int = 1,
    *,
    name: str = "human",
    source: str = "human",
    other: str | None = None,
    base_url: str | None = None,
    shuffle: int = 0,
    **options: Any,
) -> tuple[Chairs, Experiment]:
    """Return the chairs, and the run that uses them.

    Parameters
    ----------
    chair : str
        ``agent`` or ``customer``.
    chairs : int
        Number of concurrent players.
    name : str
        The player's name in tables, in place of a model's name.
    source : str
        The source to record in the run file.
    other, base_url : str, optional
        The other side and its address: the customer's model (default: the scripted customer) or the agent (default:
        the scripted oracle).
    shuffle : int
        Seed for the order of the cases.
    **options
        Further options of the run, see `benchmark_lib.experiment.options.Options`.

    Raise `BadInput` for an invalid chair, number of chairs, name or source.
    """
    if not isinstance(chairs, int) or not 1 <= chairs <= MOST_CHAIRS:
        raise BadInput(f"there can be 1 to {MOST_CHAIRS} chairs, not {chairs}: change --chairs")
    if name.startswith("scripted"):
        raise BadInput(f"{name!r} is the name of a scripted player: choose another --name")
    places = Chairs(chairs, chair)
    players = Players(chair, places, source, shuffle)
    if chair == "agent":
        sides: dict[str, Any] = {"model": name, "customer": other or "scripted", "customer_base_url": base_url}
    else:
        sides = {"model": other or "scripted:oracle", "base_url": base_url, "customer": name}
    return places, Experiment(**options, **sides, players=players, concurrency=chairs, progress=False)


async def play(chairs: Chairs, experiment: Experiment) -> RunFile:
    """Play a session to its end; whether it succeeds or fails, inform the players."""
    reason = STOPPED
    try:
        run = await experiment.run()
        if experiment.stopped is None:
            reason = PLAYED
        return run
    finally:
        chairs.close(reason)


async def goodbyes(chairs: Chairs) -> None:
    """Wait up to `FAREWELL_S` seconds until every participating player knows of the end."""
    until = asyncio.get_running_loop().time() + FAREWELL_S
    while not chairs.everyone_knows and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(0.2)
