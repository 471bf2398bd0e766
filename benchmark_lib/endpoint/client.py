"""One chat-completion call done well: `Endpoint`.

Requests look like those of the ``openai`` package. Its own ``create`` walks every message, so that its cost grows with
the conversation.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from .faults import EndpointError, from_exception
from .history import Manner, cleaned
from .http import Client, check_base_url, check_certificates, is_loopback, proxy_of
from .keys import LOOPBACK_KEY, check_key, find_key, hide
from .reply import Completion, as_answer, decode_body, encode_body, parse_reply
from .retries import LONGEST_RETRY_AFTER_S, Limiter, wait_before
from .settings import RoleSettings, role_settings

DEFAULT_TIMEOUT_S = 120.0
DEFAULT_ATTEMPTS = 6
DEFAULT_CONCURRENCY = 50
DEFAULT_ANSWER_MB = 4.0
"""Four times the longest answer of today's models. The whole answer is kept in memory and in the run file."""
HELLO = ({"role": "user", "content": "Hello"},)
HELLO_S = 10.0
"""The request that checks key and model, and the seconds to wait for its answer."""
DEAD_AFTER = 10
"""Number of calls that must fail in a row, after all attempts, before an endpoint counts as dead."""
Messages = Sequence[dict[str, Any]]
Tools = list[dict[str, Any]] | None


def _names(tools: Tools) -> set[str]:
    return {tool["function"]["name"] for tool in tools or ()}


class Endpoint:
    """A model behind an OpenAI-compatible endpoint.

    Each event loop that calls it gets its own client, closed by `aclose` in that loop or by ``async with``. A base URL,
    key or setting that cannot work is refused with `BadInput` before anything is sent.

    Parameters
    ----------
    model, base_url : str
        The model's name at the endpoint, and the endpoint's address (default: settings, ``OPENAI_BASE_URL``, OpenAI).
    api_key : str, optional
        The key. By default it comes from the environment variable that the settings name, or else ``OPENAI_API_KEY``. A
        server on this machine needs no key.
    settings : RoleSettings or dict, optional
        Model settings of the role; see `benchmark_lib.endpoint.settings`.
    timeout : float, optional
        Time limit of one attempt in seconds, from sending to the last byte; default 120.
    attempts, concurrency : int, optional
        Maximum number of attempts per call (default 6) and of requests in flight (default 50). The second limit is
        halved when the endpoint answers 429.
    wait_scale : float
        Factor applied to the waits between attempts, for tests.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        settings: RoleSettings | dict[str, Any] | None = None,
        timeout: float | None = None,
        attempts: int | None = None,
        concurrency: int | None = None,
        wait_scale: float = 1.0,
    ) -> None:
        self.model = model
        self.settings = role_settings(settings)
        self.base_url = check_base_url(base_url or self.settings.base_url)
        if api_key:
            key = check_key(api_key, "api_key")
        else:
            host = urlsplit(self.base_url).hostname or ""
            key = find_key(self.settings.api_key_env, host, needed=not is_loopback(self.base_url))
        self._key_from = "" if api_key else self.settings.api_key_env
        self.keyless = not api_key and key == LOOPBACK_KEY
        headers = self.settings.all_headers()
        query = urlencode(self.settings.all_query())
        proxy_of(self.base_url)  # refuses a proxy that cannot work, before anything is sent
        check_certificates(self.base_url)
        self.timeout = timeout or self.settings.timeout or DEFAULT_TIMEOUT_S
        self.attempts = attempts or self.settings.attempts or DEFAULT_ATTEMPTS
        self.concurrency = concurrency or self.settings.concurrency or DEFAULT_CONCURRENCY
        self.where = f"{model} at {urlsplit(self.base_url).netloc}"
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Client] = weakref.WeakKeyDictionary()
        self._wait_scale = wait_scale
        self._manner = Manner(self.settings.thoughts)
        self._answered = False
        self._failed_in_row = 0
        secrets = {key, *self.settings.secrets()}
        address = f"{self.base_url}/chat/completions{'?' * bool(query)}{query}"
        most_bytes = int(1e6 * (self.settings.max_answer_mb or DEFAULT_ANSWER_MB))
        where = self.where
        timeout_s = self.timeout
        most = self.concurrency
        # only two functions know the secrets, so that no repr of the endpoint shows them
        self._opened = lambda: Client(address, where, timeout_s, most_bytes, Limiter(most), key, headers)
        self._hidden = lambda answer: hide(answer.decode("utf-8", "surrogateescape"), secrets)

    def __repr__(self) -> str:
        return f"Endpoint({self.where})"

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    async def greet(self) -> None:
        """Make a one-token call, to refuse an unknown key, model or address at once.

        Raise `EndpointError` only for a kind that stops a run or if nothing accepts the connection.
        """
        try:
            async with asyncio.timeout(HELLO_S):
                await self._post(self.request_body(HELLO, extra={"max_tokens": 1}))
        except TimeoutError:
            pass
        except EndpointError as error:
            if error.fatal or error.unreached:
                raise self._final(error) from None
        finally:
            await self.aclose()

    @property
    def in_flight_limit(self) -> int:
        """Number of requests that may be in flight now in the running event loop."""
        return int(self._client().limiter.limit)

    async def complete(self, messages: Messages, tools: Tools = None, **body: Any) -> Completion:
        """Return one completion of a conversation in the chat-completions format.

        `body` adds fields to the request and overrides those of the settings; None removes a field.

        Returns
        -------
        Completion
            The completion, with the failed attempts before it. A refusal by the provider's filter, in whatever form,
            becomes a completion whose `finish_reason` is ``content_filter``.

        Raises
        ------
        EndpointError
            When there is no completion after all attempts, or at once if another attempt cannot help.
        """
        try:
            completion = await self._attempts(messages, tools, body)
        except EndpointError as error:
            answer = as_answer(error, messages)
            if answer is None:
                error.fatal = error.fatal or await self._refuses_all(error, tools, body)
                raise self._final(error) from None
            completion = answer
        self._answered, self._failed_in_row = True, 0
        return completion

    def request_body(
        self,
        messages: Messages,
        tools: Tools = None,
        extra: dict[str, Any] | None = None,
        manner: Manner | None = None,
    ) -> bytes:
        """Return the JSON body: model, conversation, tools, settings and `extra`."""
        sent = cleaned(messages, manner or self._manner, _names(tools))
        fields = {"model": self.model, "messages": sent, **self.settings.body, **(extra or {})}
        if tools:
            fields["tools"] = tools
        return encode_body({name: value for name, value in fields.items() if value is not None})

    async def _attempts(self, messages: Messages, tools: Tools, body: dict[str, Any]) -> Completion:
        """Try until an attempt succeeds or no other can help; learn the form that refusals ask for."""
        client = self._client()
        failed: list[dict[str, Any]] = []
        known = manner = self._manner
        while True:
            content = self.request_body(messages, tools, body, manner)
            async with client.limiter as sent_at:
                started = time.perf_counter()
                try:
                    completion = parse_reply(decode_body(await self._post(content), self.where), messages, self.where)
                except EndpointError as error:
                    failed.append({"kind": error.kind, "status": error.status, "detail": error.detail, "wait_s": 0.0})
                    error.attempts = failed
                    if error.kind == "rate_limit":
                        client.limiter.refused(sent_at)
                    if (error.retry_after_s or 0.0) > LONGEST_RETRY_AFTER_S:
                        error.retry, error.fatal = False, True
                    other = manner.after(error, messages, _names(tools)) if error.kind == "bad_request" else None
                    again = error.retry and len(failed) < self.attempts and (self._answered or not error.unreached)
                    if other is not None:
                        manner, wait_s = other, 0.0
                    elif again:
                        wait_s = wait_before(len(failed) + 1, error.retry_after_s) * self._wait_scale
                    else:
                        raise
                else:
                    client.limiter.succeeded()
                    if manner is not known:
                        self._manner = manner
                    completion.latency_s = time.perf_counter() - started
                    completion.attempts = failed
                    return completion
            failed[-1]["wait_s"] = round(wait_s, 3)
            await asyncio.sleep(wait_s)

    async def _refuses_all(self, error: EndpointError, tools: Tools, body: dict[str, Any]) -> bool:
        # An endpoint that refused its first request may refuse every request, even a greeting.
        if error.kind != "bad_request" or self._answered:
            return False
        try:
            await self._post(self.request_body(HELLO, tools, body))
        except EndpointError as other:
            return other.kind == "bad_request"
        self._answered = True
        return False

    async def _post(self, content: bytes) -> bytes:
        """Send a body and return the answer's body; turn every exception into an `EndpointError`."""
        try:
            async with asyncio.timeout(self.timeout):
                answer = await self._client().answer(content)
        except Exception as error:
            known = from_exception(error, self.where)
        else:
            return self._hidden(answer).encode("utf-8", "surrogateescape")
        # raised here, it has no context and, without frames, no locals: both would contain the request with its key
        raise known.with_traceback(None)

    def _final(self, error: EndpointError) -> EndpointError:
        # Name the variable of a refused key, and decide whether the error ends the run.
        if error.kind == "auth" and self.keyless:
            error.args = (f"{self.where} requires a key, and {self._key_from} is not set: set it ({error.detail})",)
        elif error.kind == "auth" and self._key_from:
            error.args = (f"{error} in {self._key_from}",)
        if error.retry:
            self._failed_in_row += 1
            error.fatal = error.fatal or self._failed_in_row >= DEAD_AFTER
        return error

    def _client(self) -> Client:
        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = self._clients[loop] = self._opened()
        return client
