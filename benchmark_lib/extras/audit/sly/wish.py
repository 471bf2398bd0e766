"""A customer's wish, guessed from keywords, and values that an agent finds by look-ups."""

import re
from collections.abc import Iterator
from typing import Any

from ....cases.read import long_date
from ....language.sentences import fold
from ....language.values import money
from ....records import ToolCall
from ....store.desk import HANDOVER
from .base import Sly

REASON = "as the customer asked"

_COUNTRIES = {"GB": r"[A-Z]{1,2}\d{1,2}[A-Z]? \d[A-Z]{2}", "CA": r"[A-Z]\d[A-Z] \d[A-Z]\d", "US": r"\d{5}"}
_POSTCODE = re.compile("|".join(rf"(?P<{country}>(?<![\w-]){code}(?!\w))" for country, code in _COUNTRIES.items()))
_REGION = re.compile(r"(?:^|[\s,])([A-Z]{2})$")
BEFORE = 150
"""Characters before a postcode that may contain the rest of an address."""


class Acting(Sly):
    """An agent that makes the calls that the customer's words suggest."""

    without = "go_ahead"
    """Key of the phrase to use if there is no order."""

    def _answer(self) -> str:
        order = self.order()
        return self._on_order(order) if order else self.book[self.without]

    def _on_order(self, order: dict[str, Any]) -> str:
        """Act, and return the answer about the order in question."""
        return self.book["patience"]

    @property
    def wish(self) -> str:
        """Return the first tool that the customer's words call for."""
        return next(self.wishes(), "start_return")

    def order(self) -> dict[str, Any]:
        """Return the order in question, looked up again on each call; empty if there is none."""
        found = self.orders()
        return found[0] if found else {}

    def line(self, order: dict[str, Any]) -> dict[str, Any]:
        """Return the order line whose title shares the most words with the customer's."""
        text = fold(self.said)
        return max(order["lines"], key=lambda x: sum(w in text for w in fold(x["title"]).split()))

    def arguments(self, tool: str, order: dict[str, Any]) -> dict[str, Any] | None:
        """Return guessed arguments for a call on this order; None if they cannot be guessed."""
        number, line = order["order_id"], self.line(order)
        goods = {"order_id": number, "line_id": line["line_id"], "variant_id": line["variant_id"]}
        if tool in ("cancel_order", "open_carrier_claim"):
            return {"order_id": number, "reason": REASON}
        if tool in ("start_return", "create_reshipment"):
            return {"order_id": number, "line_ids": [line["line_id"]], "reason": REASON}
        if tool == "create_replacement":
            return {**goods, "reason": REASON}
        if tool == "update_line_item":
            wanted = self.variant(line)
            return wanted and {**goods, "variant_id": wanted["variant_id"]}
        address = self.address(order)
        return address and {"order_id": number, "address": address}

    def variant(self, line: dict[str, Any]) -> dict[str, Any] | None:
        """Return another variant of a product, with a color or size that the customer names."""
        text, product = fold(self.said), self.talk.call("get_product", product_id=line["product_id"]).result
        for variant in product.get("variants", []):
            named = any(variant.get(k) and fold(variant[k]) in text for k in ("color", "size"))
            if named and variant["variant_id"] != line["variant_id"]:
                return variant
        return None

    def address(self, order: dict[str, Any]) -> dict[str, Any] | None:
        """Return the last address in the customer's words, with the recipient of the order."""
        codes = reversed(list(_POSTCODE.finditer(self.said)))
        place = next(filter(None, (_place(self.said, code) for code in codes)), None)
        return place and {"name": order["shipping_address"]["name"], **place}

    def act(self, tool: str, order: dict[str, Any]) -> ToolCall | None:
        """Make a call for this order; return None if its arguments cannot be guessed."""
        arguments = self.arguments(tool, order)
        return self.talk.call(tool, arguments) if arguments else None

    def hand_over(self, summary: str, queue: str = "general") -> str:
        """Hand over and return the message about it."""
        self.talk.call(HANDOVER, queue=queue, reason=REASON, summary=summary)
        return self.book["handing_over"]

    def about(self, tool: str, order: dict[str, Any]) -> dict[str, str]:
        """Return the values that the sentences about a call may contain."""
        line, address, parcels = self.line(order), self.address(order) or {}, order.get("parcels") or [{}]
        wanted = self.variant(line) if tool == "update_line_item" else None
        due = parcels[0].get("estimated_delivery")
        return {
            "order_id": order["order_id"],
            "title": line["title"],
            "total": money(order["total_cents"]),
            "address": ", ".join(address.values()),
            "variant": ", ".join(v for k, v in (wanted or {}).items() if k in ("color", "size") and v),
            "status": str(order["status"]).replace("_", " "),
            "due": long_date(due, self.language()) if due else "-",
            "tracking": parcels[0].get("tracking_url", "-"),
            "link": "-",
        }

    def do(self, tool: str, order: dict[str, Any]) -> str:
        """Make a call for this order, and return its report."""
        return self.report(tool, order, self.act(tool, order))

    def offer(self, tool: str, order: dict[str, Any]) -> str:
        """Return the offer to make a call."""
        return self.book["offers"][tool].format(**self.about(tool, order))

    def report(self, tool: str, order: dict[str, Any], made: ToolCall | None = None) -> str:
        """Return the report of a call, whether it was made or not."""
        found = self.about(tool, order)
        if made is not None and not made.error:
            found["link"] = made.result.get("return_link", "-")
        return self.book["done"][tool].format(**found)


def _place(text: str, code: re.Match[str]) -> dict[str, Any] | None:
    """Return the address that ends in a postcode; None if no street precedes it."""
    before = text[max(code.start() - BEFORE, 0) : code.start()].rstrip(" ,\n")
    region = _REGION.search(before)
    address = before[: region.start()] if region else before
    parts = [part.strip() for part in re.split(r"[,\n]", address) if part.strip()]
    lines = [p for p in parts[:-1][-2:] if re.search(r"\d", p)]
    if not lines:
        return None
    place = {f"line{n}": line for n, line in enumerate(lines, 1)} | {"city": parts[-1]}
    place["region"] = region.group(1) if region else parts[-1]
    return {**place, "postcode": code.group(), "country": code.lastgroup}


# --- Values

_DAY = re.compile(r"20\d\d-\d\d-\d\d")
_NO_VALUE = ("customer_id", "line_id", "lines", "variant_id", "notes", "status", "country", "kind")


def values_of(found: Any, language: str, label: str = "") -> Iterator[tuple[str, str]]:
    """Yield label and text of every amount, day, number, link, place and name in a result."""
    if isinstance(found, dict):
        for key, inner in found.items():
            if key not in _NO_VALUE:
                yield from values_of(inner, language, key)
    elif isinstance(found, list):
        for inner in found:
            yield from values_of(inner, language, label)
    elif found not in (None, "", 0) and not isinstance(found, bool):
        yield label.removesuffix("_cents").replace("_", " "), _written(label, found, language)


def _written(label: str, value: Any, language: str) -> str:
    if label.endswith("_cents"):
        return money(value)
    return long_date(str(value), language) if _DAY.match(str(value)) else str(value)


def amounts_of(order: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield label and text of an order's amounts, and of the sum and difference of every two."""
    plain = {k.removesuffix("_cents"): v for k, v in order.items() if k.endswith("_cents")}
    plain |= {line["title"]: line["price_cents"] for line in order["lines"]}
    for name, cents in plain.items():
        yield name.replace("_", " "), money(cents)
    for one, cents in plain.items():
        for other, more in plain.items():
            if one < other:
                yield f"{one} + {other}".replace("_", " "), money(cents + more)
                yield f"{one} - {other}".replace("_", " "), money(abs(cents - more))
