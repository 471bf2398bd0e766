"""Whether an operator's rules hold as a conversation gets longer, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .canvas import LINES, axes_for, explain, figure, mark, nothing
from .captions import says
from .labels import name_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARKS = "osD^vP*"


@figure
def kept_by_turn(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """The share of replies that keep each rule, turn by turn.

    `table`: the rows of one entry as `tables.rules_by_turn` gives them.
    """
    ax = axes_for(ax, table, width, 3.6)
    if table.empty:
        return nothing(ax, "No conversation with operator rules has a second reply.")
    rules = list(dict.fromkeys(table["rule"]))[: len(LINES)]
    for place, rule in enumerate(rules):
        mine = table[table["rule"] == rule].sort_values("turn")
        at = mine["turn"] + 0.08 * (place - (len(rules) - 1) / 2)
        ax.vlines(at, 100 * mine["low"], 100 * mine["high"], color=LINES[place], linewidth=0.8, alpha=0.6)
        ax.plot(at, 100 * mine["kept"], color=LINES[place], marker=MARKS[place], markersize=4, linewidth=1.2)
    last = int(table["turn"].max())
    ax.set(
        xlim=(0.5, last + 0.5), ylim=(-4, 104), xlabel="Customer message that is answered", ylabel="Kept, % of replies"
    )
    ax.set_xticks(range(1, last + 1))
    explain(
        ax,
        [
            mark(ax, rule.replace("_", " "), color=LINES[place], marker=MARKS[place], linestyle="-", markersize=4)
            for place, rule in enumerate(rules)
        ],
    )
    replies = table.groupby("turn")["replies"].max()
    says(
        ax,
        f"Operator rules by turn: {name_of(ax, table['entry'].iloc[0])}",
        "Share of replies that keep each rule, as the mean over cases with its 95 % interval (clusters: intents, or cases where there are fewer than six intents).",
        f"Replies: {replies.iloc[0]} at turn {replies.index[0]}, {replies.iloc[-1]} at turn {replies.index[-1]}; only the longer conversations come that far.",
        rows=len(table),
    )
    return ax
