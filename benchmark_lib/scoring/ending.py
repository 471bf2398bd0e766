"""The end of a conversation: reasons given, steps left open, a person for who asked, the customer's language."""

import re
from collections.abc import Iterable
from functools import lru_cache

from ..cases import Case
from ..language.detection import written_in
from ..language.parser import parser_of
from ..language.patterns import compile_patterns
from ..language.sentences import fold, sentences, squash
from ..project import DATA
from ..records import Conversation
from ..store import Store
from ..textfiles import read_yaml
from .customer_audit import pattern


def answers_in_language(texts: Iterable[str], language: str) -> bool | None:
    """Return whether every reply with a recognizable language is in this one; None without such a reply."""
    told = {found for found in map(written_in, texts) if found}
    return told == {language} if told else None


ASKED_TWICE = 2
"""Number of messages asking for a person after which the customer must be handed over."""


def person_given(c: Conversation, handed_over: bool) -> bool | None:
    """Return whether the customer was handed over after asking for a person; None with fewer than two requests."""
    wanted = pattern("human")
    asked = sum(bool(wanted.search(fold(m.text))) for m in c.messages if m.side == "customer")
    return handed_over if asked >= ASKED_TWICE else None


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


MOST_SENTENCES = 60
"""Most sentences of a message that is checked. A longer message dumps text rather than stating a step."""


def states_open_step(conversation: Conversation, case: Case, store: Store) -> bool:
    """Return whether a reply says that the matter is open, or the last one asks for what would settle it."""
    replies = [m.text for m in conversation.replies()]
    heard = "".join(squash(m.text) for m in conversation.messages if m.side == "customer")
    if any(_says_open(text, heard) for text in replies):
        return True
    last = parser_of(store).parse(replies[-1] if replies else "")
    remedies = {call.tool for outcome in case.outcomes for call in outcome.calls}
    return bool(remedies & set(last.proposed) or set(store.kind.attachments) & set(last.asked))


def _says_open(text: str, heard: str = "") -> bool:
    """Return whether a message of ordinary length states an open step in words that are not the customer's own."""
    said = sentences(text)
    for sentence in said if len(said) <= MOST_SENTENCES else ():
        if squash(sentence.text) in heard:
            continue
        for deny, step in _patterns():
            found = step.search(sentence.plain)
            if found and not deny.search(sentence.plain, 0, found.start() + 1):
                return True
    return False


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return for each language the pattern that denies and the pattern of an open step."""
    books = read_yaml(DATA / "open_steps.yaml")
    return tuple((re.compile(book["deny"]), compile_patterns(book["open"])) for book in books.values())
