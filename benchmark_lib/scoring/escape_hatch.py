"""The escape hatch: whether a customer that asked twice for a person was given one."""

from ..language.folding import fold
from ..records import Conversation
from .customer_audit import pattern

ASKED_TWICE = 2
"""Messages in which a customer has to ask for a person before it must be given one."""


def person_given(c: Conversation, handed_over: bool) -> bool | None:
    """Whether a customer that asked for a person in two messages was handed over; None where it asked less often."""
    wanted = pattern("human")
    asked = sum(bool(wanted.search(fold(m.text))) for m in c.messages if m.side == "customer")
    return handed_over if asked >= ASKED_TWICE else None
