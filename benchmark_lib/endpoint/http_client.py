"""What carries the requests of the ``openai`` package: an httpx client on one aiohttp session. Import it late: it loads both."""

from __future__ import annotations

import sys
import types
from collections.abc import Coroutine, Generator
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import httpx2

from .keys import is_loopback

KEEP_ALIVE_S = 60.0
ACCEPTED = ("Accept-Encoding", "gzip, deflate")
"""What the httpx client decodes without further packages."""
_address = lru_cache(maxsize=64)(httpx2.URL)


class HttpClient(httpx2.AsyncClient):
    """The client of one endpoint: as many connections as there are requests, none to a proxy where the endpoint is on this machine.

    Parameters
    ----------
    timeout : httpx2.Timeout
        For a connection and between two pieces of an answer.
    base_url : str
        Of the endpoint. One on this machine without TLS gets no certificates, so its redirects, which may lead elsewhere, are not followed.

    Notes
    -----
    Belongs to the event loop it is made in.
    """

    def __init__(self, timeout: httpx2.Timeout, base_url: str):
        here = is_loopback(base_url)
        plain = here and base_url.startswith("http:")
        connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=False if plain else httpx2.create_ssl_context())
        session = aiohttp.ClientSession(
            connector=connector, request_class=Request, proxy=None if here else proxy_of(base_url), auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(), timeout=aiohttp.ClientTimeout(sock_connect=timeout.connect, sock_read=timeout.read),
        )  # fmt: skip
        super().__init__(transport=Transport(session), timeout=timeout, follow_redirects=not plain)

    def build_request(self, method: str, url: Any, *, headers: Any = None, timeout: Any = None, content: Any = None,
                      **rest: Any) -> httpx2.Request:  # fmt: skip
        """Build one request from what the package hands over, which is complete: merging defaults into it costs a tenth of a call."""
        if any(rest.values()):
            return super().build_request(method, url, headers=headers, timeout=timeout, content=content, **rest)
        return httpx2.Request(method, _address(url), headers=[ACCEPTED, *headers], content=content)


class Transport(httpx2.AsyncBaseTransport):
    """Sends the requests of an httpx client through an aiohttp session; what goes wrong is raised as aiohttp raises it."""

    def __init__(self, session: aiohttp.ClientSession):
        self._session = session

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read the whole answer."""
        headers, body = request.headers.multi_items(), await request.aread()
        sent = self._session.request(request.method, str(request.url), headers=headers, data=body or None, allow_redirects=False)
        async with sent as answer:
            return httpx2.Response(answer.status, headers=answer.raw_headers, content=await answer.read())

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()


class Request(aiohttp.ClientRequest):
    """Writes its body at once, as aiohttp itself does from Python 3.12 on.

    Before, aiohttp writes in a task of its own, which waits for every other task that is ready: calls that were ready together are then all
    sent at the last moment, and come back together, again and again.
    """

    def write_bytes(self, *given: Any) -> Coroutine[Any, Any, None]:
        """What aiohttp makes a task of: the rest of the writing, mostly nothing."""
        writing = super().write_bytes(*given)
        if sys.version_info >= (3, 12):
            return writing
        try:
            waited_for = writing.send(None)
        except StopIteration:
            waited_for = None
        return _rest(writing, waited_for)


async def _rest(writing: Coroutine[Any, Any, None], waited_for: Any) -> None:
    """Go on with a coroutine that was begun outside of a task, once what it waits for has come; None where it has ended."""
    if waited_for is not None:
        await _go_on(writing, waited_for)


@types.coroutine
def _go_on(writing: Coroutine[Any, Any, None], waited_for: Any) -> Generator[Any, Any, None]:
    yield waited_for
    yield from writing


def proxy_of(base_url: str) -> str | None:
    """The proxy that the environment names for an address."""
    parts, proxies = urlsplit(base_url), getproxies()
    return None if proxy_bypass(parts.hostname) else proxies.get(parts.scheme) or proxies.get("all")
