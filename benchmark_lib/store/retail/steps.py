"""Steps of a case on a retail desk: identity, evidence, look-ups, days of arrival."""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

from ...records import ToolCall
from ..calendar import add_business_days, as_day
from ..protocols import Played, Row, World
from .claims import orders_in
from .rows import variants
from .rules import delivered
from .tools import return_link

Arrival = tuple[date, int | None, bool]
SENT_AGAIN = ("create_replacement", "create_reshipment")
"""Calls after which goods are sent again."""


def arrives(calls: list[ToolCall], store: World) -> Arrival | None:
    """Return the earliest arrival that the agent's calls show; None if no goods are to come.

    It is the day, the index of the call that shows it (None without a looked-up order), and whether the carrier expects
    it. Otherwise the day is the end of the shortest published window, counted from today.
    """
    newest: dict[str, tuple[Row, int]] = {}
    resent: list[Arrival] = []
    for call in calls:
        if call.name in SENT_AGAIN:
            resent.append((_by_policy(None, store), call.index, False))
        for order in _orders(call.result):
            newest[str(order["order_id"])] = ({**newest.get(str(order["order_id"]), ({}, 0))[0], **order}, call.index)
    if not newest and not resent:
        return _by_policy(None, store), None, False
    arrivals = [*resent, *(a for order, index in newest.values() for a in _of_order(order, index, store))]
    return min(arrivals, key=lambda arrival: arrival[0], default=None)


def _orders(result: Any) -> Iterator[Row]:
    return (row for row in orders_in(result) if "order_id" in row and isinstance(row.get("parcels"), list))


def _of_order(order: Row, index: int, store: World) -> Iterator[Arrival]:
    today = store.now.date()
    parcels = [p for p in order["parcels"] if isinstance(p, dict)]
    for parcel in parcels:
        due = as_day(parcel.get("estimated_delivery"))
        if due is not None and not parcel.get("delivered_at"):
            yield max(due, today), index, True
    if order.get("reshipments") or (not parcels and order.get("status") != "cancelled"):
        address = order.get("shipping_address")
        yield _by_policy(address.get("country") if isinstance(address, dict) else None, store), index, False


def _by_policy(country: Any, store: World) -> date:
    """Return the end of the shortest published window from today, for one or all countries."""
    windows = store.policy.get("shipping", {}).get("business_days", {})
    shortest = min((w[0] for c, w in windows.items() if country in (None, c)), default=0)
    return add_business_days(store.now.date(), shortest, store)


PICTURES: tuple[str, ...] = ("photo", "label")
"""Slots of a case that contain a picture."""


def identity_slots(case: Played, asked: set[str]) -> list[str]:
    """Return the order number's slot if it can still be asked for, else name and postcode."""
    number = case.ledger.get("order_id")
    return ["order_id"] if number and number.when != "never" and "order_id" not in asked else ["name", "postcode"]


def evidence_slots(call: Any, case: Played, store: World, attached: set[str], known: set[str]) -> list[str]:
    """Return the slots to ask for: a replacement's picture, or checks before a reshipment."""
    ledger = case.ledger
    if call.tool == "create_replacement" and not attached.intersection(PICTURES):
        return [s for s in PICTURES if s in ledger and ledger[s].attach and ledger[s].when != "never"][:1]
    if call.tool == "create_reshipment" and _delivered(call.arguments, store):
        return [s for s in ("address_checked", "neighbours_checked") if s in ledger and s not in known]
    return []


def _delivered(arguments: dict[str, Any], store: World) -> bool:
    order = store.tables["orders"].get(arguments.get("order_id", ""))
    return order is not None and any(delivered(order, line) for line in arguments.get("line_ids", []))


def described(arguments: dict[str, Any], tool: str, store: World) -> dict[str, str]:
    """Return the variant, items, address and return link of a call in words."""
    values = {}
    if "variant_id" in arguments:
        product, variant = variants(store)[arguments["variant_id"]]
        named = (product["title"], variant.get("color"), variant.get("size"))
        values["variant"] = ", ".join(str(x) for x in named if x)
    if "line_ids" in arguments:
        order = store.tables["orders"][arguments["order_id"]]
        values["items"] = " + ".join(x["title"] for x in order["lines"] if x["line_id"] in arguments["line_ids"])
    if isinstance(arguments.get("address"), dict):
        values["address"] = ", ".join(str(v) for v in arguments["address"].values() if v)
    if tool == "start_return":
        values["return_link"] = return_link(store.policy, arguments["order_id"])
    return values


def everything(call: Callable[..., ToolCall], case: Played, words: str) -> list[Any]:
    """Return everything that a sender's address and the words of an email find."""
    results = [call("find_orders", email=case.sender).result, call("get_customer", email=case.sender).result]
    for order in results[0].get("orders", [])[:4]:
        shown = call("get_order", order_id=order["order_id"]).result
        results += [shown, call("track_shipment", order_id=order["order_id"]).result]
        results += [call("get_product", product_id=line["product_id"]).result for line in shown.get("lines", [])[:1]]
    return [*results, call("search_knowledge_base", query=words).result, call("search_products", query=words).result]
