"""Players of a run: people, or programs on a local port, who answer in place of a language model."""

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
    """Interface to the players: the player in a chair answers each call that a model would get.

    `left` is the number of conversations still to finish; None if unknown.
    """

    left: int | None

    async def complete(
        self, messages: list[Any], tools: Any, *, conversation: Hashable, chair: int | None = None
    ) -> Completion:
        """Wait for the answer of the conversation's player; `chair` is the chair that played it before."""

    def ended(self, conversation: Hashable, record: Conversation) -> None:
        """Record that a conversation has ended."""


@dataclass(frozen=True)
class Players:
    """Players of one side (``agent`` or ``customer``) and the `source` that their conversations get.

    `shuffle` seeds the order of the cases: the order in the store would reveal which kind of case comes next.
    """

    side: str
    chairs: Chairs
    source: str = "human"
    shuffle: int = 0

    def __post_init__(self) -> None:
        """Refuse an unknown side, a reserved source, and a source that a table cannot show."""
        if self.side not in SIDES:
            raise BadInput(f"there is no chair {self.side!r}: choose {' or '.join(SIDES)}")
        if self.source.casefold() in SOURCES:
            raise BadInput(f"the source {self.source!r} is reserved: give the player's own, such as human:anna")
        if not self.source.strip() or not self.source.isprintable() or len(self.source) > LONGEST_SOURCE:
            raise BadInput(
                f"the source {self.source[:LONGEST_SOURCE]!r} cannot be shown in a table: "
                f"name the player in 1 to {LONGEST_SOURCE} printable characters, such as human:anna"
            )

    def shuffled(self, cases: list[Case]) -> list[Case]:
        """Return the cases in the order of play."""
        return random.Random(self.shuffle).sample(cases, len(cases))


class PlayersLine:
    """Line to the players of one side: calls do not wait for each other, and no price is known.

    The run file names the chair that began a conversation, so the same player continues it.
    """

    def __init__(self, players: Players, run: RunFile, writer: RowSink):
        self.stopped = False
        self._players, self._writer, self._chair_of = players, writer, _chairs_of(run, players.side)

    async def call(
        self, key: tuple[str, int, int], request: bytes, messages: list[Any], tools: Any, body: dict[str, Any]
    ) -> Completion:
        """Return a player's answer once it is on disk; raise `asyncio.CancelledError` if the run is stopping."""
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
    """Return the chair that last played each conversation, from its calls on file."""
    return {
        (call["case_id"], call["trial"]): orjson.loads(call["response"]).get("raw", {}).get("chair")
        for call in run.calls(responses=True)
        if call["side"] == side
    }
