"""Messages of plain data between the command and its players, through a Dask queue each way."""

import asyncio
import contextlib
from typing import Any

from distributed import Queue

FLUSH_S = 5.0
"""How long the last messages may take to leave, in seconds."""


class Outbox:
    """Send messages through a queue in order; those that come while one batch travels make the next.

    Use it inside a running event loop, with a queue of an asynchronous client of that loop.
    """

    def __init__(self, queue: Queue):
        self._queue, self._waiting, self._wake = queue, list[Any](), asyncio.Event()
        self._closing = False
        self._sending = asyncio.ensure_future(self._send_all())

    def send(self, *message: Any) -> None:
        """Send a message soon; once the scheduler is gone, messages are lost."""
        self._waiting.append(message)
        self._wake.set()

    async def close(self) -> None:
        """Send what is waiting and let go of the queue."""
        self._closing = True
        self._wake.set()
        await asyncio.wait([self._sending], timeout=FLUSH_S)
        self._sending.cancel()
        await asyncio.gather(self._sending, return_exceptions=True)
        self._queue.close()

    async def _send_all(self) -> None:
        with contextlib.suppress(OSError):
            while self._waiting or not self._closing:
                await self._wake.wait()
                self._wake.clear()
                batch, self._waiting = self._waiting, []
                if batch:
                    await self._queue.put(batch)
