"""Draw one model at several settings: a metric against what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.tables.headlines import metric_of
from .canvas import LINES, axes_for, describe, figure, mark, nothing, scale_of_costs
from .captions import span_of
from .labels import name_apart, name_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@figure
def setting_steps(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw a metric of each setting against the cost of 1,000 conversations, the settings of one model joined from low to high.

    `table` is as `tables.settings_table` gives it. Where no cost is known, or none was paid, the settings are
    side by side.
    """
    ax = axes_for(ax, table, width)
    shown = table.dropna(subset=["mean"]) if len(table) else table
    if shown.empty:
        return nothing(ax, "No model was run at two settings that differ in one thing, so there is no step to draw.")
    metric, handles = metric_of(shown["metric"].iloc[0]), []
    points: list[tuple[float, float, str]] = []
    paid = bool(shown["usd_1000"].notna().all() and (shown["usd_1000"] > 0).all())
    for place, ((model, setting, _), rows) in enumerate(shown.groupby(["model", "setting", "group"], sort=False)):
        color, style = LINES[place % len(LINES)], ("-", "--", ":")[place // len(LINES) % 3]
        xs = list(rows["usd_1000"]) if paid else list(range(len(rows)))
        mean, low, high = (metric.scale.times * rows[name] for name in ("mean", "low", "high"))
        ax.vlines(xs, low, high, color=color, linewidth=1, alpha=0.6, zorder=2)
        ax.plot(xs, mean, color=color, linewidth=1.2, linestyle=style, marker="o", markersize=5, zorder=3)
        told = [f" (partial {words})" if words else "" for words in rows.get("partial", [""] * len(rows))]
        points += zip(xs, mean, rows["value"].astype(str) + told, strict=True)
        handles.append(mark(ax, f"{name_of(ax, model)}, {setting}", color=color, marker="o", linestyle=style))
    if paid:
        scale_of_costs(ax, shown["usd_1000"])
    else:
        ax.set_xticks([])
    ax.margins(x=0.15, y=0.15)
    name_apart(ax, points)
    about = dict(metric=metric.title.lower(), label=metric.axis_label, cases=span_of(shown["n"]))
    describe(ax, "setting_steps", rows=len(shown), handles=handles, paid=paid, **about)
    return ax
