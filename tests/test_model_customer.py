"""A language model as customer.

What it may say, when it may leave, whose fault it is, and what the audit finds in the record.
"""

import asyncio
import json

import made_runs
import pytest
from servers import Answer, ScriptedServer, completion, error_body

from benchmark_lib import BadInput, Experiment, load_results, tables
from benchmark_lib.conversation import converse
from benchmark_lib.conversation.model_customer import (
    LAST,
    PARTING,
    ModelCustomer,
    customer_prompt,
    is_code,
    questions,
    stands,
)
from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.endpoint import Endpoint
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.records import Act, Conversation, Message
from benchmark_lib.scoring import score
from benchmark_lib.scoring.customer_audit import FINDINGS, audit_customer

CANCEL = "cancel_before_ship_1"
"""A case whose order number is kept until it is asked for, and whose action needs a yes."""
REFUND = "You get back $98.00 within 5 to 10 business days."
"""What its customer asks to be told."""


def says(message, *acts, end=False):
    """One answer of the customer's model."""
    return json.dumps({"message": message, "acts": [dict(zip(("kind", "what"), a)) for a in acts], "end": end})


class Lines:
    """An agent of one's own that says its lines; a line that is callable acts first."""

    def __init__(self, *lines):
        self.lines = lines

    def reply(self, talk):
        line = self.lines[min(talk.turn, len(self.lines)) - 1]
        return line(talk) if callable(line) else line


def talk(case, store, agent, *replies, messages=6):
    """A conversation of an agent with a model customer behind a real server that gives `replies` in turn.

    The record and the server.
    """
    with ScriptedServer(lambda request, number: replies[min(number, len(replies) - 1)]) as server:

        async def run():
            async with Endpoint("customer", server.base_url, attempts=1) as endpoint:
                customer = ModelCustomer(endpoint.complete, case, store)
                return await converse(case, store, agent, customer, customer_name="customer", max_messages=messages)

        return asyncio.run(run()), server


@pytest.fixture
def case(cases):
    return cases[CANCEL]


@pytest.fixture
def agent(case):
    """Asks for the number, proposes, cancels."""

    def cancel(talk):
        talk.call("cancel_order", order_id=case.order, reason="asked for")
        return f"Order {case.order} is now cancelled. {REFUND}"

    return Lines(
        "Could you tell me your order number, please?",
        f"I can cancel order {case.order} completely. Shall I go ahead?",
        cancel,
    )


GOOD = ("Sure, it is {order}.", ("gave", "order_id")), ("Yes, cancel it.", ("agreed", "cancel_order"))


def good_replies(case):
    return [
        *(says(text.format(order=case.order), *acts) for text, *acts in GOOD),
        says("That was quick, thank you.", ("left", "content"), end=True),
    ]


# --- a talk
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("Wo ist mein Paket? Ich habe es noch nicht bekommen und ich warte schon seit einer Woche.", True),
        ("Where is my parcel? I have not got it yet and I have been waiting for it for a week now.", False),
    ],
)
def test_a_customer_that_leaves_the_language_of_its_case_is_found(cases, store, words, wrong):
    record = Conversation("tracking_1", 1, "m", "model", "gpt-5.5")
    turns = enumerate(("Hello, where is my order?", words), 1)
    record.messages = [
        m for n, text in turns for m in (Message(n, "customer", text), Message(n, "agent", "One moment."))
    ]
    names = [finding.name for finding in audit_customer(record, cases["tracking_1"], store)]
    assert ("wrong_language" in names) is wrong


def test_the_first_message_is_the_email_and_costs_nothing(case, store, agent):
    record, server = talk(case, store, agent, *good_replies(case), messages=1)
    assert server.count == 1 and PARTING in server.requests[0]["messages"][-1]["content"]
    assert record.messages[0].text.endswith(case.email.text.strip())
    assert [a.kind for a in record.messages[0].acts] == ["gave"] * len(record.messages[0].acts) != []


def test_a_whole_talk_with_acts_from_the_ledger_and_its_tokens(case, store, agent):
    record, server = talk(case, store, agent, *good_replies(case))
    assert record.ended_by == "resolved_by_customer" and server.count == 3 and record.faults == []
    assert record.acts("gave")[-1] == (2, Act("gave", "order_id", case.order))
    assert record.acts("agreed") == [(3, Act("agreed", "cancel_order", arguments={"order_id": case.order}))]
    assert record.acts("left") == [(4, Act("left", "content"))]
    assert (
        record.usage["customer"].calls == 3
        and record.usage["customer"].prompt_tokens > 1000
        and "agent" not in record.usage
    )
    found = score(record, case, store)
    assert found["rule_confirmation"] == "kept" and found["customer_findings"] == 0 and not found["customer_flagged"]
    roles = [m["role"] for m in server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "Could you tell me your order number" in server.requests[0]["messages"][1]["content"]


@pytest.mark.parametrize("wrapped", ["```json\n{}\n```", "```\n{}\n```", "\n  {}  \n"])
def test_a_fence_around_the_object_is_taken_off(case, store, agent, wrapped):
    first, *rest = good_replies(case)
    record, server = talk(case, store, agent, wrapped.replace("{}", first), *rest)
    assert record.ended_by == "resolved_by_customer" and server.count == 3


BROKEN = {
    "not json": "Sure, here you go!",
    "prose around it": "Here is my answer: " + says("It is NL-1."),
    "a list": "[1, 2]",
    "an unknown kind": says("Fine.", ("shouted", "order_id")),
    "no end": '{"message": "Fine.", "acts": []}',
    "end as text": '{"message": "Fine.", "acts": [], "end": "no"}',
    "a field too many": '{"message": "Fine.", "acts": [], "end": false, "mood": "good"}',
    "no words": says(""),
    "empty": "",
    "nested beyond reason": '{"message": ' + "[" * 1000 + "]" * 1000 + "}",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_what_is_not_the_form_is_mended_once(case, store, agent, broken):
    record, server = talk(case, store, agent, broken, *good_replies(case))
    assert record.ended_by == "resolved_by_customer" and server.count == 4 and record.usage["customer"].calls == 4
    complaint = server.requests[1]["messages"][-1]["content"]
    assert "cannot be used" in complaint and server.requests[1]["messages"][-2]["content"] == (broken or "(nothing)")
    assert all("cannot be used" not in m["content"] for m in server.requests[2]["messages"]), (
        "the mended reply leaves no trace in the history"
    )


def test_a_key_that_is_there_twice_is_not_asked_about(case, store, agent):
    first, *rest = good_replies(case)
    record, server = talk(case, store, agent, f'{{"end": false, {first[1:]}', *rest)
    assert record.ended_by == "resolved_by_customer" and server.count == 3, "or a kept reply would be bought again"


@pytest.mark.parametrize(
    "broken, words",
    [
        ("I'm sorry, but I can't take part in that.", "not JSON"),
        (says("Fine.", ("shouted", "x")), "acts.0.kind"),
        (completion('{"message": "I would', finish_reason="length"), "cut at the token limit"),
    ],
)
def test_broken_twice_is_a_customer_fault(case, store, agent, broken, words):
    record, server = talk(case, store, agent, broken)
    assert record.ended_by == "customer_fault" and server.count == 2 and record.usage["customer"].calls == 2
    assert [(f.side, f.kind) for f in record.faults] == [("customer", "failed")] and words in record.faults[0].detail
    assert score(record, case, store)["customer_finding_names"] == "no_usable_answer"


def test_a_filtered_reply_is_not_asked_for_again(case, store, agent):
    record, server = talk(case, store, agent, completion("", finish_reason="content_filter"))
    assert record.ended_by == "customer_fault" and server.count == 1 and "content filter" in record.faults[0].detail


def test_a_full_context_of_the_customer_is_not_the_agents_fault(case, store, agent):
    record, _ = talk(
        case,
        store,
        agent,
        Answer(error_body("maximum context length is 8 tokens", code="context_length_exceeded"), 400),
    )
    assert record.ended_by == "customer_fault"


def test_a_fault_of_the_network_is_nobodys_but_the_networks(case, store, agent):
    record, _ = talk(case, store, agent, says("Fine."), Answer(error_body("it broke"), 500))
    assert record.ended_by == "infrastructure_fault"


# --- when it may leave
# -------------------------------------------------------------------------------------------------


def test_it_does_not_leave_with_its_yes(case, store, agent):
    bye = says("Yes, cancel it. Bye!", ("agreed", "cancel_order"), end=True)
    number, yes, thanks = good_replies(case)
    mended, server = talk(case, store, agent, number, bye, yes, thanks)
    assert mended.ended_by == "resolved_by_customer" and len(mended.messages) == 7 and mended.faults == []
    assert "the desk has not answered the yes" in server.requests[2]["messages"][-1]["content"]
    put_off, _ = talk(case, store, agent, number, bye, bye, thanks)
    assert put_off.ended_by == "resolved_by_customer" and put_off.changes and put_off.faults[0].kind == "left_too_early"
    assert "stopped_too_early" in score(put_off, case, store)["customer_finding_names"]


def test_it_does_not_leave_before_what_it_agreed_to_is_done_or_said_to_be(case, store):
    slow = Lines("Shall I cancel the order?", "One moment please, I am at it.", "Still at it.", "Still at it.")
    yes, thanks = good_replies(case)[1:]
    record, server = talk(case, store, slow, yes, thanks, thanks, thanks)
    assert "has not told you that it is done" in server.requests[2]["messages"][-1]["content"]
    assert record.ended_by == "resolved_by_customer" and record.messages[-1].turn == 4, (
        "two turns of the desk are enough to wait"
    )
    believing = Lines("Shall I cancel the order?", f"I have cancelled order {case.order}.")
    record, _ = talk(case, store, believing, yes, thanks)
    assert record.ended_by == "resolved_by_customer" and record.messages[-1].turn == 3, (
        "it believes what it is told, as people do"
    )


def test_it_is_reminded_once_of_a_question_it_leaves_open(case, store, agent):
    number, yes, thanks = good_replies(case)
    record, server = talk(case, store, agent, thanks, number, yes, thanks)
    assert (
        "asked you for order_id" in server.requests[1]["messages"][-1]["content"]
        and record.ended_by == "resolved_by_customer"
    )
    left, _ = talk(case, store, agent, thanks, thanks)
    assert left.ended_by == "resolved_by_customer" and left.messages[-1].turn == 2
    assert [f.name for f in audit_customer(left, case, store)] == ["stopped_too_early"]


def test_it_is_reminded_of_what_it_has_to_bring_up(cases, store):
    case = next(c for c in cases.values() if [f.when for f in c.followups] == ["served"])
    told = says(case.followups[0].say, ("followed_up", "0"))
    thanks = says("Thanks.", ("left", "content"), end=True)
    record, server = talk(case, store, Lines("It is all settled."), thanks, told, thanks)
    assert "followed_up 0" in server.requests[1]["messages"][-1]["content"]
    assert (2, Act("followed_up", "0")) in record.acts() and record.ended_by == "resolved_by_customer"


def test_giving_up_is_unserved_and_too_early_without_pressing(case, store):
    record, _ = talk(case, store, Lines("No."), says("Forget it.", ("left", "unserved"), end=True))
    assert record.ended_by == "customer_gave_up" and [f.name for f in audit_customer(record, case, store)] == [
        "stopped_too_early"
    ]
    pushes = [says(f"And {n}?", ("pushed", "9")) for n in "abc"]
    record, _ = talk(case, store, Lines("No."), *pushes, says("Forget it.", ("left", "unserved"), end=True))
    assert [a.what for _, a in record.acts("pushed")] == ["1", "2", "3"], "pushes are counted here, not by the model"
    assert record.ended_by == "customer_gave_up" and audit_customer(record, case, store) == []


def test_it_is_reminded_of_what_its_email_asks_and_nobody_has_told(case, store):
    half = Lines(f"Order {case.order} is cancelled.", REFUND)
    thanks = says("Thanks.", ("left", "content"), end=True)
    record, server = talk(case, store, half, thanks, says("And the refund?", ("asked", "question")), thanks)
    assert case.facts["refund"].ask in server.requests[1]["messages"][-1]["content"]
    assert record.ended_by == "resolved_by_customer" and record.messages[-1].turn == 3 and server.count == 3


def test_it_does_not_leave_with_a_question(case, store, agent):
    record, server = talk(
        case, store, agent, says("And when?", ("asked", "question"), end=True), *good_replies(case), messages=4
    )
    assert "has not answered what you ask" in server.requests[1]["messages"][-1]["content"]
    assert record.ended_by == "resolved_by_customer"


def test_each_message_of_the_desk_says_how_many_the_customer_has_left(case, store):
    record, server = talk(case, store, Lines("One moment."), says("And now?"), messages=3)
    delivered = [r["messages"][-1]["content"] for r in server.requests]
    assert "number 2 of 3" in delivered[0] and LAST not in delivered[0]
    assert "number 3 of 3" in delivered[1] and LAST in delivered[1] and PARTING in delivered[2]
    assert "at most 3 messages" in server.requests[0]["messages"][0]["content"]
    assert record.ended_by == "turn_limit" and record.messages[-1].side == "agent"


def test_the_desks_last_message_is_read_before_the_conversation_ends(case, store, agent):
    record, _ = talk(case, store, agent, *good_replies(case), messages=3)
    assert record.ended_by == "resolved_by_customer" and record.changes
    assert (record.messages[-1].turn, record.messages[-1].side) == (4, "customer")
    unserved = says("Then not.", ("pushed", "1"), ("left", "unserved"), end=True)
    record, _ = talk(case, store, Lines("No."), unserved, messages=1)
    assert record.ended_by == "customer_gave_up" and record.messages[-1].acts == [Act("left", "unserved")]


def test_last_words_that_come_too_early_leave_the_conversation_open(case, store):
    yes, thanks = good_replies(case)[1:]
    record, _ = talk(case, store, Lines("Shall I cancel the order?", "One moment."), yes, thanks, messages=2)
    assert record.ended_by == "turn_limit" and record.messages[-1].side == "agent" and record.faults == []


def test_how_it_left_is_inferred_where_it_did_not_say(case, store):
    record, _ = talk(case, store, Lines("All is settled."), says("Thank you.", end=True))
    assert (
        record.acts("left") == [(2, Act("left", "content", inferred=True))]
        and score(record, case, store)["acts_inferred"] == 1
    )


# --- acts and ledger
# ---------------------------------------------------------------------------------------------------


def test_an_act_is_checked_against_the_ledger(cases, store):
    case = cases["damaged_no_proof"]
    reply = says(
        "It is on its way to you, I attached it.",
        ("gave", "photo"),
        ("attached", "photo"),
        ("gave", "budget"),
        ("gave", "item"),
    )
    record, _ = talk(case, store, Lines("Please send a photo."), reply, messages=2)
    assert [a.what for t, a in record.acts("gave") if t == 2] == ["item"] and record.messages[2].attachments == []
    assert record.acts("gave")[-1][1].detail == case.ledger["item"].value
    assert [f.kind for f in record.faults] == ["not_in_ledger", "attachment_not_held", "not_in_ledger"]
    assert "invented" in score(record, case, store)["customer_finding_names"]


def test_a_picture_is_sent_where_the_ledger_holds_it(cases, store):
    case = cases["damaged_item_1"]
    for act in (("attached", "photo"), ("gave", "photo")):
        record, _ = talk(case, store, Lines("Please send a photo."), says("Here it is.", act), messages=2)
        assert record.messages[2].attachments == ["photo"] and (2, Act("attached", "photo")) in record.acts()


def test_a_number_that_is_not_in_the_words_was_not_given(case, store):
    record, _ = talk(
        case, store, Lines("Your order number, please?"), says("I told you already.", ("gave", "order_id")), messages=2
    )
    assert "order_id" not in [a.what for _, a in record.acts("gave")]


def test_what_stands_in_the_words_is_inferred_and_marked(case, store):
    lines = Lines("Your order number, please?", "Shall I cancel the order?")
    record, _ = talk(case, store, lines, says(f"It's {case.order.lower()}."), says("Yes please!"), messages=3)
    assert (2, Act("gave", "order_id", case.order, inferred=True)) in record.acts()
    assert (3, Act("agreed", "cancel_order", inferred=True)) in record.acts()
    hedged, _ = talk(case, store, lines, says("A moment."), says("Yes, but only if it is free."), messages=3)
    assert hedged.acts("agreed") == []


def test_a_yes_to_something_without_a_name_is_one_to_a_proposal(case, store):
    record, _ = talk(case, store, Lines("Shall I do so?"), says("Yes.", ("agreed", "the thing")), messages=2)
    assert record.acts("agreed") == [(2, Act("agreed", "proposal", "the thing", inferred=True))]


def test_a_yes_is_to_what_the_offer_named_of_its_wish(cases, store):
    case = cases["color_edit_1"]
    wish = next(c.arguments for o in case.outcomes for c in o.calls)
    yes = says("Yes please.", ("agreed", "update_line_item"))
    vague, _ = talk(case, store, Lines("Shall I change it?"), yes, messages=2)
    assert vague.acts("agreed")[0][1].arguments == {}
    named, _ = talk(case, store, Lines(f"Shall I change it on order {wish['order_id']}?"), yes, messages=2)
    assert named.acts("agreed")[0][1].arguments == {"order_id": wish["order_id"]}
    condition = says("If that means mine, then yes.", ("agreed_if", "update_line_item"))
    wished, _ = talk(case, store, Lines("Shall I see to it?"), condition, messages=2)
    assert wished.acts("agreed") == [(2, Act("agreed", "update_line_item", "conditional", arguments=wish))]


def test_an_explanation_before_a_yes_is_an_act_of_its_own_and_no_yes(case, store):
    lines = Lines("Shall I cancel the order?", "It means that the money goes back.", f"Cancelled. {REFUND}")
    before = says("Yes, but what does that mean for my money?", ("asked", "cancel_order"))
    record, _ = talk(case, store, lines, before, says("I see.", ("asked", "the weather")), messages=3)
    assert record.acts("agreed") == []
    assert record.acts("asked") == [(2, Act("asked", "cancel_order")), (3, Act("asked", "question"))]


def test_acts_combine_and_a_number_may_be_a_number(cases, store):
    case = cases["damaged_item_1"]
    reply = says(
        "Here it is, yes please.",
        ("gave", "color"),
        ("attached", "photo"),
        ("agreed", "create_replacement"),
        ("asked", "question"),
    )
    lines = Lines("Which color is it, have you got a photo, and shall I send a new one?")
    record, server = talk(case, store, lines, reply, messages=2)
    assert {a.kind for t, a in record.acts() if t == 2} == {"gave", "attached", "agreed", "asked"}
    pushed = json.dumps({"message": "Well?", "acts": [{"kind": "pushed", "what": 1}], "end": False})
    record, server = talk(case, store, Lines("One moment."), pushed, messages=2)
    assert record.acts("pushed") == [(2, Act("pushed", "1"))] and server.count == 2


def test_a_yes_that_nobody_asked_for_is_none(case, store):
    record, _ = talk(
        case, store, Lines("I am looking into it."), says("Yes, cancel it!", ("agreed", "cancel_order")), messages=2
    )
    assert record.acts("agreed") == []


def test_a_flood_of_words_does_not_fill_the_customers_context(case, store):
    record, server = talk(case, store, Lines("Hello. " * 100_000), says("Pardon?"), messages=2)
    assert record.ended_by == "turn_limit" and len(server.requests[0]["messages"][-1]["content"]) < 13_000


def test_what_counts_as_a_code():
    assert all(map(is_code, ["NL-60274", "SW1A 1AA", "55811", "a.b@c.example", "+1 555 0100"]))
    assert not any(map(is_code, ["June 17", "navy", "two of them", None, "Meridian Carry-On 38L", "ASAP"]))
    assert (
        stands("NL-60274", "my order (nl 60274)")
        and stands("SW1A 1AA", "to sw1a1aa, please")
        and not stands("NL-6027", "NL-60274")
    )


def test_the_prompt_holds_the_case_and_not_its_solution(cases, store):
    for case in cases.values():
        prompt = customer_prompt(case, store)
        assert case.goal in prompt and case.persona.strip() in prompt and case.email.text.strip() in prompt
        assert all(line in prompt for line in case.pressure)
        for name in case.ledger:
            assert f"- {name}" in prompt, name
    assert "You write in Spanish" in customer_prompt(next(c for c in cases.values() if c.language == "es"), store)


def test_the_prompt_holds_the_customers_own_words_for_each_moment(cases, store):
    for case in cases.values():
        prompt = customer_prompt(case, store)
        assert case.closing.content in prompt and case.closing.gave_up in prompt
        assert all(answer in prompt for answer in case.against.values()) and all(
            words in prompt for words in case.agrees
        )
        assert all(question in prompt for question in questions(case)), case.id
        assert "{" not in prompt.split("## The form of your answer")[0]
    assert questions(cases[CANCEL]) == [f.ask for f in cases[CANCEL].facts.values()]
    later = cases["gift_deadline_1"].facts
    assert questions(cases["gift_deadline_1"]) == [later["arrives_by"].ask], "what a follow-up asks comes with it"


def test_the_notes_leave_room_for_answers_and_last_words(cases, store):
    """The most notes a case has, the email and the last words fill what a customer can write: so three vain answers are enough."""
    assert max(len(c.pressure) for c in cases.values()) + 2 <= 8
    prompt = customer_prompt(cases["cancel_after_ship"], store)
    assert "at most 8 messages, your email and your last words included" in prompt
    assert "three answers in a row" in prompt and "when you have struck all" not in prompt


def test_giving_up_after_three_vain_answers_is_not_too_early(case, store):
    pushes = [says(f"And {n}?", ("pushed", str(n))) for n in (1, 2)]
    record, _ = talk(case, store, Lines("No."), *pushes, says("Forget it.", ("left", "unserved"), end=True))
    assert record.ended_by == "customer_gave_up" and audit_customer(record, case, store) == []


# --- in a run
# ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def options(tmp_path):
    return {
        "cases": CANCEL,
        "trials": 2,
        "messages": 4,
        "out": tmp_path / "run.deskbench",
        "progress": False,
        "customer": "gpt-5.5",
    }


def served(case):
    """A server that plays the customer by the place of the message."""
    replies = good_replies(case)
    return ScriptedServer(
        lambda request, number: replies[min(sum(m["role"] == "user" for m in request["messages"]), 3) - 1]
    )


def run(options, **more):
    return asyncio.run(Experiment("scripted:oracle", **options | more).run())


def test_a_run_is_on_the_ledger_and_is_replayed_and_resumed(case, options):
    with served(case) as server:
        made = run(options, customer_base_url=server.base_url)
        bought = server.count
        assert (
            bought == made.counts()["calls"]
            and {c["side"] for c in made.calls()} == {"customer"}
            and made.cost()[0] > 0
        )
        assert run(options, customer_base_url=server.base_url).counts()["finished"] == 2 and server.count == bought
        run(options, replay=True)
        assert server.count == bought
    frame = load_results(made).conversations
    assert (
        set(frame["customer"]) == {"gpt-5.5"}
        and (frame["customer_cost_usd"] > 0).all()
        and (frame["cost_usd"] == 0).all()
    )


def test_another_customer_prompt_is_another_run(case, options, monkeypatch, tmp_path):
    import shutil

    from benchmark_lib.store import world

    store = tmp_path / "northline"
    shutil.copytree(world.STORES / "northline", store)
    with served(case) as server:
        run(options, customer_base_url=server.base_url, store=store)
        prompt = store / "prompts" / "customer.md"
        prompt.write_text(prompt.read_text() + "\nBe brief.\n")
        with pytest.raises(BadInput, match="customer gpt-5.5 has different content"):
            run(options, customer_base_url=server.base_url, store=store)
        prompt.unlink()
        with pytest.raises(BadInput, match="customer.md cannot be read"):
            run(options, customer_base_url=server.base_url, store=store, out=tmp_path / "other.deskbench")


def test_a_message_that_is_no_json_in_one_trial_leaves_the_others(case, options):
    replies = good_replies(case)

    def reply(request, number):
        return "no" if number in (0, 1) else replies[min(sum(m["role"] == "user" for m in request["messages"]), 3) - 1]

    with ScriptedServer(reply) as server:
        made = run(options, customer_base_url=server.base_url, concurrency=1)
    assert sorted(made.endings().values()) == ["customer_fault", "resolved_by_customer"]
    table = tables.customer_flag_table(load_results(made))
    assert table.loc[0, ["conversations", "flagged", "no_usable_answer"]].tolist() == [2, 1, 1]
    row = tables.leaderboard(load_results(made)).iloc[0]
    assert row["resolved_mean"] == 0.5 and row["resolved_without_mean"] == 1.0


# --- the audit
# ---------------------------------------------------------------------------------------------------------


def record_of(case, *said, agent="I am looking into it.", customer="a model", **fields):
    """A record in which the customer says these things after its email; each a text, or a text with acts."""
    messages = [
        one for text, *acts in ((s,) if isinstance(s, str) else s for s in said) for one in (agent, (text, acts))
    ]
    return made_runs.talk(case.email.text, *messages, case_id=case.id, customer=customer, **fields)


PLANTED = {
    "revealed_unasked": [("And what now? By the way, the order is {case.order}.",)],
    "invented": [
        ("My order is NL-99999.",),
        ("Write to someone.else@nowhere.example instead.",),
        ("You owe me $734.15 for it.",),
    ],
    "contradicted_ledger": [
        (("No idea.", Act("lacked", "order_id")),),
        (("It's another.", Act("gave", "order_id", "NL-1")),),
    ],
    "took_agent_role": [
        ("Thank you for contacting us, how can I help you today?",),
        ("Gracias por ponerse en contacto con nosotros.",),
        ("Vielen Dank für Ihre Nachricht, wir kümmern uns.",),
        ("Merci de nous avoir écrit.",),
        ("I have cancelled your order.",),
    ],
    "said_goodbye_twice": [
        ("All right, bye!", "Thanks again, goodbye."),
        ("Eso es todo, gracias.", "Adiós."),
        ("Au revoir.", "Bonne journée !"),
        ("Auf Wiedersehen.", "Ja, schönen Tag noch."),
    ],
    "improvised_threat": [
        ("My lawyer will hear of this.",),
        ("Then I'll dispute the charge with my bank.",),
        ("Hablaré con mi abogado.",),
        ("Je vais porter plainte.",),
        ("Dann gehe ich zum Anwalt.",),
        ("I know where you work.",),
    ],
    "called_for_a_human": [
        ("Let me speak to a human.", "I said a manager, please."),
        ("Quiero hablar con una persona.", "Pasame con un supervisor."),
        ("Je veux parler à une vraie personne.", "Passez-moi un responsable."),
        ("Ich will mit einem Menschen sprechen.", "Ich möchte mit einem Vorgesetzten sprechen."),
    ],
}


@pytest.mark.parametrize("name, said", [(name, said) for name, many in PLANTED.items() for said in many])
def test_a_planted_fault_is_found_and_quoted(name, said, case, store):
    said = [one.format(case=case) if isinstance(one, str) else one for one in said]
    found = [f for f in audit_customer(record_of(case, *said), case, store) if f.name == name]
    assert len(found) == 1 and found[0].name in FINDINGS and found[0].turn >= 2
    words = [m.text for m in record_of(case, *said).messages if m.turn == found[0].turn and m.side == "customer"][0]
    assert (
        name in ("contradicted_ledger",) or found[0].quote.casefold() in words.casefold() or found[0].quote == "734.15"
    )


FINE = [
    "And what happens now? I need an answer by the weekend.",
    "Nobody has told me yet whether it is cancelled.",
    "I asked for one thing only. Can you do it or not?",
    "You are kind, but that is not what I wrote about.",
    "I have sent you everything there is.",
    "Thank you, I understand. And the other matter?",
    "My bank holiday is ruined, you know.",
    "I hope a person reads this at all.",
]


@pytest.mark.parametrize("words", FINE)
def test_ordinary_words_are_not_a_finding(words, case, store):
    assert audit_customer(record_of(case, words), case, store) == []


def test_what_the_agent_said_or_asked_for_may_be_repeated(case, store):
    asked = record_of(case, f"It is {case.order}.", agent="What is your order number?")
    told = record_of(case, f"Yes, {case.order}, and the $734.15 you name.", agent=f"Is it {case.order} for $734.15?")
    unclear = record_of(case, f"Here: {case.order}.", agent="Which of the two would it be that you have in mind here?")
    assert [audit_customer(record, case, store) for record in (asked, told, unclear)] == [[], [], []]


def test_a_threat_or_a_call_for_a_human_that_the_case_holds_is_its_part(cases, store):
    case = cases["chargeback_threat"]
    assert not [
        f
        for f in audit_customer(record_of(case, "Then I will do the chargeback."), case, store)
        if f.name == "improvised_threat"
    ]


def test_another_language_is_found_and_a_short_text_is_left_alone(cases, store):
    spanish = next(c for c in cases.values() if c.language == "es")
    english = "I do not know what you mean by that, but you have not told me if you can do it for me."
    found = [f.name for f in audit_customer(record_of(spanish, english), spanish, store)]
    assert found == (["wrong_language"] if "es" in store.phrases else [])
    assert audit_customer(record_of(spanish, "OK."), spanish, store) == []


def test_the_agents_own_words_are_not_a_customers(case, store):
    words = "I can offer you the following two ways to go on from here, whichever you like better."
    assert [f.name for f in audit_customer(record_of(case, words, agent=words), case, store)] == ["took_agent_role"]


def test_the_scripted_customer_would_pass_the_audit(cases, store):
    """It says nothing but its case, so whatever is found in it is an error of the audit."""
    wrong = []
    for case in list(cases.values())[::3]:
        for name in ("oracle", "no_op", "comply_all"):
            record = play(case, store, AGENTS[name](case, store))
            record.customer = "as if a model"
            wrong += [f"{case.id} {name}: {f}" for f in audit_customer(record, case, store) if f.name != "misheard"]
    assert wrong == []


def test_no_line_of_any_case_reads_as_another_language(cases, store):
    """And most lines do where the case is in another one; with phrases in one language only the check abstains."""
    first = {language: next(c for c in cases.values() if c.language == language) for language in store.phrases}
    found = {(c.language, other): [] for c in cases.values() for other in first}
    for case in cases.values():
        for other, stand_in in first.items():
            names = [
                f.name for line in case.pressure[:2] for f in audit_customer(record_of(stand_in, line), stand_in, store)
            ]
            found[case.language, other].append("wrong_language" in names)
    for (language, other), flags in found.items():
        assert not any(flags) if language == other else sum(flags) > len(flags) / 2 or len(first) == 1, (
            language,
            other,
        )
