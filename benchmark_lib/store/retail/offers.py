"""Find the parts of a call that a desk's message names, since a customer agrees only to its own request."""

import re
from functools import lru_cache
from typing import Any

from ...language.cues import cue_of_several
from ...language.sentences import plain, sentences, squash
from ...language.words import of_values
from ..protocols import Played, Row, World
from .rows import variants

_ORDER = re.compile(r"\bNL[- ]?(\d{5})\b", re.I)


def named_in(text: str, arguments: dict[str, Any], store: World) -> tuple[set[str], set[str]]:
    """Return the arguments of a wished call that a message names, and those for which it names another value."""
    named: set[str] = set()
    differing: set[str] = set()
    words = plain(text)
    order = store.tables["orders"].get(arguments.get("order_id", ""))
    ids = {f"NL-{number}" for number in _orders(text)}
    if order is not None and ids:
        (named if order["order_id"] in ids else differing).add("order_id")
    if order is not None and "variant_id" in arguments:
        _variant(text, arguments, order, store, named, differing)
    if order is not None and "line_ids" in arguments:
        _lines(words, arguments["line_ids"], order, store, named, differing)
    if order is not None and arguments.get("line_id") in _named_lines(words, order, store):
        named.add("line_id")
    if "address" in arguments and squash(arguments["address"]["postcode"]) in squash(text):
        named.add("address")
    return named, differing


def between(text: str, case: Played, store: World) -> str:
    """Return the slot for which a question offers a choice: a color or size of the order ("Graphite or navy?").

    The sentence before may name the values: "One is graphite, one navy. Which of the two came?".
    """
    lines = store.tables["orders"].get(case.order, {}).get("lines", ())
    sold = [v for line in lines for v in variants(store)[line["variant_id"]][0]["variants"]]
    said, which = sentences(text), cue_of_several("which")
    for place, one in enumerate(said):
        if one.text.rstrip(' *_)"”»').endswith("?"):
            words = f"{said[place - 1].text} {one.text}" if place and which.search(one.plain) else one.text
            for part in ("color", "size"):
                options = {v[part] for v in sold if v.get(part)}
                if sum(_stands_in(o, words, plain(words)) for o in options) > 1:
                    return part
    return ""


def _orders(text: str) -> set[str]:
    """Return the orders that a message names; of several, leave out those that it says to keep."""
    numbers = set(_ORDER.findall(text))
    if len(numbers) < 2:
        return numbers
    clauses = [(plain(clause), set(_ORDER.findall(clause))) for clause in _between_clauses().split(text)]
    kept = cue_of_several("kept")
    return {n for words, found in clauses for n in found if len(found) > 1 or not kept.search(words)}


@lru_cache(maxsize=1)
def _between_clauses() -> re.Pattern[str]:
    return re.compile(rf"[,;\n]|[.!?]\s|\s(?:{'|'.join(of_values('and'))})\s")


def _variant(
    text: str, arguments: dict[str, Any], order: Row, store: World, named: set[str], differing: set[str]
) -> None:
    words = plain(text)
    product, wanted = variants(store)[arguments["variant_id"]]
    line = next((x for x in order["lines"] if x["line_id"] == arguments.get("line_id")), None)
    had = variants(store)[line["variant_id"]][1] if line else {}
    for part in ("color", "size"):
        options = {v[part] for v in product["variants"] if v.get(part)}
        if len(options) < 2 or not wanted.get(part):
            continue
        said = {o for o in options if _stands_in(o, text, words)}
        if wanted[part] in said:
            named.add("variant_id")
        elif said - {had.get(part)}:
            differing.add("variant_id")


def _stands_in(option: str, text: str, words: str) -> bool:
    """Return whether a text names a color or size; a single letter counts in its own case or after its word."""
    if len(option) > 1:
        return re.search(rf"(?<!\w){re.escape(plain(option).strip())}(?!\w)", words) is not None
    letter = rf"(?<![\w'’]){re.escape(option)}(?![\w'’]|\. ?[A-ZÀ-Þ])"
    after_its_word = rf"\b(?:size|gro(?:ss|ß)e|größe|taille|talla)\W{{1,3}}{re.escape(option)}(?!\w)"
    return re.search(letter, text) is not None or re.search(after_its_word, text, re.IGNORECASE) is not None


def _lines(words: str, line_ids: list[str], order: Row, store: World, named: set[str], differing: set[str]) -> None:
    said = _named_lines(words, order, store)
    if said & set(line_ids):
        named.add("line_ids")
    elif said:
        differing.add("line_ids")


def _named_lines(words: str, order: Row, store: World) -> set[str]:
    """Return the lines of an order whose titles a message names."""
    titles = {line["line_id"]: variants(store)[line["variant_id"]][0]["title"] for line in order["lines"]}
    return {line_id for line_id, title in titles.items() if plain(title).strip() in words}
