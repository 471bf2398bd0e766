"""A customer with many things to bring up: one a message, each once, without a goodbye between them, and nothing that is settled."""

import asyncio

import pytest
from test_customer import Says, did

from benchmark_lib.cases.case import Call, Case, Fact, FollowUp, Known, Outcome
from benchmark_lib.conversation import ScriptedCustomer, converse

SUMS = [1100 + 100 * n for n in range(12)]
NEXT = FollowUp(say="One more thing before you start: my neighbour takes parcels in, does that matter?", when="next")
LIMIT = 24


def say(place):
    return f"And number {place} on my sheet, what does that come to?"


@pytest.fixture
def long(cases):
    """A case of twelve follow-ups, each with a sum of its own to ask for."""
    first = cases["cancel_before_ship_5"]
    facts = {
        f"sum_{n}": Fact(kind="money", value=cents, after=n, ask=f"Number {n}, I still have no sum.")
        for n, cents in enumerate(SUMS)
    }
    bare = {"ledger": {}, "requested": [], "accepts": [], "moot": {}, "against": {}, "pushes_before_accepting": 0}
    ends = {
        "facts": facts,
        "outcomes": [Outcome(name="all told")],
        "followups": [FollowUp(say=say(n)) for n in range(12)],
    }
    return first.model_copy(update=bare | ends)


def talk_of(case, store, *lines):
    record = asyncio.run(converse(case, store, Says(*lines), ScriptedCustomer(case, store), max_messages=LIMIT))
    return [m for m in record.messages if m.side == "customer"][1:], record


def sums(*places):
    return " ".join(f"Number {n} comes to ${SUMS[n] / 100:.2f}." for n in places)


def raised(said):
    return [what for m in said for _, what in did(m, "followed_up")]


def test_a_dozen_come_one_a_message_each_once_and_the_goodbye_comes_last(store, long):
    said, record = talk_of(long, store, "Of course, ask away.", *[sums(n) for n in range(12)])
    assert [m.text for m in said] == [say(n) for n in range(12)] + [long.closing.content]
    assert raised(said) == [str(n) for n in range(12)] and record.ended_by == "resolved_by_customer"


def test_a_question_whether_there_is_more_gets_the_next_one(store, long):
    more = "Is there anything else I can do for you?"
    said, _ = talk_of(long, store, more, *[f"{sums(n)} {more}" for n in range(12)])
    assert [m.text for m in said] == [say(n) for n in range(12)] + [long.closing.content]


def test_what_was_told_before_is_not_brought_up(store, long):
    said, _ = talk_of(long, store, "Ask away.", sums(0, 1, 2), *[sums(n) for n in range(3, 12)])
    assert [m.text for m in said] == [say(0), *(say(n) for n in range(3, 12)), long.closing.content]


def test_an_answer_that_is_left_out_is_asked_for_before_the_next_one(store, long):
    said, _ = talk_of(long, store, "Ask away.", "That is a good question.", *[sums(n) for n in range(12)])
    assert [m.text for m in said[:3]] == [say(0), long.facts["sum_0"].ask, say(1)]


def test_what_is_done_before_is_not_brought_up(store, long, cases):
    call = cases["cancel_before_ship_5"].outcomes[0].calls[0]
    wish = Call(tool=call.tool, arguments=call.arguments, after=1)
    ends = [Outcome(name="all told", calls=[wish])]
    case = long.model_copy(update={"outcomes": ends, "facts": {n: f for n, f in long.facts.items() if n != "sum_1"}})

    def cancel(talk):
        talk.call(call.tool, {**call.arguments, "reason": "r"})
        return "I have cancelled the order, as you wished."

    said, _ = talk_of(case, store, cancel, *[sums(n) for n in range(12) if n != 1])
    assert raised(said) == [str(n) for n in range(12) if n != 1]


def test_what_comes_with_the_second_message_comes_alone(store, long):
    followups = [NEXT, FollowUp(say="And my daughter asks how you pack.", when="next"), *long.followups[2:]]
    case = long.model_copy(update={"followups": followups, "facts": dict(list(long.facts.items())[2:])})
    said, _ = talk_of(case, store, "Ask away.", "That is all right.", "In paper.", *[sums(n) for n in range(2, 12)])
    assert [m.text for m in said] == [f.say for f in followups] + [long.closing.content]


def test_a_question_for_two_things_kept_for_later_brings_up_one(store, long):
    gives = [
        FollowUp(say="The postcode is 02139.", gives={"postcode": "02139"}),
        FollowUp(say="My phone is 555 0100.", gives={"phone": "555 0100"}),
    ]
    case = long.model_copy(update={"followups": gives, "facts": {}, "ledger": {"photo": Known(when="never")}})
    said, _ = talk_of(case, store, "What is your postcode, and on which phone number can we reach you?", "Thank you.")
    assert [len(did(m, "followed_up")) for m in said] == [1, 1, 0] and sorted(raised(said)) == ["0", "1"]


def test_an_offer_is_answered_beside_a_question_of_its_own(store, long, cases):
    call = cases["cancel_before_ship_5"].outcomes[0].calls[0]
    case = long.model_copy(update={"outcomes": [Outcome(name="told", calls=[call])], "followups": [NEXT], "facts": {}})
    said, _ = talk_of(case, store, f"I can cancel order {call.arguments['order_id']}, all of it. Shall I go ahead?")
    assert set(did(said[0])) == {("agreed", "cancel_order"), ("followed_up", "0")}
    assert said[0].text.endswith(NEXT.say)


def test_a_long_case_is_a_case(long):
    assert Case.model_validate(long.model_dump()).followups == long.followups


def test_rounds_without_anything_new_are_counted_in_a_row(store, long, cases):
    stuck = cases["cancel_before_ship_5"].model_copy(update={"pressure": [f"Push {n}." for n in range(20)]})
    nothing = "I have read your message."
    asks = [f"What is your {what}?" for what in ("postcode", "name", "phone number")]
    lines = [line for ask in asks for line in (nothing, nothing, nothing, ask)]
    said, _ = talk_of(stuck, store, *[f"{line} {'.' * n}" for n, line in enumerate(lines)])
    assert len(said) >= len(lines)
