"""The search over a shop's goods."""

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
    """The search over the goods of a store: a function that gives those which share a word with a query, best first.

    Answers are kept, since the same question is asked in many conversations.
    """
    products = list(store.tables["products"].values())
    index = TextIndex([product_text(p) for p in products])
    return lru_cache(maxsize=4096)(lambda query: FrozenList([products[i] for i in index.best(query, MOST_FOUND)]))


@remembered("products", "policy")
def public_amounts(store: World) -> frozenset[int]:
    """What any visitor can work out of the shop's pages, in cents.

    The price of up to three pieces of one article, with the active codes and the cost of delivery or without, and what
    a code takes off.
    """
    prices = {v["price_cents"] * n for p in store.tables["products"].values() for v in p["variants"] for n in (1, 2, 3)}
    shares = [100 - c["percent"] for c in store.policy["promotions"]["codes"] if c["active"]]
    reduced = {round(price * share / 100) for price in prices for share in shares}
    saved = {round(price * (100 - share) / 100) for price in prices for share in shares}
    delivery = set(store.policy["shipping"]["cost_cents"].values())
    return frozenset({goods + cost for goods in prices | reduced for cost in {0, *delivery}} | saved | delivery | {0})


def product_text(product: dict[str, Any]) -> str:
    """What the search reads of a product."""
    values = " ".join(f"{k.replace('_', ' ')} {v}" for k, v in product["attributes"].items())
    options = " ".join({str(v[o]) for v in product["variants"] for o in ("color", "size") if v.get(o)})
    return f"{product['title']} {product['category'].replace('_', ' ')} {product['description']} {values} {options}"
