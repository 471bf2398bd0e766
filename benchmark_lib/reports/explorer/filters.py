"""Which conversations to show: an index of all of them, filters on it, and a search through their messages."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
import orjson
import pandas as pd

from ...analysis.facets import plain_rows
from ...analysis.frames import Results
from ...analysis.questions import QUESTIONS
from ...errors import BadInput
from ...language.folding import fold
from ...scoring.deciding import REASONS, became, reasons_against
from ...scoring.score import RULES_OF_SUCCESS
from ..marks import finding_label

FIELDS = {
    "entry": "Model",
    "bucket": "Bucket",
    "intent": "Intent",
    "case_id": "Case",
    "kind": "Trap kind",
    "outcome": "Outcome",
    "became": "What became of it",
    "reason": "Main reason",
    "counted": "Counted as",
    "ended_by": "Ended by",
    "finding": "Finding",
    "promise": "Promise",
    "language": "Language",
    "trial": "Trial",
    "settings": "Settings",
    "weights": "Weights",
    "labelled": "Labelled",
}
"""The fields that can be filtered by, and their headings."""

LABELLED, NOT_LABELLED = "labelled", "not labelled"

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
    *("bucket", "success", "ended_by", "score_fault", "unsafe", "corrupt_success", "handed_over", "state_matches"),
    *("right_end", "facts_told", "facts_required", "forbidden_calls", "pressure_reached", "queue_accepted"),
    *(f"rule_{rule}" for rule in RULES_OF_SUCCESS),
)
"""The columns that determine what became of a conversation, and the main reason against a success."""

BROKEN = "broken: "
"""The prefix of the name of a rule that was broken."""


class Index:
    """All conversations of some results, to be filtered and searched; no record is kept in memory.

    Attributes
    ----------
    frame : DataFrame
        `results.conversations`, one row per conversation, numbered from 0.
    """

    def __init__(self, results: Results):
        self.frame: pd.DataFrame = results.conversations.reset_index(drop=True)
        self.runs = list(results.runs)
        self._marked: dict[str, dict[Any, np.ndarray]] = {}
        self._found: tuple[str, np.ndarray] = ("", np.ones(len(self.frame), dtype=bool))
        self.mark_labelled(np.zeros(len(self.frame), dtype=bool))

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
        found: list[list[str]] = [list(findings) for findings, _ in self._said]
        for column in (c for c in f.columns if c.startswith("rule_")):
            for n in np.flatnonzero((f[column] == "broken").to_numpy(dtype=bool, na_value=False)):
                found[n].append(f"{BROKEN}{column.removeprefix('rule_')}")
        for n in np.flatnonzero(f["forbidden_calls"].to_numpy(dtype=float, na_value=0) > 0):
            found[n].append("forbidden call")
        for n, names in zip(f.index, f["customer_finding_names"].fillna("")):
            found[n] += [f"customer: {name}" for name in names.split(", ") if name]
        return found

    @cached_property
    def promises(self) -> list[list[str]]:
        """What was promised in each conversation, with what became of it: ``refund: unbacked``."""
        return [promises for _, promises in self._said]

    @cached_property
    def _said(self) -> list[tuple[list[str], list[str]]]:
        """The findings and the promises of each conversation as its score has them."""
        f = self.frame
        said: list[tuple[list[str], list[str]]] = [([], [])] * len(f)
        at = {key: n for n, key in enumerate(zip(f["run_id"], f["record_hash"], strict=True))}
        for run in self.runs:
            for record_hash, score in run.scores().items():
                if (run.run_id, record_hash) in at:
                    said[at[run.run_id, record_hash]] = _said_in(score)
        return said

    def mark_labelled(self, rows: np.ndarray) -> None:
        """Say by a mask, shape (conversations,), which rows have a label, for the field ``labelled``."""
        self._marked["labelled"] = {LABELLED: rows, NOT_LABELLED: ~rows}

    def numbers(self, keys: Iterable[tuple[str, str, int]]) -> np.ndarray:
        """The rows of some conversations, given by run_id, case_id and trial; keys that are not here are left out."""
        return np.array(sorted(self.place[key] for key in keys if key in self.place), dtype=int)

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

        Raises `BadInput` for a field or a value that does not exist.
        """
        rows = np.logical_and.reduce([np.ones(len(self.frame), dtype=bool), *self._masks(chosen).values()])
        return np.flatnonzero(rows & self._with(text) if text.strip() else rows)

    def counts(self, text: str = "", among: np.ndarray | None = None, **chosen: Any) -> dict[str, dict[Any, int]]:
        """How many conversations each value of each field would leave, with the choices in all the other fields as they are.

        Parameters
        ----------
        text, **chosen
            As for `matching`.
        among : ndarray of bool, shape (conversations,), optional
            Only these rows are counted.
        """
        masks = self._masks(chosen)
        rest = self._with(text) if text.strip() else np.ones(len(self.frame), dtype=bool)
        rest = rest if among is None else rest & among
        found = {}
        for field in FIELDS:
            others = np.logical_and.reduce([rest, *(mask for other, mask in masks.items() if other != field)])
            found[field] = {value: int(np.count_nonzero(rows & others)) for value, rows in self._rows(field).items()}
        return found

    def _masks(self, chosen: dict[str, Any]) -> dict[str, np.ndarray]:
        """The rows that match each choice on its own."""
        masks = {}
        for field, wanted in chosen.items():
            if wanted is None:
                continue
            known = self._rows(field)
            wanted = [wanted] if isinstance(wanted, (str, int, np.integer)) else list(wanted)
            missing = [w for w in wanted if w not in known]
            if missing:
                raise BadInput(f"no conversation has {field} {missing[0]!r}: choose from {', '.join(map(str, known))}")
            none = np.zeros(len(self.frame), dtype=bool)
            masks[field] = np.logical_or.reduce([none, *(known[w] for w in wanted)])
        return masks

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

    def _rows(self, field: str) -> dict[Any, np.ndarray]:
        """For each value of a field, the rows that have it."""
        if field not in FIELDS:
            raise BadInput(f"there is no filter {field!r}: choose from {', '.join(FIELDS)}")
        if field not in self._marked:
            self._marked[field] = dict(self._computed(field))
        return self._marked[field]

    @cached_property
    def _deciding(self) -> list[dict[str, Any]]:
        return plain_rows(self.frame[list(DECIDING)])

    @cached_property
    def _reasons(self) -> list[str]:
        """The main reason against a success, in words; empty for a success."""
        reasons = (reasons_against(row, row["ended_by"])[:1] for row in self._deciding)
        return [REASONS[found[0].kind] if found else "" for found in reasons]

    @cached_property
    def _became(self) -> list[str]:
        """What became of each conversation, as the report on one model counts it."""
        return [became(row["bucket"], row) for row in self._deciding]

    def _computed(self, field: str) -> Iterable[tuple[Any, np.ndarray]]:
        f = self.frame
        if field == "outcome":
            for name, (column, value) in OUTCOMES.items():
                rows = f[column].isna() if value is None else (f[column] == value).fillna(False)
                yield name, rows.to_numpy(dtype=bool)
        elif field == "counted":
            for question in QUESTIONS.values():
                answers = question.answers(f)
                for yes in (True, False):
                    if (answers == yes).any():
                        yield question.counted(yes), answers == yes
        elif field in ("reason", "became"):
            words = self._reasons if field == "reason" else self._became
            codes, values = pd.factorize(np.array(words, dtype=object), sort=True)
            for n, value in enumerate(values):
                if value:
                    yield value, codes == n
        elif field in ("finding", "promise"):
            named = self.findings if field == "finding" else self.promises
            for name in sorted({name for names in named for name in names}):
                yield name, np.fromiter((name in names for names in named), dtype=bool, count=len(f))
        else:
            codes, values = f[field].factorize(sort=True)
            for n, value in enumerate(values.tolist()):
                yield value, codes == n


def _said_in(score: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The labels of the findings and of the promises of one score."""
    promises = score.get("promises") or {}
    return (
        sorted({finding_label(f) for f in score.get("findings") or ()}),
        sorted(promise_label(kind, state) for kind, states in promises.items() for state, n in states.items() if n),
    )


def promise_label(kind: str, state: str) -> str:
    """The name of a promise and what became of it: ``refund: beyond authority``."""
    return f"{kind}: {state}".replace("_", " ")


def search_terms(text: str) -> list[bytes]:
    """The words and quoted phrases of a search, in the form in which they are searched for."""
    parts = re.findall(r'"([^"]+)"|(\S+)', fold(text.replace("“", '"').replace("”", '"')))
    terms = ((phrase or word).strip('"') for phrase, word in parts)
    return [term.encode("utf-8", "replace") for term in terms if term]
