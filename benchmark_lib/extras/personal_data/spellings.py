"""Recognise a known personal value in any spelling."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from .names import NAME, first_names, is_german, is_word
from .personal import ARTICLES, KNOWN, PARTICLES, Personal, folded, shape

SEP = r"[\s.\-/()#_]{0,3}"


class Spelling(NamedTuple):
    """One way to write a value, with the kind of its stand-in and the canonical value."""

    kind: str
    canonical: str
    pattern: re.Pattern[str]


@lru_cache(maxsize=4096)
def spellings(value: Personal) -> tuple[Spelling, ...]:
    """Return the spellings of a value, as patterns over folded text."""
    kind, text = value.kind, folded(value.text).strip()
    makers = {"name": _name, "email": _mail, "birth": _dates, "address": _address}
    if kind in makers and (kind != "email" or "@" in text):
        return tuple(makers[kind](text))
    if kind == "email":
        pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        return (Spelling("number", re.sub(r"\W", "", text), pattern),)
    if kind == "city" or (kind == "secret" and not text.isdigit()):
        return (Spelling(kind, text, _whole(text)),) if len(text) > 2 else ()
    letters = [c for c in text if c.isalnum()]
    least = 3 if kind == "user" or any(c.isdigit() for c in letters) else 6
    return () if len(letters) < least else tuple(_numbers(kind, text, letters))


def _numbers(kind: str, text: str, letters: list[str]) -> Iterator[Spelling]:
    made = [letters]
    if kind == "phone":
        bare = [c for c in text.removeprefix("+").removeprefix("00") if c.isdigit()]
        made += [["0", *bare[cc:]] for cc in (1, 2, 3) if len(bare) > cc + 7]
        made += [bare[cc:] for cc in (0, 1, 2, 3) if len(bare) - cc >= 6]
    if kind != "user" and len(letters) >= 9:
        made.append(letters[-4:])
    for one in made:
        joined = SEP.join(map(re.escape, one))
        yield Spelling("number", "".join(letters), re.compile(rf"(?<![a-z0-9]){joined}(?![a-z0-9])"))


def _whole(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){SEP.join(map(re.escape, text.split()))}(?![a-z0-9])")


def words_of(text: str) -> list[str]:
    """Return the words of a name, except for single letters."""
    return [w for w in NAME.findall(text) if len(w) > 1]


def name_kind(part: str, n: int, of: int) -> str:
    """Return the kind of stand-in for the `n`-th part of a name with `of` parts."""
    return "given" if (n == 0 and of > 1) or part in first_names() else "family"


def _name(text: str) -> Iterator[Spelling]:
    words = [word for word in words_of(text) if not shape("is_title").fullmatch(f"{word}.")]
    if len(words) > 1:
        first, last = words[0], words[-1]
        for one in (words, [last, first], [first[0], last], [first, last], [first, last[0]]):
            joined = r"\.?[\s,_-]{1,3}".join(map(re.escape, one))
            yield Spelling("whole", text, re.compile(rf"(?<![^\W\d_]){joined}(?![^\W\d_])"))
    for n, part in enumerate(words):
        if part in PARTICLES:
            continue
        kind = name_kind(part, n, len(words))
        forms = {part, *(part.replace(a, b) for a, b in (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ss", "ß")))}
        forms |= {part[:i] + part[i] + "e" + part[i + 1 :] for i in range(len(part)) if part[i] in "aou"}
        every = "|".join(sorted(map(re.escape, forms)))
        yield Spelling(kind, part, re.compile(rf"(?<![^\W\d_])(?:{every})(?![^\W\d_])"))
        if len(part) >= 5:
            yield Spelling(f"misspelt {kind}", part, _misspelt(part))


@lru_cache(maxsize=4096)
def _misspelt(word: str) -> re.Pattern[str]:
    """Return a pattern for a word with one letter omitted, added, changed or misplaced."""
    inner = range(1, len(word))
    ways = {word[:i] + word[i + 1 :] for i in inner}
    ways |= {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in inner[:-1]}
    more = [f"{re.escape(word[:i])}[a-z]{re.escape(word[i + gap :])}" for i in inner for gap in (0, 1)]
    every = "|".join([*map(re.escape, sorted(ways - {word})), *more])
    return re.compile(rf"(?<![^\W\d_])(?!{re.escape(word)}(?![^\W\d_]))(?:{every})(?![^\W\d_])")


def _mail(text: str) -> Iterator[Spelling]:
    local, _, domain = text.partition("@")
    end, at = shape("dot").pattern.join(map(re.escape, domain.split("."))), shape("at").pattern
    yield Spelling("email", local, re.compile(rf"(?<![\w.+-]){re.escape(local)}{at}{end}(?!\w)"))
    if len(local) > 3 and not local.isalpha():
        yield Spelling("number", local, re.compile(rf"(?<![\w.+-]){re.escape(local)}(?![\w@])"))


def _dates(text: str) -> Iterator[Spelling]:
    numbers, months = re.findall(r"\d+", text), KNOWN["months"]
    month = next((months[w[:3]] for w in re.findall(r"[a-z]{3,}", text) if w[:3] in months), None)
    year = next((n for n in numbers if len(n) == 4), numbers[-1] if len(numbers) == 3 else "")
    rest = [int(n) for n in numbers if n != year]
    if not year or len(rest) + (month is not None) < 2:
        yield Spelling("date", text, _whole(text))
        return
    sep, th, short = r"[\s./,-]{1,2}(?:de |of )?", r"(?:st|nd|rd|th|\.|er)?", rf"(?:{year}|{year[-2:]})"
    for day, mon in [(rest[0], month)] if month else [(rest[0], rest[1]), (rest[1], rest[0])]:
        if 1 <= mon <= 12 and 1 <= day <= 31:
            names = "|".join(sorted(word for word, number in months.items() if number == mon))
            d, m = rf"0?{day}", rf"(?:0?{mon}|(?:{names})[a-z]*\.?)"
            for parts in ((d + th, m, short), (m, d + th, short), (year, m, d)):
                yield Spelling("date", text, re.compile(rf"(?<!\w){sep.join(parts)}(?!\w)"))


def _address(text: str) -> Iterator[Spelling]:
    words, inside = re.findall(r"[^\W_]+", text), KNOWN["parts"]["inside"]
    if len(words) > 2:
        joined = r"[^\w]{1,4}".join(map(re.escape, words))
        yield Spelling("place", text, re.compile(rf"(?<!\w){joined}(?!\w)"))
    for word in dict.fromkeys(w for w in words if w.isdigit() and len(w) >= 4):
        yield Spelling("number", word, _whole(word))
    core = [w for w in words if not w.isdigit() and w not in KNOWN["generic"] and len(w) > 3]
    stems = [re.sub(rf"(?<=..){inside}$", "", word) for word in core]
    for word, stem in zip(core, stems, strict=True):
        compound = re.compile(rf"(?<!\w){stem}(?=[ -]?{inside}(?!\w))")
        alone = _near(word) if is_word(word) else _whole(word)
        yield Spelling("street", stem, compound if stem != word else alone)
    for number in dict.fromkeys(w for w in words if w[:1].isdigit() and len(w) <= 5 and core):
        yield Spelling(f"house:{'|'.join(stems)}", number, _whole(number))


def _near(word: str) -> re.Pattern[str]:
    behind = "|".join(rf"(?<={re.escape(one)} )" for one in KNOWN["behind_streets"])
    after, street = KNOWN["parts"]["after"], re.escape(word)
    return re.compile(rf"(?<!\w){street}(?= {after}\b)|(?:(?<=\d )|{behind}){street}(?!\w)")


def is_meant(kind: str, text: str, low: str, start: int, end: int, kept: set[str]) -> bool | None:
    """Return whether a match is the value, rather than a common word or part of a kept one.

    None means that it is the value only if another part of the name is next to it.
    """
    shown, near, capital = low[start:end], low[max(0, start - 16) : start], text[start].isupper()
    if kind.startswith("house:"):
        return any(stem in low[max(start - 40, 0) : end + 40] for stem in kind[6:].split("|"))
    if kind in ("place", "whole"):
        return kind == "place" or shown not in kept or not re.match(r" [^\W\d_]", low[end : end + 2])
    phrases = (one for one in kept if " " in one and shown in one)
    found = ((low.find(one, max(start - len(one), 0), end + len(one)), len(one)) for one in phrases)
    if any(0 <= at <= start and end <= at + size for at, size in found):
        return False
    if kind.startswith("misspelt"):
        return (capital and not is_word(shown) and not _in_a_brand(text, start, end)) or None
    if kind == "city":
        # Many people live in a city: on its own, it is kept.
        return re.search(r"\d{4,5},? $", near) is not None
    if kind in ("given", "family"):
        before = re.search(r"([a-z]+)['’ ]$", near)
        word = before[1] if before else ""
        thing = word in ARTICLES and (text[start].islower() or word in ("south", "north"))
        if thing or word in KNOWN["goods"] or re.match(r" \d", low[end : end + 2]):
            return None
    elif kind != "secret":
        return True
    if not is_word(shown):
        return True
    if shape("before_a_name").search(near) or shown == low.strip(" .!,\n"):
        return capital or kind == "secret" or None
    if kind != "secret" and _in_a_brand(text, start, end):
        return None
    begins = near.rstrip(" \"'(")[-1:] in ("", *".!?\n:")
    return (capital and not (begins or is_german(low) or shown in KNOWN["doubtful"])) or None


def _in_a_brand(text: str, start: int, end: int) -> bool:
    if re.match(r" (?:&|[A-ZÀ-Þ])", text[end : end + 2]):
        return True
    before = re.search(r"([^\W\d_][\w'’-]*) $", text[max(start - 30, 0) : start])
    if before is None or start == len(before[0]):
        return False
    return before[1][0].isupper() and not shape("is_title").fullmatch(f"{folded(before[1])}.")
