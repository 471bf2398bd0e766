"""The loop: who speaks when, how a talk ends, and whose fault it was."""

import gc
import weakref

import pytest

from benchmark_lib.conversation import AgentFault, ModelAgent, Reply, ScriptedCustomer, converse, parse_spec
from benchmark_lib.conversation.scripted import AGENTS, Oracle
from benchmark_lib.endpoint import EndpointError
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.audit.audit import at_once, play
from benchmark_lib.records import Act, Conversation, Usage
from benchmark_lib.scoring import score
from benchmark_lib.store import load_store


class Says:
    """An agent of one's own: any object with ``reply(talk)``."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def reply(self, talk):
        line = self.lines[min(talk.turn, len(self.lines)) - 1]
        return line(talk) if callable(line) else line


def ending(case, store, agent, **settings):
    return at_once(converse(case, store, agent, ScriptedCustomer(case, store), **settings))


def failing(error):
    """A model whose endpoint fails it."""

    async def complete(messages, tools):
        raise error

    return ModelAgent(complete)


def test_the_record_survives_a_round_trip_byte_for_byte(store, cases):
    record = play(cases["tracking_1"], store, Oracle(cases["tracking_1"], store))
    again = Conversation.from_json(record.to_json())
    assert again == record and again.to_json() == record.to_json()


def test_an_ended_conversation_is_let_go_of_without_the_garbage_collector(store, cases):
    held = []

    class Listening(ScriptedCustomer):
        def reply(self, talk):
            held.append(weakref.ref(talk))
            return super().reply(talk)

    case = cases["tracking_1"]
    gc.disable()
    try:
        at_once(converse(case, store, AGENTS["no_op"](case, store), Listening(case, store)))
        assert held and held[0]() is None
    finally:
        gc.enable()


def test_same_case_and_same_words_same_customer(store, cases):
    for case in list(cases.values())[::9]:
        first, second = (play(case, store, AGENTS["no_op"](case, store)) for _ in range(2))
        assert first.to_json() == second.to_json()


def test_the_customer_pushes_in_order_and_after_three_rounds_without_anything_new_says_its_last_line_and_gives_up(
    store, cases
):
    case = cases["damaged_no_proof"]
    noes = ("No.", "I am afraid not.", "Sorry, no.", "It stays a no.", "Still no.", "No, really.")
    record = ending(case, store, Says(lambda talk: noes[talk.turn - 1]), max_messages=20)
    pushed = [m.text for m in record.messages if any(a.kind == "pushed" for a in m.acts)]
    assert pushed == [*case.pressure[:3], case.pressure[-1]] and record.ended_by == "customer_gave_up"


def test_an_agent_that_repeats_itself_is_told_so_and_then_left(store, cases):
    record = ending(cases["damaged_no_proof"], store, Says("No."), max_messages=20)
    said = [m for m in record.messages if m.side == "customer"]
    assert any(a.what == "repeated" for a in said[2].acts) and record.ended_by == "customer_gave_up" and len(said) == 4


def test_no_customer_message_is_said_twice(store, cases):
    for case in cases.values():
        for agent in ("no_op", "echo", "refuse_all"):
            said = [m.text for m in play(case, store, AGENTS[agent](case, store)).messages if m.side == "customer"]
            assert len(set(said)) == len(said), case.id


def test_the_turn_limit_ends_the_talk(store, cases):
    case = cases["damaged_no_proof"]
    record = ending(case, store, Says("No."), max_messages=2)
    assert record.ended_by == "turn_limit" and sum(m.side == "customer" for m in record.messages) == 2


def test_a_handover_ends_the_talk_after_that_message(store, cases):
    def hand_over(talk):
        talk.call("hand_over_to_human", queue="general", reason="r", summary="s")
        assert talk.call("close_ticket", resolution="x").error == "talk_over"
        return "A colleague will write to you."

    record = ending(cases["tracking_1"], store, Says(hand_over))
    assert record.ended_by == "handed_over" and record.messages[-1].text == "A colleague will write to you."


def test_closing_the_ticket_ends_the_talk(store, cases):
    record = ending(cases["tracking_1"], store, Says(lambda t: t.call("close_ticket", resolution="x").name))
    assert record.ended_by == "closed_by_agent"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (AgentFault("cut_by_length"), "agent_fault"),
        (EndpointError("context_overflow", "too long", fatal=False), "agent_fault"),
        (EndpointError("timeout", "no answer", fatal=False), "infrastructure_fault"),
    ],
)
def test_faults_are_told_apart(store, cases, error, expected):
    record = ending(cases["tracking_1"], store, failing(error))
    assert record.ended_by == expected and record.faults


def test_a_fatal_endpoint_error_stops_the_run(store, cases):
    with pytest.raises(EndpointError):
        ending(cases["tracking_1"], store, failing(EndpointError("auth", "bad key", fatal=True)))


def test_infrastructure_faults_are_not_scored(store, cases):
    case = cases["tracking_1"]
    record = ending(case, store, failing(EndpointError("timeout", "no answer", fatal=False)))
    found = score(record, case, store)
    assert found["scored"] is False and found["success"] is None and found["handed_over"] is None


def test_two_empty_replies_in_a_row_are_the_agents_fault(store, cases):
    assert ending(cases["tracking_1"], store, Says("")).ended_by == "agent_fault"


def hammering(times):
    """A line of an agent that calls a tool so often and keeps the errors."""

    def line(talk):
        line.errors = [talk.call("search_knowledge_base", query="x").error for _ in range(times)]
        return "Which order is it about?"

    return line


def test_asking_back_lengthens_a_conversation_twice_at_most_whoever_plays_the_customer(store, cases):
    class Puzzled:
        def reply(self, talk):
            return Reply("What do you mean?", [Act("asked_back", "offer")])

    record = at_once(converse(cases["tracking_1"], store, Says("Shall I?"), Puzzled(), max_messages=3))
    assert record.ended_by == "turn_limit" and sum(m.side == "customer" for m in record.messages) == 5


def test_calls_beyond_the_limit_are_answered_and_not_carried_out(store, cases):
    line = hammering(26)
    record = ending(cases["tracking_1"], store, Says(line, "Thank you."), max_messages=2)
    assert record.ended_by == "turn_limit" and not record.faults
    assert line.errors == [None] * 20 + ["too_many_calls"] * 6
    beyond = record.tool_calls[20:]
    assert all("Answer the customer first" in call.result["error"] for call in beyond)
    assert Conversation.from_json(record.to_json()) == record


def test_only_going_on_after_that_is_the_agents_fault(store, cases):
    record = ending(cases["tracking_1"], store, Says(hammering(27)))
    assert record.ended_by == "agent_fault" and [f.kind for f in record.faults] == ["too_many_calls"]
    assert len(record.tool_calls) == 26


def test_each_message_of_the_customer_allows_as_many_calls_again(store, cases):
    line = hammering(21)
    record = ending(cases["tracking_1"], store, Says(line), max_messages=2)
    assert [sum(c.turn == turn and not c.error for c in record.tool_calls) for turn in (1, 2)] == [20, 20]
    assert line.errors[-1] == "too_many_calls" and record.ended_by == "turn_limit"


def test_a_write_beyond_the_limit_changes_nothing_and_is_no_act(store, cases):
    order = {"order_id": cases["cancel_before_ship_1"].ledger["order_id"].value}

    def late(talk):
        for _ in range(20):
            talk.call("search_knowledge_base", query="x")
        assert talk.call("cancel_order", **order).error == "too_many_calls"
        return "It is cancelled."

    case = cases["cancel_before_ship_1"]
    record = ending(case, store, Says(late), max_messages=1)
    assert record.changes == [] and record.tool_calls[-1].write and not record.faults
    found = score(record, case, store)
    assert not found["success"] and not found["state_matches"] and found["failed_calls"] == 1


def test_the_prompt_names_the_limit_of_each_set(store):
    hard = load_store("northline:hard")
    assert "up to 20 tool calls" in store.prompt()[0] and "up to 100 tool calls" in hard.prompt()[0]


def test_a_photo_comes_only_if_the_ledger_holds_it(store, cases):
    class Liar(ScriptedCustomer):
        async def reply(self, talk):
            return Reply("Here is the photo!", attachments=["photo"])

    case = cases["damaged_no_proof"]
    record = at_once(converse(case, store, Says("Thanks."), Liar(case, store), max_messages=1))
    assert record.messages[0].attachments == [] and not record.acts("attached")


class Wanted:
    def __init__(self, name, arguments, id="c1"):
        self.name, self.arguments, self.id = name, arguments, id


class Answer:
    def __init__(self, text=None, calls=(), finish="stop"):
        self.text, self.tool_calls, self.finish_reason = text, list(calls), finish
        self.reasoning, self.usage = "", Usage(prompt_tokens=10, completion_tokens=2, calls=1)

    def message(self):
        return {"role": "assistant", "content": self.text}


def model(*answers):
    left = list(answers)

    async def complete(messages, tools):
        model.seen = [dict(m) for m in messages]
        return left.pop(0) if len(left) > 1 else left[0]

    return ModelAgent(complete)


def test_a_model_may_call_several_tools_and_reads_every_result(store, cases):
    agent = model(
        Answer(calls=[Wanted("find_orders", '{"email": "x@y.example"}'), Wanted("get_order", "{broken", "c2")]),
        Answer("Hello"),
    )
    record = ending(cases["tracking_1"], store, agent, max_messages=1)
    assert [c.error for c in record.tool_calls] == [None, "bad_json"]
    assert [m["role"] for m in model.seen] == ["system", "user", "assistant", "tool", "tool"]
    assert "not valid JSON" in model.seen[-1]["content"]
    assert record.usage["agent"] == Usage(prompt_tokens=20, completion_tokens=4, calls=2)


def searches(count, first=0):
    return [Wanted("search_knowledge_base", '{"query": "x"}', f"c{first + n}") for n in range(count)]


def test_a_model_that_reads_in_batches_learns_the_limit_before_it_can_be_at_fault(store, cases):
    agent = model(Answer(calls=searches(18)), Answer(calls=searches(18, 18)), Answer("Which order is it about?"))
    record = ending(cases["tracking_1"], store, agent, max_messages=1)
    assert record.ended_by == "turn_limit" and not record.faults
    assert [c.error for c in record.tool_calls].count("too_many_calls") == 16
    assert "Answer the customer first" in model.seen[-1]["content"]


def test_a_model_that_goes_on_in_batches_is_at_fault_in_the_end(store, cases):
    record = ending(cases["tracking_1"], store, model(Answer(calls=searches(30))))
    assert record.ended_by == "agent_fault" and [f.kind for f in record.faults] == ["too_many_calls"]
    assert len(record.tool_calls) == 6 * 30, "the sixth reply with calls beyond the limit is the last one answered"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer("cut he", finish="length"), "agent_fault"),
        (Answer("", finish="content_filter"), "content_filter"),
        (Answer(calls=[Wanted("nonsense", "{}")]), "agent_fault"),
        (Answer(""), "agent_fault"),
    ],
)
def test_what_a_model_can_do_wrong_ends_the_talk_by_its_name(store, cases, answer, expected):
    assert ending(cases["tracking_1"], store, model(answer)).ended_by == expected


@pytest.mark.parametrize(
    "spec", ["scripted:nobody", "scripted:tunable?skill=2", "scripted:tunable?luck=1", "scripted:oracle?skill=1"]
)
def test_an_unknown_scripted_agent_or_setting_is_refused(spec):
    with pytest.raises(BadInput):
        parse_spec(spec)


def test_a_defect_of_the_simulated_customer_is_its_own_fault_and_ends_only_its_conversation(store, cases, monkeypatch):
    monkeypatch.setattr(ScriptedCustomer, "reply", lambda self, talk: {}["no such line"])
    record = at_once(converse(cases["tracking_1"], store, Says("Hello."), ScriptedCustomer(cases["tracking_1"], store)))
    assert record.ended_by == "customer_fault" and record.messages == []
    assert [(f.side, f.kind) for f in record.faults] == [
        ("customer", "failed")
    ] and "KeyError: 'no such line' (test_conversation_loop.py:" in record.faults[0].detail
