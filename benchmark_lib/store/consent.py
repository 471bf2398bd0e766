"""Check that the customer consented to what a call does."""

from collections.abc import Mapping
from typing import Any

from ..language.addresses import has_part, is_address
from ..language.parser import parser_of
from ..language.sentences import squash
from ..records import Act, ToolCall
from .protocols import Store
from .rules import Before

ANY_OFFER = "proposal"
"""Object of a yes to an offer that named no recognizable tool."""
CONDITIONAL = "conditional"
"""Detail of a yes that states a condition, because the customer was unsure what had been offered."""


def confirmation(call: ToolCall, before: Before, store: Store, parameters: dict[str, Any]) -> bool:
    """The agent had asked the customer to agree, and the customer's last word on it was a yes.

    The arguments must match any values that the yes named, and the offer must not contradict the other arguments.
    """
    turn, last = _last_word(call, before, store)
    if last is None or last.kind == "refused" or not agrees(last.arguments, call.named):
        return False
    offer = next((m.text for m in reversed(before.messages) if m.side == "agent" and m.turn < turn), None)
    if offer is None or (last.detail == CONDITIONAL and not parser_of(store).parse(offer).offer):
        return False
    contradicted = store.kind.named_in(offer, call.named, store)[1] - last.arguments.keys()
    if contradicted or last.arguments:
        return not contradicted
    # If the agent repeats the offer after a yes without arguments, that yes no longer counts.
    later = (m.text for m in before.messages if m.side == "agent" and m.turn >= turn)
    return not any(call.name in parser_of(store).parse(text).proposed for text in later)


def _last_word(call: ToolCall, before: Before, store: Store) -> tuple[int, Act | None]:
    # A yes counts if it is about the call's object, a no only if it is to this very call. The last one decides.
    last: tuple[int, Act | None] = (0, None)
    for message in before.messages:
        for act in message.acts if message.side == "customer" else ():
            if act.what not in (call.name, ANY_OFFER) or act.kind not in ("agreed", "refused"):
                continue
            named = act.arguments
            if act.kind == "agreed":
                named = {name: value for name, value in named.items() if name in store.kind.objects}
            if agrees(named, call.named):
                last = (message.turn, act)
    return last


def agrees(named: Mapping[str, Any], called: Mapping[str, Any]) -> bool:
    """Return whether a call matches named values: lists partly, mappings by key."""
    for name, value in named.items():
        other = called.get(name, called.get(f"{name}s", called.get(name.removesuffix("s"))))
        if other is not None and not _agree(value, other):
            return False
    return True


def _agree(named: Any, called: Any) -> bool:
    if isinstance(named, Mapping) and is_address(called):
        return all(has_part(part, str(value), called) for part, value in named.items() if value)
    if isinstance(named, Mapping) and isinstance(called, Mapping):
        return named.keys() <= called.keys() and agrees(named, called)
    return _members(called) <= _members(named)


def _members(value: Any) -> set[str]:
    return {squash(str(v)) for v in (value if isinstance(value, list | tuple) else [value])}
