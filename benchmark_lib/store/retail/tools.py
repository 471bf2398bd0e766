"""Define the tools of a retail desk.

The tools carry out and record even what a real desk would refuse, because the agent's actions are scored.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ..desk import Desk
from ..kinds import Row
from ..tools import ArgumentError, NotFound, tool
from .offers import by_email, goods_search, orders_of, variants

OrderId = Annotated[str, "The order number."]
Reason = Annotated[str, "Why, in a few words."]
LineIds = Annotated[list[str], "The ids of the order's lines, such as L1."]


class Address(BaseModel):
    """A postal address; the country is a two-letter code."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: str
    line1: str
    line2: str | None = None
    city: str
    region: str
    postcode: str
    country: str = Field(description="Two-letter country code.", pattern="^[A-Za-z]{2}$")


@tool()
def find_orders(
    desk: Desk,
    email: Annotated[str | None, "The customer's email address."] = None,
    name: Annotated[str | None, "The customer's full name; give it together with the postcode."] = None,
    postcode: Annotated[str | None, "The postcode of the delivery address."] = None,
) -> dict[str, Any]:
    """List a customer's orders (number, date, status, number of items), by email, or by name and postcode together."""
    if email:
        customer = by_email(desk.store).get(email.lower())
        customers = [customer] if customer else []
    elif name and postcode:
        wanted = (_key(name), _key(postcode))
        customers = [
            c
            for c in desk.store.tables["customers"].values()
            if any((_key(c["name"]), _key(a["postcode"])) == wanted for a in c["addresses"])
        ]
    else:
        raise ArgumentError("bad_arguments", "find_orders needs an email, or a name and a postcode.")
    orders = [
        desk.known("orders", o["order_id"]) for c in customers for o in orders_of(desk.store).get(c["customer_id"], [])
    ]
    shown = ("order_id", "placed_at", "status")
    return {"orders": [{**{k: o[k] for k in shown}, "items": sum(x["quantity"] for x in o["lines"])} for o in orders]}


@tool()
def get_order(desk: Desk, order_id: OrderId) -> dict[str, Any]:
    """Show one order: lines, amounts, payments, address, parcels with scans and weights, notes, what was done to it."""
    order = order_row(desk, order_id)
    customer = desk.known("customers", order["customer_id"])
    extra = {}
    for table in ("returns", "replacements", "reshipments", "claims", "procedures"):
        rows = [r for r in desk.rows(table) if r["order_id"] == order["order_id"]]
        if rows:
            extra[f"{table}_in_this_conversation"] = rows
    return {**order, "customer_name": customer["name"], "customer_email": customer["email"], **extra}


@tool()
def track_shipment(desk: Desk, order_id: OrderId) -> dict[str, Any]:
    """Show the parcels of an order with carrier, tracking link, expected delivery and every scan."""
    order = order_row(desk, order_id)
    return {"order_id": order["order_id"], "status": order["status"], "parcels": order["parcels"]}


@tool()
def get_customer(desk: Desk, email: Annotated[str, "The customer's email address."]) -> dict[str, Any]:
    """Show a customer's record: name, addresses, tier, notes, and earlier claims with order, kind and date."""
    return desk.known("customers", buyer(desk, email)["customer_id"])


@tool()
def get_product(desk: Desk, product_id: Annotated[str, "The product's id, such as P-101."]) -> dict[str, Any]:
    """Show one product: description, measures and other facts, price, and every variant with its stock."""
    product = desk.row("products", product_id.upper())
    if product is None:
        raise NotFound(f"There is no product {product_id!r}; use search_products to find its id.")
    return product


@tool()
def search_products(
    desk: Desk,
    query: Annotated[str, "Words to look for."],
    max_price_cents: Annotated[int | None, "Highest price in cents."] = None,
    in_stock: Annotated[bool | None, "True to leave out what has no stock."] = None,
) -> dict[str, Any]:
    """Search the shop's goods; the best five with id, title, price and stock."""
    found = []
    for product in goods_search(desk.store)(query):
        product = desk.known("products", product["product_id"])
        stock = sum(v["stock"] for v in product["variants"])
        if (max_price_cents is None or product["price_cents"] <= max_price_cents) and (not in_stock or stock):
            shown = ("product_id", "title", "category", "price_cents")
            found.append({**{k: product[k] for k in shown}, "stock": stock})
    return {"products": found[:5]}


@tool(write=True)
def cancel_order(desk: Desk, order_id: OrderId, reason: Reason) -> dict[str, Any]:
    """Cancel a whole order and start its refund."""
    order = desk.edit("orders", order_row(desk, order_id)["order_id"])
    order["status"], order["cancel_reason"] = "cancelled", reason
    return {"order_id": order["order_id"], "status": "cancelled"}


@tool(write=True)
def update_shipping_address(
    desk: Desk, order_id: OrderId, address: Annotated[Address, "The complete new address."]
) -> dict[str, Any]:
    """Change the delivery address of an order."""
    order = desk.edit("orders", order_row(desk, order_id)["order_id"])
    order["shipping_address"] = address
    return {"order_id": order["order_id"], "shipping_address": address}


@tool(write=True)
def update_line_item(
    desk: Desk,
    order_id: OrderId,
    line_id: Annotated[str, "The line's id, such as L1."],
    variant_id: Annotated[str, "The variant that is wanted instead."],
) -> dict[str, Any]:
    """Change the colour or size of one line of an order, with all its pieces."""
    order = desk.edit("orders", order_row(desk, order_id)["order_id"])
    line = line_row(desk, order_id, line_id)
    line["variant_id"] = _known_variant(desk, variant_id)
    return {"order_id": order["order_id"], "line": line}


@tool(write=True)
def start_return(desk: Desk, order_id: OrderId, line_ids: LineIds, reason: Reason) -> dict[str, Any]:
    """Open a self-service return for lines of an order; gives the link that the customer uses."""
    order = order_row(desk, order_id)
    lines = _lines(desk, order_id, line_ids)
    row = desk.add("returns", "RT", {"order_id": order["order_id"], "line_ids": lines, "reason": reason})
    return {"return_id": row["id"], "line_ids": lines, "return_link": return_link(desk.store.policy, order["order_id"])}


@tool(write=True)
def create_replacement(
    desk: Desk,
    order_id: OrderId,
    line_id: Annotated[str, "The line that is replaced, such as L1."],
    variant_id: Annotated[str, "The variant to send."],
    reason: Reason,
) -> dict[str, Any]:
    """Send one new item in place of one item of an order line, free of charge."""
    order = order_row(desk, order_id)
    line = line_row(desk, order_id, line_id)
    about = {"line_id": line["line_id"], "variant_id": _known_variant(desk, variant_id)}
    row = desk.add("replacements", "RP", {"order_id": order["order_id"], **about, "reason": reason})
    return {"replacement_id": row["id"], **about}


@tool(write=True)
def create_reshipment(desk: Desk, order_id: OrderId, line_ids: LineIds, reason: Reason) -> dict[str, Any]:
    """Send lines of an order once more, free of charge, because they did not arrive."""
    order = order_row(desk, order_id)
    lines = _lines(desk, order_id, line_ids)
    row = desk.add("reshipments", "RS", {"order_id": order["order_id"], "line_ids": lines, "reason": reason})
    return {"reshipment_id": row["id"], "line_ids": lines}


@tool(write=True)
def open_carrier_claim(desk: Desk, order_id: OrderId, reason: Reason) -> dict[str, Any]:
    """Open a claim with the carrier about a parcel of an order."""
    order = order_row(desk, order_id)
    row = desk.add("claims", "CC", {"order_id": order["order_id"], "reason": reason})
    return {"claim_id": row["id"], "order_id": order["order_id"]}


def order_row(desk: Desk, order_id: str) -> Row:
    """Return the order as this desk sees it; raise `NotFound` for an unknown number."""
    order = desk.row("orders", order_id.upper())
    if order is None:
        raise NotFound(f"There is no order {order_id!r}; ask for the number again or use find_orders.")
    return order


def buyer(desk: Desk, email: str) -> Row:
    """Return the customer with an email address; raise `NotFound` for an unknown one."""
    customer = by_email(desk.store).get(email.lower())
    if customer is None:
        raise NotFound(f"No customer has the email {email!r}; check the spelling or search by name and postcode.")
    return customer


def return_link(policy: dict[str, Any], order_id: str) -> str:
    """Return the self-service return link of an order."""
    return policy["returns"]["link_base"] + order_id


def line_row(desk: Desk, order_id: str, line_id: str) -> Row:
    """Return the line of an order as this desk sees it; raise `NotFound` for an unknown line."""
    lines = order_row(desk, order_id)["lines"]
    for line in lines:
        if line["line_id"] == line_id.upper():
            return line
    raise NotFound(f"Order {order_id} has no line {line_id!r}; its lines are {', '.join(x['line_id'] for x in lines)}.")


def _lines(desk: Desk, order_id: str, line_ids: list[str]) -> list[str]:
    if not line_ids:
        raise ArgumentError("bad_arguments", "line_ids is empty: name at least one line of the order.")
    return sorted({line_row(desk, order_id, line_id)["line_id"] for line_id in line_ids})


def _known_variant(desk: Desk, variant_id: str) -> str:
    if variant_id.upper() not in variants(desk.store):
        raise NotFound(f"There is no variant {variant_id!r}; use get_product to see a product's variants.")
    return variant_id.upper()


def _key(text: str) -> str:
    return "".join(text.casefold().split())
