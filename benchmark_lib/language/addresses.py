"""Compare postal addresses by their parts, in any spelling.

Abbreviations, names of regions and countries, split lines, accents and capitals make no difference. The words come from
``data/addresses.yaml``; babel names the countries in every language.
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ..project import DATA
from ..textfiles import read_yaml
from .word_lists import LANGUAGES

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
    code, words, digits = (
        country_code(country),
        " ".join(_words(region)),
        "".join(filter(str.isalnum, postcode)).upper(),
    )
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
