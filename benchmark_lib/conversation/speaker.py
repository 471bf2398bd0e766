"""Speakers in a conversation: their replies, their faults, and calls to the user's own code.

The user's plain functions run outside the event loop, and none of their exceptions can end the run unnoticed.
"""

from __future__ import annotations

import asyncio
import inspect
import weakref
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from ..records import Act
from ..threads import OneLoop, kept_thread, running_loop
from .agent_view import plain_text

REPLY_S = 600.0
"""Default time limit for one reply, in seconds; a reply may take many model calls."""
PACKAGE = __name__.partition(".")[0]
_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()


class Speaker(Protocol):
    """A participant in a conversation; `reply` may be a plain ``def`` or an ``async def``."""

    def reply(self, talk: Any) -> str | Reply | Awaitable[str | Reply]:
        """Return the next message of this side.

        A customer gets the `ConversationState`, an agent an `AgentView`.
        """


class BuiltIn:
    """An agent from this package; only such an agent may report a fault of the provider."""

    async def close(self) -> None:
        """Release the resources of the conversation."""


class Insider(BuiltIn):
    """A built-in agent that knows the case, and gets the customer's acts from the loop."""

    def __init__(self) -> None:
        self.acts: list[Act] = []


class Reply:
    """A message with its acts; an agent needs only `text`.

    The `attachments` are ``photo`` or ``label``; the loop drops those that are not in the ledger.
    """

    __slots__ = ("text", "acts", "attachments")

    def __init__(self, text: str, acts: list[Act] | None = None, attachments: list[str] | None = None):
        self.text, self.acts, self.attachments = text, acts or [], attachments or []


class AgentFault(Exception):
    """The agent failed, as `kind` says; the conversation ends as ``agent_fault``."""

    def __init__(self, kind: str, detail: str = ""):
        super().__init__(detail or kind)
        self.kind = kind


RELAYS: set[type] = set()
"""Agents from an extra that run the user's own agent elsewhere; the faults that they report are trusted."""


class HarnessFault(Exception):
    """An isolated agent's process did not start; never scored as the agent's failure."""


class Cut(Exception):
    """The conversation stops on purpose: a fork has made its next deciding act."""


class ContentFiltered(Exception):
    """The provider's filter stopped a reply."""


class CustomerFault(Exception):
    """The simulated customer failed; never scored as the agent's failure."""


class OwnCodeLeft(Exception):
    """Raised if the user's own code ends a program or task, such as by ``SystemExit``."""


async def reply_of(speaker: Any, talk: Any, limit_s: float = REPLY_S) -> Any:
    """Return a speaker's reply: call our own speakers directly, the user's through `call_own`."""
    if not is_own(speaker.reply):
        answer = speaker.reply(talk)
        return await answer if inspect.isawaitable(answer) else answer
    answer = await call_own(speaker.reply, talk, limit_s=limit_s)
    if not isinstance(answer, str) and type(answer).__module__.partition(".")[0] != PACKAGE:
        answer = await call_own(lambda: str(answer or ""), limit_s=limit_s)
    return plain_text(answer) if isinstance(answer, str) else answer


async def call_own(function: Callable[..., Any], *arguments: Any, limit_s: float = REPLY_S) -> Any:
    """Call the user's own function in a reusable thread, or on its own loop if ``async def``.

    Call plain functions one at a time, as if on one loop, so that they need not be thread-safe. No thread keeps the
    command from ending. Raise `AgentFault` if there is no answer in time. Raise `OwnCodeLeft` in place of
    ``SystemExit``, ``KeyboardInterrupt``, ``GeneratorExit``, and ``CancelledError`` unless the task was cancelled.
    """
    loop = running_loop()
    try:
        if loop is None or inspect.iscoroutinefunction(function):
            answer = function(*arguments)
        else:
            async with _turns.setdefault(loop, asyncio.Lock()):  # a call's time runs from its turn
                answer = await _in_time(limit_s, kept_thread("own code"), function, *arguments)
        if not inspect.isawaitable(answer):
            return answer
        return await (_in_time(limit_s, kept_thread("own loop", OneLoop), answer) if loop else answer)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _left(error) from error
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise _left(error) from error


async def _in_time(limit_s: float, thread: Any, *call: Any) -> Any:
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return await thread.call(*call)
    except TimeoutError:
        if not limit.expired():
            raise
        raise AgentFault("no_answer", f"the agent gave no answer within {limit_s:g} s") from None


def _left(error: BaseException) -> OwnCodeLeft:
    from ..endpoint.keys import scrub

    return OwnCodeLeft(scrub(f"{type(error).__name__}{f'({error.args[0]!r})' if error.args else ''}"))


def is_own(thing: Any) -> bool:
    """Return whether a function or class is the user's own, not this package's."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] != PACKAGE
