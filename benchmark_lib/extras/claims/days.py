"""Days that a sentence names: dates, "tomorrow", weekdays, and spans counted from today."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache

from ...language.sentences import plain
from ...language.values import values_in
from ...language.word_lists import books, day_names, words_of
from ...store import Store
from ...store.rules import add_business_days

FRIDAY = 4
LONGEST_SPAN = 60
"""Longest span of a delivery or payment, in days."""
_CLOCK = re.compile(r"(?i)\b(?:[aà]|vers|avant|dès) \d{1,2} ?h\b(?: ?\d{2}\b)?|\b\d{1,2} ?h ?\d{2}\b")
"""A time of day in French notation, which is not a number of hours."""


def latest_day(sentence: str, store: Store) -> date | None:
    """Return the latest day that a sentence names; None if it names none.

    Taking the latest keeps a day named in passing ("your order of 24 June") from counting as the promised day.
    """
    today = store.now.date()
    sentence = _CLOCK.sub(" ", sentence)
    found = [*_by_value(sentence, store), *_by_word(plain(sentence), today)]
    return max(found, default=None)


def _by_value(sentence: str, store: Store) -> Iterator[date]:
    """Yield dates, and the later ends of spans."""
    today = store.now.date()
    for value in values_in(sentence, today.year):
        end = value.value.rpartition("-")[2]
        if value.kind == "date":
            yield date.fromisoformat(value.value)
        elif value.kind in ("hours", "days", "business_days") and end.isdigit() and int(end) <= LONGEST_SPAN:
            if value.kind == "business_days":
                yield add_business_days(today, int(end), store)
            else:
                yield today + timedelta(-(-int(end) // 24) if value.kind == "hours" else int(end))


def _by_word(words: str, today: date) -> Iterator[date]:
    """Yield days named by a word; a weekday is the next such day after today."""
    relative, weekdays, end_of_week = _patterns()
    for distance, pattern in relative.items():
        if pattern.search(words):
            yield today + timedelta(distance)
    for number, pattern in enumerate(weekdays):
        if pattern.search(words):
            yield today + timedelta((number - today.weekday() - 1) % 7 + 1)
    if end_of_week.search(words):
        yield today + timedelta((FRIDAY - today.weekday()) % 7)


@lru_cache(maxsize=1)
def _patterns() -> tuple[dict[int, re.Pattern[str]], list[re.Pattern[str]], re.Pattern[str]]:
    """Return patterns of days near today by distance, of weekdays, and of the week's end."""
    named = [book["values"].get("relative_days", {}) for book in books().values()]
    distances = sorted({d for words in named for d in words})
    relative = {d: _words([w for words in named for w in words.get(d, ())]) for d in distances}
    weekdays = [_words([plain(name).strip() for name in names.split("|")]) for names in day_names()]
    return relative, weekdays, _words([*words_of("values", "end_of_week")])


def _words(patterns: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns) or '(?!)'})(?!\w)")
