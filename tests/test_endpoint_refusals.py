"""What an endpoint says in words of its own: filters, full contexts, ends, waits, thoughts in tags, calls in the text."""

import asyncio
import contextlib
import ssl
import subprocess
from base64 import b64encode
from types import SimpleNamespace

import pytest
from servers import Answer, ScriptedServer, completion, error_body

from benchmark_lib import BadInput, Experiment
from benchmark_lib.endpoint import Endpoint, EndpointError
from benchmark_lib.endpoint.http import proxy_of
from benchmark_lib.experiment.summary import summary
from benchmark_lib.runfile import RunFile

HELLO = [{"role": "user", "content": "Hello, where is my order?"}]


def ask(reply, **options):
    """The outcome of one call of a server, completion or error, and how many requests it took."""

    async def once(base_url):
        async with Endpoint("m", base_url, **{"wait_scale": 0.001, "timeout": 5, "attempts": 3, **options}) as endpoint:
            return await endpoint.complete(HELLO)

    with ScriptedServer(reply) as server:
        try:
            return asyncio.run(once(server.base_url)), server.count
        except EndpointError as error:
            return error, server.count


def said(message, status=400, **more):
    return Answer(
        {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}, status
    )


@pytest.mark.parametrize(
    "refusal",
    [
        said("Output blocked by content filtering policy"),
        said("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", code="invalid_prompt"),
        said("The response was filtered due to the prompt triggering Azure OpenAI's content management policy."),
        said("litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - ...", code="400"),
        said("<400> InternalError.Algo.DataInspectionFailed: Input data may contain inappropriate content."),
        said("Content Exists Risk"),
        said("The request was rejected because it was considered high risk", type="content_filter"),
        said("Content violates usage guidelines. Team: x, API key ID: y, Failed check: SAFETY_CHECK_TYPE_X", 403),
        said("系统检测到输入或生成内容可能包含不安全或敏感内容", code="1301"),
        Answer([{"error": {"code": 400, "message": "blocked: PROHIBITED_CONTENT", "status": "INVALID_ARGUMENT"}}], 400),
        Answer({"base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}, "choices": None}),
        Answer({"choices": [], "promptFeedback": {"blockReason": "SAFETY"}, "usage": {"prompt_tokens": 9}}),
        Answer({"detail": "Request flagged by moderation: content policy"}, 422),
        *(
            completion("I", finish_reason=word)
            for word in ("content_filter: SAFETY", "SAFETY", "sensitive", "RECITATION", "PROHIBITED_CONTENT", "refusal",
                         "guardrail_intervened", "BLOCKLIST", "ERROR_TOXIC")
        ),
    ],
)  # fmt: skip
def test_a_filter_is_known_by_its_words(refusal):
    answer, count = ask(refusal)
    assert (getattr(answer, "finish_reason", str(answer)), count) == ("content_filter", 1)


@pytest.mark.parametrize(
    "message, kind",
    [
        ("Unknown parameter: 'safety_settings'.", "bad_request"),
        ("max_tokens must be less than or equal to 8192", "bad_request"),
        ("Unsupported value: 'temperature' does not support 0 with this model.", "bad_request"),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", "context_overflow"),
        ("Range of input length should be [1, 30720]", "context_overflow"),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", "context_overflow"),
        ("Input is too long for requested model.", "context_overflow"),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", "context_overflow"),
        ("Invalid request: Your request exceeded model token limit: 8192", "context_overflow"),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000", "context_overflow"),
        ("prompt token count of 80000 exceeds the limit of 64000", "context_overflow"),
        ("API key not valid. Please pass a valid API key.", "auth"),
        ("This model only support stream mode, please enable the stream parameter.", "stream_only"),
        ("Non-streaming requests are not supported by this model", "stream_only"),
        ("Access denied, please make sure your account is in good standing. Arrearage", "quota"),
    ],
)
def test_other_refusals_are_known_by_their_words(message, kind):
    assert ask(said(message))[0].kind == kind


@pytest.mark.parametrize(
    "message, status, kind",
    [
        ("litellm.InternalServerError: OpenAIException - Error code: 401 - {'message': 'no such key'}", 500, "auth"),
        (
            '{"error":{"code":429,"message":"Quota exceeded, retry in 12s","status":"RESOURCE_EXHAUSTED"}}',
            500,
            "rate_limit",
        ),
        ("litellm.APIError: OpenAIException - Error code: 404 - {'message': 'no such model'}", 502, "not_found"),
        ("Budget has been exceeded! Current cost: 10.2, Max budget: 10.0", 400, "quota"),
        ("the upstream of order 404 broke", 500, "server"),
    ],
)
def test_an_error_wrapped_by_a_gateway_is_the_providers(message, status, kind):
    assert ask(said(message, status))[0].kind == kind


@pytest.mark.parametrize("code, kind", [(401, "auth"), ("404", "not_found"), (None, "server")])
def test_a_gateway_may_give_the_providers_status_in_a_field_of_its_own(code, kind):
    assert ask(said("the provider refused", 502, code=code))[0].kind == kind


@pytest.mark.parametrize(
    "words",
    [
        "the page shows error code 404",
        "the shop site says: status: 403",
        'it said {"code": 401}',
        "Error code: 401 - is what I see",
        "error code 400, insufficient funds",
        "status 429: no such model",
    ],
)
@pytest.mark.parametrize("place", ["message", "detail", "input"])
def test_words_of_a_conversation_in_a_500_do_not_end_the_run(words, place):
    def reply(request, number):
        echo = f"Internal error while processing: {words}"
        if number == 0:
            return Answer({"detail": [{"msg": "it broke", "input": words}]} if place == "input" else {place: echo}, 500)
        return "On its way."

    outcome, count = ask(reply)
    assert count == 2 and not getattr(outcome, "fatal", False)


@pytest.mark.parametrize("levels", [100, 900, 100_000])
def test_an_error_nested_beyond_reason_is_an_error(levels):
    error, count = ask(Answer(b'{"error":{"message":"it broke","more":' + b"[" * levels + b"]" * levels + b"}}", 500))
    assert (error.kind, count) == ("server", 3)


def test_a_broken_call_that_a_gateway_reports_as_its_own_outage_is_handed_back():
    text = 'ServiceUnavailableError: GroqException - {"error":{"message":"tool call validation failed: parameters for tool get_order"}}'
    answer, count = ask(said(text, 503))
    assert (answer.finish_reason, answer.tool_calls[0].name, count) == ("malformed_call", "get_order", 1)


class TestEnds:
    @pytest.mark.parametrize(
        "word",
        ["model_length", "MAX_TOKENS", "max_output_tokens", "Length", "model_context_window_exceeded", "ERROR_LIMIT"],
    )
    def test_a_reply_that_was_cut_reaches_nobody(self, word, tmp_path):
        record = played(completion("Your parcel is", finish_reason=word), tmp_path)
        assert record.ended_by == "agent_fault" and record.faults[0].kind == "cut_by_length" and not record.replies()

    @pytest.mark.parametrize(
        "word", ["insufficient_system_resource", "network_error", "abort", "error", "OTHER", "timeout"]
    )
    def test_a_fault_of_the_provider_is_tried_again(self, word):
        answer, count = ask(lambda r, n: completion("I", finish_reason=word) if n == 0 else "Whole.")
        assert (answer.text, count, answer.attempts[0]["kind"]) == ("Whole.", 2, "server")

    @pytest.mark.parametrize("word", ["stop", "STOP", "end_turn", "eos", "COMPLETE", "tool_calls", None])
    def test_a_whole_reply_is_one(self, word):
        body = completion("Whole.")
        body["choices"][0]["finish_reason"] = word
        assert ask(body)[0].text == "Whole."

    def test_a_word_that_nobody_knows_is_no_end_and_costs_one_attempt(self):
        error, count = ask(completion("I", finish_reason="zorp"))
        assert isinstance(error, EndpointError) and count == 1 and "'zorp'" in str(error)

    @pytest.mark.parametrize(
        "native", [{"native_finish_reason": "SAFETY"}, {"provider_specific_fields": {"native_finish_reason": "SAFETY"}}]
    )
    def test_what_a_gateway_calls_a_plain_end_is_read_by_the_providers_own_word(self, native):
        body = completion("I")
        body["choices"][0] |= native
        assert ask(body)[0].finish_reason == "content_filter"

    @pytest.mark.parametrize(
        "word", ["MALFORMED_FUNCTION_CALL", "function_call_filter: MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"]
    )
    def test_a_broken_call_goes_back_to_the_model_as_one(self, word, tmp_path):
        def reply(request, number):
            return completion('{"name": "get_order"', (), request, word) if number == 0 else "On its way."

        record = played(reply, tmp_path)
        assert (record.tool_calls[0].name, record.tool_calls[0].error) == ("get_order", "bad_json")
        assert record.replies()[0].text == "On its way."

    def test_an_end_without_a_message_is_an_empty_reply_that_is_paid_once(self):
        body = completion("")
        del body["choices"][0]["message"]
        answer, count = ask(body)
        assert (answer.text, count, answer.usage.prompt_tokens) == ("", 1, 12)


def played(reply, folder, **options):
    """The record of one conversation with a server."""
    path = folder / "run.deskbench"
    with ScriptedServer(reply) as server:
        options = {"cases": "tracking_1", "trials": 1, "messages": 2, "out": path, "progress": False, **options}
        asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
    return RunFile(path).record("tracking_1", 1)


class TestWaits:
    @pytest.mark.parametrize(
        "body, headers, wait_s",
        [
            ("Rate limited, retry after 45 seconds", {}, 0.045),
            ("Please try again in 1m12s. Visit us.", {}, 0.072),
            ("try again in 450ms", {}, 0.00045),
            ("Please wait 1 minute and 5 seconds before the next request", {}, 0.065),
            ({"message": "x", "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}, {}, 0.034),
            ("x", {"retry-after-ms": "40000"}, 0.04),
            ("x", {"llm_provider-retry-after": "33"}, 0.033),
        ],
    )  # fmt: skip
    def test_what_is_asked_for_is_kept(self, body, headers, wait_s):
        error = body if isinstance(body, dict) else {"message": body, "type": "rate_limit_error"}
        answer, _ = ask(lambda r, n: Answer({"error": error}, 429, headers) if n == 0 else "Sound.")
        assert answer.attempts[0]["wait_s"] == pytest.approx(wait_s, abs=0.0006)

    @pytest.mark.parametrize(
        "words, headers",
        [
            ("Too many requests, try again at 10:30", {}),
            ("Your limit resets at 10:30 PM", {}),
            ("The limit resets 10:30:00; wait until 10:30", {}),
            ("Try again after 10:30 pm", {}),
        ],
    )
    def test_a_time_of_day_or_a_wait_that_nobody_means_is_no_wait(self, words, headers):
        error = error_body(words, "rate_limit_error")
        answer, count = ask(lambda r, n: Answer(error, 429, headers) if n == 0 else "Sound.")
        assert (answer.text, count) == ("Sound.", 2) and answer.attempts[0]["wait_s"] < 0.01


class TestThoughtsInTags:
    @pytest.mark.parametrize(
        "content, text",
        [
            ("<think>a</think>Hi.<think>b</think>", "Hi."),
            ("<think>a</think>Hi. <think>b", "Hi."),
            ("<thinking>a</thinking>\n\nHi.", "Hi."),
            ("<THOUGHT type='x'>a</THOUGHT>Hi.", "Hi."),
            ("[THINK]a[/THINK]Hi.", "Hi."),
            ("a [/THINK] Hi.", "Hi."),
            ("a</think>b</think>Hi.", "Hi."),
            ("<think>a<think>b</think>c</think>Hi.", "Hi."),
            ("<think>a <think>b</think>Hi.", "Hi."),
            ("<thinking>never closed", ""),
            ("<reasoning>a</reasoning>Hi.", "Hi."),
            ("<seed:think>a</seed:think>Hi.", "Hi."),
            ("◁think▷a◁/think▷Hi.", "Hi."),
            ("<|begin_of_thought|>a<|end_of_thought|>Hi.", "Hi."),
            ("<|START_THINKING|>a<|END_THINKING|>Hi.", "Hi."),
            ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Hi.", "Hi."),
            ("I think <b>so</b>, and thought of it.", "I think <b>so</b>, and thought of it."),
        ],
    )
    def test_they_reach_neither_the_customer_nor_the_scorer(self, content, text):
        answer, _ = ask(completion(content))
        assert answer.text == text and (answer.reasoning != "") == (text != content)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "get_order"}</tool_call>',
        "<function=get_order><parameter=order_id>NL-1</parameter></function>",
        '[TOOL_CALLS]get_order{"order_id": "NL-1"}',
        '```json\n{"name": "get_order", "parameters": {"order_id": "NL-1"}}\n```',
        '[get_order(order_id="NL-1")]',
        'Let me look.\nget_order(order_id="NL-1")',
        "<|python_tag|>get_order.call()",
        "Action: get_order\nAction Input: NL-1",
        "<｜tool▁calls▁begin｜>get_order",
        '<invoke name="get_order">',
        '<|channel|>commentary to=functions.get_order <|constrain|>json<|message|>{"order_id": "NL-1"}<|call|>',
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=get_order<|message|>{}",
    ],
)
def test_a_tool_call_in_the_text_is_counted_and_never_carried_out(text, tmp_path):
    record = played(text, tmp_path)
    assert record.tool_calls == [] and [f.kind for f in record.faults if f.side == "agent"] == ["call_in_text"] * 2
    (line,) = [line for line in summary(RunFile(tmp_path / "run.deskbench")) if "written as text" in line]
    assert "2 in 1 conversation (" in line and "tracking_1 trial 1" in line


def test_a_reply_that_names_an_order_is_no_tool_call(tmp_path):
    record = played("I looked at your order (NL-1) and will get_order details. Action: none is needed.", tmp_path)
    assert not record.faults


class TestErrorsInsideA200:
    @pytest.mark.parametrize(
        "body, kind, words",
        [
            ({"base_resp": {"status_code": 1004, "status_msg": "login fail"}, "choices": None}, "auth", "login fail"),
            ({"base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}, "quota", "balance"),
            ([{"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}}], "server", "overloaded"),
            ({"detail": "Not authenticated"}, "auth", "Not authenticated"),
            ({"code": 1302, "msg": "too many requests"}, "rate_limit", "too many"),
            ({"code": 40001, "msg": "the gateway is upset"}, "server", "the gateway is upset"),
            (
                {"object": "error", "message": "The model `x` does not exist.", "code": 404},
                "not_found",
                "does not exist",
            ),
            ({"errors": [{"message": "no capacity"}]}, "server", "no capacity"),
        ],
    )
    def test_they_are_what_they_say(self, body, kind, words):
        error, _ = ask(Answer(body))
        assert error.kind == kind and words in str(error)

    @pytest.mark.parametrize("start", [b"data: {}\n\n", b"event: x\ndata: {}\n\n", b": PROCESSING\n\ndata: {}\n\n"])
    def test_a_stream_is_named_as_one_and_not_tried_again(self, start):
        error, count = ask(Answer(start, headers={"Content-Type": "text/event-stream"}))
        assert (error.kind, error.fatal, count) == ("stream_only", True, 1) and "only as a stream" in str(error)

    def test_what_a_router_passes_on_of_its_provider_is_told(self):
        meta = {"raw": "upstream: the adapter is not loaded", "provider_name": "Novita"}
        error, _ = ask(Answer({"error": {"message": "Provider returned error", "code": 400, "metadata": meta}}, 400))
        assert "the adapter is not loaded" in str(error)


class TestOnTheWay:
    def test_a_407_is_the_proxys(self, monkeypatch):
        with ScriptedServer(Answer(b"no", 407)) as proxy:
            for scheme in ("http", "https"):
                monkeypatch.setenv(f"{scheme.upper()}_PROXY", proxy.base_url)
                with pytest.raises(EndpointError) as caught:
                    asyncio.run(once(f"{scheme}://models.example/v1"))
                assert (caught.value.kind, caught.value.fatal) == ("proxy", True)
                assert f"{scheme.upper()}_PROXY" in str(caught.value) or "HTTPS_PROXY or HTTP_PROXY" in str(
                    caught.value
                )
        assert proxy.count == 2, "each of them is tried once"

    @pytest.mark.parametrize("status", [200, 407])
    def test_user_and_password_of_a_proxy_go_there_and_are_shown_nowhere(self, monkeypatch, status):
        with ScriptedServer(Answer(completion("Via the proxy."), status)) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://us%20er:p%40ss%3Aw@127.0.0.1:{proxy.port}")
            try:
                said = asyncio.run(once("http://models.example/v1")).text
            except EndpointError as error:
                said = str(error)
        assert proxy.headers[0]["proxy-authorization"] == f"Basic {b64encode(b'us er:p@ss:w').decode()}"
        assert (said == "Via the proxy.") is (status == 200) and "p@ss" not in said and "p%40ss" not in said

    @pytest.mark.parametrize(
        "no_proxy, passed",
        [
            ("models.example:8443", True),
            ("models.example:443", False),
            ("*.example", True),
            ("other.test, *.EXAMPLE", True),
            ("*.ample", False),
            (".example:8443", True),
            ("other.example, models.example", True),
            ("example.com,10.0.0.0/8", False),
        ],
    )
    def test_no_proxy_in_all_its_forms(self, monkeypatch, no_proxy, passed):
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("NO_PROXY", no_proxy)
        assert (proxy_of("https://models.example:8443/v1") is None) is passed

    def test_a_proxy_for_all_is_used_where_the_scheme_has_none(self, monkeypatch):
        monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:8")
        assert proxy_of("https://models.example/v1") == "http://127.0.0.1:9"
        assert proxy_of("http://models.example/v1") == "http://127.0.0.1:8"
        monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
        with pytest.raises(BadInput, match="the environment variable ALL_PROXY"):
            proxy_of("https://models.example/v1")

    def test_a_certificate_that_is_not_trusted_is_tried_once_and_names_the_variable(self, tmp_path):
        pair = tmp_path / "pair.pem"
        made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout {0} -out {0}.crt"
        subprocess.run(made.format(pair).split(), check=True, capture_output=True)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(f"{pair}.crt", pair)
        error = asyncio.run(refused_by(context))
        assert (error.kind, error.fatal, error.retry) == ("certificate", True, False)
        assert "SSL_CERT_FILE" in str(error) and len(error.attempts) == 1

    @pytest.mark.parametrize("content", [None, "no certificate"])
    def test_a_file_of_certificates_that_is_none_is_refused_before_anything_is_sent(
        self, tmp_path, monkeypatch, content
    ):
        named = tmp_path / "trusted.pem"
        if content is not None:
            named.write_text(content)
        monkeypatch.setenv("SSL_CERT_FILE", str(named))
        with pytest.raises(BadInput, match="SSL_CERT_FILE"):
            Endpoint("m", "https://models.example/v1", api_key="a-key-for-it")

    def test_a_secure_connection_to_a_server_without_one_says_so(self):
        error = asyncio.run(refused_by(None))
        assert error.kind == "certificate" and "http://" in str(error) and len(error.attempts) == 1

    @pytest.mark.parametrize("status", [200, 500])
    def test_a_body_that_drips_ends_in_the_time_of_one_attempt(self, status):
        async def drip(_, writer):
            with contextlib.suppress(ConnectionError):
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 99999\r\n\r\n".encode())
                while True:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.02)

        async def ask_it():
            async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
                await once(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", timeout=0.5)

        with pytest.raises(EndpointError) as caught:
            asyncio.run(ask_it())
        assert caught.value.kind == "timeout"


async def once(base_url, **options):
    """One attempt of one call."""
    async with Endpoint("m", base_url, api_key="a-key-for-it", attempts=1, **options) as endpoint:
        return await endpoint.complete(HELLO)


async def refused_by(context):
    """The error of a call over TLS, with up to six attempts, to a server with this certificate or none."""

    async def answer(reader, writer):
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        async with Endpoint("m", f"https://127.0.0.1:{port}/v1", wait_scale=0.001) as endpoint:
            with pytest.raises(EndpointError) as caught:
                await endpoint.complete(HELLO)
    return caught.value


class TestOwnTools:
    def tools(self, folder, monkeypatch, code):
        """The declaration that a model is sent of a tool in a module, called once by it, and the record."""
        (folder / "mine.py").write_text(
            "from decimal import Decimal\nfrom typing import Annotated, Literal\nfrom pydantic import BaseModel, Field\n"
            f"from benchmark_lib.store import tool\n{code}"
        )
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(__import__("sys").modules, "mine", raising=False)
        seen = []

        def reply(request, number):
            seen.append(next(t["function"] for t in request["tools"] if t["function"]["name"] == "pet"))
            arguments = {"animal": {"kind": "cat", "lives": 9}, "more": [{"kind": "cat", "lives": 1}], "price": "3.5"}
            arguments = {name: arguments[name] for name in seen[0]["parameters"]["properties"]}
            return completion(None, [("pet", arguments)], request) if number == 0 else "Done."

        record = played(reply, folder, tools="mine:pet")
        return SimpleNamespace(schema=seen[0]["parameters"], call=record.tool_calls[0])

    MODELS = (
        'class Cat(BaseModel):\n    kind: Literal["cat"]\n    lives: int\n'
        'class Dog(BaseModel):\n    kind: Literal["dog"]\n    name: str\n'
    )

    def test_a_bare_decorator_a_union_with_a_discriminator_and_models_in_a_list(self, tmp_path, monkeypatch):
        code = (
            f'{self.MODELS}@tool\ndef pet(desk, animal: Annotated[Cat | Dog, Field(discriminator="kind")], more: list[Cat],'
            ' price: Decimal) -> dict:\n    """Pet an animal."""\n    return {"lives": animal["lives"] + more[0]["lives"]}\n'
        )
        found = self.tools(tmp_path, monkeypatch, code)
        assert (
            found.call.error is None and found.call.result == {"lives": 10} and found.call.arguments["price"] == "3.5"
        )
        assert len(found.schema["properties"]["animal"]["anyOf"]) == 2
        assert "$" not in str(found.schema) and "discriminator" not in str(found.schema)

    @pytest.mark.parametrize(
        "signature, named", [("*args", "*args"), ("**more: int", "**more"), ("one: int, /", "one")]
    )
    def test_arguments_without_a_name_are_refused(self, tmp_path, monkeypatch, signature, named):
        code = f'@tool\ndef pet(desk, {signature}) -> dict:\n    """Pet."""\n    return {{}}\n'
        with pytest.raises(ValueError, match="write the arguments out") as caught:
            self.tools(tmp_path, monkeypatch, code)
        assert named in str(caught.value)
