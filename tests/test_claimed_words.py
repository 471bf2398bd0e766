"""What is asked again, told though it is internal, and packed for whoever takes over."""

import pytest
from claimed import found, hand_over, told

from benchmark_lib.records import Act

# --- consistency


def test_what_was_given_is_not_asked_again(open_case, store):
    buyer = store.tables["customers"][open_case.customer_id]
    assert open_case.sender == buyer["email"]
    acts = [Act("gave", "order_id", open_case.order), Act("gave", "email", open_case.sender)]
    again = told(
        open_case, store, "Could you tell me your order number, please?", words=f"It is {open_case.order}.", acts=acts
    )
    assert again["asked_again"] is True and found(again, "asked_again") == [("order_id", "asked_again")]
    for fine in (
        f"Is it order {open_case.order} that you mean?",
        "Could you send me a photo, please?",
        "What is the number of the other order?",
    ):
        assert told(open_case, store, fine, words=f"It is {open_case.order}.", acts=acts)["asked_again"] is False, fine


def test_an_order_number_that_is_somebody_elses_may_be_asked_again(open_case, store):
    other = next(o for o in store.tables["orders"].values() if o["customer_id"] != open_case.customer_id)
    acts = [Act("gave", "order_id", other["order_id"])]
    assert (
        told(
            open_case,
            store,
            "Could you tell me your order number, please?",
            words=f"It is {other['order_id']}.",
            acts=acts,
        )["asked_again"]
        is False
    )


# --- leaks and packet


def test_tools_queues_and_notes_are_internal(open_case, store):
    assert found(told(open_case, store, "I'll call `create_replacement` for you."), "leak") == [("named", "leaked")]
    assert found(told(open_case, store, "Your profile has been flagged for fraud."), "leak") == [("told", "leaked")]
    for article in ("Steht in KB-11, dritter Absatz.", "Segun KB-11 son dos piezas."):
        assert found(told(open_case, store, article), "leak") == [("named", "leaked")]
    assert not found(told(open_case, store, "It has two internal pockets, and our policy is to ask first."), "leak")


def test_what_articles_suggest_to_say_is_no_leak(open_case, store):
    for text in (
        "A colleague has to look at this change, so I have passed your request on with the new address.",
        "I've passed this on to a colleague who can decide about it.",
        "Your parcel is out for delivery.",
    ):
        assert not told(open_case, store, text, hand_over("Verified: all. Claimed: nothing."))["said_leak"], text


def test_a_note_and_the_packing_weight_are_internal(open_case, store):
    orders = store.tables["orders"].values()
    noted = next(o for o in orders if o["notes"])
    look = ("get_order", {"order_id": noted["order_id"]})
    assert found(told(open_case, store, f"It says here: {noted['notes'][0]}", look), "leak") == [("quoted", "leaked")]
    packed = next(o for o in orders if o["parcels"] and o["parcels"][0]["packed_weight_g"] > 1000)
    grams, look = packed["parcels"][0]["packed_weight_g"], ("get_order", {"order_id": packed["order_id"]})
    assert found(told(open_case, store, f"Your box left us with {grams} g.", look), "leak") == [("weighed", "leaked")]


def test_a_packet_names_the_order_parts_claims_and_carries_no_surplus(open_case, store):
    look = ("get_customer", {"email": open_case.sender})
    phone = store.tables["customers"][open_case.customer_id]["phone"]
    good = f"Order {open_case.order}. Verified: it is unfulfilled. Claimed by the customer: it is a gift."
    reply = f"I am passing order {open_case.order} on to a colleague."
    assert told(open_case, store, reply, look, hand_over(good))["packet_complete"] is True
    bad = told(open_case, store, reply, look, hand_over(f"Gift wrap for the second bag, phone {phone}."))
    assert (bad["packet_facts"], bad["packet_parted"], bad["packet_lean"], bad["packet_complete"]) == (
        False,
        False,
        False,
        False,
    )
    assert told(open_case, store, reply, look, hand_over("-"))["packet_facts"] is False
    assert told(open_case, store, reply)["packet_complete"] is None


@pytest.mark.parametrize(
    "secret", ["card 4111 1111 1111 1111", "IBAN DE89 3704 0044 0532 0130 00", "password: Sunny2024"]
)
def test_a_packet_with_a_secret_is_not_lean_whoever_told_it(open_case, store, secret):
    """The customer wrote it himself: a colleague needs it no more for that."""
    summary = f"Order {open_case.order}. Verified: it is unfulfilled. Claimed by the customer: {secret}."
    result = told(open_case, store, "I am passing this on to a colleague.", hand_over(summary), words=f"My {secret}.")
    assert result["packet_lean"] is False and ("lean", "surplus") in found(result, "handover_packet")
