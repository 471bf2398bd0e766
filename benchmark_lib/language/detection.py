"""Detect the languages of a message by their common words."""

import re
from collections.abc import Iterable
from functools import lru_cache

from .sentences import Sentence, kept, plain
from .word_lists import common_words, other_languages, own_words

ENOUGH = 0.12
"""Share of a message's words that must be common words of a language for it to count."""
NEAR, OTHER = 0.6, 1.2
"""Ratio to the first language's common words, for a second language and for an unsupported one that replaces it."""
SURE, MOST_LANGUAGES = 40, 2
"""Number of common words above which a message is surely in a language, and maximum number of such languages."""
SHORT = 6
"""Number of words below which a message without common words is read in every language."""

OTHER_LANGUAGE = "other"
"""Result of `written_in` for a text in an unsupported language."""
FEWEST, BESIDE = 3, 0.3
"""Minimum number of significant words for a text's language to be known, and maximum share of a second language."""


@lru_cache(maxsize=4096)
def written_in(text: str) -> str | None:
    """Return the only language of a text, judged by words that are common in no other language.

    Return None for a short or mixed text, and `OTHER_LANGUAGE` for an unsupported language. Names, numbers, links and
    addresses do not count.
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
    """Return a message's languages: the one with the most common words, and those close to it.

    Return none for an unsupported language. If foreign words outweigh the message's own, take the languages of single
    sentences.
    """
    said = list(said)
    whole = _languages_of(_words(said))
    return whole or tuple(code for code in dict.fromkeys(written_in(s.text) for s in said) if code in common_words())


def nearest_languages(said: Iterable[Sentence]) -> tuple[str, ...]:
    """Return the languages with the most distinctive words in a message, or all if it has none."""
    return _nearest(_words(said))


@lru_cache(maxsize=4096)
def _nearest(words: tuple[str, ...]) -> tuple[str, ...]:
    return _near(_counts(words, own_words()))


def _words(said: Iterable[Sentence]) -> tuple[str, ...]:
    # Marks and figures do not count, so padding cannot hide the language.
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
    return {language: sum(map(own.__contains__, words)) for language, own in known.items()}


def _near(counts: dict[str, int]) -> tuple[str, ...]:
    best = max(counts.values())
    near = [language for language, n in counts.items() if n >= NEAR * best]
    return tuple(near if best < SURE else sorted(near, key=counts.__getitem__, reverse=True)[:MOST_LANGUAGES])


_WORD = re.compile(r"[^\W\d_][\w'-]*")
_NO_WORDS = re.compile(r"https?://\S+|(?<!\S)\S{1,80}@\S{1,80}|\b[A-Z]{1,4}-?\d[\w-]*|[\"«“„][^\"«»“”„]{1,300}[\"»”“]")
"""Links, addresses, ids and quotes."""
