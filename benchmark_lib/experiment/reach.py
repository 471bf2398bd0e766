"""Whether an endpoint can be reached at all, found out in seconds: before the first call of a run nothing has shown that waiting helps."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any
from urllib.parse import urlsplit

from ..endpoint.faults import fault
from ..threads import in_thread

CONNECT_S = 3.0
"""How long an endpoint may take to accept a connection before the first call of a run, in seconds."""
PORTS = {"http": 80, "https": 443}


async def check_reachable(endpoint: Any) -> None:
    """Open a connection to where an endpoint is and close it again; nothing is sent.

    Where a proxy stands between, nothing is checked.

    Raises
    ------
    EndpointError
        Of kind ``connection``: the name is unknown, the connection is refused, or nothing answers in `CONNECT_S` seconds.
    """
    from ..endpoint.http_client import proxy_of
    from ..endpoint.keys import is_loopback

    parts = urlsplit(endpoint.base_url)
    if not is_loopback(endpoint.base_url) and proxy_of(endpoint.base_url):
        return
    try:
        async with asyncio.timeout(CONNECT_S):
            await in_thread(_connect, parts.hostname, parts.port or PORTS[parts.scheme])
    except TimeoutError:
        raise fault("connection", endpoint.where, f"no connection within {CONNECT_S:g} seconds") from None
    except OSError as error:
        raise fault("connection", endpoint.where, error.strerror or error) from None


def _connect(host: str, port: int) -> None:
    with contextlib.closing(socket.create_connection((host, port), timeout=CONNECT_S)):
        pass
