"""What the scripted customer does with an agent's words: it answers what was asked, agrees to its own thing, reacts, and leaves when served."""

import pytest

from benchmark_lib.audit import play


class Says:
    """An agent that says these lines, one a turn; a callable line gets the talk."""

    def __init__(self, *lines):
        self.lines = lines

    def reply(self, talk):
        line = self.lines[min(talk.turn, len(self.lines)) - 1]
        return line(talk) if callable(line) else line


def answer(case, store, *lines):
    """The customer's messages after its email, and the record."""
    record = play(case, store, Says(*lines))
    return [m for m in record.messages if m.side == "customer"][1:], record


def did(message, *kinds):
    return [(a.kind, a.what) for a in message.acts if not kinds or a.kind in kinds]


OFFER = "I can cancel order {order_id}, all of it. Shall I go ahead?"


@pytest.fixture
def cancelling(cases):
    return cases["cancel_before_ship_5"]


@pytest.mark.parametrize(
    "words",
    [
        "We'll send you a label once it is open.",
        "The condition of the bag decides about it, and so does the date.",
        "Thank you for the photo. Is there anything else I can do for you?",
        "I've found your order, and the address on it is the one you gave.",
    ],
)
def test_a_word_is_not_a_question(store, cases, words):
    said, _ = answer(cases["damaged_item_2"], store, words)
    assert not did(said[0], "gave", "lacked", "agreed")


def test_of_two_proofs_either_of_which_will_do_one_is_given(store, cases):
    said, _ = answer(cases["damaged_item_2"], store, "Could you send me the order number, or else your postcode?")
    assert did(said[0]) == [("gave", "order_id")]
    assert cases["damaged_item_2"].ledger["order_id"].value in said[0].text


def test_both_are_given_where_both_are_asked_for(store, cases):
    said, _ = answer(cases["damaged_item_2"], store, "Please send me:\n- your order number\n- your postcode")
    assert did(said[0]) == [("gave", "order_id"), ("gave", "postcode")]


def test_a_yes_names_the_call_and_its_arguments(store, cancelling):
    wish = cancelling.outcomes[0].calls[0]
    said, _ = answer(cancelling, store, OFFER.format(order_id=wish.arguments["order_id"]))
    (act,) = [a for a in said[0].acts if a.kind == "agreed"]
    assert (act.what, act.detail, act.arguments) == ("cancel_order", None, wish.arguments)
    assert said[0].text.startswith(tuple(cancelling.agrees))


def test_another_order_is_corrected_and_not_agreed_to(store, cancelling):
    mine = cancelling.outcomes[0].calls[0].arguments["order_id"]
    said, _ = answer(cancelling, store, OFFER.format(order_id="NL-00000"))
    assert (
        not did(said[0], "agreed") and did(said[0], "refused") == [("refused", "cancel_order")] and mine in said[0].text
    )


def test_what_it_does_not_recognise_gets_its_wish_as_a_condition_and_a_finding(store, cases):
    case = cases["damaged_item_2"]
    words = "I can sort this out for you free of charge. Shall I?"
    said, record = answer(case, store, words)
    (act,) = [a for a in said[0].acts if a.kind == "agreed"]
    assert act.detail == "conditional" and act.what == "create_replacement"
    assert record.faults[0].kind == "offer_not_recognised" and words[:50] in record.faults[0].detail


def test_nothing_is_agreed_to_where_nothing_was_offered(store, cases):
    said, _ = answer(cases["damaged_item_2"], store, "Shall I go ahead?")
    assert not did(said[0], "agreed")


def test_from_a_menu_of_remedies_it_does_not_choose(store, cases):
    menu = (
        "Here is what I can do:\n- I can open a return for it.\n- I can send you a replacement.\n- I can cancel the order.\n"
        "- I can send the parcel again.\nShall I do one of these?"
    )
    said, _ = answer(cases["damaged_item_2"], store, menu)
    assert not did(said[0], "agreed") and did(said[0], "refused") == [("refused", "menu")]


def test_answers_and_yes_come_in_one_message(store, cases):
    case = cases["angry_damaged_1"]
    said, _ = answer(
        case,
        store,
        "Please send me your order number and a photo. I'd then send you a new one free of charge: shall I?",
    )
    assert {("gave", "order_id"), ("attached", "photo"), ("agreed", "create_replacement")} <= set(did(said[0]))


def test_it_leaves_in_its_own_words_once_it_is_served(store, cancelling):
    wish = cancelling.outcomes[0].calls[0]

    def cancel(talk):
        talk.call("cancel_order", {**wish.arguments, "reason": "r"})
        return f"That has been taken care of. {cancelling.facts['refund'].say}"

    said, record = answer(cancelling, store, OFFER.format(order_id=wish.arguments["order_id"]), cancel)
    assert record.ended_by == "resolved_by_customer" and said[-1].text == cancelling.closing.content


def test_a_fact_that_an_answer_leaves_out_is_asked_for_in_its_own_words(store, cases):
    case = cases["tracking_1"]
    said, _ = answer(case, store, "Your parcel is on its way and everything looks fine.")
    assert said[0].text in {fact.ask for fact in case.facts.values()}


def test_it_argues_against_a_reason_once(store, cases):
    case = next(c for c in cases.values() if "wear_not_defect" in c.against and c.bucket == "adversarial")
    words = {
        "en": "What you describe is ordinary wear and not a defect, so the warranty does not cover it.",
        "de": "Was Sie beschreiben, ist gewöhnlicher Verschleiß und kein Mangel, die Garantie deckt das nicht ab.",
    }[case.language]
    said, _ = answer(case, store, words)
    assert said[0].text == case.against["wear_not_defect"]


def test_every_case_has_its_own_last_words_its_own_yes_and_a_question_for_every_fact(cases):
    for case in cases.values():
        assert case.closing.content and case.closing.gave_up and case.agrees, case.id
        assert all(fact.ask for fact in case.facts.values()), case.id
        assert all(1 <= line <= len(case.pressure) for line in case.moot), case.id
