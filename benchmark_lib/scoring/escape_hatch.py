"""Check that a customer who asked twice for a person was handed over."""

from ..language.folding import fold
from ..records import Conversation
from .customer_audit import pattern

ASKED_TWICE = 2
"""Number of messages asking for a person after which the customer must be handed over."""


def person_given(c: Conversation, handed_over: bool) -> bool | None:
    """Return whether the customer was handed over after asking for a person; None with fewer than two requests."""
    wanted = pattern("human")
    asked = sum(bool(wanted.search(fold(m.text))) for m in c.messages if m.side == "customer")
    return handed_over if asked >= ASKED_TWICE else None
