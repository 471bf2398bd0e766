"""What goes back to an endpoint: a model's thoughts, and whatever it broke itself, in a form that is taken."""

import asyncio
import json
import re

import pytest
from servers import Answer, ScriptedServer, completion, error_body

from benchmark_lib import BadInput, Experiment
from benchmark_lib.endpoint import Endpoint, EndpointError
from benchmark_lib.endpoint.faults import book
from benchmark_lib.runfile import RunFile

TOOLS = [
    {"type": "function", "function": {"name": "get_order", "description": "x", "parameters": {"type": "object"}}},
]
CASE = "tracking_1"
THOUGHT = [{"type": "thinking", "thinking": "Look it up.", "signature": "c2lnbmVk"}]
SIBLINGS = {
    "reasoning_content": "Look it up.",
    "reasoning": "Look it up.",
    "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}],
    "thinking_blocks": THOUGHT,
    "provider_specific_fields": {"thought_signatures": ["x"]},
    "never_seen_before": {"deep": ["x"]},
}


def refusal(message, **more):
    """A plain 400 as most providers give it."""
    return Answer(
        {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}}, 400
    )


def played(server, folder, **options):
    """A run of one conversation with a server, and its record."""
    path = folder / "run.deskbench"
    options = {"cases": CASE, "trials": 1, "messages": 3, "out": path, "progress": False, **options}
    asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
    return RunFile(path).record(CASE, 1)


def own(request):
    """The assistant's messages in a request."""
    return [m for m in request["messages"] if m["role"] == "assistant"]


def calls_first(request, number, text="Your parcel is on its way.", **message):
    """A model that looks an order up before it answers, with fields of its own beside each message."""
    if request["messages"][-1]["role"] == "user" and len(request["messages"]) < 40:
        return completion(None, [("get_order", {"order_id": "NL-1"})], request, **message)
    return completion(text, (), request, **message)


class TestThoughts:
    @pytest.mark.parametrize("value", ["full", "empty"])
    @pytest.mark.parametrize("field", SIBLINGS)
    def test_they_go_back_with_tool_calls_as_they_came_and_with_no_reply_in_words(self, field, value, tmp_path):
        sent = SIBLINGS[field] if value == "full" else type(SIBLINGS[field])()
        with ScriptedServer(lambda request, n: calls_first(request, n, **{field: sent})) as server:
            played(server, tmp_path)
        seen = [message for request in server.requests for message in own(request)]
        assert {"tool_calls" in m for m in seen} == {True, False}
        assert all(m[field] == sent if "tool_calls" in m else field not in m for m in seen)

    @pytest.mark.parametrize(
        "content",
        [
            "<think>Look it up.</think>\n",
            "<think>Look it up.</think>One moment.",
            [{"type": "thinking", "thinking": [{"type": "text", "text": "Look it up."}]}, {"type": "text", "text": ""}],
        ],
    )
    def test_thoughts_within_the_content_go_back_too(self, content, tmp_path):
        def reply(request, number):
            body = calls_first(request, number)
            body["choices"][0]["message"]["content"] = (
                content if "tool_calls" in body["choices"][0]["message"] else "Hi."
            )
            return body

        with ScriptedServer(reply) as server:
            record = played(server, tmp_path)
        assert all(m["content"] == content for r in server.requests for m in own(r) if "tool_calls" in m)
        assert {r.text for r in record.reasoning} == {"Look it up."} and record.replies()[0].text == "Hi."

    def test_a_setting_sends_them_with_every_message_and_stands_in_the_run_file(self, tmp_path):
        with ScriptedServer(lambda request, n: calls_first(request, n, reasoning_content="Hm.")) as server:
            played(server, tmp_path, settings={"agent": {"thoughts": "all"}})
        assert all(m["reasoning_content"] == "Hm." for r in server.requests for m in own(r))
        kept = RunFile(tmp_path / "run.deskbench").manifest["inputs"]["settings"]
        assert kept["value"] == {"agent": {"thoughts": "all"}}

    @pytest.mark.parametrize("where", ["message", "param"])
    def test_a_provider_that_misses_them_gets_them_everywhere_even_where_it_gave_none(self, where, tmp_path):
        said = "The reasoning_content in the thinking mode must be passed back to the API."

        def strict(request, number):
            if any("reasoning_content" not in m for m in own(request)):
                return refusal(said) if where == "message" else refusal("Param Incorrect", param=said, code="400")
            return calls_first(request, number)

        with ScriptedServer(strict) as server:
            record = played(server, tmp_path)
        assert record.ended_by != "infrastructure_fault" and len(record.replies()) >= 2
        refused = [r for r in server.requests if any("reasoning_content" not in m for m in own(r))]
        assert len(refused) == 1, "what it wants is found out once"

    @pytest.mark.parametrize(
        "said",
        [
            "'messages.2' : property 'reasoning' is unsupported",
            "Extra inputs are not permitted: ['body', 'messages', 2, 'assistant', 'reasoning']",
        ],
    )
    def test_a_provider_that_refuses_the_field_it_gave_does_not_get_it_again(self, said, tmp_path):
        def strict(request, number):
            refuses = any("reasoning" in m for m in own(request))
            return refusal(said) if refuses else calls_first(request, number, reasoning="Hm.")

        with ScriptedServer(strict) as server:
            record = played(server, tmp_path)
        assert record.ended_by != "infrastructure_fault"
        assert sum(any("reasoning" in m for m in own(r)) for r in server.requests) == 1

    @pytest.mark.parametrize("refused", [False, True])
    @pytest.mark.parametrize("place", ["call", "function"])
    def test_own_fields_of_a_call_go_back_with_it_and_not_to_a_provider_that_refuses_them(
        self, place, refused, tmp_path
    ):
        signed = {"thought_signature": "c2lnbmVk", "extra_content": {"google": {"thought_signature": "x"}}}

        def parts(request):
            calls = [c for m in own(request) for c in m.get("tool_calls", ())]
            return [c if place == "call" else c["function"] for c in calls]

        def reply(request, number):
            if refused and any("thought_signature" in part for part in parts(request)):
                return refusal("messages[2].tool_calls[0]: property 'thought_signature' is unsupported")
            body = calls_first(request, number)
            for call in body["choices"][0]["message"].get("tool_calls", ()):
                (call if place == "call" else call["function"]).update(signed)
            return body

        with ScriptedServer(reply) as server:
            record = played(server, tmp_path)
        kept = [signed.items() <= part.items() for r in server.requests for part in parts(r)]
        assert record.ended_by != "infrastructure_fault" and kept and kept.count(not refused) >= len(kept) - refused

    def test_a_run_that_goes_on_and_one_that_is_replayed_keep_them(self, tmp_path):
        def breaks_off(request, number):
            if number == 3:
                return Answer(error_body("no credit", "x", "insufficient_quota"), 429)
            return calls_first(request, number, thinking_blocks=THOUGHT)

        with ScriptedServer(breaks_off) as server:
            path = tmp_path / "run.deskbench"
            options = {"cases": CASE, "trials": 1, "messages": 3, "out": path, "progress": False}
            with pytest.raises(BadInput, match="no credit"):
                asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
            before = server.count
            asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
            resumed = own(server.requests[before])
            replayed = Experiment("m", base_url=server.base_url, replay=True, **options)
            asyncio.run(replayed.run())
        assert resumed and all(m["thinking_blocks"] == THOUGHT for m in resumed if "tool_calls" in m)
        assert replayed.replayed == 1

    @pytest.mark.parametrize(
        "content",
        [
            "<|channel|>commentary to=functions.get_order <|message|>{}",
            "<|channel|>analysis<|message|>Hm.<|end|><|channel|>commentary to=get_order<|message|>{}",
            "<|channel|>final<|message|>Hi.",
            "[THINK]Hm.[/THINK]Hi.",
            "Hi.",
        ],
    )
    @pytest.mark.parametrize("newer", ["<never>", r"<\|channel\|>\w+[^<]*(?:<\|message\|>)?"])
    def test_calls_on_file_are_not_bought_again_when_other_words_are_read_as_thoughts(
        self, content, newer, tmp_path, monkeypatch
    ):
        def breaks_off(request, number):
            if number == 5:
                return Answer(error_body("no credit", "x", "insufficient_quota"), 429)
            signed = {"reasoning_content": "Hm.", "provider_specific_fields": {"reasoning": "Hm.", "n": [number]}}
            body = calls_first(request, number, text=content, **(signed if number % 2 else {}))
            body["choices"][0]["message"]["content"] = content
            return body

        options = {"cases": CASE, "trials": 1, "messages": 6, "out": tmp_path / "run.deskbench", "progress": False}
        with ScriptedServer(breaks_off) as server:
            with pytest.raises(BadInput, match="no credit"):
                asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
            monkeypatch.setitem(book()["thoughts"], "open", [newer])
            asyncio.run(Experiment("m", base_url=server.base_url, **options).run())
            bought = RunFile(options["out"]).counts()["calls"]
        assert bought == server.count - 1

    def test_thoughts_that_a_gateway_put_aside_go_back_by_the_name_their_provider_knows(self, tmp_path):
        aside = {"reasoning_content": "Hm.", "provider_specific_fields": {"reasoning": "Hm.", "refusal": None}}
        with ScriptedServer(lambda request, n: calls_first(request, n, **aside)) as server:
            played(server, tmp_path)
        assert all(m["reasoning"] == "Hm." for r in server.requests for m in own(r) if "tool_calls" in m)


@pytest.mark.parametrize(
    "refused",
    [
        Answer(error_body("Cannot subscript null at row 23: message.content[:tool_start_length]"), 500),
        Answer(error_body("'content' Traceback (most recent call last): ... KeyError: 'content'"), 500),
        lambda m: Answer({"detail": [{"loc": ["content"], "msg": "Input should be a valid string", "input": m}]}, 422),
        refusal("messages[2].content: null is not allowed"),
        lambda m: refusal(f"invalid request: {json.dumps(m)}"),
    ],
    ids=["template", "gateway", "schema", "words", "echo"],
)
def test_a_server_that_takes_no_null_gets_an_empty_text_beside_tool_calls_and_all_thoughts(refused, tmp_path):
    signed = {"thought_signature": "x", **{f"field_{number}": number for number in range(200)}}

    def strict(request, number):
        wrong = next((m for m in own(request) if m["content"] is None), None)
        if wrong:
            return refused(wrong) if callable(refused) else refused
        body = calls_first(request, number, reasoning_content="Hm.", extra_content={"google": "y"})
        for call in body["choices"][0]["message"].get("tool_calls", ()):
            call |= signed
        return body

    with ScriptedServer(strict) as server:
        record = played(server, tmp_path)
    assert record.ended_by != "infrastructure_fault" and record.replies()
    assert sum(m["content"] is None for r in server.requests for m in own(r)) == 1, "it is found out once"
    sent = [m for r in server.requests for m in own(r) if "tool_calls" in m]
    assert all(m["reasoning_content"] == "Hm." and signed.items() <= m["tool_calls"][0].items() for m in sent)


def test_a_refusal_that_repeats_a_call_with_many_fields_costs_few_requests():
    call = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}
    call |= {f"field_{number}": number for number in range(200)}
    talk = [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    talk += [{"role": "tool", "tool_call_id": "c1", "content": "{}"}]

    async def once(base_url):
        async with Endpoint("m", base_url) as endpoint:
            await endpoint.complete(talk, TOOLS)

    for word in ("invalid", "missing"):
        echo = ScriptedServer(lambda r, n, word=word: refusal(f"{word}: {r['messages']}") if own(r) else "Hi.")
        with echo as server, pytest.raises(EndpointError):
            asyncio.run(once(server.base_url))
        assert server.count <= 5


class TestWhatTheModelBroke:
    PATTERN = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")

    @pytest.mark.parametrize(
        "name", ["", "get order", 'get_order" />', "functions.get_order", "x" * 100, "注文", "9lives"]
    )
    def test_an_ill_formed_tool_name_is_mended_on_the_way_back(self, name, tmp_path):
        def strict(request, number):
            names = [c["function"]["name"] for m in own(request) for c in m.get("tool_calls", ())]
            if not all(map(self.PATTERN.fullmatch, names)):
                return refusal("string does not match pattern", param="messages[2].tool_calls[0].function.name")
            return completion(None, [(name, {})], request) if number == 0 else "On its way."

        with ScriptedServer(strict) as server:
            record = played(server, tmp_path)
        assert record.tool_calls[0].name == name and record.tool_calls[0].error == "unknown_tool"
        assert record.ended_by not in ("infrastructure_fault", "agent_fault")

    def test_a_made_up_name_is_told_in_words_to_a_provider_that_refuses_it(self, tmp_path):
        def strict(request, number):
            known = {tool["function"]["name"] for tool in request["tools"]}
            names = {c["function"]["name"] for m in own(request) for c in m.get("tool_calls", ())}
            if names - known:
                return refusal("a tool call in the messages names a tool that is not declared")
            ids = [c["id"] for m in own(request) for c in m.get("tool_calls", ())]
            assert ids == [m["tool_call_id"] for m in request["messages"] if m["role"] == "tool"]
            both = [("find_everything", {"x": 1}), ("search_help", {"query": "a"})]
            return completion(None, both, request) if number == 0 else "On its way."

        with ScriptedServer(strict) as server:
            record = played(server, tmp_path)
        assert [c.error for c in record.tool_calls[:1]] == ["unknown_tool"] and record.replies()[
            0
        ].text == "On its way."
        assert record.ended_by != "infrastructure_fault"
        told = json.dumps(server.requests[-1]["messages"])
        assert "find_everything" in told and "There is no tool named" in told

    @pytest.mark.parametrize("blank", ["", "  \n", None, "<think>Hm.</think>"])
    def test_a_blank_reply_does_not_end_the_conversation(self, blank, tmp_path):
        def strict(request, number):
            for message in request["messages"]:
                if not (message["content"] or "").strip() and not message.get("tool_calls"):
                    return refusal("messages: text content blocks must be non-empty")
            return completion(blank if number == 0 else "On its way.", (), request)

        with ScriptedServer(strict) as server:
            record = played(server, tmp_path)
        assert [m.text for m in record.replies()][:2] == ["", "On its way."] or blank == "  \n"
        assert record.ended_by != "infrastructure_fault" and len(server.requests) > 1

    @pytest.mark.parametrize(
        "status, error",
        [
            (
                400,
                {
                    "message": "Failed to call a function.",
                    "code": "tool_use_failed",
                    "failed_generation": '<function=get_order{"a',
                },
            ),
            (
                400,
                {
                    "message": "tool call validation failed: parameters for tool get_order did not match schema: x",
                    "code": "x",
                },
            ),
            (
                400,
                {"message": 'litellm.BadRequestError: GroqException - {"code":"tool_use_failed","name": "get_order"}'},
            ),
            (500, {"message": 'error parsing tool call: raw=\'{"name": "get_order"\', err=unexpected end'}),
        ],
    )
    def test_a_tool_call_that_failed_while_it_was_made_is_an_ill_formed_call(self, status, error, tmp_path):
        def reply(request, number):
            return (
                Answer({"error": {"type": "invalid_request_error", **error}}, status) if number == 0 else "On its way."
            )

        with ScriptedServer(reply) as server:
            record = played(server, tmp_path)
        (call,) = record.tool_calls
        assert (call.name, call.error) == ("get_order", "bad_json") and record.replies()[0].text == "On its way."
        assert server.requests[1]["messages"][-1]["role"] == "tool"

    def test_arguments_and_fields_as_deep_as_can_be_kept_end_no_run(self, tmp_path):
        def reply(request, number):
            deep = ['{"a":' * levels + "1" + "}" * levels for levels in range(236 + number % 4, 258, 4)]
            body = completion(None, [("get_order", arguments) for arguments in deep], request)
            body["choices"][0]["message"]["own"] = json.loads("[" * (228 + number) + "]" * (228 + number))
            return body if number < 28 else "On its way."

        with ScriptedServer(reply) as server:
            record = played(server, tmp_path)
        assert record.ended_by and {call.name for call in record.tool_calls} == {"get_order"}


class TestRefusedForGood:
    def refusing(self, *parts):
        """A server that refuses requests whose first letter holds one of these."""

        def reply(request, number):
            letter = next(m["content"] for m in request["messages"] if m["role"] == "user")
            if any(part in letter for part in parts):
                return refusal("Cannot be " + "processed, " * 80, param="messages[1].content", code="string_above")
            return "On its way."

        return ScriptedServer(reply)

    def test_one_case_that_is_refused_does_not_refuse_the_run_even_as_the_first_call(self, tmp_path, cases):
        ids = f"{CASE},tracking_2"
        with self.refusing(cases[CASE].email.text[:30]) as server:
            path = tmp_path / "run.deskbench"
            run = Experiment("m", base_url=server.base_url, cases=ids, trials=1, messages=2, out=path, progress=False)
            asyncio.run(run.run())
        kept = RunFile(path)
        assert not run.stopped.refused and kept.record("tracking_2", 1).ended_by != "infrastructure_fault"
        (fault,) = kept.record(CASE, 1).faults
        assert (fault.side, fault.kind) == ("infrastructure", "bad_request")
        assert "Cannot be processed" in fault.detail and "param messages[1].content" in fault.detail
        assert "code string_above" in fault.detail

    def test_a_request_that_is_refused_whatever_it_holds_ends_the_run_at_once(self):
        async def once():
            async with Endpoint("m", server.base_url) as endpoint:
                await endpoint.complete([{"role": "user", "content": "Where is my order?"}], TOOLS)

        with ScriptedServer(refusal("tools are not supported")) as server, pytest.raises(EndpointError) as caught:
            asyncio.run(once())
        assert caught.value.fatal and server.count == 2 and server.requests[1]["tools"] == TOOLS
