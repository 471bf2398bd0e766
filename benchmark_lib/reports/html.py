"""Tables of cells as HTML: in notebooks, in files, and in JupyterLab with numbers that open their conversations."""

from __future__ import annotations

from ..analysis.cell import Table
from .transcript import TEMPLATES, render


def table_html(table: Table, *, links: bool = False) -> str:
    """Return a table as an HTML fragment with its own style, light and dark.

    Parameters
    ----------
    links : bool
        True makes each number a link to its conversations, by their address on the site.
    """
    css = (TEMPLATES / "table.css").read_text(encoding="utf-8")
    return render("table.html.j2", t=table, links=links, css=css)
