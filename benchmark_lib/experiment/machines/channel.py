"""Messages of plain data between the command that was given and one player, in one packet where they come together."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgpack
from distributed.comm import Comm, CommClosedError


class Channel:
    """One open connection of Dask's own kind (with TLS where the cluster has it), used from one event loop."""

    def __init__(self, comm: Comm):
        self._comm, self._waiting, self._wake = comm, list[Any](), asyncio.Event()
        self._sending = asyncio.ensure_future(self._send_all())

    def send(self, *message: Any) -> None:
        """Send a message soon; one on a connection that is closed is lost."""
        self._waiting.append(message)
        self._wake.set()

    async def messages(self) -> AsyncIterator[list[Any]]:
        """The messages as they come, until the other side is gone."""
        with contextlib.suppress(CommClosedError, OSError):
            while True:
                for message in msgpack.unpackb(await self._comm.read()):
                    yield message

    async def close(self) -> None:
        """Send what is waiting and close the connection."""
        self._sending.cancel()
        with contextlib.suppress(CommClosedError, OSError, asyncio.CancelledError):
            await self._sending
        with contextlib.suppress(CommClosedError, OSError):
            await self._send()
            await self._comm.close()

    async def _send_all(self) -> None:
        with contextlib.suppress(CommClosedError, OSError):
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._send()

    async def _send(self) -> None:
        if self._waiting:
            batch, self._waiting = self._waiting, []
            await self._comm.write(msgpack.packb(batch))
