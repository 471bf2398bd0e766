"""Check a retail desk's process rules, with the guarded calls and numbers from the policy."""

import re
from datetime import date, datetime, timedelta
from typing import Any

from ...language.addresses import country_code, has_part, is_po_box, name_words
from ...records import ToolCall
from ..calendar import business_days_between, within_months
from ..consent import confirmation
from ..protocols import Store
from ..rules import Before, setting
from .identity import identity, identity_in_words
from .rows import variants


def evidence(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool | None:
    """A replacement had its photo or label; a reshipment had missing weight or a lost parcel."""
    needed = parameters["guards"][call.name]
    if "attachments_any" in needed:
        return before.did("attached", set(needed["attachments_any"]))
    order = _order(call, store)
    if order is None:
        return None
    if all(_granted(call, line_id, store) for line_id in call.named["line_ids"]):
        return True
    if _weight_short(order, call.named["line_ids"], store, parameters["missing_item"]):
        return True
    return _not_received(order, before, store, parameters["not_received"])


def lookup(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """The order was looked up before anything was done to it."""
    wanted = call.named["order_id"].casefold()
    for earlier in before.calls:
        if earlier.name not in parameters["needs_call_any"]:
            continue
        seen = [earlier.named.get("order_id") or ""] + [o["order_id"] for o in earlier.result.get("orders", [])]
        if wanted in (s.casefold() for s in seen):
            return True
    return False


def window(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool | None:
    """The call is within its window after delivery, or the order is still unfulfilled."""
    order = _order(call, store)
    if order is None:
        return None
    needed = parameters["guards"][call.name]
    if "status" in needed:
        few = len(order["parcels"]) <= setting(store, needed["max_parcels"])
        open_ = order["status"] in setting(store, needed["status"]) and few
        return open_ and (call.name != "update_line_item" or _same_price_in_stock(call, order, store))
    ways = [needed] if "from" in needed else list(needed.values())
    line_ids = call.named.get("line_ids") or [call.named["line_id"]]
    return all(
        _granted(call, line_id, store) or any(_within(delivered(order, line_id), way, store) for way in ways)
        for line_id in line_ids
    )


def recipient(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool | None:
    """A new address has the same recipient, a served country, and no forwarder or PO box abroad."""
    order = _order(call, store)
    if order is None:
        return None
    new, needed = call.named["address"], parameters["guards"][call.name]
    country = country_code(new["country"])
    return (
        name_words(new["name"]) == name_words(order["shipping_address"]["name"])
        and country in setting(store, needed["served_country"])
        and not _forwards(new, setting(store, needed["freight_forwarder"]))
        and (country in setting(store, needed["po_box_countries"]) or not _is_box(new, store))
    )


def _granted(call: ToolCall, line_id: str, store: Store) -> bool:
    """Return whether an earlier ticket grants the call for a line and is still valid."""
    return any(
        (grant["tool"], ticket["order_id"], grant["line_id"])
        == (call.name, str(call.named["order_id"]).upper(), line_id.upper())
        and store.now.date() <= date.fromisoformat(grant["until"])
        for ticket in store.tables.get("history", {}).values()
        for grant in ticket.get("granted", ())
    )


def _forwards(address: dict[str, Any], forwarders: dict[str, Any]) -> bool:
    """Return whether an address is a forwarder's, by its name or its street in any spelling."""
    text = " ".join(str(v) for v in address.values() if v).casefold()
    named = any(re.search(rf"\b{re.escape(w)}\b", text) for w in forwarders["name_words"])
    return named or any(has_part("line1", f["line1"], address) for f in forwarders["addresses"])


def _is_box(address: dict[str, Any], store: Store) -> bool:
    text = " ".join(str(v) for v in address.values() if v).casefold()
    return is_po_box(address) or any(w in text for w in store.policy["po_box"]["words"])


RULES = {f.__name__: f for f in (identity, confirmation, evidence, lookup, window, recipient)}
"""Predicates by their names in the policy."""
TELLINGS = {"identity": identity_in_words}
"""Rules that also guard messages."""


def delivered(order: dict[str, Any], line_id: str) -> datetime | None:
    """Return when the line was delivered; None if it was not."""
    times = [p["delivered_at"] for p in order["parcels"] if line_id.upper() in p["lines"] and p["delivered_at"]]
    return datetime.fromisoformat(max(times)) if times else None


def _within(since: datetime | None, way: dict[str, Any], store: Store) -> bool:
    if since is None:
        return False
    today, start = store.now.date(), since.date()
    if "within_days" in way:
        return (today - start).days <= setting(store, way["within_days"])
    return within_months(start, today, setting(store, way["within_months"]))


def _same_price_in_stock(call: ToolCall, order: dict[str, Any], store: Store) -> bool:
    line = next(x for x in order["lines"] if x["line_id"] == call.named["line_id"].upper())
    product, variant = variants(store)[call.named["variant_id"].upper()]
    _, old = variants(store)[line["variant_id"]]
    return (
        product["product_id"] == line["product_id"]
        and variant["price_cents"] == old["price_cents"]
        and variant["stock"] > 0
    )


def _weight_short(order: dict[str, Any], line_ids: list[str], store: Store, rule: dict[str, Any]) -> bool:
    wanted = {x.upper() for x in line_ids}
    lines = [x for x in order["lines"] if x["line_id"] in wanted]
    weight = sum(x["quantity"] * variants(store)[x["variant_id"]][1]["weight_g"] for x in lines)
    short = sum(p["expected_weight_g"] - p["packed_weight_g"] for p in order["parcels"] if wanted & set(p["lines"]))
    return short > 0 and abs(short - weight) <= setting(store, rule["tolerance_g"])


def _not_received(order: dict[str, Any], before: Before, store: Store, rule: dict[str, Any]) -> bool:
    if order["subtotal_cents"] - order["discount_cents"] > setting(store, rule["max_order_total_cents"]):
        return False
    if len(order["reshipments"]) > setting(store, rule["max_reshipments"]):
        return False
    customer = store.tables["customers"][order["customer_id"]]
    oldest = store.now.date() - timedelta(days=round(setting(store, rule["no_claim_months"]) * 30.4375))
    kinds = setting(store, rule["no_claim_kinds"])
    if any(c["kind"] in kinds and date.fromisoformat(c["date"]) >= oldest for c in customer["claims"]):
        return False
    return any(_parcel_lost(p, before, store, rule["any_parcel"]) for p in order["parcels"])


def _parcel_lost(parcel: dict[str, Any], before: Before, store: Store, rule: dict[str, Any]) -> bool:
    if parcel["delivered_at"]:
        hours = (store.now - datetime.fromisoformat(parcel["delivered_at"])).total_seconds() / 3600
        checks = all(before.gave(f"{c}_checked") for c in setting(store, rule["customer_checks"]))
        return hours >= setting(store, rule["delivered_scan_hours"]) and checks
    last = max((s["at"] for s in parcel["scans"]), default=parcel["shipped_at"])
    idle = business_days_between(datetime.fromisoformat(last).date(), store.now.date(), store)
    return idle >= setting(store, rule["no_scan_business_days"])


def _order(call: ToolCall, store: Store) -> dict[str, Any] | None:
    return store.tables["orders"].get(str(call.named["order_id"]).upper())
