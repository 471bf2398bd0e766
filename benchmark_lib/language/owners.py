"""Decide which object a value is given for, by clause, sentence, cell or heading."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from .layout import Placed, column_of
from .sentences import letters
from .word_lists import any_of, words_of

Objects = tuple[frozenset[str], ...]
"""For each object, the words that name it and no other object."""
Span = tuple[int, int, str]
MOST_BETWEEN = 4
"""Most words between two objects joined by "and" ("the bag and the folder")."""
SHORT = 2
"""Most letters in a word that is too short to name an object."""
Mark = tuple[int, int]
"""A place in a sentence, and the number of the object that is named there."""


class Owners:
    """Assigns the values of one message to objects, sentence by sentence."""

    def __init__(self, objects: Objects):
        self._objects = objects
        self._order: list[int] = []
        self._topic: tuple[int, int | None] = (0, None)
        ends = {word for words in _ends("last") for word in words}
        self._nth = () if any(words & ends for words in objects) else _ends("second")

    def of(self, place: Placed, spans: list[Span]) -> list[int | None]:
        """Return the object's number for each value in the next sentence; None if none is named."""
        if not self._objects:
            return [None] * len(spans)
        marks = self._marks(place.folded)
        early = list(dict.fromkeys(n for at, n in marks if spans and at < spans[0][0]))
        if len(early) > 1:
            self._order = early
            second = self._marks(place.folded)
            marks = [mark for mark in second if mark not in marks] or marks
        if not spans:
            if named := list(dict.fromkeys(number for _, number in marks)):
                self._order = named if len(named) > 1 else self._order
                self._topic = place.block, named[0] if len(named) == 1 else None
            return []
        if marks and not place.columns:
            self._topic = place.block, marks[-1][1]
        above = [self._only(head) for head in reversed(place.heads)]
        if self._topic[0] == place.block and not marks:
            above.append(self._topic[1])
        texts = (f"{place.folded} | {column_of(place, start)}" if place.columns else "" for start, _, _ in spans)
        ways = zip(map(self._only, texts), _in_sentence(place.folded, marks, spans), strict=True)
        return [next((one for one in (*way, *above) if one is not None), None) for way in ways]

    def _marks(self, folded: str) -> list[Mark]:
        named = {word: number for number, words in enumerate(self._objects) for word in words}
        nth = {word: number for number, words in zip(self._order, self._nth, strict=False) for word in words}
        numbers = [(token.start(), (nth | named).get(letters(token.group()))) for token in _WORD.finditer(folded)]
        return [(at, number) for at, number in numbers if number is not None]

    def _only(self, folded: str) -> int | None:
        named = {number for _, number in self._marks(folded)}
        return named.pop() if len(named) == 1 else None


def _in_sentence(folded: str, marks: list[Mark], spans: list[Span]) -> list[int | None]:
    marks = [mark for mark in marks if not any(start <= mark[0] < end for start, end, _ in spans)]
    first, last = spans[0][0], spans[-1][1]
    if joined := _joined(folded, [m for m in marks if m[0] < first] or marks):
        places = range(len(spans)) if len(spans) > 1 else _within(folded, spans[0])
        if len(spans) in (1, len(joined)) and all(mark[0] < first or mark[0] >= last for mark in marks):
            return [joined[n] if n < len(joined) else None for n in places] or [None]
    leads = any(at < first for at, _ in marks)
    owners: list[int | None] = []
    for index, (start, end, _) in enumerate(spans):
        lower = spans[index - 1][1] if index else 0
        right = spans[index + 1][0] if index + 1 < len(spans) else len(folded)
        lead = [cut.end() for cut in _breaks().finditer(folded, lower, start)]
        tail = _breaks().search(folded, end, right)
        inside = [n for at, n in marks if (lead[-1] if lead else lower) <= at < (tail.start() if tail else right)]
        if len(set(inside)) == 1:
            owners.append(inside[0])
        elif leads:
            owners.append(next((n for at, n in reversed(marks) if at < start), None))
        else:
            owners.append(next((n for at, n in marks if end <= at < right), None))
    return owners


def _joined(folded: str, marks: list[Mark]) -> list[int]:
    """Return the marked objects, in order, if they are joined only by "and"; otherwise none."""
    joined = marks[:1]
    for mark in marks[1:]:
        between = folded[joined[-1][0] : mark[0]].split()[1:]
        if mark[1] in (joined[-1][1], *(number for _, number in joined)):
            joined[-1] = (mark[0], mark[1]) if mark[1] == joined[-1][1] else joined[-1]
        elif len(between) <= MOST_BETWEEN and _breaks().search(f" {' '.join(between)} "):
            joined.append(mark)
        else:
            return []
    return [number for _, number in joined] if len(joined) > 1 else []


def _within(folded: str, span: Span) -> list[int]:
    """Return the place of a day among days that share a month ("July 7 and 13"), if any."""
    joint, the = any_of("values", "and"), any_of("values", "the")
    both = rf"\d{{1,2}}(?:st|nd|rd|th|er|\.)?,?\s(?:{joint})\s(?:(?:{the})\s)?"
    if re.search(rf"{both}\d", folded[span[0] : span[1]]):
        return [int(folded[span[0]].isalpha())]
    if re.search(rf"{both}$", folded[: span[0]]):
        return [1]
    return [0] if re.match(rf"\W*(?:{joint})\s\d", folded[span[1] :]) else []


@lru_cache(maxsize=4096)
def object_words(said: str, asked: str, common: Callable[[str, int], frozenset[str]]) -> frozenset[str]:
    """Return the words for the object that both an answer and its question name.

    They are names (words with a capital within a sentence, or with figures) and the `common` words next to them. All
    words for the first or the last of a span belong to them if both texts have one of these words.
    """
    both = common(said, SHORT) & common(asked, SHORT)
    named = [
        {word for run in _runs(text, both) if any(name for _, name in run) for word, _ in run} for text in (said, asked)
    ]
    shared = named[0] & named[1]
    for end in _ends("last"):
        if all(end & {letters(word) for word in _WORD.findall(text.casefold())} for text in (said, asked)):
            shared |= end
    return frozenset(shared)


def _runs(text: str, words: frozenset[str]) -> Iterator[list[tuple[str, bool]]]:
    """Yield the runs of the given words in a text; say for each word whether it is a name."""
    run: list[tuple[str, bool]] = []
    for token in _WORD.finditer(text):
        word, at = letters(token.group().casefold()), token.start()
        if word in words:
            capital = token.group() != token.group().lower() and not _STARTS.search(text, max(at - 3, 0), at)
            run.append((word, at > 0 and capital or any(map(str.isdigit, word))))
        else:
            yield run
            run = []
    yield run


@lru_cache(maxsize=1)
def _breaks() -> re.Pattern[str]:
    return re.compile(rf"[,;:.(]\s?|\s-\s|\b(?:{any_of('values', 'and')})\b")


@lru_cache(maxsize=2)
def _ends(other: str) -> tuple[frozenset[str], ...]:
    """Return the words for the first object and for the last or the second."""
    return tuple(frozenset(map(letters, words_of("answers", key))) for key in ("first", other))


_WORD = re.compile(r"[^\W_]+")
_STARTS = re.compile(r"[.?!:]\s$|¿$")
