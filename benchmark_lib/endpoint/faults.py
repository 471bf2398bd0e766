"""What can go wrong with one call, by kind: which faults are worth another attempt and what a person should do."""

import asyncio
import json
import re
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .keys import scrub
from .waits import asked_for, wait_in

RETRIED = frozenset({"timeout", "connection", "rate_limit", "server", "bad_body"})
STOPS_THE_RUN = frozenset({"auth", "quota", "not_found", "proxy", "certificate", "stream_only"})
DETAIL_LENGTH, LONGEST_READ = 240, 50_000

ADVICE = {
    "auth": "{where} refused the key ({detail}); set one that is valid there",
    "quota": "the account at {where} has no credit left or its limit is reached ({detail}); "
    "raise the limit, then give the same command again",
    "not_found": "{where} does not know the model or the path ({detail}); "
    "check the model name and the base URL, which usually ends in /v1",
    "proxy": "the proxy on the way to {where} refuses to be used ({detail}); write user and password into the address "
    "in HTTPS_PROXY or HTTP_PROXY, or name the host in NO_PROXY",
    "certificate": "no secure connection to {where} can be made ({detail}); name a file with the certificates to trust "
    "in SSL_CERT_FILE, or begin the base URL with http:// if the server has no TLS",
    "stream_only": "{where} answers only as a stream, which Deskbench does not read ({detail}); "
    "name a model, or a gateway before it, that answers whole",
    "bad_request": "{where} refused the request ({detail}); change the model settings it names",
    "content_filter": "the filter at {where} refused the conversation ({detail})",
    "broken_call": "the model at {where} wrote a tool call that cannot be read ({detail})",
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

REFUSED = frozenset({None, 400, 403, 422, 451})
WORDS: tuple[tuple[str, frozenset[int | None], str], ...] = (
    (
        "quota",
        frozenset({None, 400, 403, 413, 429}),
        r"insufficient[_ ](?:\w+[_ ])?(?:quota|balance|credit|funds)|billing_(?:hard_limit|not_active)|"
        r"credit balance|exceeded your current quota|request too large|\barrearage\b|余额不足|欠费",
    ),
    (
        "broken_call",
        frozenset({None, 400, 422, 424, 500, 502}),
        r"tool_use_failed|failed_generation|failed to call a (?:function|tool)|tool call validation failed|"
        r"output_parse_failed|(?:fail\w*|error|unable|could not) (?:to )?pars(?:e|ing) (?:the )?(?:\w+ )?(?:tool|function)[ _-]?calls?|"
        r"failed to parse input at pos|(?:malformed|invalid)[ _](?:function|tool)[ _]calls? (?:was )?generat|"
        r"malformed_(?:function|tool)_call|(?:generat|produc|output)\w*[^.]{0,30} (?:invalid|malformed|valid) (?:tool|function)[ _]call|"
        r"tool_call_generation_failed|unexpected tokens remaining in message header",
    ),
    (
        "content_filter",
        REFUSED,
        r"^(?!.*(?:\bparameter|\baccount|organi[sz]ation))(?:.*?)(?:"
        r"content[ _-]?(?:filter|polic|management polic|moderat|exists risk|safety)|filtering polic|content_?policy|"
        r"(?:content|input|output|prompt|text|response)[^.]{0,30} (?:flagged|blocked)|request[^.]{0,30} flagged|"
        r"flagged_input|moderation_blocked|"
        r"responsible ?ai ?polic|data_?inspection|inappropriate content|high[ -]risk|prohibited[_ ]content|"
        r"usage (?:polic|guideline)|safety (?:system|filter|check|polic|reason|setting|concern)|safety_check|"
        r"invalid_prompt|sensitive (?:content|information|words?)|(?:input|output|new)[_ ]sensitive|guardrail|"
        r"block_?reason\W+[a-z]|敏感|违规|不安全)",
    ),
    (
        "context_overflow",
        frozenset({None, 400, 413, 422, 500}),
        r"context[ _](?:length|window|size|limit)|maximum (?:context|prompt|input|model|sequence)|"
        r"context_length_exceeded|exceed_context_size|prompt is too long|too many (?:input )?tokens|"
        r"(?:input|prompt|string) (?:is )?too long|reduce the length|range of input length|model token limit|"
        r"(?<![_a-z])(?<!max )(?<!output )(?<!completion )(?:input|prompt|token)s?[^.]{0,60}"
        r"(?:exceed(?:s|ed)?|longer than|greater than|more than|fewer than|less than|must be <=?)"
        r"[^.]{0,40}(?:token|length|limit|maximum|context|\d{4,})|max_(?:completion_|new_)?tokens must be at least 1",
    ),
    (
        "stream_only",
        frozenset({None, 400, 405, 422}),
        r"only supports? (?:the )?stream|stream(?:ing)?(?: mode)? (?:is )?(?:only|required|must be (?:true|enabled|set))|"
        r"must (?:be )?(?:use[d]? |set |called |sent )?(?:with |in |as )?(?:a )?stream|requires? (?:the )?stream|enable the stream|"
        r"non[- ]stream\w*[^.]{0,30} (?:not|un)[ -]?(?:supported|allowed|available)|"
        r"(?:not support|does not support|unsupported) non[- ]stream",
    ),
    (
        "auth",
        frozenset({None, 400}),
        r"(?:api|access)[ _-]?key[^.]{0,20}(?:not valid|invalid|expired|missing)|"
        r"(?:invalid|incorrect|missing)[ _](?:api|access)[ _-]?key|unauthori[sz]ed|not authenticated|authentication (?:fail|requir)",
    ),
    (
        "not_found",
        frozenset({None, 400}),
        r"model_not_found|(?:invalid|unknown|no such) model\b|(?:model|deployment)[^.]{0,60} (?:does not exist|not found|not exist)",
    ),
    ("rate_limit", frozenset({None, 400, 403}), r"rate[ _-]?limit|too many requests|throttl|request_?limit"),
)
"""What error answers say in words: the kind, the statuses (None for none) that may come with them, and the words.

The first that fits counts; providers and the gateways before them give the same trouble many statuses and names.
"""
READ = tuple((kind, statuses, re.compile(words, re.IGNORECASE | re.DOTALL)) for kind, statuses, words in WORDS)
KINDS_OF_STATUS = {
    401: "auth", 402: "quota", 403: "auth", 404: "not_found", 407: "proxy", 408: "timeout", 409: "server",
    410: "not_found", 425: "server", 429: "rate_limit",
}  # fmt: skip
TYPE_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "1002": 429,
    "1004": 401,
    "2049": 401,
    "1008": 402,
    "1113": 402,
    "1026": 400,
    "1027": 400,
    "1039": 400,
    "2013": 400,
    "1302": 429,
}
"""Statuses meant by the error types of OpenAI and Anthropic and the codes of MiniMax and Zhipu, where no number tells."""

HOLD_ERRORS = ("error", "errors", "base_resp", "Error", "fault")
SAY_IT = (
    "message",
    "msg",
    "status_msg",
    "error_msg",
    "error_message",
    "errmsg",
    "detail",
    "error_description",
    "title",
)
NAME_IT = ("code", "status_code", "error_code", "errcode", "status", "type")
ECHOES = frozenset(
    {
        "input",
        "ctx",
        "body",
        "url",
        "failed_generation",
        "request_id",
        "id",
        "object",
        "model",
        "usage",
        "prompt_filter_results",
    }
)
"""Fields of an error that repeat the request, or say nothing of the reason: their words do not count."""


class UnusableAnswer(Exception):
    """An answer that is given up while it is read: of which kind the fault is, and what is wrong with it."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class ErrorAnswer(Exception):
    """An answer with a status that is no success; `said` is the error in its JSON or the whole of it, else its text in UTF-8."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(status)
        self.status, self.headers = status, headers
        self.said: Any = body.decode("utf-8", "replace").strip()
        with suppress(ValueError, RecursionError):
            found = json.loads(self.said)
            self.said = found if error_in(found) is None else error_in(found)


class EndpointError(Exception):
    """A call that brought no completion.

    Attributes
    ----------
    kind : str
        A key of `ADVICE`, such as ``auth``, ``bad_request``, ``context_overflow``, ``rate_limit`` or ``server``.
    fatal, retry : bool
        Whether no other call of this run can fare better, so the run should stop, and whether to try this one again.
    attempts : list of dict
        Every failed attempt: ``kind``, ``status`` (None without an answer), ``detail``, ``wait_s`` before the next one.
    retry_after_s : float or None
        The wait the endpoint asked for.
    status : int or None
        The HTTP status of the last attempt, if there was an answer.
    told : str
        More of what the endpoint said than `detail` shows.
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
        self.told = self.detail
        self.attempts: list[dict[str, Any]] = []

    @property
    def message(self) -> str:
        """The sentence a person is shown."""
        return str(self)


def one_line(text: object, most: int = DETAIL_LENGTH) -> str:
    """Return a text on one line, without keys and control characters, and cut to a readable length."""
    whole = str(text)
    # No key is cut in two and then not known.
    start = whole if len(whole) <= LONGEST_READ else whole[:LONGEST_READ].rpartition(" ")[0]
    line = "".join(character for character in " ".join(scrub(start).split()) if character.isprintable())
    return line if len(line) <= most else line[: most - 3] + "..."


def fault(
    kind: str, where: str, detail: object, *, status: int | None = None, retry_after_s: float | None = None
) -> EndpointError:
    """Build the error of one kind, a key of `ADVICE`; `where` is model and host, `detail` what the endpoint said."""
    text = one_line(detail) or f"status {status}"
    sentence, fatal = ADVICE[kind].format(where=where, detail=text), kind in STOPS_THE_RUN
    return EndpointError(kind, sentence, fatal, status=status, detail=text, retry_after_s=retry_after_s)


def kind_of_status(status: int | None, text: str) -> str:
    """Name the kind of an error answer, a key of `ADVICE`, from its HTTP status and what it says about itself."""
    for kind, statuses, words in () if text.lstrip().startswith("<") else READ:  # a web page has words of its own
        if status in statuses and words.search(text) and not (kind == "quota" and wait_in(text)):
            return kind
    if status in KINDS_OF_STATUS:
        return KINDS_OF_STATUS[status]
    if status is None or status >= 500:
        return "server"
    return "connection" if status < 400 else "bad_request"


def error_in(data: Any) -> Any:
    """Return the error that decoded JSON holds in one of the usual places, None where it holds none there."""
    if isinstance(data, list) and data and isinstance(data[0], dict):
        return error_in(data[0])
    if not isinstance(data, dict):
        return None
    for name in HOLD_ERRORS:
        found = data.get(name)
        found = found[0] if isinstance(found, list) and found else found
        if found and not (isinstance(found, dict) and found.get("status_code", 1) in (0, "0", 200)):
            return found
    return None


def from_error_body(
    error: Any, where: str, status: int | None = None, retry_after_s: float | None = None, otherwise: str = ""
) -> EndpointError:
    """Build the error for what an endpoint says of one, also inside an answer with status 200.

    `otherwise` is its kind where neither a number nor a word in it tells one.
    """
    said = error if isinstance(error, dict) else {"message": error}
    codes = [str(said[name]) for name in NAME_IT if isinstance(said.get(name), str | int)]
    if status is None:
        numbers = (int(c) if re.fullmatch("[45][0-9][0-9]", c) else TYPE_STATUS.get(c) for c in codes)
        status = next((number for number in numbers if number is not None), None)
    reason = {name: value for name, value in said.items() if name not in ECHOES}
    text = str(reason if isinstance(error, dict) else error)[:LONGEST_READ]
    kind = kind_of_status(status, text)
    if otherwise and status is None and kind == "server" and not any(said.get(name) for name in SAY_IT):
        kind, said = otherwise, {"message": "an answer without choices"}
    if kind in RETRIED and retry_after_s is None:
        upstream = said.get("metadata")
        headers = upstream.get("headers") if isinstance(upstream, dict) else None
        retry_after_s = wait_in(text) or (asked_for(headers) if isinstance(headers, dict) else None)
    found = fault(kind, where, described(said, status), status=status, retry_after_s=retry_after_s)
    found.told = one_line(f"{text} {said.get('failed_generation') or ''}", LONGEST_READ)
    return found


def described(said: dict[str, Any], status: int | None) -> str:
    """Return what an error says in a line that keeps, however long it is, the provider's own code and the parameter."""
    message = next((said[name] for name in SAY_IT if said.get(name)), None)
    upstream = said.get("metadata")
    raw = upstream.get("raw") if isinstance(upstream, dict) else None
    rest = next((said[name] for name in NAME_IT if said.get(name)), said if said.keys() - {"message"} else "")
    words = str(message or rest) + f": {raw}" * bool(raw)
    named = [("code", next((said[name] for name in NAME_IT if said.get(name)), None)), ("param", said.get("param"))]
    more = [
        f"{name} {one_line(value, DETAIL_LENGTH // 3)}"
        for name, value in named
        if isinstance(value, str | int) and str(value).strip() and str(value) not in {words, str(status)}
    ]
    tail = f" [{', '.join(more)}]" if more else ""
    return one_line(words, DETAIL_LENGTH - len(tail)) + tail


def from_exception(error: Exception, where: str) -> EndpointError:
    """Translate what the client raised, whatever it was; only an answer can have made it do so: it ends no run."""
    import aiohttp

    if isinstance(error, ErrorAnswer):
        return from_error_body(error.said, where, error.status, asked_for(error.headers, error.status))
    chain = causes(error)
    for cause in chain:
        if isinstance(cause, UnusableAnswer):
            return fault(cause.kind, where, cause)
        if isinstance(
            cause, (aiohttp.http_exceptions.BadHttpMessage, aiohttp.ClientPayloadError)
        ) and "content-encoding" in str(cause):
            return fault("bad_body", where, "the body's encoding is broken")
        if isinstance(cause, aiohttp.ClientHttpProxyError):
            kind = "proxy" if cause.status in (403, 407) else "connection"
            return fault(
                kind, where, f"the proxy answers with status {cause.status} {cause.message}", status=cause.status
            )
        if isinstance(cause, aiohttp.ClientResponseError):
            return fault("bad_body", where, f"an answer that is not HTTP: {cause.message}")
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, (aiohttp.ClientError, *CUT_OFF)):
            return fault("certificate", where, getattr(cause, "verify_message", "") or cause.reason or cause)
    if any(isinstance(cause, asyncio.TimeoutError) for cause in chain):
        return fault("timeout", where, "no complete answer within the time allowed")
    if isinstance(error, (aiohttp.ClientError, OSError)):
        return fault("connection", where, str(chain[-1]) or type(chain[-1]).__name__)
    return fault("bad_body", where, f"an answer that cannot be read: {type(error).__name__}: {error}")


CUT_OFF = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""Faults of a secure connection that another attempt may not meet."""


def causes(error: BaseException) -> list[BaseException]:
    """Return the error and the causes below it, outermost first."""
    chain: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in chain:
        chain.append(step)
        step = step.__cause__
    return chain
