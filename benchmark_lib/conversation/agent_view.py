"""What an agent sees of a conversation, in this process or in one of its own: copies, and one way to call a tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson

from ..records import Message, ToolCall, Usage
from ..threads import in_thread

if TYPE_CHECKING:
    import numpy as np

COUNTS = tuple(count.name for count in fields(Usage))
"""The counts of a usage, by name."""


@dataclass(frozen=True, slots=True)
class SeenMessage:
    """One message as it is read.

    `turn` is the number of the customer message it is or answers, `side` is customer or agent; `shows` says what each
    of the `attachments` shows.
    """

    turn: int
    side: str
    text: str
    attachments: tuple[str, ...] = ()
    shows: dict[str, str] = field(default_factory=dict, hash=False)


Told = TypeVar("Told", SeenMessage, Message)


class HasMessages(Generic[Told]):
    """Whoever has the messages of a conversation in hand."""

    messages: list[Told]

    def last(self, side: str) -> Told | None:
        """The newest message of a side."""
        return next((m for m in reversed(self.messages) if m.side == side), None)

    def words(self, side: str) -> str:
        """The text of a side's newest message; empty where it has said nothing."""
        newest = self.last(side)
        return newest.text if newest is not None else ""


class AgentView(HasMessages[SeenMessage]):
    """An agent's side of a conversation. Nothing in it is the harness's own: what is changed here is changed for the agent alone.

    Attributes
    ----------
    id : str
        Names the conversation and tells nothing about its case.
    trial : int
        The number of the trial, from 1.
    sender : str
        The address the customer writes from.
    messages : list of SeenMessage
        What was said so far.
    turn : int
        The number of the customer message that is being answered.
    prompt : str
        The system prompt.
    """

    def __init__(
        self,
        *,
        id: str,
        trial: int,
        sender: str,
        prompt: str,
        turn: int,
        messages: list[SeenMessage],
        tools: Callable[[], list[dict[str, Any]]],
        call: Callable[[Any, Any], ToolCall],
        charge: Callable[[Usage], None],
        rng: Callable[[], np.random.Generator],
        think: Callable[[str], None],
        slow: frozenset[str] = frozenset(),
    ):
        self.id, self.trial, self.sender, self.prompt = id, trial, sender, prompt
        self.turn, self.messages = turn, messages
        self._call, self._charge, self._copy_tools, self._make_rng, self._slow = call, charge, tools, rng, slow
        self._think = think

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """The tools as OpenAI function schemas."""
        return self._copy_tools()

    @cached_property
    def rng(self) -> np.random.Generator:
        """The conversation's own source of randomness: the same numbers for the same seed, case and trial."""
        return self._make_rng()

    def call(self, name: str, arguments: dict[str, Any] | str | None = None, /, **named: Any) -> ToolCall:
        """Call a tool: ``talk.call("get_order", order_id="...")``; bad input comes back as ``.error`` and a result to read.

        `AgentFault` after too many calls in one turn, or when the conversation has ended.
        """
        return self._call(name, named if arguments is None else arguments)

    async def call_aside(self, name: str, arguments: dict[str, Any] | str | None = None) -> ToolCall:
        """Call a tool as `call` does; one of the user's own in a thread, since it may take its time."""
        if name not in self._slow:
            return self._call(name, arguments)
        return await in_thread(self._call, name, arguments)

    def charge(self, usage: Usage) -> None:
        """Add the tokens of one model call to the agent's account."""
        self._charge(usage)

    def think(self, reasoning: str) -> None:
        """Keep in the record what the model thought before its next call or reply; nobody in the conversation sees it."""
        self._think(plain_text(reasoning))


def counted(usage: Any) -> Usage:
    """A copy of a usage whose counts are whole numbers that a file can hold; `ValueError` where one is not."""
    counts: list[Any] = [getattr(usage, name, None) for name in COUNTS]
    for name, count in zip(COUNTS, counts):
        if type(count) is not int or not 0 <= count < 2**53:
            raise ValueError(f"the usage's {name} is not a whole number from 0 up")
    return Usage(*counts)


def plain(value: Any) -> Any:
    """A copy of JSON data that shares nothing with it; of what JSON cannot hold, a text that says so."""
    if isinstance(value, str):
        return plain_text(value)
    try:
        return orjson.loads(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__} that is not JSON>"


def without_keys(value: Any) -> Any:
    """A copy of JSON data, or of a text, in which no key is written."""
    from ..endpoint.keys import hide

    return orjson.loads(hide(orjson.dumps(plain(value)).decode()))


def plain_text(value: Any) -> str:
    """A text that can be written as UTF-8, whatever was given for one."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:
        text = f"<{type(value).__name__} that has no text>"
    return str.encode(text, "utf-8", "replace").decode()
