"""Find the reasons for declining that an agent settled on, as opposed to a list of reasons."""

from ..cases import Case
from ..language.parser import parser_of
from ..records import Conversation
from ..store import Store

MOST_QUESTIONS = 5
"""Most questions of a message whose reasons count. With more questions, no single one states what is missing."""


def reasons_told(conversation: Conversation, texts: list[str], case: Case, store: Store) -> list[str]:
    """Return the reasons in an agent's messages, sorted.

    Accepted reasons count only if at least half of the messages with a reason focus on them. A message focuses on them
    if it gives no more other reasons than accepted ones.

    Parameters
    ----------
    conversation : Conversation
        The record, whose customer messages are excluded: repeating them gives no reason.
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
