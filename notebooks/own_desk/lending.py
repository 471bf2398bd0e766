"""An example of your own tool.

A typed, documented function. Its schema, argument checks and prompt text come from this declaration.
"""

from typing import Annotated

from benchmark_lib.store import NotFound, tool


@tool(write=True)
def lend_bag(
    desk,
    order_id: Annotated[str, "The order number."],
    product_id: Annotated[str, "The bag that is lent, such as P-101."],
    days: Annotated[int, "For how many days, 14 at most."] = 14,
) -> dict:
    """Lend the customer a bag for a trip while theirs is being replaced."""
    if desk.row("orders", order_id.upper()) is None:
        raise NotFound(f"There is no order {order_id!r}; ask for the number again.")
    return {
        "loan": desk.add("loans", "LN", {"order_id": order_id.upper(), "product_id": product_id, "days": days})["id"]
    }
