"""In a long conversation a bare value answers the question before it, and no other topic's value stands against it."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.language.values import money
from benchmark_lib.records import Act, Conversation, Message
from benchmark_lib.scoring import score
from benchmark_lib.scoring.facts import answers_by_topic
from benchmark_lib.store import load_store


@pytest.fixture(scope="module")
def store():
    return load_store("northline:hard")


@pytest.fixture(scope="module")
def case(store):
    return next(c for c in load_cases(store, "long_talk_3") if c.id == "long_talk_3")


def answered(case, said):
    """A conversation in which each follow-up has one reply: that of its place in `said`, else a bare word."""
    talk = Conversation(case.id, 1, "m", "model", "scripted", ended_by="resolved_by_customer")
    for turn in range(1, len(case.followups) + 2):
        place = turn - 2
        acts = [Act("followed_up", str(place))] if place >= 0 else []
        text = case.followups[place].say if acts else case.email.text
        talk.messages += [Message(turn, "customer", text, acts), Message(turn, "agent", said.get(place, "Noted."))]
    return talk


def bare(case, name):
    return {case.facts[name].after: f"{money(case.facts[name].value)}."}


def test_bare_amounts_of_two_topics_are_both_told(case, store):
    talk = answered(case, bare(case, "back") | bare(case, "short_by"))
    facts = score(talk, case, store, findings=False)["facts"]
    assert facts["back"] and facts["short_by"]


def test_a_bare_amount_under_another_topic_tells_nothing(case, store):
    place = case.facts["back"].after
    swapped = {place: bare(case, "short_by")[case.facts["short_by"].after]}
    swapped[case.facts["short_by"].after] = bare(case, "back")[place]
    facts = score(answered(case, swapped), case, store, findings=False)["facts"]
    assert not facts["back"] and not facts["short_by"]


def test_a_rival_beside_the_answer_still_stands_against_it(case, store):
    name, fact = next((n, f) for n, f in case.facts.items() if f.kind == "money" and f.rivals and f.after is not None)
    both = {fact.after: f"The sum is {money(fact.value)}.\nThe sum is {money(fact.rivals[0])}."}
    assert score(answered(case, bare(case, name)), case, store, findings=False)["facts"][name]
    assert not score(answered(case, both), case, store, findings=False)["facts"][name]


def test_the_first_question_may_be_answered_once_more_is_known(case):
    replies = [f"reply {n}" for n in range(len(case.followups) + 1)]
    found = answers_by_topic(answered(case, {}), replies, case)
    assert found["pack_came"] == replies[:2]
    assert found["back"] == [replies[case.facts["back"].after + 1]]


def test_a_short_case_has_no_topics(store):
    short = next(c for c in load_cases(store, "long_talk_3_clean"))
    assert answers_by_topic(answered(short, {}), ["x"] * 9, short) == {}
