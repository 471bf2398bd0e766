"""The list of conversations as a widget of JupyterLab: the site's own list, with labels that go to a file at once."""

import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import orjson
import pandas as pd
import traitlets as t

from ...analysis.estimators.estimate import counted
from ...analysis.facets import is_yes_or_no
from ...analysis.frames import Results
from ...analysis.query import Query
from ...errors import BadInput
from ...extension import offer
from ...project import in_project
from ...scoring.written import visible, words
from ...store import Store
from ..site.words import packed_text
from .agreement import agreement_html
from .labels import LABELS_FILE, import_labels, read_labels, save_label
from .talks import Talks

ASSETS = Path(__file__).parents[1] / "assets"
PARTS = ("common", "labels", "list", "read", "lab")
"""The scripts that make the list, in their order: those of the site, and the host in JupyterLab."""
APART = ("find", "q", "page", "order", "sample", "seed", "per", "question")
"""Fields of an address that are no fields of conversations: search, order and samples."""
STATIC = ["entry", "case_id", "trial", "bucket", "outcome", "reason", "ended_by"]
"""The fields that a viewer without widgets sees, of the first `STATIC_ROWS`."""
STATIC_ROWS = 20


def _script() -> str:
    """The widget's module: the site's parts, its style for a shadow root, and the host."""
    style = (ASSETS / "site.css").read_text(encoding="utf-8")
    style = re.sub(r":root(\[[^\]]*\])", r":host(\1)", style).replace(":root", ":host").replace("\nbody {", "\n:host {")
    parts = [(ASSETS / f"{name}.js").read_text(encoding="utf-8") for name in PARTS]
    return "\n".join([f"const STYLE = {orjson.dumps(style).decode()};", *parts])


class ConversationList(anywidget.AnyWidget):
    """A list of conversations to filter, search, read, compare and label.

    Parameters
    ----------
    labels : path
        The CSV file that labels are added to.
    store : Store, optional
        The store that the conversations were played on; by default the one that the run files name.
    labeller : str
        Who labels; asked for before the first answer where it is empty.

    Attributes
    ----------
    query : str
        Which conversations are listed; set it to list others.
    labeller : str
        Who labels, as written in the list.
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
        data, file = packed_text(self.talks.data()), visible(self._file.name)
        super().__init__(data=data, file=file, labeller=labeller, listed={"query": None})
        with suppress(BadInput, OSError):  # the list says what is wrong with the file when something is saved
            self._read_labels()
        self.on_msg(lambda _, message, buffers: self.send(self._answer(message)))

    @property
    def rows(self) -> list[int]:
        """The listed conversations, by their place in `results.conversations`, in the order of the list."""
        if self.listed["query"] == self.query:
            return [int(row) for row in self.listed["rows"]]
        asked = Query.of(self.query)
        if any(name in ("q", "find", "sample") for name, _ in asked.terms):
            raise BadInput("a search or a sample has no selection until the list is shown: display it first")
        return self._matching()

    def _matching(self) -> list[int]:
        """The conversations that the fields of the query leave, without searches and samples."""
        return [int(n) for n in np.flatnonzero(_fields_of(Query.of(self.query)).mask(self.talks.facets))]

    @property
    def selection(self) -> pd.DataFrame:
        """The rows of `results.conversations` that are listed, in the order of the list."""
        return self.talks.frame.iloc[self.rows]

    def choose(self, query: Query | str = "", **fields: Any) -> None:
        """List the conversations of a query, as in `Results.where`.

        Raises
        ------
        BadInput
            For text that is no query, and for a field that does not exist.
        """
        asked = Query.of(query, **fields)
        _fields_of(asked).mask(self.talks.facets[:0])
        self.query = str(asked)

    def _answer(self, message: Any) -> dict[str, Any]:
        """Answer a question of the list; a problem is told in words."""
        asked: dict[str, Any] = message if isinstance(message, dict) else {}
        answers: dict[str, Callable[[dict[str, Any]], Any]] = {
            "talk": self._talk,
            "search": self._search,
            "hits": self._hits,
        }
        answers |= {"label": self._label, "import": self._import, "agreement": self._agreement}
        number = asked.get("number")
        try:
            return {"number": number, "answer": answers[str(asked.get("what"))](asked)}
        except (BadInput, OSError) as error:
            return {"number": number, "problem": str(error)}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return {"number": number, "problem": "the page asked for something that is not there: run the cell again"}

    def _talk(self, asked: dict[str, Any]) -> str | None:
        return self.talks.markup(str(asked["talk"]))

    def _search(self, asked: dict[str, Any]) -> list[int]:
        return self.talks.search([str(term) for term in asked["terms"]])

    def _hits(self, asked: dict[str, Any]) -> list[Any]:
        return self.talks.hits([int(row) for row in asked["rows"]], [str(term) for term in asked["terms"]])

    def _label(self, asked: dict[str, Any]) -> None:
        row = {name: str(value) for name, value in asked["row"].items()}
        told = {name: row[name] for name in ("run_id", "model", "case_id", "scorer", "tag", "note", "labeller")}
        label = {"True": 1.0, "False": 0.0, "": None}.get(row["label"], row["label"])
        save_label(self._file, **told, trial=int(row["trial"]), label=None if label is None else float(label))
        self._read_labels()

    def _import(self, asked: dict[str, Any]) -> str:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "labels.csv"
            source.write_text(asked["text"], encoding="utf-8", newline="")
            added = import_labels(self._file, source)
        self._read_labels()
        return f"Imported: {counted(added, 'label')} new, or newer than on file."

    def _agreement(self, _: dict[str, Any]) -> str:
        label_agreement_table = offer("tables", "label_agreement_table")
        return agreement_html(label_agreement_table(read_labels(self._file), self._results))

    def _read_labels(self) -> None:
        """Read the labels of the file, each as the list shows it."""
        every = read_labels(self._file)
        given = [
            "" if v != v else str(bool(v)) if is_yes_or_no(scorer) else f"{v:g}"
            for v, scorer in zip(every["label"], every["scorer"], strict=True)
        ]
        self.labels = every.assign(label=given, trial=every["trial"].astype(str)).to_dict("records")

    def _repr_mimebundle_(self, **how: Any) -> Any:
        """With a static table as well as the widget, for viewers without widgets."""
        rows = self._matching()
        shown = self.talks.facets.iloc[rows[:STATIC_ROWS]][STATIC].fillna("")
        table = shown.map(lambda value: visible(str(value))).rename(columns=words).to_html(index=False, border=0)
        note = f"<p>The first {len(shown)} of {len(rows):,} conversations: run the notebook in JupyterLab for all.</p>"
        bundle, about = super()._repr_mimebundle_(**how) or ({}, {})
        return {**bundle, "text/html": table + note}, about


def _fields_of(asked: Query) -> Query:
    return Query(tuple(term for term in asked.terms if term[0] not in APART))
