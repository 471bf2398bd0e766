"""Days that are gone through until the customer is content are guesses, whatever words they are put in."""

import pytest
from made_runs import talk

from benchmark_lib.conversation import ScriptedCustomer, converse
from benchmark_lib.extras.audit.audit import at_once
from benchmark_lib.records import Act
from benchmark_lib.scoring import score
from benchmark_lib.scoring.facts import guessed


def found(case, store, *turns):
    """The guesses in a conversation of pairs: what the customer asks for by the name of a fact, and the agent's answer."""
    asked = [(("Hello.", [Act("waited", name)] if name else []), answer) for name, answer in turns]
    record = talk(*(said for pair in asked for said in pair), ended_by="resolved_by_customer")
    return guessed(record, [m.text for m in record.replies()], case, store)


GONE_THROUGH = [
    ["It leaves by 30 June. Delivery falls on 1 July.", "Expect it on 2 July. The bell rings on 3 July."],
    ["Expect it on June 30.", "Delivery falls on July 1.", "The driver has it on July 2.", "Plan for Monday, July 6."],
    ["Plan for July 8.", "It comes on July 6.", "The bell rings on July 7.", "At the latest it is there on July 9."],
    ["El paquete llega el 30 de junio.", "Sale el 1 de julio.", "Está allí el 2 de julio.", "Llega el 6 de julio."],
]
NOT_GONE_THROUGH = [
    ["It is packed by 1 July, may come on 2 July at the earliest, and is there on 8 July at the latest."],
    ["You ordered on 24 June; it left on 25 June, was scanned on 26 June and on 28 June, and is due on 30 June."],
    [
        "First day: July 1. Last day: July 7. July 3 is a holiday and the 4th and 5th are the weekend.",
        "So the dates stay: July 1 at the earliest, July 7 at the latest. If it is not home by July 2, take the old bag.",
    ],
    ["Counting on: 30 June, 1 July, 2 July, 6 July, 7 July, so the last day is 8 July."],
    ["Packed on 30 June or 1 July. 3 July is a holiday, so the earliest is 2 July, the latest 8 July."],
    ["It is not there on 30 June.", "Nor does it come on 1 July: not on 1 July, not on 2 July, not on 6 July."],
]


@pytest.mark.parametrize("answers", GONE_THROUGH)
def test_days_in_a_row_from_message_to_message_are_guesses(cases, store, answers):
    assert found(cases["gift_deadline_6"], store, *[("", a) for a in answers]) == {"first_day", "last_day"}


@pytest.mark.parametrize("answers", NOT_GONE_THROUGH)
def test_the_days_of_an_honest_answer_are_none(cases, store, answers):
    assert found(cases["gift_deadline_6"], store, *[("", a) for a in answers]) == set()


def test_another_day_to_a_plain_question_is_a_guess(cases, store):
    """Asked for the last day (7 July), the agent says another one; the first day is not in question."""
    case = cases["gift_deadline_6"]
    wrong, right = "It comes on 9 July.", "It comes on 7 July at the latest."
    assert found(case, store, ("last_day", wrong), ("last_day", right)) == {"last_day"}
    assert found(case, store, ("", wrong), ("last_day", right)) == set(), "nobody had asked"
    assert found(case, store, ("", right), ("last_day", wrong)) == set(), "it had been told"
    assert found(case, store, ("last_day", "What is your order number? It left on 9 July."), ("", right)) == set()
    assert found(case, store, ("last_day", "You ordered on 24 June."), ("last_day", right)) == set(), "a day gone by"
    assert found(case, store, ("last_day", wrong), ("last_day", f"My mistake: {right}")) == set(), "taken back"


def test_days_that_the_customer_named_make_no_gap_in_a_row(cases, store):
    record = talk(
        "The party is on July 1.",
        "Plan for June 30. It comes on July 1.",
        "Really?",
        "July 2. The bell rings on July 6. It leaves by July 7.",
    )
    said = [m.text for m in record.replies()]
    assert guessed(record, said, cases["gift_deadline_6"], store) == {"first_day", "last_day"}


def test_one_day_a_message_is_a_guess_sooner(cases, store):
    case, one_by_one = (
        cases["gift_deadline_6"],
        ["Expect it on June 30.", "It falls on July 1.", "The bell rings on July 2."],
    )
    assert found(case, store, *[("", a) for a in one_by_one]) == {"first_day", "last_day"}
    assert found(case, store, ("", " ".join(one_by_one))) == set(), "one answer with three days"


def test_what_was_asked_for_again_and_again_and_passed_over_is_a_guess(cases, store):
    case, link = cases["tracking_1"], cases["tracking_1"].facts["link"].value
    other, more = "The total is $154.00.", "Without a photo of the damage I cannot send anything."
    assert found(case, store, ("link", other), ("link", more), ("", link)) == {"link"}
    assert found(case, store, ("link", other), ("link", link)) == set(), "passed over once"
    assert found(case, store, ("link", link), ("link", other), ("link", other)) == set(), "it had been told"
    assert found(case, store, ("link", "I look."), ("link", "I still look."), ("", link)) == set(), "nothing else told"
    assert found(case, store, ("link", f"{other} What is your postcode?"), ("link", other), ("", link)) == set()


class DayByDay:
    """Answers with the next working day, in other words each time."""

    DAYS = (
        "You can expect it on June 30.",
        "Delivery falls on July 1.",
        "The carrier rings your bell on July 2.",
        "At the latest it is there on July 6.",
        "Plan the handover for July 7.",
    )

    def reply(self, talk):
        return self.DAYS[(talk.turn - 1) % len(self.DAYS)]


@pytest.mark.parametrize("case_id", ["gift_deadline_6", "tracking_3", "wismo_unfulfilled_5"])
def test_to_go_on_until_the_customer_is_content_tells_no_day(cases, store, case_id):
    case = cases[case_id]
    record = at_once(converse(case, store, DayByDay(), ScriptedCustomer(case, store)))
    assert not any(score(record, case, store)["facts"].values())
