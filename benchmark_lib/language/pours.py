"""Decide whether a message or a conversation is a dump of values, which is not an answer."""

import re
from collections import Counter
from functools import lru_cache

from .answers import NOTHING, cleaned, days_in, mentions
from .layout import ANY_YEAR
from .sentences import kept
from .values import values_in

OF_A_KIND, POURED, MOST_VALUES, MOST_IDS, MOST_DAYS = 4, 12, 20, 9, 11
"""Numbers of distinct values that make a dump. `POURED` counts at most `OF_A_KIND` of each kind; the others count all
values, ids, and days outside enumerations. The longest honest messages reach 10, 12, 2 and 10."""

MIXED, MIXED_IDS = 10, 4
"""Numbers of distinct values of all kinds (amounts up to `SUMS`) and of ids that together make a dump. Honest answers
reach 10 values and 3 ids."""

SUMS = 2
DENSE, WORDS_EACH = 8, 8
DENSE_IN_ALL, WORDS_EACH_IN_ALL = 9, 10
"""Minimum number of distinct values (amounts up to `SUMS`) and maximum words per value of a dense dump, for one message
and for all messages. Honest messages have at least 10.7 words per value."""

MOST_KEYS = 6
"""Number of field names (``total_cents``) that only a machine's output reaches."""

Values = frozenset[tuple[str, str]]
"""Values with their kinds."""


def answering(texts: list[str], asked: Values = frozenset()) -> list[str]:
    """Return the cleaned messages, a dump as empty text; nothing if all together are a dump.

    Values that were asked for (`asked`) never make a dump.
    """
    answers = ["" if is_poured(text, asked) else cleaned(text) for text in texts]
    counts: Counter[str] = Counter(kind for kind, _ in {pair for text in answers for pair in _poured(text)} - asked)
    words = sum(len(text.split()) for text in answers)
    return [] if _dense(counts, words, DENSE_IN_ALL, WORDS_EACH_IN_ALL) else answers


def is_poured(text: str, asked: Values = frozenset()) -> bool:
    """Return whether a message is a dump, as written or as shown, including struck-out values."""
    return is_pour(kept(text), asked) or is_pour(cleaned(text), asked)


@lru_cache(maxsize=1024)
def is_pour(text: str, asked: Values = frozenset()) -> bool:
    """Return whether a cleaned message dumps values: too many, too dense, or machine output."""
    counts = Counter(kind for kind, _ in _poured(text) - asked)
    return (
        _dense(counts, len(text.split()), DENSE, WORDS_EACH)
        or sum(min(n, OF_A_KIND) for kind, n in counts.items() if kind != "id") >= POURED
        or counts.total() >= MOST_VALUES
        or (counts["id"] >= MIXED_IDS and counts.total() - _beyond_sums(counts) >= MIXED)
        or counts["id"] >= MOST_IDS
        or counts["date"] >= MOST_DAYS
        or len({*_KEY.findall(text)}) >= MOST_KEYS
    )


def _dense(counts: Counter[str], words: int, many: int, each: int) -> bool:
    values = counts.total() - counts["id"] - _beyond_sums(counts)
    return values >= many and words < each * values


def _beyond_sums(counts: Counter[str]) -> int:
    return max(counts["money"] - SUMS, 0)


@lru_cache(maxsize=1024)
def _poured(text: str) -> frozenset[tuple[str, str]]:
    """Return a cleaned message's values with their kinds, without years or enumerated days."""
    found = ((v.kind, v.value) for v in values_in(text, ANY_YEAR))
    values = {(kind, f"{ANY_YEAR}{value[4:]}" if kind == "date" else value) for kind, value in found}
    if sum(kind == "date" for kind, _ in values) > 2:
        days = {m.value[4:] for m in mentions(text, NOTHING, days_in, "date") if m.how != "listed"}
        values = {(kind, value) for kind, value in values if kind != "date" or value[4:] in days}
    return frozenset(values)


_KEY = re.compile(r"(?<![\w./-])[a-z]{2,20}(?:_[a-z]{1,20}){1,4}(?![\w./@-])")
