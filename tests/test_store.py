"""The store is shared and never changes; a desk is a conversation's own view of it; tools are declared once."""

from typing import Annotated

import pytest

from benchmark_lib.errors import BadInput
from benchmark_lib.store import load_store, tool
from benchmark_lib.store.rules import add_business_days, business_days_between
from benchmark_lib.store.tools import load_tools


def an_order(store, status):
    return next(o for o in store.tables["orders"].values() if o["status"] == status)


def test_northline_has_the_shape_of_the_spec(store):
    assert len(store.tables["products"]) == 60
    assert len(store.tables["customers"]) >= 380
    assert len(store.tables["orders"]) >= 880
    assert len(store.articles) == 40
    assert list(store.tools) == [
        "find_orders",
        "get_order",
        "track_shipment",
        "get_customer",
        "get_product",
        "search_products",
        "search_knowledge_base",
        "cancel_order",
        "update_shipping_address",
        "update_line_item",
        "start_return",
        "create_replacement",
        "create_reshipment",
        "open_carrier_claim",
        "hand_over_to_human",
        "close_ticket",
    ]


def test_a_desk_changes_only_its_own_view(store):
    order = an_order(store, "unfulfilled")["order_id"]
    first, second = store.desk(), store.desk()
    first.call("cancel_order", {"order_id": order, "reason": "asked"})
    assert first.row("orders", order)["status"] == "cancelled"
    assert second.row("orders", order)["status"] == store.tables["orders"][order]["status"] == "unfulfilled"
    assert {
        "table": "orders",
        "id": order,
        "field": "status",
        "old": "unfulfilled",
        "new": "cancelled",
    } in first.changes()
    assert second.changes() == []


def test_changes_name_the_line_that_changed(store):
    order = next(o for o in store.tables["orders"].values() if o["lines"])
    line = order["lines"][0]
    other = next(
        v for v in store.tables["products"][line["product_id"]]["variants"] if v["variant_id"] != line["variant_id"]
    )
    desk = store.desk()
    desk.call(
        "update_line_item",
        {"order_id": order["order_id"], "line_id": line["line_id"], "variant_id": other["variant_id"]},
    )
    assert desk.changes() == [
        {
            "table": "orders",
            "id": order["order_id"],
            "field": f"lines.{line['line_id']}.variant_id",
            "old": line["variant_id"],
            "new": other["variant_id"],
        }
    ]


def test_what_a_real_desk_would_refuse_is_carried_out_and_recorded(store):
    shipped = an_order(store, "delivered")["order_id"]
    call = store.desk().call("cancel_order", {"order_id": shipped, "reason": "asked"})
    assert call.error is None and call.result["status"] == "cancelled"


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "says"),
    [
        ("no_such_tool", {}, "unknown_tool", "the tools are find_orders"),
        ("get_order", "{not json", "bad_json", "not valid JSON"),
        ("get_order", "[1]", "bad_json", "one JSON object"),
        ("get_order", {}, "bad_arguments", "order_id: field required"),
        ("get_order", {"order_id": "NL-00000"}, "not_found", "no order 'NL-00000'"),
        ("get_order", {"order_id": "NL-30030", "extra": 1}, "bad_arguments", "extra"),
        ("find_orders", {"name": "Ana"}, "bad_arguments", "a name and a postcode"),
        (
            "hand_over_to_human",
            {"queue": "boss", "reason": "r", "summary": "s"},
            "bad_arguments",
            "must be one of fraud",
        ),
        ("start_return", {"order_id": "NL-30030", "line_ids": [], "reason": "r"}, "bad_arguments", "at least one line"),
        (
            "create_replacement",
            {"order_id": "NL-30030", "line_id": "L1", "variant_id": "P-0", "reason": "r"},
            "not_found",
            "no variant",
        ),
    ],
)
def test_a_malformed_call_is_answered_with_something_to_read(store, name, arguments, kind, says):
    desk = store.desk()
    call = desk.call(name, arguments)
    assert call.error == kind and says in call.result["error"]
    assert desk.changes() == [] and desk.calls == [call]


def test_after_a_handover_nothing_is_carried_out(store):
    desk = store.desk()
    desk.call("hand_over_to_human", {"queue": "general", "reason": "r", "summary": "s"})
    late = desk.call("cancel_order", {"order_id": an_order(store, "unfulfilled")["order_id"], "reason": "r"})
    assert desk.over == "handed_over" and late.error == "talk_over"
    assert {c["table"] for c in desk.changes()} == {"tickets"}


def test_results_are_copies_that_a_later_write_does_not_change(store):
    order = an_order(store, "unfulfilled")["order_id"]
    desk = store.desk()
    desk.call("cancel_order", {"order_id": order, "reason": "r"})
    seen = desk.call("get_order", {"order_id": order}).result
    seen["status"] = "tampered"
    assert desk.row("orders", order)["status"] == "cancelled"


def test_schemas_come_from_the_declaration_and_hold_no_references(store):
    by_name = {s["function"]["name"]: s["function"] for s in store.schemas()}
    assert by_name["hand_over_to_human"]["parameters"]["properties"]["queue"]["enum"] == list(store.policy["queues"])
    address = by_name["update_shipping_address"]["parameters"]["properties"]["address"]
    assert set(address["properties"]) == {"name", "line1", "line2", "city", "region", "postcode", "country"}
    assert "line2" not in address["required"]
    assert "$ref" not in str(by_name) and "anyOf" not in str(by_name)
    assert all(f["description"] for f in by_name.values())


def test_the_knowledge_base_finds_the_rule(store):
    found = (
        store.desk()
        .call("search_knowledge_base", {"query": "how many days do I have to return something unused"})
        .result["passages"]
    )
    assert any(f"{store.policy['returns']['window_days']} days" in p["text"] for p in found)
    assert store.desk().call("search_knowledge_base", {"query": "zzzzqqq"}).result["passages"] == []


def test_business_days_leave_out_weekends_and_holidays(store):
    from datetime import date

    assert add_business_days(date(2026, 6, 29), 4, store) == date(2026, 7, 6)
    assert business_days_between(date(2026, 6, 18), date(2026, 6, 22), store) == 1


@tool(write=True)
def lend_umbrella(desk, order_id: Annotated[str, "The order number."], days: int = 3) -> dict:
    """Lend an umbrella to the customer.

    More text that the model does not see.
    """
    return {"order_id": order_id, "days": days}


def test_a_tool_of_ones_own_is_one_typed_function(store):
    own = load_tools(f"{__name__}:lend_umbrella")
    desk = store.desk({**store.tools, **own})
    assert desk.call("lend_umbrella", '{"order_id": "NL-1"}').result == {"order_id": "NL-1", "days": 3}
    assert (
        "days: input should be a valid integer"
        in desk.call("lend_umbrella", {"order_id": "x", "days": "many"}).result["error"]
    )
    assert own["lend_umbrella"].schema(store.policy)["function"]["description"] == "Lend an umbrella to the customer."


def test_an_unknown_store_is_refused_with_the_known_ones():
    with pytest.raises(BadInput, match="northline"):
        load_store("southline")


def test_a_store_elsewhere_on_disk_is_data_only(store, tmp_path):
    import shutil

    copy = tmp_path / "mine"
    shutil.copytree(store.path, copy)
    (copy / "evil.py").write_text("raise SystemExit")
    mine = load_store(copy)
    assert mine.name == "northline" and len(mine.tables["orders"]) == len(store.tables["orders"])


def test_each_kind_of_reference_is_counted_by_itself(store):
    order = an_order(store, "delivered")
    lines = [line["line_id"] for line in order["lines"]]
    desk = store.desk()
    ids = [
        desk.call(tool, {"order_id": order["order_id"], "reason": "asked", **more}).result[key]
        for tool, key, more in (
            ("start_return", "return_id", {"line_ids": lines}),
            ("open_carrier_claim", "claim_id", {}),
            ("start_return", "return_id", {"line_ids": lines}),
        )
    ]
    last = desk.call("hand_over_to_human", {"queue": "claims", "reason": "lost", "summary": "lost"}).result[
        "handover_id"
    ]
    assert [*ids, last] == ["RT-1", "CC-1", "RT-2", "HO-1"] and desk.explained()


NORTHEAST = {"CT", "MA", "ME", "NH", "NJ", "NY", "PA", "RI", "VT"}
EAST = NORTHEAST | {"DC", "DE", "FL", "GA", "MD", "NC", "OH", "SC", "VA", "WV"}


@pytest.mark.parametrize("states", [NORTHEAST, EAST])
def test_a_parcel_makes_no_detour(states, store):
    """From Providence to a state of the east, no parcel is scanned further west."""
    for order in store.tables["orders"].values():
        address = order["shipping_address"]
        if address["country"] != "US" or address["region"] not in states:
            continue
        for parcel in order["parcels"]:
            seen = {scan["location"].rsplit(", ", 1)[1] for scan in parcel["scans"]}
            assert seen <= states, (order["order_id"], seen - states)


def test_a_scan_names_place_and_region(store):
    orders = [o for o in store.tables["orders"].values() if o["shipping_address"]["country"] == "GB"]
    places = {s["location"] for o in orders for p in o["parcels"] for s in p["scans"]}
    assert {place.rpartition(", ")[2] for place in places} <= {"GB", "RI", "NJ"}


def test_a_customer_has_four_lines_of_each_kind_in_every_language(store):
    for language, book in store.phrases.items():
        assert all(len({*book["slots"][slot]["answer"]}) >= 6 for slot in ("order_id", "email", "name", "postcode"))
        assert all(len(slot["lack"]) >= 4 for slot in book["slots"].values()), language
        assert all(len(lines) >= 4 for lines in book["customer"].values()), language
