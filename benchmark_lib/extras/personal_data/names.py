"""Find names of people in a message, by their position and by a list of given names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Set
from functools import cache
from zoneinfo import available_timezones

import orjson

from ...project import DATA
from .personal import ARTICLES, KNOWN, LEADS, LONGEST, PARTICLES, SHIPPED, SMALL, STOP, folded, patterns, shape

Place = tuple[int, int]
Kept = Set[str]
"""Folded words and phrases that are not names."""
MOST = 5
ALSO = frozenset(KNOWN["usual"].split())
"""Common words that are also names."""
NOBODY = frozenset(KNOWN["nobody"])
"""Words that are not names, although they are capitalised."""
LOWER = {"name": "told", "titled": "told", "asked": "told", "signed": "any", "relative": "likely"}
"""Which lower-case words may be names after each kind of announcement; elsewhere, only listed names."""
NAME = shape("name", "parts")


@cache
def first_names() -> frozenset[str]:
    """Return folded given names, from the four languages and of other people living there."""
    return frozenset((SHIPPED / "given_names.txt").read_text("utf-8").split())


@cache
def towns() -> frozenset[str]:
    """Return folded names of towns and countries, except those that are given names."""
    cities = {folded(zone.rpartition("/")[2].replace("_", " ")) for zone in available_timezones()}
    return frozenset({*cities, *KNOWN["places_named"].split()} - first_names())


@cache
def _counted(capital: bool) -> Counter[str]:
    counts = Counter[str](() if capital else 2 * [*ALSO])
    for path in (DATA / "stores" / "northline" / "reader").glob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            words = re.findall(r"(?<![\w.])[^\W\d_]+", str(orjson.loads(line)))
            counts.update(folded(word) for word in words if (word.istitle() if capital else word.islower()))
    return counts


def is_word(word: str) -> bool:
    """Return whether a word is common in messages in lower case, even if it may be a name."""
    return _counted(capital=False)[folded(word)] > 1


def is_term(word: str) -> bool:
    """Return whether a word is commonly capitalised without being a name."""
    return folded(word) in NOBODY or (_counted(capital=True)[folded(word)] > 2 and not is_name(word))


def is_name(word: str) -> bool:
    """Return whether a word is a known given name, or a common word that is also a name."""
    return folded(word) in first_names() or folded(word) in ALSO


def begins_sentence(text: str, at: int) -> bool:
    """Return whether the word at a position is the first of a sentence."""
    before = text[max(at - 20, 0) : at].rstrip(" \"'(¿¡«„“")
    return not before or before[-1] in ".!?:\n…"


def is_german(low: str) -> bool:
    """Return whether a text is German, so that its nouns are capitalised."""
    return shape("german").search(low[:2_000]) is not None


def names_in(kept: Kept, text: str, agent: bool = False) -> Iterator[Place]:
    """Yield the places of names; in an agent's "Ana de Luzverde", the company is left out."""
    signed = [run(kept, text, match.start(1)) for match in shape("signs").finditer(text)] if agent else []
    for start, end in [*_places(kept, text), *_pairs(kept, text, agent), *filter(None, signed)]:
        before, shown = text[:start], text[start:end]
        titled = shape("after_title").search(folded(before))
        opening = agent and not titled and shape("opening").fullmatch(before)
        own, known = shape("introduced").fullmatch(shown), folded(shown.split(" ")[0]) in first_names()
        company = " " not in shown and re.match(r" (?:here|hier|aqui)\b", folded(text[end : end + 6]))
        if not (opening and company and not known):
            yield start, start + own.end(1) if opening and own and known else end


def _places(kept: Kept, text: str) -> Iterator[Place]:
    low = folded(text)
    for kind, pattern in patterns("named"):
        for match in pattern.finditer(low):
            at = match.end()
            while low[at : at + 1] == " ":
                at += 1
            found = _after(kept, kind, text, low, at)
            owned = kind != "relative" or shape("own").search(low[: match.start()], max(match.start() - 20, 0))
            if found and (owned or _given(text, found) or not text[found[0]].islower()):
                yield found
    yield from _listed(kept, text)
    yield from _before(kept, text, low)
    yield from _alone(kept, text, low)


def _after(kept: Kept, kind: str, text: str, low: str, at: int) -> Place | None:
    if at >= len(low) or (at and low[at - 1].isalnum()):
        return None
    first = NAME.match(text, at)
    sure = kind == "titled" or (kind in ("name", "self", "relative", "asked") and not is_german(low))
    found = run(kept, text, at, LOWER.get(kind, "listed"), titled=sure)
    if kind == "relative" and first and folded(first[0]) in ALSO:
        # "my wife consuelo", but not "my wife will come".
        return first.span() if re.match(r"\W*$|[,.;:!?)]", text[first.end() :]) else found
    if found is None or (kind == "near" and not _given(text, found)):
        return None
    after = low[found[1] : found[1] + LONGEST].lstrip(" ")
    if kind == "family" and text[found[0]].islower():
        return None
    if kind == "greeted" and after and after[0] not in ",.!?:;\n-–—…x(":
        return None
    usual = first is not None and is_word(first[0])
    if kind == "perhaps" and (usual or is_german(low) or not text[found[0]].isupper()):
        return None
    if kind in ("signed", "thanked") and after.strip(" .!x,\n-:)") and not re.match(r"\n|[,.] ?[a-z]", after):
        return None
    doubtful = kind in ("near", "self", "asked", "perhaps")
    return None if doubtful and _product(text, *found, follows=True) else found


def _given(text: str, place: Place) -> bool:
    shown = text[slice(*place)]
    words = [word for word in NAME.findall(folded(shown)) if word not in PARTICLES]
    return " ".join(words[:1]) in first_names() or re.match(r"(?:[A-Z]\.){1,3} ", shown) is not None


def run(kept: Kept, text: str, at: int, lower: str = "none", titled: bool = False) -> Place | None:
    """Return the place of the name that begins at a character; None if no name does.

    `lower` says which lower-case words may be names: none, listed, likely, any, or told (even common words).
    """
    lead = shape("titled").match(folded(text[at : at + 30]))
    at += lead.end() if lead else 0
    titled = titled or lead is not None
    end, position, words, whole = at, at, 0, 0
    while words < MOST and (found := shape("word").match(text, position)):
        word, low = found[0], folded(found[0])
        initial = len(word.strip(".")) == 1 or "." in word
        following = text[found.end() : found.end() + 2]
        goes_on = re.match(r" [^\W\d_]" if word.islower() else r" [A-ZÀ-Þ]", following)
        particle = low in (PARTICLES if position > at else LEADS) and goes_on
        if not particle:
            if initial and not ("." in word or (word.isupper() and low != "i")):
                break
            if not initial and not _fits(kept, word, whole, lower, titled, text[at].isupper()):
                break
            end, words, whole = found.end(), words + 1, whole + (not initial)
        position = found.end() + 1
        joint = text[found.end() : position]
        if joint != " " and not (joint in ("-", "'", "’") and text[position : position + 1].isupper()):
            break
    good = whole or (words and end - at >= 4)
    return (at, end) if good and not covered(kept, text, at, end) else None


def _fits(kept: Kept, word: str, before: int, lower: str, titled: bool, begun: bool) -> bool:
    low = folded(word)
    # A brand's name may also be a family name: "sascha braun".
    brand = low in kept and not (before and low in ALSO)
    if low in STOP or brand or shape("branded").match(word):
        return False
    if word[0].isupper():
        short = word.isupper() and 2 <= len(word) <= 5 and not (titled or before)
        if low in towns() and not (titled or lower == "told"):
            return False
        if titled and not before:
            return low not in KNOWN["doubtful"] or is_name(low)
        return is_name(low) or not (short or is_word(low) or (is_term(low) and not before))
    if begun and before:
        return False
    if is_word(low):
        return lower == "told" and is_name(low)
    likely = lower == "likely" and not before and not shape("verbal").search(low)
    return likely or low in first_names() or lower in ("any", "told")


def covered(kept: Kept, text: str, start: int, end: int) -> bool:
    """Return whether a place is a kept phrase or part of one."""
    first = max(start - LONGEST, 0)
    low, start, end = folded(text[first : end + LONGEST]), start - first, end - first
    for phrase in kept:
        if phrase in (low[start:end], low[start : end + 2]):
            return True
        at = low.find(phrase, max(start - len(phrase) + 1, 0), end + len(phrase)) if " " in phrase else -1
        if 0 <= at < end and start < at + len(phrase):
            return True
    return False


def _listed(kept: Kept, text: str) -> Iterator[Place]:
    for match in NAME.finditer(text):
        low = folded(match[0])
        if match[0][0].isupper() and low in first_names() and not is_word(low):
            found = run(kept, text, match.start())
            if found and not _product(text, *found):
                yield found


def _product(text: str, start: int, end: int, follows: bool = False) -> bool:
    """Return whether the words around a name show that it belongs to a brand or a product.

    With `follows`, only the words after it are read.
    """
    after = NAME.match(text, end + 1) if text[end : end + 1] == " " else None
    if shape("product").match(text[end : end + 10]):
        return True
    if after and after[0][0].isupper() and folded(after[0]) not in STOP:
        return True
    before = re.search(r"(?<![\w-])([^\W\d_][\w.'’!&-]*) $", text[max(start - 30, 0) : start])
    if before is None or follows or re.search(r"[^\W\d_]{4}\.$", before[1]):
        return False
    word = re.split(r"['’]", folded(before[1]))[0]
    usual = is_word(word) or is_term(word) or word in STOP or shape("is_title").fullmatch(f"{word}.")
    brand = before[1][0].isupper() and not usual and not begins_sentence(text, start - len(before[0]))
    town = word in KNOWN["towns"] and " " not in text[start:end]
    return word in ARTICLES or word in KNOWN["goods"] or town or brand


def _before(kept: Kept, text: str, low: str) -> Iterator[Place]:
    """Yield names that precede words such as "here" or a description of the person."""
    for match in shape("following").finditer(low):
        before = shape("before").search(text[: match.start()], max(match.start() - 80, 0))
        for word in NAME.finditer(text, before.start(), match.start()) if before else ():
            found = run(kept, text, word.start(), "listed")
            day = match[0][0] != "," and found and folded(text[slice(*found)]) in KNOWN["doubtful"]
            if found and found[1] == match.start() and not day:
                if not shape("from").match(match[0]) or _given(text, found):
                    yield found
                break


def _alone(kept: Kept, text: str, low: str) -> Iterator[Place]:
    """Yield names alone in a message or a list, and names as in "brandl here"."""
    spans = [part.span() for part in shape("part").finditer(low)]
    related = shape("related")
    words = [[word for word in NAME.finditer(low, *span) if word[0] not in SMALL] for span in spans]
    parts = [[word for word in part if not related.fullmatch(word[0])] for part in words]
    begun = [part for part in parts if part and part[0][0] in first_names() and not is_word(part[0][0])]
    for part in begun:
        found = run(kept, text, part[0].start(), "any") if len(part) in (2, 3) else None
        if found and found[1] == part[-1].end() and not _product(text, *found):
            yield found
    alone = [part[0] for part in parts if len(part) == 1]
    names = [part[0] for part in begun if len(part) == 1]
    yield from (word.span() for word in names)
    # "lisi or elisabeth": a short list that contains a name contains only names.
    if names and len(low.split()) <= 4:
        yield from (one.span() for one in alone if not is_word(one[0]) and _may_answer(kept, one[0], True))
    yield from (caller.span(1) for caller in shape("caller").finditer(text))
    caller = shape("calling").match(low)
    if caller and _may_answer(kept, text[: caller.end(1)], True) and not shape("verbal").search(caller[1]):
        yield caller.span(1)


def person(kept: Kept, text: str, at: int) -> Place | None:
    """Return the place of a name of several words, unless it belongs to a brand."""
    found = run(kept, text, at)
    return found if found and " " in text[slice(*found)] and not _product(text, *found) else None


def _pairs(kept: Kept, text: str, agent: bool) -> Iterator[Place]:
    german = is_german(folded(text))
    for match in shape("pair").finditer(text):
        at, before = match.start(), folded(text[max(match.start() - 20, 0) : match.start()])
        led = re.search(r"(\w+) $", before)
        doubts = (
            begins_sentence(text, at) and (at or text[match.end() : match.end() + 1] not in ("", ",", ".")),
            agent and at < 60 and shape("opening").fullmatch(text[:at]),
            german and not is_name(match[2]),
            led and not shape("paired").fullmatch(led[1]),
        )
        if any(map(str.isupper, match.groups())) or (any(doubts) and not is_name(match[1])):
            continue
        if found := person(kept, text, at):
            yield found


def answered(kept: Kept, text: str) -> Iterator[Place]:
    """Yield the places of names in an answer to "Your name?"."""
    words = list(shape("word").finditer(text))
    if len(words) > 14:
        return
    short, last = len(words) <= 4, 0
    runs: list[list[re.Match[str]]] = [[]]
    for word in words:
        if any(runs) and re.search(r"[.!?\n]", text[last : word.start()].replace(". ", " ", short)):
            break
        fits = _may_answer(kept, word[0], short)
        if not fits or (runs[-1] and text[last : word.start()] not in ("", " ", "-", "'", "’")):
            runs.append([])
        runs[-1] += [word] if fits else []
        last = word.end()
    runs = [run for run in runs if any(len(one[0]) > 1 and folded(one[0]) not in PARTICLES for one in run)]

    def is_sure(word: str) -> bool:
        return word[0].isupper() or (is_name(word) and (short or not is_word(word)))

    sure = [[is_sure(one[0]) for one in run] for run in runs]
    for run, good in zip(runs, sure, strict=True):
        if any(good):
            yield _cut(run, good)
        elif short and (not any(map(any, sure)) or re.match(r"[,.;]", text[run[-1].end() :])):
            yield run[0].start(), run[-1].end()


def _cut(run: list[re.Match[str]], good: list[bool]) -> Place:
    """Return the place of a name in a run of words, some of which certainly belong to it."""
    capitals = any(one[0][0].isupper() for one in run)
    first, last = good.index(True), len(good) - 1 - good[::-1].index(True)
    while last + 1 < len(run) and not capitals:
        last += 1
        if folded(run[last][0]) not in PARTICLES:
            break
    while first and (folded(run[first - 1][0]) in PARTICLES or not capitals):
        first -= 1
    return run[first].start(), run[last].end()


def _may_answer(kept: Kept, word: str, short: bool) -> bool:
    low = folded(word)
    if low in PARTICLES:
        return low not in ("of", "y")
    if low in STOP or low in kept or shape("related").fullmatch(low):
        return False
    return is_name(low) or not (is_word(low) or (word[0].isupper() and is_term(low)))
