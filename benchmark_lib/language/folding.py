"""Text as it is searched.

One way to fold it, one for patterns over words, and one that keeps letters and digits alone.
"""

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
    """Text as it is searched: lower case, typographic spaces, dashes and quotes made plain, markdown marks dropped."""
    return text.casefold().translate(_PLAIN)


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Text as patterns over words see it.

    Folded, without accents and symbols, blanks for quotes, single blanks, and one before it.
    """
    folded = fold(text.replace("—", " - "))
    if _SYMBOL.search(folded):
        folded = _SYMBOLS.sub(" ", folded)
    return f" {' '.join(folded.translate(_LETTERS).split())}"


@lru_cache(maxsize=8192)
def squash(text: str) -> str:
    """Letters and digits only, in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))
