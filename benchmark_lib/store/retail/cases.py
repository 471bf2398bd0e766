"""Name what a case of a retail desk can use, and what its customers know."""

from typing import Any

from ..protocols import Row, World
from . import group_orders, sound
from .rows import variants
from .tools import return_link


def case_names(raw: Row, order: Row, store: World) -> dict[str, Any]:
    """Return the names for the placeholders of a case about an order."""
    return {
        "lines": {line["line_id"]: _with_product(line, store) for line in order["lines"]},
        "customer": store.tables["customers"][order["customer_id"]],
        "products": store.tables["products"],
        "variants": {k: v for k, (_, v) in variants(store).items()},
        "arrives": lambda order, ends: sound.arrives(order, ends, store).isoformat(),
        "today": store.now.date().isoformat(),
        "return_link": lambda order_id: return_link(store.policy, order_id),
        "sheet": lambda order, back, by="": group_orders.sheet(order, back, store, by),
        "last_day": lambda order, line_id: group_orders.last_day(order, line_id, store),
        "swap_cost": lambda order, line_id, variant_id, rate: group_orders.swap_cost(
            order, line_id, variant_id, rate, store
        ),
    }


def case_defaults(names: dict[str, Any]) -> dict[str, Any]:
    """Return the buyer of the order as the customer who writes."""
    customer = names["customer"]
    return {"customer_id": customer["customer_id"], "sender": customer["email"], "sender_name": customer["name"]}


def usual_ledger(case: Row, names: dict[str, Any]) -> dict[str, Any]:
    """Return what a customer usually knows: its identity, as in the email's head, and order."""
    customer, order = names["customer"], names["order"]
    own = case["sender_name"] == customer["name"]
    return {
        "email": {"value": case["sender"], "when": "volunteered"},
        "name": {"value": customer["name"], "when": "volunteered" if own else "asked"},
        "postcode": {"value": order["shipping_address"]["postcode"]},
        "order_id": {"value": order["order_id"]},
    }


def _with_product(line: Row, store: World) -> Row:
    product, variant = variants(store)[line["variant_id"]]
    return {**line, "product": product, "variant": variant}
