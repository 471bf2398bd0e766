"""Conversations of some results as the list needs them: its data at once, a transcript or the messages found when asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import orjson
import pandas as pd

from ...analysis.facets import OWN, QUESTIONS
from ...analysis.frames import Results
from ...extension import offers
from ...language.folding import fold
from ...scoring.written import visible, words
from ...store import Store
from ..fetch import Dossier, Shelf
from ..site.content import CaseView, Entry
from ..site.conversations import ConversationPage, filled_in, page_of, transcript
from ..site.folder import page_name
from ..site.lists import encoded, list_data
from ..site.search import in_order

KEY = ["run_id", "case_id", "trial"]
ABOUT = ["bucket", "intent", "kind", "language"]
BLOCKS = {"model": "models"}
OUTCOME = ("success", "unsafe", "corrupt_success")
"""The columns that determine the outcome of a conversation."""


@dataclass(frozen=True)
class LabelQuestion:
    """A question that conversations are labelled on, with the answer of the record to each, NaN where it has none."""

    title: str
    definition: str
    answers: np.ndarray
    scaled: bool = False

    def on_record(self, answer: float) -> str:
        """Return an answer as the list compares it with a label."""
        return "" if answer != answer else f"{answer if self.scaled else 100 * answer:g}"


class Talks:
    """The conversations of some results, by their row; only what the list shows is kept in memory.

    Parameters
    ----------
    store : Store, optional
        The store that they were played on; by default the one that the run files name.

    Attributes
    ----------
    frame : DataFrame
        `results.conversations`, numbered from 0.
    """

    def __init__(self, results: Results, store: Store | None = None):
        self.frame: pd.DataFrame = results.conversations.reset_index(drop=True)
        self.facets: pd.DataFrame = results.facets.reset_index(drop=True)
        self.runs, self.shelf, self._results = list(results.runs), Shelf(results, store), results
        f = self.frame
        known = f[["entry", "source", "model"]].assign(panel=self.facets["panel"])
        self.entries: dict[tuple[str, str], Entry] = {}
        for name, source, model, panel in known.drop_duplicates().to_numpy():
            row = {"model": model, "panel": panel, "partial": ""}
            page = page_name(f"{name}\n{source}")
            self.entries.setdefault((name, source), Entry(name, source, BLOCKS.get(source, source), row, page))
        self.cases: dict[str, CaseView] = {}
        for case_id, *about in f[["case_id", *ABOUT]].drop_duplicates("case_id").to_numpy():
            bucket, intent, kind, language = (text if isinstance(text, str) else "" for text in about)
            # The title of a case would cost the reading of all cases, which takes seconds.
            self.cases[case_id] = CaseView(case_id, page_name(case_id), bucket, intent, words(case_id), kind, language)
        self.pages = [self.entries[key].page or "" for key in zip(f["entry"], f["source"], strict=True)]

    @cached_property
    def names(self) -> dict[str, int]:
        """The row of each conversation by its name in an address, as on the site."""
        cases = self.frame["case_id"].map({case_id: view.page for case_id, view in self.cases.items()})
        names = zip(self.pages, cases, self.frame["trial"].astype(int), strict=True)
        return {f"{page}/{case}-{trial}": n for n, (page, case, trial) in enumerate(names)}

    @cached_property
    def questions(self) -> dict[str, LabelQuestion]:
        """Every question that can be labelled, with the answers on record."""
        asked = [LabelQuestion(q.title, q.definition, q.answers(self.frame)) for q in QUESTIONS.values()]
        found = {name: q for name, q in zip(QUESTIONS, asked, strict=True) if not np.isnan(q.answers).all()}
        rows = pd.MultiIndex.from_frame(self.frame[KEY])
        judged = [newest(self._results).dropna(subset="score") for newest in offers("verdicts")]
        for name, mine in (group for one in judged for group in one.groupby("scorer")):
            scores = mine.groupby(KEY)["score"].mean().reindex(rows).to_numpy(dtype=float)
            found[str(name)] = LabelQuestion(f"Judged: {name}", "", scores, True)
        return found | {OWN.strip(): LabelQuestion("My own question", "", np.zeros(len(self.frame)))}

    def data(self) -> dict[str, Any]:
        """Return the data of the list, with every question that can be labelled and what the record answers."""
        why = self.facets["reason"].tolist()
        found = list_data(self.facets, self.frame, list(self.entries.values()), self.cases, self.pages, why)
        asked = {
            n: {"title": q.title, **encoded([q.on_record(v) or None for v in q.answers])}
            for n, q in self.questions.items()
        }
        return found | {"questions": asked}

    def page(self, row: int, dossier: Dossier | None = None) -> ConversationPage:
        """Return a conversation as a transcript refers to it; without its dossier with its outcome alone."""
        r = self.frame.loc[row]
        entry, view = self.entries[r["entry"], r["source"]], self.cases[r["case_id"]]
        score = {name: None if pd.isna(r[name]) else bool(r[name]) for name in OUTCOME}
        case = dossier.case if dossier else None
        if dossier:
            score, view = dossier.score or {}, replace(view, title=case.title if case else view.title)
        return page_of(r["run_id"], entry, view, int(r["trial"]), r["ended_by"], score, case)

    def markup(self, talk: str) -> str | None:
        """Return the markup of a transcript by its name in an address; None where there is no such conversation."""
        row = self.names.get(talk)
        if row is None:
            return None
        mine = self.frame.loc[row]
        dossier = self.shelf.dossier(mine["run_id"], mine["case_id"], int(mine["trial"]))
        page = self.page(row, dossier)
        about: dict[str, Any] = {"case": dossier.case, "store": dossier.store if dossier.case else None}
        about |= {"verdicts": dossier.verdicts, "model_calls": dossier.model_calls, "cost": None}
        shown = transcript(page, dossier.conversation, dossier.score or {}, **about)
        shown["questions"] = [
            {"name": name, "title": q.title, "definition": q.definition, "record": q.on_record(q.answers[row])}
            | ({"scaled": True} if q.scaled else {})
            for name, q in self.questions.items()
        ]
        same = self.frame[self.frame["case_id"] == mine["case_id"]]
        own = (same["entry"] == mine["entry"]) & (same["source"] == mine["source"])
        others = same[~own & (same["trial"] == mine["trial"])]
        siblings = same[own].sort_values("trial")
        return filled_in(page, shown, siblings=map(self.page, siblings.index), others=map(self.page, others.index))

    @cached_property
    def _messages(self) -> list[list[tuple[bool, str, str]]]:
        """The messages of each conversation, by whom, as shown and as searched; read once, when first searched."""
        found: list[list[tuple[bool, str, str]]] = [[] for _ in range(len(self.frame))]
        rows = {key: n for n, key in enumerate(self.frame[KEY].itertuples(index=False, name=None))}
        for run in self.runs:
            for case_id, trial, _, record in run.conversations():
                messages = in_order(orjson.loads(record)["messages"])
                said = [(m["side"] == "agent", visible(m["text"])) for m in messages]
                found[rows[run.run_id, case_id, trial]] = [(agent, text, fold(text)) for agent, text in said]
        return found

    def search(self, terms: Sequence[str]) -> list[int]:
        """Return the rows in whose messages every term occurs, terms as `fold` makes them."""
        return [n for n, said in enumerate(self._messages) if all(any(t in f for _, _, f in said) for t in terms)]

    def hits(self, rows: Iterable[int], terms: Sequence[str]) -> list[tuple[int, list[dict[str, Any]]]]:
        """Return the messages of some rows in which a term occurs, with their numbers."""
        return [
            (
                row,
                [
                    {"number": n, "agent": agent, "text": text}
                    for n, (agent, text, folded) in enumerate(self._messages[row], 1)
                    if any(term in folded for term in terms)
                ],
            )
            for row in rows
        ]
