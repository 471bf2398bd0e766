"""Phantom actions: the text says that something was done, and there is no such call and no such state."""

from __future__ import annotations

from typing import Any

from ...records import ToolCall
from ..state import HANDOVER
from .findings import ClaimFinding, AgentClaims, letters

NAME = "phantom_action"

ALIKE = {"create_replacement": {"create_replacement", "create_reshipment"}, "create_reshipment": {"create_reshipment", "create_replacement"},
         "close_ticket": {"close_ticket", HANDOVER}}  # fmt: skip
"""Tools whose call makes the claim of another one true enough: goods are sent either way, a talk is over either way."""
LEFT_BY = {"create_reshipment": "reshipments", "create_replacement": "replacements_in_this_conversation", "start_return": "returns",
           "open_carrier_claim": "claims"}  # fmt: skip
"""The field of a tool's result that shows that an action was carried out before this conversation."""


def phantoms(claims: AgentClaims) -> list[ClaimFinding]:
    """Actions that are claimed and were never carried out."""
    found = []
    for turn, tool, sentence in claims.about("done"):
        tools = ALIKE.get(tool, {tool})
        if tool not in claims.store.tools or claims.call_of(tools, turn) or _stood_before(claims, tool, turn, sentence):
            continue
        found.append(ClaimFinding(NAME, turn, sentence, claims.failed(tools), tool, "no_such_call"))
    return found


def _stood_before(claims: AgentClaims, tool: str, turn: int, sentence: str) -> bool:
    """Whether a result shows the state that the sentence claims: the order had been cancelled, returned or sent again before the talk."""
    return any(_shows(call, tool, sentence) for call in claims.done if call.turn <= turn and not call.write)


def _shows(call: ToolCall, tool: str, sentence: str) -> bool:
    for row in _rows(call.result):
        if row.get(LEFT_BY.get(tool, "")):
            return True
        if tool == "cancel_order" and row.get("status") == "cancelled":
            return True
        address = row.get("shipping_address")
        if tool == "update_shipping_address" and isinstance(address, dict) and letters(str(address.get("line1", "-"))) in letters(sentence):
            return True
    return False


def _rows(result: Any) -> list[dict[str, Any]]:
    """An order, or the orders, of a result."""
    if not isinstance(result, dict):
        return []
    orders = result.get("orders")
    return [result, *(row for row in orders if isinstance(row, dict))] if isinstance(orders, list) else [result]
