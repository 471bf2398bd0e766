"""Reach an endpoint: check its base URL, find proxy and certificates, send requests."""

from __future__ import annotations

import os
import re
import socket
import ssl
import threading
from contextlib import suppress
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from ..errors import BadInput
from .faults import fault, from_status
from .keys import scrub
from .retries import Limiter

if TYPE_CHECKING:
    import aiohttp

DEFAULT_BASE_URL = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"
REACH_S = 3.0
"""Seconds to wait for a connection before an address counts as unreachable."""
USER_INFO = re.compile(r"^(https?:/*)?.*@", re.DOTALL)
DEFAULT_PORTS = {"http": 80, "https": 443}
CONNECT_TIMEOUT_S, KEEP_ALIVE_S = 15.0, 60.0
REDIRECTS = frozenset({301, 302, 307, 308})
"""Statuses after which the request is repeated with its method and body; no others make sense for a completion."""
MOST_REDIRECTS = 5
MOST_ERROR_BYTES = 100_000
"""Maximum number of bytes read from an error's body; a person sees one line of it."""


def check_base_url(base_url: str | None = None, where: str = "the base URL") -> str:
    """Return the base URL to use: the given one, else OPENAI_BASE_URL, else OpenAI's.

    Run files, notebooks and pages repeat a base URL. A user, password, query or key in it is therefore refused with a
    `BadInput` that does not repeat it.
    """
    if not base_url and os.environ.get(URL_VARIABLE):
        base_url, where = os.environ[URL_VARIABLE], f"the base URL in {URL_VARIABLE}"
    if base_url is not None and not isinstance(base_url, str):
        raise BadInput(f"{where} is not a string; write it like http://127.0.0.1:8000/v1")
    url = (base_url or DEFAULT_BASE_URL).strip().rstrip("/").removesuffix("/chat/completions")
    if "@" in url:
        problem = (
            "contains a user name or password; remove them, and put the key into the environment variable "
            "OPENAI_API_KEY, or into one that the settings name under api_key_env or headers_env"
        )
    elif "?" in url or "#" in url:
        problem = (
            "contains a query; remove it, and put its parameters into the settings under query "
            "(or query_env, which names environment variables)"
        )
    elif not is_address(url):
        problem = "is not an address; write it like http://127.0.0.1:8000/v1"
    elif scrub(path := urlsplit(url).path) != path:
        problem = "contains a key; put the key into the environment variable OPENAI_API_KEY"
    else:
        return url
    raise BadInput(f"{where} {shown(url)!r} {problem}")


def shown(url: str) -> str:
    """Return an address without user, password, query and keys, cut to a readable length."""
    public = re.split(r"[?#]", USER_INFO.sub(r"\1", url), maxsplit=1)[0]
    return scrub(public)[:100]


def is_address(url: str) -> bool:
    """Return whether a text is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        readable = url.isprintable() and not re.search(r"[\s\\]", url)
        return parts.scheme in DEFAULT_PORTS and bool(host) and parts.port != 0 and readable
    except ValueError:
        return False


def is_loopback(base_url: str) -> bool:
    """Return whether a base URL points to this machine."""
    host = urlsplit(base_url).hostname or ""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address; a key goes only where all three are the same."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)


def proxy_of(base_url: str) -> str | None:
    """Return the environment's proxy for an address, or None; refuse an invalid one."""
    proxies, (scheme, host, port) = getproxies(), origin(base_url)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    excepted = any(_covers(name, host) for name in re.split(r"[,\s]+", proxies.get("no", "")))
    if excepted or is_loopback(base_url) or proxy_bypass(host) or proxy_bypass(place):
        return None
    variable = scheme if proxies.get(scheme) else "all"
    proxy = proxies.get(variable) or None
    if proxy and not is_address(proxy):
        raise BadInput(
            f"the environment variable {variable.upper()}_PROXY ({shown(proxy)!r}) is not the address of an HTTP "
            "proxy; write it like http://127.0.0.1:3128, or unset it"
        )
    return proxy


def _covers(name: str, host: str) -> bool:
    # Forms of NO_PROXY that urllib does not know: ``*.domain``, a network, an IPv6 address.
    if name.startswith("*."):
        return host.endswith(name[1:])
    with suppress(ValueError):
        return name == host or ("/" in name and ip_address(host) in ip_network(name, strict=False))
    return False


def check_certificates() -> None:
    """Raise `BadInput` if SSL_CERT_FILE names a file that contains no certificates."""
    named = os.environ.get("SSL_CERT_FILE")
    try:
        ssl.create_default_context(cafile=named or None)
    except OSError:
        raise BadInput(
            f"the environment variable SSL_CERT_FILE ({named!r:.100}) does not name a certificate file; name one "
            "in PEM form, or unset it"
        ) from None


def reach(base_url: str, where: str) -> None:
    """Open and close one connection to an endpoint, or to the proxy on the way.

    Raise `EndpointError` of kind ``connection``, naming `where`, if nothing accepts it within `REACH_S`.
    """
    proxy = proxy_of(base_url)
    _, host, port = origin(proxy or base_url)
    problem = f"no answer in {REACH_S:g} s"

    def connect() -> None:
        nonlocal problem
        try:
            socket.create_connection((host, port), REACH_S).close()
            problem = ""
        except TimeoutError:
            pass
        except OSError as error:
            problem = error.strerror or str(error)

    # in its own thread: looking up a name cannot be cancelled and may take minutes if no server answers
    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(REACH_S)
    if problem:
        raise fault("connection", where, f"{'the proxy ' * bool(proxy)}{host} port {port}: {problem}")


class Client:
    """Send the requests to one endpoint in one event loop, through an aiohttp session.

    `openai.AsyncOpenAI.post` takes four times the CPU time (0.8 ms per call, measured). It also turns a redirected POST
    into a GET and sends the caller's headers to any host. Only its headers, from `key` and `headers`, are used.

    `address` is where requests go, including the query, and `where` is its name for people. `most_bytes` limits an
    answer after decompression. The caller must respect `limiter`.
    """

    def __init__(
        self,
        address: str,
        where: str,
        timeout_s: float,
        most_bytes: int,
        limiter: Limiter,
        key: str,
        headers: dict[str, str],
    ) -> None:
        import aiohttp
        import httpx2
        from openai import AsyncOpenAI

        unused = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport())  # the default client would load certificates
        package = AsyncOpenAI(api_key=key, base_url=address, default_headers=headers, http_client=unused)
        sent = {name.lower(): value for name, value in {**package.auth_headers, **package.default_headers}.items()}
        sent |= {"content-type": "application/json", "accept-encoding": "gzip, deflate"}  # which aiohttp decodes itself
        sent |= {"x-stainless-retry-count": "0", "x-stainless-read-timeout": str(timeout_s)}
        # a value that is not a string marks a header to leave out
        self._headers = {name: value for name, value in sent.items() if isinstance(value, str)}
        self.limiter, self._where = limiter, where
        self._address, self._most_bytes = str(httpx2.URL(address)), most_bytes
        self._plain = is_loopback(address) and address.startswith("http:")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=False if self._plain else httpx2.create_ssl_context()
            ),
            proxy=proxy_of(address),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=min(timeout_s, CONNECT_TIMEOUT_S), sock_read=timeout_s),
        )

    async def answer(self, content: bytes) -> bytes:
        """Send a body and return the answer's body; follow a redirect if the key may go there.

        Raise `EndpointError` for an error status, a body over the limit, or a redirect that leads nowhere, to another
        host or in a circle. A broken connection raises aiohttp's own exceptions.
        """
        address = self._address
        for _ in range(MOST_REDIRECTS + 1):
            request = self._session.post(address, headers=self._headers, data=content, allow_redirects=False)
            async with request as answer:
                if answer.status not in REDIRECTS:
                    body = await read_body(answer, self._most_bytes, self._where)
                    if answer.status // 100 == 2:
                        return body
                    raise from_status(answer.status, answer.headers, body, self._where)
                address = redirected(address, answer, not self._plain, self._where)
        raise fault("connection", self._where, f"it redirects more than {MOST_REDIRECTS} times")

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()


async def read_body(answer: aiohttp.ClientResponse, most_bytes: int, where: str) -> bytes:
    """Return a body, or an error's beginning; raise `EndpointError` above `most_bytes`."""
    pieces, length = [], 0
    async for piece in answer.content.iter_any():
        pieces.append(piece)
        length += len(piece)
        if answer.status >= 400 and length > MOST_ERROR_BYTES:
            return b"".join(pieces)[:MOST_ERROR_BYTES]
        if length > most_bytes:
            limit = f"{most_bytes / 1e6:g} MB, the limit that max_answer_mb in the settings sets"
            raise fault("bad_body", where, f"an answer of more than {limit}")
    return b"".join(pieces)


def redirected(address: str, answer: aiohttp.ClientResponse, to_https: bool, where: str) -> str:
    """Return a redirect's target in the same origin or, with `to_https`, the same host over TLS.

    Raise `EndpointError` if the target is not an address, or must not get the key.
    """
    place, target = answer.headers.get("Location", ""), ""
    with suppress(ValueError):
        target = urljoin(address, place)
    if not place or not is_address(target) or "@" in target:
        raise fault("connection", where, f"it redirects without a target (status {answer.status})")
    here, there = origin(address), origin(target)
    secured = to_https and here == ("http", there[1], 80) and there == ("https", here[1], 443)
    if here != there and not secured:
        why = "which is not given the key; if that host is right, make it the base URL"
        raise fault("connection", where, f"it redirects to {shown(target)}, {why}")
    return target
