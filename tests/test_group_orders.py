"""The keys of the dense family: every sheet, sum and last day worked out anew from policy, goods and orders, in other words than the library's."""

from datetime import date, timedelta
from fractions import Fraction
from math import ceil, floor

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.store import load_store

SENT = {
    "dense_1": {
        "NL-81160": {"L1": 5, "L3": 1},
        "NL-81161": {"L1": 3, "L3": 2},
        "NL-81162": {"L2": 1},
        "NL-81163": {"L3": 1},
    },
    "dense_2": {
        "NL-81177": {"L1": 3, "L2": 2, "L4": 1},
        "NL-81178": {"L1": 1, "L2": 1},
        "NL-81179": {"L1": 1},
        "NL-81180": {"L4": 1},
    },
    "dense_3": {
        "NL-81186": {"L1": 3, "L2": 1, "L3": 1},
        "NL-81187": {"L1": 2, "L2": 4, "L3": 1, "L4": 2},
        "NL-81188": {"L1": 1, "L4": 1},
        "NL-81189": {"L4": 1},
    },
    "dense_4": {
        "NL-81166": {"L1": 1, "L2": 1, "L3": 3},
        "NL-81167": {"L1": 3, "L2": 3, "L3": 1, "L4": 2},
        "NL-81168": {"L2": 1, "L3": 1},
        "NL-81169": {"L3": 1},
        "NL-81170": {"L1": 1},
    },
    "dense_5": {
        "NL-81172": {"L1": 1, "L2": 4, "L3": 2},
        "NL-81173": {"L1": 2, "L3": 1, "L4": 2},
        "NL-81174": {"L1": 1, "L2": 2, "L3": 1},
        "NL-81175": {"L3": 1, "L4": 1},
    },
    "dense_6": {
        "NL-81181": {"L1": 4, "L2": 3, "L3": 1, "L4": 2},
        "NL-81182": {"L2": 2},
        "NL-81183": {"L1": 1},
        "NL-81184": {"L2": 1},
    },
    "dense_8": {
        "NL-81194": {"L1": 1, "L2": 2, "L4": 2},
        "NL-81191": {"L1": 2, "L2": 3, "L3": 1},
        "NL-81192": {"L3": 1},
        "NL-81193": {"L4": 1},
    },
}
"""What the customer of a case sends back in the end, as far as it can: pieces by line and group order."""
UNDECIDED = {
    "dense_1": {"cubes_until": ("NL-81160", "L1"), "umbrella_until": ("NL-81162", "L3")},
    "dense_2": {
        "children_until": ("NL-81177", "L2"),
        "brolly_until": ("NL-81177", "L4"),
        "holder_until": ("NL-81179", "L2"),
    },
    "dense_3": {
        "foam_until": ("NL-81186", "L3"),
        "children_until": ("NL-81187", "L1"),
        "holder_until": ("NL-81188", "L2"),
    },
    "dense_4": {
        "rolltop_until": ("NL-81166", "L2"),
        "pillow_until": ("NL-81170", "L2"),
        "cabin_until": ("NL-81170", "L1"),
    },
    "dense_5": {"masks_until": ("NL-81172", "L2"), "children_until": ("NL-81173", "L2")},
    "dense_6": {
        "wallet_until": ("NL-81181", "L3"),
        "insert_until": ("NL-81182", "L1"),
        "tag_until": ("NL-81183", "L3"),
    },
    "dense_8": {"sleeves_until": ("NL-81194", "L2"), "wallet_until": ("NL-81192", "L2")},
}
"""The last days that it asks for, by the facts of the case."""
TOO_LATE = {
    "dense_1": [("NL-81160", "L4"), ("NL-81161", "L2"), ("NL-81163", "L4")],
    "dense_2": [("NL-81177", "L3"), ("NL-81178", "L3")],
    "dense_3": [("NL-81188", "L3")],
    "dense_4": [("NL-81166", "L4")],
    "dense_5": [],
    "dense_6": [],
    "dense_8": [("NL-81194", "L3"), ("NL-81193", "L3")],
}
"""What it would send back and cannot, or swaps since it cannot."""


@pytest.fixture(scope="module")
def store():
    return load_store("northline:hard")


@pytest.fixture(scope="module")
def cases(store):
    return {c.id: c for c in load_cases(store, "dense") if c.id in SENT}


def _terms(order, store):
    groups = store.policy["library"]["group_orders"]
    return groups["former"] if date.fromisoformat(order["placed_at"][:10]) <= date(2026, 4, 30) else groups["current"]


def _product(line, store):
    return store.tables["products"][line["product_id"]]


def _is_childs(line, store):
    return "Kids'" in _product(line, store)["title"]


def _rebate(pieces, terms):
    steps = [0, *(r["percent"] for r in sorted(terms["rebate"], key=lambda r: r["from"]) if r["from"] <= pieces)]
    return steps[-1]


def _share(line, terms, store):
    percent = terms["held_children_percent"] if _is_childs(line, store) else terms["held_percent"]
    share = floor(Fraction(percent, 100) * line["price_cents"])
    if percent and "held_most_cents" in terms:
        share = sorted((terms["held_least_cents"], share, terms["held_most_cents"]))[1]
    return share


def _settled(order, sent, store):
    """What is held back, what comes back, and the rebate before and afterwards."""
    terms, before, after = _terms(order, store), [], []
    gone = []
    earlier = [line_id for r in order["returns"] for line_id in r["line_ids"]]
    for line in order["lines"]:
        pieces = [line] * line["quantity"]
        back = earlier.count(line["line_id"])
        gone += pieces[:back]
        before += pieces[back:]
        gone += pieces[back : back + sent.get(line["line_id"], 0)]
        after += pieces[back + sent.get(line["line_id"], 0) :]
    rate = _rebate(len(after), terms)
    prices = sum(x["price_cents"] for x in after)
    kept = prices - floor(Fraction(rate, 100) * prices)
    held = sum(_share(x, terms, store) for x in gone)
    sum_back = order["total_cents"] - order["shipping_cents"] - kept - held
    sum_back -= sum(p["amount_cents"] for p in order["payments"] if p["kind"] == "refund")
    if after and order["shipping_cents"] == 0 and kept < store.policy["shipping"]["free_from_cents"]:
        sum_back -= store.policy["shipping"]["cost_cents"][order["shipping_address"]["country"]]
    return held, sum_back, _rebate(len(before), terms), rate if after else None


def _last_day(order, line_id, store):
    terms = _terms(order, store)
    (line,) = (x for x in order["lines"] if x["line_id"] == line_id)
    (parcel,) = (p for p in order["parcels"] if line_id in p["lines"])
    title, child = line["title"], _is_childs(line, store)
    short = any(word in title for word in ("Pillow", "Mask", "Socks"))
    days = store.policy["returns"]["window_days"] if child else 21 if short else terms["days"]
    day = date.fromisoformat(parcel["delivered_at"][:10]) + timedelta(days)
    closed = {str(h["date"]) for h in store.policy["calendar"]["holidays"]}
    while terms["moves"] and not child and (day.weekday() > 4 or day.isoformat() in closed):
        day += timedelta(1)
    return day


def _labels(order, sent, store):
    cases, grams = 0, 0
    for line in order["lines"]:
        count, product = sent.get(line["line_id"], 0), _product(line, store)
        (variant,) = (v for v in product["variants"] if v["variant_id"] == line["variant_id"])
        if product["category"] in ("carry_on", "checked"):
            cases += count
        else:
            grams += count * variant["weight_g"]
    return cases + ceil(Fraction(grams, store.policy["library"]["group_orders"]["label_g"]))


def _procedures(case, name):
    calls = [c.arguments for c in case.outcomes[0].calls if c.arguments.get("procedure") == name]
    return {a["order_id"]: a["details"] for a in calls}


@pytest.mark.parametrize("case_id", SENT)
def test_every_sheet_and_sum_follows_from_policy_goods_and_orders(case_id, cases, store):
    case = cases[case_id]
    orders, sums, notes, labels = store.tables["orders"], {}, {}, {}
    sheets = _procedures(case, "group_sheet")
    told = {int(f.value) for f in case.facts.values() if f.kind == "money"}
    for number, sent in SENT[case_id].items():
        held, sums[number], before, after = _settled(orders[number], sent, store)
        assert sheets[number] == {"pieces": str(sum(sent.values())), "held_cents": str(held)}, number
        assert sums[number] > 0 and sums[number] in told, number
        if after is not None and after < before:
            notes[number] = {"percent": str(after)}
        if orders[number]["shipping_address"]["country"] != "US":
            labels[number] = {"labels": str(_labels(orders[number], sent, store))}
    assert sheets.keys() == SENT[case_id].keys() and _procedures(case, "rebate_note") == notes
    assert _procedures(case, "carton_labels") == labels
    first = min(sums, key=lambda number: orders[number]["placed_at"])
    total = {"sheets": len(sums), "total_cents": str(sum(sums.values()))}
    assert _procedures(case, "group_statement") == {first: total} and sum(sums.values()) in told


@pytest.mark.parametrize("case_id", SENT)
def test_what_goes_back_is_in_time_and_nothing_else_that_was_asked_for(case_id, cases, store):
    case, orders, today = cases[case_id], store.tables["orders"], store.now.date()
    returned = {
        c.arguments["order_id"]: set(c.arguments["line_ids"])
        for c in case.outcomes[0].calls
        if c.tool == "start_return"
    }
    for number, sent in SENT[case_id].items():
        assert returned[number] == set(sent) and "Group order." in str(orders[number]["notes"])
        assert all(_last_day(orders[number], line_id, store) >= today for line_id in sent), number
    for number, line_id in TOO_LATE[case_id]:
        assert _last_day(orders[number], line_id, store) < today, (number, line_id)
    for name, (number, line_id) in UNDECIDED[case_id].items():
        assert str(case.facts[name].value) == _last_day(orders[number], line_id, store).isoformat()


@pytest.mark.parametrize("case_id", SENT)
def test_the_orders_of_a_group_have_the_rebate_of_their_pieces(case_id, cases, store):
    case = cases[case_id]
    for number in (case.order, *case.others.values()):
        order = store.tables["orders"][number]
        if order["notes"]:
            pieces = sum(line["quantity"] for line in order["lines"])
            percent = _rebate(pieces, _terms(order, store))
            assert order["discount_cents"] == floor(Fraction(percent, 100) * order["subtotal_cents"]), number
