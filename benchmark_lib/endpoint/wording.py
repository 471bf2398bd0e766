"""What endpoints and models say in words of their own, read by the expressions in ``data/endpoints.yaml``."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from ..project import DATA
from ..textfiles import read_yaml


@lru_cache(maxsize=1)
def book() -> dict[str, Any]:
    """Return the file."""
    return read_yaml(DATA / "endpoints.yaml")


@lru_cache(maxsize=256)
def pattern(*words: str) -> re.Pattern[str]:
    """Return one expression for any of these."""
    return re.compile("|".join(words), re.IGNORECASE | re.MULTILINE)


def kinds_in(text: str, status: int | None) -> Iterable[str]:
    """Yield what the words of an error answer may mean, the likeliest first; a web page has words of its own."""
    for entry in book()["refusals"] if not text.lstrip().startswith("<") else ():
        denied = "unless" in entry and pattern(entry["unless"]).search(text)
        if (status or 0) in entry["statuses"] and not denied and pattern(*entry["words"]).search(text):
            yield entry["kind"]


def is_whole(word: str) -> bool:
    """Tell whether an answer says by this word that it is whole."""
    return pattern(book()["ends"]["whole"]).fullmatch(word) is not None


def end_meant(word: str) -> str | None:
    """Return ``length``, ``content_filter``, ``malformed_call`` or ``server`` for a word by which an answer ended."""
    ends = {name: words for name, words in book()["ends"].items() if name != "whole"}
    return next((name for name, words in ends.items() if pattern(words).search(word)), None)


def apart(text: str) -> tuple[str, list[str]]:
    """Return a text without the thoughts that stand between tags in it, and these.

    What comes before a closing tag that nothing opened is a thought, and so is what follows an opening one to the end.
    """
    if not any(first in text for first in "<[◁"):
        return text, []
    tags = book()["thoughts"]
    said: list[str] = []
    thoughts: list[str] = []
    at, thinking = 0, False
    for tag in pattern(f"(?P<close>{'|'.join(tags['close'])})", *tags["open"]).finditer(text):
        (thoughts if thinking else said).append(text[at : tag.start()])
        if tag["close"] and not thinking:
            thoughts, said = thoughts + said, []
        thinking, at = not tag["close"], tag.end()
    frame = pattern(*tags["frame"])
    if not at and not frame.search(text):
        return text, []
    (thoughts if thinking else said).append(text[at:])
    return frame.sub("", "".join(said)).strip(), [one.strip() for one in thoughts if one.strip()]


def call_in_text(text: str, tools: Iterable[str]) -> str:
    """Return the form of the first tool call that a reply holds in words, where nobody reads it; empty for none."""
    names = "|".join(map(re.escape, tools)) or r"(?!)"
    forms = book()["calls_in_text"].items()
    return next((form for form, shape in forms if pattern(shape.replace("NAMES", names)).search(text)), "")
