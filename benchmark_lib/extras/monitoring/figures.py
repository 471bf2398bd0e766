"""Figures of monitoring: a measure by week, and the time until a change is found."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ...figures.canvas import LINES, QUIET, axes_for, describe, figure, nothing, why_nothing

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

PARTS = {"baseline": "#777777", "watched": LINES[0]}
MOST_LABELS = 8
"""Maximum number of weeks named on the axis of a page's figure."""
MOMENTS = {"planted": ("#000000", ":"), "alarm": (LINES[1], "--")}


@figure
def weekly_rate(
    *, table: pd.DataFrame, alarm: str = "", planted: str = "", ax: Axes | None = None, width: str = "page"
) -> Axes:
    """Draw one measure by week: its shares with intervals, the baseline's, and the first alarm.

    `table` has the rows of one measure in `Monitored.weeks`. `alarm` and `planted` are the Mondays of the first week
    with an alarm and of a planted change; either may be empty.
    """
    import pandas as pd

    ax = axes_for(ax, None, width, 2.3)
    rows = table[table["n"] > 0]
    if rows.empty:
        return nothing(ax, why_nothing(table))
    for part, color in PARTS.items():
        weeks = rows[rows["part"] == part]
        at = pd.to_datetime(weeks["week"])
        ax.vlines(at, 100 * weeks["low"], 100 * weeks["high"], color=color, linewidth=0.8, alpha=0.5)
        ax.plot(at, 100 * weeks["share"], "o", color=color, markersize=3, clip_on=False, zorder=3)
    base = rows[rows["part"] == "baseline"]
    if len(base):
        ax.axhline(100 * base["count"].sum() / base["n"].sum(), color=QUIET, linewidth=0.9, zorder=0)
    for name, day in (("planted", planted), ("alarm", alarm)):
        color, style = MOMENTS[name]
        if day:
            ax.axvline(pd.Timestamp(day), color=color, linestyle=style, linewidth=1.1)
    ax.set(ylim=(0, max(100 * rows["high"].max() * 1.05, 1)))
    labelled = list(table["week"])[:: -ceil(len(table) / (MOST_LABELS if width == "page" else MOST_LABELS // 2))]
    ax.set_xticks(pd.to_datetime(labelled), labelled)
    about = dict(title=str(table["title"].iloc[0]), least=f"{rows['n'].min():,}", most=f"{rows['n'].max():,}")
    return describe(ax, "weekly_rate", rows=len(rows), base=len(base) > 0, alarm=alarm, planted=planted, **about)


@figure
def found_in_time(*, alarms: pd.DataFrame, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the share of made-up years in which each planted change was found, by weeks since.

    `alarms` comes from `monitoring.first_alarms`, `table` from `monitoring.found_table`.
    """
    ax = axes_for(ax, None, width, 2.8)
    if table.empty:
        return nothing(ax, "Nothing was planted.")
    last, handles = 0, []
    for row, color in zip(table.to_dict("records"), LINES, strict=False):
        week = alarms[alarms["title"] == row["title"]]["alarm"]
        weeks = range(0, int(52 - row["change_week"]) + 1)
        shares = [100 * ((week >= row["change_week"]) & (week - row["change_week"] + 1 <= w)).mean() for w in weeks]
        slow = f", over {row['grows_over']} weeks" if row["grows_over"] > 1 else ""
        label = f"{row['title']}: {100 * row['before']:g} to {100 * row['after']:g}%{slow}"
        handles += ax.step(list(weeks), shares, where="post", color=color, label=label, linewidth=1.4)
        last = max(last, len(weeks) - 1)
    ax.set(ylim=(-2, 102), xlim=(0, last))
    return describe(ax, "found_in_time", rows=len(table), handles=handles, years=int(table["years"].max()))
