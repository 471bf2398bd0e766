"""Tables of cells as HTML, and the board in a notebook and in a file."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from ..analysis.cell import Table
from ..analysis.tables.board_cells import MORE, PLANNED, UNFLAGGED, board_table
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


WITHOUT_WORDS = (
    "Without customer faults: the same metrics over the conversations in which the audit did not flag the simulated "
    "customer. This is not always the fairer number: replies that a customer cannot follow can get it flagged."
)
NOT_FLAGGED = "No customer was flagged, so every metric is the same in both forms."


def readable_board(board: pd.DataFrame) -> pd.DataFrame:
    """Return the leaderboard for a file: medians over trials, and means with intervals.

    If a customer was flagged, both follow again for the conversations without a flag.
    """
    return board_table(board).frame()


def board_parts(table: Table) -> list[Table]:
    """Return a board in parts that fit a page: planned metrics, the others, and without flagged."""
    parts = [table.part(PLANNED, notes=()), table.part(MORE), table.part(UNFLAGGED, notes=(), caption=WITHOUT_WORDS)]
    return [replace(part, line=table.line) for part in parts if part.columns]


def board_html(board: pd.DataFrame) -> Html:
    """Return the board for a notebook without widgets."""
    return Html("\n".join(map(table_html, board_parts(board_table(board)))))


def board_without_flagged(board: pd.DataFrame) -> Html:
    """Return the metrics over conversations whose customer was not flagged, or a sentence."""
    table = board_table(board).part(UNFLAGGED, notes=(), caption=WITHOUT_WORDS)
    return Html(table_html(table) if table.columns else f"<p>{NOT_FLAGGED}</p>")
