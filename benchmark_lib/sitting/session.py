"""A sitting: a run whose agent or customer is a person, or a program over the port, in place of a model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
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
    other, base_url : str, optional
        Who has the other side, and where: the customer's model, the scripted customer by default, or the agent, the
        scripted oracle by default.
    options : dict
        Further options of the run, as `benchmark_lib.experiment.Options` has them.
    """

    chair: str = "agent"
    chairs: int = 1
    name: str = "human"
    source: str = "human"
    shuffle: int = 0
    other: str | None = None
    base_url: str | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what cannot be played.

        Raises
        ------
        BadInput
            For a chair that is not there, a number of chairs, a name or a source that cannot be used.
        """
        if not isinstance(self.chairs, int) or not 1 <= self.chairs <= MOST_CHAIRS:
            raise BadInput(f"there can be 1 to {MOST_CHAIRS} chairs, not {self.chairs}: change --chairs")
        if self.name.startswith("scripted"):
            raise BadInput(f"{self.name!r} is the name of a scripted player: give --name another one")
        Players(self.chair, Chairs(self.chairs, self.chair), self.source, self.shuffle).check()

    def seated(self) -> tuple[Chairs, Experiment]:
        """The chairs, and the run that is played from them.

        Raises
        ------
        BadInput
            As `check`.
        """
        self.check()
        chairs = Chairs(self.chairs, self.chair)
        players = Players(self.chair, chairs, self.source, self.shuffle)
        sides = {
            "agent": {"model": self.name, "customer": self.other or "scripted", "customer_base_url": self.base_url},
            "customer": {"model": self.other or "scripted:oracle", "base_url": self.base_url, "customer": self.name},
        }
        options = {**self.options, **sides[self.chair], "concurrency": self.chairs, "progress": False}
        return chairs, Experiment(**options, players=players)


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
