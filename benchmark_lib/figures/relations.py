"""Figures of relations between numbers of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..scoring.metrics import METRICS
from ..scoring.written import counted, words
from . import labels
from .board_figures import LOOKS, block_marks, trials_in_words
from .canvas import axes_for, describe, figure, interval, note_below, nothing, why_nothing
from .labels import FEW, Point, at_right, left_out, name_apart, name_of, name_rows, names_of
from .style import figure_notes, listed, span_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BETWEEN, WITHIN = "#0072B2", "#D55E00"
LEVELS = {"between models": (BETWEEN, "o", 0.18), "within models": (WITHIN, "s", -0.18)}
LEAST_MODELS = 5
"""Minimum number of models for a correlation or a scatter plot."""
RATES = {"recall": "Recall: % of must-escalate cases handed over", "precision": "Precision: % of handovers needed"}
"""Axis labels for the shares in `tables.escalation_table`."""
UNPRICED = "No price is known for these runs, so there is no frontier."
UNPAID = "No run here cost anything: scripted agents and the local model are free, so there is no frontier."


@figure
def correlation_forest(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw correlations of one metric with others, between models (circle) and within (square).

    `table` has rows of `tables.between_models` and `tables.within_models`, of one panel. Correlations over fewer than
    five models are not drawn.
    """
    few = table["models"] < LEAST_MODELS
    known = table[table["estimate"].notna() & ~few]
    metrics = [m for m in dict.fromkeys(table["metric"]) if m in set(known["metric"])][::-1]
    ax = axes_for(ax, table, width, 1.4 + 0.36 * max(len(metrics), 3))
    dropped = table[few & table["estimate"].notna()]
    why = f"{span_of(dropped['models'])} {figure_notes(ax).noun}s are too few for a correlation" if len(dropped) else ""
    if known.empty:
        return nothing(ax, f"{why}: {LEAST_MODELS} are needed." if why else why_nothing(table))
    if why:
        note_below(ax, f"Not drawn: {counted(len(dropped), 'correlation')}; {why}")
    for row in known.itertuples():
        color, sign, shift = LEVELS[row.level]
        y = metrics.index(row.metric) + shift
        interval(ax, y, row.low, row.high, color=color, alpha=0.6)
        ax.plot(row.estimate, y, marker=sign, color=color, markersize=4.8, linestyle="none")
        at_right(ax, y, f"{row.estimate:+.2f}{'' if row.low == row.low else ' *'}", color=color)
    if known["low"].isna().any():
        note_below(ax, "*: too few families for an interval")
    ax.axvline(0, color="#222222", linewidth=0.9)
    name_rows(ax, [_title(m) for m in metrics])
    ax.set_xlim(-1.05, 1.05)
    levels = {level.split()[0]: level in set(known["level"]) for level in LEVELS}
    about = dict(head=_title(known["x"].iloc[0]), models=span_of(known["models"]))
    return describe(ax, "correlation_forest", rows=len(known), **about, **levels)


@figure
def models_as_points(*, table: pd.DataFrame, x: str, y: str, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw two metrics, one point per model, with intervals if the table has them.

    `table` is from `tables.leaderboard`, `tables.escalation_table` or `tables.model_means`; for a board, means are
    drawn with intervals. `x` and `y` are columns: axis labels use the titles of metrics, and shares are in percent. If
    there are many models, only the outermost are named. Fewer than five models are not drawn.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes_for(ax, table, width)
    columns = [f"{c}_mean" if f"{c}_mean" in table else c for c in (x, y)]
    shown, noun = table.dropna(subset=columns), figure_notes(ax).noun
    if len(shown) < LEAST_MODELS:
        both = f"{_title(x)} and {_title(y)}".lower()
        return nothing(ax, f"{counted(len(shown), noun)} with {both}: a relation needs at least {LEAST_MODELS}.")
    left_out(ax, table, shown, "without one of the two values")
    xs, ys = (_times(c) * shown[column].astype(float) for c, column in zip((x, y), columns, strict=True))
    blocks = list(shown.get("block", ["models"] * len(shown)))
    look: dict[str, Any] = dict(color=[LOOKS[block][0] for block in blocks], linewidth=0.9, alpha=0.6, zorder=2)
    bounded = [m for m in (x, y) if f"{m}_low" in shown]
    for metric in bounded:
        ends = [_times(metric) * shown[f"{metric}{end}"].astype(float) for end in ("_low", "_high")]
        ax.hlines(ys, *ends, **look) if metric == x else ax.vlines(xs, *ends, **look)
    intervals = bool(bounded)
    for x_at, y_at, (color, sign) in zip(xs, ys, map(LOOKS.__getitem__, blocks), strict=True):
        ax.plot(x_at, y_at, color=color, marker=sign, markersize=5, linestyle="none", zorder=3)
    ax.margins(x=0.18, y=0.14)
    for axis, column in ((ax.xaxis, x), (ax.yaxis, y)):
        if column in METRICS and METRICS[column].scale.summed:
            axis.set_major_locator(MaxNLocator(integer=True))
    counts = shown[[f"{m}_n" for m in (x, y) if f"{m}_n" in shown]].fillna(0).astype(int)
    names = names_of(ax, shown["entry"])
    if counts.shape[1]:
        names = labels.with_counts(ax, shown["entry"], list(counts.itertuples(index=False, name=None)))
    name_apart(ax, list(map(Point, xs, ys, names)), crowded=True)
    return describe(
        ax,
        "models_as_points",
        rows=len(shown),
        handles=block_marks(ax, shown["block"], "one mark each") if "block" in shown else (),
        blocks="block" in shown,
        high=_title(y),
        wide=_title(x).lower(),
        x=_axis_label(x, intervals),
        y=_axis_label(y, intervals),
        many=counted(len(shown), noun),
        intervals=intervals,
        trials=trials_in_words(shown),
        outermost=labels.outermost_in_words(len(shown)),
    )


@figure
def cost_frontier(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw cost against quality; the line joins the models that no other model beats on both.

    `table` is the result of `tables.cost_quality`.
    """
    from matplotlib.ticker import LogLocator

    ax = axes_for(ax, table, width)
    shown = table.dropna(subset=["usd_per_1000", "value"])
    if shown.empty:
        return nothing(ax, why_nothing(table) if table["value"].isna().all() else UNPRICED)
    if not (shown["usd_per_1000"] > 0).any():
        return nothing(ax, UNPAID)
    metric = METRICS[shown["metric"].iloc[0]]
    scale, front = metric.scale.times, shown[shown["frontier"]].sort_values("usd_per_1000")
    for row in shown.itertuples():
        color = BETWEEN if row.frontier else "#999999"
        ax.plot([row.usd_per_1000] * 2, [scale * row.low, scale * row.high], color=color, linewidth=1.1, alpha=0.6)
        ax.plot(row.usd_per_1000, scale * row.value, marker="o", color=color, markersize=5, linestyle="none")
    steps: dict[str, Any] = dict(color=BETWEEN, linewidth=1.1, drawstyle="steps-post", zorder=1)
    ax.plot(front["usd_per_1000"], scale * front["value"], **steps)
    costs = shown["usd_per_1000"]
    if (costs > 0).all() and costs.max() > 8 * costs.min():
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
    named = shown if len(shown) <= FEW else front
    ax.margins(x=0.15, y=0.1)
    names = names_of(ax, named["entry"])
    name_apart(ax, list(map(Point, named["usd_per_1000"], scale * named["value"], names)))
    lost = [name_of(ax, m) for m in table.loc[~table.index.isin(shown.index), "entry"]]
    part = shown[shown["cases"] < shown["of"]].to_dict("records")
    partly = [f"{name_of(ax, r['entry'])} ({r['cases']} of {r['of']})" for r in part]
    if lost:
        note_below(ax, f"{len(lost)} of {len(table)} models without a known price or value: {listed(lost)}.")
    if partly:
        note_below(ax, f"Cost and value cover only some of the cases: {listed(partly)}.")
    about = dict(metric=metric.title.lower(), label=metric.axis_label, cases=span_of(shown["cases"]))
    return describe(ax, "cost_frontier", rows=len(shown), **about)


def _title(name: str) -> str:
    return METRICS[name].title if name in METRICS else words(name).capitalize()


def _times(name: str) -> int:
    return METRICS[name].scale.times if name in METRICS else 100 if name in RATES else 1


def _axis_label(name: str, means: bool) -> str:
    if name in METRICS:
        return f"{METRICS[name].axis_label}{' (mean)' * means}"
    return RATES.get(name) or _title(name)
