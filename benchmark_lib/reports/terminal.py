"""The board as lines of text, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.panels import fitted
from ..analysis.tables.leaderboard import leaderboard
from ..analysis.tables.tiers import UNKNOWN
from ..scoring.metrics import METRICS, Shown, shown_on
from ..scoring.written import DASH, missing

if TYPE_CHECKING:
    from ..runfile import RunFile

WIDTH = 100
NAME = 28
"""Columns of a terminal that the board takes, and of them those of a name."""
BRIEF = {"over_escalation": "over-esc.", "unsafe": "unsafe", "escalation_accuracy": "esc. acc."}
"""Headings that fit; the others are the titles of their metrics."""


def terminal_board(runs: Iterable[RunFile], mine: str | None = None) -> str:
    """The board of some runs in at most `WIDTH` columns.

    Parameters
    ----------
    runs : iterable of RunFile
        Those of a hard set beside others are left out, as on every board; where `mine` is one, they are the board.
    mine : str, optional
        The run_id of the run that is marked with an arrow.
    """
    from ..analysis import load_results

    results = load_results(list(runs))
    if mine is not None and mine not in results.entries and mine in results.hard.entries:
        results = results.hard
    names = [*shown_on(Shown.ORDER), "resolved"]
    heads = [
        "",
        "model",
        *(BRIEF.get(name, METRICS[name].title.lower()) for name in names),
        "cost",
        "played",
        "kind",
    ]
    marked = results.entries.get(mine or "")
    rows = [_cells(row, names, row["entry"] == marked) for row in leaderboard(results).to_dict("records")]
    return "\n".join(columns([heads, *rows], right=range(2, 2 + len(names))))


def columns(rows: Sequence[Sequence[str]], right: Iterable[int] = (), width: int = WIDTH) -> list[str]:
    """Rows of cells as lines with aligned columns; those named `right` end together.

    A line is cut at `width`, so that no terminal breaks it.
    """
    right = set(right)
    wide = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.rjust(w) if at in right else cell.ljust(w) for at, (cell, w) in enumerate(zip(row, wide)))
        for row in rows
    )
    return [fitted(line.rstrip(), width) for line in lines]


def _tier(tier: Any) -> str:
    """The cost tier without what is said about it."""
    return DASH if missing(tier) or tier == UNKNOWN else str(tier).partition(" (")[0]


def _cells(row: dict[str, Any], names: Sequence[str], marked: bool) -> list[str]:
    rank = "" if missing(row["rank"]) else str(row["rank"])
    return [
        f"{'>' if marked else ' '}{rank:>2}",
        fitted("".join(c if c.isprintable() else "?" for c in row["entry"]), NAME),
        *(METRICS[name].scale.written(row[name]) for name in names),
        _tier(row["cost_tier"]),
        f"{row['finished']} of {row['planned']}, partial" if row["partial"] else f"{row['conversations']:,}",
        str(row["block"]),
    ]
