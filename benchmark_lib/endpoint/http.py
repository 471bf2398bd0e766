"""Reach an endpoint: a base URL without secrets, proxy, certificates, and the HTTP client."""

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
from .faults import ErrorAnswer, UnusableAnswer, fault
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
ACCEPTED = "gzip, deflate"
"""Encodings that aiohttp decodes without further packages."""
REDIRECTS = frozenset({301, 302, 307, 308})
"""Statuses that repeat the request with its method and body; no other makes sense for a completion."""
MOST_REDIRECTS = 5
MOST_ERROR_BYTES = 100_000
"""Bytes read of an error's body; a person sees one line of it."""


def check_base_url(base_url: str | None = None, where: str = "the base URL") -> str:
    """Return the base URL to use: the given one, else OPENAI_BASE_URL, else OpenAI's.

    Run files, notebooks and pages repeat a base URL. Therefore `BadInput` refuses a user, password, query or key in it,
    naming only `where`.
    """
    if not base_url and os.environ.get(URL_VARIABLE):
        base_url, where = os.environ[URL_VARIABLE], f"the base URL in {URL_VARIABLE}"
    if base_url is not None and not isinstance(base_url, str):
        raise BadInput(f"{where} is not a string; write it like http://127.0.0.1:8000/v1")
    url = (base_url or DEFAULT_BASE_URL).strip().rstrip("/").removesuffix("/chat/completions")
    if "@" in url:
        raise BadInput(
            f"{where} {shown(url)!r} contains a user name or password; remove them, and put the key into the "
            "environment variable "
            "OPENAI_API_KEY, or into one that the settings name under api_key_env or headers_env"
        )
    if "?" in url or "#" in url:
        raise BadInput(
            f"{where} {shown(url)!r} contains a query; remove it, and put its parameters into the settings under query "
            "(or query_env, which names environment variables)"
        )
    if not is_address(url):
        raise BadInput(f"{where} {shown(url)!r} is not an address; write it like http://127.0.0.1:8000/v1")
    path = urlsplit(url).path
    if scrub(path) != path:
        raise BadInput(
            f"{where} {shown(url)!r} contains a key; put the key into the environment variable OPENAI_API_KEY"
        )
    return url


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
    """Return scheme, host and port of an address; a key may go only where all three are equal."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)


def proxy_of(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address, or None; refuse a wrong one."""
    scheme, proxies = urlsplit(base_url).scheme, getproxies()
    if is_loopback(base_url) or is_excepted(base_url, proxies.get("no", "")):
        return None
    scheme = scheme if proxies.get(scheme) else "all"
    proxy = proxies.get(scheme)
    if proxy and not is_address(proxy):
        raise BadInput(
            f"the environment variable {scheme.upper()}_PROXY ({shown(proxy)!r}) is not the address of an HTTP proxy; "
            "write it like http://127.0.0.1:3128, or unset it"
        )
    return proxy or None


def is_excepted(base_url: str, no_proxy: str) -> bool:
    """Return whether NO_PROXY names an address by host, port, ``*.domain`` or network."""
    _, host, port = origin(base_url)
    shown_host = f"[{host}]" if ":" in host else host
    names = re.split(r"[,\s]+", no_proxy)
    if proxy_bypass(host) or proxy_bypass(f"{shown_host}:{port}") or host in names:
        return True
    if any(host.endswith(name[1:]) for name in names if name.startswith("*.")):
        return True
    with suppress(ValueError):
        networks = [name for name in names if re.fullmatch(r"[\da-f.:]+/\d+", name)]
        return any(ip_address(host) in ip_network(name, strict=False) for name in networks)
    return False


def check_certificates() -> None:
    """Refuse an SSL_CERT_FILE that contains no certificates with `BadInput`."""
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

    `EndpointError` of kind ``connection``, on `where`, if nothing accepts it in `REACH_S`.
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
    """Send the requests of one endpoint in one event loop, through an aiohttp session.

    `openai.AsyncOpenAI.post` takes two to three times the CPU (measured) and reads an error's body without a limit. Its
    redirects send a caller's own headers to any host. Its headers are sent here.

    Parameters
    ----------
    address : str
        Where requests go, with the query.
    timeout_s : float
        The longest wait for a connection (or `CONNECT_TIMEOUT_S`) and between two pieces of an answer.
    most_bytes : int
        The longest body of an answer that is read, counted after decompression.
    limiter : Limiter
        The limit on requests in flight, for the caller to keep.
    key, headers
        The key, and headers of the caller's own.
    """

    def __init__(
        self, address: str, timeout_s: float, most_bytes: int, limiter: Limiter, key: str, headers: dict[str, str]
    ) -> None:
        import aiohttp
        import httpx2

        self.limiter = limiter
        self._address, self._most_bytes = str(httpx2.URL(address)), most_bytes
        self._headers = package_headers(timeout_s, address, key, headers)
        plain = is_loopback(address) and address.startswith("http:")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=False if plain else httpx2.create_ssl_context()
            ),
            proxy=proxy_of(address),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=min(timeout_s, CONNECT_TIMEOUT_S), sock_read=timeout_s),
        )
        self._to_https = not plain

    async def answer(self, content: bytes) -> bytes:
        """Send a body and return the answer's; follow a redirect if the key may go there.

        Raise `ErrorAnswer` for an error status and aiohttp's own exceptions for a broken connection. `UnusableAnswer`
        means a body over the limit, or a redirect that leads nowhere, elsewhere or in a circle.
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


def package_headers(timeout_s: float, address: str, key: str, headers: dict[str, str]) -> dict[str, str]:
    """Return the headers of the ``openai`` package, by their names in lower case."""
    import httpx2
    from openai import AsyncOpenAI

    unused = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport())
    package = AsyncOpenAI(api_key=key, base_url=address, default_headers=headers, http_client=unused)
    made = {name.lower(): value for name, value in {**package.auth_headers, **package.default_headers}.items()}
    made |= {
        "content-type": "application/json",
        "accept-encoding": ACCEPTED,
        "x-stainless-retry-count": "0",
        "x-stainless-read-timeout": str(timeout_s),
    }
    return {
        name: value for name, value in made.items() if isinstance(value, str)
    }  # other values mark headers to leave out


async def read_body(answer: aiohttp.ClientResponse, most_bytes: int) -> bytes:
    """Return a body, decompressed up to `most_bytes` or `UnusableAnswer`; an error's beginning."""
    failed, pieces, length = answer.status >= 400, [], 0
    async for piece in answer.content.iter_any():
        pieces.append(piece)
        length += len(piece)
        if failed and length > MOST_ERROR_BYTES:
            return b"".join(pieces)[:MOST_ERROR_BYTES]
        if length > most_bytes:
            limit = f"{most_bytes / 1e6:g} MB, the limit that max_answer_mb in the settings sets"
            raise UnusableAnswer("bad_body", f"an answer of more than {limit}")
    return b"".join(pieces)


def redirected(address: str, answer: aiohttp.ClientResponse, to_https: bool) -> str:
    """Return the target of a redirect within the same origin, or (`to_https`) the host's TLS.

    `UnusableAnswer` if the target is not an address, or one that must not get the key.
    """
    place, target = answer.headers.get("Location", ""), ""
    with suppress(ValueError):
        target = urljoin(address, place)
    if not place or not is_address(target) or "@" in target:
        raise UnusableAnswer("connection", f"it redirects without a target (status {answer.status})")
    here, there = origin(address), origin(target)
    secured = to_https and here == ("http", there[1], 80) and there == ("https", here[1], 443)
    if here != there and not secured:
        why = "which is not given the key; if that host is right, make it the base URL"
        raise UnusableAnswer("connection", f"it redirects to {shown(target)}, {why}")
    return target
