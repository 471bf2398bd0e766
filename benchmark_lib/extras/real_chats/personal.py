"""Recognise personal values by field names, by the words before them, in any spelling."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import orjson

from ...project import DATA
from ...textfiles import read_yaml
from .vocabulary import SHIPPED

KNOWN: dict[str, Any] = read_yaml(SHIPPED / "personal.yaml")
DEEPEST, LONGEST = 60, 200
SEP = r"[\s.\-/()#_]{0,3}"
TITLES = r"(?:mr|mrs|ms|miss|dr|herrn?|frau|mme|mlle|madame|monsieur|sr|sra|srta|senor|senora|don|dona)\.? "
NAME = r"[^\W\d_][^\W\d_'’-]*"
FORMS: dict[str, str] = {name: pattern.strip() for name, pattern in KNOWN["forms"].items()}


FORM_KINDS = {
    **{form: form for form in ("email", "iban", "phone")},
    **{"spelt": "spelt", "groups": "phone", "ends": "tail"},
    **dict.fromkeys(("ssn", "code", "plate", "zip_uk"), "number"),
}
"""Forms that show a personal value, with its kind."""
YOUNGEST = 2015
"""A date up to this year is somebody's birthday, and no date of an order."""


class Personal(NamedTuple):
    """A personal value with its kind, a key of ``keys`` in ``data/chats/personal.yaml``."""

    kind: str
    text: str


def folded(text: str) -> str:
    """Return a text in lower case without accents, character by character."""
    return "".join(unicodedata.normalize("NFKD", c)[0].lower()[:1] or c for c in text)


def kind_of(key: str) -> str | None:
    """Return the kind of personal value that a field holds by its name; None if it holds none."""
    return next((kind for kind, pattern in _keys() if pattern.search(key)), None) if not _not(key) else None


@cache
def _keys() -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(pattern)) for kind, pattern in KNOWN["keys"].items() if kind != "not"]


def _not(key: str) -> bool:
    return bool(re.search(KNOWN["keys"]["not"], key)) and not re.search("(?i)mail|phone|address|name", key)


def of_record(record: Any, key: str = "", depth: int = 0) -> list[Personal]:
    """Return the personal values of a record, by the names of its fields at any depth."""
    if depth > DEEPEST:
        return []
    if isinstance(record, dict):
        found = [value for name, one in record.items() for value in of_record(one, str(name), depth + 1)]
        parts = [
            str(one).strip() for name, one in record.items() if isinstance(one, str) and kind_of(str(name)) == "name"
        ]
        return [*found, Personal("name", " ".join(parts)[:LONGEST])] if len(parts) == 2 else found
    if isinstance(record, list | tuple):
        return [value for one in record for value in of_record(one, key, depth + 1)]
    text = str(record).strip() if isinstance(record, str | int) and not isinstance(record, bool) else ""
    kind = kind_of(key)
    return [Personal(kind, text)] if kind and 2 <= len(text) <= LONGEST else []


def certain(text: str) -> Iterator[Personal]:
    """Yield the values that are personal by their form, or by the words before them."""
    low = folded(text)
    for form, kind in FORM_KINDS.items():
        for m in re.finditer(FORMS[form], low):
            if not any(low[: m.start()].rstrip().endswith(brand) for brand in KNOWN["makers"]):
                mark = re.search(r"\b[A-Z]{1,4} $", text[max(m.start() - 5, 0) : m.start()]) if form == "code" else None
                yield Personal(kind, m[1] if form == "ends" else (mark[0] if mark else "") + m[0])
    yield from (Personal("birth", m[0]) for m in re.finditer(FORMS["date"], low) if _long_ago(m[0]))
    yield from (Personal("card", m[0]) for m in re.finditer(FORMS["card"], low) if _luhn(m[0]))
    yield from (Personal("birth", m[1]) for m in re.finditer(FORMS["born"].format(date=FORMS["date"]), low))
    yield from (Personal("address", m[0]) for pattern in _streets() for m in pattern.finditer(low))
    for kind, pattern in _said():
        for match in pattern.finditer(low):
            if value := _after(kind, text, low, match.end()):
                yield value


def _after(kind: str, text: str, low: str, at: int) -> Personal | None:
    """Return the value after words that announce one."""
    rest, shown = low[at : at + 80], text[at : at + 80]
    if kind == "number":
        found = re.match(r"(?=[a-z-]{0,8}\d)[a-z0-9](?:[a-z0-9-]|(?<=\d) (?=\d)){3,24}", rest)
        return Personal("number", found[0]) if found else None
    if kind == "user":
        found = re.match(r"[\w.-]{3,30}", rest)
        return Personal("user", found[0].rstrip(".-")) if found and not is_word(found[0]) else None
    if kind == "secret":
        found = re.match(r"\w{3,20}", rest)
        good = found and (found[0].isdigit() or shown[: found.end()].istitle())
        return Personal("secret", found[0]) if found and good else None
    lead = re.match(rf"\W{{0,3}}(?:{TITLES})?", rest)
    begin = lead.end() if lead else 0
    names, explicit = list[str](), re.search(r"name|nom|heiss|llamo|appelle", low[max(at - 24, 0) : at])
    while (found := re.compile(NAME).match(rest, begin)) and len(names) < 4:
        word = shown[found.start() : found.end()]
        lower = kind == "name" and (folded(word) in first_names() if not explicit else not is_word(word))
        if not (word[:1].isupper() or lower):
            break
        names.append(word)
        begin = found.end() + 1
        if rest[found.end() : begin] != " ":
            break
    usual = kind == "name" and len(names) == 1 and folded(names[0]) not in first_names() | {*KNOWN["usual"].split()}
    if not names or (usual and is_word(names[0])) or (kind != "titled" and all(map(is_word, names)) and len(names) > 1):
        return None
    return Personal("name", " ".join(names))


@cache
def _said() -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(pattern.strip(), re.M)) for kind, pattern in KNOWN["said"].items()]


@cache
def _streets() -> list[re.Pattern[str]]:
    street, word = KNOWN["street"], r"[^\W\d_][^\W\d_.'’-]{1,25}"
    number = r"\d{1,5}[a-z]?"
    return [
        re.compile(rf"\b{number} (?:{word} ){{1,3}}{street['after']}\b"),
        re.compile(rf"\b{number},? ?(?:bis|ter)?,? {street['before']}\.? (?:{word} ?){{1,4}}"),
        re.compile(rf"\b{street['before']}\.? (?:{word} ){{0,3}}{word},? (?:n[º°o]?\.? ?)?{number}\b"),
        re.compile(rf"\b(?:{word}-)?[^\W\d_]{{2,25}}[ -]?{street['inside']}\.? {number}\b"),
    ]


class Spelling(NamedTuple):
    """One way to write a value, with the kind of its stand-in and what that belongs to."""

    kind: str
    canonical: str
    pattern: re.Pattern[str]


@lru_cache(maxsize=4096)
def spellings(value: Personal) -> tuple[Spelling, ...]:
    """Return the spellings of a value, as patterns over folded text."""
    kind, text = value.kind, folded(value.text).strip()
    makers = {"name": _name, "email": _mail, "birth": _dates, "address": _address}
    if kind in makers:
        return tuple(makers[kind](text))
    if kind == "spelt":
        return (Spelling("number", re.sub(r"\W", "", text), re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")),)
    if kind == "city" or (kind == "secret" and not text.isdigit()):
        return (Spelling(kind, text, _whole(text)),) if len(text) > 2 else ()
    letters = [c for c in text if c.isalnum()]
    if kind == "tail":
        return (Spelling("number", "".join(letters), _whole(text)),)
    usual = len(letters) < 3 if any(c.isdigit() for c in letters) else len(letters) < (3 if kind == "user" else 6)
    return () if usual else tuple(_numbers(kind, text, letters))


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
    """Return the words of a name, without single letters."""
    return [w for w in re.findall(NAME, text.replace(",", " ")) if len(w) > 1]


def name_kind(part: str, n: int, of: int) -> str:
    """Return the kind of stand-in of the `n`-th part of a name with `of` parts."""
    return "given" if (n == 0 and of > 1) or part in first_names() else "family"


def _name(text: str) -> Iterator[Spelling]:
    words = [word for word in words_of(text) if not re.fullmatch(TITLES.rstrip(" "), f"{word}.")]
    if len(words) > 1:
        first, last = words[0], words[-1]
        for one in (words, [last, first], [first[0], last], [first, last], [first, last[0]]):
            joined = r"\.?[\s,_-]{1,3}".join(map(re.escape, one))
            yield Spelling("whole", text, re.compile(rf"(?<![^\W\d_]){joined}(?![^\W\d_])"))
    for n, part in enumerate(words):
        kind = name_kind(part, n, len(words))
        forms = {part, *(part.replace(a, b) for a, b in (("ae", "a"), ("oe", "o"), ("ue", "u"), ("ss", "ß")))}
        forms |= {part[:i] + part[i] + "e" + part[i + 1 :] for i in range(len(part)) if part[i] in "aou"}
        every = "|".join(sorted(map(re.escape, forms)))
        yield Spelling(kind, part, re.compile(rf"(?<![^\W\d_])(?:{every})(?![^\W\d_])"))
        if len(part) >= 5:
            yield Spelling(f"misspelt {kind}", part, _misspelt(part))


@lru_cache(maxsize=4096)
def _misspelt(word: str) -> re.Pattern[str]:
    """Return a pattern of a word with one letter left out, added, changed or in another place."""
    inner = range(1, len(word))
    ways = {word[:i] + word[i + 1 :] for i in inner}
    ways |= {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in inner[:-1]}
    more = [f"{re.escape(word[:i])}[a-z]{re.escape(word[i + gap :])}" for i in inner for gap in (0, 1)]
    every = "|".join([*map(re.escape, sorted(ways - {word})), *more])
    return re.compile(rf"(?<![^\W\d_])(?!{re.escape(word)}(?![^\W\d_]))(?:{every})(?![^\W\d_])")


def _mail(text: str) -> Iterator[Spelling]:
    local, _, domain = text.partition("@")
    end = r"\s?(?:\.|\(?dot\)?|punkt|point|punto)\s?".join(map(re.escape, domain.split(".")))
    at = r"\s?(?:@|[(\[]?\s?(?:at|arroba|arobase)\s?[)\]]?)\s?"
    yield Spelling("email", local, re.compile(rf"(?<![\w.+-]){re.escape(local)}{at}{end}(?!\w)"))
    if len(local) > 3 and not local.isalpha():
        yield Spelling("number", local, re.compile(rf"(?<![\w.+-]){re.escape(local)}(?![\w@])"))


def _dates(text: str) -> Iterator[Spelling]:
    numbers, months = re.findall(r"\d+", text), _months()
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


@cache
def _months() -> dict[str, int]:
    from babel.dates import get_month_names

    named = [get_month_names("wide", locale=code).items() for code in ("en", "de", "fr", "es")]
    return {folded(name)[:3]: number for names in named for number, name in names if folded(name) != "juin"} | {
        "jun": 6
    }


def _address(text: str) -> Iterator[Spelling]:
    words, inside = re.findall(r"[^\W_]+", text), KNOWN["street"]["inside"]
    if len(words) > 2:
        joined = r"[^\w]{1,4}".join(map(re.escape, words))
        yield Spelling("place", text, re.compile(rf"(?<!\w){joined}(?!\w)"))
    for word in dict.fromkeys(w for w in words if w.isdigit() and len(w) >= 4):
        yield Spelling("number", word, _whole(word))
    core = [w for w in words if not w.isdigit() and w not in KNOWN["generic"] and len(w) > 3]
    stems = [re.sub(rf"(?<=..){inside}$", "", word) for word in core]
    for word, stem in zip(core, stems, strict=True):
        compound = re.compile(rf"(?<!\w){stem}(?=[ -]?{inside}(?!\w))")
        yield Spelling("street", stem, compound if stem != word else _near(word) if is_word(word) else _whole(word))
    for number in dict.fromkeys(w for w in words if w[:1].isdigit() and len(w) <= 5 and core):
        yield Spelling(f"house:{'|'.join(stems)}", number, _whole(number))


def _near(word: str) -> re.Pattern[str]:
    """Return a pattern of a usual word where it is the name of a street."""
    street = KNOWN["street"]
    behind = "|".join(rf"(?<={re.escape(one)} )" for one in street["behind"])
    return re.compile(rf"(?<!\w){re.escape(word)}(?= {street['after']}\b)|(?:(?<=\d )|{behind}){re.escape(word)}(?!\w)")


def is_meant(kind: str, text: str, low: str, start: int, end: int, kept: set[str]) -> bool | None:
    """Return whether a match is the value, and not a usual word or part of a kept one.

    None: it is if another part of a name is next to it.
    """
    shown = low[start:end]
    if kind.startswith("house:"):
        return any(stem in low[max(start - 40, 0) : end + 40] for stem in kind[6:].split("|"))
    if kind == "place":
        return True
    if kind == "whole":
        return shown not in kept or not re.match(r" [^\W\d_]", low[end : end + 2])
    if any(_covers(one, low, start, end) for one in kept if shown in one):
        return False
    if kind.startswith("misspelt"):
        return True if text[start].isupper() and not is_word(shown) and not _in_a_brand(text, start, end) else None
    if kind not in ("given", "family", "secret", "city") or not is_word(shown):
        return True
    near = low[max(0, start - 16) : start]
    if kind == "city":
        return bool(re.search(r"\d{4,5} $", near)) or text[start].isupper()
    if re.search(KNOWN["before_a_name"].strip(), near) or shown == low.strip(" .!,\n"):
        return text[start].isupper() or kind == "secret" or None
    begins = not near.rstrip(" \"'(") or near.rstrip(" \"'(")[-1:] in ".!?\n:"
    if kind in ("given", "family") and (_in_a_brand(text, start, end) or not text[start].isupper()):
        return None
    german = re.search(r"\b(?:ich|und|der|die|das|ist|nicht|bitte|eine?|mein|wir|sie)\b", low[:2_000])
    return text[start].isupper() and not (begins or german or shown in KNOWN["doubtful"]) or None


def _in_a_brand(text: str, start: int, end: int) -> bool:
    """Return whether a capitalised word or an ampersand is next to a word, as in a brand."""
    before = re.search(r"([^\W\d_][\w'’-]*) $", text[max(start - 30, 0) : start])
    titled = before is not None and re.fullmatch(TITLES.rstrip(" "), f"{folded(before[1])}.")
    begins = before is not None and start - len(before[0]) == 0
    return bool(re.match(r" (?:&|[A-ZÀ-Þ])", text[end : end + 2])) or bool(
        before and before[1][0].isupper() and not titled and not begins
    )


def _covers(words: str, low: str, start: int, end: int) -> bool:
    at = low.find(words, max(start - len(words), 0), end + len(words))
    return " " in words and 0 <= at <= start and end <= at + len(words)


def possible_names(text: str, kept: set[str]) -> Iterator[tuple[int, int]]:
    """Yield places of possible names: a first name, alone or before a capitalised word."""
    for match in re.finditer(rf"{NAME}(?: {NAME}){{0,2}}", text):
        words = match[0].split(" ")
        for n, word in enumerate(words):
            low = folded(word)
            if not (word[:1].isupper() and low in first_names() and not is_word(low) and low not in kept):
                continue
            start = match.start() + len(" ".join(words[:n])) + (n > 0)
            end = start + len(word)
            if n + 1 < len(words) and words[n + 1][:1].isupper() and not is_word(words[n + 1]):
                end += 1 + len(words[n + 1])
            yield start, end
            break


@cache
def first_names() -> frozenset[str]:
    """Return given names that are common in the four languages."""
    return frozenset(KNOWN["first_names"])


def is_word(word: str) -> bool:
    """Return whether a word is usual in messages, in lower case, though it may be a name."""
    return folded(word) in _usual()


@cache
def _usual() -> frozenset[str]:
    counts: Counter[str] = Counter(2 * KNOWN["usual"].split())
    for path in (DATA / "stores" / "northline" / "reader").glob("*.jsonl"):
        for line in path.read_bytes().splitlines():
            counts.update(w for w in re.findall(r"[^\W\d_]+", str(orjson.loads(line))) if w.islower())
    return frozenset(folded(word) for word, count in counts.items() if count > 1)


def _long_ago(date: str) -> bool:
    year = int(re.findall(r"\d+", date)[0 if re.match(r"\d{4}", date) else -1])
    return 1920 <= year <= YOUNGEST or 40 <= year <= 99


def _luhn(text: str) -> bool:
    digits = [int(c) for c in text if c.isdigit()]
    doubled = [d * 2 - 9 * (d > 4) if n % 2 else d for n, d in enumerate(reversed(digits))]
    return 13 <= len(digits) <= 19 and sum(doubled) % 10 == 0
