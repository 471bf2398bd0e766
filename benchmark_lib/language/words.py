"""The words of each language, read from ``data/languages/``.

One file a language, and a fifth language is one more file.
"""

import re
from functools import lru_cache
from typing import Any

from ..project import DATA
from ..textfiles import read_yaml

FOLDER = DATA / "languages"
_FILES = sorted(FOLDER.glob("??.yaml"), key=lambda path: (path.stem != "en", path.stem))
LANGUAGES = tuple(path.stem for path in _FILES)
"""The languages that are read, English first."""


@lru_cache(maxsize=1)
def books() -> dict[str, dict[str, Any]]:
    """What stands in the file of each language."""
    return {path.stem: read_yaml(path) for path in _FILES}


@lru_cache(maxsize=1)
def common_words() -> dict[str, frozenset[str]]:
    """The common words of each language, in lower case and without accents."""
    return {language: frozenset(book["words"]) for language, book in books().items()}


@lru_cache(maxsize=1)
def own_words() -> dict[str, frozenset[str]]:
    """The words of each language that are common in no other."""
    known = common_words()
    return {
        language: mine.difference(*(words for other, words in known.items() if other != language))
        for language, mine in known.items()
    }


@lru_cache(maxsize=1)
def other_languages() -> tuple[frozenset[str], ...]:
    """The common words of languages that are not read."""
    others = read_yaml(FOLDER / "others.yaml").items()
    return tuple(frozenset(words) for language, words in others if language not in LANGUAGES)


@lru_cache(maxsize=1)
def number_words() -> dict[int, str]:
    """The numbers that people write in words, each with one expression for all languages."""
    numbers = sorted({n for book in books().values() for n in book["numbers"]})
    return {n: "|".join(book["numbers"][n] for book in books().values() if n in book["numbers"]) for n in numbers}


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """The units of measures, each with one expression of how it is written after its number."""
    written = {unit: f"{lead}(?:{'|'.join([*signs, *of_unit(unit)])})" for unit, (lead, signs) in _UNITS.items()}
    return {**written, "count": ""}


def of_unit(unit: str) -> list[str]:
    """The words for a unit, an expression for each language."""
    return [book["units"][unit] for book in books().values() if unit in book["units"]]


def of_values(key: str) -> list[str]:
    """The words of one kind that stand around values (see ``values`` in the files of the languages), in all languages, without repetition."""
    return list(dict.fromkeys(word for book in books().values() for word in book["values"].get(key, ())))


def of_answers(key: str) -> list[str]:
    """What of one kind makes a value no answer (see ``answers`` in the files of the languages), in all languages, without repetition."""
    return list(dict.fromkeys(part for book in books().values() for part in book["answers"][key]))


def of_part(part: str, key: str, languages: tuple[str, ...]) -> list[str]:
    """Patterns of one kind from a part of the files of some languages, such as ``not_asked``: what sounds like a request and is none."""
    found = [books().get(language, {}).get(part, {}) for language in languages]
    return [pattern for mine in found for pattern in mine.get(key) or mine.get("slots", {}).get(key, ())]


@lru_cache(maxsize=1)
def slots_heard() -> tuple[str, ...]:
    """The slots that have words of their own in the files of the languages (see ``heard_as``), whatever the trained reader makes of them."""
    return tuple(dict.fromkeys(slot for book in books().values() for slot in book.get("heard_as", {}).get("slots", ())))


def said_by_customers(language: str, part: str, key: str) -> list[str]:
    """What a customer says, from a part of the file of its language (``several``, ``reactions``); in English where there is no such file."""
    return books().get(language, books()["en"])[part][key]


def dollars() -> str:
    """The name of the currency, as one expression."""
    return "|".join(dict.fromkeys(of_unit("dollars")))


@lru_cache(maxsize=1)
def months() -> dict[str, int]:
    """Names of the months in every language (babel's, and those of the files), in lower case, with their numbers."""
    from babel import Locale

    names: dict[str, int] = {"sept": 9}
    for language, book in books().items():
        known = Locale.parse(language).months
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                names |= {name.casefold().rstrip("."): number for number, name in known[form][width].items()}
        names |= {name: number for number, more in book["values"].get("months", {}).items() for name in more}
    return names


@lru_cache(maxsize=13)
def month_names(month: int | None = None) -> str:
    """The names of one month, or of all of them, as one expression, the longest first."""
    names = [re.escape(name) for name, number in months().items() if month in (None, number)]
    return "|".join(sorted(names, key=len, reverse=True))


@lru_cache(maxsize=1)
def months_after_a_dot() -> str:
    """Names of the months, capitalised, in the languages that write the day as a number with a dot before them."""
    from babel import Locale

    dotted = [language for language, book in books().items() if book["values"].get("ordinal_dot")]
    named = [Locale.parse(language).months["format"]["wide"] for language in dotted]
    return "|".join(name for names in named for name in names.values()) or "(?!)"


@lru_cache(maxsize=31)
def day_words(day: int) -> str:
    """The word for a day of the month in every language, as alternatives of one expression."""
    return "|".join(book["values"]["day_words"][day - 1] for book in books().values())


@lru_cache(maxsize=1)
def day_names() -> tuple[str, ...]:
    """Names of the days from Monday to Sunday in every language (babel), with their accents, one expression a day."""
    from babel import Locale

    days = [Locale.parse(language).days["format"]["wide"] for language in LANGUAGES]
    return tuple("|".join(names[number].casefold() for names in days) for number in range(7))


@lru_cache(maxsize=64)
def of_customers(*keys: str) -> str:
    """What simulated customers say of one kind (``role``, ``goodbye``, ``human``, ``threats`` and its kind), in all languages, as one expression."""
    found = []
    for book in books().values():
        part = book["customer"]
        for key in keys:
            part = part[key]
        found += part
    return "|".join(found)


_UNITS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{unit: (r"-?\s?", (unit,)) for unit in ("l", "ml", "cm", "mm", "m", "kg", "g", "wh")},
    "in": (r"-?\s?", (r"\"", "″", "”", "''")),
    "percent": (r"\s?", ("%",)),
    "hours": (r"[\s-]?", ("h",)),
    **{unit: (r"[\s-]?", ()) for unit in ("business_days", "days", "weeks", "months", "years")},
}
"""Units with what may stand between a number and its unit, and the signs that every language writes."""
