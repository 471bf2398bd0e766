"""Which languages a message is written in, by their common words."""

import re
from collections.abc import Iterable
from functools import lru_cache

from .folding import plain
from .pieces import kept
from .sentences import Sentence
from .words import common_words, other_languages, own_words

ENOUGH = 0.12
"""Share of a message's words that must be common words of a language for the message to count as written in it."""
NEAR, OTHER = 0.6, 1.2
"""How many common words a second language needs beside those of the first, and one that is not read to be taken for the
message's own."""
SURE, MOST_LANGUAGES = 40, 2
"""Common words of a language beyond which a message is surely in it, and how many languages such a message is read in
at most."""
SHORT = 6
"""A message of fewer words, none of them a common one, is read in every language."""

OTHER_LANGUAGE = "other"
"""What `written_in` says of a text in a language that is not read."""
FEWEST, BESIDE = 3, 0.3
"""Telling words a text needs for its language to be told, and the share of them that may be of another one."""


@lru_cache(maxsize=4096)
def written_in(text: str) -> str | None:
    """The one language a text is written in, by the words that are common in it alone.

    None where it is too short to tell or mixed; names, numbers, links and addresses tell nothing. A text in a language
    that is not read is `OTHER_LANGUAGE`.
    """
    words = tuple(_WORD.findall(plain(_NO_WORDS.sub(" ", kept(text)))))
    counts = _counts(words, own_words())
    best, second = sorted(counts.values(), reverse=True)[:2]
    common = max(_counts(words, common_words()).values())
    foreign = max(sum(w in other for w in words) for other in other_languages())
    if foreign >= FEWEST and foreign > OTHER * common:
        return OTHER_LANGUAGE
    if best < FEWEST or second > BESIDE * best:
        return None
    return max(counts, key=counts.__getitem__)


def languages_of(said: Iterable[Sentence]) -> tuple[str, ...]:
    """The languages of a message.

    The one whose common words it holds most of, and those close behind; none if it is in one that is not read. Where
    other words outweigh its own, those of the sentences whose language can be told.
    """
    said = list(said)
    whole = _languages_of(_words(said))
    return whole or tuple(told for told in dict.fromkeys(written_in(s.text) for s in said) if told in common_words())


def nearest_languages(said: Iterable[Sentence]) -> tuple[str, ...]:
    """The languages a message comes nearest to, by the words that are common in one language alone.

    All where it holds none.
    """
    return _nearest(_words(said))


@lru_cache(maxsize=4096)
def _nearest(words: tuple[str, ...]) -> tuple[str, ...]:
    return _near(_counts(words, own_words()))


def _words(said: Iterable[Sentence]) -> tuple[str, ...]:
    """The words of a message; marks and figures are none, so that no padding with them hides its language."""
    return tuple(w for s in said for w in _WORD.findall(s.plain))


@lru_cache(maxsize=4096)
def _languages_of(words: tuple[str, ...]) -> tuple[str, ...]:
    counts = _counts(words, common_words())
    best = max(counts.values())
    if best < ENOUGH * len(words):
        return tuple(counts) if best == 0 and len(words) < SHORT and all(w.isascii() for w in words) else ()
    if any(sum(map(other.__contains__, words)) > OTHER * best for other in other_languages()):
        return ()
    return _near(counts)


def _counts(words: tuple[str, ...], known: dict[str, frozenset[str]]) -> dict[str, int]:
    return {language: sum(map(mine.__contains__, words)) for language, mine in known.items()}


def _near(counts: dict[str, int]) -> tuple[str, ...]:
    best = max(counts.values())
    near = [language for language, n in counts.items() if n >= NEAR * best]
    return tuple(near if best < SURE else sorted(near, key=counts.__getitem__, reverse=True)[:MOST_LANGUAGES])


_WORD = re.compile(r"[^\W\d_][\w'-]*")
_NO_WORDS = re.compile(r"https?://\S+|(?<!\S)\S{1,80}@\S{1,80}|\b[A-Z]{1,4}-?\d[\w-]*|[\"«“„][^\"«»“”„]{1,300}[\"»”“]")
"""Links, addresses, ids, and what is quoted."""
