"""Typed values in a text: amounts, dates, numbers of orders and parcels, links, windows. Language-neutral but for names of months and units."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from ...cases.facts import LANGUAGES, NUMBER_WORDS, UNITS, fold

WINDOWS = ("business_days", "days", "hours", "months", "years", "percent")
"""Units of `cases.facts.UNITS` that make a window."""


class Value(NamedTuple):
    """A value: `kind` is money (cents), date (ISO), id, link, or a unit of `WINDOWS` (number or range); `at` is its place in the text.

    A number with more digits than any amount or window of a desk is no value.
    """

    kind: str
    value: str
    at: int


@lru_cache(maxsize=4096)
def values_in(text: str, year: int) -> tuple[Value, ...]:
    """Every typed value of a text, in order.

    Parameters
    ----------
    text : str
        As it was written.
    year : int
        The year of a date that names none.
    """
    return tuple(sorted({v.at: v for v in reversed(list(_values(text, year)))}.values(), key=lambda v: v.at))


def _values(text: str, year: int) -> Iterator[Value]:
    for m in _LINK.finditer(text):
        yield Value("link", m.group().rstrip(".,;:!?)"), m.start())
    rest = _LINK.sub(lambda m: " " * len(m.group()), text)
    if not _DIGIT.search(rest):
        return
    for m in _ID.finditer(rest):
        yield Value("id", m.group().upper(), m.start())
    rest = _ID.sub(lambda m: " " * len(m.group()), rest)
    folded = fold(rest) if len(fold(rest)) == len(rest) else rest.lower()
    for m in _MONEY.finditer(folded):
        cents = _cents(m.group(1) or m.group(2))
        if cents is not None:
            yield Value("money", str(cents), m.start())
    for day, at in _dates(folded, year):
        yield Value("date", day.isoformat(), at)
    for m in _window().finditer(folded):
        unit = next(u for u in WINDOWS if m.group(u))
        yield Value(unit, "-".join(_plain(n) for n in (m.group("low"), m.group("high")) if n), m.start())


def _cents(text: str) -> int | None:
    number = text.strip(" '.,")
    decimals = re.search(r"[.,](\d{2})$", number)
    whole = re.sub(r"\D", "", number[: decimals.start()] if decimals else number)
    return int(whole) * 100 + int(decimals.group(1) if decimals else 0) if whole else None


def _dates(text: str, year: int) -> Iterator[tuple[date, int]]:
    for m in _date().finditer(text):
        parts = m.groupdict()
        try:
            if parts["iso"]:
                yield date.fromisoformat(parts["iso"]), m.start()
            elif parts["name1"] or parts["name2"]:
                month = _months().get((parts["name1"] or parts["name2"]).rstrip("."), 0)
                named = parts["year1"] or parts["year2"]
                yield date(int(named or year), month, int(parts["day1"] or parts["day2"])), m.start()
            else:
                yield date(year, int(parts["month3"]), int(parts["day3"])), m.start()
        except ValueError:
            continue


@lru_cache(maxsize=1)
def _months() -> dict[str, int]:
    """Names of the months in every language (babel), as they stand in folded text."""
    from babel import Locale

    names = {"sept": 9}
    for language in LANGUAGES:
        months = Locale.parse(language).months
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                names |= {name.casefold().rstrip("."): number for number, name in months[form][width].items()}
    return names


@lru_cache(maxsize=1)
def _date() -> re.Pattern[str]:
    names = "|".join(sorted(map(re.escape, _months()), key=len, reverse=True))
    return re.compile(
        r"(?<!\d)(?:(?P<iso>\d{4}-\d\d-\d\d)"
        rf"|(?P<day1>\d{{1,2}})(?:st|nd|rd|th|er|\.|º)?\s?(?:of\s|de\s)?(?P<name1>{names})\b\.?(?:,?\s(?:de\s|del\s)?(?P<year1>20\d\d))?"
        rf"|\b(?P<name2>{names})\.?\s(?:the\s)?(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)(?:,?\s(?P<year2>20\d\d))?"
        r"|(?P<day3>\d{1,2})\.(?P<month3>\d{1,2})\.(?!\d))"
    )


@lru_cache(maxsize=1)
def _window() -> re.Pattern[str]:
    units = "|".join(rf"(?P<{name}>{UNITS[name]})" for name in WINDOWS)
    words = "|".join(w for n, w in NUMBER_WORDS.items() if n > 1)
    number = rf"(?:\d{{1,5}}(?:[.,]\d{{1,6}})?(?!\d)|\b(?:{words})\b)"
    return re.compile(rf"(?<![\d.,$-])(?P<low>{number})(?:\s?(?:-|to|or|and|a|y|o|à|et|ou|bis|und|oder)\s?(?P<high>{number}))?(?:{units})(?!\w)")


def _plain(number: str) -> str:
    if number[0].isdigit():
        return f"{float(number.replace(',', '.')):g}"
    return next(str(n) for n, w in NUMBER_WORDS.items() if re.fullmatch(w, number))


_DIGIT = re.compile(r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dos|tres|cuatro|cinco|deux|trois|cinq|zwei|drei|vier|f[üu]nf)\b", re.I)
_LINK = re.compile(r"https?://[^\s<>\"')\]]+")
_ID = re.compile(r"(?<![\w@.-])(?:[A-Z]{1,4}-(?=[A-Z0-9-]*\d)[A-Z0-9]+(?:-[A-Z0-9]+)*|[A-Z]{2,3}\d{6,}[A-Z]{0,2}|[A-Z]{4,}\d{1,3})(?![\w@])", re.I)
_AMOUNT = r"\d{1,3}(?:[,.' ]\d{3}){1,3}(?:[.,]\d{2})?|\d{1,12}(?:[.,]\d{2})?"
_MONEY = re.compile(
    rf"(?:us ?\$|\$|usd ?) ?({_AMOUNT})(?!\d)|(?<![\d.,$])({_AMOUNT}) ?(?:\$|usd\b|us-dollars?\b|dollars?\b|d[óo]lares\b)"
)
