"""Score the ending: reasons, open steps, requests for a person, the customer's language."""

import re
from collections.abc import Iterable
from functools import lru_cache

from ..cases import Case
from ..language.detection import written_in
from ..language.parser import parser_of
from ..language.patterns import compile_patterns
from ..language.sentences import fold, plain, sentences, squash
from ..project import DATA
from ..records import Conversation
from ..store import Store
from ..store.every_desk import HANDOVER
from ..textfiles import read_yaml
from .columns import Score
from .customer_audit import pattern


def answers_in_language(texts: Iterable[str], language: str) -> bool | None:
    """Return whether all recognizable replies are in this language; None if there are none."""
    languages = {known for known in map(written_in, texts) if known}
    return languages == {language} if languages else None


ASKED_TWICE = 2
"""Number of messages asking for a person after which the customer must be handed over."""


def person_given(c: Conversation, handed_over: bool) -> bool | None:
    """Return whether the customer got a person after asking twice; None if it asked less often."""
    asked = sum(bool(pattern("human").search(fold(m.text))) for m in c.messages if m.side == "customer")
    return handed_over if asked >= ASKED_TWICE else None


MOST_QUESTIONS = 5
"""Maximum number of questions in a message whose reasons count: among many, no single one states what is missing."""


def reasons_told(conversation: Conversation, texts: list[str], case: Case, store: Store) -> list[str]:
    """Return the reasons in an agent's `texts` that count (see `answers_of`), sorted.

    Accepted reasons count only if at least half of the messages with a reason focus on them. A message focuses on them
    if it gives at least as many accepted reasons as others. Repeating the customer's words does not give a reason.
    """
    parser = parser_of(store)
    customer_texts = [m.text for m in conversation.messages if m.side == "customer"]
    by_message = [
        set(parser.reasons_in([text], customer_texts))
        for text in texts
        if len(parser.parse(text).asked) <= MOST_QUESTIONS
    ]
    accepted = set(case.reasons)
    fitting = sum(bool(r & accepted) and len(r - accepted) <= len(r & accepted) for r in by_message)
    reasons = set().union(*by_message)
    return sorted(reasons if 2 * fitting >= sum(map(bool, by_message)) else reasons - accepted)


MOST_SENTENCES = 60
"""Maximum number of sentences in a message to check. A longer message dumps text rather than stating a step."""


def states_open_step(conversation: Conversation, case: Case, store: Store) -> bool:
    """Return whether a reply leaves the matter open, or the last one asks for what settles it."""
    replies = [m.text for m in conversation.replies()]
    customer_text = "".join(squash(m.text) for m in conversation.messages if m.side == "customer")
    if any(_says_open(text, customer_text) for text in replies):
        return True
    last = parser_of(store).parse(replies[-1] if replies else "")
    remedies = {call.tool for outcome in case.outcomes for call in outcome.calls}
    return bool(remedies & set(last.proposed) or set(store.kind.attachments) & set(last.asked))


def _says_open(text: str, customer_text: str = "") -> bool:
    """Return whether a message of usual length states an open step in the agent's own words."""
    pieces = sentences(text)
    for sentence in pieces if len(pieces) <= MOST_SENTENCES else ():
        if squash(sentence.text) in customer_text:
            continue
        for deny, step in denied_patterns("open_steps", "open"):
            match = step.search(sentence.plain)
            if match and not deny.search(sentence.plain, 0, match.start() + 1):
                return True
    return False


@lru_cache
def denied_patterns(file: str, part: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return two patterns per language; the first denies what the second finds."""
    books = read_yaml(DATA / f"{file}.yaml")
    return tuple((re.compile(book["deny"]), compile_patterns(book[part])) for book in books.values())


FEWEST_WORDS = 6
"""Minimum number of different words in a useful handover summary, which states the request and the known facts."""


def handover(c: Conversation, case: Case) -> Score:
    """Return whether and how well the agent handed over; success does not depend on how well."""
    call = next((t for t in c.tool_calls if t.name == HANDOVER and not t.error), None)
    given = person_given(c, call is not None)
    needless = call is not None and not given and not any(o.handover for o in case.outcomes)
    score: Score = {
        "handed_over": call is not None,
        "needless_handover": needless if case.bucket == "resolvable" else None,
        "person_given": given,
        "queue": None,
        "queue_accepted": None,
        "summary_says_something": None,
        "full_handover": None,
    }
    if call is not None:
        queue, summary = call.named.get("queue"), call.named.get("summary")
        queue = queue if isinstance(queue, str) else None
        accepted = queue in case.queues if case.queues else None
        words = set(re.findall(r"[^\W\d_]{2,}", plain(summary))) if isinstance(summary, str) else set()
        says = len(words) >= FEWEST_WORDS
        score |= {"queue": queue, "queue_accepted": accepted}
        score |= {"summary_says_something": says, "full_handover": says and accepted is not False}
    return score
