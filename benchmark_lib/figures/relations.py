"""Figures of what goes with what: correlations with their intervals, models as points, cost against quality."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .canvas import axes_for, head_and_legend, nothing, say_below, span_of, why_nothing
from .labels import name_apart, name_of
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BETWEEN, WITHIN = "#0072B2", "#D55E00"
LEVELS = {"between models": (BETWEEN, "o", 0.16), "within models": (WITHIN, "s", -0.16)}
FEW = 12
"""Up to this number of models, all are named."""


def correlation_forest(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Correlations of one metric with others: between models (circle) and within models with the case held fixed (square), each with its interval.

    Parameters
    ----------
    table : DataFrame
        Rows of `tables.between_models` and `tables.within_models`, of one panel.
    ax : Axes, optional
        Where to draw.
    """
    metrics = list(dict.fromkeys(table["metric"]))[::-1]
    ax = axes_for(ax, height=1.5 + 0.36 * max(len(metrics), 3))
    if table["estimate"].isna().all():
        return nothing(ax, why_nothing(table))
    for row in table.itertuples():
        color, mark, shift = LEVELS[row.level]
        y = metrics.index(row.metric) + shift
        if row.estimate != row.estimate:
            ax.text(
                0.0,
                y,
                row.reason.split(";")[0],
                fontsize=6.2,
                color="#888888",
                ha="center",
                va="center",
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4},
            )
            continue
        if row.low == row.low:
            ax.plot([row.low, row.high], [y, y], color=color, linewidth=1.6, alpha=0.6)
        ax.plot(row.estimate, y, marker=mark, color=color, markersize=4.8, linestyle="none")
        ax.text(
            1.04,
            y,
            f"{row.estimate:+.2f}{'' if row.low == row.low else ' (no interval)'}",
            fontsize=6.8,
            color=color,
            va="center",
        )
    ax.axvline(0, color="#222222", linewidth=0.9)
    ax.set_yticks(range(len(metrics)), [_title(m) for m in metrics], fontsize=7.5)
    head, models = _title(table["x"].iloc[0]), span_of(table["models"])
    ax.set(
        xlim=(-1.05, 1.02),
        ylim=(-0.6, len(metrics) - 0.4),
        xlabel=f"Correlation with {head.lower()}, 95 % interval ({models} models)",
    )
    words = {"between models": "between models (Spearman)", "within models": "within models, case held fixed"}
    handles = [
        ax.plot(
            [], [], marker=LEVELS[level][1], color=LEVELS[level][0], linestyle="none", markersize=5, label=words[level]
        )[0]
        for level in LEVELS
        if level in set(table["level"])
    ]
    head_and_legend(ax, f"{head} against quality", handles)
    return ax


def models_as_points(
    *, table: pd.DataFrame, x: str, y: str, name: str = "entry", named: int = 10, ax: Axes | None = None
) -> Axes:
    """Two metrics, one point per model; where there are many models, the outermost are named.

    Parameters
    ----------
    table : DataFrame
        One row per point with the columns `x`, `y` and `name`: as `tables.model_means` or `tables.general_ranking` give
        it.
    x, y : str
        Columns; names of metrics are written out, shares in percent.
    name : str
        Column of the names: ``model`` of published figures.
    named : int
        How many models are named at most.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax)
    shown = table.dropna(subset=[x, y])
    if shown.empty:
        return nothing(ax, f"No model has both {_title(x).lower()} and {_title(y).lower()}.")
    scales = [_times(name) for name in (x, y)]
    xs, ys = scales[0] * shown[x].astype(float), scales[1] * shown[y].astype(float)
    loud = _outermost(xs, ys, named)
    ax.plot(xs[~loud], ys[~loud], marker="o", color="#999999", linestyle="none", markersize=5)
    ax.plot(xs[loud], ys[loud], marker="o", color=BETWEEN, linestyle="none", markersize=5)
    ax.margins(x=0.18, y=0.12)
    ax.set(xlabel=_axis_label(x), ylabel=_axis_label(y), title=f"{_title(y)} against {_title(x).lower()}")
    name_apart(ax, list(zip(xs[loud], ys[loud], [name_of(m) for m in shown.loc[loud, name]], strict=True)))
    lost = len(table) - len(shown)
    if lost:
        ax.text(
            0.0,
            -0.17,
            f"{lost} of {len(table)} models lack one of the two.",
            transform=ax.transAxes,
            fontsize=7,
            color="#555555",
            va="top",
        )
    return ax


def cost_frontier(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Cost against quality; the line joins the models that no other model beats on both.

    Parameters
    ----------
    table : DataFrame
        As `tables.cost_quality` gives it.
    ax : Axes, optional
        Where to draw.
    """
    from ..scoring.metrics import METRICS

    ax = axes_for(ax)
    shown = table.dropna(subset=["usd_per_1000", "value"])
    if shown.empty:
        return nothing(
            ax,
            why_nothing(table)
            if table["value"].isna().all()
            else "No price is known for these runs, so there is no frontier.",
        )
    if not (shown["usd_per_1000"] > 0).any():
        return nothing(
            ax, "No run here cost anything: scripted agents and the local model are free, so there is no frontier."
        )
    metric = METRICS[shown["metric"].iloc[0]]
    scale = metric.scale.times
    for row in shown.itertuples():
        color = BETWEEN if row.frontier else "#999999"
        if row.low == row.low:
            ax.plot([row.usd_per_1000] * 2, [scale * row.low, scale * row.high], color=color, linewidth=1.1, alpha=0.6)
        ax.plot(row.usd_per_1000, scale * row.value, marker="o", color=color, markersize=5, linestyle="none")
    front = shown[shown["frontier"]].sort_values("usd_per_1000")
    ax.plot(
        front["usd_per_1000"], scale * front["value"], color=BETWEEN, linewidth=1.1, drawstyle="steps-post", zorder=1
    )
    if (shown["usd_per_1000"] > 0).all() and shown["usd_per_1000"].max() > 20 * shown["usd_per_1000"].min():
        ax.set_xscale("log")
    ax.set(
        xlabel="USD per 1,000 conversations (agent)",
        ylabel=metric.axis_label,
        title=f"What {metric.title.lower()} costs",
    )
    named = shown if len(shown) <= FEW else front
    ax.margins(x=0.1, y=0.1)
    name_apart(
        ax, list(zip(named["usd_per_1000"], scale * named["value"], [name_of(m) for m in named["entry"]], strict=True))
    )
    lost = len(table) - len(shown)
    partly = [
        f"{name_of(r['entry'])} ({r['cases']} of {r['of']})" for r in shown.to_dict("records") if r["cases"] < r["of"]
    ]
    words = [f"{lost} of {len(table)} models without a known price or value."] if lost else []
    words += [f"Cost and value cover only some of the cases: {', '.join(partly)}."] if partly else []
    if words:
        say_below(ax, " ".join(words))
    return ax


def _outermost(xs: pd.Series, ys: pd.Series, named: int) -> pd.Series:
    """True for the points farthest from the middle, relative to the spread of each axis.

    True for all if there are few.
    """
    if len(xs) <= FEW:
        return xs.notna()
    far = sum(((v - v.median()) / (v.std() or 1.0)) ** 2 for v in (xs, ys))
    return far.rank(ascending=False, method="first") <= named


def _title(name: str) -> str:
    from ..analysis.tables.relations import PUBLISHED_METRICS
    from ..scoring.metrics import METRICS

    if name in METRICS:
        return METRICS[name].title
    return {**PUBLISHED_METRICS, "score": "General ranking, score"}.get(name, name.replace("_", " ").capitalize())


def _times(name: str) -> int:
    """From a column's values to the numbers on its axis."""
    from ..scoring.metrics import METRICS

    return METRICS[name].scale.times if name in METRICS else 1


def _axis_label(name: str) -> str:
    from ..scoring.metrics import METRICS

    if name not in METRICS:
        return plain(_title(name) + (", %" if name.endswith("_pct") else ", of 18" if name.endswith("_of_18") else ""))
    return METRICS[name].axis_label
