"""Figures of what goes with what: correlations with their intervals, models as points, cost against quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.estimators.estimate import counted
from ..analysis.tables.published import BOARD_SOURCE, RANKING_SOURCE
from .canvas import axes_for, explain, figure, mark, nothing, say_below, why_nothing
from .captions import listed, said_of, says, span_of
from .labels import FEW, at_right, left_out, name_apart, name_of, name_rows, names_of
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BETWEEN, WITHIN = "#0072B2", "#D55E00"
LEVELS = {"between models": (BETWEEN, "o", 0.18), "within models": (WITHIN, "s", -0.18)}
LEAST_MODELS = 5
"""With fewer models a correlation between them is not drawn: three points are too few."""


@figure
def correlation_forest(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Correlations of one metric with others: between models (circle) and within models with the case held fixed (square), each with its interval.

    `table`: rows of `tables.between_models` and `tables.within_models`, of one panel. Correlations over fewer
    than five models are not drawn, and a note says so.
    """
    few = (table["level"] == "between models") & (table["models"] < LEAST_MODELS)
    known = table[table["estimate"].notna() & ~few]
    metrics = [m for m in dict.fromkeys(table["metric"]) if m in set(known["metric"])][::-1]
    ax = axes_for(ax, table, width, 1.4 + 0.36 * max(len(metrics), 3))
    dropped = table[few & table["estimate"].notna()]
    why = (
        f"{span_of(dropped['models'])} {said_of(ax).noun}s are too few for a correlation between them"
        if len(dropped)
        else ""
    )
    if known.empty:
        return nothing(ax, f"{why[:1].upper()}{why[1:]}, so none is drawn." if why else why_nothing(table))
    if why:
        say_below(ax, f"Not drawn: {counted(len(dropped), 'correlation')} between {said_of(ax).noun}s; {why}")
    for row in known.itertuples():
        color, sign, shift = LEVELS[row.level]
        y = metrics.index(row.metric) + shift
        if row.low == row.low:
            ax.plot([row.low, row.high], [y, y], color=color, linewidth=1.6, alpha=0.6)
        ax.plot(row.estimate, y, marker=sign, color=color, markersize=4.8, linestyle="none")
        at_right(ax, y, f"{row.estimate:+.2f}{'' if row.low == row.low else ' *'}", color=color)
    if known["low"].isna().any():
        say_below(ax, "*: too few families for an interval")
    ax.axvline(0, color="#222222", linewidth=0.9)
    name_rows(ax, [_title(m) for m in metrics])
    ax.grid(axis="y", visible=False)
    head, models = _title(known["x"].iloc[0]), span_of(known["models"])
    ax.set(xlim=(-1.05, 1.05), ylim=(-0.6, len(metrics) - 0.4), xlabel=f"Correlation with {head.lower()}")
    noun = said_of(ax).noun
    words = {"between models": f"between {noun}s (Spearman)", "within models": f"within {noun}s, case held fixed"}
    explain(
        ax,
        [
            mark(
                ax,
                f"{words[level]}, 95 %",
                marker=LEVELS[level][1],
                color=LEVELS[level][0],
                markersize=5,
                linestyle="-",
            )
            for level in LEVELS
            if level in set(known["level"])
        ],
    )
    says(
        ax,
        f"{head} against quality",
        f"Correlation of {head.lower()} with each metric, with 95 % intervals. Between {noun}s: Spearman over {noun}s, vendor families resampled. "
        f"Within {noun}s: the mean of each case is taken off first, cases resampled.",
        f"n = {models} {said_of(ax).noun}s. Nothing is drawn where a correlation is not defined.",
        rows=len(known),
    )
    return ax


@figure
def models_as_points(
    *,
    table: pd.DataFrame,
    x: str,
    y: str,
    name: str = "entry",
    named: int = 10,
    ax: Axes | None = None,
    width: str = "page",
) -> Axes:
    """Two metrics, one point per model, with intervals where the table has them; where there are many models, the outermost are named.

    Parameters
    ----------
    table : DataFrame
        One row per point with the columns `x`, `y` and `name`: as `tables.leaderboard`, `tables.model_means` or
        `tables.general_ranking` give it. Of a board the means are drawn with their intervals.
    x, y : str
        Columns; names of metrics are written out, shares in percent.
    name : str
        Column of the names: ``model`` of published figures.
    named : int
        How many models are named at most.
    """
    from matplotlib.ticker import MaxNLocator

    from ..scoring.metrics import METRICS

    ax = axes_for(ax, table, width)
    columns = [f"{c}_mean" if f"{c}_mean" in table else c for c in (x, y)]
    shown = table.dropna(subset=columns)
    if shown.empty:
        return nothing(ax, f"No model has both {_title(x).lower()} and {_title(y).lower()}.")
    xs, ys = (_times(c) * shown[column].astype(float) for c, column in zip((x, y), columns, strict=True))
    loud = _outermost(xs, ys, named)
    colors = loud.map({True: BETWEEN, False: "#999999"})
    intervals = _intervals(ax, shown, (x, y), xs, ys, colors)
    ax.scatter(xs, ys, s=22, color=list(colors), zorder=3, linewidth=0)
    ax.margins(x=0.18, y=0.14)
    ax.set(xlabel=_axis_label(x), ylabel=_axis_label(y))
    for axis, column in ((ax.xaxis, x), (ax.yaxis, y)):
        if column in METRICS and METRICS[column].scale.summed:
            axis.set_major_locator(MaxNLocator(integer=True))
    names = names_of(ax, list(shown[name]))
    points = zip(xs, ys, names, loud, strict=True)
    name_apart(ax, [(a, b, told) for a, b, told, is_loud in points if is_loud])
    quiet, noun = int((~loud).sum()), said_of(ax).noun
    line: dict[str, Any] = dict(linestyle="-", color=BETWEEN, linewidth=0.9)
    explain(
        ax,
        [
            mark(ax, f"{noun}, named" if quiet else noun, marker="o", color=BETWEEN, markersize=5),
            *([mark(ax, f"{quiet} more {noun}s", marker="o", color="#999999", markersize=5)] if quiet else []),
            *([mark(ax, "95 % interval of the mean", **line)] if intervals else []),
        ],
    )
    left_out(ax, table.assign(entry=table[name]), shown.assign(entry=shown[name]), "without one of the two values")
    says(
        ax,
        f"{_title(y)} against {_title(x).lower()}",
        f"One point per {noun}, {counted(len(shown), noun)}.",
        "Means over cases of the mean over trials, with 95 % intervals."
        if intervals
        else f"Published figures, without trials and so without intervals: {BOARD_SOURCE}"
        + (f"; the score is that of {RANKING_SOURCE}, on its publisher's scale." if "score" in (x, y) else ".")
        if name == "model"
        else "Means over cases of the mean over trials.",
        f"In grey: {listed([n for n, is_loud in zip(names, loud, strict=True) if not is_loud], 40)}." if quiet else "",
        rows=len(shown),
    )
    return ax


def _intervals(
    ax: Axes, shown: pd.DataFrame, metrics: tuple[str, str], xs: pd.Series, ys: pd.Series, colors: pd.Series
) -> bool:
    """Draw the intervals that a board holds of both metrics; whether there were any."""
    any_drawn = False
    for metric, across in zip(metrics, (True, False), strict=True):
        if f"{metric}_low" not in shown:
            continue
        lows, highs = (_times(metric) * shown[f"{metric}{end}"].astype(float) for end in ("_low", "_high"))
        for i in shown.index[lows.notna()]:
            ends, at = [lows[i], highs[i]], [ys[i] if across else xs[i]] * 2
            ax.plot(*((ends, at) if across else (at, ends)), color=colors[i], linewidth=0.9, alpha=0.6, zorder=2)
            any_drawn = True
    return any_drawn


@figure
def cost_frontier(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Cost against quality; the line joins the models that no other model beats on both.

    `table` is as `tables.cost_quality` gives it.
    """
    from ..scoring.metrics import METRICS

    ax = axes_for(ax, table, width)
    shown = table.dropna(subset=["usd_per_1000", "value"])
    if shown.empty:
        unknown = table["value"].isna().all()
        why = why_nothing(table) if unknown else "No price is known for these runs, so there is no frontier."
        return nothing(ax, why)
    if not (shown["usd_per_1000"] > 0).any():
        return nothing(
            ax, "No run here cost anything: scripted agents and the local model are free, so there is no frontier."
        )
    metric = METRICS[shown["metric"].iloc[0]]
    scale = metric.scale.times
    front = shown[shown["frontier"]].sort_values("usd_per_1000")
    _costs(ax, shown, front, scale)
    ax.set(xlabel="USD per 1,000 conversations (agent)", ylabel=metric.axis_label)
    named = shown if len(shown) <= FEW else front
    ax.margins(x=0.15, y=0.1)
    names = names_of(ax, list(named["entry"]))
    name_apart(ax, list(zip(named["usd_per_1000"], scale * named["value"], names, strict=True)))
    explain(
        ax,
        [
            mark(ax, "no other model beats it on both", marker="o", color=BETWEEN, markersize=5, linestyle="-"),
            mark(ax, "beaten on both", marker="o", color="#999999", markersize=5),
            mark(ax, "95 % interval of the mean", linestyle="-", color="#666666", linewidth=1.1, alpha=0.6),
        ],
    )
    lost = [name_of(ax, m) for m in table.loc[~table.index.isin(shown.index), "entry"]]
    partly = [
        f"{name_of(ax, r['entry'])} ({r['cases']} of {r['of']})"
        for r in shown.to_dict("records")
        if r["cases"] < r["of"]
    ]
    words = [f"{len(lost)} of {len(table)} models without a known price or value: {listed(lost)}."] if lost else []
    words += [f"Cost and value cover only some of the cases: {listed(partly)}."] if partly else []
    if words:
        say_below(ax, " ".join(words))
    says(
        ax,
        f"What {metric.title.lower()} costs",
        f"{metric.axis_label}, mean with its 95 % interval, against the cost of the agent; n = {span_of(shown['cases'])} cases.",
        "The line joins the models that no other beats on both.",
        rows=len(shown),
    )
    return ax


def _costs(ax: Axes, shown: pd.DataFrame, front: pd.DataFrame, scale: float) -> None:
    """Draw the points with their intervals and the steps of the frontier, on a scale of costs that fits them."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    for row in shown.itertuples():
        color = BETWEEN if row.frontier else "#999999"
        if row.low == row.low:
            ax.plot([row.usd_per_1000] * 2, [scale * row.low, scale * row.high], color=color, linewidth=1.1, alpha=0.6)
        ax.plot(row.usd_per_1000, scale * row.value, marker="o", color=color, markersize=5, linestyle="none")
    steps: dict[str, Any] = dict(color=BETWEEN, linewidth=1.1, drawstyle="steps-post", zorder=1)
    ax.plot(front["usd_per_1000"], scale * front["value"], **steps)
    if (shown["usd_per_1000"] > 0).all() and shown["usd_per_1000"].max() > 20 * shown["usd_per_1000"].min():
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())


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
    return {**PUBLISHED_METRICS, "score": "Score in a general ranking"}.get(name, name.replace("_", " ").capitalize())


def _times(name: str) -> int:
    """From a column's values to the numbers on its axis."""
    from ..scoring.metrics import METRICS

    return METRICS[name].scale.times if name in METRICS else 1


def _axis_label(name: str) -> str:
    from ..scoring.metrics import METRICS

    if name not in METRICS:
        return plain(_title(name) + (", %" if name.endswith("_pct") else ", of 18" if name.endswith("_of_18") else ""))
    return METRICS[name].axis_label
