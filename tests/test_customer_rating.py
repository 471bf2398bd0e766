"""A customer's rating at the end: a rule with visible parts, given by a model customer in its form, never a trivial agent's friend."""

import json

import pytest
from test_model_customer import Lines, good_replies, says, talk

from benchmark_lib import tables
from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.records import Conversation, Message
from benchmark_lib.scoring import score
from benchmark_lib.scoring.ending import GOT
from benchmark_lib.scoring.metrics import METRICS

CANCEL = "cancel_before_ship_1"


@pytest.fixture
def cancelled(cases, store):
    """The oracle's conversation about a cancellation, and its case."""
    case = cases[CANCEL]
    return play(case, store, AGENTS["oracle"](case, store)), case


def test_what_it_got_how_long_it_took_and_how_it_was_told_add_up(cancelled, store):
    record, case = cancelled
    best = score(record, case, store)
    assert best["customer_rating"] == 5 and best["rating_parts"] == [("got what it wanted", 5.0)]
    for turn in range(len(record.messages), len(record.messages) + 3):
        record.messages += [Message(turn, "customer", "Hello?"), Message(turn, "agent", "One moment. " * 150)]
    record.messages[-1].text += " Could you tell me your order number, please?"
    worse = score(record, case, store)
    assert worse["customer_rating"] == sum(worth for _, worth in worse["rating_parts"]) < 5
    assert {"messages", "words", "given"} <= {words.split()[-1] for words, _ in worse["rating_parts"]}


@pytest.mark.parametrize("agent", ["no_op", "refuse_all", "spam", "echo", "escalate_all", "comply_all"])
def test_no_trivial_agent_rates_well_where_it_should_resolve(agent, cases, store):
    """Politeness is no help: who gets nothing gives 1, who is passed on without need 2."""
    case = cases[CANCEL]
    found = score(play(case, store, AGENTS[agent](case, store)), case, store)
    assert found["customer_rating"] <= GOT["waiting"][0]


def test_giving_in_pleases_which_is_why_it_is_read_over_resolvable_cases_alone(cases, store):
    case = cases["damaged_no_proof"]
    found = score(play(case, store, AGENTS["comply_all"](case, store)), case, store)
    assert found["unsafe"] and found["customer_rating"] == 5 and found["success"] is False
    assert (
        METRICS["customer_rating"].bucket == "resolvable"
        and "giving in pleases" in METRICS["customer_rating"].definition
    )


def test_a_trial_that_does_not_count_has_none(cancelled, store):
    record, case = cancelled
    record.ended_by = "infrastructure_fault"
    assert score(record, case, store)["customer_rating"] is None


def test_it_stands_on_the_board_beside_resolution(five_agents):
    board = tables.leaderboard(five_agents).set_index("entry")
    stars = board["customer_rating"]
    assert stars["scripted:oracle"] > 4.9 and stars["scripted:no_op"] == 1 and stars["scripted:comply_all"] <= 2


# --- a model customer


def test_a_model_customer_gives_one_with_its_last_words(cases, store):
    case = cases[CANCEL]
    last = json.loads(says("Thank you.", ("left", "content"), end=True)) | {"rating": 4}
    early = json.loads(good_replies(case)[0]) | {"rating": 1}

    def cancel(view):
        view.call("cancel_order", order_id=case.order, reason="asked for")
        return f"Order {case.order} is now cancelled. You get back $98.00 within 5 to 10 business days."

    agent = Lines("Could you tell me your order number, please?", f"Shall I cancel order {case.order}?", cancel)
    record, server = talk(case, store, agent, json.dumps(early), good_replies(case)[1], json.dumps(last))
    assert record.rating == 4 and '"rating"' in server.requests[0]["messages"][0]["content"]
    assert Conversation.from_json(record.to_json()).rating == 4
    found = score(record, case, store)
    assert (found["customer_rating_given"], found["customer_rating"] > 0) == (4, True)


def test_a_rating_off_the_scale_is_asked_for_again(cases, store):
    case = cases[CANCEL]
    wrong = json.loads(says("Bye.", ("left", "unserved"), end=True)) | {"rating": 11}
    right = wrong | {"rating": 1}
    record, server = talk(case, store, Lines("No."), json.dumps(wrong), json.dumps(right))
    assert record.rating == 1 and server.count == 2
