"""Sort faults by kind, which says whether to try again and what a person should do."""

import asyncio
import json
import re
import ssl
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from ..project import DATA
from ..textfiles import read_yaml
from .keys import scrub
from .retries import asked_for, wait_in

RETRIED = frozenset({"timeout", "connection", "rate_limit", "server", "bad_body"})
STOPS_THE_RUN = frozenset({"auth", "quota", "not_found", "proxy", "certificate", "stream_only"})
WRAPPED = re.compile(
    r"(?:[\w.]+(?: \w+Error)?(?:: | - ))*(?:Error code: (?=\d+ - )|\{\s*\"error\":\s*\{\s*\"code\": *)([45]\d\d)\b"
)
"""Beginning of a message in which a gateway wraps its provider's error; quotations come later."""
DETAIL_LENGTH, LONGEST_READ, MOST_LEVELS = 240, 50_000, 20
CUT_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""Faults of a secure connection that another attempt may not meet."""


class EndpointError(Exception):
    """Raised for a call that returned no completion.

    `kind` is listed in ``data/endpoints.yaml``; `status` is the last answer's HTTP status. `words` has more of the
    endpoint's text than `detail`. `fatal` means that no other call of this run can fare better. `retry` means that
    another attempt is worthwhile, after `retry_after_s` seconds if the endpoint asked for a wait. An endpoint that
    accepts no connection or redirects is `unreached`. `attempts` lists the failed ones with ``kind``, ``status`` (None
    without an answer), ``detail`` and ``wait_s``, the seconds before the next.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        fatal: bool = False,
        *,
        status: int | None = None,
        detail: str = "",
        words: str | None = None,
        retry_after_s: float | None = None,
        unreached: bool = False,
    ) -> None:
        super().__init__(scrub(message))
        self.kind, self.fatal, self.status = kind, fatal, status
        self.detail = one_line(detail)
        self.words = self.detail if words is None else words
        self.retry, self.retry_after_s, self.unreached = kind in RETRIED, retry_after_s, unreached
        self.attempts: list[dict[str, Any]] = []


def one_line(text: object, most: int = DETAIL_LENGTH) -> str:
    """Return a text on one line, without keys and control characters, cut to `most`."""
    whole = str(text)
    # Cut at a blank: half a key would not be recognized.
    start = whole if len(whole) <= LONGEST_READ else whole[:LONGEST_READ].rpartition(" ")[0]
    line = scrub("".join(character for character in " ".join(start.split()) if character.isprintable()))
    return line if len(line) <= most else line[: most - 3] + "..."


def fault(kind: str, where: str, detail: object, *, status: int | None = None, **more: Any) -> EndpointError:
    """Build an error of a kind; `where` names model and host, `detail` is the endpoint's text."""
    text = one_line(detail) or f"status {status}"
    sentence = book()["advice"][kind].format(where=where, detail=text)
    return EndpointError(kind, sentence, kind in STOPS_THE_RUN, status=status, detail=text, **more)


def _kind_of_status(status: int | None, text: str) -> str:
    told = (kind for kind in kinds_in(text, status) if not (kind == "quota" and wait_in(text)))
    rest = "server" if status is None or status >= 500 else "connection" if status < 400 else "bad_request"
    return next(told, book()["kinds_of_status"].get(status, rest))


def _kind_inside(codes: list[str], message: str, text: str) -> str | None:
    # The kind of a provider's error inside a gateway's error, by its code or the beginning of its message.
    head = WRAPPED.match(message)
    sure = next((int(code) for code in (*codes, head[1] if head else "") if re.fullmatch("4[0-9][0-9]", code)), None)
    return _kind_of_status(sure, text) if sure else None


def _without_request(content: Any, levels: int = MOST_LEVELS) -> Any:
    # An error may quote the request, and may be nested to any depth.
    if isinstance(content, dict):
        kept = {n: value for n, value in content.items() if n not in book()["fields"]["repeat"] and value is not None}
        return {name: _without_request(value, levels - 1) for name, value in kept.items() if levels}
    if isinstance(content, list):
        return [_without_request(part, levels - 1) for part in content if levels]
    return content


def error_in(data: Any) -> Any:
    """Return the error in decoded JSON, from one of the usual places, or None."""
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return error_in(data[0])
    for name in book()["fields"]["hold"] if isinstance(data, dict) else ():
        error = data.get(name)
        error = error[0] if isinstance(error, list) and error else error
        if error and not (isinstance(error, dict) and error.get("status_code", 1) in (0, "0", 200)):
            return error
    return None


def from_error_body(
    error: Any, where: str, status: int | None = None, retry_after_s: float | None = None, otherwise: str = ""
) -> EndpointError:
    """Build the error for an endpoint's error text, even if it came with status 200.

    `otherwise` is the kind to use if no number or word in the text decides it.
    """
    fields = book()["fields"]
    given = error if isinstance(error, dict) else {"message": error}
    content = _without_request(given)
    text = str(content if given is error else content["message"])[:LONGEST_READ]
    message = next((content[name] for name in fields["say"] if content.get(name)), "")
    codes = [str(content[name]) for name in fields["name"] if isinstance(content.get(name), str | int)]
    if status is None:
        numbers = (int(c) if re.fullmatch("[45][0-9][0-9]", c) else book()["codes"].get(c) for c in codes)
        status = next((number for number in numbers if number is not None), None)
    kind = _kind_of_status(status, text)
    if (status or 0) >= 500:
        kind = _kind_inside(codes, str(message), text) or kind
    if otherwise and status is None and kind == "server" and not message:
        kind, content, message = otherwise, {}, "an answer without choices"
    upstream = content.get("metadata") if isinstance(content.get("metadata"), dict) else {}
    if kind in RETRIED and retry_after_s is None:
        headers = upstream.get("headers")
        retry_after_s = wait_in(text) or (asked_for(headers) if isinstance(headers, dict) else None)
    code = next((content[name] for name in fields["name"] if content.get(name)), "")
    words = str(message or code or (content if content.keys() - {"message"} else ""))
    words += f": {upstream['raw']}" if upstream.get("raw") else ""
    # The provider's code and parameter are always kept, however long the words are.
    more = [
        f"{name} {one_line(value, DETAIL_LENGTH // 3)}"
        for name, value in (("code", code), ("param", content.get("param")))
        if isinstance(value, str | int) and str(value).strip() and str(value) not in {words, str(status)}
    ]
    tail = f" [{', '.join(more)}]" if more else ""
    detail = one_line(words, DETAIL_LENGTH - len(tail)) + tail
    all_words = one_line(f"{text} {given.get('failed_generation') or ''}", LONGEST_READ)
    return fault(kind, where, detail, status=status, retry_after_s=retry_after_s, words=all_words)


def from_status(status: int, headers: Mapping[str, str], body: bytes, where: str) -> EndpointError:
    """Build the error for an answer with an error status."""
    content: Any = body.decode("utf-8", "replace").strip()
    with suppress(ValueError, RecursionError):
        decoded = json.loads(content)
        content = error_in(decoded) or decoded
    return from_error_body(content, where, status, asked_for(headers))


def from_exception(error: Exception, where: str) -> EndpointError:
    """Translate any exception of the client; an unknown one is blamed on the answer."""
    import aiohttp

    if isinstance(error, EndpointError):
        return error
    chain: list[BaseException] = [error]  # the error and the causes below it
    while (cause := chain[-1].__cause__) is not None and cause not in chain:
        chain.append(cause)
    for cause in chain:
        broken = isinstance(cause, (aiohttp.http_exceptions.BadHttpMessage, aiohttp.ClientPayloadError))
        if broken and "content-encoding" in str(cause):
            return fault("bad_body", where, "the body's encoding is broken")
        if isinstance(cause, aiohttp.ClientHttpProxyError):
            kind = "proxy" if cause.status in (403, 407) else "connection"
            return fault(kind, where, f"status {cause.status} {cause.message} of the proxy", status=cause.status)
        if isinstance(cause, aiohttp.ClientResponseError):
            return fault("bad_body", where, f"an answer that is not HTTP: {cause.message}")
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, (aiohttp.ClientError, *CUT_OFF)):
            return fault("certificate", where, getattr(cause, "verify_message", "") or cause.reason or cause)
    unreached = isinstance(error, (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError))
    if not unreached and any(isinstance(cause, asyncio.TimeoutError) for cause in chain):
        return fault("timeout", where, "no complete answer within the time allowed")
    if isinstance(error, (aiohttp.ClientError, OSError)):
        proxy = "the proxy: " * isinstance(error, aiohttp.ClientProxyConnectionError)
        why = f"{proxy}{str(chain[-1]) or str(error) or type(error).__name__}"
        return fault("connection", where, why, unreached=unreached)
    return fault("bad_body", where, f"an answer that cannot be read: {type(error).__name__}: {error}")


WHOLE = "whole"


@lru_cache(maxsize=1)
def book() -> dict[str, Any]:
    """Return the content of ``data/endpoints.yaml``."""
    return read_yaml(DATA / "endpoints.yaml")


@lru_cache(maxsize=256)
def pattern(*words: str) -> re.Pattern[str]:
    """Return one regular expression with the given expressions as alternatives."""
    return re.compile("|".join(words), re.IGNORECASE | re.MULTILINE)


def kinds_in(text: str, status: int | None) -> Iterable[str]:
    """Yield the kinds of error that a text may mean, likeliest first; none for a web page."""
    for entry in book()["refusals"] if not text.lstrip().startswith("<") else ():
        denied = "unless" in entry and pattern(entry["unless"]).search(text)
        if (status or 0) in entry["statuses"] and not denied and pattern(*entry["words"]).search(text):
            yield entry["kind"]


def end_meant(word: str) -> str | None:
    """Return our name for a finish reason: `WHOLE` for a complete answer, None if unknown."""
    ends = book()["ends"]
    if pattern(ends[WHOLE]).fullmatch(word):
        return WHOLE
    return next((name for name, words in ends.items() if name != WHOLE and pattern(words).search(word)), None)


def apart(text: str) -> tuple[str, list[str]]:
    """Split a text into what the reader sees and the thoughts between tags.

    Text before a closing tag that nothing opened is a thought; so is text after an opening tag that nothing closes.
    """
    if not any(first in text for first in "<[◁"):
        return text, []
    tags = book()["thoughts"]
    visible: list[str] = []
    thoughts: list[str] = []
    at, thinking = 0, False
    for tag in pattern(f"(?P<close>{'|'.join(tags['close'])})", *tags["open"]).finditer(text):
        (thoughts if thinking else visible).append(text[at : tag.start()])
        if tag["close"] and not thinking:
            thoughts, visible = thoughts + visible, []
        thinking, at = not tag["close"], tag.end()
    frame = pattern(*tags["frame"])
    if not at and not frame.search(text):
        return text, []
    (thoughts if thinking else visible).append(text[at:])
    return frame.sub("", "".join(visible)).strip(), [one.strip() for one in thoughts if one.strip()]


def call_in_text(text: str, tools: Iterable[str]) -> str:
    """Return the form of the first tool call that a reply writes as text, or an empty string."""
    return next((form for form, shape in _forms(tuple(tools)).items() if shape.search(text)), "")


@lru_cache(maxsize=64)
def _forms(tools: tuple[str, ...]) -> dict[str, re.Pattern[str]]:
    names = "|".join(map(re.escape, tools)) or r"(?!)"
    return {form: pattern(shape.replace("NAMES", names)) for form, shape in book()["calls_in_text"].items()}
