"""Compare an agent's words about orders with calls and results."""

import re
from functools import lru_cache
from typing import Any

from ...language.sentences import plain, squash
from ...language.values import WINDOWS, values_in
from ...language.word_lists import books
from ...records import ToolCall, as_text
from ..every_desk import CLOSE, HANDOVER
from ..protocols import Played, Row, World
from .rows import by_email, variants

PROCEDURE = "run_procedure"
"""Procedure that an article names and describes."""
SENT = {"create_replacement", "create_reshipment"}
ALIKE = {
    **dict.fromkeys(SENT, SENT | {PROCEDURE}),
    CLOSE: {CLOSE, HANDOVER},
    "update_line_item": {"update_line_item", "update_shipping_address", PROCEDURE},
    "update_shipping_address": {"update_shipping_address", "update_line_item", *SENT},
    "open_carrier_claim": {"open_carrier_claim", PROCEDURE},
}
"""Tools whose call makes the claim of another tool true enough: goods are sent, or an order changes, either way."""
LEFT_BY = {
    "create_reshipment": "reshipments",
    "create_replacement": "replacements_in_this_conversation",
    "start_return": "returns",
    "open_carrier_claim": "claims",
}
"""Field of a tool's result that shows that an action was carried out before this conversation."""
EDIT = "update_line_item"
"""Tool whose text may also name the line's previous variant."""
DAY = 14
"""Approximate length of a day or a window in characters."""
MOST_VALUES = 60
"""Maximum number of values of a message that are compared; no person writes so many."""


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


def proves(slot: str, value: Any, case: Played, store: World) -> bool:
    """Return whether a value is useful; an order number of another buyer proves nothing."""
    if slot != "order_id":
        return True
    buyer = by_email(store).get(case.sender.lower(), {}).get("customer_id", "")
    return store.tables["orders"].get(str(value).upper(), {}).get("customer_id") == buyer


def orders_in(result: Any) -> list[Row]:
    """Return the result's order, or its orders, for any tool's result."""
    if not isinstance(result, dict):
        return []
    orders = result.get("orders")
    return [result, *(row for row in orders if isinstance(row, dict))] if isinstance(orders, list) else [result]


def differs(call: ToolCall, text: str, store: World) -> str | None:
    """Return the part of a text that contradicts its call; None if all comparable parts agree."""
    checks = (
        ("order_id", _order),
        ("product", _product),
        ("variant", _variant),
        ("item", _item),
        ("address", _address),
    )
    return next((name for name, check in checks if check(call, text, store)), None)


def _order(call: ToolCall, text: str, store: World) -> bool:
    """Return whether a text names order numbers of the call's shape, but not the call's own."""
    called = _name(call, "order_id")
    shape = re.sub(r"\d", r"\\d", re.escape(called))
    named = {v.value for v in values_in(text, store.now.year) if v.kind == "id" and re.fullmatch(shape, v.value)}
    return bool(named and called) and called not in named


def _product(call: ToolCall, text: str, store: World) -> bool:
    """Return whether a call replaces a line with another product that the text does not name."""
    known = variants(store).get(_name(call, "variant_id"))
    line = next((x for x in _lines(call, store) if x["line_id"] == _name(call, "line_id")), None)
    if known is None or line is None or not text.strip():
        return False
    ordered = variants(store).get(str(line["variant_id"]).upper())
    if ordered is None or ordered[0] is known[0]:
        return False
    own = _title_words(known[0]) - _title_words(ordered[0])
    return own.isdisjoint(re.findall(r"[^\W_]+", plain(text)))


def _title_words(product: Row) -> set[str]:
    return {word for word in re.findall(r"[^\W_]+", plain(str(product.get("title", "")))) if len(word) > 2}


def _variant(call: ToolCall, text: str, store: World) -> bool:
    """Return whether a text names options (for an edited line, changed ones) not in the call."""
    known = variants(store).get(_name(call, "variant_id"))
    if known is None:
        return False
    product, variant = known
    line = next((x for x in _lines(call, store) if x["line_id"] == _name(call, "line_id")), None)
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


def _item(call: ToolCall, text: str, store: World) -> bool:
    """Return whether a text names lines of the order, but none of the call."""
    lines = _lines(call, store)
    several = call.named.get("line_ids")
    wanted = (
        {x.upper() for x in several if isinstance(x, str)}
        if isinstance(several, list) and several
        else {_name(call, "line_id")} - {""}
    )
    words = squash(text)
    named = {x["title"] for x in lines if squash(x["title"]) in words}
    return bool(named and wanted) and not named & {x["title"] for x in lines if x["line_id"] in wanted}


def _lines(call: ToolCall, store: World) -> list[dict[str, Any]]:
    order = store.tables.get("orders", {}).get(_name(call, "order_id"))
    return order["lines"] if order else []


def _name(call: ToolCall, argument: str) -> str:
    value = call.named.get(argument)
    return value.upper() if isinstance(value, str) else ""


def _address(call: ToolCall, text: str, store: World) -> bool:
    """Return whether the text states an address that contradicts the call's.

    Its numbers, such as a house's, contradict the call if none is in the address. So does an unknown number next to the
    address's street or postcode.
    """
    address = call.named.get("address")
    if not isinstance(address, dict):
        return False
    known = squash(" ".join(v if isinstance(v, str) else as_text(v) for v in address.values() if v))
    street = max(re.findall(r"[^\W\d_]{4,}", as_text(address.get("line1") or "")), key=len, default="")
    postcode = address.get("postcode")
    marks = [squash(m) for m in (postcode if isinstance(postcode, str) else "", street) if m]
    lines = [_numbers_of(line, store) for line in text.splitlines() if any(m in squash(line) for m in marks)]
    if any(n not in known for numbers in lines for n in numbers):
        return True
    numbers = _numbers_of(text, store)
    return bool(numbers) and not any(n in known for n in numbers)


def _numbers_of(text: str, store: World) -> set[str]:
    # Digits in amounts, days and order numbers do not count.
    rest = text
    for value in values_in(text, store.now.year)[:MOST_VALUES]:
        length = DAY if value.kind in ("date", *WINDOWS) else len(value.value)
        rest = rest[: value.at] + " " * length + rest[value.at + length :]
    return {re.sub(r"(?<=\d)(?:st|nd|rd|th|er|e)$", "", squash(t)) for t in re.findall(_WITH_DIGITS, rest)} - {""}


_WITH_DIGITS = re.compile(r"[\w-]{0,40}\d[\w-]{0,40}")
