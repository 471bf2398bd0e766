"""Which conversations to show: an index of all of them, queries on it, and a search through their messages."""

import re
from functools import cached_property
from typing import Any

import numpy as np
import orjson
import pandas as pd

from ...analysis.frames import Results
from ...analysis.query import NO, YES, Query
from ...errors import BadInput
from ...language.folding import fold

FIELDS = {
    "entry": "Model",
    "bucket": "Bucket",
    "intent": "Intent",
    "case_id": "Case",
    "kind": "Trap kind",
    "outcome": "Outcome",
    "became": "What became of it",
    "reason": "Main reason",
    "ended_by": "Ended by",
    "finding": "Finding",
    "promise": "Promise",
    "language": "Language",
    "trial": "Trial",
    "settings": "Settings",
    "weights": "Weights",
    "labelled": "Labelled",
}
"""The fields with a control of their own, and their headings."""


class Index:
    """All conversations of some results, to be chosen by a query and searched; no record is kept in memory.

    Attributes
    ----------
    frame : DataFrame
        `results.conversations`, one row per conversation, numbered from 0.
    facets : DataFrame
        What they can be chosen by: `results.facets`, and ``labelled``.
    """

    def __init__(self, results: Results):
        self.frame: pd.DataFrame = results.conversations.reset_index(drop=True)
        self.facets: pd.DataFrame = results.facets.reset_index(drop=True)
        self.runs = list(results.runs)
        self._found: tuple[str, np.ndarray] = ("", np.ones(len(self.frame), dtype=bool))
        self.mark_labelled(np.zeros(len(self.frame), dtype=bool))

    @cached_property
    def place(self) -> dict[tuple[str, str, int], int]:
        """The row of each conversation by (run_id, case_id, trial)."""
        f = self.frame
        return {key: n for n, key in enumerate(zip(f["run_id"], f["case_id"], f["trial"].astype(int), strict=True))}

    def mark_labelled(self, rows: np.ndarray) -> None:
        """Note by a mask, shape (conversations,), which rows have a label, for the field ``labelled``."""
        self.facets["labelled"] = np.where(rows, YES, NO)

    def values(self, field: str) -> dict[str, int]:
        """Return the values of a field with the number of conversations, in order of the values."""
        return self._counted(field, np.ones(len(self.frame), dtype=bool))

    def matching(self, text: str = "", query: Query | str = "", **fields: Any) -> np.ndarray:
        """Return the numbers of the rows that match.

        Parameters
        ----------
        text : str
            Words that must all occur in the messages, ignoring case; "words in quotes" must occur as a phrase.
        query, **fields
            As in `Results.where`.

        Raises `BadInput` for a field that does not exist, and for a value that no conversation has.
        """
        asked = self.asked(query, **fields)
        rows = asked.mask(self.facets).to_numpy()
        return np.flatnonzero(rows & self._with(text) if text.strip() else rows)

    def asked(self, query: Query | str = "", **fields: Any) -> Query:
        """Return a query whose fields exist and whose names occur."""
        asked = Query.of(query, **fields)
        for field, values in asked.terms:
            if field in FIELDS and field != "labelled":
                known = self.values(field)
                missing = [value for value in values if value not in known]
                if missing:
                    raise BadInput(f"no conversation has {field} {missing[0]!r}: choose from {', '.join(known)}")
        asked.mask(self.facets[:0])
        return asked

    def counts(self, text: str, among: np.ndarray | None, query: Query) -> dict[str, dict[str, int]]:
        """Return how many conversations each value of each field would leave, with the other fields as they are.

        Parameters
        ----------
        among : ndarray of bool, shape (conversations,), optional
            Only these rows are counted.
        """
        masks = {name: Query(((name, values),)).mask(self.facets).to_numpy() for name, values in query.terms}
        rest = self._with(text) if text.strip() else np.ones(len(self.frame), dtype=bool)
        rest = rest if among is None else rest & among
        return {
            field: self._counted(
                field, np.logical_and.reduce([rest, *(m for name, m in masks.items() if name != field)])
            )
            for field in FIELDS
        }

    def _counted(self, field: str, rows: np.ndarray) -> dict[str, int]:
        """The values of a field among some rows, and 0 for those that occur in others alone."""
        if field not in self.facets:
            return {}
        every = self.facets[field].explode().dropna()
        found = every[rows[every.index]].value_counts()
        return {value: int(found.get(value, 0)) for value in sorted(every.unique(), key=_by_size)}

    def _with(self, text: str) -> np.ndarray:
        """The rows in whose messages the words occur; the last search is remembered."""
        if self._found[0] != text:
            terms = search_terms(text)
            rows = np.fromiter((all(t in found for t in terms) for found in self.texts), bool, len(self.frame))
            self._found = (text, rows)
        return self._found[1]

    @cached_property
    def texts(self) -> list[bytes]:
        """The messages of each conversation as they are searched; read once, when the first search asks for them."""
        texts = [b""] * len(self.frame)
        for run in self.runs:
            for case_id, trial, _, record in run.conversations():
                n = self.place.get((run.run_id, case_id, trial))
                if n is not None:
                    text = "\n".join(m["text"] for m in orjson.loads(record)["messages"])
                    texts[n] = fold(text).encode("utf-8", "replace")
        return texts


def _by_size(value: str) -> tuple[int, str]:
    """Numbers by size, before all other text."""
    return (int(value), "") if value.isdecimal() and len(value) < 10 else (1 << 40, value)


def search_terms(text: str) -> list[bytes]:
    """The words and quoted phrases of a search, in the form in which they are searched for."""
    parts = re.findall(r'"([^"]+)"|(\S+)', fold(text.replace("“", '"').replace("”", '"')))
    terms = ((phrase or word).strip('"') for phrase, word in parts)
    return [term.encode("utf-8", "replace") for term in terms if term]
