"""Contradictions: two messages state different windows, amounts, days or states for a thing."""

import re
from collections.abc import Iterator
from functools import lru_cache

from ...language.said import ClaimPatterns, Reading
from ...language.sentences import Sentence, is_row, plain
from ...language.values import values_in
from ...remembered import remembered
from ...store import Store
from .findings import AgentClaims, ClaimFinding

NAME = "contradiction"
UNITS = {"days": "days", "business_days": "business days", "hours": "hours", "months": "months", "years": "months"}
"""Kinds of values that are windows, each with its unit for comparisons."""
A_YEAR = 12
Thing = tuple[str, str, frozenset[str]]
"""The subject, the unit of its value, and the words that set it apart from its kind."""


def contradictions(claims: AgentClaims) -> list[ClaimFinding]:
    """Return later sentences that differ, except corrections and those a newer result supports."""
    found, known = [], dict[Thing, tuple[int, str, str]]()
    for message, reading in claims.replies:
        corrects = any(_things(b)["corrected"].search(s.plain) for b in reading.books for s in reading.sentences)
        for sentence in reading.sentences:
            for thing, value in _said(sentence, reading, claims):
                turn, earlier, before = known.setdefault(thing, (message.turn, sentence.text, value))
                acted = any(turn < call.turn <= message.turn for call in claims.done)
                if corrects or (acted and thing[1] in ("money", "date", "state")):
                    known[thing] = message.turn, sentence.text, value
                elif turn < message.turn and _differ(before, value):
                    compared = f"message {turn}: {earlier}"
                    found.append(ClaimFinding(NAME, message.turn, sentence.text, compared, thing[0], "contradicts"))
    return found


def _said(sentence: Sentence, reading: Reading, claims: AgentClaims) -> Iterator[tuple[Thing, str]]:
    """Yield what a sentence states about its only subject; nothing for questions or comparisons."""
    words = sentence.plain
    if words.rstrip().endswith("?"):
        return
    named = values_in(sentence.text, claims.store.now.year)
    numbers = {v.value for v in named if v.kind == "id"} - {claims.case.order}
    values = [v for v in named if v.kind in (*UNITS, "money", "date")]
    rows = " ".join(s.plain for s in reading.sentences if is_row(s.plain)) if is_row(words) else ""
    for book in reading.books:
        patterns = _things(book)
        if patterns["aside"].search(words):
            continue
        apart = {m.group().strip() for m in patterns["apart"].finditer(words)} | numbers
        # The total of a table is for all goods in it, in the quantities given.
        goods = _goods(claims.store).intersection([*words.split(), *rows.split()]) | {*_PIECES.findall(rows)}
        states = [n for n in patterns if n.startswith("state ") and patterns[n].search(words)]
        if len(states) == 1 and not values:
            _, thing, state = states[0].split()
            yield (thing, "state", frozenset(apart | goods)), state
        if len(values) != 1:
            continue
        unit = UNITS.get(values[0].kind, values[0].kind)
        kind = unit if unit in ("money", "date") else "window"
        things = [n for n in patterns if n.startswith(f"{kind} ") and patterns[n].search(words)]
        if len(things) == 1 or (things and kind == "money"):
            value = values[0].value
            if values[0].kind == "years" and value.isdecimal():
                value = str(int(value) * A_YEAR)
            yield (things[0].split()[1], unit, frozenset(apart if kind == "window" else apart | goods)), value


def _differ(one: str, other: str) -> bool:
    """Return whether two values differ; ranges differ if they do not overlap."""
    ends = [[float(end) for end in value.split("-")] for value in (one, other) if _RANGE.fullmatch(value)]
    return one != other if len(ends) < len((one, other)) else ends[0][-1] < ends[1][0] or ends[1][-1] < ends[0][0]


@lru_cache(maxsize=8)
def _things(book: ClaimPatterns) -> dict[str, re.Pattern[str]]:
    """Return a language's patterns for corrections, distinctions, and things by kind and name."""
    return {name: book.compile(patterns) for name, patterns in book.book.get("contradicts", {}).items()}


@remembered("products")
def _goods(store: Store) -> frozenset[str]:
    """Return the words in the names of the goods."""
    rows = [row for table in store.kind.catalogue for row in store.tables.get(table, {}).values()]
    return frozenset(word for row in rows for word in plain(str(row.get("title", ""))).split() if word.isalpha())


_PIECES = re.compile(r"\b\d{1,3} ?[x×](?!\w)|(?<!\w)[x×] ?\d{1,3}\b|\| ?\d{1,3}(?= ?\|)")
_RANGE = re.compile(r"[\d.]+(?:-[\d.]+)?")
