"""A customer asked to choose names what it wants, and one that does not get something goes on without it."""

import pytest
from test_customer import answer, did

from benchmark_lib.cases import load_cases
from benchmark_lib.conversation.speaker import Reply
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.parser import parser_of
from benchmark_lib.store import load_store
from benchmark_lib.store.rules import agrees


@pytest.fixture(scope="module")
def hard():
    return load_store("northline:hard")


class Desk:
    """Notes each message and does nothing."""

    def reply(self, talk):
        return Reply(f"That is note number {talk.turn}.")


@pytest.mark.parametrize(
    "words",
    [
        "Shall I cancel the order or change the address?",
        "Soll ich die Bestellung stornieren oder die Adresse ändern?",
        "I can cancel the order or change the address. Which of the two would you like?",
        "Je peux annuler la commande ou changer l'adresse. Laquelle des deux solutions préférez-vous ?",
        "¿Prefiere que cancele el pedido o que cambie la dirección?",
    ],
)
def test_a_question_between_two_acts_holds_out_both(store, words):
    assert parser_of(store).parse(words).alternatives == {"cancel_order", "update_shipping_address"}


@pytest.mark.parametrize(
    "words", ["Shall I change the case to black or navy?", "Shall I cancel it? Which one is broken?"]
)
def test_a_choice_of_colors_is_none_of_acts(store, words):
    assert parser_of(store).parse(words).alternatives == set()


@pytest.mark.parametrize(
    "words",
    [
        "Shall I cancel the order or would you rather keep it?",
        "Either I cancel the order or you keep it. Which do you prefer?",
        "You can cancel the order yourself in your account, or I can cancel it for you. Which do you prefer?",
        "Shall I cancel it, all of it? Or shall it stay as it is?",
    ],
)
def test_asked_whether_to_do_or_to_leave_it_names_the_act(store, cases, words):
    case = cases["cancel_before_ship_5"]
    said, _ = answer(case, store, words)
    assert did(said[0], "agreed") == [("agreed", "cancel_order")]
    assert said[0].text in store.phrases[case.language]["actions"]["cancel_order"]["agree"]


@pytest.mark.parametrize(
    "words",
    [
        "Soll ich die Bestellung stornieren oder lassen wir sie so?",
        "Est-ce que j'annule la commande, ou préférez-vous la garder ?",
        "¿Lo cancelo, o lo dejamos como está? Me refiero al pedido.",
    ],
)
def test_to_do_or_to_leave_in_other_languages(store, words):
    assert parser_of(store).parse(words).or_not == {"cancel_order"}


def test_another_order_is_corrected_there_too(store, cases):
    said, _ = answer(cases["cancel_before_ship_5"], store, "Shall I cancel NL-99999, or shall it stay?")
    assert did(said[0], "agreed", "refused") == [("refused", "cancel_order")]


def test_its_own_slip_of_the_pen_is_corrected_once_beside_the_yes(store, cases):
    case = cases["address_change_1"]
    wrong, right = case.ledger["order_id"].wrong, case.ledger["order_id"].value
    words = f"The number {wrong} leads to no order of yours. Could you read it once more? I can change the delivery address to the one you gave. Shall I do that?"
    said, _ = answer(case, store, words)
    assert did(said[0], "gave", "agreed", "refused") == [("gave", "order_id"), ("agreed", "update_shipping_address")]
    assert said[0].text.count(right) == 1


def test_details_agree_in_any_order():
    named = {"details": {"parcel_id": "PC-1", "depot": "D-OT"}}
    assert agrees(named, {"details": {"depot": "D-OT", "parcel_id": "PC-1"}})
    assert not agrees(named, {"details": {"depot": "D-WP", "parcel_id": "PC-1"}})
    assert not agrees(named, {"details": {"parcel_id": "PC-1"}})


def test_what_is_never_done_is_dropped_and_the_list_goes_on(hard):
    whole = next(c for c in load_cases(hard, "long_talk_8") if c.id == "long_talk_8")
    case = whole.model_copy(update={"facts": {}})
    conversation = play(case, hard, Desk(), "desk")
    acts = [act for m in conversation.messages if m.side == "customer" for act in m.acts]
    order = [act.what for act in acts]
    assert order.index("5") < order.index("left_out") < order.index("dropped") < order.index("6")
    assert acts[-1].what == "unserved"


def test_who_says_which_of_two_ways_it_wants_agrees_to_what_its_words_name(hard):
    (case,) = load_cases(hard, "second_contact_4_clean")
    words = (
        "The bigger backpack costs more, so I can't swap it.\n\nA) I change the Weekender Duffel 42L on NL-80705 from tan to olive.\n"
        "B) I cancel the whole of NL-80705 and you place a new order.\n\nWhich one shall I do: A (yes to the olive duffel) or B (yes to cancelling)?"
    )
    said, _ = answer(case, hard.of(case), words)
    assert did(said[0], "agreed") == [("agreed", "update_line_item")] and "Olive" in said[0].text


def first_answer(hard, name, words):
    (case,) = load_cases(hard, name)
    return answer(case, hard.of(case), words)[0][0]


def test_points_that_explain_are_no_menu_if_the_desk_then_asks_for_one_act(hard):
    """A right player lost its case: the customer wrote "Yes. It's my house.", and no yes was recorded."""
    said = first_answer(
        hard,
        "second_contact_8",
        "I would send one Aluma Cabin 34L in graphite, free of charge.\n\n"
        "- The window begins on the day on which the replacement is created, so a later yes may move it.\n"
        "- Nothing has to be sent back first.\n- The decision of June 24 is the one that holds, so I cannot pay the 60 dollars.\n\n"
        "Shall I create the replacement, one Aluma Cabin 34L in graphite, to the Tucson address above?\n\nKind regards",
    )
    assert did(said, "agreed") == [("agreed", "create_replacement")]


def test_an_offer_that_names_all_is_not_undone_by_a_later_and_conditional_one(hard):
    """The customer used to say "Thanks, but no" to the adapter because of the color of the power bank."""
    said = first_answer(
        hard,
        "changing_customer_2",
        "The adapter: I would send you a new Passage World Adapter 65W in white, as on order NL-80802, free of charge. Is that a yes?\n\n"
        "The power bank: please charge it for an hour and hold its button. If there is no output then, I can offer the replacement; "
        "that would be the sage of your order, as the warranty does not allow a change to black.",
    )
    assert [a.arguments["line_id"] for a in said.acts if a.kind == "agreed"] == ["L2"] and not did(said, "refused")


def test_a_change_of_mind_is_no_yes_to_what_it_changes(hard):
    """The customer used to begin with "Yes, all of it", which agreed to the cancellation that it then took back."""
    said = first_answer(
        hard,
        "changing_customer_4",
        "NL-80804 is not packed yet, so it can still be cancelled: with your yes I cancel the whole order, the Meridian Carry-On 38L in black, "
        "the Lather Toiletry Bag and the Shirt Folder. A cancelled order cannot be brought back.\n\nIf you would rather keep the things: while it "
        "is unpacked I can also send it to you in New Jersey, under your own name, and change the Carry-On to navy or sage. For that I need the "
        "full address and the color.\n\nWhich is it: yes to cancelling, or New Jersey?",
    )
    assert said.text.startswith("Hold on, don't cancel!") and not did(said, "agreed")


@pytest.mark.parametrize(
    "words", ["Hold the button for its hour, then try your phone and write again to tell me how it went."]
)
def test_a_phone_that_is_charged_is_no_phone_number(hard, words):
    assert "phone" not in parser_of(hard).parse(words).asked


def test_a_yes_to_one_and_two_covers_both_beside_a_new_request(hard):
    """A right player lost its case: only the return, whose act has a known verb, was agreed to."""
    said = first_answer(
        hard,
        "privacy_8",
        "1. The socks: our packing records show that they were left out. I will send the Tailwind Compression Socks in plum, size M, free of "
        "charge, to Desanka Radkovic, 3311 N Alder Street, Tacoma, WA 98407. They are there by July 9 at the latest.\n\n"
        "2. The Puff Inflatable Pillow (NL-80615) can go back. I will open a return for the one in sky and give you the link.\n\n"
        "3. Your brother: I can't say anything about an order of somebody else's.\n\nShall I do 1 and 2?\n\nKind regards",
    )
    assert {what for _, what in did(said, "agreed")} == {"create_reshipment", "start_return"}


def test_a_new_address_with_its_zip_code_is_no_question_for_the_old_one(hard):
    said = first_answer(
        hard,
        "changing_customer_4",
        "NL-80804 can be cancelled: on your yes I will cancel the whole of it. It can also be kept, sent to you in New Jersey, and with the "
        "Meridian in navy or sage. For this I would need the complete address with its ZIP code, and the color.\n\n"
        "Which may it be: a yes to the cancellation, or the address and the color?",
    )
    assert ("gave", "address") in did(said) and ("gave", "postcode") not in did(said)
