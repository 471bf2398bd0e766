"""The doctor on a sound server, on crippled ones, and on the small real model."""

import asyncio
import json

import pytest
from servers import Answer, ScriptedServer, completion, error_body

from benchmark_lib.cli import main
from benchmark_lib.endpoint import Endpoint, EndpointError
from benchmark_lib.extras.local.doctor import diagnose
from benchmark_lib.extras.local.launch import CALL_TIMEOUT_S, LocalModelError, local_model, missing_parts

PROMPT = "You work on the customer desk of a shop and follow its rules. " * 20
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Look something up.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}},
                "required": ["order_id"],
                "additionalProperties": False,
            },
        },
    }
    for name in ("get_order", "track_shipment")
]


def sound(request, number):
    """A model that can do everything it is asked."""
    if request["messages"][-1]["role"] == "tool":
        return completion("Both are on their way.", request=request)
    if request.get("tools"):
        return completion(None, [("get_order", {"order_id": f"TEST-{n}"}) for n in (1, 2)], request)
    return completion(f"The Lantern {request['seed']}", request=request)


def examine(reply, timeout=5.0):
    """Run the doctor against a server with this reply function.

    Returns the status by name, the findings and the server.
    """

    async def run():
        async with Endpoint("patient", server.base_url, timeout=timeout, wait_scale=0.001, attempts=2) as endpoint:
            return await diagnose(endpoint, PROMPT, TOOLS)

    with ScriptedServer(reply) as server:
        findings = asyncio.run(run())
    return {finding.name: finding.status for finding in findings}, findings, server


def spoilt(**how):
    """The sound model with one thing changed in each of its bodies by a function under the field's name."""

    def reply(request, number):
        body = sound(request, number)
        for name, change in how.items():
            body[name] = change(request, body[name])
        return body

    return reply


def test_a_sound_endpoint_in_five_calls():
    statuses, findings, server = examine(sound)
    assert set(statuses.values()) == {"ok"} and server.count == 5
    assert list(statuses) == [
        "answers",
        "tools",
        "parallel calls",
        "arguments",
        "usage",
        "tool results",
        "context window",
        "seed",
        "temperature",
    ]
    assert all(finding.meaning.endswith(".") and "\n" not in finding.meaning for finding in findings)


def test_a_model_that_calls_no_tools():
    statuses, _, server = examine(lambda request, number: completion(f"Text {number}", request=request))
    assert (statuses["tools"], statuses["parallel calls"], statuses["arguments"]) == ("fail", "warn", "warn")
    sent_back = server.requests[2]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent_back), "a broken call is cleaned before it is sent back"


def test_a_model_that_calls_tools_for_customers_alone_is_told_from_one_that_calls_none():
    def reply(request, number):
        return sound(request, number) if number else completion("Hello.", request=request)

    statuses, findings, server = examine(reply)
    assert (statuses["tools"], statuses["arguments"], statuses["tool results"]) == ("warn", "ok", "ok")
    assert "where is my order" in server.requests[1]["messages"][1]["content"] and server.count == 6
    assert "a run needs" in next(finding.meaning for finding in findings if finding.name == "tools")


def test_a_scripted_agent_has_no_endpoint_to_examine(capsys):
    assert main(["doctor", "scripted:oracle"]) == 2
    assert "scripted:oracle runs inside Deskbench" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("get_order", '{"order_id": '),
        ("get_order", {"number": 1}),
        ("get_order", {"order_id": 7}),
        ("find_order", {"order_id": "x"}),
    ],
)
def test_arguments_that_do_not_fit(name, arguments):
    def reply(request, number):
        return sound(request, number) if number else completion(None, [(name, arguments)], request)

    statuses, _, _ = examine(reply)
    assert (statuses["tools"], statuses["arguments"], statuses["parallel calls"]) == ("ok", "warn", "warn")


def test_an_endpoint_that_reports_no_tokens():
    statuses, _, _ = examine(spoilt(usage=lambda request, usage: None))
    assert (statuses["usage"], statuses["context window"]) == ("warn", "warn")


def test_a_server_that_cuts_the_prompt_silently():
    pinned = {"prompt_tokens": 300, "completion_tokens": 5, "total_tokens": 305}
    statuses, findings, _ = examine(spoilt(usage=lambda request, usage: pinned))
    assert statuses["context window"] == "fail" and any(
        "cuts it near 305 tokens" in finding.meaning for finding in findings
    )


def test_a_server_that_refuses_the_longer_prompt():
    def reply(request, number):
        if len(request["messages"]) > 2:
            return Answer(error_body("maximum context length is 2048 tokens", code="context_length_exceeded"), 400)
        return sound(request, number)

    statuses, _, _ = examine(reply)
    assert statuses["context window"] == "fail"


def test_a_server_that_takes_no_tool_results():
    def reply(request, number):
        refused = request["messages"][-1]["role"] == "tool"
        return Answer(error_body("unknown role: tool"), 400) if refused else sound(request, number)

    assert examine(reply)[0]["tool results"] == "fail"


@pytest.mark.parametrize(
    "text, seed, temperature", [("Always the same", "warn", "warn"), ("Never the same {}", "warn", "ok")]
)
def test_seed_and_temperature_that_are_dropped(text, seed, temperature):
    def reply(request, number):
        return completion(text.format(number), request=request) if "seed" in request else sound(request, number)

    statuses, _, _ = examine(reply)
    assert (statuses["seed"], statuses["temperature"]) == (seed, temperature)


def test_a_temperature_that_is_refused():
    refusal = Answer(error_body("Unsupported value: 'temperature' does not support 1.0"), 400)
    statuses, _, _ = examine(lambda request, number: refusal if "temperature" in request else sound(request, number))
    assert statuses["temperature"] == "warn" and "seed" not in statuses


def test_a_wrong_model_name_costs_one_call():
    statuses, findings, server = examine(Answer(error_body("no such model", code="model_not_found"), 404))
    assert statuses == {"answers": "fail"} and server.count == 1 and "model name" in findings[0].meaning


@pytest.mark.skipif(missing_parts() is not None, reason=str(missing_parts()))
def test_the_small_real_model_answers_calls_tools_and_reports_its_tokens():
    """Structure only: what a model of this size says means nothing."""

    async def talk(base_url):
        async with Endpoint("local", base_url, timeout=CALL_TIMEOUT_S) as endpoint:
            history = [
                {"role": "system", "content": "You work on the customer desk of a shop."},
                {"role": "user", "content": "Where is my order NL-48213?"},
            ]
            first = await endpoint.complete(history, TOOLS)
            result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": '{"status": "shipped"}'}
            for call in first.tool_calls * 2:
                history += [first.message(), result | {"tool_call_id": call.id}]
            second = await endpoint.complete(history, TOOLS)
            with pytest.raises(EndpointError) as caught:
                await endpoint.complete([{"role": "user", "content": "hello " * 9000}])
            return first, second, caught.value

    with local_model() as base_url:
        first, second, error = asyncio.run(talk(base_url))
    call = first.tool_calls[0]
    assert call.name in ("get_order", "track_shipment") and isinstance(call.arguments["order_id"], str)
    assert first.finish_reason == "tool_calls" and second.text and not second.tool_calls, (
        "after two calls in a row it speaks"
    )
    assert first.usage.prompt_tokens > 50 and second.usage.cached_tokens > 0 and not first.usage.missing
    assert (error.kind, error.fatal) == ("context_overflow", False)


def test_a_local_model_that_cannot_start_says_why(monkeypatch):
    monkeypatch.setattr("benchmark_lib.extras.local.launch.NEEDED", ("no_such_package",))
    with pytest.raises(LocalModelError, match=r"needs the package no-such-package; install the extra"), local_model():
        pass


def test_a_local_model_that_dies_says_its_last_words(monkeypatch):
    monkeypatch.setattr("benchmark_lib.extras.local.launch.missing_parts", lambda: None)
    monkeypatch.setattr("benchmark_lib.extras.local.launch.MODULE", "no_such_module")
    with pytest.raises(LocalModelError, match="No module named no_such_module"), local_model():
        pass


class TestTheCommand:
    def run(self, server, *more):
        return main(["doctor", "patient", "--base-url", server.base_url, *more])

    def test_a_sound_endpoint(self, capsys):
        with ScriptedServer(sound) as server:
            assert self.run(server) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 10 and "Price unknown" in lines[-1]

    @pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
    def test_a_timeout_that_is_none_is_refused(self, seconds, capsys):
        with ScriptedServer() as server:
            assert self.run(server, f"--timeout={seconds}") == 2
        assert "is not a valid time" in capsys.readouterr().err

    def test_an_address_where_nothing_listens_is_one_finding(self, capsys):
        with ScriptedServer() as server:
            gone = server
        assert self.run(gone) == 2
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("FAIL  answers") and "cannot be reached" in lines[0] and len(lines) == 2

    def test_a_crippled_endpoint(self, capsys):
        with ScriptedServer(lambda request, number: completion("I know nothing of tools.", request=request)) as server:
            assert self.run(server, "--role", "customer") == 2
        assert "FAIL  tools" in capsys.readouterr().out
