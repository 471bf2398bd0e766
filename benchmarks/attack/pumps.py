"""Texts that attack the library's own patterns.

A text says over and over what a pattern repeats, after the beginning of a match.
"""

import random
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]  # private, but nothing else knows how a pattern is built
from typing import Any

STARTS = (
    "", "", "please ", "can you ", "bitte ", "por favor ", "veuillez ", "i have ", "we need ", "thank you ", "shall i ",
)  # fmt: skip
ENDS = ("", "", "?", ".", " x", " please?")
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 -.@$"


@lru_cache(maxsize=1)
def patterns() -> list[str]:
    """Return every pattern that repeats something.

    The patterns come from the store's phrases and from the library's modules imported so far.
    """
    from benchmark_lib import load_store

    found = dict.fromkeys(_strings(load_store().phrases))
    for name, module in sorted(sys.modules.items()):
        if name.startswith("benchmark_lib"):
            found |= dict.fromkeys(_strings(vars(module)))
    return [p for p in found if re.search(r"[*+}]", p) and _compiles(p)]


def _strings(value: Any, depth: int = 5) -> Iterator[str]:
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value.pattern
    elif isinstance(value, str) and re.search(r"\(\?|\\[bdws]|\w[*+]", value) and len(value) < 20_000:
        yield value
    elif isinstance(value, (dict, list, tuple)) and depth:
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner, depth - 1)


def _compiles(pattern: str) -> bool:
    try:
        return any(op in (codes.MAX_REPEAT, codes.MIN_REPEAT) for op, _ in _every(parser.parse(pattern)))
    except (re.error, RecursionError, OverflowError):
        return False


def _every(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, given in tree:
        yield op, given
        for inner in _parts(op, given):
            yield from _every(inner)


def _parts(op: Any, given: Any) -> list[Any]:
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        return [given[2]]
    if op is codes.SUBPATTERN:
        return [given[3]]
    return list(given[1]) if op is codes.BRANCH else []


def pump(rng: random.Random) -> tuple[str, str, str]:
    """Draw the beginning, the repeated part and the end for one pattern of `patterns`."""
    for _ in range(50):
        tree = parser.parse(rng.choice(patterns()))
        before = _Sample(rng)
        if before.walk(tree):
            unit = before.unit
            end = rng.choice(ENDS)
            return rng.choice(STARTS) + before.text, unit, end
    return "", "a ", ""


class _Sample:
    """A text that a pattern matches up to one of its repeats, which is then the unit."""

    def __init__(self, rng: random.Random):
        self.rng, self.text, self.unit = rng, "", ""

    def walk(self, tree: Any) -> bool:
        """Add what matches; return True once a repeat was chosen."""
        return any(self._step(op, given) for op, given in tree)

    def _step(self, op: Any, given: Any) -> bool:
        rng = self.rng
        if op is codes.LITERAL:
            self.text += chr(given)
        elif op in (codes.ANY, codes.NOT_LITERAL):
            self.text += rng.choice(LETTERS)
        elif op is codes.IN:
            self.text += self._one_of(given)
        elif op is codes.BRANCH:
            return self.walk(rng.choice(given[1]))
        elif op is codes.SUBPATTERN:
            return self.walk(given[3])
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self._repeat(*given)
        return False

    def _repeat(self, low: int, high: Any, body: Any) -> bool:
        if high is codes.MAXREPEAT or high > 8:
            inner = _Sample(self.rng)
            if self.rng.random() < 0.6 and not inner.walk(body) and inner.text:
                self.unit = inner.text
                return True
        return any(self.walk(body) for _ in range(max(low, self.rng.randint(0, 1))))

    def _one_of(self, given: Any) -> str:
        for op, value in self.rng.sample(given, len(given)):
            if op is codes.LITERAL:
                return chr(value)
            if op is codes.RANGE:
                return chr(self.rng.randint(*value))
            if op is codes.CATEGORY:
                return {codes.CATEGORY_DIGIT: "7", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "w"}.get(value, "-")
        return self.rng.choice(LETTERS)
