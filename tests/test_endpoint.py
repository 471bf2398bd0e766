"""The call itself against real HTTP servers.

What goes over the wire, which faults are survived, and what ends a run.
"""

import asyncio
import contextlib
import gzip
import json
import time
import traceback
import tracemalloc
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from types import SimpleNamespace

import orjson
import pytest
from servers import FAULTS, Answer, FaultPlan, ScriptedServer, completion, error_body

from benchmark_lib.endpoint import Endpoint, EndpointError, scrub, start_delay_s
from benchmark_lib.endpoint.client import DEAD_AFTER
from benchmark_lib.endpoint.http import proxy_of
from benchmark_lib.endpoint.retries import Limiter, asked_for
from benchmark_lib.errors import BadInput

HELLO = [{"role": "user", "content": "Hello, where is my order?"}]
TOOLS = [{"type": "function", "function": {"name": "get_order", "parameters": {"type": "object", "properties": {}}}}]
KINDS = {
    "429": "rate_limit",
    "429_retry_after": "rate_limit",
    "500": "server",
    "502_html": "server",
    "html_200": "bad_body",
    "cut_json": "bad_body",
    "cut_body": "connection",
    "empty_body": "bad_body",
    "reset": "connection",
    "hang": "timeout",
    "error_in_200": "server",
    "null_choices": "bad_body",
}
SILENT_S = 2.0
"""How long an endpoint that never answers is waited for.

More than a sound one needs on a machine busy with other things.
"""


def ask(server, messages=HELLO, tools=None, body=None, **options):
    """Make one call of a server in an event loop of its own."""

    async def once():
        async with Endpoint(
            "some-model", server.base_url, **{"wait_scale": 0.001, "timeout": 5, **options}
        ) as endpoint:
            return await endpoint.complete(messages, tools, **(body or {}))

    return asyncio.run(once())


def refused(server, **options):
    """Make one call that brings no completion, and return its error."""
    with pytest.raises(EndpointError) as caught:
        ask(server, **options)
    return caught.value


class Failing(ScriptedServer):
    """A server whose first answers are the given ones, and whose further ones are sound."""

    def __init__(self, *first):
        super().__init__(lambda request, number: first[number] if number < len(first) else "Sound.")


class TestTheWire:
    def test_what_a_request_holds(self):
        settings = {"body": {"temperature": 0, "seed": None, "reasoning_effort": "low"}, "headers": {"X-Title": "desk"}}
        with ScriptedServer("Hello, Anna.") as server:
            answer = ask(server, tools=TOOLS, body={"max_tokens": 9}, api_key="sk-test-1234567890", settings=settings)
        assert server.requests == [
            {
                "model": "some-model",
                "messages": HELLO,
                "tools": TOOLS,
                "temperature": 0,
                "reasoning_effort": "low",
                "max_tokens": 9,
            }
        ]
        headers = server.headers[0]
        assert headers["authorization"] == "Bearer sk-test-1234567890" and headers["x-title"] == "desk"
        assert headers["content-type"] == "application/json"
        assert (answer.text, answer.finish_reason, answer.attempts, answer.usage.calls) == (
            "Hello, Anna.",
            "stop",
            [],
            1,
        )
        assert answer.latency_s > 0 and answer.raw["object"] == "chat.completion"

    def test_the_json_on_the_wire_is_that_of_the_openai_package(self):
        from openai import OpenAI

        with ScriptedServer() as server:
            ask(server, tools=TOOLS)
            with OpenAI(api_key="local", base_url=server.base_url) as client:
                client.chat.completions.create(model="some-model", messages=HELLO, tools=TOOLS)
        ours, theirs = server.requests
        assert ours == theirs

    @pytest.mark.parametrize("own", [{}, {"X-title": "desk", "user-agent": "desk", "ACCEPT": "*/*"}])
    def test_the_headers_on_the_wire_are_those_of_the_openai_package(self, own):
        from openai import AsyncOpenAI

        async def of_the_package(base_url):
            async with AsyncOpenAI(api_key="local", base_url=base_url, timeout=5, default_headers=own) as client:
                await client.chat.completions.create(model="some-model", messages=HELLO, tools=TOOLS)

        with ScriptedServer() as server:
            ask(server, tools=TOOLS, settings={"headers": own})
            asyncio.run(of_the_package(server.base_url))
        its_own = (*([] if own else ["user-agent"]), "accept-encoding", "connection", "idempotency-key")
        ours, theirs = ({n: v for n, v in headers.items() if n not in its_own} for headers in server.headers)
        assert ours == theirs and "x-stainless-lang" in ours

    def test_tool_calls_come_back_and_go_out_again(self):
        with ScriptedServer(
            lambda request, number: completion(None, [("get_order", {"order_id": "NL-1"})], request)
        ) as server:
            answer = ask(server, tools=TOOLS)
            call = answer.tool_calls[0]
            assert (call.name, call.arguments, answer.finish_reason) == (
                "get_order",
                {"order_id": "NL-1"},
                "tool_calls",
            )
            ask(server, [*HELLO, answer.message(), {"role": "tool", "tool_call_id": call.id, "content": "{}"}], TOOLS)
        assert server.requests[1]["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"order_id":"NL-1"}'

    def test_a_reply_of_a_megabyte(self):
        with ScriptedServer(lambda request, number: "words " * 180_000) as server:
            assert len(ask(server).text) == 1_080_000

    def test_one_endpoint_in_two_event_loops(self):
        with ScriptedServer() as server:
            endpoint = Endpoint("some-model", server.base_url)

            async def once():
                async with endpoint:
                    return (await endpoint.complete(HELLO)).text

            assert asyncio.run(once()) == asyncio.run(once()) == "Hello."

    def test_a_local_server_is_reached_past_any_proxy(self, monkeypatch):
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
        with ScriptedServer() as server:
            assert ask(server, attempts=1).text == "Hello."

    def test_another_machine_is_reached_through_the_proxy_of_the_environment(self, monkeypatch):
        with ScriptedServer() as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://anna:secret@127.0.0.1:{proxy.port}")
            answer = ask(
                SimpleNamespace(base_url="http://models.example/v1"), api_key="a-key-for-elsewhere", attempts=1
            )
        assert answer.text == "Hello." and proxy.headers[0]["host"] == "models.example"
        assert proxy.headers[0]["proxy-authorization"].startswith("Basic ")
        monkeypatch.setenv("NO_PROXY", "models.example")
        assert proxy_of("http://models.example/v1") is None

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    @pytest.mark.parametrize(
        "place",
        [
            "/v1/chat/completions",
            "http://127.0.0.1:{port}/v1",
            "http://localhost:{port}/v1",
            "https://127.0.0.1/v1",
            "ftp://x/",
            "http://anna:secret@127.0.0.1:{own}/v1",
        ],
    )
    def test_a_redirect_gets_neither_the_key_nor_the_conversation(self, place, status):
        with ScriptedServer() as other, ScriptedServer() as server:
            server.reply = Answer(b"", status, {"Location": place.format(port=other.port, own=server.port)})
            error = refused(server, attempts=2, api_key="sk-test-1234567890")
        assert (error.kind, server.count, other.count) == ("connection", 1, 0)
        assert "base URL" in str(error) and "secret" not in str(error)

    @pytest.mark.parametrize("status, headers", [(307, {}), (308, {"Location": ""}), (304, {})])
    def test_a_redirect_without_a_target_is_tried_again(self, status, headers):
        with Failing(Answer(b"", status, headers)) as server:
            answer = ask(server)
        (attempt,) = answer.attempts
        assert answer.text == "Sound." and attempt["kind"] == "connection" and f"status {status}" in attempt["detail"]

    @pytest.mark.filterwarnings("ignore:Sending a large body")
    def test_a_request_larger_than_any_buffer_on_the_way(self):
        letter = [{"role": "user", "content": "My case rattles. " * 500_000}]
        with ScriptedServer() as server:
            assert ask(server, letter, timeout=30).text == "Hello."
        assert server.requests[0]["messages"] == letter

    def test_an_answer_that_comes_compressed(self):
        body = Answer(gzip.compress(orjson.dumps(completion("Short."))), headers={"Content-Encoding": "gzip"})
        with ScriptedServer(body) as server:
            assert ask(server).text == "Short."
        assert "gzip" in server.headers[0]["accept-encoding"]

    def test_more_connections_than_an_http_client_allows_by_default(self):
        async def all_at_once():
            async with Endpoint("some-model", server.base_url, concurrency=150) as endpoint:
                await asyncio.gather(*(endpoint.complete(HELLO) for _ in range(150)))

        with ScriptedServer(hold=150) as server:
            asyncio.run(all_at_once())
        assert server.most_in_flight == 150


class TestFaultsSurvived:
    def test_the_list_is_whole(self):
        assert KINDS.keys() == FAULTS.keys()

    @pytest.mark.parametrize("name", FAULTS)
    def test_each_fault_is_tried_again_and_recorded(self, name):
        with Failing(FAULTS[name], FAULTS[name]) as server:
            answer = ask(server, timeout=SILENT_S if name == "hang" else 5)
        assert answer.text == "Sound." and server.count == 3
        assert [attempt["kind"] for attempt in answer.attempts] == [KINDS[name]] * 2
        assert all(
            attempt.keys() == {"kind", "status", "detail", "wait_s"} and attempt["wait_s"] > 0
            for attempt in answer.attempts
        )

    @pytest.mark.parametrize("seed", [1, 2])
    def test_a_third_of_all_attempts_fails_and_every_call_is_answered(self, seed):
        async def talk(base_url):
            async with Endpoint("some-model", base_url, wait_scale=0.001, timeout=SILENT_S, concurrency=20) as endpoint:
                asked = [[{"role": "user", "content": f"question {n}"}] for n in range(80)]
                return await asyncio.gather(*(endpoint.complete(messages) for messages in asked))

        def echo(request, number):
            return "answer to " + request["messages"][0]["content"]

        plan = FaultPlan(seed)
        with ScriptedServer(echo, faults=plan) as server:
            answers = asyncio.run(talk(server.base_url))
        assert [answer.text for answer in answers] == [f"answer to question {n}" for n in range(80)]
        recorded = Counter(attempt["kind"] for answer in answers for attempt in answer.attempts)
        planned = Counter(KINDS[name] for name in plan.injected.elements())
        assert recorded >= planned and set(recorded - planned) <= {"timeout"}, (
            "a busy machine may add a timeout of its own"
        )
        assert recorded.total() > 15

    def test_an_answer_of_another_kind_after_the_last_attempt_is_an_error_with_all_attempts(self):
        with ScriptedServer(FAULTS["500"]) as server:
            error = refused(server, attempts=3)
        assert (error.kind, error.status, error.fatal, server.count) == ("server", 500, False, 3)
        assert [attempt["wait_s"] > 0 for attempt in error.attempts] == [True, True, False]

    def test_the_wait_that_is_asked_for_is_kept(self):
        with Failing(
            Answer(status=429, headers={"Retry-After": "3"}), Answer(status=503, headers={"retry-after-ms": "40000"})
        ) as server:
            waits = [attempt["wait_s"] for attempt in ask(server).attempts]
        assert waits == [0.003, 0.04]

    @pytest.mark.parametrize(
        "message, wait_s",
        [
            ("Rate limit reached. Please try again in 6.5s.", 0.0065),
            ("Please try again in 900ms.", 0.0009),
            ("You exceeded your current quota. Please retry in 22s.", 0.022),
        ],
    )
    def test_a_wait_that_is_only_in_the_text_is_kept_too(self, message, wait_s):
        with Failing(Answer(error_body(message), 429)) as server:
            (attempt,) = ask(server).attempts
        assert attempt["kind"] == "rate_limit" and attempt["wait_s"] == pytest.approx(wait_s, abs=0.001)

    def test_no_wait_at_all_is_not_taken_literally(self):
        with Failing(Answer(status=503, headers={"Retry-After": "0"})) as server:
            assert ask(server).attempts[0]["wait_s"] > 0

    @pytest.mark.parametrize(
        "value, seconds",
        [
            ("5", 5.0),
            ("0.5", 0.5),
            ("soon", None),
            ("", None),
            ("-3", None),
            ("nan", None),
            ("inf", None),
            ("1e9", None),
            ("9" * 5000, None),
            ("Mon, 01 Jan 99999 00:00:00 GMT", None),
            ("Fri, 31 Dec 9999 23:59:59 -2359", None),
            ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0),
            ("Mon, 01 Jan 2024 00:00:00 +9999", None),
        ],
    )
    def test_retry_after_in_seconds(self, value, seconds):
        assert asked_for({"retry-after": value}) == seconds

    def test_retry_after_as_a_date(self):
        now = datetime(2026, 6, 29, 10, tzinfo=UTC)
        assert asked_for({"retry-after": format_datetime(now + timedelta(seconds=90), usegmt=True)}, now=now) == 90.0

    def test_a_wait_of_an_hour_ends_the_run_and_says_so(self):
        with ScriptedServer(Answer(error_body("daily limit"), 429, {"Retry-After": "3600"})) as server:
            error = refused(server)
        assert (error.kind, error.fatal, server.count) == (
            "rate_limit",
            True,
            1,
        ) and "rerun the same command later" in str(error)

    @pytest.mark.parametrize("charset", ["utf-16", "rot13", "hex", "idna", "bogus", "\u00e9", "undefined"])
    @pytest.mark.parametrize("status", [200, 303, 400, 500])
    def test_a_text_in_another_encoding_than_it_says_ends_nothing(self, charset, status):
        with ScriptedServer(
            Answer(b"\xff{no text}", status, {"Content-Type": f"text/html; charset={charset}"})
        ) as server:
            error = refused(server, attempts=1)
        assert error.kind == {200: "bad_body", 303: "connection", 400: "bad_request", 500: "server"}[status]

    def test_whatever_the_client_trips_over_is_a_fault_of_this_call(self, monkeypatch):
        monkeypatch.setattr("benchmark_lib.endpoint.http.read_body", lambda *given: 1 / 0)
        with ScriptedServer() as server:
            error = refused(server, attempts=1)
        assert error.kind == "bad_body" and "ZeroDivisionError" in str(error) and error.__cause__ is None

    def test_the_verdict_of_llmock(self, llmock):
        llmock.rate_limit(times=2, retry_after=0.2).fail(503).reply("Hello from the mock.")

        async def once():
            async with Endpoint("gpt-4o", llmock.base_url("openai"), wait_scale=1.0) as endpoint:
                return await endpoint.complete(HELLO)

        assert asyncio.run(once()).text == "Hello from the mock."
        llmock.assert_resilient(strict=True)


class TestAnAnswerWithoutEnd:
    BOMB = gzip.compress(b" " * 50_000_000)

    def test_what_is_compressed_is_counted_as_it_unfolds_and_memory_stays_flat(self):
        bomb = Answer(self.BOMB, headers={"Content-Encoding": "gzip"})
        with Failing(bomb) as server:
            ask(server)
        with Failing(bomb) as server:
            tracemalloc.start()
            answer = ask(server)
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        (attempt,) = answer.attempts
        assert answer.text == "Sound." and attempt["kind"] == "bad_body" and most < 20_000_000
        assert "more than 4 MB" in attempt["detail"] and "max_answer_mb" in attempt["detail"]

    @pytest.mark.parametrize("limit, fits", [(None, True), (0.9, False), (1.1, True)])
    def test_the_limit_is_a_setting(self, limit, fits):
        with ScriptedServer(completion("x" * 1_000_000)) as server:
            if fits:
                assert len(ask(server, attempts=1, settings={"max_answer_mb": limit}).text) == 1_000_000
            else:
                assert "more than 0.9 MB" in str(refused(server, attempts=1, settings={"max_answer_mb": limit}))

    def test_of_an_error_only_the_beginning_is_read(self):
        with ScriptedServer(Answer(b"it broke " * 1_000_000, 500)) as server:
            error = refused(server, attempts=1)
        assert (error.kind, error.status) == ("server", 500) and len(error.detail) <= 240

    @pytest.mark.parametrize(
        "first, rest, delay_s, kind",
        [
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                b"10000\r\n" + b" " * 65536 + b"\r\n",
                0,
                "bad_body",
            ),
            (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", b" " * 65536, 0, "bad_body"),
            (b"HTTP/1.1 200 OK\r\n", b"X-A: b\r\n", 0, "bad_body"),
            (b"HTTP/1.1 200 OK\r\nX-A: ", b"b" * 1000, 0, "bad_body"),
            (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.01, "timeout"),
            (b"HTTP/1.1 200 OK\r\nX", b"x", 0.02, "timeout"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", b" ", 0.02, "timeout"),
        ],
        ids=["chunks", "body", "headers", "a header", "continue", "slow header", "slow body"],
    )
    def test_it_is_given_up(self, first, rest, delay_s, kind):
        async def pour(_, writer):
            with contextlib.suppress(ConnectionError):
                writer.write(first)
                while True:
                    writer.write(rest)
                    await writer.drain()
                    await asyncio.sleep(delay_s)

        async def once():
            server = await asyncio.start_server(pour, "127.0.0.1", 0)
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
            async with server, Endpoint("some-model", url, attempts=1, timeout=0.5) as endpoint:
                await endpoint.complete(HELLO)

        with pytest.raises(EndpointError) as caught:
            asyncio.run(once())
        assert caught.value.kind == kind


class TestWhatCannotBeMended:
    @pytest.mark.parametrize(
        "status, body, kind, advice",
        [
            (
                401,
                error_body("Incorrect API key", "invalid_request_error", "invalid_api_key"),
                "auth",
                "OPENAI_API_KEY",
            ),
            (403, error_body("no access"), "auth", "key"),
            (402, error_body("pay first"), "quota", "limit"),
            (
                429,
                error_body("You exceeded your current quota", "insufficient_quota", "insufficient_quota"),
                "quota",
                "limit",
            ),
            (
                404,
                error_body("The model `x` does not exist", "invalid_request_error", "model_not_found"),
                "not_found",
                "model name",
            ),
            (404, b"<html>nginx</html>", "not_found", "base URL"),
            (400, error_body("Unsupported parameter: temperature"), "bad_request", "settings"),
            (422, {"detail": [{"msg": "field required"}]}, "bad_request", "settings"),
        ],
    )
    def test_it_ends_at_once_with_what_to_do(self, status, body, kind, advice):
        with ScriptedServer(Answer(body, status)) as server:
            error = refused(server)
        greeted = kind == "bad_request"  # a greeting shows whether all requests are refused
        assert (error.kind, error.fatal, error.status, server.count) == (kind, True, status, 1 + greeted)
        assert advice in str(error) and "some-model at 127.0.0.1" in str(error) and "\n" not in str(error)

    @pytest.mark.parametrize(
        "status, body",
        [
            (400, error_body("This model's maximum context length is 8192 tokens", code="context_length_exceeded")),
            (400, error_body("request (19563 tokens) exceeds the available context size", "exceed_context_size_error")),
            (413, error_body("prompt is too long: 210000 tokens")),
            (200, error_body("maximum context length exceeded", code=400)),
        ],
    )
    def test_a_full_context_is_this_conversations_matter_only(self, status, body):
        with ScriptedServer(Answer(body, status)) as server:
            error = refused(server)
        assert (error.kind, error.fatal, server.count) == ("context_overflow", False, 1)

    @pytest.mark.parametrize(
        "reply",
        [
            Answer(error_body("The response was filtered", code="content_filter"), 400),
            Answer({"error": {"message": "moderation", "code": 403, "metadata": {"flagged_input": "x"}}}, 403),
            completion("", finish_reason="content_filter"),
        ],
    )
    def test_a_filter_is_a_finish_reason_whichever_way_it_is_said(self, reply):
        with ScriptedServer(reply) as server:
            answer = ask(server)
        assert (answer.finish_reason, answer.text, server.count) == ("content_filter", "", 1)

    def test_a_refused_request_after_a_taken_one_ends_only_its_conversation(self):
        async def twice():
            async with Endpoint("some-model", server.base_url) as endpoint:
                await endpoint.complete(HELLO)
                await endpoint.complete(HELLO)

        with (
            ScriptedServer(
                lambda request, number: Answer(error_body("bad unicode"), 400) if number else "Hello."
            ) as server,
            pytest.raises(EndpointError) as caught,
        ):
            asyncio.run(twice())
        assert caught.value.kind == "bad_request" and not caught.value.fatal

    def test_a_dead_endpoint_ends_every_call_and_then_the_run(self):
        with ScriptedServer() as server:
            gone = server.base_url

        async def all_calls():
            async with Endpoint("some-model", gone, attempts=3, wait_scale=0.001) as endpoint:
                calls = (endpoint.complete(HELLO) for _ in range(DEAD_AFTER))
                return await asyncio.gather(*calls, return_exceptions=True)

        errors = asyncio.run(all_calls())
        assert [error.kind for error in errors] == ["connection"] * DEAD_AFTER
        assert sorted(error.fatal for error in errors) == [False] * (DEAD_AFTER - 1) + [True]

    def test_a_silent_endpoint_ends_after_its_attempts(self):
        with ScriptedServer(Answer(hang=True)) as server:
            error = refused(server, timeout=SILENT_S, attempts=3)
        assert error.kind == "timeout" and server.count == 3 and "--timeout" in str(error)


class TestKeys:
    KEY = "sk-very-secret-0123456789"

    def test_no_key_reaches_an_error_a_traceback_a_record_or_a_picture_of_the_endpoint(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", self.KEY)

        def repeat_the_key(request, number):
            header = server.headers[-1]["authorization"]
            return [
                Answer(error_body(f"what is {header}?"), 500),
                Answer(header.encode()),
                completion(f"Your key is {header}"),
                Answer(error_body(f"{header} is wrong"), 401),
            ][number]

        with ScriptedServer(repeat_the_key) as server:
            answer = ask(server)
            with pytest.raises(EndpointError) as caught:
                ask(server)
            shown = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
            locals_shown = "".join(
                traceback.TracebackException.from_exception(caught.value, capture_locals=True).format()
            )
            endpoint = Endpoint("some-model", server.base_url)
        for text in (
            shown,
            locals_shown,
            str(answer.attempts),
            json.dumps(answer.raw),
            answer.text,
            repr(endpoint),
            repr(vars(endpoint)),
        ):
            assert self.KEY not in text
        assert answer.text == "Your key is Bearer [key]"
        assert caught.value.__context__ is None and caught.value.__cause__ is None

    def test_scrub_knows_the_environment_and_the_usual_shapes(self, monkeypatch):
        monkeypatch.setenv("SOME_PROVIDER_API_KEY", "plainlookingvalue")
        assert scrub("a plainlookingvalue b sk-proj-abcdefghijk c") == "a [key] b [key] c"
        assert scrub("nothing to hide, Bearer of news") == "nothing to hide, Bearer of news"

    def test_without_a_key_a_server_elsewhere_is_refused_and_one_here_is_not(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        with pytest.raises(BadInput, match="set the environment variable OPENAI_API_KEY"):
            Endpoint("gpt-5.5")
        with pytest.raises(BadInput, match="MY_KEY"):
            Endpoint("m", "https://api.example.com/v1", settings={"api_key_env": "MY_KEY"})
        with ScriptedServer() as server:
            ask(server)
        assert server.headers[0]["authorization"] == "Bearer local"

    @pytest.mark.parametrize("key", ["sk-abc\ndef-123456", "sk-zw\u200bsp-123456", "sk with spaces"])
    def test_a_key_that_was_copied_badly_is_refused_without_being_shown(self, monkeypatch, key):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(BadInput, match="copy it again") as caught:
            Endpoint("m", "http://127.0.0.1:9/v1")
        assert key not in str(caught.value)

    def test_a_key_with_a_line_end_is_used_without_it(self, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", self.KEY + "\n")
        with ScriptedServer() as server:
            ask(server)
        assert server.headers[0]["authorization"] == f"Bearer {self.KEY}"

    @pytest.mark.parametrize("url", ["nonsense", "ftp://host/v1", "http://", "http://host:port/v1", "http://[::1/v1"])
    def test_an_address_that_is_none_is_refused(self, url):
        with pytest.raises(BadInput, match="is not an address"):
            Endpoint("m", url, api_key="sk-12345678")


class TestTheLimiter:
    def test_never_more_in_flight_than_allowed(self):
        async def many():
            async with Endpoint("some-model", server.base_url, concurrency=7) as endpoint:
                await asyncio.gather(*(endpoint.complete(HELLO) for _ in range(50)))

        with ScriptedServer(latency_s=0.01, hold=7) as server:
            asyncio.run(many())
        assert server.most_in_flight == 7

    def test_it_halves_on_429_and_recovers(self):
        async def run():
            async with Endpoint("some-model", server.base_url, concurrency=16, wait_scale=0.001) as endpoint:
                await endpoint.complete(HELLO)
                halved = endpoint.in_flight_limit
                for _ in range(16):
                    await asyncio.gather(*(endpoint.complete(HELLO) for _ in range(16)))
                return halved, endpoint.in_flight_limit

        with Failing(FAULTS["429"]) as server:
            assert asyncio.run(run()) == (8, 16)

    def test_refusals_of_one_wave_halve_it_once(self):
        async def run():
            limiter = Limiter(32)
            async with limiter as first, limiter as second:
                limiter.refused(first)
                limiter.refused(second)
            async with limiter as third:
                limiter.refused(third)
            return limiter.limit

        assert asyncio.run(run()) == 8.0

    def test_it_never_falls_under_one(self):
        limiter = Limiter(4)
        for _ in range(9):
            limiter.refused(time.monotonic())
        assert limiter.limit == 1.0

    def test_a_cancelled_call_leaves_its_place(self):
        async def run():
            limiter = Limiter(1)

            async def hold(seconds):
                async with limiter:
                    await asyncio.sleep(seconds)

            holder, *waiting = [asyncio.create_task(hold(0.02)) for _ in range(4)]
            await asyncio.sleep(0.005)
            waiting[0].cancel()
            await holder
            waiting[1].cancel()  # just when the place was given to it
            await asyncio.gather(*waiting, return_exceptions=True)
            return limiter.in_flight, waiting[2].cancelled()

        assert asyncio.run(run()) == (0, False)

    def test_starts_are_spread_over_one_latency(self):
        assert [start_delay_s(n, 4, 2.0) for n in range(6)] == [0.0, 0.5, 1.0, 1.5, 0.0, 0.0]
