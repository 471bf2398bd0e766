"""Do work outside the event loop, which meanwhile handles signals and calls."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
import weakref
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any

Outcome = tuple[Any, BaseException | None]
"""A call's result, or the error that it raised."""
LONG_TEXT = 8_000
"""Most characters read on the event loop, in about 10 ms; a thread reads longer texts."""


async def in_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a thread of its own; return its result or raise its error.

    It never keeps the process alive. A cancelled call is abandoned and its result dropped. Without a running
    event loop (a coroutine stepped by hand), call the function directly.
    """
    if running_loop() is None:
        return function(*arguments)
    thread = OneThread()
    try:
        return await thread.call(function, *arguments)
    finally:
        thread.end()


async def read_aside(size: float, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that reads `size` characters: directly if few, in a thread if many.

    Long texts are read one after another, so that the event loop competes with one thread for the interpreter.
    """
    thread = kept_thread("reading") if size > LONG_TEXT else None
    return await thread.call(function, *arguments) if thread else function(*arguments)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, if any."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class OneThread:
    """A thread that carries out all calls in order, for code that is not thread-safe."""

    def __init__(self) -> None:
        self.abandoned = False
        self._jobs: SimpleQueue[Any] = SimpleQueue()
        threading.Thread(target=_carry_out_all, args=(self._jobs,), daemon=True).start()
        self.end = weakref.finalize(self, self._jobs.put, None)

    async def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function in the thread; if cancelled, give up the thread, which may be stuck."""
        done: Future[Outcome] = Future()
        self._jobs.put((done, contextvars.copy_context(), function, arguments))
        return await _result(self, done)


class OneLoop:
    """A thread with an event loop of its own, for coroutines that may never yield."""

    def __init__(self) -> None:
        self.abandoned = False
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

    async def call(self, awaitable: Awaitable[Any]) -> Any:
        """Await an awaitable on the thread's loop; if cancelled, give up the thread."""
        return await _result(self, asyncio.run_coroutine_threadsafe(_outcome(awaitable), self._loop))


_kept: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Any]] = weakref.WeakKeyDictionary()


def kept_thread(purpose: str, kind: Callable[[], Any] = OneThread) -> Any:
    """Return the running loop's thread for a purpose, or a new one; None without a loop."""
    loop = running_loop()
    if loop is None:
        return None
    threads = _kept.setdefault(loop, {})
    if purpose not in threads or threads[purpose].abandoned:
        threads[purpose] = kind()
    return threads[purpose]


async def _result(thread: OneThread | OneLoop, done: Future[Outcome]) -> Any:
    try:
        result, error = await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        thread.abandoned = True
        sys.setswitchinterval(1e-4)  # it may spin for ever
        raise
    if error is not None:
        raise error
    return result


async def _outcome(awaitable: Awaitable[Any]) -> Outcome:
    try:
        return await awaitable, None
    except BaseException as error:  # as in `_carry_out`
        return None, error


def _carry_out_all(jobs: SimpleQueue[Any]) -> None:
    while (job := jobs.get()) is not None:
        _carry_out(*job)
        del job  # which may refer to the thread itself


def _carry_out(
    done: Future[Outcome], context: contextvars.Context, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    if not done.set_running_or_notify_cancel():
        return
    try:
        done.set_result((context.run(function, *arguments), None))
    except BaseException as error:  # the caller raises it
        done.set_result((None, error))
