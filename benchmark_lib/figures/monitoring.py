"""A measure of a desk's logs week by week, and how soon planted changes are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .canvas import LINES, QUIET, axes_for, explain, figure, mark, nothing, why_nothing
from .captions import says

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BASE, WATCHED, ALARM = "#777777", LINES[0], LINES[1]


@figure
def weekly_rate(
    *, table: pd.DataFrame, alarm: str = "", planted: str = "", ax: Axes | None = None, width: str = "page"
) -> Axes:
    """The share of one measure in every week with its interval, the baseline's share, and the first alarm.

    Parameters
    ----------
    table : DataFrame
        The rows of one measure of `Monitored.weeks`.
    alarm, planted : str
        Mondays of the first week with an alarm and of a planted change; empty where there is none.
    """
    ax = axes_for(ax, None, width, 2.3)
    rows = table[table["n"] > 0]
    if rows.empty:
        return nothing(ax, why_nothing(table))
    handles = _points(ax, rows)
    base = rows[rows["part"] == "baseline"]
    share = base["count"].sum() / base["n"].sum() if len(base) else None
    if share is not None:
        ax.axhline(100 * share, color=QUIET, linewidth=0.9, zorder=0)
        handles.append(mark(ax, "share of the baseline", linestyle="-", color=QUIET))
    handles += _moments(ax, alarm, planted)
    ax.set(ylabel="% of conversations", ylim=(0, max(100 * rows["high"].max() * 1.05, 1)))
    ax.figure.autofmt_xdate(rotation=0, ha="center")
    explain(ax, handles)
    title = str(table["title"].iloc[0])
    says(
        ax,
        f"{title}, week by week",
        f"One point per week with its 95 % interval (Wilson); {rows['n'].min():,} to {rows['n'].max():,} conversations a week.",
        "The dashed line marks the first week with an alarm." if alarm else "",
        "The dotted line marks a planted change." if planted else "",
        rows=len(rows),
    )
    return ax


def _points(ax: Axes, rows: pd.DataFrame) -> list[Any]:
    """The weeks with their intervals, and the entries of the legend."""
    import pandas as pd

    handles = []
    for part, color in (("baseline", BASE), ("watched", WATCHED)):
        mine = rows[rows["part"] == part]
        at = pd.to_datetime(mine["week"])
        ax.vlines(at, 100 * mine["low"], 100 * mine["high"], color=color, linewidth=0.8, alpha=0.5)
        ax.plot(at, 100 * mine["share"], "o", color=color, markersize=3)
        handles.append(mark(ax, f"{part} (line: 95 % interval)", marker="o", color=color, markersize=3))
    return handles


def _moments(ax: Axes, alarm: str, planted: str) -> list[Any]:
    """Vertical lines at the alarm and at the planted change, with their entries of the legend."""
    import pandas as pd

    handles = []
    for day, color, style, words in (
        (planted, "#000000", ":", "planted change"),
        (alarm, ALARM, "--", "first alarm"),
    ):
        if day:
            ax.axvline(pd.Timestamp(day), color=color, linestyle=style, linewidth=1.1)
            handles.append(mark(ax, words, linestyle=style, color=color))
    return handles


@figure
def found_in_time(*, alarms: pd.DataFrame, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """The share of made-up years in which each planted change has been found, by weeks since the change.

    Parameters
    ----------
    alarms : DataFrame
        As `monitoring.first_alarms` gives them.
    table : DataFrame
        As `monitoring.found_table` gives it.
    """
    ax = axes_for(ax, None, width, 2.8)
    if table.empty:
        return nothing(ax, "Nothing was planted.")
    last = 0
    for row, color in zip(table.to_dict("records"), LINES, strict=False):
        mine = alarms[alarms["title"] == row["title"]]["alarm"]
        weeks = range(0, int(52 - row["change_week"]) + 1)
        found = [100 * ((mine >= row["change_week"]) & (mine - row["change_week"] + 1 <= w)).mean() for w in weeks]
        slow = f", over {row['grows_over']} weeks" if row["grows_over"] > 1 else ""
        label = f"{row['title']}: {100 * row['before']:g} to {100 * row['after']:g} %{slow}"
        ax.step(list(weeks), found, where="post", color=color, label=label, linewidth=1.4)
        last = max(last, len(weeks) - 1)
    ax.set(xlabel="Weeks since the change", ylabel="% of years with the alarm", ylim=(-2, 102), xlim=(0, last))
    explain(ax)
    says(
        ax,
        "How soon planted changes are found",
        f"Synthetic: {int(table['years'].max())} made-up years of the same changes; each line ends with the year.",
        "A week counts when it is over.",
        rows=len(table),
    )
    return ax
