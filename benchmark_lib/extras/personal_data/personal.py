"""Read personal values from the fields of a record."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, NamedTuple

from ...project import DATA
from ...textfiles import read_yaml

SHIPPED = DATA / "personal_data"
KNOWN: dict[str, Any] = read_yaml(SHIPPED / "personal.yaml")
DEEPEST, LONGEST = 60, 200
TITLES = (
    r"(?:mr|mrs|ms|miss|dr|herrn?|frau|mme|mlle|madame|monsieur|sr|sra|srta"
    r"|senor|senora|senorita|don|dona|lic|m(?=\.))\.? "
)
NAME = r"[^\W\d_][^\W\d_'’-]*"


class Personal(NamedTuple):
    """A personal value with its kind, a key of ``keys`` in ``personal.yaml``."""

    kind: str
    text: str


def folded(text: str) -> str:
    """Return a text in lower case without accents, character by character."""
    if text.isascii():
        return text.lower()
    return "".join(unicodedata.normalize("NFKD", c)[0].lower()[:1] or c for c in text)


def kind_of(key: str) -> str | None:
    """Return the kind of personal value that a field's name indicates; None if it does not."""
    return next((kind for kind, pattern in _keys() if pattern.search(key)), None) if not is_thing(key) else None


@cache
def _keys() -> list[tuple[str, re.Pattern[str]]]:
    return [(kind, re.compile(pattern)) for kind, pattern in KNOWN["keys"].items() if kind != "not"]


def is_thing(key: str) -> bool:
    """Return whether a field describes a thing or a plan rather than a person."""
    return bool(re.search(KNOWN["keys"]["not"], key)) and not re.search("(?i)mail|phone|address|name", key)


def of_record(record: Any, key: str = "", depth: int = 0) -> list[Personal]:
    """Return the personal values in a record, found by the names of its fields at any depth."""
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


def in_mail(value: Personal) -> list[Personal]:
    """Return the name contained in a mail address, such as ``anna.berg@``."""
    parts = (
        re.fullmatch(r"([^\W\d_]{3,20})[._-]([^\W\d_]{3,20})\d{0,4}@.*", value.text) if value.kind == "email" else None
    )
    return [Personal("name", f"{parts[1]} {parts[2]}")] if parts else []
