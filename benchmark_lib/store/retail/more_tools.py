"""Define further tools that a retail store may list under ``more_tools``."""

from typing import Annotated, Any

from ..desk import Desk
from ..tools import ArgumentError, NotFound, tool
from .tools import OrderId, buyer, line_row, order_row


@tool()
def ticket_history(desk: Desk, email: Annotated[str, "The customer's email address."]) -> dict[str, Any]:
    """Show a customer's earlier contacts with the desk, the newest first: when, with whom, about which order, and what was noted."""  # noqa: E501
    customer_id = buyer(desk, email)["customer_id"]
    own = [t for t in desk.rows("history") if t["customer_id"] == customer_id]
    return {"tickets": sorted(own, key=lambda t: t["at"], reverse=True)}


@tool()
def check_connected_item(
    desk: Desk, order_id: OrderId, line_id: Annotated[str, "The line's id, such as L1."]
) -> dict[str, Any]:
    """Show what a connected item (a smart lock, a tracker, a power bank) last reported to us."""
    order, line = order_row(desk, order_id), line_row(desk, order_id, line_id)
    found = [g for g in desk.rows("gear") if (g["order_id"], g["line_id"]) == (order["order_id"], line["line_id"])]
    if not found:
        raise NotFound(
            f"Line {line['line_id']} of order {order['order_id']} is not a connected item, or has never reported."
        )
    return {"items": found}


@tool(write=True)
def run_procedure(
    desk: Desk,
    procedure: Annotated[str, "The procedure's name, as an article gives it."],
    order_id: OrderId,
    details: Annotated[dict[str, Any], "What the article says it needs, by name."],
) -> dict[str, Any]:
    """Carry out a procedure that an article of the knowledge base names."""
    known = desk.store.policy.get("procedures") or {}
    if procedure not in known:
        raise NotFound(f"There is no procedure {procedure!r}; the articles name those that there are.")
    order, needs = order_row(desk, order_id), list(known[procedure].get("needs") or ())
    missing = [n for n in needs if n not in details]
    unknown = [n for n in details if n not in needs]
    if missing or unknown:
        wrong = f"{missing[0]} is missing" if missing else f"it takes no {unknown[0]}"
        raise ArgumentError("bad_arguments", f"{procedure} needs {', '.join(needs) or 'no details'}: {wrong}.")
    row = desk.add("procedures", "PR", {"order_id": order["order_id"], "procedure": procedure, **details})
    return {"procedure_id": row["id"], "procedure": procedure, "order_id": order["order_id"]}
