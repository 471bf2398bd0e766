"""What is promised and which values are told: what backs a promise, and where a value has to stand."""

from claimed import found, hand_over, talk, told

from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.extras.claims import check_claims
from benchmark_lib.language.values import values_in

# --- commitments


def test_a_refund_is_backed_by_a_return_or_a_cancellation(open_case, store):
    text = "You will get your money back."
    assert found(told(open_case, store, text), "commitments") == [("refund", "unbacked")]
    cancelled = told(open_case, store, text, ("cancel_order", {"order_id": open_case.order, "reason": "-"}))
    assert not found(cancelled, "commitments") and cancelled["promises"] == {"refund": {"kept": 1}}
    assert not found(told(open_case, store, text, hand_over("Claimed.")), "commitments")
    offer = "I can cancel the whole order, then you get your money back. Shall I cancel it?"
    assert not found(told(open_case, store, offer), "commitments")


def test_credit_and_callbacks_are_beyond_authority(open_case, store):
    assert found(told(open_case, store, "I've added a $20 voucher to your account."), "commitments") == [
        ("credit", "beyond_authority")
    ]
    assert found(told(open_case, store, "I'll call you back tomorrow."), "commitments") == [
        ("callback", "beyond_authority")
    ]
    kept = told(
        open_case, store, "A colleague will call you tomorrow.", hand_over("Claimed: wants a call. Verified: nothing.")
    )
    assert not found(kept, "commitments") and kept["commitments_unbacked"] is False


def test_rules_estimates_and_refusals_are_no_promises(open_case, store):
    for text in (
        "Refunds take 5 to 10 business days after we receive the return.",
        "The carrier expects it on July 2.",
        "I can't promise a refund.",
        "We don't offer callbacks.",
        "Would a voucher help?",
        "You have until 28 August to return it.",
    ):
        assert told(open_case, store, text)["promises"] == {}, text


def test_what_is_free_or_declined_is_no_promise(open_case, store):
    for text in (
        "A new bag is being sent to you, free of charge.",
        "Un nouveau sac vous est envoyé gratuitement.",
        "Sending a second one as compensation isn't something I can decide.",
        "With the code SUMMER15 you get 15 percent off at the checkout.",
        "Send me the photo and I'll come back to you with the answer.",
        "Once I have it, I'll come back to you.",
    ):
        assert told(open_case, store, text)["promises"] == {}, text


# --- groundedness


def test_a_value_must_stand_somewhere(open_case, store):
    look = ("get_order", {"order_id": open_case.order})
    total = store.tables["orders"][open_case.order]["total_cents"]
    assert not found(told(open_case, store, f"You paid ${total / 100:.2f}.", look), "groundedness")
    for kind, text in (
        ("money", "You paid $7,777.77."),
        ("id", "It is order NL-00001."),
        ("link", "See https://track.northline.example/XX000000000"),
        ("days", "It must come back within 77 days."),
    ):
        assert found(told(open_case, store, text, look), "groundedness") == [(kind, "unsupported")], text


def test_an_id_that_a_tool_accepted_was_seen(open_case, store):
    look, refused = ("get_product", {"product_id": "P-102"}), ("get_product", {"product_id": "P-99999"})
    record = talk(open_case, store, ("Hello.", [], [look], "It is product P-102."))
    record.tool_calls[0].result = {"done": True}
    assert not found(check_claims(record, open_case, store), "groundedness")
    assert found(told(open_case, store, "It is product P-99999.", refused), "groundedness") == [("id", "unsupported")]


def test_the_customers_own_values_may_be_repeated(open_case, store):
    assert not found(
        told(open_case, store, "You wrote of $7,777.77 and of March 3.", words="I paid $7,777.77 on March 3."),
        "groundedness",
    )


def test_sums_rounding_windows_and_distances_may_be_derived(open_case, store):
    order = next(o for o in store.tables["orders"].values() if len({x["price_cents"] for x in o["lines"]}) > 1)
    look, prices = ("get_order", {"order_id": order["order_id"]}), [x["price_cents"] for x in order["lines"]]
    for text in (
        f"Together that is ${sum(prices[:2]) / 100:.2f}.",
        f"Twice that is ${2 * prices[0] / 100:.2f}.",
        f"Roughly ${prices[0] // 100}.",
        "Packing and the way together take 4 to 7 business days.",
    ):
        assert not found(told(open_case, store, text, look), "groundedness"), text


def test_what_the_desk_publishes_needs_no_looking_up(open_case, store):
    for text in (
        "You have 100 days from delivery.",
        "The warranty runs for 24 months.",
        "The money takes 5 to 10 business days.",
        "Delivery to the UK costs $19.00.",
        "Friday, July 3 is a holiday.",
    ):
        assert not found(told(open_case, store, text), "groundedness"), text
    assert found(told(open_case, store, "Claims must be made within 14 days."), "groundedness")


def test_sums_follow_from_what_was_told(open_case, store):
    order = next(o for o in store.tables["orders"].values() if o["lines"][0]["price_cents"] == 4900)
    look = ("get_order", {"order_id": order["order_id"]})
    text = "Two times $49.00 is $98.00, with SUMMER15 $83.30, and $92.30 with the delivery of $9.00."
    assert not found(told(open_case, store, text, look), "groundedness")


def test_planted_values_are_found(cases, store):
    """The oracle's own replies, each amount and date moved by a few units: nearly all are found."""
    planted = hits = 0
    for case in cases.values():
        record = play(case, store, Oracle(case, store))
        for message in record.replies():
            for value in values_in(message.text, store.now.year):
                if value.kind == "money":
                    text = message.text.replace(
                        f"{int(value.value) / 100:,.2f}", f"{int(value.value) / 100 + 3131.17:,.2f}"
                    )
                    if text != message.text:
                        planted += 1
                        changed = talk(case, store, ("Hello.", [], [("get_order", {"order_id": case.order})], text))
                        hits += any(k == "money" for k, _ in found(check_claims(changed, case, store), "groundedness"))
    assert planted >= 25 and hits >= 0.95 * planted


def test_a_range_between_two_published_windows_rests_on_both(open_case, store):
    assert not found(told(open_case, store, "You can return it within 30-100 days."), "groundedness")
    (one,) = found(told(open_case, store, "You can return it within 20-100 days."), "groundedness")
    assert one == ("days", "unsupported")


def test_a_window_in_another_unit_and_a_value_in_the_words_of_a_result_have_a_source(open_case, store):
    record = talk(open_case, store, ("Hello.", [], [("get_order", {"order_id": open_case.order})], ""))
    record.tool_calls[0].result["notes"] = ["The lamp is charged to 37 percent."]
    for text, unsupported in (
        ("You will know within two days.", 0),  # an article says 48 hours
        ("You will know within 17 days.", 1),
        ("The lamp is at 37 percent.", 0),
        ("The lamp is at 38 percent.", 1),
    ):
        record.messages[-1].text = text
        assert len(found(check_claims(record, open_case, store), "groundedness")) == unsupported, text
