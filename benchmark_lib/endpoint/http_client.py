"""The client of the ``openai`` package and what carries its requests, an httpx client on one aiohttp session; loads all three."""

import sys
import types
from collections.abc import Coroutine, Generator
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

import aiohttp
import httpx2
from openai import AsyncOpenAI

from .address import is_address, is_loopback, origin, proxy_of, shown
from .faults import UnusableAnswer

KEEP_ALIVE_S = 60.0
ACCEPTED = ("Accept-Encoding", "gzip, deflate")
"""What aiohttp decodes without further packages."""
REDIRECTS = frozenset({301, 302, 307, 308})
"""A request that is sent on by one of these is sent as it was, with method and body.

Nothing else makes sense for a completion.
"""
MOST_REDIRECTS = 5
MOST_ERROR_BYTES = 100_000
"""What is read of an error's body; a person is shown a line of it."""
_address = lru_cache(maxsize=64)(httpx2.URL)


class Client(AsyncOpenAI):
    """The package's client, which reads the address of an endpoint once and not for every call."""

    def _prepare_url(self, url: str) -> httpx2.URL:
        return _address(url)


class HttpClient(httpx2.AsyncClient):
    """The client of one endpoint, for one event loop: a connection for each request, none to a proxy for this machine.

    It sends by itself what the package has built. The way of httpx through authentication, cookies and redirects costs
    more than the request, and its redirects would ask again without the body and take the caller's own headers to any
    host.

    Parameters
    ----------
    timeout : httpx2.Timeout
        For a connection and between two pieces of an answer.
    base_url : str
        Of the endpoint. One on this machine without TLS gets no certificates.
    most_bytes : int
        The longest body of an answer that is read, counted after decompression.
    """

    def __init__(self, timeout: httpx2.Timeout, base_url: str, most_bytes: int):
        plain = is_loopback(base_url) and base_url.startswith("http:")
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=False if plain else httpx2.create_ssl_context()
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            request_class=Request,
            proxy=proxy_of(base_url),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=timeout.connect, sock_read=timeout.read),
        )
        self._most_bytes, self._to_https = most_bytes, not plain
        super().__init__(transport=httpx2.AsyncBaseTransport(), timeout=timeout)

    def build_request(
        self, method: str, url: Any, *, headers: Any = None, timeout: Any = None, content: Any = None, **rest: Any
    ) -> httpx2.Request:
        """Build one request from what the package hands over; aiohttp adds host and length when it sends it."""
        if any(rest.values()):
            return super().build_request(method, url, headers=headers, timeout=timeout, content=content, **rest)
        return httpx2.Request(
            method, _address(url), headers=[ACCEPTED, *headers], stream=httpx2.ByteStream(content or b"")
        )

    async def send(self, request: httpx2.Request, **given: Any) -> httpx2.Response:
        """Send a request and read the whole answer; a redirect is followed where the key may go.

        What goes wrong is raised as aiohttp raises it; `UnusableAnswer` for a body over the limit, and a redirect that
        leads nowhere, elsewhere or in a circle.
        """
        headers = [(name.decode(), value.decode()) for name, value in request.headers.raw]
        body, address = await request.aread(), str(request.url)
        for _ in range(MOST_REDIRECTS + 1):
            sent = self._session.request(
                request.method, address, headers=headers, data=body or None, allow_redirects=False
            )
            async with sent as answer:
                if answer.status not in REDIRECTS:
                    content = await read_body(answer, self._most_bytes)
                    return httpx2.Response(
                        answer.status, headers=plain_headers(answer), content=content, request=request
                    )
                address = redirected(address, answer, self._to_https)
        raise UnusableAnswer("connection", f"it redirects more than {MOST_REDIRECTS} times")

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()
        await super().aclose()


async def read_body(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    """Return the body of an answer, decompressed piece by piece; of an error's body only the beginning.

    Once it is longer than `most_bytes`, `UnusableAnswer` is raised and what follows is not read.
    """
    failed, pieces, length = answer.status >= 400, [], 0
    async for piece in answer.content.iter_any():
        pieces.append(piece)
        length += len(piece)
        if failed and length > MOST_ERROR_BYTES:
            return b"".join(pieces)[:MOST_ERROR_BYTES]
        if length > most_bytes:
            raise UnusableAnswer(
                "bad_body",
                f"an answer of more than {most_bytes / 1e6:g} MB, the limit that max_answer_mb in the settings sets",
            )
    return b"".join(pieces)


def plain_headers(answer: aiohttp.ClientResponse) -> list[tuple[bytes, bytes]] | tuple[tuple[bytes, bytes], ...]:
    """Return the headers of an answer whose body is decompressed; an error's text is read as UTF-8 in any case."""
    if answer.status == 200 and "Content-Encoding" not in answer.headers:
        return answer.raw_headers
    return [header for header in answer.raw_headers if header[0].lower() not in (b"content-encoding", b"content-type")]


def redirected(address: str, answer: aiohttp.ClientResponse, to_https: bool) -> str:
    """Return where a redirect leads: the same scheme, host and port, or (with `to_https`) the same host with TLS.

    Both at their usual ports. `UnusableAnswer` is raised where it names no address, or one that must not get the key.
    """
    place = answer.headers.get("Location", "")
    try:
        target = urljoin(address, place)
    except ValueError:
        target = ""
    if not place or not is_address(target) or "@" in target:
        raise UnusableAnswer("connection", f"it redirects without saying where (status {answer.status})")
    here, there = origin(address), origin(target)
    secured = to_https and here == ("http", there[1], 80) and there == ("https", here[1], 443)
    if here != there and not secured:
        raise UnusableAnswer(
            "connection",
            f"it redirects to {shown(target)}, which is not given the key; if that is right, make it the base URL",
        )
    return target


class Request(aiohttp.ClientRequest):
    """Writes its body at once, as aiohttp itself does from Python 3.12 on.

    Before, aiohttp writes in a task of its own, which waits for every other task that is ready: calls that were ready
    together are then all sent at the last moment, and come back together, again and again.
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
    """Go on with a coroutine begun outside of a task, once what it waits for has come; None where it has ended."""
    if waited_for is not None:
        await _go_on(writing, waited_for)


@types.coroutine
def _go_on(writing: Coroutine[Any, Any, None], waited_for: Any) -> Generator[Any, Any, None]:
    yield waited_for
    yield from writing
