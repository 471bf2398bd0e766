"""Find words that may be personal but were not replaced; a person decides about each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from functools import cache

from .names import ALSO, NAME, Kept, Place, begins_sentence, covered, first_names, is_german, is_term, is_word, towns
from .personal import KNOWN, STOP, folded, shape

NEAR = 30
"""Number of characters read before a word, so that time grows with the length of a text, not its square."""


def common_words(chats: Iterable[Iterable[str]]) -> frozenset[str]:
    """Return folded words, such as brands, that occur in several chats and are not known names.

    "Several" means three, or 5% of the chats if that is more.
    """
    words = [{folded(word) for text in texts for word in NAME.findall(text)} for texts in chats]
    counts, least = Counter(word for chat in words for word in chat), max(3, len(words) / 20)
    return frozenset(word for word, count in counts.items() if count >= least) - first_names() - ALSO


def doubts(text: str, kept: Kept, usual: Set[str] = frozenset()) -> Iterator[Place]:
    """Yield the places of words and numbers that may be personal, except for `usual` words."""
    low, words, named = folded(text), list(NAME.finditer(text)), list[Place]()
    german = is_german(low)
    for word in words:
        start, end = word.span()
        if len(word[0]) < 3 or folded(word[0]) in usual or covered(kept, text, start, end):
            continue
        if _may_name(text, low, word, len(words) < 3, german):
            if named and text[named[-1][1] : start] == " ":
                start = named.pop()[0]
            named.append((start, end))
    named += [number.span() for number in shape("number").finditer(text) if _may_identify(text, low, number)]
    yield from (place for place in named if not covered(kept, text, *place))
    yield from (box.span() for box in shape("box").finditer(low))
    for house in () if german else shape("house").finditer(text):
        street = folded(house[1])
        if not (street in _known_words() or street in KNOWN["doubtful"] or is_term(street)):
            yield house.span()


def _may_name(text: str, low: str, word: re.Match[str], alone: bool, german: bool) -> bool:
    shown, lower, (start, end) = word[0], folded(word[0]), word.span()
    if lower in STOP or lower in _known_words() or "'" in shown or "’" in shown:
        return False
    if lower in KNOWN["doubtful"] and shape("dated").search(low[max(0, start - 12) : end + 4]):
        return False
    capital, begins = shown[0].isupper() and not shown.isupper(), begins_sentence(text, start)
    near = low[max(0, start - NEAR) : start]
    first = begins or near.rstrip().endswith(",")
    listed, usual, town = lower in first_names(), is_word(lower) or is_term(lower), lower in towns()
    known, last = listed or lower in ALSO, re.match(r"\W*$|[,;)]", low[end:])
    called = shape("called").search(near)
    if shape("behind").match(low, end) and first and (capital or known):
        return not (german and is_term(lower))
    if known and (alone or (called and last and (capital or not usual or lower in ALSO))):
        return True
    sure = (listed and not is_word(lower)) or (known and not (begins or german))
    if capital and (sure or shape("addressed").search(near)):
        return True
    if usual or town or (german and (begins or not capital)):
        return False
    return bool(called and last and (capital or called[1])) or (capital and not begins and not german)


def _may_identify(text: str, low: str, number: re.Match[str]) -> bool:
    shown, (start, end) = number[0], number.span()
    alone = text.strip(" .!?") == shown and len(shown) >= 3
    if shape("money").match(low, end) or shape("amount").search(low[max(0, start - NEAR) : start]):
        return False
    if shape("usual_numbers").fullmatch(folded(shown)):
        return alone and shown.isdigit()
    return alone or (sum(map(str.isdigit, shown)) >= 2 and sum(map(str.isalnum, shown)) >= 4)


@cache
def _known_words() -> frozenset[str]:
    """Return words for countries, languages, currencies, months and days, except given names."""
    from babel import Locale

    words = set[str]()
    for code in ("en", "de", "fr", "es"):
        locale = Locale(code)
        named = [*locale.territories.values(), *locale.languages.values(), *locale.currencies.values()]
        dates = [*locale.months.values(), *locale.days.values()]
        named += [name for kind in dates for width in kind.values() for name in width.values()]
        words |= {folded(word) for name in named for word in NAME.findall(name)}
    return frozenset(words - first_names() - ALSO) | {*KNOWN["dated_words"]}
