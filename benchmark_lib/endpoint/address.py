"""Where an endpoint is: a base URL that may be written down, the proxy on the way, and whether anything answers."""

import os
import re
import socket
import ssl
import threading
from contextlib import suppress
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..errors import BadInput
from .faults import fault
from .keys import scrub

DEFAULT_BASE_URL = "https://api.openai.com/v1"
URL_VARIABLE = "OPENAI_BASE_URL"
REACH_S = 3.0
"""Seconds to wait for a connection before an address is said to be unreachable."""
USER_INFO = re.compile(r"^(https?:/*)?.*@", re.DOTALL)
DEFAULT_PORTS = {"http": 80, "https": 443}


def check_base_url(base_url: str | None = None, where: str = "the base URL") -> str:
    """Return the base URL to use: the given one, else OPENAI_BASE_URL, else OpenAI's.

    A base URL is written into run files, notebooks and pages, so it must hold nothing that is secret or may be: one
    with a user, a password, a query or a key is refused with `BadInput`, whose sentence (on `where`) does not repeat
    those.
    """
    if not base_url and os.environ.get(URL_VARIABLE):
        base_url, where = os.environ[URL_VARIABLE], f"the base URL in {URL_VARIABLE}"
    if base_url is not None and not isinstance(base_url, str):
        raise BadInput(f"{where} is not a text; write it like http://127.0.0.1:8000/v1")
    url = (base_url or DEFAULT_BASE_URL).strip().rstrip("/").removesuffix("/chat/completions")
    if "@" in url:
        raise BadInput(
            f"{where} {shown(url)!r} holds a user or password; take them out, and put the key into the environment variable "
            "OPENAI_API_KEY, or into one that the settings name under api_key_env or headers_env"
        )
    if "?" in url or "#" in url:
        raise BadInput(
            f"{where} {shown(url)!r} holds a query; take it out, and put its parameters into the settings under query "
            "(or query_env, which names environment variables)"
        )
    if not is_address(url):
        raise BadInput(f"{where} {shown(url)!r} is not an address; write it like http://127.0.0.1:8000/v1")
    path = urlsplit(url).path
    if scrub(path) != path:
        raise BadInput(f"{where} {shown(url)!r} holds a key; put the key into the environment variable OPENAI_API_KEY")
    return url


def shown(url: str) -> str:
    """Return an address as it may be shown: without user, password, query and keys, and cut to a readable length."""
    public = re.split(r"[?#]", USER_INFO.sub(r"\1", url), maxsplit=1)[0]
    return scrub(public)[:100]


def is_address(url: str) -> bool:
    """Tell whether a text is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("idna")
        readable = url.isprintable() and not re.search(r"[\s\\]", url)
        return parts.scheme in DEFAULT_PORTS and bool(host) and parts.port != 0 and readable
    except ValueError:
        return False


def is_loopback(base_url: str) -> bool:
    """Tell whether a base URL points at this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address: what has to be the same for a key to be sent there too."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)


def proxy_of(base_url: str) -> str | None:
    """Return the proxy the environment names for an address, None for one here; `BadInput` for no HTTP proxy."""
    parts, proxies = urlsplit(base_url), getproxies()
    if is_loopback(base_url) or is_excepted(base_url, proxies.get("no", "")):
        return None
    scheme = parts.scheme if proxies.get(parts.scheme) else "all"
    proxy = proxies.get(scheme)
    if proxy and not is_address(proxy):
        raise BadInput(
            f"the environment variable {scheme.upper()}_PROXY ({shown(proxy)!r}) is not the address of an HTTP proxy; "
            "write it like http://127.0.0.1:3128, or unset it"
        )
    return proxy or None


def is_excepted(base_url: str, no_proxy: str) -> bool:
    """Tell whether NO_PROXY names an address: by host, host and port, ``*.domain``, or the network that it is in."""
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
    """Refuse an SSL_CERT_FILE that holds no certificates with `BadInput`."""
    named = os.environ.get("SSL_CERT_FILE")
    try:
        ssl.create_default_context(cafile=named or None)
    except OSError:
        raise BadInput(
            f"the environment variable SSL_CERT_FILE ({named!r:.100}) names no file of certificates; name one in PEM form, or unset it"
        ) from None


def reach(base_url: str, where: str, seconds: float | None = None) -> None:
    """Open and close one connection to an endpoint, or to the proxy on the way there; `where` is for the error.

    In a thread that nobody waits for: a look-up of a name cannot be called off, and may take minutes where no server
    answers. `EndpointError` of kind ``connection``, when nothing takes the connection in `seconds` (`REACH_S` by
    default).
    """
    seconds = seconds or REACH_S
    proxy = proxy_of(base_url)
    _, host, port = origin(proxy or base_url)
    outcome: list[str] = []

    def connect() -> None:
        try:
            socket.create_connection((host, port), seconds).close()
            outcome.append("")
        except OSError as error:
            outcome.append("no answer" if isinstance(error, TimeoutError) else error.strerror or str(error))

    thread = threading.Thread(target=connect, daemon=True)
    thread.start()
    thread.join(seconds)
    problem = outcome[0] if outcome else "no answer"
    if problem:
        raise fault(
            "connection",
            where,
            f"{'the proxy ' * bool(proxy)}{host} port {port}: {problem}"
            + (f" in {seconds:g} s" if problem == "no answer" else ""),
        )
