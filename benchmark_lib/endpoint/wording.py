"""Interpret the wording of endpoints and models, using ``data/endpoints.yaml``."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ..project import DATA
from ..textfiles import read_yaml

WHOLE = "whole"


@lru_cache(maxsize=1)
def book() -> dict[str, Any]:
    """Return the content of ``data/endpoints.yaml``."""
    return read_yaml(DATA / "endpoints.yaml")


@lru_cache(maxsize=256)
def pattern(*words: str) -> re.Pattern[str]:
    """Return one regular expression with the given expressions as alternatives."""
    return re.compile("|".join(words), re.IGNORECASE | re.MULTILINE)


def kinds_in(text: str, status: int | None) -> Iterable[str]:
    """Yield the kinds of error that a text may mean, likeliest first; none for a web page."""
    for entry in book()["refusals"] if not text.lstrip().startswith("<") else ():
        denied = "unless" in entry and pattern(entry["unless"]).search(text)
        if (status or 0) in entry["statuses"] and not denied and pattern(*entry["words"]).search(text):
            yield entry["kind"]


def end_meant(word: str) -> str | None:
    """Return our name for a finish reason: `WHOLE` for a complete answer, None if unknown."""
    ends = book()["ends"]
    if pattern(ends[WHOLE]).fullmatch(word):
        return WHOLE
    return next((name for name, words in ends.items() if name != WHOLE and pattern(words).search(word)), None)


def apart(text: str) -> tuple[str, list[str]]:
    """Split a text into what the reader sees and the thoughts between tags.

    Text before a closing tag that nothing opened is a thought; so is text after an opening tag that nothing closes.
    """
    if not any(first in text for first in "<[◁"):
        return text, []
    tags = book()["thoughts"]
    visible: list[str] = []
    thoughts: list[str] = []
    at, thinking = 0, False
    for tag in pattern(f"(?P<close>{'|'.join(tags['close'])})", *tags["open"]).finditer(text):
        (thoughts if thinking else visible).append(text[at : tag.start()])
        if tag["close"] and not thinking:
            thoughts, visible = thoughts + visible, []
        thinking, at = not tag["close"], tag.end()
    frame = pattern(*tags["frame"])
    if not at and not frame.search(text):
        return text, []
    (thoughts if thinking else visible).append(text[at:])
    return frame.sub("", "".join(visible)).strip(), [one.strip() for one in thoughts if one.strip()]


def call_in_text(text: str, tools: Iterable[str]) -> str:
    """Return the form of the first tool call that a reply writes as text, or an empty string."""
    names = "|".join(map(re.escape, tools)) or r"(?!)"
    forms = book()["calls_in_text"].items()
    return next((form for form, shape in forms if pattern(shape.replace("NAMES", names)).search(text)), "")
