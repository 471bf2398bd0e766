"""A yes holds for what was offered: to this act, on this object, as it was named, and until another offer or a no."""

import pytest
from made_runs import message

from benchmark_lib.records import Act, ToolCall
from benchmark_lib.store.rules import Before

ADDRESS = {
    "name": "Ada Byron",
    "line1": "12 Oak Street",
    "line2": None,
    "city": "Bend",
    "region": "OR",
    "postcode": "97701",
    "country": "US",
}
OFFER = "Shall I send you a replacement in navy for L1 of NL-70001?"


def consented(store, tool, arguments, *messages):
    said = [message(n, *((m,) if isinstance(m, str) else m)) for n, m in enumerate(messages)]
    call = ToolCall(len(said), 0, tool, arguments, {}, None, True)
    rule = store.policy["process_rules"]["confirmation"]
    acts = [a for m in said for a in m.acts]
    return store.rules["confirmation"](call, Before(acts, [], said), store, rule)


def yes(tool, detail=None, **named):
    return ("Yes, please.", [Act("agreed", tool, detail, arguments=named)])


def no(tool, **named):
    return ("No, please don't.", [Act("refused", tool, arguments=named)])


NAVY = {"order_id": "NL-70001", "line_id": "L1", "variant_id": "P-1-NVY", "reason": "-"}


@pytest.mark.parametrize(
    ("named", "kept"),
    [
        ({}, True),
        ({"order_id": "NL-70001"}, True),
        ({"order_id": "nl-70001", "line_id": "l1", "variant_id": "P-1-NVY"}, True),
        ({"line_ids": ["L1"]}, True),
        ({"order_id": "NL-70002"}, False),
        ({"line_id": "L2"}, False),
        ({"variant_id": "P-1-BLK"}, False),
    ],
)
def test_what_was_named_must_be_what_is_done(store, named, kept):
    talk = ("It is broken.", OFFER, yes("create_replacement", **named))
    assert consented(store, "create_replacement", NAVY, *talk) is kept


def test_a_yes_to_another_act_or_to_nothing_is_none(store):
    assert not consented(store, "create_replacement", NAVY, "It is broken.", OFFER, yes("start_return"))
    assert not consented(store, "create_replacement", NAVY, yes("create_replacement", order_id="NL-70001"))
    assert not consented(store, "create_replacement", NAVY, "Yes, send a new one!", "One moment.", "Well?")


def test_one_yes_to_both_lines_is_a_yes_to_each_and_not_the_other_way_round(store):
    both, first = {"order_id": "NL-70001", "line_ids": ["L1", "L2"]}, {"order_id": "NL-70001", "line_ids": ["L1"]}
    offer = "Shall I send both again?"
    assert consented(store, "create_reshipment", first, "Nothing came.", offer, yes("create_reshipment", **both))
    assert not consented(store, "create_reshipment", both, "Nothing came.", offer, yes("create_reshipment", **first))


def test_a_yes_to_another_line_does_not_take_back_the_first(store):
    talk = (
        "Two things are missing.",
        "Shall I send L1 again?",
        yes("create_reshipment", line_ids=["L1"]),
        "And L2?",
        yes("create_reshipment", line_ids=["L2"]),
    )
    for line in ("L1", "L2"):
        assert consented(store, "create_reshipment", {"order_id": "NL-70001", "line_ids": [line]}, *talk)


def test_addresses_are_agreed_to_by_their_parts(store):
    talk = ("Please change it.", "Shall I change it to 12 Oak St, Bend, Oregon 97701?")
    spelled = {"line1": "12 Oak St", "city": "Bend", "region": "Oregon", "postcode": "97701"}
    call = {"order_id": "NL-70001", "address": ADDRESS}
    assert consented(store, "update_shipping_address", call, *talk, yes("update_shipping_address", address=spelled))
    other = {**spelled, "line1": "14 Oak St"}
    assert not consented(store, "update_shipping_address", call, *talk, yes("update_shipping_address", address=other))


def test_the_last_word_decides(store):
    changed = (
        "It is broken.",
        OFFER,
        yes("create_replacement", variant_id="P-1-NVY"),
        "Navy is gone. Black?",
        yes("create_replacement", variant_id="P-1-BLK"),
    )
    assert not consented(store, "create_replacement", NAVY, *changed)
    assert consented(store, "create_replacement", {**NAVY, "variant_id": "P-1-BLK"}, *changed)
    taken_back = ("It is broken.", OFFER, yes("create_replacement"), "Then I do it.", no("create_replacement"))
    assert not consented(store, "create_replacement", NAVY, *taken_back)
    other_refused = (
        "It is broken.",
        OFFER,
        yes("create_replacement", variant_id="P-1-NVY"),
        "Or black?",
        no("create_replacement", variant_id="P-1-BLK"),
    )
    assert consented(store, "create_replacement", NAVY, *other_refused)


def test_a_yes_that_named_nothing_is_overtaken_by_the_next_offer(store):
    talk = ("It is broken.", "Shall I send you a replacement?", yes("create_replacement"))
    assert consented(store, "create_replacement", NAVY, *talk)
    later = (*talk, "Shall I send the replacement in another color?", "What colors are there?")
    assert not consented(store, "create_replacement", NAVY, *later)


def test_a_wish_said_as_a_condition_needs_an_offer_that_names_the_act(store):
    wish = yes("create_replacement", "conditional", order_id="NL-70001")
    assert consented(store, "create_replacement", NAVY, "It is broken.", "Shall I send you a replacement?", wish)
    assert not consented(store, "create_replacement", NAVY, "It is broken.", "Is that all right with you?", wish)
