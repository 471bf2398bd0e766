"""What can go wrong with one call, by kind: which faults are worth another attempt and what a person should do."""

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from .keys import scrub

RETRIED = frozenset({"timeout", "connection", "rate_limit", "server", "bad_body"})
STOPS_THE_RUN = frozenset({"auth", "quota", "not_found"})
DETAIL_LENGTH, LONGEST_READ = 240, 50_000
LONGEST_MEANT_S = 7 * 86_400.0
"""A longer wait that an endpoint asks for is a mistake, and is not asked for at all."""

ADVICE = {
    "auth": "{where} refused the key ({detail}); set one that is valid there",
    "quota": "the account at {where} has no credit left or its limit is reached ({detail}); "
    "raise the limit, then give the same command again",
    "not_found": "{where} does not know the model or the path ({detail}); "
    "check the model name and the base URL, which usually ends in /v1",
    "bad_request": "{where} refused the request ({detail}); change the model settings it names",
    "context_overflow": "the conversation does not fit the context window at {where} ({detail}); "
    "use a model or a server setting with a longer one",
    "timeout": "{where} did not answer in time ({detail}); give it longer with --timeout or ask for less at once",
    "connection": "{where} cannot be reached ({detail}); check that the server runs and that the base URL is right",
    "rate_limit": "{where} takes no more requests for now ({detail}); give the same command again later",
    "server": "{where} fails on its side ({detail}); give the same command again later",
    "bad_body": "{where} sends answers that are no chat completions ({detail}); check that the base URL is an "
    "OpenAI-compatible one",
}
"""For each kind the sentence a person is shown."""

OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|context_length_exceeded|exceed_context_size|"
    r"prompt is too long|too many (?:input )?tokens|input (?:is )?too long|reduce the length",
    re.IGNORECASE,
)
NO_CREDIT = re.compile(
    r"insufficient[_ ](?:quota|balance|credit|funds)|billing_(?:hard_limit|not_active)|credit balance|"
    r"exceeded your current quota|request too large",
    re.IGNORECASE,
)
WAIT_IN_TEXT = re.compile(r"(?:try again|retry) in (\d+(?:\.\d+)?) ?(ms|s)\b", re.IGNORECASE)
TYPE_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""Statuses meant by the error types that OpenAI and Anthropic name, for errors that come without a number."""

FILTERED = re.compile(r"content_filter|content_policy_violation|ResponsibleAIPolicyViolation|data_inspection_failed")


class UnusableAnswer(Exception):
    """An answer that is given up while it is read: of which kind the fault is, and what is wrong with it."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class ErrorAnswer(Exception):
    """An answer with a status that is no success; `said` is what its JSON has under ``error`` or as a whole, else its text in UTF-8."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers = status, headers
        self.said: Any = body.decode("utf-8", "replace").strip()
        with suppress(ValueError, RecursionError):
            found = json.loads(self.said)
            found = found.get("error", found) if isinstance(found, dict) else found
            self.said = self.said if found is None else found


class EndpointError(Exception):
    """A call that brought no completion.

    Attributes
    ----------
    kind : str
        ``auth``, ``quota``, ``not_found``, ``bad_request``, ``context_overflow``, ``timeout``, ``connection``,
        ``rate_limit``, ``server`` or ``bad_body``.
    fatal, retry : bool
        Whether no other call of this run can fare better, so the run should stop, and whether to try this one again.
    attempts : list of dict
        Every failed attempt: ``kind``, ``status`` (None without an answer), ``detail``, ``wait_s`` before the next one.
    retry_after_s : float or None
        The wait the endpoint asked for.
    status : int or None
        The HTTP status of the last attempt, if there was an answer.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        fatal: bool = False,
        *,
        status: int | None = None,
        detail: str = "",
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(scrub(message))
        self.kind, self.fatal, self.status = kind, fatal, status
        self.detail = one_line(detail)
        self.retry = kind in RETRIED
        self.retry_after_s = retry_after_s
        self.attempts: list[dict[str, Any]] = []

    @property
    def message(self) -> str:
        """The sentence a person is shown."""
        return str(self)


def one_line(text: object) -> str:
    """Return a text on one line, without keys and control characters, and cut to a readable length."""
    whole = str(text)
    # No key is cut in two and then not known.
    start = whole if len(whole) <= LONGEST_READ else whole[:LONGEST_READ].rpartition(" ")[0]
    line = "".join(character for character in " ".join(scrub(start).split()) if character.isprintable())
    return line if len(line) <= DETAIL_LENGTH else line[: DETAIL_LENGTH - 3] + "..."


def fault(
    kind: str, where: str, detail: object, *, status: int | None = None, retry_after_s: float | None = None
) -> EndpointError:
    """Build the error of one kind, a key of `ADVICE`; `where` is model and host, `detail` what the endpoint said."""
    text = one_line(detail) or f"status {status}"
    sentence, fatal = ADVICE[kind].format(where=where, detail=text), kind in STOPS_THE_RUN
    return EndpointError(kind, sentence, fatal, status=status, detail=text, retry_after_s=retry_after_s)


def kind_of_status(status: int | None, text: str) -> str:
    """Name the kind of an error answer from its HTTP status and everything it says about itself.

    A key of `ADVICE`, or ``content_filter`` where the provider's filter refused the conversation.
    """
    if status == 402 or (status in (None, 400, 403, 429) and NO_CREDIT.search(text) and not WAIT_IN_TEXT.search(text)):
        return "quota"
    if status in (400, 403, None) and (FILTERED.search(text) or "flagged_input" in text):
        return "content_filter"
    if status in (None, 400, 413, 422, 500) and OVERFLOW.search(text):
        return "context_overflow"
    if status in (401, 403, 407):
        return "auth"
    if status in (404, 410) or (status == 400 and "model_not_found" in text):
        return "not_found"
    if status == 429:
        return "rate_limit"
    if status == 408:
        return "timeout"
    if status is None or status in (409, 425) or status >= 500:
        return "server"
    if status < 400:
        return "connection"
    return "bad_request"


def from_error_body(
    error: Any, where: str, status: int | None = None, retry_after_s: float | None = None
) -> EndpointError:
    """Build the error for what an endpoint put under ``error``, also inside an answer with status 200."""
    said = error if isinstance(error, dict) else {"message": error}
    inner = said.get("code")
    if status is None:
        status = (
            int(str(inner)) if re.fullmatch("[45][0-9][0-9]", str(inner)) else TYPE_STATUS.get(str(said.get("type")))
        )
    text = str(error)[:LONGEST_READ]
    kind, wait = kind_of_status(status, text), WAIT_IN_TEXT.search(text)
    if kind == "rate_limit" and retry_after_s is None and wait:
        seconds = float(wait[1]) * (0.001 if wait[2].lower() == "ms" else 1.0)
        retry_after_s = seconds if seconds <= LONGEST_MEANT_S else None
    detail = said.get("message") or said.get("detail") or said.get("code") or error
    named = [
        f"{name} {said[name]}" for name in ("param", "code") if said.get(name) and str(said[name]) not in str(detail)
    ]
    if isinstance(detail, str) and named:
        detail = f"{detail[:LONGEST_READ]} ({', '.join(named)})"
    if kind == "content_filter":
        return EndpointError(
            kind, f"the filter at {where} refused the conversation", status=status, detail=one_line(detail)
        )
    return fault(kind, where, detail, status=status, retry_after_s=retry_after_s)


def from_exception(error: Exception, where: str) -> EndpointError:
    """Translate what the client raised, whatever it was; only an answer can have made it do so: it ends no run."""
    import aiohttp

    if isinstance(error, ErrorAnswer):
        return from_error_body(error.said, where, error.status, retry_after(error.headers))
    chain = causes(error)
    for cause in chain:
        if isinstance(cause, UnusableAnswer):
            return fault(cause.kind, where, cause)
        if isinstance(
            cause, (aiohttp.http_exceptions.BadHttpMessage, aiohttp.ClientPayloadError)
        ) and "content-encoding" in str(cause):
            return fault("bad_body", where, "the body's encoding is broken")
        if isinstance(cause, aiohttp.ClientResponseError):
            return fault("bad_body", where, f"an answer that is not HTTP: {cause.message}")
    if any(isinstance(cause, asyncio.TimeoutError) for cause in chain):
        return fault("timeout", where, "no complete answer within the time allowed")
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return fault("connection", where, str(chain[-1]) or type(chain[-1]).__name__)
    return fault("bad_body", where, f"an answer that cannot be read: {type(error).__name__}: {error}")


def causes(error: BaseException) -> list[BaseException]:
    """Return the error and the causes below it, outermost first."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__
    return chain


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait in seconds an answer asks for (seconds, milliseconds, an HTTP date), None for one nobody means."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = (headers.get(name) or "").strip()
        try:
            seconds = float(value) * scale
        except ValueError:
            continue
        if 0 <= seconds <= LONGEST_MEANT_S:
            return seconds
    try:
        moment = parsedate_to_datetime(headers.get("retry-after") or "")
    except (TypeError, ValueError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = (moment - (now or datetime.now(UTC))).total_seconds()
    return max(0.0, seconds) if seconds <= LONGEST_MEANT_S else None
