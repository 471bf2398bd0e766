"""Whatever an endpoint sends becomes a completion or an `EndpointError`, and whatever is sent back is taken."""

import asyncio
import copy
import json
import math
import random

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import Answer, ScriptedServer, completion

from benchmark_lib.endpoint import Completion, Endpoint, EndpointError, parse_reply
from benchmark_lib.endpoint.faults import apart, kinds_in
from benchmark_lib.endpoint.history import cleaned
from benchmark_lib.endpoint.reply import MOST_CALLS, call_ids, decode_body, encode_body, read_usage
from benchmark_lib.endpoint.retries import wait_in
from benchmark_lib.endpoint.structured import Unreadable, read_object


def reply(**message):
    """A parsed reply with these fields in its message."""
    return parse_reply({"choices": [{"message": message, "finish_reason": "stop"}]})


def one_call(**function):
    """The one call of a reply with this function field."""
    return reply(tool_calls=[{"id": "a", "function": {"name": "get_order", **function}}]).tool_calls[0]


class TestText:
    @pytest.mark.parametrize(
        "content, text",
        [
            ("Hello.", "Hello."),
            (None, ""),
            ("", ""),
            ([], ""),
            (7, ""),
            ({"type": "text", "text": "Hi"}, "Hi"),
            ([{"type": "text", "text": "Dear "}, {"type": "image"}, "Anna"], "Dear Anna"),
            ([{"text": None}, {"text": 3}, None], ""),
        ],
    )
    def test_content_in_every_form(self, content, text):
        assert reply(content=content).text == text

    def test_a_missing_message_field_is_silence(self):
        assert reply().text == "" and reply(role="robot", content="Hi").text == "Hi"

    def test_a_text_where_the_message_is_missing_is_what_is_said(self):
        with ScriptedServer({"choices": [{"text": "Dear Anna", "finish_reason": "stop"}]}) as server:
            answer = asyncio.run(Endpoint("any", server.base_url).complete([{"role": "user", "content": "Hi"}]))
        assert answer.text == answer.message()["content"] == "Dear Anna"

    def test_a_refusal_in_its_own_field_is_what_is_said(self):
        assert reply(content=None, refusal="I cannot do that.").text == "I cannot do that."

    @pytest.mark.parametrize(
        "message",
        [
            {"content": "Hi.", "reasoning_content": "think"},
            {"content": "Hi.", "reasoning": "think"},
            {"content": "<think>think</think>\n\nHi."},
            {"content": "think</think>Hi."},
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "think"}]},
                    {"type": "text", "text": "Hi."},
                ]
            },
        ],
    )
    def test_thinking_is_kept_apart_from_what_the_customer_reads(self, message):
        assert (reply(**message).text, reply(**message).reasoning) == ("Hi.", "think")

    @pytest.mark.parametrize(
        "given, word", [("stop", "stop"), (None, None), (5, None), ({"a": 1}, None), ("STOP", "STOP")]
    )
    def test_the_finish_reason_is_a_short_word_or_none(self, given, word):
        assert parse_reply({"choices": [{"message": {}, "finish_reason": given}]}).finish_reason == word

    def test_a_thought_cut_by_length_leaves_no_text(self):
        assert (reply(content="<think>still at it").text, reply(content="<think>still at it").reasoning) == (
            "",
            "still at it",
        )

    def test_stray_surrogates_and_broken_utf8_become_replacement_marks(self):
        for body in (
            rb'{"choices":[{"message":{"content":"a\ud83d!"}}]}',
            b'{"choices":[{"message":{"content":"a\xff!"}}]}',
        ):
            text = parse_reply(decode_body(body)).text
            assert text[0] == "a" and text[-1] == "!" and text.encode()


class TestCalls:
    @pytest.mark.parametrize(
        "given_arguments, read",
        [
            ('{"order_id": "NL-1"}', {"order_id": "NL-1"}),
            ({"order_id": "NL-1"}, {"order_id": "NL-1"}),
            (None, {}),
            ("", {}),
            (json.dumps('{"order_id": "NL-1"}'), {"order_id": "NL-1"}),
            ('{"order_id": ', '{"order_id": '),
            ("[1]", "[1]"),
            ([1], "[1]"),
            (3, "3"),
            ('"twice"', '"twice"'),
        ],
    )
    def test_arguments_are_a_dict_or_the_text_that_is_none(self, given_arguments, read):
        assert one_call(arguments=given_arguments).arguments == read

    def test_a_call_without_a_name_is_an_unknown_tool(self):
        assert one_call(name=None).name == ""

    def test_the_old_function_call_is_a_call(self):
        assert (
            reply(content=None, function_call={"name": "get_order", "arguments": "{}"}).tool_calls[0].name
            == "get_order"
        )

    def test_what_is_no_call_is_left_out(self):
        assert (
            reply(content="Hi", tool_calls=[None, "x", []]).tool_calls
            == []
            == reply(content="Hi", tool_calls="x").tool_calls
        )

    def test_missing_and_repeated_ids_are_replaced_and_the_same_again_for_the_same_conversation(self):
        calls = [{"id": number, "function": {"name": "get_order"}} for number in ("a", "a", "", None, 5)]
        messages = [
            {"role": "user", "content": "x"},
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {}}]},
        ]
        raw = {"choices": [{"message": {"tool_calls": calls}}]}
        ids = [call.id for call in parse_reply(raw, messages).tool_calls]
        assert (
            len(set(ids)) == 5 and "a" not in ids and ids == [call.id for call in parse_reply(raw, messages).tool_calls]
        )
        assert all(number.isalnum() and len(number) == 9 for number in ids), "Mistral takes no other ids"

    def test_an_id_that_is_too_long_to_be_one_is_replaced(self):
        calls = [{"id": "x" * 100_000, "function": {"name": "get_order"}}]
        assert reply(tool_calls=calls).tool_calls[0].id == "c00000000"

    def test_twenty_thousand_calls_in_one_answer_end(self):
        calls = reply(tool_calls=[{"function": {"name": "get_order"}}] * 20_000).tool_calls
        assert len({call.id for call in calls}) == len(calls) == MOST_CALLS

    def test_ids_that_an_endpoint_used_up_do_not_stop_it(self):
        history = [
            {"role": "assistant", "tool_calls": [{"id": f"c0001{n:04d}", "function": {}} for n in range(10_000)]}
        ]
        assert parse_reply({"choices": [{"message": {"tool_calls": [{}]}}]}, history).tool_calls[0].id == "c000110000"

    def test_provider_fields_go_back_with_the_message(self):
        raw = completion(None, [("get_order", {})], reasoning_content="hm", private="x")
        raw["choices"][0]["message"]["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "abc"}}
        message = parse_reply(raw).message()
        assert message["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "abc"}}
        assert message["reasoning_content"] == "hm" and message["private"] == "x"


class TestUsage:
    @pytest.mark.parametrize(
        "usage",
        [
            None,
            {},
            [],
            "many",
            {"prompt_tokens": None},
            {"prompt_tokens": -5, "completion_tokens": "x"},
            {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
            {"prompt_tokens": 100},
            {"prompt_tokens": 100, "completion_tokens": "x"},
            {"completion_tokens": 9},
            {"prompt_tokens": -5, "completion_tokens": 9},
            {"prompt_tokens": 100, "completion_tokens": -1},
            {"prompt_tokens": "100", "completion_tokens": "9"},
            {"prompt_tokens": True, "completion_tokens": 9},
            {"prompt_tokens": 1e11, "completion_tokens": 9},
            {"prompt_tokens": 100, "completion_tokens": 2**63},
            {"prompt_tokens": math.nan, "completion_tokens": 9},
            {"prompt_tokens": math.inf, "completion_tokens": 9},
            {"prompt_tokens": 100, "completion_tokens": 9.5},
            {"prompt_tokens": [100], "completion_tokens": {}},
            {"prompt_tokens": 100, "completion_tokens": None, "total_tokens": -3},
        ],
    )
    def test_usage_that_is_not_there_is_missing_and_not_zero(self, usage):
        assert read_usage(usage).missing == 1

    @pytest.mark.parametrize(
        "more",
        [
            {"total_tokens": -1},
            {"total_tokens": 1e300},
            {"total_tokens": "many"},
            {"total_tokens": 3},
            {"completion_tokens_details": 5},
            {"completion_tokens_details": {"reasoning_tokens": "x"}},
            {"prompt_tokens_details": {"cached_tokens": -7}},
            {"prompt_tokens_details": [], "prompt_cache_hit_tokens": math.nan},
            {"cache_read_input_tokens": 2**70},
        ],
    )
    def test_what_is_odd_beside_the_two_counts_changes_no_cost(self, more):
        usage = read_usage({"prompt_tokens": 100, "completion_tokens": 10.0} | more)
        assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens, usage.missing) == (100, 10, 0, 0)

    def test_a_cache_larger_than_the_prompt_never_makes_a_cost_negative(self):
        usage = read_usage(
            {
                "prompt_tokens": 100,
                "completion_tokens": 1,
                "prompt_tokens_details": {"cached_tokens": 900},
                "completion_tokens_details": {"reasoning_tokens": 900},
            }
        )
        assert (usage.cached_tokens, usage.reasoning_tokens) == (100, 1)

    def test_completion_tokens_that_are_left_out_follow_from_the_total(self):
        assert read_usage({"prompt_tokens": 100, "total_tokens": 130}).completion_tokens == 30

    def test_openai_counts_reasoning_within_the_completion(self):
        usage = read_usage(
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "completion_tokens_details": {"reasoning_tokens": 40},
                "prompt_tokens_details": {"cached_tokens": 64},
            }
        )
        assert (usage.prompt_tokens, usage.completion_tokens, usage.reasoning_tokens, usage.cached_tokens) == (
            100,
            50,
            40,
            64,
        )

    def test_where_the_total_shows_reasoning_beside_the_completion_it_is_added(self):
        usage = read_usage(
            {
                "prompt_tokens": 100,
                "completion_tokens": 10,
                "total_tokens": 150,
                "completion_tokens_details": {"reasoning_tokens": 40},
            }
        )
        assert (usage.completion_tokens, usage.reasoning_tokens) == (50, 40)


class TestBadBodies:
    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"  ",
            b"<html>",
            b'{"choices":[{"mess',
            b"[]",
            b"null",
            b"7",
            b'{"a":' * 5000,
            b"[" * 100_000,
            b'{"choices": NaN',
            b'{"x":' + b"[" * 300 + b"]" * 300 + b"}",
        ],
    )
    def test_what_is_no_json_object_is_a_bad_body(self, body):
        with pytest.raises(EndpointError) as caught:
            decode_body(body)
        assert caught.value.kind == "bad_body" and caught.value.retry

    def test_a_million_lists_are_not_even_made(self):
        with pytest.raises(EndpointError, match="more than 300,000 lists and objects"):
            decode_body(b"[[]" + b",[]" * 1_000_000 + b"]")

    def test_a_code_of_five_thousand_digits_is_no_status(self):
        with pytest.raises(EndpointError) as caught:
            parse_reply({"error": {"message": "x", "code": "9" * 5000}})
        assert caught.value.kind == "server" and caught.value.status is None

    def test_control_characters_of_an_error_do_not_reach_the_terminal(self):
        with pytest.raises(EndpointError) as caught:
            parse_reply({"error": {"message": "\x1b[2Jbroken\x07 \u202egnihton", "code": 500}})
        assert caught.value.detail == "[2Jbroken gnihton" and str(caught.value).isprintable()

    def test_an_error_of_megabytes_is_read_in_part(self):
        with pytest.raises(EndpointError) as caught:
            parse_reply({"error": {"message": "sk-" * 1_000_000 + " try again in " + "9" * 400 + "s", "code": 429}})
        assert caught.value.kind == "rate_limit" and len(str(caught.value)) < 600

    @pytest.mark.parametrize(
        "raw",
        [
            {},
            {"choices": None},
            {"choices": []},
            {"choices": [None]},
            {"choices": [{}]},
            {"choices": [{"message": None}]},
            {"choices": {"0": {}}},
        ],
    )
    def test_an_answer_without_a_message_is_a_bad_body(self, raw):
        with pytest.raises(EndpointError) as caught:
            parse_reply(raw)
        assert caught.value.kind == "bad_body"

    @pytest.mark.parametrize(
        "error, kind",
        [
            ({"message": "overloaded", "code": 503}, "server"),
            ({"message": "slow down", "code": "429"}, "rate_limit"),
            ({"message": "bad key", "code": 401}, "auth"),
            ({"message": "no credit", "code": 402}, "quota"),
            ({"message": "slow", "type": "rate_limit_error"}, "rate_limit"),
            ({"message": "x", "type": "invalid_request_error"}, "bad_request"),
            ("something broke", "server"),
            ({"message": "maximum context length is 8192 tokens"}, "context_overflow"),
        ],
    )
    def test_errors_inside_a_200_are_told_apart(self, error, kind):
        for raw in ({"error": error}, {"choices": [{"error": error, "message": {"content": ""}}]}):
            with pytest.raises(EndpointError) as caught:
                parse_reply(raw)
            assert caught.value.kind == kind


class TestOneObject:
    @pytest.mark.parametrize(
        "text", ['{"a": 1}', '```json\n{"a": 1}\n```', '```\n\n{"a": 1}```', '  ``` JSON \n{"a": 1}\n\n ```\n']
    )
    def test_with_or_without_a_fence(self, text):
        assert read_object(text) == {"a": 1}

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "```",
            "``````",
            "```\n```",
            "```json {}```",
            "```\n{}",
            '```"a"\n{}\n```',
            "[1]",
            "{" * 5000,
            "```" + "\n" * 100_000,
            "```\n" + "\n " * 50_000 + "x",
            "```" * 30_000,
            "```\n" * 30_000,
        ],
    )
    def test_anything_else_is_refused_in_one_reading(self, text):
        with pytest.raises(Unreadable):
            read_object(text)


class TestSendingBack:
    def test_broken_arguments_are_wrapped_and_the_history_itself_stays(self):
        broken = {
            "role": "assistant",
            "tool_calls": [
                {"id": "a", "function": {"name": "f", "arguments": '{"x": '}},
                {"id": "b", "function": {"name": "f", "arguments": "{}"}},
            ],
        }
        kept = json.dumps(broken)
        first, second = cleaned([{"role": "user", "content": "x"}, broken])[1]["tool_calls"]
        assert (
            json.loads(first["function"]["arguments"]) == {"not_valid_json": '{"x": '}
            and second is broken["tool_calls"][1]
        )
        assert json.dumps(broken) == kept

    def test_a_sound_history_is_passed_on_as_it_is(self):
        message = parse_reply(completion("", [("f", {"a": 1})])).message()
        assert cleaned([message])[0] is message

    def test_text_that_is_no_unicode_is_still_sent(self):
        assert json.loads(encode_body({"content": "a\ud800b"}))["content"] == "a?b"

    def test_an_empty_answer_can_be_sent_back(self):
        assert reply(content=None).message() == {"role": "assistant", "content": ""}


def must_hold(body: bytes) -> None:
    """Assert that a body becomes a completion that can be kept and sent back, or an `EndpointError`."""
    messages = [{"role": "user", "content": "x"}]
    try:
        answer = parse_reply(decode_body(body), messages)
    except EndpointError as error:
        assert len(str(error)) < 600 and "\n" not in str(error)
        return
    assert isinstance(answer, Completion) and isinstance(answer.text, str) and isinstance(answer.reasoning, str)
    assert len({call.id for call in answer.tool_calls}) == len(answer.tool_calls)
    assert all(isinstance(call.name, str) and isinstance(call.arguments, (dict, str)) for call in answer.tool_calls)
    assert answer.usage.calls == 1 and answer.usage.prompt_tokens >= answer.usage.cached_tokens >= 0
    orjson.dumps([answer.text, answer.reasoning, answer.tool_calls, answer.usage, answer.raw, answer.finish_reason])
    sent_back = json.loads(encode_body({"messages": cleaned([*messages, answer.message()])}))["messages"][-1]
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in sent_back.get("tool_calls", ()))
    assert call_ids([answer.message()]) == {call.id for call in answer.tool_calls}


JUNK = (
    None,
    True,
    -1,
    0,
    2**63,
    1e308,
    "",
    "x",
    "\ud800",
    "\x00",
    "{}",
    "{",
    "null",
    '"{}"',
    "</think>",
    "<think>",
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": ""},
    {"text": 5},
    {"code": "insufficient_quota"},
    {"message": None},
    "9" * 40,
    {"id": []},
    [{"function": 3}],
)


def mutated(draw: random.Random) -> bytes:
    """A sound body with junk in random places, sometimes cut or with random bytes."""
    body = completion("Dear Anna", [("get_order", {"order_id": "NL-1"}), ("close_ticket", {})], reasoning_content="hm")
    for _ in range(draw.randint(1, 4)):
        place = body
        while True:
            key = draw.choice(list(place) if isinstance(place, dict) else range(len(place)))
            inside = place[key]
            if not isinstance(inside, (dict, list)) or not inside or draw.random() < 0.3:
                break
            place = inside
        if draw.random() < 0.2 and isinstance(place, dict):
            del place[key]
        else:
            place[key] = copy.deepcopy(draw.choice(JUNK))
        if not body:
            break
    text = bytearray(json.dumps(body).encode())
    if draw.random() < 0.2:
        del text[draw.randrange(len(text)) :]
    if text and draw.random() < 0.2:
        text[draw.randrange(len(text))] = draw.randrange(256)
    return bytes(text)


def test_ten_thousand_damaged_replies_break_nothing():
    for seed in range(10_000):
        must_hold(mutated(random.Random(seed)))


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
calls = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "id": anything,
            "function": anything | st.fixed_dictionaries({}, optional={"name": anything, "arguments": anything}),
            "extra_content": anything,
        },
    ),
    max_size=3,
)
message = st.fixed_dictionaries(
    {},
    optional={name: anything for name in ("role", "content", "reasoning", "refusal", "function_call")}
    | {"tool_calls": calls},
)
bodies = st.fixed_dictionaries(
    {},
    optional={
        "usage": anything,
        "error": st.none() | anything,
        "choices": anything
        | st.lists(
            st.fixed_dictionaries({}, optional={"message": message, "finish_reason": anything, "error": st.none()}),
            max_size=2,
        ),
    },
)


@settings(max_examples=400, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(bodies | anything)
def test_any_json_at_all_breaks_nothing(body):
    must_hold(json.dumps(body).encode("utf-8", "replace"))


def test_damaged_replies_over_http_neither_crash_nor_hang():
    async def ask_all(base_url: str) -> list:
        async with Endpoint("any", base_url, attempts=2, wait_scale=0.001, timeout=5) as endpoint:
            return await asyncio.gather(
                *(endpoint.complete([{"role": "user", "content": str(n)}]) for n in range(300)), return_exceptions=True
            )

    with ScriptedServer(lambda request, number: Answer(mutated(random.Random(number)))) as server:
        results = asyncio.run(ask_all(server.base_url))
    assert all(isinstance(result, (Completion, EndpointError)) for result in results)
    assert any(isinstance(result, Completion) for result in results)


class TestWordsOfOtherProviders:
    """Forms that were seen once and that no other test holds: thoughts, ends, calls, refusals, waits."""

    @pytest.mark.parametrize(
        "text",
        [
            "<planning>secret</planning>Hi",
            "<cot>secret</cot>Hi",
            "<unused94>thought\nsecret<unused95>Hi",
            "<|inner_prefix|>secret<|inner_suffix|>Hi",
            "< think >secret</ think >Hi",
            "<|START_RESPONSE|>Hi<|END_RESPONSE|>",
        ],
    )
    def test_only_the_reply_is_left(self, text):
        assert apart(text)[0] == "Hi"

    @pytest.mark.parametrize(("word", "finish"), [("FinishReason.STOP", "STOP"), ({"type": "length"}, "length")])
    def test_the_word_for_the_end_in_another_shape(self, word, finish):
        assert parse_reply({"choices": [{"message": {"content": "Hi"}, "finish_reason": word}]}).finish_reason == finish

    def test_a_call_that_is_no_list_and_a_byte_order_mark(self):
        call = {"id": "a", "function": {"name": "find_orders", "arguments": "{}"}}
        body = b"\xef\xbb\xbf" + orjson.dumps({"choices": [{"message": {"tool_calls": call}}]})
        assert [c.name for c in parse_reply(decode_body(body)).tool_calls] == ["find_orders"]

    @pytest.mark.parametrize(
        ("text", "status", "kind"),
        [
            ("violates our Acceptable Use Policy", 400, "content_filter"),
            ("potential violation of our community guidelines", 400, "content_filter"),
            ("tokens per minute exceeded", 413, "rate_limit"),
            ("Prompt contains 90000 tokens, model supports 32768", 400, "context_overflow"),
        ],
    )
    def test_refusals(self, text, status, kind):
        assert next(iter(kinds_in(text, status))) == kind

    def test_waits(self):
        assert (wait_in("wait for 10s"), wait_in("Retry in 2 min, 5 s."), wait_in("at 10:30")) == (10.0, 125.0, None)
