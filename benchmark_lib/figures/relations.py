"""Figures of what goes with what: correlations with their intervals, models as points, cost against quality."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.estimators.estimate import counted
from ..analysis.tables.published import BOARD_SOURCE, RANKING_SOURCE
from ..analysis.tables.relations import PUBLISHED_METRICS
from ..scoring.metrics import METRICS
from .board import COLORS, MARKS, block_marks, trials_in_words
from .canvas import axes_for, explain, figure, mark, nothing, say_below, why_nothing
from .captions import listed, said_of, says, span_of
from .labels import FEW, at_right, left_out, name_apart, name_of, name_rows, names_of, outermost_in_words, with_counts
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BETWEEN, WITHIN = "#0072B2", "#D55E00"
LEVELS = {"between models": (BETWEEN, "o", 0.18), "within models": (WITHIN, "s", -0.18)}
LEAST_MODELS = 5
"""Fewer models show no relation: neither a correlation nor a scatter of them is drawn."""
RATES = {
    "recall": "Recall: % of must-escalate cases handed over",
    "precision": "Precision: % of handovers that were needed",
}
"""Axes of the shares of `tables.escalation_table`."""


@figure
def correlation_forest(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the correlations of one metric with others, between models (circle) and within models with the case held fixed (square).

    `table`: rows of `tables.between_models` and `tables.within_models`, of one panel. Correlations over fewer
    than five models are not drawn.
    """
    few = table["models"] < LEAST_MODELS
    known = table[table["estimate"].notna() & ~few]
    metrics = [m for m in dict.fromkeys(table["metric"]) if m in set(known["metric"])][::-1]
    ax = axes_for(ax, table, width, 1.4 + 0.36 * max(len(metrics), 3))
    noun, dropped = said_of(ax).noun, table[few & table["estimate"].notna()]
    why = f"{span_of(dropped['models'])} {noun}s are too few for a correlation" if len(dropped) else ""
    if known.empty:
        return nothing(ax, f"{why}, so none is drawn: {LEAST_MODELS} are needed." if why else why_nothing(table))
    if why:
        say_below(ax, f"Not drawn: {counted(len(dropped), 'correlation')}; {why}")
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
    *, table: pd.DataFrame, x: str, y: str, name: str = "entry", ax: Axes | None = None, width: str = "page"
) -> Axes:
    """Draw two metrics, one point per model, with intervals where the table has them; of many models the outermost are named.

    Fewer than five models are not drawn: so few points show no relation.

    Parameters
    ----------
    table : DataFrame
        One row per point with the columns `x`, `y` and `name`: as `tables.leaderboard`, `tables.escalation_table`,
        `tables.model_means` or `tables.general_ranking` give it. Of a board the means are drawn with their intervals.
    x, y : str
        Columns; names of metrics are written out, shares in percent.
    name : str
        Column of the names: ``model`` of published figures.
    """
    from matplotlib.ticker import MaxNLocator

    ax = axes_for(ax, table, width)
    columns = [f"{c}_mean" if f"{c}_mean" in table else c for c in (x, y)]
    shown = table.dropna(subset=columns)
    noun, both = said_of(ax).noun, f"{_title(x)} and {_title(y)}".lower()
    if len(shown) < LEAST_MODELS:
        return nothing(
            ax, f"{counted(len(shown), noun)} with {both}: fewer than {LEAST_MODELS} points show no relation."
        )
    left_out(ax, table.assign(entry=table[name]), shown.assign(entry=shown[name]), "without one of the two values")
    xs, ys = (_times(c) * shown[column].astype(float) for c, column in zip((x, y), columns, strict=True))
    blocks = list(shown.get("block", ["models"] * len(shown)))
    intervals = _intervals(ax, shown, (x, y), xs, ys, [COLORS[block] for block in blocks])
    for x_at, y_at, block in zip(xs, ys, blocks, strict=True):
        ax.plot(x_at, y_at, color=COLORS[block], marker=MARKS[block], markersize=5, linestyle="none", zorder=3)
    ax.margins(x=0.18, y=0.14)
    ax.set(xlabel=_axis_label(x), ylabel=_axis_label(y))
    for axis, column in ((ax.xaxis, x), (ax.yaxis, y)):
        if column in METRICS and METRICS[column].scale.summed:
            axis.set_major_locator(MaxNLocator(integer=True))
    counts = [tuple(shown[f"{m}_n"].fillna(0).astype(int)) for m in (x, y) if f"{m}_n" in shown]
    names = with_counts(ax, list(shown[name]), list(zip(*counts, strict=True)) or [()] * len(shown))
    name_apart(ax, list(zip(xs, ys, names, strict=True)), crowded=True)
    line: dict[str, Any] = dict(linestyle="-", color="#666666", linewidth=0.9)
    kinds = (
        block_marks(ax, shown["block"], "one mark each")
        if "block" in shown
        else [mark(ax, noun, marker="o", color=BETWEEN, markersize=5)]
    )
    explain(ax, [*kinds, *([mark(ax, "95 % interval of the mean", **line)] if intervals else [])])
    says(
        ax,
        f"{_title(y)} against {_title(x).lower()}",
        f"One point per {noun}, {counted(len(shown), noun)}.",
        "Means over cases of the mean over trials, with 95 % intervals." if intervals else _source(x, y, name),
        trials_in_words(shown),
        outermost_in_words(len(shown)),
        rows=len(shown),
    )
    return ax


def _source(x: str, y: str, name: str) -> str:
    """Return where points without intervals come from."""
    if name != "model":
        return "Means over cases of the mean over trials."
    ranked = f"; the score is that of {RANKING_SOURCE}, on its publisher's scale" if "score" in (x, y) else ""
    return f"Published figures, without trials and so without intervals: {BOARD_SOURCE}{ranked}."


def _intervals(
    ax: Axes, shown: pd.DataFrame, metrics: tuple[str, str], xs: pd.Series, ys: pd.Series, colors: list[str]
) -> bool:
    """Draw the intervals that a table has of both metrics; return whether there were any."""
    found = [m for m in metrics if f"{m}_low" in shown]
    for metric in found:
        ends = [_times(metric) * shown[f"{metric}{end}"].astype(float) for end in ("_low", "_high")]
        look: dict[str, Any] = dict(color=colors, linewidth=0.9, alpha=0.6, zorder=2)
        ax.hlines(ys, *ends, **look) if metric == metrics[0] else ax.vlines(xs, *ends, **look)
    return bool(found)


@figure
def cost_frontier(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Cost against quality; the line joins the models that no other model beats on both.

    `table` is as `tables.cost_quality` gives it.
    """
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


def _title(name: str) -> str:
    if name in METRICS:
        return METRICS[name].title
    return {**PUBLISHED_METRICS, "score": "Score in a general ranking"}.get(name, name.replace("_", " ").capitalize())


def _times(name: str) -> int:
    """Return what makes a column's values the numbers on its axis."""
    return METRICS[name].scale.times if name in METRICS else 100 if name in RATES else 1


def _axis_label(name: str) -> str:
    if name in METRICS:
        return f"{METRICS[name].axis_label} (mean over cases)"
    if name in RATES:
        return RATES[name]
    return plain(_title(name) + (", %" if name.endswith("_pct") else ", of 18" if name.endswith("_of_18") else ""))
