"""Which languages a message is written in, by their common words."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .sentences import Sentence
from .words import common_words, other_languages, own_words

ENOUGH = 0.12
"""Share of a message's words that must be common words of a language for the message to count as written in it."""
NEAR, OTHER = 0.6, 1.2
"""How many common words a second language needs beside those of the first, and one that is not read to be taken for the message's own."""
SURE, MOST_LANGUAGES = 40, 2
"""Common words of a language beyond which a message is surely in it, and how many languages such a message is read in at most."""
SHORT = 6
"""A message of fewer words, none of them a common one, is read in every language."""


def languages_of(said: Iterable[Sentence]) -> tuple[str, ...]:
    """The languages of a message.

    The one whose common words it holds most of, and those close behind; none if it is in one that is not read.
    """
    return _languages_of(_words(said))


def nearest_languages(said: Iterable[Sentence]) -> tuple[str, ...]:
    """The languages a message comes nearest to, by the words that are common in one language alone.

    All where it holds none.
    """
    return _near(_counts(_words(said), own_words()))


def _words(said: Iterable[Sentence]) -> tuple[str, ...]:
    return tuple(w.strip(".,;:!?") for s in said for w in s.plain.split())


@lru_cache(maxsize=4096)
def _languages_of(words: tuple[str, ...]) -> tuple[str, ...]:
    counts = _counts(words, common_words())
    best = max(counts.values())
    if best < ENOUGH * len(words):
        return tuple(counts) if best == 0 and len(words) < SHORT and all(w.isascii() for w in words) else ()
    if any(sum(w in other for w in words) > OTHER * best for other in other_languages()):
        return ()
    return _near(counts)


def _counts(words: tuple[str, ...], known: dict[str, frozenset[str]]) -> dict[str, int]:
    return {language: sum(w in mine for w in words) for language, mine in known.items()}


def _near(counts: dict[str, int]) -> tuple[str, ...]:
    best = max(counts.values())
    near = [language for language, n in counts.items() if n >= NEAR * best]
    return tuple(near if best < SURE else sorted(near, key=counts.__getitem__, reverse=True)[:MOST_LANGUAGES])
