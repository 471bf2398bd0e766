"""Figures of one model under several conditions: hard cases and twins, rules, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.tables.hard import ALL, family_order
from ..analysis.tables.headlines import metric_of
from ..scoring.written import words
from .canvas import LINES, ROW, alike, axes_for, describe, figure, mark, nothing, scale_of_costs
from .labels import Point, name_apart, name_of, name_rows
from .style import span_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes

HARD, TWIN, EASY = "#C44E00", "#0072B2", ", easy"
MARKS = "osD^vP*"


@figure
def hard_families(
    *, table: pd.DataFrame, known: Iterable[str] = (), ax: Axes | None = None, width: str = "page"
) -> Axes:
    """Draw success by family in hard cases (filled, with interval) and clean twins (hollow).

    `table` has the rows of one entry in `tables.hard_table`. The order of families is that of `known`, then by name.
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
        names.append(f"{words(family).capitalize()}{easy} ({int(row['hard_n'])} + {int(row['clean_n'])})")
    name_rows(ax, names)
    ax.set(xlim=(-3, 103))
    ax.invert_yaxis()
    about = dict(name=name_of(ax, table["entry"].iloc[0]), cases=span_of(rows["hard_n"]))
    marked = dict(twins=bool(rows["clean"].notna().any()), easy=any(EASY in name for name in names))
    return describe(ax, "hard_families", rows=len(rows), **about, **marked)


@figure
def kept_by_turn(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the share of replies that keep each rule, by turn; equal rules share a line.

    `table` has the rows of one entry in `tables.rules_by_turn`.
    """
    ax = axes_for(ax, table, width, 3.6)
    if table.empty:
        return nothing(ax, "No conversation with operator rules has a second reply.")
    table, handles = table.sort_values("turn"), []
    lines = alike(table, "rule", ["turn", "kept", "low", "high"])
    for place, (rules, color, sign) in enumerate(zip(lines, LINES, MARKS, strict=False)):
        line = table[table["rule"] == rules[0]]
        at = line["turn"] + 0.08 * (place - (min(len(lines), len(LINES)) - 1) / 2)
        ax.vlines(at, 100 * line["low"], 100 * line["high"], color=color, linewidth=0.8, alpha=0.6)
        ax.plot(at, 100 * line["kept"], color=color, marker=sign, markersize=4, linewidth=1.2)
        handles.append(mark(ax, ", ".join(map(words, rules)), color=color, marker=sign, linestyle="-", markersize=4))
    last = int(table["turn"].max())
    ax.set(xlim=(0.5, last + 0.5), ylim=(-4, 104))
    ax.set_xticks(range(1, last + 1))
    replies = table.groupby("turn")["replies"].max()
    ends = dict(first=replies.iloc[0], start=replies.index[0], last=replies.iloc[-1], end=replies.index[-1])
    who = name_of(ax, table["entry"].iloc[0])
    return describe(ax, "kept_by_turn", rows=len(table), handles=handles, name=who, **ends)


@figure
def setting_steps(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw a metric of each setting against its cost, joined from low to high for each model.

    `table` is the result of `tables.settings_table`. Without known costs above 0 the settings are next to each other.
    """
    ax = axes_for(ax, table, width)
    shown = table.dropna(subset=["mean"]) if len(table) else table
    if shown.empty:
        return nothing(ax, "No model was run at two settings that differ in one thing, so there is no step to draw.")
    metric, handles = metric_of(shown["metric"].iloc[0]), []
    points = list[Point]()
    paid = bool(shown["usd_1000"].notna().all() and (shown["usd_1000"] > 0).all())
    for place, ((model, setting, _), rows) in enumerate(shown.groupby(["model", "setting", "group"], sort=False)):
        color, style = LINES[place % len(LINES)], ("-", "--", ":")[place // len(LINES) % 3]
        xs = list(rows["usd_1000"]) if paid else list(range(len(rows)))
        mean, low, high = (metric.scale.times * rows[name] for name in ("mean", "low", "high"))
        ax.vlines(xs, low, high, color=color, linewidth=1, alpha=0.6, zorder=2)
        ax.plot(xs, mean, color=color, linewidth=1.2, linestyle=style, marker="o", markersize=5, zorder=3)
        partial = [f" (partial {part})" if part else "" for part in rows.get("partial", [""] * len(rows))]
        points += map(Point, xs, mean, rows["value"].astype(str) + partial)
        handles.append(mark(ax, f"{name_of(ax, model)}, {setting}", color=color, marker="o", linestyle=style))
    if paid:
        scale_of_costs(ax, shown["usd_1000"])
    else:
        ax.set_xticks([])
    ax.margins(x=0.15, y=0.15)
    name_apart(ax, points)
    about = dict(metric=metric.title.lower(), label=metric.axis_label, cases=span_of(shown["n"]))
    return describe(ax, "setting_steps", rows=len(shown), handles=handles, paid=paid, **about)
