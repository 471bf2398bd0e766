"""Draw the hard set: each family with its clean twins, for one entry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.tables.hard import ALL, family_order
from .canvas import ROW, axes_for, describe, figure, nothing
from .captions import span_of
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
    """Draw success in the hard cases (filled, with its interval) and in their clean twins (hollow), family by family.

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
    names = []
    for y, (family, row) in enumerate(rows.iterrows()):
        hard, clean, low, high = (100 * row[name] for name in ("hard", "clean", "hard_low", "hard_high"))
        size = 7 if family == ALL else 5
        ax.plot([hard, clean], [y, y], color="#999999", linewidth=1.2, zorder=1)
        ax.plot([low, high], [y, y], color=HARD, linewidth=0.8, alpha=0.55, zorder=2)
        ax.plot(clean, y, "o", markersize=size + 2, color="white", markeredgecolor=TWIN, zorder=3)
        ax.plot(hard, y, "o", markersize=size - 1, color=HARD, zorder=4)
        easy = EASY if row.get("easy", False) else ""
        names.append(f"{family.replace('_', ' ').capitalize()}{easy} ({int(row['hard_n'])} + {int(row['clean_n'])})")
    name_rows(ax, names)
    ax.set(xlim=(-3, 103))
    ax.invert_yaxis()
    about = dict(name=name_of(ax, table["entry"].iloc[0]), cases=span_of(rows["hard_n"]))
    marked = dict(twins=bool(rows["clean"].notna().any()), easy=any(EASY in name for name in names))
    describe(ax, "hard_families", rows=len(rows), **about, **marked)
    return ax
