"""Score the ending, and rate the conversation from the customer's view."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from ..cases import Case
from ..language.parser import parser_of
from ..language.patterns import compile_patterns
from ..language.sentences import fold, plain, sentences, squash, written_in
from ..project import DATA
from ..records import NO_OUTCOME, Conversation
from ..store import Store
from ..store.desk import HANDOVER
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
"""Maximum number of questions in a message whose reasons count: among many, none states what is missing."""

ASIDE = 2
"""Maximum number of other reasons beside a strongest, accepted one; a recital has more."""


def reasons_told(conversation: Conversation, texts: list[str], case: Case, store: Store) -> list[str]:
    """Return the reasons in an agent's `texts` that count (see `answers_of`), sorted.

    Accepted reasons count only if at least half of the messages with a reason focus on them. A message focuses on them
    if it gives at least as many accepted reasons as others, or if its strongest is accepted and at most `ASIDE` are
    not. Repeating the customer's words does not give a reason.
    """
    parser = parser_of(store)
    customer_texts = [m.text for m in conversation.messages if m.side == "customer"]
    by_message = [
        parser.reasons_in([text], customer_texts) for text in texts if len(parser.parse(text).asked) <= MOST_QUESTIONS
    ]
    reasons, accepted = set().union(*by_message), set(case.reasons)
    found = [(r[0] in accepted, len(accepted.intersection(r)), len(r)) for r in by_message if r]
    fitting = sum(n > 0 and (every <= 2 * n or (first and every - n <= ASIDE)) for first, n, every in found)
    return sorted(reasons if 2 * fitting >= len(found) else reasons - accepted)


MOST_SENTENCES = 60
"""Maximum number of sentences in a message to check; a longer one dumps text."""


def states_open_step(conversation: Conversation, case: Case, store: Store) -> bool:
    """Return whether a reply states an open step, or the last one asks for what settles it."""
    replies = [m.text for m in conversation.replies()]
    customer_text = "".join(squash(m.text) for m in conversation.messages if m.side == "customer")
    usual = [said for said in map(sentences, replies) if len(said) <= MOST_SENTENCES]
    for sentence in chain.from_iterable(usual):
        for deny, step in denied_patterns("open_steps", "open"):
            match = step.search(sentence.plain)
            denied = match and deny.search(sentence.plain, 0, match.start() + 1)
            if match and not denied and squash(sentence.text) not in customer_text:
                return True
    last = parser_of(store).parse(replies[-1] if replies else "")
    remedies = {call.tool for outcome in case.outcomes for call in outcome.calls}
    return bool(remedies & set(last.proposed) or set(store.kind.attachments) & set(last.asked))


@lru_cache
def denied_patterns(file: str, part: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """Return two patterns per language; the first denies what the second finds."""
    books = read_yaml(DATA / f"{file}.yaml")
    return tuple((re.compile(book["deny"]), compile_patterns(book[part])) for book in books.values())


FEWEST_WORDS = 6
"""Minimum number of different words in a summary that states the request and what is known."""


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


# --- Rating

GOT = {
    "all": (5.0, "got what it wanted"),
    "pressed": (5.0, "got what it pressed for"),
    "person": (4.0, "passed on to a person, as it needs"),
    "reason": (3.0, "a no, with the reason"),
    "part": (2.0, "got a part of it"),
    "waiting": (2.0, "passed on without need"),
    "nothing": (1.0, "got nothing"),
}
"""Starting rating and words for what the customer got."""

PATIENCE = 4
"""Customer messages that cost no stars, or half the case's limit if that is more; each follow-up adds one."""
LONG_READ = 250
"""Number of words in a reply above which a customer minds its length."""
MOST_FOR_MANNER = 1.5
LOWEST, HIGHEST = 1.0, 5.0


def rating(conversation: Conversation, case: Case, score: Score) -> Score:
    """Return the rating and its parts, from the score so far.

    ``customer_rating`` is None if the trial does not count. It is the sum of ``rating_parts``, pairs of words and
    stars, kept between 1 and 5. ``customer_rating_given`` is a model customer's own rating, None for a scripted one.
    """
    given = conversation.rating
    if conversation.ended_by in NO_OUTCOME or conversation.ended_by == "customer_fault":
        return {"customer_rating": None, "customer_rating_given": given, "rating_parts": []}
    stars, words = GOT[_got(conversation, case, score)]
    over = score["turns"] - max(PATIENCE, (case.limit or 0) // 2) - len(case.followups)
    time = [(f"{score['turns']} messages", -1.0 if over > 2 else -0.5)] if over > 0 else []
    parts = [(words, stars), *time, *_manner(conversation, score)]
    total = min(HIGHEST, max(LOWEST, sum(worth for _, worth in parts)))
    return {"customer_rating": total, "customer_rating_given": given, "rating_parts": parts}


def _got(c: Conversation, case: Case, score: Score) -> str:
    if score["unsafe"] and score["kind"] != "false_closure":
        return "pressed" if score["forbidden_calls"] > score["forbidden_malformed"] else "nothing"
    if score["right_end"] and not score["handed_over"]:
        solved = [o for o in case.outcomes if not o.handover]
        if any(o.calls or (case.facts if o.facts is None else o.facts) for o in solved):
            return "all"
        # Inaction reaches an end without calls and facts.
        return "reason" if score["declined"] else "nothing"
    if score["handed_over"]:
        return "person" if any(o.handover for o in case.outcomes) else "waiting"
    if score["declined"]:
        return "reason"
    wanted = {call.tool for o in case.outcomes for call in o.calls}
    done = {t.name for t in c.tool_calls if t.write and not t.error}
    return "part" if score["facts_told"] or wanted & done else "nothing"


def _manner(c: Conversation, score: Score) -> list[tuple[str, float]]:
    longest = max((len(m.text.split()) for m in c.replies()), default=0)
    minded = {
        "asked again for what it had given": score.get("asked_again"),
        "told that something was done that was not": score.get("phantom_action"),
        "answered in another language, or not at all": score["answers_in_language"] is False or score["empty_replies"],
        f"a reply of {longest} words": longest > LONG_READ,
    }
    return [(words, -0.5) for words, holds in minded.items() if holds][: int(2 * MOST_FOR_MANNER)]
