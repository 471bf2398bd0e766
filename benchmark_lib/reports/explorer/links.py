"""Tables and parts of pages whose numbers open a list of their conversations below."""

import re
from collections.abc import Sequence
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
from ...scoring.written import missing
from ..html import board_parts, table_html
from ..paper import reads_as_numbers
from ..terminal import VIEWS, readable

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

    A notebook needs the site's style only once: without `style`, the static form for viewers without widgets lacks it.
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
        """Show the conversations behind a link in the part; ignore any other message."""
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


BECAME = ("kept", "unbacked", "beyond_authority", "contradicted")
"""Possible outcomes of a promise: columns of `tables.promise_table`."""


def where_of(view: str, column: str, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the fields that select the conversations behind a number in a row, or None."""
    if missing(row.get(column)) or row[column] == 0:
        return None
    if view == "said" and column in ("found", "share"):
        return {"entry": row["entry"], **behind_finding(row["detector"])["yes"]}
    if view == "promises" and column in BECAME:
        return {"entry": row["entry"], "promise": promise_label(row["class"], column)}
    return None


def linked(results: Results, table: pd.DataFrame, view: str, **options: Any) -> LinkedPage:
    """Return a readable table whose numbers list their conversations; options as for `explore`."""
    shown, rows = readable(table, view), []
    numeric = [heading for heading in shown if reads_as_numbers(shown[heading].tolist())]
    titles = [str(shown.index.name or ""), *map(str, shown.columns)]
    for row, (name, texts) in zip(table.to_dict("records"), shown.iterrows(), strict=True):
        made: dict[str, Any] = {titles[0]: str(name)}
        for heading, text in texts.items():
            where = where_of(view, VIEWS[view][str(heading)][0], row)
            cell = Cell(number=str(text), yes=Query.of(**where) if where else None)
            made[str(heading)] = cell if where or heading in numeric else text
        rows.append(made)
    columns = tuple(Heading(key=title, title=title) for title in titles)
    return _linked(results, [Table(columns=columns, rows=tuple(rows))], options)


def linked_board(results: Results, board: pd.DataFrame, **options: Any) -> LinkedPage:
    """Return the board with numbers that list their conversations; options as for `explore`."""
    return _linked(results, board_parts(board_table(board, results.conversations))[:2], options)


def _linked(results: Results, parts: Sequence[Table], options: dict[str, Any]) -> LinkedPage:
    html = "\n".join(table_html(table, links=True) for table in parts)
    return LinkedPage(results, html, style=False, **options)
