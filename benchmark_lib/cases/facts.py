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

from .pieces import found_in, kept

LANGUAGES = ("en", "es", "fr", "de")
Kind = Literal["money", "date", "id", "link", "measure", "choice"]

UNITS = {
    "l": r"-?\s?l(?:it(?:er|re|ro)s?|itern)?",
    "ml": r"-?\s?(?:ml|mill?ilit(?:er|re|ro)s?)",
    "cm": r"-?\s?(?:cm|[cz]ent[ií]m(?:et(?:er|re|ro)s?|ètres?|etern))",
    "kg": r"-?\s?(?:kg|kilos?|kilogramm?(?:e|o|en)?s?)",
    "g": r"-?\s?(?:g|gramm?(?:e|o|en)?s?)",
    "in": r"-?\s?(?:in\b|inch(?:es)?|\"|″|pulgadas?|pouces?|zoll)",
    "wh": r"-?\s?(?:wh|watt[\s-]?hours?|vatios[\s-]hora|watt-?heures?|wattstunden)",
    "percent": r"\s?(?:%|percent|per cent|por ciento|pour ?cent|prozent)",
    "days": r"[\s-]?(?:(?:calendar|full|consecutive)\s)?(?:days?|d[ií]as?|jours?|(?:kalender)?tagen?)(?! (?:h[áa]bil|laborable|ouvr))",
    "business_days": (
        r"[\s-]?(?:full\s|us\s)?(?:(?:business|working)[\s-]days?|d[ií]as? (?:h[áa]bil(?:es)?|laborables?)|jours? ouvr(?:[ée]s?|ables?)"
        r"|werktagen?|arbeitstagen?|geschäftstagen?)"
    ),
    "hours": r"[\s-]?(?:hours?|hrs?|h|horas?|heures?|stunden?)",
    "months": r"[\s-]?(?:months?|mes(?:es)?|mois|monaten?)",
    "years": r"[\s-]?(?:years?|a[ñn]os?|ans?|années?|jahren?)",
    "count": r"",
}
"""Units of measures and how they are written."""

LARGER = {"g": "kg", "ml": "l"}
"""The unit of a thousand, in which a measure may be told as well."""

NUMBER_WORDS = {
    1: "one|uno?|una|une?|eine?", 2: "two|dos|deux|zwei", 3: "three|tres|trois|drei", 4: "four|cuatro|quatre|vier",
    5: "five|cinco|cinq|fünf", 6: "six|seis|sechs", 7: "seven|siete|sept|sieben", 8: "eight|ocho|huit|acht",
    9: "nine|nueve|neuf|neun", 10: "ten|diez|dix|zehn", 12: "twelve|doce|douze|zwölf", 14: "fourteen|catorce|quatorze|vierzehn",
    15: "fifteen|quince|quinze|fünfzehn", 20: "twenty|veinte|vingt|zwanzig", 24: "twenty-four|veinticuatro|vingt-quatre|vierundzwanzig",
    30: "thirty|treinta|trente|dreissig", 48: "forty-eight|cuarenta y ocho|quarante-huit|achtundvierzig",
    100: "(?:(?:a|one) )?hundred|cien|cent|(?:ein)?hundert",
}  # fmt: skip


def money(cents: int | str | float) -> str:
    """Cents as ``$1,234.50``."""
    return f"${int(cents) / 100:,.2f}"


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

    @property
    def in_words(self) -> str:
        """The value as a page shows it: ``$213.00``, ``3-5 days``, ``whole term``."""
        value = money(self.value) if self.kind == "money" else str(self.value)
        return f"{value} {self.unit or ''}".strip().replace("_", " ") if self.kind in ("measure", "choice") else value

    def found_in(self, text: str) -> bool:
        """Whether a rendering of the value stands in `text` (in lower case, see `fold`)."""
        return found_in(_pattern(self.kind, str(self.value), self.unit, self._names(self.value)), text)

    def rival_in(self, text: str) -> bool:
        """Whether a rendering of a rival value stands in `text`."""
        others = self.rivals
        if self.kind == "choice":
            others = [*others, *(o for o in self.options or {} if o != self.value)]
        return any(found_in(_pattern(self.kind, str(r), self.unit, self._names(r)), text) for r in others)

    def told(self, texts: Iterable[str]) -> bool:
        """Whether the agent's messages tell the fact: the value stands in one of them and no rival in any."""
        folded = [fold(kept(t)) for t in texts]
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
    if kind == "link":
        return re.compile(rf"(?<![\w=]){text}(?!/?[\w-])")
    return re.compile(rf"(?<![^\W_])(?<!-){text}(?![^\W_]|-)")


def _money(cents: int) -> str:
    whole, rest = divmod(cents, 100)
    digits = f"{whole:,}".replace(",", r"[.,' ]?")
    sign = r"(?:us\s?)?\$|usd"
    name = r"(?:(?:us\s?)?\$|usd|us[\s-]?dollars?|dollars?|d[óo]lares)"
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
    names |= {9: {"sept", "setiembre"}, 3: {"maerz"}}.get(month, set())
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


def _date(day: date) -> str:
    """A day as a name or in figures, with its own year or none; also as one end of a range (``2-6 July``)."""
    month, d, m = _month_names(day.month), day.day, day.month
    year = rf"(?:,?\s(?:de\s|del\s)?{day.year})?(?!,?\s(?:del?\s)?(?:19|20)\d\d\b)"
    ordinal = rf"0?{d}(?:st|nd|rd|th|er|\.|º)?" + ("|primero" if d == 1 else "")
    link, other = r"\s?(?:-|to|and|through|a|al|y|au|et|bis|und)\s?(?:(?:the|el|le|dem|den|zum)\s)?", r"\d{1,2}(?:st|nd|rd|th|er|\.|º)?"
    figures = [
        rf"(?<!\d){day:%Y-%m-%d}(?!\d)",
        rf"(?<![\d/])0?{m}/0?{d}(?:/(?:{day.year}|{day:%y}))?(?![\d/])",
        rf"(?<![\d/.-])0?{d}([/.-])0?{m}\1(?:{day.year}|{day:%y})(?!\d)",
        rf"(?<![\d/.])0?{d}\.0?{m}\.(?!\d)",
    ]
    if d > 12:
        figures.append(rf"(?<![\d/])0?{d}/0?{m}(?![\d/])")
    return "|".join([
        rf"(?<!\d)(?:{ordinal})(?:{link}{other})?\s?(?:of\s|de\s)?(?:{month})\b\.?{year}",
        rf"\b(?:{month})\.?\s(?:{other}{link})?(?:the\s)?0?{d}(?:st|nd|rd|th)?\b(?!\d){year}",
        *figures,
    ])  # fmt: skip


def _measure(value: str, unit: str) -> str:
    """A number or a range with its unit; also as one side of a size (``55 x 35 x 23 cm``), or in the unit of a thousand.

    The end of a range is not told as a number of its own.
    """
    start = (r"(?<![\w.,-])" if unit == "count" else r"(?<![\d.,-])") + "".join(rf"(?<!\d {word} )" for word in ("to", "bis", "a", "à", "-"))
    after, end = UNITS[unit], r"(?!\w|[.,]\d)" if unit == "count" else r"(?!\w)"
    low, dash, high = value.partition("-")
    if dash and low:
        link = r"\s?(?:-|to|through|and|a|hasta|y|à|et|bis|und)\s?"
        return rf"{start}{_number(low)}(?:\s?\(\d+\))?(?:{after})?{link}{_number(high)}(?:\s?\(\d+\))?{after}{end}"
    sides = rf"(?:\s?(?:{after})?\s?(?:x|×|by|por|sur|mal)\s?\d+(?:[.,]\d+)?){{0,2}}" if unit in ("cm", "in") else ""
    told = rf"{start}{_number(value)}{sides}{after}{end}"
    if unit in LARGER and float(value) >= 100:
        told += rf"|{start}{_number(str(float(value) / 1000))}{UNITS[LARGER[unit]]}{end}"
    return told


def _number(text: str) -> str:
    value = float(text)
    if value == int(value):
        words = NUMBER_WORDS.get(int(value))
        plain = f"{int(value):,}".replace(",", "[., ]?") + r"(?:[.,]0)?"
        return rf"(?:{plain}|\b(?:{words}))" if words else plain
    return f"{value:g}".replace(".", "[.,]") + "0?"
