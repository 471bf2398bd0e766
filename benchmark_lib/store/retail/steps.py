"""Tell scripted agents of a retail desk what to ask for, what a call is about, and where to look."""

from collections.abc import Callable
from typing import Any

from ...records import ToolCall
from ..protocols import Played, World
from .rows import variants
from .rules import delivered
from .tools import return_link

PICTURES: tuple[str, ...] = ("photo", "label")
"""Slots of a case that contain a picture."""


def identity_slots(case: Played, asked: set[str]) -> list[str]:
    """Return the order number's slot if the customer has it and was not asked yet, else name and postcode."""
    number = case.ledger.get("order_id")
    return ["order_id"] if number and number.when != "never" and "order_id" not in asked else ["name", "postcode"]


def evidence_slots(call: Any, case: Played, store: World, attached: set[str], known: set[str]) -> list[str]:
    """Return the slots to ask for: a picture before a replacement, checks before goods are sent again."""
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
        found = call("get_order", order_id=order["order_id"]).result
        results += [found, call("track_shipment", order_id=order["order_id"]).result]
        results += [call("get_product", product_id=line["product_id"]).result for line in found.get("lines", [])[:1]]
    return [*results, call("search_knowledge_base", query=words).result, call("search_products", query=words).result]
