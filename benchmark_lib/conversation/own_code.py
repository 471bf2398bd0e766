"""Calling code of the user's own.

Plain functions beside the event loop, and nothing it raises is taken for the end of the run.
"""

import asyncio
import inspect
import weakref
from collections.abc import Callable
from typing import Any

from ..threads import OneLoop, kept_thread, running_loop
from .agent_view import plain_text
from .speaker import AgentFault

REPLY_S = 600.0
"""How long one reply may take unless a timeout is given, in seconds; a reply may be many model calls."""
_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = weakref.WeakKeyDictionary()
PACKAGE = __name__.partition(".")[0]


class OwnCodeLeft(Exception):
    """Code of the user's own raised what ends a program or a task, such as ``SystemExit`` or ``CancelledError``."""


async def reply_of(speaker: Any, talk: Any, limit_s: float = REPLY_S) -> Any:
    """What a speaker answers to what it sees of a conversation: our own in place, the user's by `call_own`."""
    if not is_own(speaker.reply):
        answer = speaker.reply(talk)
        return await answer if inspect.isawaitable(answer) else answer
    answer = await call_own(speaker.reply, talk, limit_s=limit_s)
    if not isinstance(answer, str) and type(answer).__module__.partition(".")[0] != PACKAGE:
        answer = await call_own(lambda: str(answer or ""), limit_s=limit_s)
    return plain_text(answer) if isinstance(answer, str) else answer


async def call_own(function: Callable[..., Any], *arguments: Any, limit_s: float = REPLY_S) -> Any:
    """Call a function of the user's own in a thread that is kept for them; an ``async def`` on an event loop of its own.

    Plain functions are called one at a time, as if they held the loop: they need not be safe against each other. No
    thread keeps the command from ending, and one that gives no answer in time is given up. Raises `AgentFault` then,
    and `OwnCodeLeft` in place of ``SystemExit``, ``KeyboardInterrupt``, ``GeneratorExit``, and of ``CancelledError``
    where nobody cancelled.
    """
    loop = running_loop()
    try:
        if loop is None or inspect.iscoroutinefunction(function):
            answer = function(*arguments)
        else:
            async with _turns.setdefault(loop, asyncio.Lock()):  # the time of a call runs from its turn
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
    """Whether a function or a class is the user's and not of this package."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] != PACKAGE
