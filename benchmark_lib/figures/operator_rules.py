"""Draw whether an operator's rules hold as a conversation gets longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .canvas import LINES, axes_for, describe, figure, mark, nothing
from .captions import alike
from .labels import name_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARKS = "osD^vP*"


@figure
def kept_by_turn(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the share of replies that keep each rule, turn by turn; rules with the same line share it.

    `table`: the rows of one entry as `tables.rules_by_turn` gives them.
    """
    ax = axes_for(ax, table, width, 3.6)
    if table.empty:
        return nothing(ax, "No conversation with operator rules has a second reply.")
    table, handles = table.sort_values("turn"), []
    lines = alike(table, "rule", ["turn", "kept", "low", "high"])
    for place, (rules, color, sign) in enumerate(zip(lines, LINES, MARKS, strict=False)):
        mine = table[table["rule"] == rules[0]]
        at = mine["turn"] + 0.08 * (place - (min(len(lines), len(LINES)) - 1) / 2)
        ax.vlines(at, 100 * mine["low"], 100 * mine["high"], color=color, linewidth=0.8, alpha=0.6)
        ax.plot(at, 100 * mine["kept"], color=color, marker=sign, markersize=4, linewidth=1.2)
        names = ", ".join(rule.replace("_", " ") for rule in rules)
        handles.append(mark(ax, names, color=color, marker=sign, linestyle="-", markersize=4))
    last = int(table["turn"].max())
    ax.set(xlim=(0.5, last + 0.5), ylim=(-4, 104))
    ax.set_xticks(range(1, last + 1))
    replies = table.groupby("turn")["replies"].max()
    ends = dict(first=replies.iloc[0], start=replies.index[0], last=replies.iloc[-1], end=replies.index[-1])
    who = name_of(ax, table["entry"].iloc[0])
    describe(ax, "kept_by_turn", rows=len(table), handles=handles, name=who, **ends)
    return ax
