"""Check the rows of a retail store, and find those that may support a case."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from ..calendar import add_business_days
from ..protocols import Played, Row, World
from .rows import variants


def grounds(case: Played, store: World) -> list[Any]:
    """Return the orders of a case with their goods."""
    orders = [store.tables["orders"][o] for o in (case.order, *case.others.values())]
    return [orders, [store.tables["products"][x["product_id"]] for o in orders for x in o["lines"]]]


def unsound(number: str, store: World) -> Iterator[tuple[str, str]]:
    """Yield the inconsistencies of an order's amounts, lines, parcels and customer."""
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
        for scan in parcel["scans"]:
            if scan["status"] == "delivered" and not _at(scan["location"], order["shipping_address"]):
                yield ("order", f"parcel {parcel['parcel_id']} is delivered in {scan['location']}, not at its address")


def _at(location: str, address: Row) -> bool:
    town, _, where = location.partition(", ")
    return town == address["city"] and where in (address["region"], address["country"])


def days(number: str, store: World) -> dict[str, str]:
    """Return an order's days by policy and clock, each with its meaning."""
    order, policy, today = store.tables["orders"][number], store.policy, store.now.date()
    events = [(_day(order["placed_at"]), "ordered")]
    for ends, which in enumerate(("earliest", "latest")):
        if not order["parcels"]:
            events.append((packed(order, ends, store), f"{which} day of packing"))
        for country in _countries(order, store):
            transit = policy["shipping"]["business_days"][country][ends]
            if not order["parcels"]:
                events.append((arrives(order, ends, store, country), f"{which} arrival in {country}"))
            sent_again = add_business_days(today, policy["processing"]["business_days"][ends] + transit, store)
            events.append((sent_again, f"{which} arrival in {country} of what is sent today"))
    for parcel in order["parcels"]:
        events += _days_of_parcel(parcel, order, store)
    return {day.isoformat(): what for day, what in reversed(events)}


def packed(order: Row, ends: int, store: World) -> date:
    """Return the first (0) or last (1) day of packing an order without a parcel, from today."""
    day = add_business_days(_day(order["placed_at"]), store.policy["processing"]["business_days"][ends], store)
    return max(day, add_business_days(store.now.date() - timedelta(1), 1, store))


def arrives(order: Row, ends: int, store: World, country: str | None = None) -> date:
    """Return the first (0) or last (1) day on which an order without a parcel can arrive."""
    transit = store.policy["shipping"]["business_days"][country or order["shipping_address"]["country"]]
    return add_business_days(packed(order, ends, store), transit[ends], store)


def _days_of_parcel(parcel: Row, order: Row, store: World) -> Iterator[tuple[date, str]]:
    name, rules = parcel["parcel_id"], store.policy["not_received"]
    yield _day(parcel["estimated_delivery"]), f"the window of {name} ends"
    if parcel["shipped_at"]:
        transit = store.policy["shipping"]["business_days"][order["shipping_address"]["country"]]
        yield add_business_days(_day(parcel["shipped_at"]), transit[0], store), f"first day of {name}"
    if parcel["delivered_at"]:
        yield _day(parcel["delivered_at"]), f"{name} was delivered"
        waited = datetime.fromisoformat(parcel["delivered_at"]) + timedelta(hours=rules["delivered_scan_hours"])
        yield waited.date(), f"the delivered scan of {name} is old enough"
    for scan in parcel["scans"][-1:]:
        yield _day(scan["at"]), f"last scan of {name}"
        yield add_business_days(_day(scan["at"]), rules["no_scan_business_days"], store), f"{name} counts as lost"


def _countries(order: Row, store: World) -> set[str]:
    """Return the served countries of an order and of its customer's addresses."""
    customer = store.tables["customers"].get(order["customer_id"], {"addresses": ()})
    known = {order["shipping_address"]["country"], *(a["country"] for a in customer["addresses"])}
    return known & set(store.policy["shipping"]["business_days"])


def _day(moment: str) -> date:
    return date.fromisoformat(moment[:10])
