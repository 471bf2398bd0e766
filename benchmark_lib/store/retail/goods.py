"""Search a shop's goods."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from ...remembered import remembered
from ..frozen import FrozenList
from ..protocols import Row, World
from ..search import TextIndex

MOST_FOUND = 60


@remembered("products")
def goods_search(store: World) -> Callable[[str], list[Row]]:
    """Return a function that finds the goods sharing a word with a query, best first.

    The function caches answers, because many conversations ask the same.
    """
    products = list(store.tables["products"].values())
    index = TextIndex([product_text(p) for p in products])
    return lru_cache(maxsize=4096)(lambda query: FrozenList([products[i] for i in index.best(query, MOST_FOUND)]))


@remembered("products", "policy")
def public_amounts(store: World) -> frozenset[int]:
    """Return the amounts that any visitor can compute from the shop's pages, in cents.

    They are prices of up to three pieces of an article, with or without active codes and delivery, and code savings.
    """
    prices = {v["price_cents"] * n for p in store.tables["products"].values() for v in p["variants"] for n in (1, 2, 3)}
    shares = [100 - c["percent"] for c in store.policy["promotions"]["codes"] if c["active"]]
    reduced = {round(price * share / 100) for price in prices for share in shares}
    saved = {round(price * (100 - share) / 100) for price in prices for share in shares}
    delivery = set(store.policy["shipping"]["cost_cents"].values())
    return frozenset({goods + cost for goods in prices | reduced for cost in {0, *delivery}} | saved | delivery | {0})


def product_text(product: dict[str, Any]) -> str:
    """Return the text of a product that is searched."""
    values = " ".join(f"{k.replace('_', ' ')} {v}" for k, v in product["attributes"].items())
    options = " ".join({str(v[o]) for v in product["variants"] for o in ("color", "size") if v.get(o)})
    return f"{product['title']} {product['category'].replace('_', ' ')} {product['description']} {values} {options}"
