"""The desk moves while a customer writes, and pages that nothing points to are found by what they are about."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.cases.case import Meanwhile
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.conversation.speaker import CALLS_OF_HARD_CASES, CALLS_PER_TURN, ConversationState
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.store import load_store

MOVING = "dense_9,needle_9,policy_in_time_9,long_talk_9,second_contact_9"
FOUND_BY = {
    "LB-91": ("Vermont", "New Hampshire", "VT", "NH"),
    "LB-92": ("June 27", "order placed June 28"),
    "LB-93": ("carrier Crossway Parcel", "United Kingdom", "GB"),
    "LB-94": ("category comfort", "category travel_pillow"),
    "LB-95": ("Merino Travel Blanket",),
    "LB-96": ("plum", "color plum"),
    "LB-97": ("Spring Insulated Bottle",),
    "LB-98": ("Orbit Sling 4L",),
    "LB-99": ("mustard", "color mustard"),
    "LB-100": ("Canada", "returns from Canada"),
    "LB-101": ("carrier Harbor Post", "Harbor Post June 2026"),
    "LB-102": ("Harrow Travel Backpack",),
    "LB-103": ("category garment_bag", "garment_bag"),
    "LB-104": ("category wallet", "category passport_holder", "wallet"),
    "LB-105": ("carrier Bluebird Freight", "Bluebird Freight July 2026"),
    "LB-106": ("category sling_bag", "sling_bag"),
}
"""What the briefing says to look for, and the page that each must bring up in full."""

SEARCHED = {
    "LB-91": ("shipping days for a customer in Vermont", "when would an order reach Manchester, New Hampshire"),
    "LB-92": ("processing time for an order from Sunday", "when will Saturday's order leave the warehouse"),
    "LB-93": ("shipping days Great Britain with Crossway", "how many business days to the United Kingdom"),
    "LB-94": (
        "unused neck pillow return period",
        "deadline for returning an eye mask",
        "return policy for compression socks",
        "how many days to return a travel pillow",
    ),
    "LB-95": ("start a return for a merino blanket", "returning the wool blanket"),
    "LB-96": ("send a replacement in the color plum", "switch the line to plum"),
    "LB-97": ("Spring bottle dented on arrival replacement variant", "insulated bottle 500 ml lid broken"),
    "LB-98": ("clip of the sling bag snapped", "Orbit Sling buckle under warranty"),
    "LB-99": ("switch to the mustard variant", "mustard color change before packing"),
    "LB-100": ("Canadian customer wants to return an item", "start return address in Ontario"),
    "LB-101": (
        "carrier Harbor Post item arrived cracked, reported after 30 days",
        "deadline for reporting transit damage Harbor Post",
    ),
    "LB-102": (
        "how long is the warranty on a Harrow backpack",
        "Harrow Travel Backpack shoulder strap torn delivered 2024",
    ),
    "LB-103": ("garment bag return deadline", "how many days to return a garment folder"),
    "LB-104": (
        "customer wants to send back a passport wallet",
        "start a return for a passport cover",
        "return procedure wallets",
    ),
    "LB-105": ("Bluebird Freight estimated delivery date", "will a Bluebird Freight parcel come before July 4"),
    "LB-106": ("can I change the sling's color", "crossbody sling swap color unfulfilled order"),
}
"""Searches of a player who knows the question and not the page."""


@pytest.fixture(scope="module")
def store():
    return load_store("northline:hard")


@pytest.fixture(scope="module")
def moving(store):
    return {case.id: case for case in load_cases(store, MOVING)}


def test_what_changes_meanwhile_is_seen_from_its_message_on_and_is_not_the_agents_doing(store):
    rows = {
        "orders": {"NL-81902": {"status": "shipped", "lines.0.quantity": 2}},
        "products": {"P-158": {"variants.1.stock": 0}},
    }
    desk = store.desk(meanwhile=[Meanwhile(at=3, rows=rows)])
    change = {"order_id": "NL-81902", "line_id": "L3", "variant_id": "P-112-BLK"}
    desk.call("update_line_item", change)
    desk.turn = 2
    assert desk.row("orders", "NL-81902")["status"] == "unfulfilled"
    desk.turn = 3
    order = desk.call("get_order", {"order_id": "NL-81902"}).result
    assert order["status"] == "shipped" and order["lines"][0]["quantity"] == 2
    assert order["lines"][2]["variant_id"] == "P-112-BLK"
    assert desk.row("products", "P-158")["variants"][1]["stock"] == 0
    assert [c["field"] for c in desk.changes()] == ["lines.L3.variant_id"] and desk.explained()


def test_a_ticket_that_is_written_meanwhile_stands_in_the_history(store, moving):
    desk = store.of(moving["second_contact_9"]).desk(meanwhile=moving["second_contact_9"].meanwhile)
    asked = ("ticket_history", {"email": "ignatius@bellweather-words.example"})
    before = desk.call(*asked).result["tickets"]
    desk.turn = 4
    assert len(desk.call(*asked).result["tickets"]) == len(before) + 2 and not desk.changes()


def test_the_record_says_when_a_message_was_written_and_what_had_moved(store, moving):
    case = moving["dense_9"]
    record = play(case, store, Oracle(case, store))
    message = next(m for m in record.messages if m.turn == 5 and m.side == "customer")
    assert message.text.startswith("Tuesday, June 30, 16:20\n\n")
    assert {a.what for a in message.acts if a.kind == "moved"} == {"NL-81904", "P-158"}


def test_a_picture_that_a_later_message_gives_is_attached_to_it(store, moving):
    case = moving["dense_9"]
    with_it = [m for m in play(case, store, Oracle(case, store)).messages if m.attachments]
    assert [("followed_up", "2") in {(a.kind, a.what) for a in m.acts} for m in with_it] == [True]
    assert with_it[0].shows["photo"].startswith("a set of three compression cubes")


@pytest.mark.parametrize(
    "name, case_id, calls, left",
    [("northline:hard", "dense_9", CALLS_OF_HARD_CASES, 10), ("northline", "tracking_1", CALLS_PER_TURN, 5)],
)
def test_a_result_says_once_how_many_calls_are_left(name, case_id, calls, left):
    desk_of = load_store(name)
    [case] = load_cases(desk_of, case_id)
    talk = ConversationState(case, desk_of.of(case).desk(), trial=1, seed=0, prompt="", tools=[]).for_agent()
    results = [talk.call("search_knowledge_base", query="returns").result for _ in range(calls)]
    warned = {n: r["calls_left_in_this_turn"] for n, r in enumerate(results, 1) if "calls_left_in_this_turn" in r}
    assert warned == {calls - left: left}


@pytest.mark.parametrize("place, page", [("Ohio", "US-MW"), ("Maryland", "US-SE"), ("Norfolk", "GB-ENG-S")])
def test_a_page_on_a_region_is_found_by_what_lies_in_it(store, moving, place, page):
    desk = store.of(moving["dense_9"]).desk()
    for about in ("returns from", "delivery to"):
        found = desk.call("search_knowledge_base", {"query": f"{about} {place}"}).result["passages"]
        assert page in {passage["article_id"].split("-", 2)[-1] for passage in found}


def test_nothing_moves_in_a_twin_and_no_page_is_special(store):
    for case in load_cases(store, ",".join(f"{name}_clean" for name in MOVING.split(","))):
        assert not case.meanwhile and not case.library and not case.world.get("articles")


@pytest.mark.parametrize("page", SEARCHED)
def test_a_page_is_found_by_the_question_that_it_answers(store, moving, page):
    desk = store.of(moving["dense_9"]).desk()
    for query in SEARCHED[page]:
        found = desk.call("search_knowledge_base", {"query": query}).result["passages"]
        assert page in {passage["article_id"] for passage in found}, query


@pytest.mark.parametrize("page", FOUND_BY)
def test_a_page_that_nothing_points_to_is_found_by_what_it_is_about(store, moving, page):
    desk = store.of(moving["dense_9"]).desk()
    for query in FOUND_BY[page]:
        found = desk.call("search_knowledge_base", {"query": query}).result["passages"]
        assert page in {passage["article_id"] for passage in found}
