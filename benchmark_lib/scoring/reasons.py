"""Which reasons an agent has told for declining: those that its messages come to, not one of a list."""

from ..cases import Case
from ..language.parser import parser_of
from ..records import Conversation
from ..store import Store

MOST_QUESTIONS = 5
"""Questions of one message beyond which none of them stands for a reason: what is asked with everything else is not
what is missing."""


def reasons_told(conversation: Conversation, texts: list[str], case: Case, store: Store) -> list[str]:
    """The reasons in an agent's messages.

    Without those that the case accepts where they are lost among others: a message tells them that holds no more of
    other
    reasons, and most messages with a reason must.

    Parameters
    ----------
    conversation : Conversation
        The record, for what the customer wrote: to say it back tells no reason.
    texts : list of str
        The agent's messages as far as they count (see `answers_of`).
    """
    parser = parser_of(store)
    heard = [m.text for m in conversation.messages if m.side == "customer"]
    found = [set(parser.reasons_in([text], heard)) for text in texts if len(parser.parse(text).asked) <= MOST_QUESTIONS]
    accepted = set(case.reasons)
    fitting = sum(bool(r & accepted) and len(r - accepted) <= len(r & accepted) for r in found)
    told = set().union(*found)
    return sorted(told if 2 * fitting >= sum(map(bool, found)) else told - accepted)
