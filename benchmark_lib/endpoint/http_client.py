"""The client of one endpoint on an aiohttp session, with the headers of the ``openai`` package; loads both."""

from typing import Any
from urllib.parse import urljoin

import aiohttp
import httpx2
from openai import AsyncOpenAI

from .address import is_address, is_loopback, origin, proxy_of, shown
from .faults import ErrorAnswer, UnusableAnswer

KEEP_ALIVE_S = 60.0
ACCEPTED = "gzip, deflate"
"""What aiohttp decodes without further packages."""
REDIRECTS = frozenset({301, 302, 307, 308})
"""A request that is sent on by one of these is sent as it was, with method and body.

Nothing else makes sense for a completion.
"""
MOST_REDIRECTS = 5
MOST_ERROR_BYTES = 100_000
"""What is read of an error's body; a person is shown a line of it."""


class Client:
    """A client of one endpoint, for one event loop: a connection for each request, none to a proxy for this machine.

    The requests are sent here: the package's way through options, retries and logs and that of httpx through
    authentication, cookies and redirects cost more than the request, and the redirects of httpx would ask again
    without the body and take the caller's own headers to any host.

    Parameters
    ----------
    address : str
        Where requests go, with the query.
    timeout : httpx2.Timeout
        For a connection and between two pieces of an answer.
    most_bytes : int
        The longest body of an answer that is read, counted after decompression.
    given
        ``api_key``, ``base_url`` and ``default_headers``, as the package takes them.
    """

    def __init__(self, address: str, timeout: httpx2.Timeout, most_bytes: int, **given: Any):
        self._address, self._most_bytes = str(httpx2.URL(address)), most_bytes
        self._headers = package_headers(timeout, **given)
        plain = is_loopback(address) and address.startswith("http:")
        connector = aiohttp.TCPConnector(
            limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=False if plain else httpx2.create_ssl_context()
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            proxy=proxy_of(address),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=timeout.connect, sock_read=timeout.read),
        )
        self._to_https = not plain

    async def answer(self, content: bytes) -> bytes:
        """Send a body and return that of the answer; a redirect is followed where the key may go.

        A status that is no success is raised as `ErrorAnswer`, what goes wrong on the way as aiohttp raises it;
        `UnusableAnswer` for a body over the limit, and a redirect that leads nowhere, elsewhere or in a circle.
        """
        address = self._address
        for _ in range(MOST_REDIRECTS + 1):
            sent = self._session.post(address, headers=self._headers, data=content, allow_redirects=False)
            async with sent as answer:
                if answer.status not in REDIRECTS:
                    body = await read_body(answer, self._most_bytes)
                    if answer.status // 100 == 2:
                        return body
                    raise ErrorAnswer(answer.status, answer.headers, body)
                address = redirected(address, answer, self._to_https)
        raise UnusableAnswer("connection", f"it redirects more than {MOST_REDIRECTS} times")

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


def package_headers(timeout: httpx2.Timeout, **given: Any) -> dict[str, str]:
    """Return the headers that the ``openai`` package sends with every request, by their names in lower case."""
    package = AsyncOpenAI(http_client=httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport()), **given)
    own = {
        "content-type": "application/json",
        "accept-encoding": ACCEPTED,
        "x-stainless-retry-count": "0",
        "x-stainless-read-timeout": str(timeout.read),
    }
    made = {name.lower(): value for name, value in {**package.auth_headers, **package.default_headers}.items()} | own
    return {
        name: value for name, value in made.items() if isinstance(value, str)
    }  # the package marks what it leaves out


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
