"""One model at several settings: a metric against what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.tables.headlines import metric_of
from .canvas import LINES, axes_for, explain, figure, mark, nothing
from .captions import says, span_of
from .labels import name_apart, name_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@figure
def setting_steps(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """A metric of each setting against the cost of 1,000 conversations, the settings of one model joined from low to high.

    `table` is as `tables.settings_table` gives it. Where no cost is known, or none was paid, the settings stand
    side by side.
    """
    ax = axes_for(ax, table, width)
    shown = table.dropna(subset=["mean"]) if len(table) else table
    if shown.empty:
        return nothing(ax, "No model was run at two settings that differ in one thing, so there is no step to draw.")
    metric, handles = metric_of(shown["metric"].iloc[0]), []
    points: list[tuple[float, float, str]] = []
    paid = shown["usd_1000"].notna().all() and (shown["usd_1000"] > 0).all()
    for place, ((model, setting, _), rows) in enumerate(shown.groupby(["model", "setting", "group"], sort=False)):
        color, style = LINES[place % len(LINES)], ("-", "--", ":")[place // len(LINES) % 3]
        xs = list(rows["usd_1000"]) if paid else list(range(len(rows)))
        times = metric.scale.times
        ax.plot(xs, times * rows["mean"], color=color, linewidth=1.2, linestyle=style, zorder=2)
        ax.vlines(xs, times * rows["low"], times * rows["high"], color=color, linewidth=1, alpha=0.6, zorder=2)
        ax.plot(xs, times * rows["mean"], color=color, marker="o", markersize=5, linestyle="none", zorder=3)
        told = [f" (partial {words})" if words else "" for words in rows.get("partial", [""] * len(rows))]
        points += zip(xs, times * rows["mean"], rows["value"].astype(str) + told, strict=True)
        handles.append(mark(ax, f"{name_of(ax, model)}, {setting}", color=color, marker="o", linestyle=style))
    if paid and shown["usd_1000"].max() > 8 * shown["usd_1000"].min():
        ax.set_xscale("log")
    ax.margins(x=0.15, y=0.15)
    ax.set(xlabel="Cost of 1,000 conversations, USD" if paid else "Setting, from low to high", ylabel=metric.axis_label)
    if not paid:
        ax.set_xticks([])
    name_apart(ax, points)
    explain(ax, [*handles, mark(ax, "95 % interval of the mean", color="#666666", linestyle="-")])
    says(
        ax,
        f"What more effort buys: {metric.title.lower()} by setting",
        f"Each mark is one run: the mean over cases of the mean over trials with its 95 % interval; n = {span_of(shown['n'])} cases. "
        "Lines join the runs of one model that differ in this setting only. Whether two marks differ is for the paired comparison "
        "to say, not for these intervals.",
        "" if paid else "The cost is not known for every run, so the settings stand side by side.",
        rows=len(shown),
    )
    return ax
