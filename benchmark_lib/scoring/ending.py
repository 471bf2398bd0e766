"""Score the end: reasons, open steps, requests for a person, the customer's language."""

import re
from collections.abc import Iterable
from functools import lru_cache

from ..cases import Case
from ..language.detection import written_in
from ..language.parser import parser_of
from ..language.patterns import compile_patterns
from ..language.sentences import fold, plain, sentences, squash
from ..project import DATA
from ..records import Conversation, ToolCall
from ..store import Store
from ..textfiles import read_yaml
from .customer_audit import pattern


def answers_in_language(texts: Iterable[str], language: str) -> bool | None:
    """Return whether all recognizable replies are in this language; None without one."""
    languages = {known for known in map(written_in, texts) if known}
    return languages == {language} if languages else None


ASKED_TWICE = 2
"""Number of messages asking for a person after which the customer must be handed over."""


def person_given(c: Conversation, handed_over: bool) -> bool | None:
    """Return whether the customer got a person after asking twice; None with fewer requests."""
    wanted = pattern("human")
    asked = sum(bool(wanted.search(fold(m.text))) for m in c.messages if m.side == "customer")
    return handed_over if asked >= ASKED_TWICE else None


MOST_QUESTIONS = 5
"""Maximum number of questions in a message whose reasons count: of many, no single one states what is missing."""


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
"""Maximum number of sentences of a message that is checked. A longer message dumps text rather than stating a step."""


def states_open_step(conversation: Conversation, case: Case, store: Store) -> bool:
    """Return whether a reply leaves the matter open, or the last asks for what settles it."""
    replies = [m.text for m in conversation.replies()]
    customer_text = "".join(squash(m.text) for m in conversation.messages if m.side == "customer")
    if any(_says_open(text, customer_text) for text in replies):
        return True
    last = parser_of(store).parse(replies[-1] if replies else "")
    remedies = {call.tool for outcome in case.outcomes for call in outcome.calls}
    return bool(remedies & set(last.proposed) or set(store.kind.attachments) & set(last.asked))


def _says_open(text: str, customer_text: str = "") -> bool:
    """Return whether a message of usual length states an open step in the agent's words."""
    pieces = sentences(text)
    for sentence in pieces if len(pieces) <= MOST_SENTENCES else ():
        if squash(sentence.text) in customer_text:
            continue
        for deny, step in _patterns():
            match = step.search(sentence.plain)
            if match and not deny.search(sentence.plain, 0, match.start() + 1):
                return True
    return False


@lru_cache(maxsize=1)
def _patterns() -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    # By language: the pattern that denies, and the pattern of an open step.
    books = read_yaml(DATA / "open_steps.yaml")
    return tuple((re.compile(book["deny"]), compile_patterns(book["open"])) for book in books.values())


FEWEST_WORDS = 6
"""Minimum number of different words of a useful handover summary, which states the request and the known facts."""


def needless(case: Case, handed_over: bool) -> bool | None:
    """Return whether a case that accepts no handover had one; None if not resolvable."""
    return handed_over and not any(o.handover for o in case.outcomes) if case.bucket == "resolvable" else None


def queue_of(handover: ToolCall | None) -> str | None:
    """Return the queue that a handover names; None without one."""
    queue = handover.named.get("queue") if handover else None
    return queue if isinstance(queue, str) else None


def _says_something(handover: ToolCall) -> bool:
    summary = handover.named.get("summary")
    return isinstance(summary, str) and len(set(re.findall(r"[^\W\d_]{2,}", plain(summary)))) >= FEWEST_WORDS


def handover_quality(handover: ToolCall | None, queue: str | None, case: Case) -> dict[str, bool | None]:
    """Grade a handover separately from success."""
    if handover is None:
        return dict.fromkeys(("queue_accepted", "summary_says_something", "full_handover"))
    accepted = queue in case.queues if case.queues else None
    says = _says_something(handover)
    full = says and accepted is not False
    return {"queue_accepted": accepted, "summary_says_something": says, "full_handover": full}
