"""Tables of cells as HTML: in notebooks, in files, and in JupyterLab with numbers that open their conversations."""

from __future__ import annotations

from typing import Any

from ..analysis.cell import Table
from .transcript import TEMPLATES, Html, render


def table_html(table: Table, *, links: bool = False) -> str:
    """Return a table as an HTML fragment with its own style, light and dark.

    Parameters
    ----------
    links : bool
        True makes each number a link to its conversations, by their address on the site.
    """
    css = (TEMPLATES / "table.css").read_text(encoding="utf-8")
    return render("table.html.j2", t=table, links=links, css=css)


def show(table: Table, **how: Any) -> Html:
    """Return a table for a notebook; the options are those of `table_html`."""
    return Html(table_html(table, **how))
