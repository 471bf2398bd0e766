"""Find rows of a retail desk: tables, a customer's orders, variants and searchable goods."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...remembered import remembered
from ..frozen import FrozenDict, FrozenList
from ..protocols import Row, Store
from ..search import TextIndex, best

TABLES = {
    "products": ("products.jsonl", "product_id"),
    "customers": ("customers/*.jsonl", "customer_id"),
    "orders": ("orders/*.jsonl", "order_id"),
    "history": ("history/*.jsonl", "ticket_id"),
    "gear": ("gear/*.jsonl", "gear_id"),
}
"""Each table with its files in the store's folder and its key field."""


@remembered("products")
def variants(store: Store) -> dict[str, tuple[Row, Row]]:
    """Return each pair (product, variant) by variant id."""
    return FrozenDict({v["variant_id"]: (p, v) for p in store.tables["products"].values() for v in p["variants"]})


@remembered("customers")
def by_email(store: Store) -> dict[str, Row]:
    """Return the customers by email address in lower case."""
    return FrozenDict({c["email"].lower(): c for c in store.tables["customers"].values()})


@remembered("orders")
def orders_of(store: Store) -> dict[str, list[Row]]:
    """Return the orders by customer id, newest first."""
    by_customer: dict[str, list[Row]] = {}
    for order in sorted(store.tables["orders"].values(), key=lambda o: o["placed_at"], reverse=True):
        by_customer.setdefault(order["customer_id"], []).append(order)
    return FrozenDict({customer_id: FrozenList(orders) for customer_id, orders in by_customer.items()})


MOST_FOUND = 60


@remembered("products")
def goods_search(store: Store) -> Callable[[str], list[Row]]:
    """Return a function that finds the goods that share a word with a query, best first.

    The function caches answers, because many queries recur.
    """
    products = list(store.tables["products"].values())
    index = TextIndex([product_text(p) for p in products])
    return lru_cache(maxsize=4096)(
        lambda query: FrozenList([products[i] for i in best(index.scores(query), MOST_FOUND)])
    )


@remembered("products", "policy")
def public_amounts(store: Store) -> frozenset[int]:
    """Return the amounts that any visitor can compute from the shop's pages, in cents.

    They are the prices of up to three pieces of an article, with or without active codes and delivery, and the savings.
    """
    prices = {v["price_cents"] * n for p in store.tables["products"].values() for v in p["variants"] for n in (1, 2, 3)}
    shares = [100 - c["percent"] for c in store.policy["promotions"]["codes"] if c["active"]]
    reduced = {round(price * share / 100) for price in prices for share in shares}
    saved = {round(price * (100 - share) / 100) for price in prices for share in shares}
    delivery = set(store.policy["shipping"]["cost_cents"].values())
    return frozenset({goods + cost for goods in prices | reduced for cost in {0, *delivery}} | saved | delivery | {0})


def product_text(product: dict[str, Any]) -> str:
    """Return a product's searchable text."""
    values = " ".join(f"{k.replace('_', ' ')} {v}" for k, v in product["attributes"].items())
    options = " ".join({str(v[o]) for v in product["variants"] for o in ("color", "size") if v.get(o)})
    return f"{product['title']} {product['category'].replace('_', ' ')} {product['description']} {values} {options}"


def orders_in(result: Any) -> list[Row]:
    """Return the order or orders in a result, whichever tool returned it."""
    if not isinstance(result, dict):
        return []
    orders = result.get("orders")
    return [result, *(row for row in orders if isinstance(row, dict))] if isinstance(orders, list) else [result]
