"""Reach an endpoint: check its base URL, find proxy and certificates, send requests."""

from __future__ import annotations

import os
import re
import ssl
from contextlib import suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..errors import BadInput
from .faults import fault, from_status
from .keys import scrub
from .retries import Limiter

if TYPE_CHECKING:
    import aiohttp

DEFAULT_BASE_URL = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"
USER_INFO = re.compile(r"^(https?:/*)?.*@", re.DOTALL)
DEFAULT_PORTS = {"http": 80, "https": 443}
CONNECT_TIMEOUT_S, KEEP_ALIVE_S = 15.0, 60.0
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


def proxy_of(base_url: str) -> str | None:
    """Return the environment's proxy for an address, or None; refuse an invalid one."""
    parts, proxies = urlsplit(base_url), getproxies()
    host = parts.hostname or ""
    place = f"{host}:{parts.port or DEFAULT_PORTS.get(parts.scheme)}"
    names = [name.strip().lower() for name in proxies.get("no", "").split(",")]
    below = any(name.startswith("*.") and host.endswith(name[1:]) for name in names)  # unknown to urllib
    if below or is_loopback(base_url) or proxy_bypass(host) or proxy_bypass(place):
        return None
    variable = parts.scheme if proxies.get(parts.scheme) else "all"
    proxy = proxies.get(variable) or None
    if proxy and not is_address(proxy):
        raise BadInput(
            f"the environment variable {variable.upper()}_PROXY ({shown(proxy)!r}) is not the address of an HTTP "
            "proxy; write it like http://127.0.0.1:3128, or unset it"
        )
    return proxy


def check_certificates(base_url: str) -> None:
    """Raise `BadInput` if SSL_CERT_FILE, where it is needed, names a file without certificates."""
    named = os.environ.get("SSL_CERT_FILE")
    try:
        if named and base_url.startswith("https:"):
            ssl.create_default_context(cafile=named)
    except OSError:
        raise BadInput(
            f"the environment variable SSL_CERT_FILE ({named!r:.100}) does not name a certificate file; name one "
            "in PEM form, or unset it"
        ) from None


class Client:
    """Send the requests to one endpoint in one event loop, through an aiohttp session.

    `openai.AsyncOpenAI.post` takes four times the CPU time, follows redirects and sends the caller's headers to any
    host. Only its headers, from `key` and `headers`, are used.

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

        # the default client would load certificates
        unused = httpx2.AsyncClient(transport=httpx2.AsyncBaseTransport())
        package = AsyncOpenAI(api_key=key, base_url=address, default_headers=headers, http_client=unused)
        sent = {name.lower(): value for name, value in {**package.auth_headers, **package.default_headers}.items()}
        sent |= {
            "content-type": "application/json",
            "accept-encoding": "gzip, deflate",  # which aiohttp decodes itself
            "x-stainless-retry-count": "0",
            "x-stainless-read-timeout": str(timeout_s),
        }
        # a value that is not a string marks a header to leave out
        self._headers = {name: value for name, value in sent.items() if isinstance(value, str)}
        self.limiter, self._where = limiter, where
        self._address, self._most_bytes = str(httpx2.URL(address)), most_bytes
        plain = is_loopback(address) and address.startswith("http:")
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEEP_ALIVE_S, ssl=False if plain else httpx2.create_ssl_context()
            ),
            proxy=proxy_of(address),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(sock_connect=min(timeout_s, CONNECT_TIMEOUT_S), sock_read=timeout_s),
        )

    async def answer(self, content: bytes) -> bytes:
        """Send a body and return the answer's body.

        Raise `EndpointError` for an error status, a body over the limit, or a redirect, which is never followed: the
        key goes only to the base URL. A broken connection raises aiohttp's own exceptions.
        """
        request = self._session.post(self._address, headers=self._headers, data=content, allow_redirects=False)
        async with request as answer:
            if answer.status // 100 == 3 and (place := shown(answer.headers.get("Location", ""))):
                why = f"it redirects to {place}, which is not given the key; if that is right, make it the base URL"
                raise fault("connection", self._where, why, status=answer.status, unreached=True)
            body = await read_body(answer, self._most_bytes, self._where)
            if answer.status // 100 == 2:
                return body
            raise from_status(answer.status, answer.headers, body, self._where)

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
