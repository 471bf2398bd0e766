"""Decide who may learn details of an order, and check a retail desk's process rules."""

import re
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from ...language.sentences import fold, kept, parts, squash
from ...language.values import (
    country_code,
    has_part,
    is_po_box,
    name_words,
    spaced,
    stands_in,
    values_in,
)
from ...language.word_lists import any_of
from ...records import Message, ToolCall, as_text
from ...remembered import remembered
from ..files import leaves
from ..kinds import Row, Store
from ..rules import (
    Before,
    business_days_between,
    confirmation,
    setting,
    within_months,
)
from .offers import orders_in, orders_of, public_amounts, variants
from .tools import return_link

ORDER_TOOLS = frozenset({"get_order", "track_shipment", "find_orders"})
"""Tools that show orders."""
SHORTEST_WORD = 4
"""Minimum number of letters in a word by which a customer names an item."""


def identity(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """The customer had proved identity: order number and matching email, or name and postcode."""
    return proved(_order(call, store), before, store, parameters)


def identity_in_words(message: Message, before: Before, store: Store, parameters: dict[str, Any]) -> bool | None:
    """Return False if the message discloses an order to someone not proved to be its buyer.

    Return True if the customer proved to be the buyer of every opened order, else None.
    """
    seen = _opened(before, store)
    if not seen:
        return None
    buyers = {order["customer_id"]: order for order in seen}
    strangers = {buyer for buyer, order in buyers.items() if not proved(order, before, store, parameters)}
    unproved = [order for order in seen if order["customer_id"] in strangers]
    if not unproved:
        return True
    proved_ids = [order["order_id"] for order in seen if order not in unproved]
    words = "\n".join(kept(m.text) for m in before.messages if m.side == "customer")
    own = f"{words}\n{before.sender_name}\n{before.sender}"
    told = any(_discloses(order, proved_ids, message.text, own, before, store) for order in unproved)
    return False if told else None


def proved(order: Row, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """Return whether the customer has proved, in this conversation, to be an order's buyer."""
    known = _proofs(order["customer_id"], store)
    given = _given(order["customer_id"], before, store) if parameters.get("sender_counts") else {}
    proofs = {fact: {squash(v) for v in before.gave(fact)} & known[fact] or given.get(fact) for fact in known}
    return any(all(proofs[fact] for fact in way) for way in parameters["needs_any"])


@lru_cache(maxsize=4096)
def _proofs(customer_id: str, store: Store) -> dict[str, set[str]]:
    customer, orders = store.tables["customers"][customer_id], orders_of(store)[customer_id]
    places = customer["addresses"] + [o["shipping_address"] for o in orders]
    known = {
        "order_id": [o["order_id"] for o in orders],
        "email": [customer["email"]],
        "name": [customer["name"], *(o["shipping_address"]["name"] for o in orders)],
        "postcode": [a["postcode"] for a in places],
    }
    return {fact: {squash(v) for v in values} for fact, values in known.items()}


def _given(customer_id: str, before: Before, store: Store) -> dict[str, bool]:
    """Return the proofs in the email's header or the customer's words, except a new postcode."""
    customer, orders = store.tables["customers"][customer_id], orders_of(store)[customer_id]
    messages = [kept(m.text) for m in before.messages if m.side == "customer"]
    words, who = fold("\n".join(messages)), before.sender_name
    new = {squash(detail) for detail in before.gave("address")}
    postcodes = {o["shipping_address"]["postcode"] for o in orders}
    old = [p for p in postcodes if not any(squash(p) in address for address in new)]
    return {
        "order_id": any(_contains(o["order_id"], words) for o in orders),
        "email": fold(customer["email"]) == fold(before.sender) or _contains(customer["email"], words),
        "name": name_words(customer["name"]) == name_words(who) or stands_in("name", customer["name"], words),
        "postcode": any(re.search(spaced(p), words) for p in old),
    }


def _contains(value: str, words: str) -> bool:
    """Return whether folded words contain a number or email address as a whole word."""
    return (v := fold(value)) in words and re.search(rf"(?<![\w.+-]){re.escape(v)}(?![\w-]|\.\w)", words) is not None


def _opened(before: Before, store: Store) -> list[Row]:
    numbers: dict[str, None] = {}
    for call in before.calls:
        shown = orders_in(call.result) if call.side == "agent" and call.name in ORDER_TOOLS else ()
        numbers |= {str(row["order_id"]): None for row in shown if "order_id" in row}
    orders = store.tables["orders"]
    return [orders[number] for number in numbers if number in orders]


@lru_cache(maxsize=4096)
def _details(number: str, store: Store) -> frozenset[tuple[str, str]]:
    """Return the details of an order that can be recognized in a text with certainty, by kind."""
    order = store.tables["orders"][number]
    address = order["shipping_address"]
    details = {("id", number), ("link", return_link(store.policy, number)), ("postcode", address["postcode"])}
    details |= {("street", address["line1"]), ("place", fold(f"{address['city']}, {address['region']}"))}
    details |= {("card", p["method"]) for p in order["payments"] if " " in p["method"]}
    details |= {("title", line["title"]) for line in order["lines"]}
    for key, value in ((key, value) for key, value in leaves(order) if value is not None):
        if key.endswith("_cents"):
            details.add(("money", str(value)))
        elif key in ("at", "placed_at", "shipped_at", "delivered_at", "estimated_delivery", "date"):
            details.add(("date", str(value)[:10]))
        elif key.endswith("_url"):
            details.add(("link", str(value)))
        elif key in ("tracking_number", "parcel_id", "payment_id"):
            details.add(("id", str(value)))
        elif key == "location":
            details.add(("place", fold(str(value))))
    return frozenset(details - _published(store))


@remembered("products", "policy")
def _published(store: Store) -> frozenset[tuple[str, str]]:
    """Return public amounts and days: those of goods, delivery and policy, and today."""
    days = {str(value) for _, value in leaves(store.policy) if re.fullmatch(r"\d{4}-\d\d-\d\d", str(value))}
    return frozenset(
        {("money", str(cents)) for cents in public_amounts(store)}
        | {("date", day) for day in {*days, store.now.date().isoformat()}}
    )


def _discloses(order: Row, theirs: list[str], text: str, own: str, before: Before, store: Store) -> bool:
    """Return whether a text discloses a detail unknown from the customer and `theirs`."""
    # A detail that two orders share, such as a day, belongs to neither.
    details = _details(order["order_id"], store).difference(*(_details(other, store) for other in theirs))
    text, year, known = kept(text), store.now.year, fold(own)
    words, known_values = fold(text), {(v.kind, v.value.rstrip("/")) for v in values_in(own, year)}
    disclosed = {value for part in parts(text) for value in _values_stated(part, known_values, year)} - known_values

    def told(kind: str, value: str) -> bool:
        match kind:
            case "postcode":
                return bool(re.search(spaced(value), words) and not re.search(spaced(value), known))
            case "street":
                return stands_in("line1", value, text) and not stands_in("line1", value, own)
            case "place":
                return value in words and value.partition(",")[0] not in known
            case "card":
                brand, _, last = value.rpartition(" ")
                return bool(brand in words and re.search(rf"\b{last}\b", words) and last not in known)
            case "title":
                return _names(value, text, own, before)
        return False

    return bool(disclosed & details) or any(told(kind, value) for kind, value in details)


def _values_stated(sentence: str, known_values: set[tuple[str, str]], year: int) -> set[tuple[str, str]]:
    """Return a sentence's values, without days if it only speculates about a known day."""
    values = {(v.kind, v.value.rstrip("/")) for v in values_in(sentence, year)}
    supposed = any(kind == "date" for kind, _ in values & known_values) and _may_have_been().search(sentence)
    return {(kind, value) for kind, value in values if not (supposed and kind == "date")}


@lru_cache(maxsize=1)
def _may_have_been() -> re.Pattern[str]:
    """Return the pattern for speculation about the past; its case tells May from the verb."""
    return re.compile(rf"\b(?:{any_of('values', 'may_have_been')})")


def _names(title: str, text: str, own: str, before: Before) -> bool:
    """Return whether a text names an item known from the order but not from the customer."""
    if squash(title) not in squash(text):
        return False
    own_words = squash(own)
    if any(squash(word) in own_words for word in title.split() if len(word) >= SHORTEST_WORD):
        return False
    return not any(title in as_text(call.result) for call in before.calls if call.name not in ORDER_TOOLS)


# --- Process rules


def evidence(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """A replacement had its photo or label; a reshipment had missing weight or a lost parcel."""
    needed = parameters["guards"][call.name]
    if "attachments_any" in needed:
        return before.did("attached", set(needed["attachments_any"]))
    order = _order(call, store)
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


def window(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """The call is within its window after delivery, or the order is still unfulfilled."""
    order = _order(call, store)
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


def recipient(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """A new address has the same recipient, a served country, and no forwarder or PO box abroad."""
    order = _order(call, store)
    new, needed = call.named["address"], parameters["guards"][call.name]
    country, text = country_code(new["country"]), " ".join(str(v) for v in new.values() if v).casefold()
    forwarders = setting(store, needed["freight_forwarder"])
    return (
        name_words(new["name"]) == name_words(order["shipping_address"]["name"])
        and country in setting(store, needed["served_country"])
        and not any(re.search(rf"\b{re.escape(w)}\b", text) for w in forwarders["name_words"])
        and not any(has_part("line1", f["line1"], new) for f in forwarders["addresses"])
        and (
            country in setting(store, needed["po_box_countries"])
            or not (is_po_box(new) or any(w in text for w in store.policy["po_box"]["words"]))
        )
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


RULES = {f.__name__: f for f in (identity, confirmation, evidence, lookup, window, recipient)}
"""Predicates by their names in the policy."""
TELLINGS = {"identity": identity_in_words}
"""Rules that also guard messages."""


def delivered(order: Row, line_id: str) -> datetime | None:
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


def _same_price_in_stock(call: ToolCall, order: Row, store: Store) -> bool:
    line = next(x for x in order["lines"] if x["line_id"] == call.named["line_id"].upper())
    product, variant = variants(store)[call.named["variant_id"].upper()]
    _, old = variants(store)[line["variant_id"]]
    return (
        product["product_id"] == line["product_id"]
        and variant["price_cents"] == old["price_cents"]
        and variant["stock"] > 0
    )


def _weight_short(order: Row, line_ids: list[str], store: Store, rule: dict[str, Any]) -> bool:
    wanted = {x.upper() for x in line_ids}
    lines = [x for x in order["lines"] if x["line_id"] in wanted]
    weight = sum(x["quantity"] * variants(store)[x["variant_id"]][1]["weight_g"] for x in lines)
    short = sum(p["expected_weight_g"] - p["packed_weight_g"] for p in order["parcels"] if wanted & set(p["lines"]))
    return short > 0 and abs(short - weight) <= setting(store, rule["tolerance_g"])


def _not_received(order: Row, before: Before, store: Store, rule: dict[str, Any]) -> bool:
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


def _parcel_lost(parcel: Row, before: Before, store: Store, rule: dict[str, Any]) -> bool:
    if parcel["delivered_at"]:
        hours = (store.now - datetime.fromisoformat(parcel["delivered_at"])).total_seconds() / 3600
        checks = all(before.gave(f"{c}_checked") for c in setting(store, rule["customer_checks"]))
        return hours >= setting(store, rule["delivered_scan_hours"]) and checks
    last = max((s["at"] for s in parcel["scans"]), default=parcel["shipped_at"])
    idle = business_days_between(datetime.fromisoformat(last).date(), store.now.date(), store)
    return idle >= setting(store, rule["no_scan_business_days"])


def _order(call: ToolCall, store: Store) -> Row:
    # The KeyError for an unknown number leaves the call unjudged.
    return store.tables["orders"][str(call.named["order_id"]).upper()]
