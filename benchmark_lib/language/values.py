"""Typed values in a text.

Amounts, dates, numbers of orders and parcels, links, windows. Language-neutral but for names of months and units.
"""

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from .folding import fold
from .words import dollars, months, number_words, of_values, units

WINDOWS = ("business_days", "days", "hours", "months", "years", "percent")
"""Units that make a window."""


class Value(NamedTuple):
    """A value: `kind` is money (cents), date (ISO), id, link, or a unit of `WINDOWS` (number or range); `at` and `end` are its place in the text.

    A number with more digits than any amount or window of a desk is no value.
    """

    kind: str
    value: str
    at: int
    end: int = 0


@lru_cache(maxsize=4096)
def values_in(text: str, year: int) -> tuple[Value, ...]:
    """Every typed value of a text, in order; `year` is that of a date that names none."""
    return tuple(sorted({v.at: v for v in reversed(list(_values(text, year)))}.values(), key=lambda v: v.at))


def _values(text: str, year: int) -> Iterator[Value]:
    for m in _LINK.finditer(text):
        link = m.group().rstrip(".,;:!?)")
        yield Value("link", link, m.start(), m.start() + len(link))
    rest = _LINK.sub(lambda m: " " * len(m.group()), text)
    if not _digit().search(rest):
        return
    for m in _ID.finditer(rest):
        yield Value("id", m.group().upper(), m.start(), m.end())
    rest = _ID.sub(lambda m: " " * len(m.group()), rest)
    folded = fold(rest) if len(fold(rest)) == len(rest) else rest.lower()
    for m in _money().finditer(folded):
        cents = _cents(m.group(1) or m.group(2))
        if cents is not None:
            yield Value("money", str(cents), m.start(), m.end())
    for day, at, end in _dates(folded, year):
        yield Value("date", day.isoformat(), at, end)
    for m in _window().finditer(folded):
        unit = next(u for u in WINDOWS if m.group(u))
        yield Value(unit, "-".join(_plain(n) for n in (m.group("low"), m.group("high")) if n), m.start(), m.end())


def _cents(text: str) -> int | None:
    number = text.strip(" '.,")
    decimals = re.search(r"[.,](\d{2})$", number)
    whole = re.sub(r"\D", "", number[: decimals.start()] if decimals else number)
    return int(whole) * 100 + int(decimals.group(1) if decimals else 0) if whole else None


def _dates(text: str, year: int) -> Iterator[tuple[date, int, int]]:
    for m in _date().finditer(text):
        parts = m.groupdict()
        try:
            if parts["iso"]:
                day = date.fromisoformat(re.sub(r"[/.]", "-", parts["iso"]))
            elif parts["name1"] or parts["name2"]:
                month = months().get((parts["name1"] or parts["name2"]).rstrip("."), 0)
                named = parts["year1"] or parts["year2"]
                day = date(int(named or year), month, int(parts["day1"] or parts["day2"]))
            else:
                day = date(_full_year(parts["year3"]) or year, int(parts["month3"]), int(parts["day3"]))
        except ValueError:
            continue
        yield day, m.start(), m.end()


def _full_year(text: str | None) -> int:
    return int(f"20{text}"[-4:]) if text else 0


@lru_cache(maxsize=1)
def _date() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, months()), key=len, reverse=True))
    of, marks = "".join(rf"{word}\s|" for word in of_values("of")), "|".join([*of_values("ordinals"), r"\."])
    return re.compile(
        r"(?<!\d)(?:(?P<iso>\d{4}([-/.])\d\d\2\d\d)"
        rf"|(?P<day1>\d{{1,2}})(?:{marks})?\s?(?:{of})(?P<name1>{names})\b\.?(?:,?\s(?:{of})(?P<year1>20\d\d))?"
        rf"|\b(?P<name2>{names})\.?\s(?:the\s)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s(?P<year2>20\d\d))?"
        r"|(?P<day3>\d{1,2})\.\s?(?P<month3>\d{1,2})\.(?:\s?(?P<year3>(?:20)?\d\d)\b)?(?!\d))"
    )


@lru_cache(maxsize=1)
def _window() -> re.Pattern[str]:
    named = "|".join(rf"(?P<{name}>{units()[name]})" for name in WINDOWS)
    links = "|".join(["-", *of_values("to"), *of_values("or"), *of_values("and")])
    number = rf"(?:\d{{1,5}}(?:[.,]\d{{1,6}})?(?!\d)|\b(?:{_words()})\b)"
    return re.compile(rf"(?<![\d.,$-])(?P<low>{number})(?:\s?(?:{links})\s?(?P<high>{number}))?(?:{named})(?!\w)")


@lru_cache(maxsize=1)
def _money() -> re.Pattern[str]:
    name = rf"usd|(?:us-)?(?:{dollars()})"
    return re.compile(rf"(?:us ?\$|\$|usd ?) ?({_AMOUNT})(?!\d)|(?<![\d.,$])({_AMOUNT}) ?(?:\$|(?:{name})\b)")


@lru_cache(maxsize=1)
def _digit() -> re.Pattern[str]:
    return re.compile(rf"\d|\b(?:{_words()})\b", re.I)


def _words() -> str:
    """Every number above one that is written in words."""
    return "|".join(words for number, words in number_words().items() if number > 1)


def _plain(number: str) -> str:
    if number[0].isdigit():
        return f"{float(number.replace(',', '.')):g}"
    return next(str(n) for n, w in number_words().items() if re.fullmatch(w, number))


_LINK = re.compile(r"https?://[^\s<>\"')\]]+")
_ID = re.compile(
    r"(?<![\w@.-])(?:[A-Z]{1,4}-(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*|[A-Z]{2,3}\d{6,}[A-Z]{0,2}|[A-Z]{4,}\d{1,3})(?![\w@])",
    re.I,
)
_AMOUNT = r"\d{1,3}(?:[,.' ]\d{3}){1,3}(?:[.,]\d{2})?|\d{1,12}(?:[.,]\d{2})?"
