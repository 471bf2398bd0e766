"""Tables and parts of pages whose numbers list their conversations below them."""

import re
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import anywidget
import ipywidgets as w
import pandas as pd
import traitlets as t

from ...analysis.cell import Cell, Heading, Table
from ...analysis.counting import behind_finding
from ...analysis.facets import promise_label
from ...analysis.frames import Results
from ...analysis.query import Query
from ...analysis.tables.board_cells import board_table
from ...project import PACKAGE
from ..html import board_parts, table_html
from ..paper import reads_as_numbers
from ..views import VIEWS, readable

LISTED = "transcripts.html#"
"""The beginning of the address of a list of conversations."""
_ADDRESS = re.compile(r' href="(?!#)([^"]*)"')
ROOM = ".db-page.db-page"
"""Selector of the element around a part, repeated so that its style overrides JupyterLab's."""


def unlinked(html: str, kept: str = "\n") -> str:
    """Return a page for viewers without scripts; only addresses that begin with `kept` stay."""
    html = html.replace(" data-tip=", " title=")
    return _ADDRESS.sub(lambda found: found[0] if found[1].startswith(kept) else "", html)


def scoped_style() -> str:
    """Return the site's style for one element of a notebook, in JupyterLab's colours."""
    look = (PACKAGE / "reports" / "assets" / "site.css").read_text(encoding="utf-8").replace(":root", "&")
    look = re.sub(r"^(\s*)(?:html|body) \{", r"\1& {", look, flags=re.M)
    return f"{ROOM} {{\n{look}\n}}\n{Path(__file__).with_name('linked_page.css').read_text(encoding='utf-8')}"


class Pressed(anywidget.AnyWidget):
    """HTML escaped by a template; a click on a link sends its address to Python."""

    _esm = Path(__file__).with_name("linked_page.js")
    _css = scoped_style()
    html = t.Unicode().tag(sync=True)


class LinkedPage(w.VBox):
    """A part of a page, `html` as the site's template writes it, with every text escaped.

    A page needs the site's style once: without `style` the static form for viewers without widgets lacks it.
    """

    def __init__(self, results: Results, html: str, *, style: bool = True, **options: Any):
        super().__init__(layout=w.Layout(width="100%"))
        self._results, self._options = results, options
        self.explorer: Any = None
        look = f"<style>{scoped_style()}</style>" if style else ""
        self.static = f'{look}<div class="db-page">{unlinked(html)}</div>'
        self.page = Pressed(html=unlinked(html, LISTED))
        self.page.on_msg(lambda _, message, buffers: self.pressed(message))
        self.children = [self.page]

    def pressed(self, message: Any) -> None:
        """Show the conversations of a link of the part; ignore any other message."""
        address = message.get("address") if isinstance(message, dict) else None
        if not isinstance(address, str) or not address.startswith(LISTED) or address not in unescape(self.page.html):
            return
        if self.explorer is None:
            from .widget import ConversationList

            self.explorer = ConversationList(self._results, **self._options)
            self.children = [*self.children, self.explorer]
        self.explorer.choose(query=Query.of(unquote(address.removeprefix(LISTED))))

    def _repr_mimebundle_(self, **how: Any) -> dict[str, Any]:
        return {**super()._repr_mimebundle_(**how), "text/html": self.static}


Row = dict[str, Any]
Where = dict[str, Any]


BECAME = ("kept", "unbacked", "beyond_authority", "contradicted")
"""Possible outcomes of a promise: columns of `tables.promise_table`."""
WHERE: dict[str, dict[str, Callable[[Row, str], Where]]] = {
    "said": dict.fromkeys(("found", "share"), lambda r, _: behind_finding(r["detector"])["yes"]),
    "promises": dict.fromkeys(BECAME, lambda r, state: {"promise": promise_label(r["class"], state)}),
}
"""By view and column: a function of row and column that returns the fields besides the model."""


def where_of(view: str, column: str, row: Row) -> Where | None:
    """Return the fields that select the conversations behind a number of a row, or None."""
    where = WHERE.get(view, {}).get(column)
    value = row.get(column)
    if where is None or value is None or value != value or value == 0:
        return None
    return {"entry": row["entry"]} | where(row, column)


def linked(results: Results, table: pd.DataFrame, view: str, **options: Any) -> LinkedPage:
    """Return a readable table whose numbers list their conversations; options as for `explore`."""
    shown, rows = readable(table, view), table.to_dict("records")
    read = [VIEWS[view][heading][0] for heading in shown.columns]
    columns = [
        Heading(key=heading, title=heading) for heading in (str(shown.index.name or ""), *map(str, shown.columns))
    ]
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
    """Return the board with numbers that list their conversations; options as for `explore`."""
    return _linked(results, board_parts(board_table(board, results.conversations))[:2], options)


def _linked(results: Results, parts: Sequence[Table], options: dict[str, Any]) -> LinkedPage:
    html = "\n".join(table_html(table, links=True) for table in parts)
    return LinkedPage(results, html, style=False, **options)
