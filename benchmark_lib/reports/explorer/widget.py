"""The site's list of conversations as a JupyterLab widget, with labels saved at once."""

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import orjson
import pandas as pd
import traitlets as t

from ...analysis.facets import OWN, QUESTIONS, is_yes_or_no
from ...analysis.frames import Results
from ...analysis.query import Query
from ...errors import BadInput
from ...extension import offer, offers
from ...language.sentences import fold
from ...project import in_project
from ...scoring.written import counted, visible, words
from ...store import Store
from ..fetch import Dossier, DossierStore
from ..html import packed_text, shown_deep
from ..site.content import CaseView, Entry, page_name
from ..site.conversations import ConversationPage, markup, page_of
from ..site.files import encoded, in_order, list_data
from .labels import LABELS_FILE, import_labels, read_labels, save_label, show_agreement

KEY = ["run_id", "case_id", "trial"]
ABOUT = ["bucket", "intent", "kind", "language"]
BLOCKS = {"model": "models"}
OUTCOME = ("success", "unsafe", "corrupt_success")


@dataclass(frozen=True)
class LabelQuestion:
    """A question that labels answer, with the answers on record (NaN if there is none)."""

    title: str
    definition: str
    answers: np.ndarray
    scaled: bool = False

    def on_record(self, answer: float) -> str:
        """Return an answer in the form that the list compares with a label."""
        return "" if answer != answer else f"{answer if self.scaled else 100 * answer:g}"


class Talks:
    """The conversations of some results, by row of `frame` (`results.conversations`, from 0).

    Only what the list shows is kept in memory. `store` defaults to the one that each run file names.
    """

    def __init__(self, results: Results, store: Store | None = None):
        self.frame: pd.DataFrame = results.conversations.reset_index(drop=True)
        self.facets: pd.DataFrame = results.facets.reset_index(drop=True)
        self.runs, self.dossiers, self._results = list(results.runs), DossierStore(results, store), results
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
            # Titles of cases would require reading all cases, which takes seconds.
            self.cases[case_id] = CaseView(case_id, page_name(case_id), bucket, intent, words(case_id), kind, language)
        self.pages = [self.entries[key].page or "" for key in zip(f["entry"], f["source"], strict=True)]

    @cached_property
    def names(self) -> dict[str, int]:
        """Rows of the conversations by their names in an address, as on the site."""
        cases = self.frame["case_id"].map({case_id: view.page for case_id, view in self.cases.items()})
        names = zip(self.pages, cases, self.frame["trial"].astype(int), strict=True)
        return {f"{page}/{case}-{trial}": n for n, (page, case, trial) in enumerate(names)}

    @cached_property
    def questions(self) -> dict[str, LabelQuestion]:
        """All questions that can be labelled, with the answers on record."""
        asked = {n: LabelQuestion(q.title, q.definition, q.answers(self.frame)) for n, q in QUESTIONS.items()}
        found = {name: question for name, question in asked.items() if not np.isnan(question.answers).all()}
        rows = pd.MultiIndex.from_frame(self.frame[KEY])
        judged = [newest(self._results).dropna(subset="score") for newest in offers("verdicts")]
        for name, verdicts in (group for one in judged for group in one.groupby("scorer")):
            scores = verdicts.groupby(KEY)["score"].mean().reindex(rows).to_numpy(dtype=float)
            found[str(name)] = LabelQuestion(f"Judged: {name}", "", scores, True)
        return found | {OWN.strip(): LabelQuestion("My own question", "", np.zeros(len(self.frame)))}

    def data(self) -> dict[str, Any]:
        """Return the data of the list with the questions and the answers on record."""
        why = self.facets["reason"].tolist()
        found = list_data(self.facets, self.frame, list(self.entries.values()), self.cases, self.pages, why)
        asked = {
            n: {"title": q.title, **encoded([q.on_record(v) or None for v in q.answers])}
            for n, q in self.questions.items()
        }
        return found | {"questions": asked}

    def page(self, row: int, dossier: Dossier | None = None) -> ConversationPage:
        """Return a conversation for links to its transcript; without a dossier, only its outcome."""
        r = self.frame.loc[row]
        entry, view = self.entries[r["entry"], r["source"]], self.cases[r["case_id"]]
        score = {name: None if pd.isna(r[name]) else bool(r[name]) for name in OUTCOME}
        case = dossier.case if dossier else None
        if dossier:
            score, view = dossier.score or {}, replace(view, title=case.title if case else view.title)
        return page_of(r["run_id"], entry, view, int(r["trial"]), r["ended_by"], score, case)

    def markup(self, talk: str) -> str | None:
        """Return the markup of a transcript by its name in an address, or None."""
        row = self.names.get(talk)
        if row is None:
            return None
        chosen = self.frame.loc[row]
        dossier = self.dossiers.dossier(chosen["run_id"], chosen["case_id"], int(chosen["trial"]))
        page = self.page(row, dossier)
        about: dict[str, Any] = dossier.about | {"store": dossier.store if dossier.case else None, "entry": None}
        about["questions"] = [
            {"name": name, "title": q.title, "definition": q.definition, "record": q.on_record(q.answers[row])}
            | ({"scaled": True} if q.scaled else {})
            for name, q in self.questions.items()
        ]
        same = self.frame[self.frame["case_id"] == chosen["case_id"]]
        own = (same["entry"] == chosen["entry"]) & (same["source"] == chosen["source"])
        about["siblings"] = map(self.page, same[own].sort_values("trial").index)
        about["others"] = map(self.page, same[~own & (same["trial"] == chosen["trial"])].index)
        return markup(page, dossier.conversation, dossier.score or {}, **about)

    @cached_property
    def _messages(self) -> list[list[tuple[bool, str, str]]]:
        said: dict[tuple[str, str, int], list[tuple[bool, str, str]]] = {}
        for run in self.runs:
            for case_id, trial, _, record in run.conversations():
                texts = [(m["side"] == "agent", visible(m["text"])) for m in in_order(orjson.loads(record)["messages"])]
                said[run.run_id, case_id, trial] = [(agent, text, fold(text)) for agent, text in texts]
        return [said.get(key, []) for key in self.frame[KEY].itertuples(index=False, name=None)]

    def search(self, terms: Sequence[str]) -> list[int]:
        """Return the rows whose messages contain every term, folded by `fold`."""
        return [n for n, said in enumerate(self._messages) if all(any(t in f for _, _, f in said) for t in terms)]

    def hits(self, rows: Iterable[int], terms: Sequence[str]) -> list[tuple[int, list[dict[str, Any]]]]:
        """Return the messages that contain a term, for some rows, with their numbers."""
        found = []
        for row in rows:
            said = enumerate(self._messages[row], 1)
            here = [(n, m) for n, m in said if any(term in m[2] for term in terms)]
            found.append((row, [{"number": n, "agent": agent, "text": text} for n, (agent, text, _) in here]))
        return found


ASSETS = Path(__file__).parents[1] / "assets"
PARTS = ("common", "labels", "list", "read", "lab")
"""The scripts of the list, in order: those of the site, and the host in JupyterLab."""
APART = ("find", "q", "page", "order", "sample", "seed", "per", "question")
"""Fields of an address that do not describe conversations: search, order and samples."""
STATIC = ["entry", "case_id", "trial", "bucket", "outcome", "reason", "ended_by"]
"""Fields shown where there are no widgets, for the first `STATIC_ROWS` rows."""
STATIC_ROWS = 20


def _script() -> str:
    # The site's style is rewritten for a shadow root.
    style = (ASSETS / "site.css").read_text(encoding="utf-8")
    style = re.sub(r":root(\[[^\]]*\])", r":host(\1)", style).replace(":root", ":host").replace("\nbody {", "\n:host {")
    parts = [(ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in PARTS]
    return "\n".join([f"const STYLE = {orjson.dumps(style).decode()};", *parts])


class ConversationList(anywidget.AnyWidget):
    """A list of conversations to filter, search, read, compare and label; see `explore`.

    Attributes
    ----------
    query : str
        The query of the listed conversations; set it to list others.
    labeller : str
        The labeller's name, as written in the list.
    """

    _esm = _script()
    data = t.Unicode().tag(sync=True)
    query = t.Unicode().tag(sync=True)
    listed = t.Dict({"query": "", "rows": []}).tag(sync=True)
    labels: t.List[Any] = t.List().tag(sync=True)
    labeller = t.Unicode().tag(sync=True)
    file = t.Unicode().tag(sync=True)

    def __init__(
        self, results: Results, *, labels: str | Path = LABELS_FILE, store: Store | None = None, labeller: str = ""
    ):
        self.talks, self._results, self._file = Talks(results, store), results, in_project(labels)
        data, file = packed_text(shown_deep(self.talks.data())), visible(self._file.name)
        super().__init__(data=data, file=file, labeller=labeller, listed={"query": None})
        with suppress(BadInput, OSError):  # the list reports a problem with the file when it saves
            self._read_labels()
        self.on_msg(lambda _, message, buffers: self.send(self._answer(message)))

    @property
    def rows(self) -> list[int]:
        """Places of the listed conversations in `results.conversations`, in the list's order."""
        if self.listed["query"] == self.query:
            return [int(row) for row in self.listed["rows"]]
        asked = Query.of(self.query)
        if any(name in ("q", "find", "sample") for name, _ in asked.terms):
            raise BadInput("a search or a sample has no selection until the list is shown: display it first")
        return self._matching()

    def _matching(self) -> list[int]:
        return [int(n) for n in np.flatnonzero(_fields_of(Query.of(self.query)).mask(self.talks.facets))]

    @property
    def selection(self) -> pd.DataFrame:
        """Rows of `results.conversations` that are listed, in the list's order."""
        return self.talks.frame.iloc[self.rows]

    def choose(self, query: Query | str = "", **fields: Any) -> None:
        """List the conversations of a query, as in `Results.where`; refuse any other text."""
        asked = Query.of(query, **fields)
        _fields_of(asked).mask(self.talks.facets[:0])
        self.query = str(asked)

    def _answer(self, message: Any) -> dict[str, Any]:
        asked: dict[str, Any] = message if isinstance(message, dict) else {}
        answers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "talk": lambda of: self.talks.markup(str(of["talk"])),
            "search": lambda of: self.talks.search([str(term) for term in of["terms"]]),
            "hits": lambda of: self.talks.hits(map(int, of["rows"]), [str(term) for term in of["terms"]]),
            "label": self._label,
            "import": self._import,
            "agreement": self._agreement,
        }
        try:
            found = {"answer": answers[str(asked.get("what"))](asked)}
        except (BadInput, OSError) as error:
            found = {"problem": str(error)}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            found = {"problem": "the page asked for something that is not there: run the cell again"}
        return {"number": asked.get("number"), **found}

    def _label(self, asked: dict[str, Any]) -> None:
        row = {name: str(value) for name, value in asked["row"].items()}
        fields = {name: row[name] for name in ("run_id", "model", "case_id", "scorer", "tag", "note", "labeller")}
        label = {"True": 1.0, "False": 0.0, "": None}.get(row["label"], row["label"])
        save_label(self._file, **fields, trial=int(row["trial"]), label=None if label is None else float(label))
        self._read_labels()

    def _import(self, asked: dict[str, Any]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "labels.csv"
            source.write_text(asked["text"], encoding="utf-8", newline="")
            added = import_labels(self._file, source)
        self._read_labels()
        return f"Imported: {counted(added, 'label')} new, or newer than those on file."

    def _agreement(self, _: dict[str, Any]) -> str:
        label_agreement_table = offer("tables", "label_agreement_table")
        return show_agreement(label_agreement_table(read_labels(self._file), self._results)).html

    def _read_labels(self) -> None:
        every = read_labels(self._file)
        given = [
            "" if v != v else str(bool(v)) if is_yes_or_no(scorer) else f"{v:g}"
            for v, scorer in zip(every["label"], every["scorer"], strict=True)
        ]
        self.labels = every.assign(label=given, trial=every["trial"].astype(str)).to_dict("records")

    def _repr_mimebundle_(self, **how: Any) -> Any:
        rows = self._matching()
        shown = self.talks.facets.iloc[rows[:STATIC_ROWS]][STATIC].fillna("")
        table = shown.map(lambda value: visible(str(value))).rename(columns=words).to_html(index=False, border=0)
        note = f"<p>The first {len(shown)} of {len(rows):,} conversations: run the notebook in JupyterLab for all.</p>"
        bundle, about = super()._repr_mimebundle_(**how) or ({}, {})
        return {**bundle, "text/html": table + note}, about


def _fields_of(asked: Query) -> Query:
    return Query(tuple(term for term in asked.terms if term[0] not in APART))


def explore(
    results: Results,
    *,
    where: Query | str = "",
    labels: str | Path = LABELS_FILE,
    labeller: str = "",
    store: Store | None = None,
) -> ConversationList:
    """Return the list of conversations as a widget: the list of the site, without a site.

    Parameters
    ----------
    where : Query or str
        The conversations to list first, as in `Results.where`: ``"entry=gpt-5.5 resolved=no"``. `BadInput` refuses
        text that is not a query, and a field that does not exist.
    labels : path
        CSV file to which every label is saved at once.
    labeller : str
        The labeller's name; if empty, the list asks for it before the first answer.
    store : Store, optional
        The store of the conversations; by default the one that the run files name.
    """
    listed = ConversationList(results, labels=labels, store=store, labeller=labeller)
    listed.choose(where)
    return listed
