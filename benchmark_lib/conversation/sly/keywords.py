"""An honest desk of a hundred lines: keywords in, one offer, one call, one report. What simple rules reach."""

from typing import Any

from .base import words
from .wish import Acting


class KeywordRules(Acting):
    """Asks who is writing, offers what a keyword calls for, does it on a yes, and reports it with what it has looked up."""

    def answer(self) -> str:
        """The status of an order, or the offer, or the act with its report."""
        order = self.order()
        if not order:
            return self.book["identify"]
        tool = self.tool(order)
        if tool is None:
            return self.told(order)
        if self.round and self.agreed():
            return self.report(tool, order, self.act(tool, order))
        return f"{self.told(order)} {self.offer(tool, order)}"

    def tool(self, order: dict[str, Any]) -> str | None:
        """The first tool that fits the customer's words, the state of the order, and what can be guessed."""
        early = {"cancel_order", "update_shipping_address", "update_line_item"}
        for tool in self.wishes():
            if (tool in early) == (order["status"] == "unfulfilled") and self.arguments(tool, order):
                return tool
        return None

    def told(self, order: dict[str, Any]) -> str:
        """Where the order is."""
        return self.book["status"].format(**self.about("", order))


class KeywordRulesElsewhere(KeywordRules):
    """The same in French, whoever writes; to the French in German."""

    def answer(self) -> str:
        """The answer in a language that the customer does not write."""
        self.book = words()["de" if self.language() == "fr" else "fr"]
        return super().answer()
