"""Compile the patterns of phrase files to regular expressions.

One expression has many patterns, sorted by first letter so that most fail at once. Named patterns are tried only if a
word of the text begins with their first letters.
"""

import re
from functools import lru_cache

from .sentences import limited

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
