"""Which conversations to show: an index of all of them, filters on it, and a search through their messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ...analysis.frames import plain_rows
from ...errors import BadInput
from ...language.folding import fold
from ...scoring.deciding import REASONS, reasons_against
from ...scoring.score import RULES_OF_SUCCESS
from ..marks import finding_label

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results

FIELDS = {
    "entry": "Model",
    "bucket": "Bucket",
    "intent": "Intent",
    "case_id": "Case",
    "kind": "Trap kind",
    "outcome": "Outcome",
    "reason": "Main reason",
    "ended_by": "Ended by",
    "finding": "Finding",
    "language": "Language",
    "trial": "Trial",
}
"""The fields that can be filtered by, and their headings."""

OUTCOMES = {
    "success": ("success", True),
    "failed": ("success", False),
    "unsafe": ("unsafe", True),
    "corrupt success": ("corrupt_success", True),
    "handed over": ("handed_over", True),
    "not scored": ("success", None),
}
"""Outcomes by name: the column of the conversations frame and its value."""

DECIDING = (
    "bucket",
    "success",
    "ended_by",
    "score_fault",
    "unsafe",
    "corrupt_success",
    "handed_over",
    "state_matches",
    "right_end",
    "facts_told",
    "facts_required",
    "forbidden_calls",
    *(f"rule_{rule}" for rule in RULES_OF_SUCCESS),
)
"""The columns that determine the main reason against a success."""

BROKEN = "broken: "
"""The prefix of the name of a rule that was broken."""


class Index:
    """All conversations of some results, to be filtered and searched; no record is kept in memory.

    Parameters
    ----------
    results : Results
        The runs.

    Attributes
    ----------
    frame : DataFrame
        `results.conversations`, one row per conversation, numbered from 0.
    """

    def __init__(self, results: Results):
        self.frame: pd.DataFrame = results.conversations.reset_index(drop=True)
        self.runs = list(results.runs)
        self._marked: dict[str, dict[Any, np.ndarray]] = {}

    @cached_property
    def place(self) -> dict[tuple[str, str, int], int]:
        """The row of each conversation by (run_id, case_id, trial)."""
        f = self.frame
        return {key: n for n, key in enumerate(zip(f["run_id"], f["case_id"], f["trial"].astype(int), strict=True))}

    @cached_property
    def findings(self) -> list[list[str]]:
        """What was found in each conversation.

        Its findings, broken rules, what the customer's audit says, forbidden calls.
        """
        f = self.frame
        found: list[list[str]] = [[] for _ in range(len(f))]
        at = {key: n for n, key in enumerate(zip(f["run_id"], f["record_hash"], strict=True))}
        for run in self.runs:
            for record_hash, names in _said(run):
                if (run.run_id, record_hash) in at:
                    found[at[run.run_id, record_hash]] += names
        for column in (c for c in f.columns if c.startswith("rule_")):
            for n in np.flatnonzero((f[column] == "broken").to_numpy(dtype=bool, na_value=False)):
                found[n].append(f"{BROKEN}{column.removeprefix('rule_')}")
        for n in np.flatnonzero(f["forbidden_calls"].to_numpy(dtype=float, na_value=0) > 0):
            found[n].append("forbidden call")
        for n, names in zip(f.index, f["customer_finding_names"].fillna("")):
            found[n] += [f"customer: {name}" for name in names.split(", ") if name]
        return found

    def values(self, field: str) -> dict[Any, int]:
        """The values that a field takes, with the number of conversations, in order of the values."""
        return {value: int(rows.sum()) for value, rows in self._rows(field).items()}

    def matching(self, text: str = "", **chosen: Any) -> np.ndarray:
        """Numbers of the rows that match all the choices.

        Parameters
        ----------
        text : str
            Words that must all occur in the messages, ignoring case; "words in quotes" must occur as a phrase.
        **chosen
            A field of `FIELDS` with a value, or with a list of values of which one must match; None leaves the field
            open.

        Raises
        ------
        BadInput
            For a field or a value that does not exist.
        """
        rows = np.ones(len(self.frame), dtype=bool)
        for field, wanted in chosen.items():
            if wanted is None:
                continue
            known = self._rows(field)
            wanted = [wanted] if isinstance(wanted, (str, int, np.integer)) else list(wanted)
            missing = [w for w in wanted if w not in known]
            if missing:
                raise BadInput(f"no conversation has {field} {missing[0]!r}: choose from {', '.join(map(str, known))}")
            rows &= np.logical_or.reduce([known[w] for w in wanted]) if wanted else False
        for words in search_terms(text):
            rows[rows] = [words in self.texts[n] for n in np.flatnonzero(rows)]
        return np.flatnonzero(rows)

    @cached_property
    def texts(self) -> list[bytes]:
        """The messages of each conversation as they are searched; read once, when the first search asks for them."""
        texts = [b""] * len(self.frame)
        for run in self.runs:
            for case_id, trial, _, record in run.conversations():
                n = self.place.get((run.run_id, case_id, trial))
                if n is not None:
                    texts[n] = fold("\n".join(m["text"] for m in orjson.loads(record)["messages"])).encode(
                        "utf-8", "replace"
                    )
        return texts

    def _rows(self, field: str) -> dict[Any, np.ndarray]:
        """For each value of a field, the rows that have it."""
        if field not in FIELDS:
            raise BadInput(f"there is no filter {field!r}: choose from {', '.join(FIELDS)}")
        if field not in self._marked:
            self._marked[field] = dict(self._computed(field))
        return self._marked[field]

    def _computed(self, field: str) -> Iterable[tuple[Any, np.ndarray]]:
        f = self.frame
        if field == "outcome":
            for name, (column, value) in OUTCOMES.items():
                rows = f[column].isna() if value is None else (f[column] == value).fillna(False)
                yield name, rows.to_numpy(dtype=bool)
        elif field == "reason":
            reasons = [reasons_against(row, row["ended_by"])[:1] for row in plain_rows(f[list(DECIDING)])]
            for kind, words in REASONS.items():
                if any(r.kind == kind for some in reasons for r in some):
                    yield (
                        words,
                        np.fromiter(
                            (bool(some) and some[0].kind == kind for some in reasons), dtype=bool, count=len(f)
                        ),
                    )
        elif field == "finding":
            names = sorted({name for found in self.findings for name in found})
            for name in names:
                yield name, np.fromiter((name in found for found in self.findings), dtype=bool, count=len(f))
        else:
            codes, values = f[field].factorize(sort=True)
            for n, value in enumerate(values.tolist()):
                yield value, codes == n


def _said(run: Any) -> Iterable[tuple[str, list[str]]]:
    """The labels of the findings of each scored record of a run."""
    for record_hash, score in run.scores().items():
        if score.get("findings"):
            yield record_hash, sorted({finding_label(f) for f in score["findings"]})


def search_terms(text: str) -> list[bytes]:
    """The words and quoted phrases of a search, in the form in which they are searched for."""
    parts = re.findall(r'"([^"]+)"|(\S+)', fold(text.replace("“", '"').replace("”", '"')))
    return [
        (phrase or word).strip('"').encode("utf-8", "replace") for phrase, word in parts if (phrase or word).strip('"')
    ]
