"""Name the values, rows, days and steps of a retail case, and what its customer knows."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from ...records import ToolCall
from ..kinds import Played, Row, Store
from ..rules import add_business_days
from .offers import variants
from .rules import delivered
from .tools import return_link


def case_names(raw: Row, order: Row, store: Store) -> dict[str, Any]:
    """Return the names for the placeholders of a case about an order."""
    return {
        "lines": {line["line_id"]: _with_product(line, store) for line in order["lines"]},
        "customer": store.tables["customers"][order["customer_id"]],
        "products": store.tables["products"],
        "variants": {k: v for k, (_, v) in variants(store).items()},
        "arrives": lambda order, ends: arrives(order, ends, store).isoformat(),
        "today": store.now.date().isoformat(),
        "return_link": lambda order_id: return_link(store.policy, order_id),
        "sheet": lambda order, back, by="": sheet(order, back, store, by),
        "last_day": partial(last_day, store=store),
        "swap_cost": partial(swap_cost, store=store),
    }


def case_defaults(names: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that make the order's buyer the customer who writes."""
    customer = names["customer"]
    return {"customer_id": customer["customer_id"], "sender": customer["email"], "sender_name": customer["name"]}


def usual_ledger(case: Row, names: dict[str, Any]) -> dict[str, Any]:
    """Return what a customer usually knows: its identity, as in the email's header, and order."""
    customer, order = names["customer"], names["order"]
    own = case["sender_name"] == customer["name"]
    return {
        "email": {"value": case["sender"], "when": "volunteered"},
        "name": {"value": customer["name"], "when": "volunteered" if own else "asked"},
        "postcode": {"value": order["shipping_address"]["postcode"]},
        "order_id": {"value": order["order_id"]},
    }


def _with_product(line: Row, store: Store) -> Row:
    product, variant = variants(store)[line["variant_id"]]
    return {**line, "product": product, "variant": variant}


@dataclass(frozen=True)
class Sheet:
    """One return from a group order, in pieces and cents.

    The rate is the rebate, in percent, for the pieces that the group keeps.
    """

    pieces: int
    held: int
    back: int
    rate: int
    labels: int


def sheet(order: Row, back: Mapping[str, int], store: Store, by: str = "") -> Sheet:
    """Settle a return of pieces from a group order; `back` gives the number of pieces by line.

    `by` names the terms, ``current`` or ``former``; by default, those of the order's day apply.
    """
    terms = store.policy["library"]["group_orders"][by] if by else terms_of(order, store)
    returned = {line_id for r in order["returns"] for line_id in r["line_ids"]}
    gone = Counter(back) + Counter(returned)
    stay = sum(line["quantity"] for line in order["lines"]) - sum(gone.values())
    rate = max((r["percent"] for r in terms["rebate"] if stay >= r["from"]), default=0)
    kept = less(sum((x["quantity"] - gone[x["line_id"]]) * x["price_cents"] for x in order["lines"]), rate)
    held = sum(gone[line["line_id"]] * _held(line, terms, store) for line in order["lines"])
    shipping = store.policy["shipping"]
    lost = stay and not order["shipping_cents"] and kept < shipping["free_from_cents"]
    delivery = shipping["cost_cents"][order["shipping_address"]["country"]] if lost else 0
    refunded = sum(p["amount_cents"] for p in order["payments"] if p["kind"] == "refund")
    return Sheet(
        pieces=sum(back.values()),
        held=held,
        back=order["subtotal_cents"] - order["discount_cents"] - kept - held - delivery - refunded,
        rate=rate,
        labels=_labels(order, back, store),
    )


def last_day(order: Row, line_id: str, store: Store) -> str:
    """Return the last day for sending back a piece of a group order, as an ISO date."""
    terms, groups = terms_of(order, store), store.policy["library"]["group_orders"]
    line = next(x for x in order["lines"] if x["line_id"] == line_id)
    delivered = next(p["delivered_at"] for p in order["parcels"] if line_id in p["lines"])
    category = _category(line, store)
    if category in groups["children"]:
        days, moves = store.policy["returns"]["window_days"], False
    else:
        days = groups["short_days"] if category in groups["short"] else terms["days"]
        moves = terms["moves"]
    last = date.fromisoformat(delivered[:10]) + timedelta(days)
    return (add_business_days(last - timedelta(1), 1, store) if moves else last).isoformat()


def swap_cost(order: Row, line_id: str, variant_id: str, rate: int, store: Store) -> int:
    """Return what swapping a piece costs a group, in cents; `rate` is the later rebate in %."""
    groups = store.policy["library"]["group_orders"]
    line = next(x for x in order["lines"] if x["line_id"] == line_id)
    _, variant = variants(store)[variant_id]
    fee = 0 if _category(line, store) in groups["children"] else groups["swap_fee_cents"]
    return less(variant["price_cents"] - line["price_cents"], rate) + int(fee)


def terms_of(order: Row, store: Store) -> Row:
    """Return the terms in force on the day of a group order."""
    groups = store.policy["library"]["group_orders"]
    terms: Row = groups["current" if order["placed_at"][:10] >= groups["since"] else "former"]
    return terms


def less(cents: int, percent: int) -> int:
    """Return an amount less a percentage of it; the reduction is rounded down to the cent."""
    return cents - cents * percent // 100


def _held(line: Row, terms: Row, store: Store) -> int:
    child = _category(line, store) in store.policy["library"]["group_orders"]["children"]
    percent = terms["held_children_percent"] if child else terms["held_percent"]
    if not percent:
        return 0
    share = line["price_cents"] * percent // 100
    return int(min(max(share, terms.get("held_least_cents", 0)), terms.get("held_most_cents", share)))


def _labels(order: Row, back: Mapping[str, int], store: Store) -> int:
    """Return the number of labels: one per suitcase, and one per full or part load of the rest."""
    groups = store.policy["library"]["group_orders"]
    lines = [(x, back.get(x["line_id"], 0)) for x in order["lines"]]
    cases = sum(count for line, count in lines if _category(line, store) in groups["suitcases"])
    grams = sum(
        count * variants(store)[line["variant_id"]][1]["weight_g"]
        for line, count in lines
        if _category(line, store) not in groups["suitcases"]
    )
    return int(cases + -(-grams // groups["label_g"]))


def _category(line: Row, store: Store) -> str:
    return str(store.tables["products"][line["product_id"]]["category"])


PICTURES: tuple[str, ...] = ("photo", "label")
"""Slots of a case that contain a picture."""


def identity_slots(case: Played, asked: set[str]) -> list[str]:
    """Return the order number's slot if it can still be asked for, else name and postcode."""
    number = case.ledger.get("order_id")
    has_it = number and number.when != "never"
    return ["order_id"] if has_it and "order_id" not in asked else ["name", "postcode"]


def evidence_slots(call: Any, case: Played, store: Store, attached: set[str], known: set[str]) -> list[str]:
    """Return the slots to ask for: a replacement's picture, or checks before a reshipment."""
    ledger = case.ledger
    if call.tool == "create_replacement" and not attached.intersection(PICTURES):
        return [s for s in PICTURES if s in ledger and ledger[s].attach and ledger[s].when != "never"][:1]
    if call.tool == "create_reshipment" and _delivered(call.arguments, store):
        return [s for s in ("address_checked", "neighbours_checked") if s in ledger and s not in known]
    return []


def _delivered(arguments: dict[str, Any], store: Store) -> bool:
    order = store.tables["orders"].get(arguments.get("order_id", ""))
    return order is not None and any(delivered(order, line) for line in arguments.get("line_ids", []))


def described(arguments: dict[str, Any], tool: str, store: Store) -> dict[str, str]:
    """Return a call's variant, items, address and return link, in words."""
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
    """Return everything found with the sender's address and the words of its email."""
    results = [call("find_orders", email=case.sender).result, call("get_customer", email=case.sender).result]
    for order in results[0].get("orders", [])[:4]:
        shown = call("get_order", order_id=order["order_id"]).result
        results += [shown, call("track_shipment", order_id=order["order_id"]).result]
        results += [call("get_product", product_id=line["product_id"]).result for line in shown.get("lines", [])[:1]]
    return [*results, call("search_knowledge_base", query=words).result, call("search_products", query=words).result]


def grounds(case: Played, store: Store) -> list[Any]:
    """Return a case's orders and their goods."""
    orders = [store.tables["orders"][o] for o in (case.order, *case.others.values())]
    return [orders, [store.tables["products"][x["product_id"]] for o in orders for x in o["lines"]]]


def unsound(number: str, store: Store) -> Iterator[tuple[str, str]]:
    """Yield the inconsistencies in an order's amounts, lines, parcels and customer."""
    order, now = store.tables["orders"][number], store.now.isoformat()
    address = order["shipping_address"]
    if order["customer_id"] not in store.tables["customers"]:
        yield ("order", f"its customer {order['customer_id']} does not exist")
    if order["subtotal_cents"] != sum(x["quantity"] * x["price_cents"] for x in order["lines"]):
        yield ("order", "the subtotal is not the sum of its lines")
    if order["total_cents"] != order["subtotal_cents"] - order["discount_cents"] + order["shipping_cents"]:
        yield ("order", "the total is not subtotal - discount + shipping")
    for line in order["lines"]:
        product, _ = variants(store).get(line["variant_id"], ({"product_id": None, "title": None}, None))
        if (product["product_id"], product["title"]) != (line["product_id"], line["title"]):
            yield ("order", f"line {line['line_id']} does not match the goods")
    for parcel in order["parcels"]:
        times = [datetime.fromisoformat(s["at"]) for s in parcel["scans"]]
        if times != sorted(times) or any(t > store.now for t in times):
            yield ("order", f"the scans of parcel {parcel['parcel_id']} are out of order or after {now}")
        if parcel["delivered_at"] and datetime.fromisoformat(parcel["delivered_at"]) > store.now:
            yield ("order", f"parcel {parcel['parcel_id']} is delivered after {now}")
        for scan in (s for s in parcel["scans"] if s["status"] == "delivered"):
            town, _, region = scan["location"].partition(", ")
            if town != address["city"] or region not in (address["region"], address["country"]):
                yield ("order", f"parcel {parcel['parcel_id']} is delivered in {scan['location']}, not at its address")


def days(number: str, store: Store) -> dict[str, str]:
    """Return the days that follow from an order, the policy and the clock, with their meanings."""
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


def packed(order: Row, ends: int, store: Store) -> date:
    """Return the first (0) or last (1) day, from today on, to pack an order without a parcel."""
    day = add_business_days(_day(order["placed_at"]), store.policy["processing"]["business_days"][ends], store)
    return max(day, add_business_days(store.now.date() - timedelta(1), 1, store))


def arrives(order: Row, ends: int, store: Store, country: str | None = None) -> date:
    """Return the first (0) or last (1) day on which an order without a parcel can arrive."""
    transit = store.policy["shipping"]["business_days"][country or order["shipping_address"]["country"]]
    return add_business_days(packed(order, ends, store), transit[ends], store)


def _days_of_parcel(parcel: Row, order: Row, store: Store) -> Iterator[tuple[date, str]]:
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


def _countries(order: Row, store: Store) -> set[str]:
    customer = store.tables["customers"].get(order["customer_id"], {"addresses": ()})
    known = {order["shipping_address"]["country"], *(a["country"] for a in customer["addresses"])}
    return known & set(store.policy["shipping"]["business_days"])


def _day(moment: str) -> date:
    return date.fromisoformat(moment[:10])
