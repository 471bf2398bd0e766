"""How a value is written.

For each kind, one pattern of every form that people use in any of the languages, over folded text.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from .folding import fold
from .words import dollars, months, number_words, of_values, units

LARGER = {"g": "kg", "ml": "l"}
"""The unit of a thousand, in which a measure may be told as well."""


@lru_cache(maxsize=20_000)
def rendering(kind: str, value: str, unit: str | None = None, names: tuple[str, ...] = ()) -> re.Pattern[str]:
    """The pattern of a value: money (cents), date (ISO), id, link, measure (number or range, with a unit) or choice.

    Parameters
    ----------
    kind, value : str
        What it is, and the value as text.
    unit : str, optional
        Of a measure.
    names : tuple of str
        The expressions that name a choice.
    """
    if kind == "choice":
        return re.compile("|".join(f"(?:{n})" for n in names) or r"(?!)", re.I)
    if kind == "money":
        return re.compile(_money(int(value)))
    if kind == "date":
        return re.compile(_date(date.fromisoformat(value[:10])))
    if kind == "measure":
        return re.compile(_measure(value, unit or "count"))
    text = re.escape(fold(value).rstrip("/"))
    if kind == "link":
        return re.compile(rf"(?<![\w=]){text}(?!/?[\w-])")
    return re.compile(rf"(?<![^\W_])(?<!-){text}(?![^\W_]|-)")


def _money(cents: int) -> str:
    whole, rest = divmod(cents, 100)
    digits = f"{whole:,}".replace(",", r"[.,' ]?")
    sign = r"(?:us\s?)?\$|usd"
    name = rf"(?:(?:us\s?)?\$|usd|(?:us[\s-]?)?(?:{dollars()}))"
    tail = rf"[.,]{rest:02d}(?!\d)"
    exact = rf"(?<![\d.,]){digits}{tail}"
    if rest:
        return exact
    bare = rf"{digits}(?![\d]|[.,]\d)"
    return rf"{exact}|(?:{sign})\s?{bare}|(?<![\d.,]){bare}\s?{name}"


@lru_cache(maxsize=12)
def _month_names(month: int) -> str:
    return "|".join(
        sorted((re.escape(name) for name, number in months().items() if number == month), key=len, reverse=True)
    )


def _date(day: date) -> str:
    """A day as a name or in figures, with its own year or none; also as one end of a range (``2-6 July``)."""
    month, d, m = _month_names(day.month), day.day, day.month
    of = "".join(rf"{word}\s|" for word in of_values("of"))
    year = rf"(?:,?\s(?:{of}){day.year})?(?!,?\s(?:del?\s)?(?:19|20)\d\d\b)"
    marks = "|".join([*of_values("ordinals"), r"\."])
    ordinal = rf"0?{d}(?:{marks})?" + "".join(f"|{word}" for word in of_values("first") if d == 1)
    link = rf"\s?(?:-|{'|'.join([*of_values('to'), *of_values('and')])})\s?(?:(?:{'|'.join(of_values('the'))})\s)?"
    other = rf"\d{{1,2}}(?:{marks})?"
    figures = [
        rf"(?<!\d){day:%Y-%m-%d}(?!\d)",
        rf"(?<![\d/])0?{m}/0?{d}(?:/(?:{day.year}|{day:%y}))?(?![\d/])",
        rf"(?<![\d/.-])0?{d}([/.-])0?{m}\1(?:{day.year}|{day:%y})(?!\d)",
        rf"(?<![\d/.])0?{d}\.0?{m}\.(?!\d)",
    ]
    if d > 12:
        figures.append(rf"(?<![\d/])0?{d}/0?{m}(?![\d/])")
    return "|".join(
        [
            rf"(?<!\d)(?:{ordinal})(?:{link}{other})?\s?(?:{of})(?:{month})\b\.?{year}",
            rf"\b(?:{month})\.?\s(?:{other}{link})?(?:the\s)?0?{d}(?:st|nd|rd|th)?\b(?!\d){year}",
            *figures,
        ]
    )


def _measure(value: str, unit: str) -> str:
    """A number or a range with its unit; also as one side of a size (``55 x 35 x 23 cm``), or in the unit of a thousand.

    The end of a range is not told as a number of its own.
    """
    to, joined = of_values("to"), [*of_values("to"), *of_values("and")]
    start = (r"(?<![\w.,-])" if unit == "count" else r"(?<![\d.,-])") + "".join(
        rf"(?<!\d {word} )" for word in [*to, "-"]
    )
    after, end = units()[unit], r"(?!\w|[.,]\d)" if unit == "count" else r"(?!\w)"
    low, dash, high = value.partition("-")
    if dash and low:
        link = rf"\s?(?:-|{'|'.join(joined)})\s?"
        return rf"{start}{_number(low)}(?:\s?\(\d+\))?(?:{after})?{link}{_number(high)}(?:\s?\(\d+\))?{after}{end}"
    by = "|".join(["x", "×", *of_values("by")])
    sides = rf"(?:\s?(?:{after})?\s?(?:{by})\s?\d+(?:[.,]\d+)?){{0,2}}" if unit in ("cm", "in") else ""
    told = rf"{start}{_number(value)}{sides}{after}{end}"
    if unit in LARGER and float(value) >= 100:
        told += rf"|{start}{_number(str(float(value) / 1000))}{units()[LARGER[unit]]}{end}"
    return told


def _number(text: str) -> str:
    value = float(text)
    if value == int(value):
        words = number_words().get(int(value))
        plain = f"{int(value):,}".replace(",", "[., ]?") + r"(?:[.,]0)?"
        return rf"(?:{plain}|\b(?:{words}))" if words else plain
    return f"{value:g}".replace(".", "[.,]") + "0?"
