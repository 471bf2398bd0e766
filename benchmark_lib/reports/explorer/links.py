"""From a number of a table to its conversations, which open in the explorer below the table.

A cell is linked where a query names the conversations behind it: a count leads to what it counts, and a share to what it
is a share of in the numerator. `where_of` says with which fields, for the board and for every table of `WHERE`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as w
import pandas as pd
import traitlets as t

from ...analysis.cell import Cell, Heading, Table
from ...analysis.counting import behind_finding, behind_median
from ...analysis.facets import promise_label
from ...analysis.frames import Results
from ...analysis.query import KNOWN, YES, Query
from ...analysis.tables.board import board_table
from ...scoring.claims.commitments import STATES
from ...scoring.metrics import METRICS
from ..board import board_parts
from ..html import table_html
from ..paper import reads_as_numbers
from ..views import VIEWS, readable

Row = dict[str, Any]
Where = dict[str, Any]
"""Fields of a query with their values."""


def _promised(state: str) -> Callable[[Row], Where]:
    return lambda r: {"promise": promise_label(r["class"], state)}


def _metric(row: Row) -> Where:
    """The conversations in which a metric counts something; of one that counts nothing, those with a value."""
    metric = METRICS[row["metric"]]
    bucket = {"bucket": metric.bucket} if metric.bucket else {}
    return bucket | {metric.column: YES if metric.scale.bounds else KNOWN}


WHERE: dict[str, dict[str, Callable[[Row], Where]]] = {
    "endings": dict.fromkeys(("conversations", "share"), lambda r: {"bucket": r["bucket"], "became": r["outcome"]}),
    "must escalate": dict.fromkeys(
        ("handed_over", "share"),
        lambda r: {"bucket": "must_escalate", "intent": r["intent"], METRICS["escalation_accuracy"].column: YES},
    ),
    "rules": {
        "kept": lambda r: {f"rule_{r['rule']}": "kept"},
        "broken": lambda r: {f"rule_{r['rule']}": "broken"},
        "share": lambda r: {f"rule_{r['rule']}": "broken"},
    },
    "said": dict.fromkeys(("found", "share"), lambda r: behind_finding(r["detector"])["yes"]),
    "promises": {state: _promised(state) for state in STATES},
    "intents": {
        "conversations": lambda r: {"bucket": r["bucket"], "intent": r["intent"]},
        "success": lambda r: {"bucket": r["bucket"], "intent": r["intent"], "success": YES},
        "handed_over": lambda r: {"bucket": r["bucket"], "intent": r["intent"], "handed_over": YES},
        "corrupt_success": lambda r: {"bucket": r["bucket"], "intent": r["intent"], "corrupt_success": YES},
    },
    "steadiness": {"pass_1": lambda r: {"bucket": r["bucket"], "success": YES}},
    "glance": {"value": _metric, "mean": _metric},
}
"""By view and column of its table: a row -> the fields; the row's own model is added."""

GLANCE = {"Median over trials": "value", "Mean (95 %)": "mean"}
"""The columns behind two headings of the at-a-glance table, which is read by rules of its own."""


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


class TableView(anywidget.AnyWidget):
    """Tables as HTML, whose numbers tell Python what was pressed.

    Parameters
    ----------
    tables : sequence of Table
        Shown one below the other.
    on_press : callable
        Called with the query of a pressed number.
    """

    _esm = Path(__file__).with_name("links.js")
    html = t.Unicode().tag(sync=True)

    def __init__(self, tables: Sequence[Table], on_press: Callable[[str], None]):
        super().__init__(html="\n".join(table_html(table, links="lab") for table in tables))
        self.tables, self._press = tables, on_press
        self.on_msg(lambda _, message, buffers: self.pressed(message))

    @property
    def queries(self) -> set[str]:
        """What its numbers lead to."""
        cells = (
            cell for table in self.tables for row in table.rows for c in table.columns for cell in table.cells(row, c)
        )
        return {str(cell.yes) for cell in cells if isinstance(cell, Cell) and cell.yes is not None}

    def pressed(self, message: Any) -> None:
        """Pass on what the page tells; anything that is not of this table is ignored."""
        query = message.get("query") if isinstance(message, dict) else None
        if query in self.queries:
            self._press(query)


class LinkedTable(w.VBox):
    """Tables whose numbers open their conversations in the explorer below them.

    Attributes
    ----------
    view : TableView
        The tables.
    explorer : Explorer or None
        Made when the first number is pressed.
    """

    def __init__(self, results: Results, *tables: Table, **options: Any):
        super().__init__(layout=w.Layout(width="100%"))
        self._results, self._options = results, options
        self.explorer: Any = None
        self.view = TableView(tables, self.lead_to)
        self.children = [self.view]

    def lead_to(self, query: str) -> None:
        """Show the conversations of a query."""
        if self.explorer is None:
            from .widgets import Explorer

            self.explorer = Explorer(self._results, **self._options)
            self.children = [self.view, self.explorer]
        self.explorer.choose(query=query)

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        """With the plain tables as well as the widget, for viewers without widgets."""
        return {**super()._repr_mimebundle_(**how), "text/html": "\n".join(map(table_html, self.view.tables))}


def linked(
    results: Results,
    table: pd.DataFrame,
    view: str,
    *,
    entry: str | None = None,
    shown: pd.DataFrame | None = None,
    **options: Any,
) -> LinkedTable:
    """A table of estimates as `readable` shows it, whose counts and shares lead to their conversations.

    Parameters
    ----------
    view : str
        How it is read: a key of `benchmark_lib.reports.views.VIEWS`, or ``glance``.
    entry : str, optional
        The model it is about, if it has no column `entry`.
    shown : DataFrame, optional
        The table in readable form, row by row, where `readable` does not make it.
    **options
        As for `explore`: labels, labeller, store.
    """
    shown, rows = readable(table, view) if shown is None else shown, table.to_dict("records")
    read = [GLANCE.get(heading, "") if view == "glance" else VIEWS[view][heading][0] for heading in shown.columns]
    names = [str(shown.index.name)] if shown.index.name else []
    columns = [Heading(key=str(heading), title=str(heading)) for heading in (*names, *shown.columns)]
    numeric = [heading for heading in shown if reads_as_numbers(shown[heading].tolist())]
    made = []
    for row, (name, texts) in zip(rows, shown.iterrows(), strict=True):
        where = [_where_in(results, view, column, row, entry) for column in read]
        cells = [
            Cell(number=str(text), yes=Query.of(**found) if found else None) if heading in numeric or found else text
            for text, found, heading in zip(texts, where, shown.columns, strict=True)
        ]
        made.append(dict(zip((c.key for c in columns), [str(name), *cells] if names else cells, strict=True)))
    return LinkedTable(results, Table(columns=tuple(columns), rows=tuple(made)), **options)


def _where_in(results: Results, view: str, column: str, row: Row, entry: str | None) -> Where | None:
    """As `where_of`; a median at a glance leads to its own trial."""
    if (view, column) == ("glance", "value") and entry is not None:
        return _median(results.conversations, row["metric"], entry)
    return where_of(view, column, row, entry)


def _median(conversations: pd.DataFrame, metric: str, entry: str) -> Where | None:
    """The fields of what the median of a metric counts; None where it counts nothing."""
    found = behind_median(conversations[conversations["entry"] == entry], METRICS[metric], entry=entry)
    return dict(found["yes"]) if found["k"] else None


def linked_board(results: Results, board: pd.DataFrame, **options: Any) -> LinkedTable:
    """Return the board, whose numbers lead to the conversations they count.

    Parameters
    ----------
    **options
        As for `explore`: labels, labeller, store.
    """
    return LinkedTable(results, *board_parts(board_table(board, results.conversations))[:2], **options)
