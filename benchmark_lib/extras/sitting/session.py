"""A sitting: a run whose agent or customer is a person, or a program over the port, in place of a model."""

import asyncio
from typing import Any

from ...errors import BadInput
from ...experiment import Experiment
from ...experiment.players import Players
from ...runfile import RunFile
from .chairs import Chairs

PLAYED = "All conversations are finished."
STOPPED = "The sitting was stopped; everything you sent is kept, and it can go on later."
FAREWELL_S = 60.0
"""How long a port waits, in seconds, for players that have not heard yet that nothing more will come."""
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
    """The chairs, and the run that is played from them.

    Parameters
    ----------
    chair : str
        ``agent`` or ``customer``.
    chairs : int
        How many players play at once.
    name : str
        What the player is called in tables, in the place of a model's name.
    source : str
        Who played, as the run file says it.
    other, base_url : str, optional
        Who has the other side, and where: the customer's model, by default the scripted customer, or the agent, by
        default the scripted oracle.
    shuffle : int
        Seeds the order of the cases.
    **options
        Further options of the run, see `benchmark_lib.experiment.options.Options`.

    Raises `BadInput` for a chair that is not there, a number of chairs, a name or a source that cannot be used.
    """
    if not isinstance(chairs, int) or not 1 <= chairs <= MOST_CHAIRS:
        raise BadInput(f"there can be 1 to {MOST_CHAIRS} chairs, not {chairs}: change --chairs")
    if name.startswith("scripted"):
        raise BadInput(f"{name!r} is the name of a scripted player: give --name another one")
    places = Chairs(chairs, chair)
    players = Players(chair, places, source, shuffle)
    if chair == "agent":
        sides: dict[str, Any] = {"model": name, "customer": other or "scripted", "customer_base_url": base_url}
    else:
        sides = {"model": other or "scripted:oracle", "base_url": base_url, "customer": name}
    return places, Experiment(**options, **sides, players=players, concurrency=chairs, progress=False)


async def play(chairs: Chairs, experiment: Experiment) -> RunFile:
    """Play a sitting to its end and tell the players so, whatever the end is."""
    reason = STOPPED
    try:
        run = await experiment.run()
        if experiment.stopped is None:
            reason = PLAYED
        return run
    finally:
        chairs.close(reason)


async def goodbyes(chairs: Chairs) -> None:
    """Wait until every player who took part has heard that nothing more will come, or for `FAREWELL_S` seconds."""
    until = asyncio.get_running_loop().time() + FAREWELL_S
    while not chairs.everyone_knows and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(0.2)
