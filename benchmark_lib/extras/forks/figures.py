"""Figures of forks: the chance of an outcome by point, and through one conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...analysis.panels import short_name
from ...figures.canvas import LINES, QUIET, ROW, axes_for, describe, figure, mark, nothing
from ...figures.labels import name_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MOST = 40
"""Maximum number of points in one figure."""


@figure
def fork_points(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the chance of an outcome at each point, with entries and changes in colours.

    `table`: rows of `tables.fork_table`. Points are sorted by their greatest share; at most `MOST` are drawn.
    """
    names = table["case_id"] + ":" + table["parent_trial"].astype(str) + ":" + table["turn"].astype(str)
    order = table.assign(name=names).groupby("name")["share"].max().sort_values(ascending=False, kind="stable").index
    order = list(order[:MOST])
    ax = axes_for(ax, None, width, 1.2 + ROW * max(len(order), 3))
    if not order:
        return nothing(ax, "No fork has a value.")
    handles, arms = [], list(table.assign(name=names).groupby(["entry", "change"], sort=False))
    for place, ((entry, change), rows) in enumerate(arms):
        color, rows = LINES[place % len(LINES)], rows[rows["name"].isin(order)]
        y = rows["name"].map(order.index) + 0.5 * (place - (len(arms) - 1) / 2) / max(len(arms), 2)
        ax.hlines(y, 100 * rows["low"], 100 * rows["high"], color=color, linewidth=1)
        ax.plot(100 * rows["share"], y, "o", color=color, markersize=4.5)
        label = ", ".join(filter(None, [short_name(entry), change]))
        handles += [mark(ax, label, color=color, marker="o", linestyle="-")] if len(arms) > 1 else []
    name_rows(ax, order)
    ax.set(xlim=(-3, 103))
    ax.invert_yaxis()
    forks = table["forks"]
    about = dict(least=int(forks.min()), most=int(forks.max()), left_out=max(names.nunique() - MOST, 0))
    about["name"] = short_name(table["entry"].iloc[0]) if table["entry"].nunique() == 1 else ""
    return describe(ax, "fork_points", rows=len(order), handles=handles, **about)


@figure
def along_turns(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the chance of an outcome turn by turn, and the turn at which it was decided.

    `table`: rows of `tables.along_table`.
    """
    ax = axes_for(ax, None, width, 2.6)
    if table.empty:
        return nothing(ax, "This conversation has not been forked.")
    handles = []
    for place, (entry, rows) in enumerate(table.groupby("entry", sort=False)):
        color = LINES[place % len(LINES)]
        at = rows["turn"] + 0.06 * place
        ax.vlines(at, 100 * rows["low"], 100 * rows["high"], color=color, linewidth=1)
        ax.plot(at, 100 * rows["share"], "o-", color=color, markersize=4.5, linewidth=1.2)
        handles.append(mark(ax, short_name(entry), color=color, marker="o", linestyle="-"))
        for turn in rows.loc[rows["decided_here"].astype(bool), "turn"]:
            ax.axvspan(turn, turn + 1, color=QUIET, alpha=0.35, linewidth=0, zorder=0)
    ax.set(ylim=(-4, 104), xlim=(table["turn"].min() - 0.5, table["turn"].max() + 0.5))
    ax.set_xticks(range(int(table["turn"].min()), int(table["turn"].max()) + 1))
    fell = bool(table["decided_here"].any())
    about = dict(least=int(table["forks"].min()), most=int(table["forks"].max()), fell=fell)
    return describe(ax, "along_turns", rows=len(table), handles=handles if len(handles) > 1 else [], **about)
