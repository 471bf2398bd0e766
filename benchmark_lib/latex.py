"""Escape text for LaTeX, so that no part of a model's name or a caption acts as a command."""

from __future__ import annotations

import re

LAST_LETTER = 0x17F
"""Last Latin letter that LaTeX sets without further packages."""

WHOLE, PIECE = 14, 10
"""Maximum number of letters in an unbroken word, and number of letters in each piece of a longer word."""
_PART = re.compile(r"\d+\.\d+[-/_.:,]?|[^-/_.:,]+[-/_.:,]?|[-/_.:,]")

_MATHS = {
    "×": "times",
    "±": "pm",
    "≤": "leq",
    "≥": "geq",
    "·": "cdot",
    "†": "dagger",
    "κ": "kappa",
    "ρ": "rho",
    "α": "alpha",
    "τ": "tau",
    "θ": "theta",
}
_NAMED = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "<": "less", ">": "greater", "|": "bar"}
_QUOTES_AND_DASHES = {'"': "''", "–": "--", "—": "---", "‘": "`", "’": "'", "“": "``", "”": "''"}
_SPECIAL = {
    **{c: rf"\{c}" for c in "&%$#_{}"},
    **{c: f"{{{c}}}" for c in "[]*"},
    **{c: rf"\text{name}{{}}" for c, name in _NAMED.items()},
    **{c: rf"$\{name}$" for c, name in _MATHS.items()},
    **_QUOTES_AND_DASHES,
    "…": r"\ldots{}",
    "−": r"$-$",
    "°": r"$^\circ$",
}


def escaped(text: str) -> str:
    """Return text for LaTeX on one line; a character that it cannot set becomes ``U+4E2D``."""
    return "".join(_SPECIAL.get(c) or _letter(c) for c in " ".join(text.split()))


def breakable(text: str) -> str:
    """Return text for LaTeX in which long words, such as models' names, may break."""
    return " ".join(map(_word, text.split()))


def _word(word: str) -> str:
    if len(word) <= WHOLE:
        return escaped(word)
    parts = _PART.findall(word)
    return r"\allowbreak{}".join(
        (r"\-" if part.strip("-/_.:,").isalpha() else r"\allowbreak{}").join(
            escaped(part[start : start + PIECE]) for start in range(0, len(part), PIECE)
        )
        for part in parts
    )


def _letter(character: str) -> str:
    code = ord(character)
    known = 0x20 <= code < 0x7F or 0xC0 <= code <= LAST_LETTER
    return character if known else rf"\texttt{{U+{code:04X}}}"
