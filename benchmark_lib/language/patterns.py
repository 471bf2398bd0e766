"""Compile the patterns of the languages' files, and find their cues in `plain` text.

One expression has many patterns, sorted by first letter so that most fail at once. Named patterns are tried only if a
word of the text begins with their first letters.
"""

import re
from functools import lru_cache

from .sentences import limited
from .word_lists import any_of, words_of

FIRST = 4
"""Characters from the beginning of a word that select the patterns to try."""

CLAUSE = r"(?:(?<=^ )|(?<=[,;:-] ))"
"""Replacement for ``^`` at the beginning of a pattern: the start of a clause."""

_WORDS = re.compile(rf"[ /](?=(.{{0,{FIRST}}}))")
_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.S)


def compile_patterns(patterns: list[str], tail: str = "") -> re.Pattern[str]:
    """Compile many patterns to one expression, followed by `tail`.

    Each pattern begins at the start of a word, after a blank or slash; with ``^`` at the start of a clause. An
    apostrophe is a blank, as in the text (see `sentences`). Unlimited repeats get a limit (see `limited`).
    """
    by_letter: dict[str, list[str]] = {}
    others = []
    for pattern in (limited(p.replace("'", " ")) for p in patterns):
        heads = None if pattern.startswith("^") else _heads(pattern)
        if heads is None:
            others.append(CLAUSE + pattern[1:] if pattern.startswith("^") else pattern)
            continue
        for letter, rest in heads:
            by_letter.setdefault(letter, []).append(rest)
    sorted_out = [f"{letter}(?:{'|'.join(rests)})" for letter, rests in by_letter.items()]
    return re.compile(f"[ /](?:{'|'.join(sorted_out + [f'(?:{p})' for p in others])}){tail}", re.MULTILINE)


class Patterns(dict[str, re.Pattern[str]]):
    """Expressions by name, each made of a list of patterns (see `compile_patterns`)."""

    def __init__(self, lists: dict[str, list[str]], tail: str = ""):
        super().__init__({name: compile_patterns(patterns, tail) for name, patterns in lists.items()})
        self._pairs = list(self.items())
        self._beginnings = [
            tuple({b for p in patterns for b in _beginnings(limited(p.replace("'", " ")).removeprefix("^"))})
            for patterns in lists.values()
        ]
        self._places_at = lru_cache(maxsize=8192)(self._places)

    def near(self, plain: str) -> list[tuple[str, re.Pattern[str]]]:
        """Return, in order, the expressions that may match a text, by the beginnings of its words."""
        places = {place for word in _WORDS.findall(plain) for place in self._places_at(word)}
        return [self._pairs[place] for place in sorted(places)]

    def _places(self, word: str) -> tuple[int, ...]:
        return tuple(place for place, known in enumerate(self._beginnings) if word.startswith(known))


def _beginnings(pattern: str, letters: int = FIRST) -> set[str]:
    heads = (_heads(pattern) if letters else None) or [("", "")]
    return {letter + more for letter, rest in heads for more in (_beginnings(rest, letters - 1) if letter else {""})}


def union(patterns: list[str]) -> str:
    """Return alternatives as one expression, apostrophes as blanks."""
    return "|".join(f"(?:{limited(p)})" for p in patterns).replace("'", " ")


def _heads(pattern: str) -> list[tuple[str, str]] | None:
    heads: list[tuple[str, str]] = []
    for alternative in alternatives(pattern):
        if alternative.startswith("(?:"):
            inside, after = _group(alternative)
            inner = None if after[:1] in tuple("?*+{") else _heads(inside)
            if inner is None:
                return None
            rests: dict[str, list[str]] = {}
            for letter, rest in inner:
                rests.setdefault(letter, []).append(rest)
            heads += [(letter, f"(?:{'|'.join(r)}){after}") for letter, r in rests.items()]
        elif (alternative[:1].isalnum() or alternative[:1] == " ") and alternative[1:2] not in tuple("?*+{"):
            heads.append((alternative[0], alternative[1:]))
        else:
            return None
    return heads


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


def _group(pattern: str) -> tuple[str, str]:
    depth = position = 0
    for token in _TOKEN.findall(pattern):
        depth += (token == "(") - (token == ")")
        position += len(token)
        if not depth:
            break
    return pattern[3 : position - 1], pattern[position:]


def holds(part: str, kind: str, plain: str, languages: tuple[str, ...]) -> bool:
    """Return whether a sentence contains a cue of one kind from a part of the files."""
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


def halves_of(plain: str) -> tuple[str, ...]:
    """Return the halves of a question with one "and", in any language; else nothing."""
    parts = _joins("and").split(plain.rstrip(" ?"))
    return tuple(f" {part.strip(' ,')}?" for part in parts) if len(parts) == 2 else ()


def between_points(plain: str, asks: bool) -> bool:
    """Return whether a sentence ends in list marks joined by "or"; a statement needs letters."""
    return bool(_points("[a-h]|[1-9]" if asks else "[a-h]").search(plain))


@lru_cache(maxsize=16)
def cue_of_several(name: str) -> re.Pattern[str]:
    """Return the pattern of a cue for several things at once, in every language."""
    return compile_patterns([*words_of("several", name)])


@lru_cache(maxsize=256)
def _cue(part: str, kind: str, languages: tuple[str, ...]) -> re.Pattern[str]:
    return compile_patterns([*words_of(part, kind, languages=languages)] or ["(?!)"])


@lru_cache(maxsize=2)
def _joins(word: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{any_of('values', word)})[ ,]")


@lru_cache(maxsize=2)
def _points(marks: str) -> re.Pattern[str]:
    return re.compile(rf" (?:{marks})\)? (?:{any_of('values', 'or')}) (?:{marks})(?:\W*$|\. )")
