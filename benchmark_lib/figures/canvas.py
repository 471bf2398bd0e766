"""What every figure shares: axes, a message where there is nothing to draw, titles, legends and the notes below."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .style import FULL_WIDTH, new_axes, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LINES = ("#0072B2", "#D55E00", "#009E73", "#000000", "#AA4B86", "#3E9BCB", "#B07A00")
QUIET = "#B8B8B8"
"""Colours of the lines that are named, and of all others."""


def axes_for(
    ax: Axes | None, table: pd.DataFrame | None = None, width: float | None = None, height: float = 4.2
) -> Any:
    """The axes given, or new ones whose figure says which panel `table` is of."""
    if ax is not None:
        return ax
    from ..analysis.panels import panels_in

    ax = new_axes(width or FULL_WIDTH, height)
    headings = list(panels_in(table)) if table is not None and "panel" in table else []
    if len(headings) == 1:
        ax.figure.supxlabel(plain(headings[0]), fontsize=7, color="#555555", x=0.01, ha="left")
    return ax


def nothing(ax: Axes, why: str) -> Axes:
    """A figure that says why there is nothing to draw."""
    ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center", color="#555555")
    ax.set_axis_off()
    return ax


def why_nothing(table: pd.DataFrame) -> str:
    """Why there is no figure, from the table's own reasons."""
    reasons = [r for r in dict.fromkeys(table.get("reason", ())) if r]
    return (
        textwrap.fill(reasons[0][:1].upper() + reasons[0][1:] + ".", 90) if reasons else "Nothing was run and scored."
    )


def say_below(ax: Axes, words: str) -> None:
    """A note under the figure, below any that are already there."""
    lines = [line for line in (ax.figure.get_supxlabel(), textwrap.fill(words, 130)) if line]
    ax.figure.supxlabel("\n".join(lines), fontsize=7, color="#555555", x=0.01, ha="left")


def stacked_bars(
    ax: Axes,
    parts: dict[str, Sequence[float]],
    colors: dict[str, str],
    words: dict[str, Sequence[str]] | None = None,
    least: float = 0,
) -> None:
    """One bar per row, made of parts side by side, each labelled for a legend.

    Parameters
    ----------
    ax : Axes
    parts : dict of str to sequence of float
        The width of each part in every row, from the bottom row up, by label.
    colors : dict of str to str
    words : dict of str to sequence of str, optional
        The text in a part, shown if the part is at least `least` wide.
    least : float
    """
    left = [0.0] * len(next(iter(parts.values()), ()))
    for label, widths in parts.items():
        ax.barh(range(len(left)), widths, left=left, color=colors[label], height=0.72, label=label)
        for y, width in enumerate(widths):
            if words and width >= least:
                ink = "white" if label == "unsafe" else "#222222"
                ax.text(left[y] + width / 2, y, words[label][y], ha="center", va="center", fontsize=6.8, color=ink)
        left = [start + width for start, width in zip(left, widths, strict=True)]


def head_and_legend(ax: Axes, title: str, handles: list[Any]) -> None:
    """The title, and below it what the marks mean."""
    ax.set_title(title, pad=18)
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(handles),
        fontsize=7,
        borderaxespad=0.1,
        columnspacing=1.2,
        handlelength=1.3,
    )


def legend_under_title(ax: Axes, handles: Any = None) -> None:
    """A legend between title and axes, in two lines if it is long."""
    handles = handles if handles is not None else ax.get_legend_handles_labels()[0]
    lines = 1 if sum(len(handle.get_label()) + 4 for handle in handles) <= 70 else 2
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=-(-len(handles) // lines) or 1,
        fontsize=7,
        handlelength=1.1,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    ax.set_title(ax.get_title(loc="left"), loc="left", pad=5 + 12 * lines)


def span_of(values: pd.Series) -> str:
    """``"3"``, or ``"2 to 3"``."""
    low, high = int(values.min()), int(values.max())
    return f"{low}" if low == high else f"{low} to {high}"
