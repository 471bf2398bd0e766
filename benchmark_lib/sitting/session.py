"""A sitting: a run whose agent or customer is a person, or a program over the port, in place of a model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from ..errors import BadInput
from ..experiment import Experiment
from ..experiment.players import Players
from ..runfile import RunFile
from .chairs import Chairs

PLAYED = "All conversations are finished."
STOPPED = "The sitting was stopped; everything you sent is kept, and it can go on later."
FAREWELL_S = 60.0
"""How long a port waits, in seconds, for players that have not heard yet that nothing more will come."""
MOST_CHAIRS = 100


@dataclass
class Sitting:
    """What is played, and from which chairs.

    Parameters
    ----------
    chair : str
        ``agent`` or ``customer``.
    chairs : int
        How many players play at once.
    name : str
        What the player is called in tables, in the place of a model's name.
    source : str
        What the run file says of where its conversations come from.
    shuffle : int
        Seeds the order of the cases.
    experiment : dict
        Further options of the run, as `benchmark_lib.experiment.Options` has them. In the customer's chair its
        `model` is the agent.
    """

    chair: str = "agent"
    chairs: int = 1
    name: str = "human"
    source: str = "human"
    shuffle: int = 0
    experiment: dict[str, Any] | None = None

    def seated(self) -> tuple[Chairs, Experiment]:
        """The chairs, and the run that is played from them; call it where an event loop runs.

        Raises
        ------
        BadInput
            For a chair that is not there, a number of chairs, a name or a source that will not do.
        """
        if not isinstance(self.chairs, int) or not 1 <= self.chairs <= MOST_CHAIRS:
            raise BadInput(f"there can be 1 to {MOST_CHAIRS} chairs, not {self.chairs}: change --chairs")
        if self.name.startswith("scripted"):
            raise BadInput(f"{self.name!r} is the name of a scripted player: give --name another one")
        chairs = Chairs(self.chairs, self.chair)
        players = Players(self.chair, chairs, self.source, self.shuffle)
        options = {**(self.experiment or {}), "players": players, "concurrency": self.chairs, "progress": False}
        options["model" if self.chair == "agent" else "customer"] = self.name
        return chairs, Experiment(**options)


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
