"""Find the first day on which goods can arrive, from the calls of a conversation."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from ...records import ToolCall
from ..calendar import add_business_days, as_day
from ..protocols import Row, World
from .claims import orders_in

SENT_AGAIN = ("create_replacement", "create_reshipment")
"""Calls after which goods are sent again."""
Arrival = tuple[date, int | None, bool]


def arrives(calls: list[ToolCall], store: World) -> Arrival | None:
    """Return the earliest arrival that the agent's calls show; None if no goods are to come.

    It is the day, the index of the call that shows it (None without a looked-up order), and whether the carrier expects
    it. Otherwise the day is the end of the shortest published window, counted from today.
    """
    newest: dict[str, tuple[Row, int]] = {}
    again: list[Arrival] = []
    for call in calls:
        if call.name in SENT_AGAIN:
            again.append((_by_policy(None, store), call.index, False))
        for order in _orders(call.result):
            newest[str(order["order_id"])] = ({**newest.get(str(order["order_id"]), ({}, 0))[0], **order}, call.index)
    if not newest and not again:
        return _by_policy(None, store), None, False
    found = [*again, *(a for order, index in newest.values() for a in _of_order(order, index, store))]
    return min(found, key=lambda arrival: arrival[0], default=None)


def _orders(result: Any) -> Iterator[Row]:
    """Return the orders of a result that list their parcels."""
    return (row for row in orders_in(result) if "order_id" in row and isinstance(row.get("parcels"), list))


def _of_order(order: Row, index: int, store: World) -> Iterator[Arrival]:
    """Yield the arrivals still to come for one order."""
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
    """Return the end of the shortest published window, of a country or of all, from today."""
    windows = store.policy.get("shipping", {}).get("business_days", {})
    shortest = min((w[0] for c, w in windows.items() if country in (None, c)), default=0)
    return add_business_days(store.now.date(), shortest, store)
