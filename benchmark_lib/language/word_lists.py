"""Read the words of each language from ``data/languages/``, one file for each language."""

import re
from functools import lru_cache, reduce
from typing import Any

from ..project import DATA
from ..textfiles import read_yaml

FOLDER = DATA / "languages"
_FILES = sorted(FOLDER.glob("??.yaml"), key=lambda path: (path.stem != "en", path.stem))
LANGUAGES = tuple(path.stem for path in _FILES)
"""Supported languages, English first."""


@lru_cache(maxsize=1)
def books() -> dict[str, dict[str, Any]]:
    """Return the content of each language's file."""
    return {path.stem: read_yaml(path) for path in _FILES}


@lru_cache(maxsize=1)
def common_words() -> dict[str, frozenset[str]]:
    """Return the common words of each language, in lower case and without accents."""
    return {language: frozenset(book["words"]) for language, book in books().items()}


@lru_cache(maxsize=1)
def own_words() -> dict[str, frozenset[str]]:
    """Return the common words of each language that are common in no other."""
    known = common_words()
    return {
        language: own.difference(*(words for other, words in known.items() if other != language))
        for language, own in known.items()
    }


@lru_cache(maxsize=1)
def other_languages() -> tuple[frozenset[str], ...]:
    """Return the common words of unsupported languages."""
    others = read_yaml(FOLDER / "others.yaml").items()
    return tuple(frozenset(words) for language, words in others if language not in LANGUAGES)


@lru_cache(maxsize=1)
def number_words() -> dict[int, str]:
    """Return the numbers that people write in words, each with one expression for all languages."""
    numbers = sorted({n for book in books().values() for n in book["numbers"]})
    return {n: "|".join(book["numbers"][n] for book in books().values() if n in book["numbers"]) for n in numbers}


@lru_cache(maxsize=1)
def units() -> dict[str, str]:
    """Return the units of measures, each with one expression for its text after a number."""
    return {
        unit: f"{lead}(?:{'|'.join([*signs, *words_of('units', unit)])})" for unit, (lead, signs) in _UNITS.items()
    } | {"count": ""}


@lru_cache(maxsize=512)
def words_of(*path: str, languages: tuple[str, ...] = LANGUAGES) -> tuple[str, ...]:
    """Return the words or patterns at a place in the language files, each once.

    ``words_of("values", "or")`` returns the words for "or"; a language without that place adds none.
    """
    words: dict[str, None] = {}
    for language in languages:
        found: Any = reduce(lambda part, name: part.get(name, {}), path, books().get(language, {}))
        words |= dict.fromkeys([found] if isinstance(found, str) else found)
    return tuple(words)


def any_of(*path: str) -> str:
    """Return the words at a place in every language's file as one expression."""
    return "|".join(words_of(*path))


def said_by_customers(language: str, part: str, key: str) -> list[str]:
    """Return a customer's phrases from a part of its language's file, or the English ones."""
    return books().get(language, books()["en"])[part][key]


@lru_cache(maxsize=1)
def months() -> dict[str, int]:
    """Return the months' numbers by their names in every language, in lower case."""
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
    """Return the names of one month, or of all, as one expression, the longest first."""
    names = [re.escape(name) for name, number in months().items() if month in (None, number)]
    return "|".join(sorted(names, key=len, reverse=True))


@lru_cache(maxsize=1)
def months_after_a_dot() -> str:
    """Return the capitalised month names of languages that write the day with a dot."""
    from babel import Locale

    dotted = [language for language, book in books().items() if book["values"].get("ordinal_dot")]
    named = [Locale.parse(language).months["format"]["wide"] for language in dotted]
    return "|".join(name for names in named for name in names.values()) or "(?!)"


@lru_cache(maxsize=31)
def day_words(day: int) -> str:
    """Return the word for a day of the month in every language, as one expression."""
    return "|".join(book["values"]["day_words"][day - 1] for book in books().values())


@lru_cache(maxsize=1)
def day_names() -> tuple[str, ...]:
    """Return the names of the days, Monday first, in every language, one expression each."""
    from babel import Locale

    days = [Locale.parse(language).days["format"]["wide"] for language in LANGUAGES]
    return tuple("|".join(names[number].casefold() for names in days) for number in range(7))


_UNITS: dict[str, tuple[str, tuple[str, ...]]] = {
    **{unit: (r"-?\s?", (unit,)) for unit in ("l", "ml", "cm", "mm", "m", "kg", "g", "wh")},
    "in": (r"-?\s?", (r"\"", "″", "”", "''")),
    "percent": (r"[\s-]?", ("%",)),
    "hours": (r"[\s-]?", ("h",)),
    **{unit: (r"[\s-]?\(?", ()) for unit in ("business_days", "days", "weeks", "months", "years")},
}
"""Units with the pattern between number and unit, and the signs that every language uses."""
