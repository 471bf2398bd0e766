"""From a number of a table to its conversations, which open in the explorer below the table.

A cell is linked where a query names the conversations behind it: a count leads to what it counts, and a share to what it
is a share of in the numerator. `where_of` says with which fields, for the board and for every table of `WHERE`.
"""

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as w
import pandas as pd

from ...analysis.counting import behind_finding, behind_median
from ...analysis.facets import promise_label
from ...analysis.frames import Results
from ...analysis.query import KNOWN, YES
from ...scoring.claims.commitments import STATES
from ...scoring.metrics import METRICS, Shown, shown_on
from ...scoring.written import unbroken, visible
from .. import paper
from ..board import as_text, board_parts, notes_of, readable_board, with_flagged, with_line
from ..views import VIEWS, readable
from .table import PressTable
from .words import part, short

Row = dict[str, Any]
Where = dict[str, Any]
"""Fields of a query with their values."""


def _promised(state: str) -> Callable[[Row], Where]:
    return lambda r: {"promise": promise_label(r["class"], state)}


WHERE: dict[str, dict[str, Callable[[Row], Where]]] = {
    "said": dict.fromkeys(("found", "share"), lambda r: behind_finding(r["detector"])["yes"]),
    "promises": {state: _promised(state) for state in STATES},
}
"""By view and column of its table: a row -> the fields; the row's own model is added."""

MEDIAN = ", median"
"""How the board's headings of medians end."""


def where_of(view: str, column: str, row: Row, entry: str | None = None) -> Where | None:
    """Return the fields of the conversations behind one number; None where it is no number of conversations.

    Parameters
    ----------
    view : str
        How the table is read: a key of `WHERE`.
    row : dict
        Its row; a column `entry` names the model.
    entry : str, optional
        The model, for a table of one model.
    """
    where = WHERE.get(view, {}).get(column)
    value = row.get(column)
    if where is None or value is None or value != value or value == 0:
        return None
    whose = row.get("entry") or entry
    return ({"entry": whose} if whose else {}) | where(row)


class LinkedTable(w.VBox):
    """A readable table whose counts and shares open their conversations in the explorer below it.

    Parameters
    ----------
    where : list of list
        The fields of the query of each cell; None for a cell that leads nowhere.
    static : str
        The same table for viewers without widgets.
    parts : list of list of int, optional
        The columns of each of the tables, one below the other, that it is shown as; one table by default.

    Attributes
    ----------
    explorer : Explorer or None
        Made when the first number is pressed.
    """

    def __init__(
        self,
        results: Results,
        shown: pd.DataFrame,
        where: list[list[Where | None]],
        static: str,
        *,
        parts: list[list[int]] | None = None,
        notes: Sequence[str] = (),
        **options: Any,
    ):
        super().__init__(layout=w.Layout(width="100%"))
        self._results, self._where, self._static, self._options = results, where, static, options
        self.explorer: Any = None
        self.tables = [self._press_table(shown, columns) for columns in parts or [list(range(len(shown.columns)))]]
        self.table = self.tables[0]
        self.children = [w.HTML(part("style")), *self.tables, *(w.HTML(escape(visible(note))) for note in notes)]

    def _press_table(self, shown: pd.DataFrame, columns: list[int]) -> PressTable:
        """A table of some of the columns."""
        cells = shown.iloc[:, columns].astype(object).to_numpy().tolist()
        return PressTable(
            lambda row, column: self._open(row, columns[column]),
            heads=[unbroken(str(shown.columns[n])) for n in columns],
            rows=[[unbroken(short(v, 400)) for v in row] for row in cells],
            links=[[row[n] is not None for n in columns] for row in self._where],
            numeric=[any(row[n] is not None for row in self._where) for n in columns],
        )

    def _open(self, row: int, column: int) -> None:
        """Show the conversations behind a cell."""
        where = self._where[row][column]
        if where is None:
            return
        if self.explorer is None:
            from .widgets import Explorer

            self.explorer = Explorer(self._results, **self._options)
            self.children = [*self.children, self.explorer]
        self.explorer.choose(**where)

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """With the plain table as well as the widget, for viewers without widgets."""
        return {**super()._repr_mimebundle_(**how), "text/html": self._static}


def linked(
    results: Results,
    table: pd.DataFrame,
    view: str,
    *,
    entry: str | None = None,
    **options: Any,
) -> LinkedTable:
    """A table of estimates as `readable` shows it, whose counts and shares lead to their conversations.

    Parameters
    ----------
    view : str
        How it is read: a key of `benchmark_lib.reports.views.VIEWS`.
    entry : str, optional
        The model it is about, if it has no column `entry`.
    **options
        As for `explore`: labels, labeller, store.
    """
    shown, rows = readable(table, view), table.to_dict("records")
    columns = [VIEWS[view][heading][0] for heading in shown.columns]
    where = [[where_of(view, column, row, entry) for column in columns] for row in rows]
    static = paper.show(shown.reset_index() if shown.index.name else shown).html
    if shown.index.name:
        shown = shown.reset_index()
        where = [[None, *row] for row in where]
    return LinkedTable(results, shown, where, static, **options)


def _median(conversations: pd.DataFrame, metric: str, entry: str) -> Where | None:
    """The fields of what the median of a metric counts; None where it counts nothing."""
    found = behind_median(conversations[conversations["entry"] == entry], METRICS[metric], entry=entry)
    return dict(found["yes"]) if found["k"] else None


def linked_board(results: Results, board: pd.DataFrame, **options: Any) -> LinkedTable:
    """The board, whose numbers lead to the conversations they count.

    Parameters
    ----------
    **options
        As for `explore`: labels, labeller, store.
    """
    shown = with_flagged(readable_board(board))
    (text, line), notes = with_line(as_text(shown), board), notes_of(shown)
    titles = {METRICS[name].title: name for name in shown_on(Shown.BOARD)}
    rows = results.conversations
    where = [
        [_where_on_board(str(heading), row, titles, rows) for heading in shown.columns]
        for row in board.to_dict("records")
    ]
    if line is not None:
        where.insert(line, [None] * len(shown.columns))
    names = [list(table) for table in board_parts(shown)[:2]]
    static = [paper.show(text[columns], footnotes=() if columns is names[0] else notes).html for columns in names]
    parts = [[shown.columns.get_loc(name) for name in columns] for columns in names]
    return LinkedTable(results, text, where, "\n".join(static), parts=parts, notes=notes, **options)


def _where_on_board(heading: str, row: Row, titles: dict[str, str], rows: pd.DataFrame) -> Where | None:
    name = next((name for title, name in titles.items() if heading.startswith(title)), None)
    if name is None:
        return {"entry": row["entry"]} if heading == "Conversations" else None
    if not row[f"{name}_mean"] > 0:
        return None
    if heading.endswith(MEDIAN):
        return _median(rows, name, row["entry"])
    metric = METRICS[name]
    bucket = {"bucket": metric.bucket} if metric.bucket else {}
    return {"entry": row["entry"]} | bucket | {metric.column: YES if metric.scale.bounds else KNOWN}
