"""From a number of a table to its conversations, which open in the list below the table.

A cell is linked where a query names the conversations behind it: a count leads to what it counts, and a share to what it
is a share of in the numerator. `where_of` says with which fields, for the board and for every table of `WHERE`.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from ...analysis.cell import Cell, Heading, Table
from ...analysis.counting import behind_finding
from ...analysis.facets import promise_label
from ...analysis.frames import Results
from ...analysis.query import Query
from ...analysis.tables.board import board_table
from ..board import board_parts
from ..html import table_html
from ..paper import reads_as_numbers
from ..views import VIEWS, readable
from .linked_page import LinkedPage

Row = dict[str, Any]
Where = dict[str, Any]
"""Fields of a query with their values."""


BECAME = ("kept", "unbacked", "beyond_authority", "contradicted")
"""What can become of a promise: columns of `tables.promise_table`."""
WHERE: dict[str, dict[str, Callable[[Row, str], Where]]] = {
    "said": dict.fromkeys(("found", "share"), lambda r, _: behind_finding(r["detector"])["yes"]),
    "promises": dict.fromkeys(BECAME, lambda r, state: {"promise": promise_label(r["class"], state)}),
}
"""By view and column of its table: a row and the column -> the fields; the row's own model is added."""


def where_of(view: str, column: str, row: Row) -> Where | None:
    """Return the fields of the conversations behind one number; None where it is no number of conversations.

    Parameters
    ----------
    view : str
        How the table is read: a key of `WHERE`.
    row : dict
        Its row; its column ``entry`` names the model.
    """
    where = WHERE.get(view, {}).get(column)
    value = row.get(column)
    if where is None or value is None or value != value or value == 0:
        return None
    return {"entry": row["entry"]} | where(row, column)


def linked(results: Results, table: pd.DataFrame, view: str, **options: Any) -> LinkedPage:
    """Return a table of estimates as `readable` shows it, whose counts and shares lead to their conversations.

    Parameters
    ----------
    view : str
        How it is read: a key of `benchmark_lib.reports.views.VIEWS`.
    **options
        As for `explore`: labels, labeller, store.
    """
    shown, rows = readable(table, view), table.to_dict("records")
    read = [VIEWS[view][heading][0] for heading in shown.columns]
    columns = [Heading(key=heading, title=heading) for heading in (str(shown.index.name), *map(str, shown.columns))]
    numeric = [heading for heading in shown if reads_as_numbers(shown[heading].tolist())]
    made = []
    for row, (name, texts) in zip(rows, shown.iterrows(), strict=True):
        where = [where_of(view, column, row) for column in read]
        cells = [
            Cell(number=str(text), yes=Query.of(**found) if found else None) if heading in numeric or found else text
            for text, found, heading in zip(texts, where, shown.columns, strict=True)
        ]
        made.append(dict(zip((c.key for c in columns), [str(name), *cells], strict=True)))
    return _linked(results, [Table(columns=tuple(columns), rows=tuple(made))], options)


def linked_board(results: Results, board: pd.DataFrame, **options: Any) -> LinkedPage:
    """Return the board, whose numbers lead to the conversations they count.

    Parameters
    ----------
    **options
        As for `explore`: labels, labeller, store.
    """
    return _linked(results, board_parts(board_table(board, results.conversations))[:2], options)


def _linked(results: Results, parts: Sequence[Table], options: dict[str, Any]) -> LinkedPage:
    html = "\n".join(table_html(table, links=True) for table in parts)
    return LinkedPage(results, html, style=False, **options)
