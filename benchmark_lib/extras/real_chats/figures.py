"""The figure of real chats: agreement with the human agents and with the written procedure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...analysis.panels import short_name
from ...figures.canvas import LINES, ROW, axes_for, describe, figure, mark, nothing
from ...figures.labels import name_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TRUTHS = {"human_acts": "what the human did", "procedure": "what the procedure says"}


@figure
def chat_truths(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw each entry's agreement with both truths.

    `table` has the rows of one store from `tables.chat_agreement`.
    """
    ax = axes_for(ax, None, width, 1.3 + 1.4 * ROW * max(len(table), 3))
    if table.empty:
        return nothing(ax, "No decision has a score.")
    handles = []
    for place, (name, words) in enumerate(TRUTHS.items()):
        color, y = LINES[place], [row + 0.16 * (2 * place - 1) for row in range(len(table))]
        ax.hlines(y, 100 * table[f"{name}_low"], 100 * table[f"{name}_high"], color=color, linewidth=1)
        ax.plot(100 * table[name], y, "o", color=color, markersize=4.5)
        handles.append(mark(ax, words, color=color, marker="o", linestyle="-"))
    name_rows(ax, [short_name(entry) for entry in table["entry"]])
    ax.set(xlim=(-3, 103))
    ax.invert_yaxis()
    about = {name: int(table[name].max()) for name in ("decisions", "chats")}
    return describe(ax, "chat_truths", rows=len(table), handles=handles, **about)
