"""An agent's view of a conversation: copies, and a way to call a tool."""

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
    """One message as the agent sees it; `shows` describes the content of each attachment."""

    turn: int
    """Number of this customer message, or of the one that this agent message answers."""
    side: str
    """``customer`` or ``agent``."""
    text: str
    attachments: tuple[str, ...] = ()
    shows: dict[str, str] = field(default_factory=dict, hash=False)


Told = TypeVar("Told", SeenMessage, Message)


class HasMessages(Generic[Told]):
    """Base class for objects that hold the messages of a conversation."""

    messages: list[Told]

    def last(self, side: str) -> Told | None:
        """Return the newest message of a side."""
        return next((m for m in reversed(self.messages) if m.side == side), None)

    def words(self, side: str) -> str:
        """Return the text of a side's newest message, or an empty text if there is none."""
        newest = self.last(side)
        return newest.text if newest is not None else ""


@dataclass(kw_only=True, eq=False, repr=False)
class AgentView(HasMessages[SeenMessage]):
    """An agent's view of a conversation, made of copies: only the agent sees its changes."""

    id: str
    """Identifies the conversation without revealing its case."""
    trial: int
    """The number of the trial, from 1."""
    sender: str
    """The customer's address."""
    prompt: str
    """The system prompt."""
    turn: int
    """The number of the customer message to answer."""
    messages: list[SeenMessage]
    _tools: Callable[[], list[dict[str, Any]]]
    _call: Callable[[Any, Any, bool], ToolCall]
    _charge: Callable[[Usage], None]
    _rng: Callable[[], np.random.Generator]
    _think: Callable[[str], None]
    _slow: frozenset[str] = frozenset()

    @cached_property
    def tools(self) -> list[dict[str, Any]]:
        """Return the tools as OpenAI function schemas."""
        return self._tools()

    @cached_property
    def rng(self) -> np.random.Generator:
        """Return the conversation's random generator, fixed by seed, case and trial."""
        return self._rng()

    def call(self, name: str, arguments: dict[str, Any] | str | None = None, /, **named: Any) -> ToolCall:
        """Call a tool: ``talk.call("get_order", order_id="...")``; bad input becomes an error.

        A call beyond the turn's limit is not carried out; its result tells the agent to answer the customer first.
        Raise `AgentFault` if such calls continue, or if the conversation has ended.
        """
        return self._call(name, named if arguments is None else arguments, False)

    async def call_aside(
        self, name: str, arguments: dict[str, Any] | str | None = None, *, together: bool = False
    ) -> ToolCall:
        """Call a tool as `call` does, but run the user's own tools in a thread.

        `together` marks a further call in the same model reply, made before the model could read the last result.
        """
        if name not in self._slow:
            return self._call(name, arguments, together)
        return await in_thread(self._call, name, arguments, together)

    def charge(self, usage: Usage) -> None:
        """Add the tokens of one model call to the agent's account."""
        self._charge(usage)

    def think(self, reasoning: str) -> None:
        """Record the model's reasoning before its next call or reply; the customer does not see it."""
        self._think(plain_text(reasoning))


def counted(usage: Any) -> Usage:
    """Return a copy of a usage; raise `ValueError` unless all counts are 0 to 2**53 - 1."""
    counts: list[Any] = [getattr(usage, name, None) for name in COUNTS]
    for name, count in zip(COUNTS, counts):
        if type(count) is not int or not 0 <= count < 2**53:
            raise ValueError(f"the usage's {name} is not a whole number from 0 to 2**53 - 1")
    return Usage(*counts)


def plain(value: Any) -> Any:
    """Return an independent copy of JSON data; replace a value that is not JSON with a text."""
    if isinstance(value, str):
        return plain_text(value)
    try:
        return orjson.loads(orjson.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return f"<{type(value).__name__} that is not JSON>"


def without_keys(value: Any) -> Any:
    """Return a copy of JSON data, or of a text, with every API key hidden."""
    from ..endpoint.keys import hide

    return orjson.loads(hide(orjson.dumps(plain(value)).decode()))


def plain_text(value: Any) -> str:
    """Return any value as text that can be encoded as UTF-8."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception:
        text = f"<{type(value).__name__} that has no text>"
    return str.encode(text, "utf-8", "replace").decode()
