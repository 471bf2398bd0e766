"""Fold a text, split it into sentences, and keep both ends of a long one."""

import re
from functools import lru_cache
from typing import NamedTuple

from .word_lists import months_after_a_dot

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
    """Return text in lower case with plain spaces, dashes and quotes, without markdown."""
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


def letters(word: str) -> str:
    """Return a folded word without accents."""
    return word if word.isascii() else word.translate(_LETTERS)


@lru_cache(maxsize=8192)
def squash(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return "".join(filter(str.isalnum, text.casefold()))


LONGEST_ITEM = 60
"""Characters of a list item without a bullet, after a line that ends in a colon."""


class Sentence(NamedTuple):
    """A sentence as written, as patterns see it (see `plain`), and whether it is a list item."""

    text: str
    plain: str
    item: bool = False


def sentences(text: str) -> list[Sentence]:
    """Return the sentences, list items and lines of a message; split long ones into windows."""
    return list(_sentences(text))


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[Sentence, ...]:
    result: list[Sentence] = []
    colon = False
    for line in text.splitlines():
        bullet = BULLET.match(line)
        bare = line[bullet.end() :] if bullet else line
        windowed = (window for part in _end().split(bare) for window in windows(part.strip()))
        pieces = [(window, words) for window in windowed if (words := plain(window)).strip()]
        if not pieces:
            continue
        end = pieces[-1][1].rstrip()[-1]
        item = bool(bullet) or (colon and end not in ".?!:" and len(plain(bare).strip()) < LONGEST_ITEM)
        result += [Sentence(window, words, item) for window, words in pieces]
        colon = item if colon and item else end == ":"
    return tuple(result)


def is_row(plain: str) -> bool:
    """Return whether a line is a table row, which reports nothing ("| Photo here | June 26 |")."""
    return plain.lstrip().startswith("|") and not plain.rstrip(" |").endswith("?")


def parts(text: str) -> list[str]:
    """Return a text's sentences and lines as written, with list marks; split long ones."""
    return [window for line in text.splitlines() for part in _end().split(line) for window in windows(part.strip())]


@lru_cache(maxsize=1)
def _end() -> re.Pattern[str]:
    """Return the pattern of a sentence's end, not of an abbreviation, day or inner bracket."""
    ordinal = rf"(?:(?<!\b\d\.)(?<!\b\d\d\.)|(?=\s+(?!(?:{months_after_a_dot()})\b)[A-ZÄÖÜÉ¡¿]))"
    abbreviation = "".join(rf"(?<!\b{a}\.)" for a in _SHORT.split())
    within = r"(?!\)[\"”»*]*\s*[a-zà-öø-ÿ,;:])"
    return re.compile(rf"(?<=[.?!…]){abbreviation}{ordinal}{within}" + r"[\s\"”»)*]+(?=\S)")


BULLET = re.compile(r"^\s*(?:[-•–·*]|\(?\d{1,2}[.)]|\(?[a-hA-H]\))\s+")
_SHORT = (
    "[A-Za-z] [Nn]r [Nn]um [Rr]ef [Rr]éf [Aa]rt [Cc]a bzw ggf inkl [Ss]r [Ss]ra [Mm]r [Mm]rs [Mm]s [Dd]r [Ss]t [Jj]an "
    "[Ff]eb [Mm]ar [Aa]pr [Jj]un [Jj]ul [Aa]ug [Ss]ept [Oo]ct [Nn]ov [Dd]ec"
)
"""Abbreviations whose full stop does not end a sentence."""


WHOLE, ENDS = 12_000, 2_000
"""Characters of the longest message that is read whole (more than any person writes), and of each end that is read of a
longer one. The limit is the same for every reader, so that nothing counts that a detector does not see."""

TOTAL, ENDS_OF_MANY = 32_000, 1_000
"""Characters of one side of a conversation that are read whole; beyond that, characters read at each end of a message
longer than its share."""

LONGEST_SENTENCE = 400
"""Characters of a window; a longer sentence is read in windows."""

PIECE, OVERLAP = 2_000, 200
"""Characters of running text that a pattern sees at once, and of their overlap with the next piece."""

REPEATS, LONGEST_RUN = 4, 30
"""Maximum number of repeats of a pattern's group, and of a single character, if the pattern sets no limit."""

_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{\d+,\}|.", re.S)


def kept(text: str, most: int = WHOLE, ends: int = ENDS) -> str:
    """Return the part of a text that is read.

    The part is the whole text, or its beginning and end if it has more than `most` characters; no word is cut.
    """
    if len(text) <= most:
        return text
    head, tail = text[:ends], text[-ends:]
    if not text[ends].isspace():
        head = head[: _last_blank(head)]
    if not text[-ends - 1].isspace():
        tail = tail[len(tail) - _last_blank(tail[::-1]) :]
    return f"{head}\n{tail}"


def kept_together(texts: list[str]) -> list[str]:
    """Return the parts of one side's messages that are read."""
    if sum(map(len, texts)) <= TOTAL:
        return [kept(text) for text in texts]
    share = max(TOTAL // len(texts), 2 * ENDS_OF_MANY)
    return [kept(text, min(share, WHOLE), ENDS_OF_MANY) for text in texts]


def windows(sentence: str, size: int = LONGEST_SENTENCE) -> list[str]:
    """Cut a sentence into windows of `size` characters; split only words that are longer."""
    result = []
    while len(sentence) > size:
        cut = _last_blank(sentence[: size + 1])
        cut = cut if 0 < cut <= size else size
        result.append(sentence[:cut])
        sentence = sentence[cut:].lstrip()
    return [*result, sentence] if sentence else result


def pieces(text: str) -> list[str]:
    """Cut running text into overlapping pieces, so that one contains any expression at a cut."""
    if len(text) <= PIECE:
        return [text]
    return [text[at : at + PIECE] for at in range(0, len(text) - OVERLAP, PIECE - OVERLAP)]


def found_in(pattern: re.Pattern[str], text: str) -> bool:
    """Return whether a pattern matches a running text, searched piece by piece."""
    return any(pattern.search(piece) for piece in pieces(text))


def limited(pattern: str) -> str:
    """Limit every repeat in a pattern, so that no text makes it try ever more ways to match."""
    tokens: list[str] = []
    for token in _TOKEN.findall(pattern):
        least = {"*": 0, "+": 1}.get(token, int(token[1:-2]) if token[0] == "{" and token[-2:] == ",}" else None)
        if least is None or not tokens:
            tokens.append(token)
            continue
        most = REPEATS if tokens[-1] == ")" else LONGEST_SENTENCE if tokens[-1].startswith("[^") else LONGEST_RUN
        tokens.append(f"{{{least},{most}}}")
    return "".join(tokens)


def _last_blank(text: str) -> int:
    # Without a blank, nothing is cut off.
    blank = max(text.rfind(" "), text.rfind("\n"))
    return blank if blank > 0 else len(text)
