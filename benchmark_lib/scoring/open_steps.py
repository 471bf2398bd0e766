"""Check whether an agent stated the open step before the customer left, from its words."""

import re
from functools import lru_cache

from ..cases import Case
from ..language.folding import squash
from ..language.parser import parser_of
from ..language.patterns import compile_patterns
from ..language.sentences import sentences
from ..project import DATA
from ..records import Conversation
from ..store import Store
from ..textfiles import read_yaml

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
