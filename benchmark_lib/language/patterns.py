"""Compile the patterns in the language files, and find their cues in `plain` text."""

import re
from collections.abc import Iterator
from functools import lru_cache

from .sentences import limited
from .word_lists import any_of, words_of

CLAUSE = r"(?:(?<=^ )|(?<=[,;:-] ))"
"""Replacement for ``^`` at the beginning of a pattern: the start of a clause."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.S)


def compile_patterns(patterns: list[str], tail: str = "") -> re.Pattern[str]:
    """Compile many patterns into one expression, followed by `tail`.

    Each pattern begins at the start of a word, after a blank or slash; with ``^``, at the start of a clause. An
    apostrophe counts as a blank, as in the text (see `sentences`). Unlimited repeats get a limit (see `limited`).
    """
    texts = [limited(pattern.replace("'", " ")) for pattern in patterns]
    begun = [f"(?:{CLAUSE + text[1:] if text.startswith('^') else text})" for text in texts]
    return re.compile(f"[ /](?:{'|'.join(begun)}){tail}", re.MULTILINE)


def union(patterns: list[str]) -> str:
    """Return alternatives as one expression, with blanks for apostrophes."""
    return "|".join(f"(?:{limited(p)})" for p in patterns).replace("'", " ")


def alternatives(pattern: str) -> list[str]:
    """Split a pattern at the bars outside groups."""
    parts, depth = [""], 0
    for token in _TOKEN.findall(pattern):
        depth += (token == "(") - (token == ")")
        if token == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += token
    return parts


def holds(part: str, kind: str, plain: str, languages: tuple[str, ...]) -> bool:
    """Return whether a sentence contains a cue of one kind from a part of the language files."""
    return bool(_cue(part, kind, languages).search(plain))


def dates_asked(plain: str, languages: tuple[str, ...]) -> frozenset[str]:
    """Return the kinds of dates that a sentence asks for: ``ahead``, ``behind`` or ``any``."""
    kinds = frozenset(kind for kind in ("ahead", "behind") if holds("dates", kind, plain, languages))
    return kinds or frozenset({"any"})


def mark_of(plain: str) -> str:
    """Return the mark that ends a sentence: ``:``, ``?``, ``!``, or else a full stop."""
    end = plain.rstrip(" _*)")[-1:]
    return end if end in (":", "?", "!") else "."


def either_or(plain: str) -> bool:
    """Return whether a sentence contains "or", in any language."""
    return bool(_joins("or").search(plain))


def alternatives_in(plain: str) -> int:
    """Return the number of alternatives of at least two words in "A, B or C"; 0 without "or"."""
    parts = [part for half in _joins("or").split(plain) for part in half.split(",")]
    return sum(len(part.split()) > 1 for part in parts) if either_or(plain) else 0


def joined_in(plain: str, languages: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the two halves of a sentence at each place that may join two statements.

    These are "but", "and" after a comma or in a question, and semicolons.
    """
    end = mark_of(plain).replace(":", ".")
    for join in _statement_joins(end == "?", languages).finditer(plain):
        first, second = plain[: join.start()], plain[join.start() :].lstrip(" ,;")
        if len(first.split()) > 1 and len(second.split()) > 1:
            yield f"{first}{end}", f" {second}"


@lru_cache(maxsize=32)
def _statement_joins(asks: bool, languages: tuple[str, ...]) -> re.Pattern[str]:
    ands = "|".join(words_of("values", "and", languages=languages))
    return re.compile(rf",{'?' * asks}(?= (?:{ands})[ ,])|[,;]?(?={cue_of_several('but').pattern})|;")


def asked_in(plain: str, languages: tuple[str, ...]) -> list[str]:
    """Split three or more questions, and a list of needs ("I need these: A, B, and C.")."""
    ands = "|".join(words_of("values", "and", languages=languages))
    if mark_of(plain) == "?":
        starts = "|".join(words_of("several", "question", languages=languages))
        parts = re.split(rf"(?:,(?: (?:{ands}),?)?| (?:{ands}),?) (?=(?:{starts})[ ,])", plain)
        several = len(parts) > 2 and all(len(part.split()) > 2 for part in parts)
        return [f" {part.strip(' ?')}?" for part in parts] if several else [plain]
    lead, _, listed = plain.partition(": ")
    if not (cue_of_several("inline").search(lead) and holds("heard_as", "needs", lead, languages)):
        return [plain]
    parts = re.split(rf"[,;] (?:(?:{ands}),? )?", listed)
    several = len(parts) > 1 < min(len(part.split()) for part in parts)
    return [f"{lead}:", *(f" {part}" for part in parts)] if several else [plain]


@lru_cache(maxsize=1)
def between_clauses() -> re.Pattern[str]:
    """Return a pattern of what parts clauses: a comma, a semicolon, a stop, a line, "and"."""
    ands = any_of("values", "and")
    return re.compile(rf"[,;]\s(?:(?:{ands})\s)?|\n|[.!?]\s|\s(?:{ands})\s")


@lru_cache(maxsize=64)
def cue_of_several(name: str) -> re.Pattern[str]:
    """Return the pattern of a cue for several things at once, in every language."""
    return compile_patterns([*words_of("several", name)])


@lru_cache(maxsize=256)
def _cue(part: str, kind: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    return compile_patterns([*words_of(part, kind, languages=languages)] or ["(?!)"])


@lru_cache(maxsize=2)
def _joins(word: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{any_of('values', word)})[ ,]")
