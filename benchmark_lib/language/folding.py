"""Normalize text for searching: folded, plain for patterns over words, or letters and digits only."""

import re
from functools import lru_cache

_PLAIN = (
    {ord(c): " " for c in "\u00a0\u202f\u205f\u3000\n\t"}
    | dict.fromkeys(range(0x2000, 0x200B), " ")
    | {ord(c): "-" for c in "–—‑−"}
    | {ord(c): "'" for c in "’‘ʼ"}
    | {ord("*"): None}
)
_LETTERS = {ord(a): b for a, b in zip("áàâäãåéèêëíìîïóòôöõúùûüñç", "aaaaaaeeeeiiiiooooouuuunc")}
_LETTERS |= {ord("œ"): "oe", ord("º"): "", ord("°"): "", ord("("): ", "}
_LETTERS |= {ord(c): " " for c in "'\"«»“”„‹›¿¡)[]`"}
_SYMBOL = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d>#_]")
_SYMBOLS = re.compile(f"{_SYMBOL.pattern}+(?![a-z])|(?<![a-z])_+")


@lru_cache(maxsize=32_768)
def fold(text: str) -> str:
    """Return text in lower case with plain spaces, dashes and quotes, and without markdown marks."""
    return text.casefold().translate(_PLAIN)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Return text for patterns over words.

    It is folded, without accents and symbols, with blanks for quotes, single blanks, and a blank in front.
    """
    folded = fold(text.replace("—", " - "))
    if _SYMBOL.search(folded):
        folded = _SYMBOLS.sub(" ", folded)
    return f" {' '.join(folded.translate(_LETTERS).split())}"


@lru_cache(maxsize=8192)
def squash(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))
