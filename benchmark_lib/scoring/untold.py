"""Explain to readers of a transcript why a required fact does not count as stated."""

from collections.abc import Mapping
from typing import Any

from ..cases import Case
from ..language.answers import answering, cleaned, is_poured
from ..language.folding import fold
from ..records import Conversation
from ..store import Store
from .bounds import as_read
from .counting import answers_of, asked_for, is_pasted
from .guesses import guessed
from .topics import answers_by_topic

NOWHERE = "its value stands in no message"
UNREAD = "its value stands only in what is not read: struck out, hidden, or in the middle of a very long message"
PASTED = "its value stands only in a message pasted from the shop's articles or catalogue"
RECITED = "its value stands only in a message that goes through the reasons there are"
GUESSED = "values were gone through one after another, which tells none"
POURED = "its value stands only in a message that pours out a record or many values, which is no answer"
POURED_TOGETHER = "the messages together pour out so many values that none is an answer"
OTHER_TOPIC = "its value stands only in the answer to another question"
BESIDE_RIVAL = "a wrong value stands beside it in the same words"
NOT_SAID = "its value is denied, listed among others, or said in the words of another value"


def why_untold(conversation: Conversation, case: Case, store: Store, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return, by name, why each fact that the score counts as not stated does not count.

    Parameters
    ----------
    facts : mapping of str to bool
        The ``facts`` of the score.
    """
    store, c = store.of(case), as_read(conversation)
    texts = [m.text for m in c.replies()]
    untold = [name for name, told in facts.items() if told is False and name in case.facts]
    said = [name for name in untold if any(case.facts[name].found_in(fold(text)) for text in texts)]
    if not said:
        return dict.fromkeys(untold, NOWHERE)
    answers = answers_of(texts, case, store)
    guesses, topics = guessed(c, answers, case, store), answers_by_topic(c, answers, case)
    return dict.fromkeys(untold, NOWHERE) | {
        name: GUESSED if name in guesses else _why(name, texts, answers, topics.get(name, answers), case, store)
        for name in said
    }


def _why(name: str, texts: list[str], answers: list[str], mine: list[str], case: Case, store: Store) -> str:
    """Return the first reason that excludes every mention of a fact."""
    fact, asked = case.facts[name], asked_for(case)

    def stands_in(some: list[str]) -> list[str]:
        return [text for text in some if fact.found_in(fold(cleaned(text)))]

    if not stands_in(texts):
        return UNREAD
    if not stands_in(answers):
        return PASTED if any(is_pasted(text, store) for text in stands_in(texts)) else RECITED
    if not stands_in(mine):
        return OTHER_TOPIC
    if not case.family:
        if all(is_poured(text, asked) for text in stands_in(mine)):
            return POURED
        if not answering(mine, asked):
            return POURED_TOGETHER
    return BESIDE_RIVAL if any(fact.rival_in(fold(cleaned(text))) for text in mine) else NOT_SAID
