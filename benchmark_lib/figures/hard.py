"""The hard set as a picture: each family with its clean twins, for one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.tables.hard import ALL, family_order
from .canvas import ROW, axes_for, explain, figure, mark, nothing
from .captions import says, span_of
from .labels import name_of, name_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes

HARD, TWIN, EASY = "#C44E00", "#0072B2", ", easy"


@figure
def hard_families(
    *, table: pd.DataFrame, known: Iterable[str] = (), ax: Axes | None = None, width: str = "page"
) -> Axes:
    """Success in the hard cases (filled, with its interval) and in their clean twins (hollow), family by family.

    Parameters
    ----------
    table : DataFrame
        The rows of one entry as `tables.hard_table` gives them.
    known : iterable of str
        The families in the order in which they are drawn; by name otherwise.
    """
    ax = axes_for(ax, table, width, 1.3 + ROW * max(len(table), 4))
    if table.empty:
        return nothing(ax, "No case of a hard set was run and scored.")
    rows = table.set_index("family").loc[family_order(table, known)]
    for y, (family, row) in enumerate(rows.iterrows()):
        if row["hard"] == row["hard"] and row["clean"] == row["clean"]:
            ax.plot([100 * row["hard"], 100 * row["clean"]], [y, y], color="#999999", linewidth=1.2, zorder=1)
        interval = [100 * row["hard_low"], 100 * row["hard_high"]]
        ax.plot(interval, [y, y], color=HARD, linewidth=0.8, alpha=0.55, zorder=2)
        size = 7 if family == ALL else 5
        ax.plot(100 * row["clean"], y, "o", markersize=size + 2, color="white", markeredgecolor=TWIN, zorder=3)
        ax.plot(100 * row["hard"], y, "o", markersize=size - 1, color=HARD, zorder=4)
    names = [
        f"{family.replace('_', ' ').capitalize()}{EASY if row.get('easy', False) else ''} ({int(row['hard_n'])} + {int(row['clean_n'])})"
        for family, row in rows.iterrows()
    ]
    name_rows(ax, names)
    ax.grid(axis="y", visible=False)
    ax.set(xlim=(-3, 103), ylim=(len(rows) - 0.3, -0.7), xlabel="Success, % of cases")
    twins = bool(rows["clean"].notna().any())
    twin_marks = twins * [
        mark(ax, "clean twins", marker="o", color="white", markeredgecolor=TWIN, markersize=7),
        mark(ax, "from twin to hard", linestyle="-", color="#999999", linewidth=1.2),
    ]
    explain(
        ax,
        [
            mark(ax, "hard cases", marker="o", color=HARD, markersize=4),
            mark(ax, "95 % interval", linestyle="-", color=HARD, linewidth=0.8, alpha=0.55),
            *twin_marks,
        ],
    )
    says(
        ax,
        f"The hard set, family by family: {name_of(ax, table['entry'].iloc[0])}",
        "Filled: success in the hard cases with its 95 % interval"
        + (
            "; hollow: in their clean twins, which differ in the hard thing alone. "
            if twins
            else "; no clean twin was run. "
        )
        + f"In brackets: hard cases + clean twins (n = {span_of(rows['hard_n'])} hard cases a row).",
        "Families with fewer than five pairs say little."
        + (" A family marked easy is left out of the row for all." if any(EASY in name for name in names) else ""),
        rows=len(rows),
    )
    return ax
