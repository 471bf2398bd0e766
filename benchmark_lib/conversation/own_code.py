"""Calling code of the user's own.

Plain functions beside the event loop, and nothing it raises is taken for the end of the run.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from ..threads import kept_thread
from .agent_view import plain_text

PACKAGE = __name__.partition(".")[0]


class OwnCodeLeft(Exception):
    """Code of the user's own raised what ends a program or a task, such as ``SystemExit`` or ``CancelledError``."""


async def reply_of(speaker: Any, talk: Any) -> Any:
    """What a speaker answers to what it sees of a conversation: our own in place, the user's by `call_own`."""
    if not is_own(speaker.reply):
        answer = speaker.reply(talk)
        return await answer if inspect.isawaitable(answer) else answer
    answer = await call_own(speaker.reply, talk)
    if not isinstance(answer, str) and type(answer).__module__.partition(".")[0] != PACKAGE:
        answer = await call_own(lambda: str(answer or ""))
    return plain_text(answer) if isinstance(answer, str) else answer


async def call_own(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the user's own; an ``async def`` on the event loop, a plain one in the one thread that is kept for them.

    Plain functions are called one at a time, as if they held the loop: they need not be safe against each other.
    `OwnCodeLeft` in place of ``SystemExit``, ``KeyboardInterrupt``, ``GeneratorExit``, and of ``CancelledError`` where
    nobody cancelled.
    """
    try:
        thread = None if inspect.iscoroutinefunction(function) else kept_thread("own code")
        answer = await thread.call(function, *arguments) if thread else function(*arguments)
        return await answer if inspect.isawaitable(answer) else answer
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _left(error) from error
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise _left(error) from error


def _left(error: BaseException) -> OwnCodeLeft:
    return OwnCodeLeft(f"{type(error).__name__}{f'({error.args[0]!r})' if error.args else ''}")


def is_own(thing: Any) -> bool:
    """Whether a function or a class is the user's and not of this package."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] != PACKAGE
