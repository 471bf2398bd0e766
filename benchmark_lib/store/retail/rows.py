"""Name the tables of a retail store and index their rows."""

from ...remembered import remembered
from ..frozen import FrozenDict, FrozenList
from ..protocols import Row, World

TABLES = {
    "products": ("products.jsonl", "product_id"),
    "customers": ("customers/*.jsonl", "customer_id"),
    "orders": ("orders/*.jsonl", "order_id"),
    "history": ("history/*.jsonl", "ticket_id"),
    "gear": ("gear/*.jsonl", "gear_id"),
}
"""Each table with its files in the store's folder and its key field."""


@remembered("products")
def variants(store: World) -> dict[str, tuple[Row, Row]]:
    """Return (product, variant) by variant id."""
    return FrozenDict({v["variant_id"]: (p, v) for p in store.tables["products"].values() for v in p["variants"]})


@remembered("customers")
def by_email(store: World) -> dict[str, Row]:
    """Return the customers by email address in lower case."""
    return FrozenDict({c["email"].lower(): c for c in store.tables["customers"].values()})


@remembered("orders")
def orders_of(store: World) -> dict[str, list[Row]]:
    """Return the orders by customer id, newest first."""
    found: dict[str, list[Row]] = {}
    for order in sorted(store.tables["orders"].values(), key=lambda o: o["placed_at"], reverse=True):
        found.setdefault(order["customer_id"], []).append(order)
    return FrozenDict({customer_id: FrozenList(orders) for customer_id, orders in found.items()})
