"""All conversations as the list of transcripts embeds them: each field once, and one code per conversation."""

from collections.abc import Iterable, Sequence
from string import ascii_letters, digits
from typing import Any

from ...records import ENDINGS
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.written import words
from .board import BLOCKS
from .content import Content
from .conversations import ConversationPage

LETTERS = digits + ascii_letters
"""One letter for each value of a field with few values; a dot is a missing value."""
MISSING = "."


def talk_data(content: Content, talks: Sequence[ConversationPage]) -> dict[str, Any]:
    """What the list of transcripts shows and filters.

    Parameters
    ----------
    talks : sequence of ConversationPage
        In the order of the list.

    Returns entries, cases, the fields of `benchmark_lib.analysis.facets.facets` as `encoded`, and why each
    conversation failed.
    """
    known, cases = content.results.facets, list(content.cases.values())
    keys = list(zip(known["run_id"], known["case_id"], known["trial"].astype(int), strict=True))
    place = {key: n for n, key in enumerate(keys)}
    rows = known.iloc[[place[t.run_id, t.view.case_id, t.trial] for t in talks]]
    orders = {
        "case_id": [v.case_id for v in cases],
        "ended_by": list(ENDINGS),
        "outcome": [word for _, word in SUCCESS_STATES.values()],
    }
    fields = {n: encoded(rows[n].tolist(), orders.get(n, ())) for n in rows if rows[n].notna().any()}
    entries = content.played
    return {
        "entries": [{"name": e.name, "page": e.page, "kind": BLOCKS.get(e.block, (e.block,))[0]} for e in entries],
        "cases": [
            {"id": v.case_id, "title": v.title, "intent": words(v.intent), "page": v.page, "language": v.language}
            for v in cases
        ],
        "signs": {word: {"key": key, "sign": sign} for key, (sign, word) in SUCCESS_STATES.items()},
        "page": encoded([t.entry.page for t in talks], [e.page for e in entries]),
        "why": encoded(["; ".join(t.why) for t in talks]),
        "fields": fields,
    }


def encoded(column: Sequence[Any], order: Iterable[Any] = ()) -> dict[str, Any]:
    """A column as its distinct values, and the place of each row's value among them.

    Parameters
    ----------
    column : sequence
        Text, tuples of text, or None.
    order : iterable
        Values that come first, in this order, as far as they occur; the others follow sorted.

    Returns ``values``, and ``codes``: a string with one of `LETTERS` per row, or a list of numbers where there
    are too many values for that; a missing value is a dot or -1.
    """
    seen = set(column) - {None}
    first = [value for value in order if value in seen]
    values = [*first, *sorted(seen - set(first), key=_by_size)]
    place = {value: n for n, value in enumerate(values)}
    if len(values) > len(LETTERS):
        return {"values": values, "codes": [place.get(value, -1) for value in column]}
    return {"values": values, "codes": "".join(LETTERS[place[v]] if v is not None else MISSING for v in column)}


def _by_size(value: Any) -> tuple[Any, ...]:
    """Numbers by size, before all other text."""
    number = isinstance(value, str) and value.isdecimal()
    return (not number, len(value) if number else 0, value)
