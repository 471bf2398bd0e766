"""Requests between a run and a worker, sent in both directions and in batches."""

import asyncio
import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

Message = tuple[int | None, str, Any]
"""A request's number (None if it needs no answer), its method ("" for an answer), and its arguments or result."""


class Post:
    """One end of a connection: `taken` returns its messages, `receive` accepts the other's.

    A request names a method of `serves`; an awaitable result is awaited before it is sent back. `waiting` is called
    when there is something to send.
    """

    def __init__(self, serves: Any, waiting: Callable[[], object]):
        self._serves, self._waiting, self._numbers = serves, waiting, itertools.count()
        self._out, self._asked = list[Message](), dict[int, asyncio.Future[Any]]()
        self.serving = set[asyncio.Future[Any]]()

    def ask(self, method: str, *arguments: Any) -> asyncio.Future[Any]:
        """Send a request and return the future of its answer."""
        number = next(self._numbers)
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send(number, method, arguments)
        return future

    def tell(self, method: str, *arguments: Any) -> None:
        """Send a request that needs no answer."""
        self._send(None, method, arguments)

    def taken(self) -> list[Message]:
        """Take all messages that are waiting to be sent."""
        out, self._out = self._out, []
        return out

    def receive(self, messages: list[Message]) -> None:
        """Carry out incoming requests, and pass on answers."""
        for number, method, content in messages:
            if method == "":
                self._answered(number, *content)
                continue
            served = getattr(self._serves, method)(*content)
            if number is not None:
                future = asyncio.ensure_future(served)
                self.serving.add(future)
                future.add_done_callback(partial(self._answer, number))

    def end(self, error: Exception) -> None:
        """Fail every open request with an error."""
        for number in [*self._asked]:
            self._answered(number, None, error)

    def _send(self, number: int | None, method: str, content: Any) -> None:
        if not self._out:
            self._waiting()
        self._out.append((number, method, content))

    def _answer(self, number: int, future: asyncio.Future[Any]) -> None:
        self.serving.discard(future)
        error = None if future.cancelled() else future.exception()
        self._send(number, "", (None if error or future.cancelled() else future.result(), error))

    def _answered(self, number: Any, answer: Any, error: Exception | None) -> None:
        future = self._asked.pop(number)
        if future.done():
            return
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)
