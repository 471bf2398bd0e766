"""Whether the rows of a retail store agree with each other, and what a case may rest on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from ..protocols import Played, World
from .rows import variants


def grounds(case: Played, store: World) -> list[Any]:
    """The orders of a case with their goods."""
    orders = [store.tables["orders"][o] for o in (case.order, *case.others.values())]
    return [orders, [store.tables["products"][x["product_id"]] for o in orders for x in o["lines"]]]


def unsound(number: str, store: World) -> Iterator[tuple[str, str]]:
    """Where an order's amounts, lines, parcels and customer do not agree with each other."""
    order, now = store.tables["orders"][number], store.now.isoformat()
    if order["customer_id"] not in store.tables["customers"]:
        yield ("order", f"its customer {order['customer_id']} does not exist")
    if order["subtotal_cents"] != sum(x["quantity"] * x["price_cents"] for x in order["lines"]):
        yield ("order", "the subtotal is not the sum of its lines")
    if order["total_cents"] != order["subtotal_cents"] - order["discount_cents"] + order["shipping_cents"]:
        yield ("order", "the total is not subtotal - discount + shipping")
    for line in order["lines"]:
        product, _ = variants(store).get(line["variant_id"], ({"product_id": None, "title": None}, None))
        if (product["product_id"], product["title"]) != (line["product_id"], line["title"]):
            yield ("order", f"line {line['line_id']} does not agree with the goods")
    for parcel in order["parcels"]:
        times = [datetime.fromisoformat(s["at"]) for s in parcel["scans"]]
        if times != sorted(times) or any(t > store.now for t in times):
            yield ("order", f"the scans of parcel {parcel['parcel_id']} are out of order or after {now}")
        if parcel["delivered_at"] and datetime.fromisoformat(parcel["delivered_at"]) > store.now:
            yield ("order", f"parcel {parcel['parcel_id']} is delivered after {now}")
