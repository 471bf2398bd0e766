"""Read personal values from the fields of a record; the words and patterns that tell them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
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
SMALL = STOP | PARTICLES
"""Words that are not names but occur where a name may occur; the same with the small words within names."""


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
    """Return the patterns of a group of ``personal.yaml`` with their names."""
    parts = {**KNOWN["parts"], "stop": "|".join(sorted(map(re.escape, SMALL)))}

    def filled(text: str) -> str:
        return re.sub(r"<<(\w+)>>", lambda part: filled(parts[part[1]]), text.strip())

    lists = {name: [many] if isinstance(many, str) else many for name, many in KNOWN[group].items()}
    every = ((name, one) for name, many in lists.items() for one in many)
    return [(name, re.compile(filled(one), 0 if group == "shapes" else re.M)) for name, one in every]


@cache
def shape(name: str, group: str = "shapes") -> re.Pattern[str]:
    """Return one pattern of a group."""
    return dict(patterns(group))[name]


def kind_of(key: str) -> str | None:
    """Return the kind of personal value that a field's name indicates; None if it does not."""
    kinds = (kind for kind, one in patterns("keys") if one.search(key))
    return None if is_thing(key) else next(kinds, None)


def is_thing(key: str) -> bool:
    """Return whether a field describes a thing or a plan rather than a person."""
    return bool(re.search(KNOWN["things"], key)) and not re.search("(?i)mail|phone|address|name", key)


def leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield texts and numbers in a record with their fields; a name in two fields also whole."""
    if isinstance(value, dict | list | tuple) and depth < DEEPEST:
        inner = [*value.items()] if isinstance(value, dict) else [(key, one) for one in value]
        yield from (leaf for name, one in inner for leaf in leaves(one, str(name), depth + 1))
        whole = [one.strip() for name, one in inner if isinstance(one, str) and kind_of(str(name)) == "name"]
        if len(whole) == 2:
            yield "name", " ".join(whole)[:LONGEST]
    elif isinstance(value, str | int) and not isinstance(value, bool):
        yield key, str(value).strip()


def of_record(record: Any) -> list[Personal]:
    """Return the personal values in a record, found by the names of its fields at any depth."""
    known = ((kind_of(key), text) for key, text in leaves(record))
    return [Personal(kind, text) for kind, text in known if kind and 2 <= len(text) <= LONGEST]


def in_mail(value: Personal) -> list[Personal]:
    """Return the name contained in a mail address, such as ``anna.berg@``."""
    parts = re.fullmatch(r"([^\W\d_]{3,20})[._-]([^\W\d_]{3,20})\d{0,4}@.*", value.text)
    return [Personal("name", f"{parts[1]} {parts[2]}")] if parts and value.kind == "email" else []
