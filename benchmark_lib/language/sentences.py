"""Split a message into sentences, in any of the languages."""

import re
from functools import lru_cache
from typing import NamedTuple

from .folding import plain
from .pieces import windows
from .words import months_after_a_dot

LONGEST_ITEM = 60
"""Characters of a list item without a bullet, after a line that ends in a colon."""


class Sentence(NamedTuple):
    """A sentence as written and as patterns see it (see `plain`), and whether it is part of a list item."""

    text: str
    plain: str
    item: bool = False


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a message, with list items and lines separate and long sentences in windows."""
    return list(_sentences(text))


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    colon = False
    for line in text.splitlines():
        bullet = _BULLET.match(line)
        bare = line[bullet.end() :] if bullet else line
        windowed = (window for part in _end().split(bare) for window in windows(part.strip()))
        said = [(window, words) for window in windowed if (words := plain(window)).strip()]
        if not said:
            continue
        end = said[-1][1].rstrip()[-1]
        item = bool(bullet) or (colon and end not in ".?!:" and len(plain(bare).strip()) < LONGEST_ITEM)
        found += [Sentence(window, words, item) for window, words in said]
        colon = item if colon and item else end == ":"
    return tuple(found)


def is_row(plain: str) -> bool:
    """Return whether a line is a table row without a question ("| Photo here | June 26 |"), which reports nothing."""
    return plain.lstrip().startswith("|") and not plain.rstrip(" |").endswith("?")


def parts(text: str) -> list[str]:
    """Return the sentences and lines of a text as written, with list marks; very long sentences in windows."""
    return [window for line in text.splitlines() for part in _end().split(line) for window in windows(part.strip())]


@lru_cache(maxsize=1)
def _end() -> re.Pattern[str]:
    """Return the pattern of a sentence's end, excluding abbreviations, days and remarks in brackets within it."""
    ordinal = rf"(?:(?<!\b\d\.)(?<!\b\d\d\.)|(?=\s+(?!(?:{months_after_a_dot()})\b)[A-ZÄÖÜÉ¡¿]))"
    abbreviation = "".join(rf"(?<!\b{a}\.)" for a in _SHORT.split())
    within = r"(?!\)[\"”»*]*\s*[a-zà-öø-ÿ,;:])"
    return re.compile(rf"(?<=[.?!…]){abbreviation}{ordinal}{within}" + r"[\s\"”»)*]+(?=\S)")


_BULLET = re.compile(r"^\s*(?:[-•–·*]|\(?\d{1,2}[.)]|\(?[a-hA-H]\))\s+")
_SHORT = (
    "[A-Za-z] [Nn]r [Nn]um [Rr]ef [Rr]éf [Aa]rt [Cc]a bzw ggf inkl [Ss]r [Ss]ra [Mm]r [Mm]rs [Mm]s [Dd]r [Ss]t [Jj]an "
    "[Ff]eb [Mm]ar [Aa]pr [Jj]un [Jj]ul [Aa]ug [Ss]ept [Oo]ct [Nn]ov [Dd]ec"
)
"""Abbreviations before a full stop that ends no sentence."""
