"""Compare statements about a retail desk's orders with calls and results."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import Any

from ...language.sentences import plain, squash
from ...language.values import WINDOWS, values_in
from ...language.word_lists import books
from ...records import ToolCall, as_text
from ...store import Store
from ...store.retail.offers import by_email, orders_in, variants
from ...store.rules import add_business_days, as_day

Row = dict[str, Any]
Arrival = tuple[date, int | None, bool]
SENT_AGAIN = ("create_replacement", "create_reshipment")
"""Calls after which goods are sent again."""


LEFT_BY = {
    "create_reshipment": "reshipments",
    "create_replacement": "replacements_in_this_conversation",
    "start_return": "returns",
    "open_carrier_claim": "claims",
}
"""Field of a tool's result that shows an action from before this conversation."""
EDIT = "update_line_item"
"""Tool whose text may also name the line's previous variant."""
DAY = 14
"""Characters of a day or a window, roughly."""
MOST_VALUES = 60
"""Most values of a message to compare; no person writes so many."""


@dataclass(frozen=True)
class Comparisons:
    """Functions that compare words with one kind of desk's records; the defaults find nothing."""

    shows: Callable[[Any, str, str], bool] = lambda result, tool, sentence: False
    """True if a result shows that a tool's action was done before."""
    differs: Callable[[ToolCall, str, Store], str | None] = lambda call, text, store: None
    """The part of a text that contradicts the call; None without a contradiction."""
    arrives: Callable[[list[ToolCall], Store], Arrival | None] = lambda calls, store: None
    """The first day on which goods can arrive; None if none are due."""
    proves: Callable[[str, Any, Any, Store], bool] = lambda slot, value, case, store: True
    """True if a customer's value is useful, so that asking again is wrong."""
    private: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Fields that a colleague does not need, each with the queues that do need it."""


def comparisons(store: Store) -> Comparisons:
    """Return the comparisons for a store's kind of desk."""
    return RETAIL if store.kind.name == "retail" else Comparisons()


def shows(result: Any, tool: str, sentence: str) -> bool:
    """Return whether a result shows the claimed state: cancelled, returned or sent before."""
    for row in orders_in(result):
        if row.get(LEFT_BY.get(tool, "")):
            return True
        if tool == "cancel_order" and row.get("status") == "cancelled":
            return True
        address = row.get("shipping_address")
        if (
            tool == "update_shipping_address"
            and isinstance(address, dict)
            and squash(str(address.get("line1", "-"))) in squash(sentence)
        ):
            return True
    return False


def proves(slot: str, value: Any, case: Any, store: Store) -> bool:
    """Return whether a value is useful; another buyer's number or postcode proves nothing."""
    rows, value = store.tables["orders"], str(value).upper()
    if slot == "postcode":
        own = rows.keys() & {case.order, *case.others.values()}
        return value in {rows[number]["shipping_address"]["postcode"] for number in own}
    buyer = by_email(store).get(case.sender.lower(), {}).get("customer_id", "")
    return slot != "order_id" or rows.get(value, {}).get("customer_id") == buyer


def differs(call: ToolCall, text: str, store: Store) -> str | None:
    """Return the part of a text that contradicts its call; None if all comparable parts agree."""
    return next((name for name, check in _PARTS.items() if check(call, text, store)), None)


def _order(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a text names order numbers of the call's shape, but not the call's own."""
    called = _name(call, "order_id")
    shape = re.sub(r"\d", r"\\d", re.escape(called))
    named = {v.value for v in values_in(text, store.now.year) if v.kind == "id" and re.fullmatch(shape, v.value)}
    return bool(named and called) and called not in named


def _product(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a call replaces a line with another product that the text does not name."""
    known = variants(store).get(_name(call, "variant_id"))
    line = next((x for x in _order_of(call, store)["lines"] if x["line_id"] == _name(call, "line_id")), None)
    if known is None or line is None or not text.strip():
        return False
    ordered = variants(store).get(str(line["variant_id"]).upper())
    if ordered is None or ordered[0] is known[0]:
        return False
    own = _title_words(known[0]) - _title_words(ordered[0])
    return own.isdisjoint(re.findall(r"[^\W_]+", plain(text)))


def _title_words(product: Row) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", plain(str(product.get("title", "")))) if len(word) > 2}


def _variant(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a text names options (of an edited line, changed ones) that the call lacks."""
    known = variants(store).get(_name(call, "variant_id"))
    if known is None:
        return False
    product, variant = known
    line = next((x for x in _order_of(call, store)["lines"] if x["line_id"] == _name(call, "line_id")), None)
    old = variants(store)[line["variant_id"]][1] if line and call.name == EDIT else {}
    words = plain(text)
    for option in product.get("options") or ():
        if old and old.get(option) == variant.get(option):
            continue
        values = {str(v[option]) for v in product["variants"] if v.get(option)}
        named = {v for v in values if re.search(rf"(?<!\w)(?:{_spelled(v)})(?!\w)", words)}
        if named - {str(old.get(option))} and str(variant.get(option)) not in named:
            return True
    return False


@lru_cache(maxsize=512)
def _spelled(value: str) -> str:
    known = [book["options"][value] for book in books().values() if value in book.get("options", ())]
    return "|".join([re.escape(plain(value).strip()), *known])


def _item(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether a text names lines of the order, but none of the call's."""
    lines = _order_of(call, store)["lines"]
    several = call.named.get("line_ids")
    called = several if isinstance(several, list) and several else [_name(call, "line_id")]
    wanted = {x.upper() for x in called if isinstance(x, str)} - {""}
    words = squash(text)
    named = {x["title"] for x in lines if squash(x["title"]) in words}
    return bool(named and wanted) and not named & {x["title"] for x in lines if x["line_id"] in wanted}


def _order_of(call: ToolCall, store: Store) -> Row:
    order: Row = store.tables.get("orders", {}).get(_name(call, "order_id")) or {"lines": []}
    return order


def _name(call: ToolCall, argument: str) -> str:
    value = call.named.get(argument)
    return value.upper() if isinstance(value, str) else ""


def _address(call: ToolCall, text: str, store: Store) -> bool:
    """Return whether the text states an address that contradicts the call's.

    Its numbers, such as a house number, contradict the call if none is in the address. So does an unknown number next
    to the address's street or postcode, unless the order's address on file has it.
    """
    address = call.named.get("address")
    if not isinstance(address, dict):
        return False
    known = squash(" ".join(v if isinstance(v, str) else as_text(v) for v in address.values() if v))
    street = max(re.findall(r"[^\W\d_]{4,}", as_text(address.get("line1") or "")), key=len, default="")
    marks = [squash(m) for m in (as_text(address.get("postcode") or ""), street) if m]
    old = _numbers_of(as_text(_order_of(call, store).get("shipping_address") or ""), store)
    lines = [_numbers_of(line, store) for line in text.splitlines() if any(m in squash(line) for m in marks)]
    if any(n not in known for numbers in lines for n in numbers - old):
        return True
    numbers = _numbers_of(text, store)
    return bool(numbers) and not any(n in known for n in numbers)


def _numbers_of(text: str, store: Store) -> set[str]:
    # Digits in amounts, days, order numbers and measures ("Daypack 22L") do not count.
    rest = text
    for value in values_in(text, store.now.year)[:MOST_VALUES]:
        length = DAY if value.kind in ("date", *WINDOWS) else len(value.value)
        rest = rest[: value.at] + " " * length + rest[value.at + length :]
    return {re.sub(r"(?<=\d)(?:st|nd|rd|th|er|e)$", "", squash(t)) for t in re.findall(_WITH_DIGITS, rest)} - {""}


_WITH_DIGITS = re.compile(r"(?<![\w-])(?!\d+(?:l|ml|w|cm|kg|g)\b)[\w-]{0,40}\d[\w-]{0,40}", re.I)


def first_arrival(calls: list[ToolCall], store: Store) -> Arrival | None:
    """Return the earliest arrival that the agent's calls show; None if no goods are due.

    The result is the day, the index of the call that shows it (None without a looked-up order), and whether the carrier
    expects it. If not, the day is the end of the shortest published window, counted from today.
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


def _of_order(order: Row, index: int, store: Store) -> Iterator[Arrival]:
    today = store.now.date()
    parcels = [p for p in order["parcels"] if isinstance(p, dict)]
    for parcel in parcels:
        due = as_day(parcel.get("estimated_delivery"))
        if due is not None and not parcel.get("delivered_at"):
            yield max(due, today), index, True
    if order.get("reshipments") or (not parcels and order.get("status") != "cancelled"):
        address = order.get("shipping_address")
        yield _by_policy(address.get("country") if isinstance(address, dict) else None, store), index, False


def _by_policy(country: Any, store: Store) -> date:
    """Return the end of the shortest published window from today, for one or all countries."""
    windows = store.policy.get("shipping", {}).get("business_days", {})
    shortest = min((w[0] for c, w in windows.items() if country in (None, c)), default=0)
    return add_business_days(store.now.date(), shortest, store)


_PARTS = {"order_id": _order, "product": _product, "variant": _variant, "item": _item, "address": _address}
RETAIL = Comparisons(
    shows, differs, first_arrival, proves, private={"phone": frozenset(), "method": frozenset({"billing"})}
)
