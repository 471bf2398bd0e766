"""Provide the names that a case of a retail desk can use, and what its customer knows.

A return from a group order is settled as a whole, on the terms of the day on which the order was placed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from ..kinds import Row, Store
from ..rules import add_business_days
from .offers import variants
from .steps import arrives
from .tools import return_link


def case_names(raw: Row, order: Row, store: Store) -> dict[str, Any]:
    """Return the names for the placeholders of a case about an order."""
    return {
        "lines": {line["line_id"]: _with_product(line, store) for line in order["lines"]},
        "customer": store.tables["customers"][order["customer_id"]],
        "products": store.tables["products"],
        "variants": {k: v for k, (_, v) in variants(store).items()},
        "arrives": lambda order, ends: arrives(order, ends, store).isoformat(),
        "today": store.now.date().isoformat(),
        "return_link": lambda order_id: return_link(store.policy, order_id),
        "sheet": lambda order, back, by="": sheet(order, back, store, by),
        "last_day": lambda order, line_id: last_day(order, line_id, store),
        "swap_cost": lambda order, line_id, variant_id, rate: swap_cost(order, line_id, variant_id, rate, store),
    }


def case_defaults(names: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that make the order's buyer the customer who writes."""
    customer = names["customer"]
    return {"customer_id": customer["customer_id"], "sender": customer["email"], "sender_name": customer["name"]}


def usual_ledger(case: Row, names: dict[str, Any]) -> dict[str, Any]:
    """Return what a customer usually knows: its identity, as in the email's header, and order."""
    customer, order = names["customer"], names["order"]
    own = case["sender_name"] == customer["name"]
    return {
        "email": {"value": case["sender"], "when": "volunteered"},
        "name": {"value": customer["name"], "when": "volunteered" if own else "asked"},
        "postcode": {"value": order["shipping_address"]["postcode"]},
        "order_id": {"value": order["order_id"]},
    }


def _with_product(line: Row, store: Store) -> Row:
    product, variant = variants(store)[line["variant_id"]]
    return {**line, "product": product, "variant": variant}


@dataclass(frozen=True)
class Sheet:
    """One return from a group order, in pieces and cents.

    The rate is the rebate, in percent, for the pieces that the group keeps.
    """

    pieces: int
    held: int
    back: int
    rate: int
    labels: int


def sheet(order: Row, back: Mapping[str, int], store: Store, by: str = "") -> Sheet:
    """Settle a return of pieces from a group order; `back` gives the number of pieces by line.

    `by` names the terms, ``current`` or ``former``; by default, those of the order's day apply.
    """
    terms = store.policy["library"]["group_orders"][by] if by else terms_of(order, store)
    earlier = {line_id: 1 for r in order["returns"] for line_id in r["line_ids"]}
    gone = {line["line_id"]: back.get(line["line_id"], 0) + earlier.get(line["line_id"], 0) for line in order["lines"]}
    stay = sum(line["quantity"] for line in order["lines"]) - sum(gone.values())
    rate = _rate(stay, terms)
    kept = less(sum((x["quantity"] - gone[x["line_id"]]) * x["price_cents"] for x in order["lines"]), rate)
    held = sum(gone[line["line_id"]] * _held(line, terms, store) for line in order["lines"])
    shipping = store.policy["shipping"]
    lost = stay and not order["shipping_cents"] and kept < shipping["free_from_cents"]
    delivery = shipping["cost_cents"][order["shipping_address"]["country"]] if lost else 0
    refunded = sum(p["amount_cents"] for p in order["payments"] if p["kind"] == "refund")
    return Sheet(
        pieces=sum(back.values()),
        held=held,
        back=order["subtotal_cents"] - order["discount_cents"] - kept - held - delivery - refunded,
        rate=rate,
        labels=_labels(order, back, store),
    )


def last_day(order: Row, line_id: str, store: Store) -> str:
    """Return the last day for sending back a piece of a group order, as an ISO date."""
    terms, groups = terms_of(order, store), store.policy["library"]["group_orders"]
    line = next(x for x in order["lines"] if x["line_id"] == line_id)
    delivered = next(p["delivered_at"] for p in order["parcels"] if line_id in p["lines"])
    category = _category(line, store)
    if category in groups["children"]:
        days, moves = store.policy["returns"]["window_days"], False
    else:
        days = groups["short_days"] if category in groups["short"] else terms["days"]
        moves = terms["moves"]
    last = date.fromisoformat(delivered[:10]) + timedelta(days)
    return (add_business_days(last - timedelta(1), 1, store) if moves else last).isoformat()


def swap_cost(order: Row, line_id: str, variant_id: str, rate: int, store: Store) -> int:
    """Return what swapping a piece costs a group, in cents; `rate` is the later rebate in %."""
    groups = store.policy["library"]["group_orders"]
    line = next(x for x in order["lines"] if x["line_id"] == line_id)
    _, variant = variants(store)[variant_id]
    fee = 0 if _category(line, store) in groups["children"] else groups["swap_fee_cents"]
    return less(variant["price_cents"] - line["price_cents"], rate) + int(fee)


def terms_of(order: Row, store: Store) -> Row:
    """Return the terms in force on the day of a group order."""
    groups = store.policy["library"]["group_orders"]
    terms: Row = groups["current" if order["placed_at"][:10] >= groups["since"] else "former"]
    return terms


def less(cents: int, percent: int) -> int:
    """Return an amount less a percentage of it; the reduction is rounded down to the cent."""
    return cents - cents * percent // 100


def _rate(pieces: int, terms: Row) -> int:
    return max((r["percent"] for r in terms["rebate"] if pieces >= r["from"]), default=0)


def _held(line: Row, terms: Row, store: Store) -> int:
    child = _category(line, store) in store.policy["library"]["group_orders"]["children"]
    percent = terms["held_children_percent"] if child else terms["held_percent"]
    if not percent:
        return 0
    share = line["price_cents"] * percent // 100
    return int(min(max(share, terms.get("held_least_cents", 0)), terms.get("held_most_cents", share)))


def _labels(order: Row, back: Mapping[str, int], store: Store) -> int:
    """Return the number of labels: one per suitcase, and one per full or part load of the rest."""
    groups = store.policy["library"]["group_orders"]
    lines = [(x, back.get(x["line_id"], 0)) for x in order["lines"]]
    cases = sum(count for line, count in lines if _category(line, store) in groups["suitcases"])
    grams = sum(
        count * variants(store)[line["variant_id"]][1]["weight_g"]
        for line, count in lines
        if _category(line, store) not in groups["suitcases"]
    )
    return int(cases + -(-grams // groups["label_g"]))


def _category(line: Row, store: Store) -> str:
    return str(store.tables["products"][line["product_id"]]["category"])
