"""Data of the lists, and all messages in packed scripts for the search page.

A page opened from disk may load scripts of its folder but may not fetch data. Each script has one call with one packed
text in base 64, so no text of a model or customer can become code.
"""

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_letters, digits
from typing import Any

import pandas as pd

from ...records import ENDINGS
from ...scoring.deciding import SUCCESS_STATES
from ...scoring.written import visible, words
from .content import CaseView, Content, Entry
from .conversations import ConversationPage
from .files import Folder
from .formatting import packed

LETTERS = digits + ascii_letters
"""One letter for each value of a field with few values; a dot is a missing value."""
MISSING = "."
NUMBERS = {"messages": "turns", "pushes": "pushes", "USD": "cost_usd"}
"""Sort keys of the list, and their columns of the conversations frame."""


def talk_data(content: Content, talks: Sequence[ConversationPage]) -> dict[str, Any]:
    """Return the content of the list of transcripts, in the order of `talks`."""
    known = content.results.facets
    keys = list(zip(known["run_id"], known["case_id"], known["trial"].astype(int), strict=True))
    place = {key: n for n, key in enumerate(keys)}
    rows = [place[t.key] for t in talks]
    why = ["; ".join(t.why) for t in talks]
    pages = [t.entry.page or "" for t in talks]
    return list_data(known.iloc[rows], content.conversations.iloc[rows], content.played, content.cases, pages, why)


def list_data(
    facets: "pd.DataFrame",
    conversations: "pd.DataFrame",
    entries: Sequence[Entry],
    cases: Mapping[str, CaseView],
    pages: Sequence[str],
    why: Sequence[str | None],
) -> dict[str, Any]:
    """Return the data of the list, which ``assets/list.js`` shows.

    `facets`, `conversations`, `pages` (of the entries) and `why` (reasons of failure) have one row per conversation, in
    order.
    """
    orders = {
        "case_id": list(cases),
        "ended_by": list(ENDINGS),
        "outcome": [word for _, word in SUCCESS_STATES.values()],
    }
    numbers = {name: conversations[column] for name, column in NUMBERS.items()}
    return {
        "entries": [{"name": e.name, "page": e.page} for e in entries],
        "cases": [
            {"id": v.case_id, "title": v.title, "intent": words(v.intent), "page": v.page, "language": v.language}
            for v in cases.values()
        ],
        "signs": {word: {"key": key, "sign": sign} for key, (sign, word) in SUCCESS_STATES.items()},
        "page": encoded(pages, [e.page for e in entries]),
        "why": encoded(why),
        "fields": {n: encoded(facets[n].tolist(), orders.get(n, ())) for n in facets if facets[n].notna().any()},
        "numbers": {
            n: [None if v != v else round(float(v), 5) for v in c] for n, c in numbers.items() if c.gt(0).any()
        },
    }


def encoded(column: Sequence[Any], order: Iterable[Any] = ()) -> dict[str, Any]:
    """Return the distinct ``values`` of a column, those of `order` first, and its ``codes``.

    Codes are a string with one of `LETTERS` per row, or numbers if there are many
    values. A dot or -1 marks a missing value.
    """
    seen = set(column) - {None}
    first = [value for value in order if value in seen]
    values = [*first, *sorted(seen - set(first), key=_by_size)]
    place = {value: n for n, value in enumerate(values)}
    if len(values) > len(LETTERS):
        return {"values": values, "codes": [place.get(value, -1) for value in column]}
    return {"values": values, "codes": "".join(LETTERS[place[v]] if v is not None else MISSING for v in column)}


def _by_size(value: Any) -> tuple[Any, ...]:
    number = isinstance(value, str) and value.isdecimal()
    return (not number, len(value) if number else 0, value)


CHUNK = 4_000_000
"""Characters of text in one script, before packing."""


class Messages:
    """Every message of a site, with each distinct text once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._spoken: dict[str, list[int]] = {}

    def add(self, talk: ConversationPage, raw: dict[str, Any]) -> None:
        """Add the messages of one record."""
        self._spoken[talk.href] = [
            2 * self._places.setdefault(visible(m["text"]), len(self._places)) + (m["side"] == "agent")
            for m in in_order(raw["messages"])
        ]

    def write(self, folder: Folder, talks: Sequence[ConversationPage]) -> list[str]:
        """Write the scripts of conversations in the order of the list; return their addresses.

        The first has the texts of each conversation: twice the place of the text, plus one for a text of the agent. The
        others contain the texts, in order.
        """
        parts = [[self._spoken[t.href] for t in talks], *_chunks(self._places)]
        names = []
        for number, part in enumerate(parts):
            names.append(f"search/messages-{number}.js")
            folder.write(names[-1], packed(part), "search")
        return names


def in_order(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as transcripts number them: by turn, the customer's first."""
    return sorted(messages, key=lambda m: (m["turn"], m["side"] != "customer"))


def _chunks(texts: Iterable[str]) -> Iterable[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        chunk.append(text)
        size += len(text)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
