"""Read personal values from the fields of a record; the words and patterns that tell them."""

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
PARTICLES, LEADS, ARTICLES = (frozenset(KNOWN[name]) for name in ("particles", "leads", "articles"))
"""Small words within names, small words that may begin a name, and articles, which precede things."""
STOP = ({*map(str, KNOWN["fillers"])} | {*KNOWN["nobody"]}) - PARTICLES
"""Words that are not names, although they occur where a name may occur."""


class Personal(NamedTuple):
    """A personal value with its kind, a key of ``keys`` in ``personal.yaml``."""

    kind: str
    text: str


def folded(text: str) -> str:
    """Return a text in lower case without accents, character by character."""
    if text.isascii():
        return text.lower()
    return "".join(unicodedata.normalize("NFKD", c)[0].lower()[:1] or c for c in text)


@cache
def patterns(group: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns of a group of ``personal.yaml``, each with its name, with their parts filled in."""
    parts = {**KNOWN["parts"], "stop": "|".join(sorted(map(re.escape, STOP | PARTICLES)))}

    def filled(text: str) -> str:
        return re.sub(r"<<(\w+)>>", lambda part: filled(parts[part[1]]), text.strip())

    every = ((name, one) for name, many in KNOWN[group].items() for one in ([many] if isinstance(many, str) else many))
    return [(name, re.compile(filled(one), 0 if group == "shapes" else re.M)) for name, one in every]


@cache
def shape(name: str, group: str = "shapes") -> re.Pattern[str]:
    """Return one pattern of a group."""
    return dict(patterns(group))[name]


def kind_of(key: str) -> str | None:
    """Return the kind of personal value that a field's name indicates; None if it does not."""
    return next((kind for kind, one in patterns("keys") if one.search(key)), None) if not is_thing(key) else None


def is_thing(key: str) -> bool:
    """Return whether a field describes a thing or a plan rather than a person."""
    return bool(re.search(KNOWN["things"], key)) and not re.search("(?i)mail|phone|address|name", key)


def of_record(record: Any, key: str = "", depth: int = 0) -> list[Personal]:
    """Return the personal values in a record, found by the names of its fields at any depth."""
    if depth > DEEPEST:
        return []
    if isinstance(record, dict):
        found = [value for name, one in record.items() for value in of_record(one, str(name), depth + 1)]
        parts = [str(v).strip() for k, v in record.items() if isinstance(v, str) and kind_of(str(k)) == "name"]
        return [*found, Personal("name", " ".join(parts)[:LONGEST])] if len(parts) == 2 else found
    if isinstance(record, list | tuple):
        return [value for one in record for value in of_record(one, key, depth + 1)]
    text = str(record).strip() if isinstance(record, str | int) and not isinstance(record, bool) else ""
    kind = kind_of(key)
    return [Personal(kind, text)] if kind and 2 <= len(text) <= LONGEST else []


def in_mail(value: Personal) -> list[Personal]:
    """Return the name contained in a mail address, such as ``anna.berg@``."""
    parts = re.fullmatch(r"([^\W\d_]{3,20})[._-]([^\W\d_]{3,20})\d{0,4}@.*", value.text)
    return [Personal("name", f"{parts[1]} {parts[2]}")] if parts and value.kind == "email" else []
