"""Required facts: typed values an agent must tell, found in text in any of the desk's languages.

Names of months and days come from babel's locale data; a fact counts as told when one of its renderings stands in the agent's
words and no rendering of a rival value does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

LANGUAGES = ("en", "es", "fr", "de")
Kind = Literal["money", "date", "id", "link", "measure", "choice"]

UNITS = {
    "l": r"(?:-?\s?l(?:it(?:er|re|ro)s?)?)",
    "cm": r"(?:-?\s?(?:cm|centim(?:et(?:er|re)s?|etros|ètres|eter)))",
    "kg": r"(?:-?\s?(?:kg|kilos?|kilogram(?:o|me)?s?))",
    "g": r"(?:-?\s?(?:g|grams?|gramos|grammes?|gramm))",
    "in": r"(?:-?\s?(?:in\b|inch(?:es)?|\"|″|pulgadas|pouces|zoll))",
    "percent": r"(?:\s?(?:%|percent|per cent|por ciento|pour cent|prozent))",
    "days": r"(?:[\s-]?(?:calendar\s|full\s)?(?:days?|d[ií]as?|jours?|tagen?))",
    "business_days": r"(?:[\s-]?(?:(?:business|working)[\s-]days?|d[ií]as (?:h[áa]biles|laborables)|jours? (?:ouvr[ée]s?|ouvrables?)|werktagen?|arbeitstagen?|geschäftstagen?))",
    "hours": r"(?:[\s-]?(?:hours?|hrs?|h\b|horas?|heures?|stunden?))",
    "months": r"(?:[\s-]?(?:months?|meses|mois|monaten?))",
    "years": r"(?:[\s-]?(?:years?|años?|ans?\b|années?|jahren?))",
    "ml": r"(?:-?\s?(?:ml|milliliters?|millilitres?|mililitros))",
    "wh": r"(?:-?\s?(?:wh|watt[\s-]?hours?|vatios[\s-]hora|wattheures?|wattstunden))",
    "count": r"",
}
"""Units of measures and how they are written."""

NUMBER_WORDS = {
    1: "one|uno?|una|une?|eine?", 2: "two|dos|deux|zwei", 3: "three|tres|trois|drei", 4: "four|cuatro|quatre|vier",
    5: "five|cinco|cinq|fünf", 6: "six|seis|sechs", 7: "seven|siete|sept|sieben", 8: "eight|ocho|huit|acht",
    9: "nine|nueve|neuf|neun", 10: "ten|diez|dix|zehn",
}  # fmt: skip


class Fact(BaseModel):
    """A required fact.

    Attributes
    ----------
    kind : str
        money (integer cents), date (ISO), id, link, measure (number or range ``5-10`` with `unit`) or choice.
    value : str or int or float
        The value that must be told.
    unit : str, optional
        A key of `UNITS`, for a measure.
    options : dict of str to list of str, optional
        For a choice: every option with the regular expressions that name it; `value` is one of the keys.
    rivals : list
        Values of the same kind; one of them beside the right one makes the fact untold.
    say : str, optional
        How the scripted oracle puts it, where a bare value would read badly.
    after : int, optional
        The follow-up of the customer that first asks for it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    value: str | int | float
    unit: str | None = None
    options: dict[str, list[str]] | None = None
    rivals: list[str | int | float] = []
    say: str | None = None
    after: int | None = None

    def found_in(self, text: str) -> bool:
        """Whether a rendering of the value stands in `text` (in lower case, see `fold`)."""
        return _pattern(self.kind, str(self.value), self.unit, self._names(self.value)).search(text) is not None

    def rival_in(self, text: str) -> bool:
        """Whether a rendering of a rival value stands in `text`."""
        others = self.rivals
        if self.kind == "choice":
            others = [*others, *(o for o in self.options or {} if o != self.value)]
        return any(_pattern(self.kind, str(r), self.unit, self._names(r)).search(text) for r in others)

    def told(self, texts: Iterable[str]) -> bool:
        """Whether the agent's messages tell the fact: the value stands in one of them and no rival in any."""
        folded = [fold(t) for t in texts]
        return any(self.found_in(t) for t in folded) and not any(self.rival_in(t) for t in folded)

    def _names(self, value: Any) -> tuple[str, ...]:
        return tuple((self.options or {}).get(str(value), ())) if self.kind == "choice" else ()


def fold(text: str) -> str:
    """Text as it is searched: lower case, typographic spaces, dashes and quotes made plain, markdown marks dropped."""
    return text.casefold().translate(_PLAIN)


_PLAIN = {ord(c): " " for c in "\u00a0\u202f\u2009\n\t"} | {ord(c): "-" for c in "–—‑−"} | {ord(c): "'" for c in "’‘"} | {ord("*"): None}


@lru_cache(maxsize=20_000)
def _pattern(kind: str, value: str, unit: str | None, names: tuple[str, ...]) -> re.Pattern[str]:
    if kind == "choice":
        return re.compile("|".join(f"(?:{n})" for n in names) or r"(?!)", re.I)
    if kind == "money":
        return re.compile(_money(int(value)))
    if kind == "date":
        return re.compile(_date(date.fromisoformat(value[:10])))
    if kind == "measure":
        return re.compile(_measure(value, unit or "count"))
    text = re.escape(fold(value).rstrip("/"))
    return re.compile(rf"(?<![\w-]){text}(?![\w-])" if kind == "id" else text)


def _money(cents: int) -> str:
    whole, rest = divmod(cents, 100)
    digits = f"{whole:,}".replace(",", r"[.,' ]?")
    sign = r"(?:us\s?)?\$|usd"
    name = r"(?:\$|usd|us-?dollars?|dollars?|d[óo]lares)"
    tail = rf"[.,]{rest:02d}(?!\d)"
    exact = rf"(?<![\d.,]){digits}{tail}"
    if rest:
        return exact
    bare = rf"{digits}(?![\d]|[.,]\d)"
    return rf"{exact}|(?:{sign})\s?{bare}|(?<![\d.,]){bare}\s?{name}"


@lru_cache(maxsize=4096)
def _month_names(month: int) -> str:
    from babel import Locale

    names = set()
    for language in LANGUAGES:
        locale = Locale.parse(language)
        for width in ("wide", "abbreviated"):
            names |= {locale.months[form][width][month].casefold().rstrip(".") for form in ("format", "stand-alone")}
    if month == 9:
        names.add("sept")
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def _date(day: date) -> str:
    month, d, year = _month_names(day.month), day.day, rf"(?:,?\s(?:de\s|del\s)?{day.year})?"
    ordinal = rf"0?{d}(?:st|nd|rd|th|er|\.|º)?"
    return "|".join([
        rf"(?<!\d){ordinal}\s?(?:of\s|de\s)?(?:{month})\b\.?{year}",
        rf"\b(?:{month})\.?\s(?:the\s)?0?{d}(?:st|nd|rd|th)?\b(?!\d)",
        rf"(?<!\d){day:%Y-%m-%d}",
        rf"(?<![\d/])0?{day.month}/0?{d}(?:/(?:{day.year}|{day:%y}))?(?![\d/])",
        rf"(?<![\d/.])0?{d}[/.]0?{day.month}(?:[/.](?:{day.year}|{day:%y}))(?!\d)",
        rf"(?<![\d/.])0?{d}\.0?{day.month}\.(?!\d)",
    ])  # fmt: skip


def _measure(value: str, unit: str) -> str:
    after = UNITS[unit]
    low, dash, high = value.partition("-")
    if dash and low:
        number = rf"{_number(low)}\s?(?:-|to|and|a|y|à|et|bis|und)\s?{_number(high)}"
    else:
        number = _number(value)
    if unit == "g" and not dash and float(value) >= 1000:
        kilos = _number(f"{float(value) / 1000:g}")
        return rf"(?<![\d.,]){number}{after}|(?<![\d.,]){kilos}{UNITS['kg']}"
    return rf"(?<![\d.,-]){number}{after}" + (r"(?![\d.,]*\d)" if not after else r"(?!\w)")


def _number(text: str) -> str:
    value = float(text)
    if value == int(value):
        words = NUMBER_WORDS.get(int(value))
        plain = f"{int(value):,}".replace(",", "[., ]?") + r"(?:[.,]0)?"
        return rf"(?:{plain}|\b(?:{words}))" if words else plain
    return f"{value:g}".replace(".", "[.,]") + "0?"
