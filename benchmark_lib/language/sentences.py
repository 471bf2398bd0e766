"""Fold a text, split it into sentences, keep both ends of a long one, detect languages."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from .word_lists import common_words, months_after_a_dot, other_languages, own_words

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
"""Characters of a list item without a bullet, after a colon."""


class Sentence(NamedTuple):
    """A sentence as written, as patterns see it (see `plain`), and whether it is a list item."""

    text: str
    plain: str
    item: bool = False


def sentences(text: str) -> list[Sentence]:
    """Return a message's sentences, list items and lines, long ones in windows."""
    return list(_sentences(text))


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[Sentence, ...]:
    result, colon = list[Sentence](), False
    for line in text.splitlines():
        bullet = BULLET.match(line)
        bare = _LABEL.sub(r"\1:", line[bullet.end() :]) if bullet else line
        windowed = (window for part in _end().split(bare) for window in windows(part.strip()))
        pieces = [(window, words) for window in windowed if (words := plain(window)).strip()]
        if not pieces:
            continue
        end = pieces[-1][1].rstrip()[-1]
        item = bool(bullet) or (colon and end not in ".?!:" and len(plain(bare).strip()) < LONGEST_ITEM)
        result += [Sentence(w if w in line else w.replace(":", ".", 1), words, item) for w, words in pieces]
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
_LABEL = re.compile(r"^(\W*[^\W\d_]+(?: [^\W\d_]+)?\W*)\.(?=\W*\s\S)")
_SHORT = (
    r"(?<!['’])(?<!\b[ie]n\s)(?<!size\s)(?<!Größe\s)(?<!taille\s)(?<!talla\s)[A-Za-gi-z] (?<!\d\s)h [Nn]r [Nn]um "
    "[Rr]ef [Rr]éf [Aa]rt [Cc]a [Aa]v [Aa]vda bzw ggf inkl [Ss]r [Ss]ra "
    "[Mm]r [Mm]rs [Mm]s [Dd]r [Ss]t [Jj]an [Ff]eb [Mm]ar [Aa]pr [Jj]un [Jj]ul [Aa]ug [Ss]ept [Oo]ct [Nn]ov [Dd]ec"
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
"""Characters of running text that a pattern sees at once, and of their overlap."""

REPEATS, LONGEST_RUN = 4, 30
"""Most repeats of a pattern's group, and of a single character, if the pattern sets no limit."""

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
    """Return whether a pattern matches a running text, piece by piece."""
    return any(pattern.search(piece) for piece in pieces(text))


def limited(pattern: str) -> str:
    """Limit every repeat in a pattern, so that no text makes it match without end."""
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


# --- Languages

ENOUGH = 0.12
"""Share of a message's words that must be common words of a language for it to count."""
NEAR, OTHER = 0.6, 1.2
"""Ratio to the first language's common words, for a second language or an unsupported one in its place."""
SURE, MOST_LANGUAGES = 40, 2
"""Common words above which a message is surely in a language, and maximum number of such languages."""
SHORT = 6
"""Number of words below which a message without common words is read in every language."""

OTHER_LANGUAGE = "other"
"""Result of `written_in` for a text in an unsupported language."""
FEWEST, BESIDE = 3, 0.3
"""Fewest telling words for a language to be known, and maximum share of a second language."""


@lru_cache(maxsize=4096)
def written_in(text: str) -> str | None:
    """Return the only language of a text, judged by words that are common in no other language.

    Return None for a short or mixed text, and `OTHER_LANGUAGE` for an unsupported language. Names, numbers, links and
    addresses do not count.
    """
    words = tuple(_WORD.findall(plain(_NO_WORDS.sub(" ", kept(text)))))
    counts = _counts(words, own_words())
    best, second = sorted(counts.values(), reverse=True)[:2]
    common = max(_counts(words, common_words()).values())
    foreign = max(sum(w in other for w in words) for other in other_languages())
    if foreign >= FEWEST and foreign > OTHER * common:
        return OTHER_LANGUAGE
    if best < FEWEST or second > BESIDE * best:
        return None
    return max(counts, key=counts.__getitem__)


def languages_of(said: Iterable[Sentence]) -> tuple[str, ...]:
    """Return a message's languages: the one with the most common words, and those close to it.

    Return none for an unsupported language. If foreign words outweigh the message's own, take the languages of single
    sentences.
    """
    said = list(said)
    whole = _languages_of(_words(said))
    return whole or tuple(code for code in dict.fromkeys(written_in(s.text) for s in said) if code in common_words())


def nearest_languages(said: Iterable[Sentence]) -> tuple[str, ...]:
    """Return the languages with the most distinctive words in a message, or all if it has none."""
    return _nearest(_words(said))


@lru_cache(maxsize=4096)
def _nearest(words: tuple[str, ...]) -> tuple[str, ...]:
    return _near(_counts(words, own_words()))


def _words(said: Iterable[Sentence]) -> tuple[str, ...]:
    # Marks and figures do not count, so padding cannot hide the language.
    return tuple(_WORD.findall(" ".join(s.plain for s in said)))


@lru_cache(maxsize=4096)
def _languages_of(words: tuple[str, ...]) -> tuple[str, ...]:
    counts = _counts(words, common_words())
    best = max(counts.values())
    if best < ENOUGH * len(words):
        return tuple(counts) if best == 0 and len(words) < SHORT and all(w.isascii() for w in words) else ()
    if any(sum(map(other.__contains__, words)) > OTHER * best for other in other_languages()):
        return ()
    return _near(counts)


def _counts(words: tuple[str, ...], known: dict[str, frozenset[str]]) -> dict[str, int]:
    return {language: sum(map(own.__contains__, words)) for language, own in known.items()}


def _near(counts: dict[str, int]) -> tuple[str, ...]:
    best = max(counts.values())
    near = [language for language, n in counts.items() if n >= NEAR * best]
    return tuple(near if best < SURE else sorted(near, key=counts.__getitem__, reverse=True)[:MOST_LANGUAGES])


_WORD = re.compile(r"[^\W\d_][\w'-]*")
_NO_WORDS = re.compile(r"https?://\S+|(?<!\S)\S{1,80}@\S{1,80}|\b[A-Z]{1,4}-?\d[\w-]*|[\"«“„][^\"«»“”„]{1,300}[\"»”“]")
"""Links, addresses, ids and quotes."""
