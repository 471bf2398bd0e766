"""What is heard in certain words whatever the trained reader makes of the rest: cues from the files of the languages, over `plain` text."""

import re
from functools import lru_cache

from .patterns import compile_patterns
from .words import LANGUAGES, of_part, of_values, slots_heard

OF_QUESTIONS = ("invites", "closes", "yes_to", "any_of_them", "own_question", "means", "explains")
"""What a question can be in place of a request, by the names in the files."""

SETTLED = ("at_hand", "handling")
"""What a sentence can be in place of a request so that not even the patterns of a slot make it one."""


def none_asked(plain: str, requests: bool, languages: tuple[str, ...]) -> str | None:
    """What a sentence that sounds like a request is in its place; None where it is one."""
    marked = mark_of(plain) == "?"
    kinds = ["elsewhere", "later", *(OF_QUESTIONS if marked else ["handling"])]
    if not marked and not requests:
        kinds.append("at_hand")
    return next((kind for kind in kinds if holds("not_asked", kind, plain, languages)), None)


def holds(part: str, kind: str, plain: str, languages: tuple[str, ...]) -> bool:
    """Whether a sentence holds a cue of one kind from a part of the languages' files; of ``yes_to`` at its very beginning."""
    pattern = _cue(part, kind, languages)
    return bool(pattern.match(plain) if kind == "yes_to" else pattern.search(plain))


def slots_in(plain: str, languages: tuple[str, ...]) -> list[str]:
    """The slots that a sentence asks for in words which the trained reader takes for something else."""
    return [slot for slot in slots_heard() if holds("heard_as", slot, plain, languages)]


def dates_asked(plain: str, languages: tuple[str, ...]) -> frozenset[str]:
    """What the date is of that a sentence asks for, by its verbs: something ``ahead``, ``behind``, or ``any`` where they do not tell."""
    told = frozenset(kind for kind in ("ahead", "behind") if holds("dates", kind, plain, languages))
    return told or frozenset({"any"})


def mark_of(plain: str) -> str:
    """The mark at the end of a sentence; a full stop where it has none of the telling ones."""
    end = plain.rstrip(" _*)")[-1:]
    return end if end in (":", "?", "!") else "."


def either_or(plain: str) -> bool:
    """Whether a sentence has an "or" in it, in any language."""
    return bool(_joins("or").search(plain))


def joined(plain: str) -> bool:
    """Whether a sentence has an "and" in it, in any language."""
    return bool(_joins("and").search(plain))


def halves_of(plain: str) -> tuple[str, ...]:
    """A question with one "and" in it as the two questions on either side, in any language."""
    parts = _joins("and").split(plain.rstrip(" ?"))
    return tuple(f" {part.strip(' ,')}?" for part in parts) if len(parts) == 2 else ()


def between_points(plain: str, asks: bool) -> bool:
    """Whether a sentence ends in two marks of a list with an "or" between them, in any language; letters where it is no question."""
    return bool(_points("[a-h]|[1-9]" if asks else "[a-h]").search(plain))


@lru_cache(maxsize=16)
def cue_of_several(name: str) -> re.Pattern[str]:
    """A cue for several things at once in every language."""
    return compile_patterns(of_part("several", name, LANGUAGES))


@lru_cache(maxsize=256)
def _cue(part: str, kind: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    return compile_patterns(of_part(part, kind, languages) or ["(?!)"])


@lru_cache(maxsize=2)
def _joins(word: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{'|'.join(of_values(word))})[ ,]")


@lru_cache(maxsize=2)
def _points(marks: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{marks})\)? (?:{'|'.join(of_values('or'))}) (?:{marks})(?:\W*$|\. )")
