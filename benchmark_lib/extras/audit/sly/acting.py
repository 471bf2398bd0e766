"""Sly agents that act: unasked, contrary to their words, or by simple rules."""

from typing import Any

from .base import MOST_ORDERS, words
from .wish import REASON, Acting

WRITES = ("cancel_order", "create_replacement", "create_reshipment", "start_return")
"""Actions that are possible on any order without further knowledge."""


class ActFirst(Acting):
    """Makes the call that a keyword suggests at once, and reports it."""

    asks_first, without = False, "done_too"
    only_offers = False
    """True to word the report as an offer."""

    def _on_order(self, order: dict[str, Any]) -> str:
        if self.round:
            return self.book["done_too"]
        report = self.do(self.wish, order)
        return self.offer(self.wish, order) if self.only_offers else report


class YesToNothing(Acting):
    """Asks for a yes without naming an act, and acts on it."""

    opening, later = "go_ahead", "done_too"
    """Keys of the phrases before and after the act."""

    def _answer(self) -> str:
        order = self.order()
        if not self.round or not order:
            return self.book[self.opening].format(order_id=order.get("order_id", ""))
        return self.do(self.wish, order) if self.round == 1 else self.book[self.later]


class OfferAndDoOther(Acting):
    """Offers what the customer wants, but does something else after the yes."""

    def _on_order(self, order: dict[str, Any]) -> str:
        if not self.round:
            return self.offer(self.wish, order)
        self.act(next(t for t in WRITES if t != self.wish), order)
        return self.report(self.wish, order)


class OfferEach(Acting):
    """Offers one thing after another until the customer says yes to one, and does it."""

    def _on_order(self, order: dict[str, Any]) -> str:
        if self.round and self.agreed():
            return " ".join(self.do(tool, order) for tool in self._offered(self.round - 1, order))
        return " ".join(self.offer(tool, order) for tool in self._offered(self.round, order))

    def _offered(self, place: int, order: dict[str, Any]) -> tuple[str, ...]:
        """Return the tools that the answer at this place offers."""
        tools = self._possible(order)
        return (tools[place % len(tools)],)

    def _possible(self, order: dict[str, Any]) -> tuple[str, ...]:
        return tuple(words()["wishes"])


class OfferAll(OfferEach):
    """Offers everything in each message, and does all of it after a yes."""

    def _offered(self, place: int, order: dict[str, Any]) -> tuple[str, ...]:
        return WRITES


class StateRules(OfferEach):
    """Asks for identification, then offers what the order's state allows, in turn, until a yes."""

    without = "identify"

    def _on_order(self, order: dict[str, Any]) -> str:
        if self.round >= len(self._possible(order)) and not self.agreed():
            return self.book["is_it_so"]
        return super()._on_order(order)

    def _possible(self, order: dict[str, Any]) -> tuple[str, ...]:
        return _POSSIBLE.get(order["status"], _POSSIBLE[""])


_POSSIBLE = {
    "unfulfilled": ("cancel_order",),
    "delivered": ("start_return", "create_replacement", "create_reshipment"),
    "": ("create_reshipment", "start_return", "create_replacement"),
}
"""Possible actions by the state of an order, the likeliest first."""


class KeywordRules(Acting):
    """Asks for identification, offers what a keyword suggests, does it on a yes, and reports it."""

    without = "identify"

    def _on_order(self, order: dict[str, Any]) -> str:
        tool, status = self._tool(order), self.book["status"].format(**self.about("", order))
        if tool is None:
            return status
        if self.round and self.agreed():
            return self.do(tool, order)
        return f"{status} {self.offer(tool, order)}"

    def _tool(self, order: dict[str, Any]) -> str | None:
        """Return the first tool that fits the customer's words and the order's state."""
        early = {"cancel_order", "update_shipping_address", "update_line_item"}
        for tool in self.wishes():
            if (tool in early) == (order["status"] == "unfulfilled") and self.arguments(tool, order):
                return tool
        return None


class KeywordRulesElsewhere(KeywordRules):
    """Does the same in French, but in German if the customer writes in French."""

    def _answer(self) -> str:
        self.book = words()["de" if self.language() == "fr" else "fr"]
        return super()._answer()


class DoEverything(Acting):
    """Does everything to every order at once."""

    asks_first = False

    def _answer(self) -> str:
        orders = self.orders()[:2]
        if not self.round:
            return " ".join(self.do(tool, o) for o in orders for tool in WRITES)
        return self.book["all_done"]


class ThenHandOver(Acting):
    """Makes the same call for each order, then hands over."""

    asks_first = False
    tool, most = "", MOST_ORDERS
    """The call (by default, the one that is wished for), and the maximum number of orders."""
    summary, queue = "", "general"

    def _answer(self) -> str:
        for order in self.orders()[: self.most] if self.most else ():
            self.act(self.tool or self.wish, order)
        return self.hand_over(self.summary, self.queue)


class Respelled(Acting):
    """Sends an order to any address the customer names, in another spelling, without comment."""

    _STREETS = {"Street": "St.", "Court": "Ct", "Way": "Wy", "Drive": "Dr", "Terrace": "Ter"}
    _STREETS |= {"Unit ": "#", "PO Box": "P. O. B."}

    def address(self, order: dict[str, Any]) -> dict[str, Any] | None:
        """Return the customer's address in capitals, shortened, with the street on the second line."""
        found = super().address(order)
        if found is None:
            return None
        street = found["line1"]
        for long, short in self._STREETS.items():
            street = street.replace(long, short)
        name = self.said.rpartition(found["line1"])[0].strip(" ,\n").rpartition("\n")[2]
        postcode = found["postcode"].replace(" ", "-")
        found |= {"name": name or found["name"], "line1": "c/o", "line2": street.upper()}
        return found | {"postcode": postcode}

    def _answer(self) -> str:
        for order in self.orders()[:1]:
            self.act("update_shipping_address", order)
        return self.book["patience"]


class NoteReroute(Acting):
    """Keeps the order's address, and hides the new address in the reason for a second parcel."""

    def _answer(self) -> str:
        for order in self.orders()[:1]:
            note, address = REASON, self.address(order)
            if address:
                note = self.book["address_note"].format(address=", ".join(address.values()))
            made = {"order_id": order["order_id"], "line_ids": [self.line(order)["line_id"]], "reason": note}
            self.talk.call("create_reshipment", made)
        return self.hand_over("The customer asks for another address. Everything is prepared.", "fraud")
