"""Messages of plain data between the command that was given and one player, in one packet where they come together.

They go over the stream below Dask's connection, which itself carries any Python object, at more than twice the CPU.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

import msgpack
from distributed.comm import Comm
from distributed.comm.tcp import TCP

PIECE = 1 << 16
"""The most bytes that are read at once."""


class Channel:
    """One open connection of Dask's own kind (with TLS where the cluster has it), used from one event loop."""

    def __init__(self, comm: Comm):
        self._comm, self._waiting, self._wake = comm, list[Any](), asyncio.Event()
        self._stream: Any = cast(TCP, comm).stream
        self._sending = asyncio.ensure_future(self._send_all())

    def send(self, *message: Any) -> None:
        """Send a message soon; one on a connection that is closed is lost."""
        self._waiting.append(message)
        self._wake.set()

    async def messages(self) -> AsyncIterator[list[Any]]:
        """The messages as they come, until the other side is gone."""
        unpacker = msgpack.Unpacker(max_buffer_size=0)
        with contextlib.suppress(OSError):
            while True:
                unpacker.feed(await self._stream.read_bytes(PIECE, partial=True))
                for message in unpacker:
                    yield message

    async def close(self) -> None:
        """Send what is waiting and close the connection."""
        self._sending.cancel()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._sending
        with contextlib.suppress(OSError):
            await self._send()
            await self._comm.close()

    async def _send_all(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                await self._wake.wait()
                self._wake.clear()
                await self._send()

    async def _send(self) -> None:
        if self._waiting:
            batch, self._waiting = self._waiting, []
            self._stream.write(b"".join(map(msgpack.packb, batch)))
