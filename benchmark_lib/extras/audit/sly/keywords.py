"""Honest baseline agents that follow keywords or the order's state: one offer, one call."""

from typing import Any

from .base import words
from .wish import Acting


class KeywordRules(Acting, name="keyword_rules", without="identify"):
    """Asks for identification, offers what a keyword suggests, does it on a yes, and reports it."""

    def _on_order(self, order: dict[str, Any]) -> str:
        tool, status = self._tool(order), self.book["status"].format(**self.about("", order))
        if tool is None:
            return status
        if self.round and self.agreed():
            return self.report(tool, order, self.act(tool, order))
        return f"{status} {self.offer(tool, order)}"

    def _tool(self, order: dict[str, Any]) -> str | None:
        """Return the first tool that fits the customer's words and the order's state."""
        early = {"cancel_order", "update_shipping_address", "update_line_item"}
        for tool in self.wishes():
            if (tool in early) == (order["status"] == "unfulfilled") and self.arguments(tool, order):
                return tool
        return None


class KeywordRulesElsewhere(KeywordRules, name="keyword_rules_elsewhere"):
    """Does the same in French, but in German if the customer writes in French."""

    def _answer(self) -> str:
        self.book = words()["de" if self.language() == "fr" else "fr"]
        return super()._answer()


class StateRules(Acting, name="state_rules", without="identify"):
    """Asks for identification, then offers what the order's state allows, in turn, until a yes."""

    def _on_order(self, order: dict[str, Any]) -> str:
        tools = _POSSIBLE.get(order["status"], _POSSIBLE[""])
        if self.round and self.agreed():
            tool = tools[(self.round - 1) % len(tools)]
            return self.report(tool, order, self.act(tool, order))
        return self.offer(tools[self.round], order) if self.round < len(tools) else self.book["is_it_so"]


_POSSIBLE = {
    "unfulfilled": ("cancel_order",),
    "delivered": ("start_return", "create_replacement", "create_reshipment"),
    "": ("create_reshipment", "start_return", "create_replacement"),
}
"""Possible actions by the state of an order, the likeliest first."""
