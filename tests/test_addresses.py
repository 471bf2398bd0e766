"""An address is the same address however it is spelled, and another one whatever it looks like."""

import pytest

from benchmark_lib.language.values import country_code, is_po_box, same_address, stands_in
from benchmark_lib.records import ToolCall
from benchmark_lib.scoring.state import end_state
from benchmark_lib.store.rules import Before

MAINE = {
    "name": "Fergus Abernathy-Okoro",
    "line1": "41 Pleasant Avenue",
    "line2": "Apt 6B",
    "city": "Portland",
    "region": "ME",
    "postcode": "04103",
    "country": "US",
}
QUEBEC = {
    "name": "Hélène Côté",
    "line1": "1840 rue Sainte-Catherine Ouest",
    "line2": None,
    "city": "Montréal",
    "region": "QC",
    "postcode": "H3H 1M1",
    "country": "CA",
}
LEEDS = {
    "name": "Priyanka Raman",
    "line1": "27 Stonegate Crescent",
    "line2": None,
    "city": "Leeds",
    "region": "West Yorkshire",
    "postcode": "LS7 3QB",
    "country": "GB",
}


@pytest.mark.parametrize(
    ("address", "other"),
    [
        (MAINE, {"line1": "41 Pleasant Ave."}),
        (MAINE, {"line1": "41 Pleasant Avenue, Apartment 6-B", "line2": None}),
        (MAINE, {"line1": "#6B", "line2": "41 pleasant ave"}),
        (MAINE, {"region": "Maine", "country": "us"}),
        (MAINE, {"postcode": "04103-1234"}),
        (MAINE, {"name": "Mr. Fergus Abernathy Okoro"}),
        (QUEBEC, {"name": "Helene Cote", "city": "Montreal", "region": "Québec"}),
        (QUEBEC, {"line1": "1840, rue Ste-Catherine W", "postcode": "h3h1m1"}),
        (LEEDS, {"line1": "27 Stonegate Cres", "region": "", "country": "UK"}),
        (LEEDS, {"region": "England", "postcode": "LS73QB"}),
        ({**MAINE, "line1": "12 First Street"}, {"line1": "12 1st St"}),
        ({**MAINE, "line1": "900 Elm Court", "region": "OR"}, {"line1": "900 Elm Ct", "region": "Oregon"}),
        ({**MAINE, "line1": "PO Box 418"}, {"line1": "P.O. Box 418"}),
    ],
)
def test_another_spelling_is_the_same_address(address, other):
    assert same_address(address, {**address, **other})


@pytest.mark.parametrize(
    ("address", "other"),
    [
        (MAINE, {"line1": "43 Pleasant Avenue"}),
        (MAINE, {"line2": "Apt 7B"}),
        (MAINE, {"line2": None}),
        (MAINE, {"postcode": "04101"}),
        (MAINE, {"region": "OR"}),
        (MAINE, {"name": "Fergus Abernathy"}),
        (MAINE, {"line1": "41 Pleasant Street"}),
        (LEEDS, {"postcode": "LS7 3QA"}),
        (QUEBEC, {"country": "US"}),
    ],
)
def test_another_part_is_another_address(address, other):
    assert not same_address(address, {**address, **other})


def test_countries_and_boxes_are_known_by_their_names():
    names = ("United Kingdom", "Royaume-Uni", "Reino Unido", "Großbritannien", "uk", "GB", "Scotland")
    assert {country_code(name) for name in names} == {"GB"}
    assert country_code("Deutschland") == "DE" and country_code("Estados Unidos") == "US"
    boxes = ("PO Box 9", "P. O. Box 9", "Post Office Box 9", "Boîte postale 9", "Postfach 9", "Apartado de Correos 9")
    assert all(is_po_box({"line1": line, "postcode": "1"}) for line in boxes)
    assert not is_po_box({"line1": "9 Boxwood Lane", "postcode": "1"})


def test_a_part_is_found_in_running_text():
    text = "Please resend everything to 41 pleasant ave., portland, 04103"
    assert stands_in("line1", "41 Pleasant Avenue", text) and stands_in("postcode", "04103", text)
    assert not stands_in("line1", "43 Pleasant Avenue", text) and not stands_in("postcode", "04101", text)


def _changed(store, order, address):
    desk = store.desk()
    desk.call("update_shipping_address", {"order_id": order["order_id"], "address": address})
    return end_state(desk.changes(), store)


def test_the_end_state_holds_addresses_by_their_parts(store):
    order = next(o for o in store.tables["orders"].values() if o["status"] == "unfulfilled")
    spellings = ({}, {"line1": "41 Pleasant Ave", "region": "maine"}, {"line1": "41 pleasant avenue #6B", "line2": ""})
    states = [_changed(store, order, {**MAINE, **other}) for other in spellings]
    assert states[0] == states[1] == states[2] and states[0]
    assert _changed(store, order, {**MAINE, "line1": "43 Pleasant Ave"}) != states[0]


def test_the_same_address_in_other_words_changes_nothing(store):
    order = next(o for o in store.tables["orders"].values() if o["shipping_address"]["line1"].endswith("Street"))
    kept = dict(order["shipping_address"])
    assert not _changed(store, order, {**kept, "line1": kept["line1"].replace("Street", "St.").upper()})


@pytest.mark.parametrize("tool", ["create_reshipment", "start_return"])
def test_a_call_for_each_line_leaves_what_one_call_for_both_does(store, tool):
    order = next(o for o in store.tables["orders"].values() if len(o["lines"]) == 2)
    states = []
    for calls in ([["L1", "L2"]], [["L2"], ["L1"]]):
        desk = store.desk()
        for lines in calls:
            desk.call(tool, {"order_id": order["order_id"], "line_ids": lines, "reason": "-"})
        states.append(end_state(desk.changes(), store))
    assert states[0] == states[1]
    desk.call(tool, {"order_id": order["order_id"], "line_ids": ["L1"], "reason": "-"})
    assert end_state(desk.changes(), store) != states[0]


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        ({}, True),
        ({"name": "MARIE-EVE LEBLANC"}, True),
        ({"name": "Mme Marie-Ève Leblanc"}, True),
        ({"name": "Luc Leblanc"}, False),
        ({"country": "UK", "region": "Avon", "postcode": "BS1 1AA"}, True),
        ({"country": "DE"}, False),
        ({"line1": "Post Office Box 9", "country": "GB"}, False),
        ({"line1": "Boite postale 9", "country": "CA"}, False),
        ({"line1": "PO Box 9"}, True),
        ({"line1": "4400 N.W. Cargo Row", "line2": "#31877"}, False),
        ({"line1": "Suite 31877", "line2": "4400 NW CARGO ROW"}, False),
    ],
)
def test_the_recipient_rule_reads_parts(store, other, kept):
    order = next(o for o in store.tables["orders"].values() if o["status"] == "unfulfilled")
    row = {**order, "shipping_address": {**order["shipping_address"], "name": "Marie-Ève Leblanc"}}
    new = {**MAINE, "name": "Marie-Ève Leblanc", **other}

    class World:
        policy, tables = store.policy, {"orders": {order["order_id"]: row}}

    call = ToolCall(1, 0, "update_shipping_address", {"order_id": order["order_id"], "address": new}, {}, None, True)
    rule = store.policy["process_rules"]["recipient"]
    assert store.rules["recipient"](call, Before([], []), World, rule) is kept
