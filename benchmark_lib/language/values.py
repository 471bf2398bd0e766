"""Find values in a text (amounts, dates, ids, links, windows); compare postal addresses.

Of values, only the names of months and units depend on the language. Addresses are compared by their parts, in any
spelling: abbreviations, names of regions and countries, split lines, accents and capitals make no difference. Their
words come from ``data/addresses.yaml``; babel names the countries in every language.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import Any, NamedTuple

from ..project import DATA
from ..textfiles import read_yaml
from .sentences import fold
from .word_lists import LANGUAGES, any_of, month_names, months, number_words, units, words_of

WINDOWS = ("business_days", "days", "hours", "months", "years", "percent")
"""Units that make a window."""

MOST_DIGITS, THOUSAND = 15, 3
"""Number of digits in the longest number that is read, and in a group of thousands."""

LONGEST_LEAD = 20
"""Most characters before a value's figures that belong to it (``september the 9``)."""


class Value(NamedTuple):
    """A value with its place in the text, from `at` to `end`.

    `kind` is money (cents), date (ISO), id, link, or a unit of `WINDOWS` (number or range). A number with more digits
    than any amount or window of a desk is not a value.
    """

    kind: str
    value: str
    at: int
    end: int = 0


@lru_cache(maxsize=4096)
def values_in(text: str, year: int) -> tuple[Value, ...]:
    """Return every typed value of a text, in order; `year` completes dates without a year."""
    by_place: dict[int, Value] = {}
    for value in _values(text):
        if value.kind == "date":
            try:
                day = date.fromisoformat(f"{year}{value.value}" if value.value[0] == "-" else value.value)
            except ValueError:
                continue
            value = value._replace(value=day.isoformat())
        by_place.setdefault(value.at, value)
    return tuple(sorted(by_place.values(), key=lambda v: v.at))


@lru_cache(maxsize=4096)
def _values(text: str) -> tuple[Value, ...]:
    """Return the values of a text, with dates as written: a date without a year as ``-07-06``."""
    values = []
    if "://" in text:
        for m in _LINK.finditer(text):
            link = m.group().rstrip(".,;:!?)")
            values.append(Value("link", link, m.start(), m.start() + len(link)))
        text = _LINK.sub(lambda m: " " * len(m.group()), text)
    if any(text[m.start() - 1].isalpha() or text[m.start() - 1] == "-" for m in _DIGITS.finditer(text)):
        values += [Value("id", m.group().upper(), m.start(), m.end()) for m in _ID.finditer(text)]
        text = _ID.sub(lambda m: " " * len(m.group()), text)
    lines = _LINE.sub(";", text)
    folded = fold(lines) if len(fold(lines)) == len(text) else lines.lower()
    figures = [m.start() for m in _DIGITS.finditer(folded)]
    forms = _forms()
    for m in _matches(forms.money, folded, [at for figure in figures for at in _after(_CURRENCY, folded, figure)]):
        if amounts := numbers_of(m.group(1) or m.group(2)):
            values.append(Value("money", str(round(100 * max(amounts))), m.start(), m.end()))
    for m in _matches(forms.date, folded, [at for figure in figures for at in _after(forms.month, folded, figure)]):
        values.append(Value("date", _day(m), m.start(), m.end()))
    words = [m.start() for m in forms.number_word.finditer(f" {folded}")]
    for m in _matches(forms.window, folded, sorted([*figures, *words])):
        unit = next(u for u in WINDOWS if m.group(u))
        numbers = "-".join(_plain(n) for n in (m.group("low"), m.group("high")) if n)
        values.append(Value(unit, numbers, m.start(), m.end()))
    return tuple(values)


def with_units(text: str) -> str:
    """Add what is left out: a unit ("3 to 5 days and 7 to 9") or a month ("on the 9th")."""
    text = _forms().later_day.sub(r"\1\2 \1", text)
    lower, written, at, unit, end, ranges = text.lower().replace("–", "-"), [], 0, "", 0, False
    if len(lower) != len(text) or not (_DIGITS.search(text) or _forms().number_word.search(lower)):
        return text
    for m in _forms().window_or_bare.finditer(lower):
        left_out = m.group("bare") and not m.group("day") and _LEFT_OUT.fullmatch(lower, end, m.start())
        one = not m.group("to")  # no house number ("Alder Street 12")
        if unit and left_out and one != ranges and not (one and _NAMED.search(text, end, m.start())):
            written += [text[at : m.end()], unit]
            at = m.end()
        else:
            of, ranges = next((u for u in _DAYS if m.group(u)), None), bool(m.group("high"))
            unit = f" {text[slice(*m.span(of))].strip(' -')}" if of else ""
            if unit and ranges and _forms().each.match(lower, m.end("low")):
                written += [text[at : m.end("low")], unit]
                at, ranges = m.end("low"), False
        end = m.end()
    return "".join([*written, text[at:]])


def _matches(pattern: re.Pattern[str], text: str, places: list[int]) -> Iterator[re.Match[str]]:
    """Yield the pattern's matches that begin at these places; a search everywhere is slower."""
    end = 0
    for place in places:
        if place >= end and (match := pattern.match(text, place)):
            yield match
            end = match.end()


def _after(before: re.Pattern[str], text: str, figure: int) -> Iterator[int]:
    """Yield the possible starts of a value with figures at a place: its lead and the figures."""
    if lead := before.search(text, max(figure - LONGEST_LEAD, 0), figure):
        yield lead.start()
    yield figure


def numbers_of(figures: str) -> set[float]:
    """Return every number that figures with marks can mean: "1.200" is 1.2 or 1200."""
    marked = re.sub(r"[^\d.,]", "", figures)
    whole, *groups = re.split(r"[.,]", marked)
    digits = re.sub(r"\D", "", marked)
    if not 0 < len(digits) <= MOST_DIGITS:
        return set()
    grouped = [len(group) == THOUSAND for group in groups]
    numbers = {float(digits)} if all(grouped) else set()
    return numbers | ({float(f"{whole}{''.join(groups[:-1])}.{groups[-1]}")} if groups and all(grouped[:-1]) else set())


def _day(found: re.Match[str]) -> str:
    parts = found.groupdict()
    if parts["iso"]:
        return re.sub(r"[/.]", "-", parts["iso"])
    name = parts["name1"] or parts["name2"]
    year = parts["year1"] or parts["year2"] or (f"20{parts['year3']}"[-4:] if parts["year3"] else "")
    month = months().get(name.rstrip("."), 0) if name else int(parts["month3"])
    return f"{year}-{month:02}-{int(parts['day1'] or parts['day2'] or parts['day3']):02}"


class _Forms(NamedTuple):
    """The patterns of values in every language."""

    date: re.Pattern[str]
    money: re.Pattern[str]
    window: re.Pattern[str]
    window_or_bare: re.Pattern[str]
    """A window with a unit, or a bare one that counts nothing else."""
    month: re.Pattern[str]
    """A month's name before a day."""
    number_word: re.Pattern[str]
    """The place before a number in words."""
    each: re.Pattern[str]
    """What follows the first of two numbers that belong to two objects, in their order."""
    later_day: re.Pattern[str]
    """A month's name, and later a day without one, or with "of the same month"."""


@lru_cache(maxsize=1)
def _forms() -> _Forms:
    names, the, of = month_names(), any_of("values", "the"), any_of("values", "of")
    ofs = "".join(rf"{word}\s|" for word in words_of("values", "of"))
    marks = "|".join([*words_of("values", "ordinals"), r"\."])
    date = (
        r"(?<!\d)(?:(?P<iso>\d{4}([-/.])\d\d\2\d\d)"
        rf"|(?P<day1>\d{{1,2}})(?:{marks})?\s?(?:{ofs})(?P<name1>{names})\b\.?(?:,?\s(?:{ofs})(?P<year1>20\d\d))?"
        rf"|\b(?P<name2>{names})\.?\s(?:the\s)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s(?P<year2>20\d\d))?"
        r"|(?P<day3>\d{1,2})\.\s?(?P<month3>\d{1,2})\.(?:\s?(?P<year3>(?:20)?\d\d)\b)?(?!\d))"
    )
    dollar = rf"usd|(?:us-)?(?:{any_of('units', 'dollars')})"
    money = rf"(?:us ?\$|\$|usd ?) ?({_AMOUNT})(?!\d)|(?<![\d.,$])({_AMOUNT}) ?(?:\$|(?:{dollar})\b)"
    words = "|".join(words for number, words in number_words().items() if number > 1)
    ranges = "|".join(["-", *words_of("values", "to"), *words_of("values", "or")])
    links = "|".join([ranges, *words_of("values", "and")])
    named = "|".join(rf"(?P<{name}>{units()[name]})" for name in WINDOWS)
    number = rf"(?:\d{{1,5}}(?:[.,]\d{{1,6}})?(?!\d)|\b(?:{words})\b)"
    window = rf"(?<![\d.,$-])(?P<low>{number})(?:\s?(?:{links})\s?(?P<high>{number}))?(?:{named})(?!\w)"
    short = rf"(?:\d{{1,3}}|(?:{words})\b)"
    after = (
        rf"(?![*\s]*(?:(?:{of})\s)?(?:{names})\b)[*_\s]*"
        rf"(?=$|[,.;:!?)\n](?!\d)|(?:{any_of('values', 'after_window')})\b)"
    )
    bare = (
        rf"(?P<day>\b(?:{names}|{the})\.?\s)?"
        rf"(?<![\w.,$/-])(?P<bare>{short}(?P<to>\s?(?:{ranges})\s?{short})?)(?!\w)(?={after})"
    )
    month, number_word = rf"\b(?:{names})\.?\s(?:the\s)?$", rf"\W(?=(?:{words})\b)"
    each = rf"\s(?=(?:{any_of('values', 'and')})\b)[^.!?\n]{{0,60}}?\b(?:{any_of('values', 'each')})\b"
    day = rf"\b(?:{the}|{any_of('values', 'day_lead')})\s\d{{1,2}}(?!\d)(?:{marks})?+"
    between = rf"(?:(?!\b(?:{names})\b)[^!?\n]){{1,120}}?{day}"
    later = rf"(?i)\b({names})\b({between})(?:\s(?:{any_of('values', 'same_month')})\b|(?={after}))"
    return _Forms(*map(re.compile, (date, money, window, f"{window}|{bare}", month, number_word, each, later)))


def _plain(number: str) -> str:
    if number[0].isdigit():
        return f"{float(number.replace(',', '.')):g}"
    return next(str(n) for n, w in number_words().items() if re.fullmatch(w, number))


_DIGITS = re.compile(r"\d+")
_CURRENCY = re.compile(r"(?:us ?\$|\$|usd ?) ?$")
_LINE = re.compile(r"\n(?=\W{0,9}[A-ZÄÖÜÉ])")
"""A line break before a new beginning; no value crosses it ("June 30", "Day 2")."""
_DAYS = ("business_days", "days")
_LEFT_OUT = re.compile(r"(?:[^.!?\n]|\.(?!\s)){1,80}")
"""Text allowed between a window and the next, which shares its unit."""
_NAMED = re.compile(r"[A-ZÀ-Þ][\w.'’-]{0,30}\s$")
_LINK = re.compile(r"https?://[^\s<>\"')\]]+")
_ID = re.compile(
    r"(?<![\w@.-])(?:[A-Z]{1,4}-(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*|"
    r"[A-Z]{2,3}\d{6,}[A-Z]{0,2}|[A-Z]{4,}\d{1,3})(?![\w@])",
    re.I,
)
_AMOUNT = r"\d{1,3}(?:[,.' ]\d{3}){1,3}(?:[.,]\d{2})?|\d{1,12}(?:[.,]\d{2})?"


def money(cents: int | str | float) -> str:
    """Return cents as ``$1,234.50``."""
    return f"${int(cents) / 100:,.2f}"


PARTS = ("name", "line1", "line2", "city", "region", "postcode", "country")
"""Parts of an address, as tools take them."""

_PO_BOX = "pobox"
_LETTER_AND_DIGIT = re.compile(r"(?<=\d)(?=[^\W\d])|(?<=[^\W\d])(?=\d)")
_DIRECTION = re.compile(r"\b([ns]) ([ew])\b")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th|er|re|e|eme)\b")


class Place(NamedTuple):
    """An address split into its parts, each in one spelling."""

    name: frozenset[str]
    """Words of the recipient's name, without titles."""
    street: frozenset[str]
    """Words of both lines and of the town, which people split in different ways."""
    region: str
    """Code of a state or province; empty if the country needs none."""
    postcode: str
    """Letters and digits; the first five for the United States."""
    country: str
    """Two-letter code."""


def is_address(value: Any) -> bool:
    """Return whether a value is an address, with at least a first line and a postcode."""
    return isinstance(value, Mapping) and {"line1", "postcode"} <= value.keys()


def place_of(address: Mapping[str, Any]) -> Place:
    """Return an address split into its parts."""
    given = {part: str(address.get(part) or "") for part in PARTS}
    return _place(*given.values())


@lru_cache(maxsize=4096)
def _place(name: str, line1: str, line2: str, city: str, region: str, postcode: str, country: str) -> Place:
    code, words = country_code(country), " ".join(_words(region))
    digits = "".join(filter(str.isalnum, postcode)).upper()
    within = "" if code in _tables()["regions_unsaid"] else _tables()["regions"].get((code, words), words.upper())
    street = street_words(f"{line1} {line2} {city}")
    return Place(name_words(name), street, within, digits[:5] if code == "US" else digits, code)


def same_address(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two addresses have the same recipient and place."""
    return place_of(one) == place_of(other)


def spelled(address: Mapping[str, Any]) -> str:
    """Return an address in a single spelling, the same for all of its spellings."""
    place = place_of(address)
    words = (" ".join(sorted(part)) if isinstance(part, frozenset) else part for part in place)
    return "|".join(words)


def name_words(name: str) -> frozenset[str]:
    """Return the words of a name, without titles, accents and capitals."""
    return frozenset(_words(name)) - _tables()["titles"]


def street_words(text: str) -> frozenset[str]:
    """Return the words of a street, a box or a town, each in one spelling."""
    return frozenset(_street_words(text))


def has_part(part: str, value: str, address: Mapping[str, Any]) -> bool:
    """Return whether a part of an address has this value, in any spelling and line split."""
    place = place_of(address)
    wanted = place_of({"country": address.get("country"), part: value})
    if part in ("line1", "line2", "city"):
        return wanted.street <= place.street
    return bool(getattr(wanted, part) == getattr(place, part))


def stands_in(part: str, value: str, text: str) -> bool:
    """Return whether a text names this part of an address, in any spelling."""
    if part == "postcode":
        return re.search(spaced(value), _folded(text)) is not None
    wanted = street_words(value) if part in ("line1", "line2", "city") else name_words(value)
    seen = _street_words(text) if part in ("line1", "line2", "city") else _words(text)
    reach = 2 * len(wanted) + 2
    return bool(wanted) and any(seen[at] in wanted and wanted <= set(seen[at : at + reach]) for at in range(len(seen)))


def spaced(value: str) -> str:
    """Return the pattern of a code such as a postcode, with or without blanks and dashes."""
    letters = "".join(filter(str.isalnum, _folded(value)))
    return rf"(?<!\w){'[ -]?'.join(map(re.escape, letters))}(?!\w)"


def is_po_box(address: Mapping[str, Any]) -> bool:
    """Return whether an address is a post office box."""
    return _PO_BOX in place_of(address).street


@lru_cache(maxsize=512)
def country_code(country: str) -> str:
    """Return the two-letter code for a country's code or name; return other names in capitals."""
    words = " ".join(_words(country))
    own = next((code for code, names in _tables()["countries"].items() if words in names), None)
    return own or (words.upper() if len(words) == 2 else _countries().get(words, words.upper()))


@lru_cache(maxsize=1)
def _countries() -> dict[str, str]:
    from babel import Locale

    codes: dict[str, str] = {}
    for language in LANGUAGES:
        for code, name in Locale(language).territories.items():
            if len(code) == 2:
                codes.setdefault(" ".join(_words(name)), code)
    return codes


def _street_words(text: str) -> list[str]:
    tables = _tables()
    folded = tables["po_box"].sub(f" {_PO_BOX} ", " ".join(re.findall(r"\w+", _folded(text))))
    words = _LETTER_AND_DIGIT.sub(" ", _ORDINAL.sub(r"\1", folded)).split()
    same, unsaid = tables["same"], tables["unsaid"]
    return _DIRECTION.sub(r"\1\2", " ".join(same.get(word, word) for word in words if word not in unsaid)).split()


@lru_cache(maxsize=1)
def _tables() -> dict[str, Any]:
    raw = read_yaml(DATA / "addresses.yaml")
    regions = [(country, *each) for country, named in raw["regions"].items() for each in named.items()]
    boxes = "|".join(sorted(raw["po_box"], key=len, reverse=True))
    return raw | {
        "po_box": re.compile(rf"\b(?:{boxes})\b"),
        "same": {word: group[0] for group in raw["same"] for word in group},
        "unsaid": frozenset(raw["unsaid"]),
        "titles": frozenset(raw["titles"]),
        "regions": {(country, name): code for country, code, names in regions for name in names},
    }


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", _folded(text))


def _folded(text: str) -> str:
    if text.isascii():
        return text.casefold()
    bare = unicodedata.normalize("NFKD", text.casefold().replace("ß", "ss").replace("œ", "oe"))
    return "".join(c for c in bare if not unicodedata.combining(c))
