"""Players of a run: people, or programs over a local port, who sit where a language model would be called."""

import asyncio
import random
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ..cases import Case
from ..endpoint import Completion
from ..errors import BadInput
from ..records import SOURCES, Conversation
from ..runfile import RunFile
from .recorder import RowSink, call_row

SIDES = ("agent", "customer")
LONGEST_SOURCE = 60


class Chairs(Protocol):
    """Where the players sit: whoever is in the chair answers what a model would be asked.

    `left` is how many conversations are still to be finished; None where nobody has said.
    """

    left: int | None

    async def complete(
        self, messages: list[Any], tools: Any, *, conversation: Hashable, chair: int | None = None
    ) -> Completion:
        """Wait for the answer of the player who has the conversation; `chair` is where it was played before."""

    def ended(self, conversation: Hashable, record: Conversation) -> None:
        """Take note that a conversation is over."""


@dataclass(frozen=True)
class Players:
    """Who sits in the chair of a side (``agent`` or ``customer``), and of which `source` the conversations then are.

    `shuffle` seeds the order of the cases; the order they are kept in would give away what kind of case comes next.
    """

    side: str
    chairs: Chairs
    source: str = "human"
    shuffle: int = 0

    def __post_init__(self) -> None:
        """Refuse a chair that is not there, and a source that says something else than who played."""
        if self.side not in SIDES:
            raise BadInput(f"there is no chair {self.side!r}: choose {' or '.join(SIDES)}")
        if self.source.casefold() in SOURCES:
            raise BadInput(f"the source {self.source!r} is not one that plays: say who does, such as human:anna")
        if not self.source.strip() or not self.source.isprintable() or len(self.source) > LONGEST_SOURCE:
            raise BadInput(
                f"the source {self.source[:LONGEST_SOURCE]!r} cannot be shown in a table: "
                f"say who plays in 1 to {LONGEST_SOURCE} printable characters, such as human:anna"
            )

    def shuffled(self, cases: list[Case]) -> list[Case]:
        """The cases in the order in which they are played."""
        return random.Random(self.shuffle).sample(cases, len(cases))


class PlayersLine:
    """The line to the players of one side: nobody waits for another's answer, and no price is known.

    The run says in which chair a conversation was begun, so that its player goes on with it.
    """

    def __init__(self, players: Players, run: RunFile, writer: RowSink):
        self.stopped = False
        self._players, self._writer, self._chair_of = players, writer, _chairs_of(run, players.side)

    async def call(
        self, key: tuple[str, int, int], request: bytes, messages: list[Any], tools: Any, body: dict[str, Any]
    ) -> Completion:
        """Return a player's answer when it is on disk; `asyncio.CancelledError` when the run is being stopped."""
        if self.stopped:
            raise asyncio.CancelledError("the run is being stopped")
        conversation = key[:2]
        completion = await self._players.chairs.complete(
            messages, tools, conversation=conversation, chair=self._chair_of.get(conversation)
        )
        row = call_row(self._players.side, self._players.source, key, request, completion, None)
        await self._writer.put("calls", row, urgent=True)
        return completion


def _chairs_of(run: RunFile, side: str) -> dict[tuple[str, int], int | None]:
    """The chair in which each conversation was last played, as its calls on file say."""
    return {
        (call["case_id"], call["trial"]): orjson.loads(call["response"]).get("raw", {}).get("chair")
        for call in run.calls(responses=True)
        if call["side"] == side
    }
