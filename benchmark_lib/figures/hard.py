"""The hard set as a picture: each family with its clean twins, for one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.tables.hard import ALL, family_order
from .canvas import axes_for, nothing, say_below
from .labels import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes

HARD, TWIN = "#C44E00", "#0072B2"


def hard_families(*, table: pd.DataFrame, known: Iterable[str] = (), ax: Axes | None = None) -> Axes:
    """Success in the hard cases (filled, with its interval) and in their clean twins (hollow), family by family.

    Parameters
    ----------
    table : DataFrame
        The rows of one entry as `tables.hard_table` gives them.
    known : iterable of str
        The families in the order in which they are drawn; by name otherwise.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax, table, height=1.3 + 0.27 * max(len(table), 4))
    if table.empty:
        return nothing(ax, "No case of a hard set was run and scored.")
    rows = table.set_index("family").loc[family_order(table, known)]
    for y, (family, row) in enumerate(rows.iterrows()):
        if row["hard"] == row["hard"] and row["clean"] == row["clean"]:
            ax.plot([100 * row["hard"], 100 * row["clean"]], [y, y], color="#999999", linewidth=1.2, zorder=1)
        ax.plot(
            [100 * row["hard_low"], 100 * row["hard_high"]], [y, y], color=HARD, linewidth=0.8, alpha=0.55, zorder=2
        )
        size = 7 if family == ALL else 5
        ax.plot(100 * row["clean"], y, "o", markersize=size, color="white", markeredgecolor=TWIN, zorder=3)
        ax.plot(100 * row["hard"], y, "o", markersize=size, color=HARD, zorder=4)
    names = [
        f"{family.replace('_', ' ').capitalize()} ({int(row['hard_n'])} + {int(row['clean_n'])})"
        for family, row in rows.iterrows()
    ]
    ax.set_yticks(range(len(rows)), names)
    ax.invert_yaxis()
    ax.set(xlim=(-3, 103), xlabel="success, % of cases (hard + twins)")
    ax.set_title(f"The hard set: {name_of(table['entry'].iloc[0])}")
    ax.plot([], [], "o", color=HARD, label="hard cases, 95 % interval")
    ax.plot([], [], "o", color="white", markeredgecolor=TWIN, label="clean twins")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2, frameon=False)
    say_below(ax, "Families with fewer than five pairs say little; a family marked easy is left out of the last row.")
    return ax
