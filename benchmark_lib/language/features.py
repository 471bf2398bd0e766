"""Compute the features of a sentence for a linear reader: words, pairs of words, marks and matching patterns."""

import re
from collections.abc import Iterable

_LINK = re.compile(r"https?://\S{1,300}")
_ID = re.compile(r"\b[a-z]{1,4}-?\d[\w-]*")
_MONEY = re.compile(r"[$€£] ?\d[\d.,]*|\d[\d.,]* ?[$€£]")
_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(r"[^\W_]+|[?!:;,.|/]")

KNOWN = 2.0
"""Weight of a phrase file's pattern relative to a word."""

STEM = 5
"""Letters of the beginning of a longer word that represent its forms."""


def tokens(plain: str) -> list[str]:
    """Return the words and marks of a `plain` sentence; a link, number or amount is one word."""
    text = _LINK.sub(" xlinkx ", plain) if "://" in plain else plain
    if _DIGITS.search(text):
        text = _DIGITS.sub(" 0 ", _MONEY.sub(" xmoneyx ", _ID.sub(" xidx ", text)))
    return _TOKEN.findall(text)


def features(plain: str, item: bool, before: str) -> list[str]:
    """Return a sentence's distinct words, beginnings, pairs and marks, and the mark `before` it or its list."""
    words = tokens(plain)
    found = [*words, *(f"p={w[:STEM]}" for w in words if len(w) > STEM)]
    found += [f"{a} {b}" for a, b in zip(["^", *words], [*words, "$"])]
    found.append(f"before={before}")
    if plain.rstrip(" _)").endswith("?"):
        found.append("asks=")
    if item:
        found.append(f"item={before}")
    return list(dict.fromkeys(found))


def of_patterns(names: Iterable[str]) -> list[str]:
    """Return the features of the patterns that a sentence matches, without repetition."""
    return [f"r={name}" for name in dict.fromkeys(names)]
