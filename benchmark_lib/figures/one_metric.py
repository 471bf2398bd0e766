"""Figures of one metric over all models: means with intervals, and how certain a band is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.estimators.unsafe import BAND_COUNTS, BAND_TRAPS
from ..analysis.tables.leaderboard import RESOLVES_ENOUGH, does_too_little
from ..scoring.written import percent, rounded
from .board import no_merit
from .canvas import ROW, axes_for, explain, figure, mark, nothing, say_below, stacked_bars, why_nothing
from .captions import listed, said_of, says, span_of, trials_of
from .labels import at_right, left_out, name_of, name_rows, names_of, partial_below

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ..scoring.metrics import Metric

INK, POINT, TRIAL = "#0072B2", "#0072B2", "#D55E00"
BAND_COLORS = {"safe": "#9FCDB8", "middling": "#F0D58A", "reckless": "#E09A76"}


@figure
def metric_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """A metric of every model: the mean with its 95 % interval, the trials as small marks, the median over trials as a ring.

    `table` is as `tables.metric_table` gives it, of one panel and one metric.
    """
    from ..scoring.metrics import METRICS

    shown = partial_below(table.dropna(subset=["mean"]).iloc[::-1])
    ax = axes_for(ax, table, width, 1.3 + ROW * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    left_out(ax, table, shown, "no value")
    metric = METRICS[shown["metric"].iloc[0]]
    scale = metric.scale.times
    interval: dict[str, Any] = dict(color=INK, linewidth=2.2, alpha=0.45, solid_capstyle="butt")
    trial: dict[str, Any] = dict(marker="|", markersize=7, color=TRIAL, markeredgewidth=1, linestyle="none")
    ring: dict[str, Any] = dict(marker="o", markersize=8, markerfacecolor="none", linestyle="none")
    ring |= dict(markeredgecolor="#222222", markeredgewidth=0.7)
    for y, row in enumerate(shown.itertuples()):
        if row.low == row.low:
            ax.plot([scale * row.low, scale * row.high], [y, y], **interval)
        ax.plot([scale * v for v in row.per_trial], [y] * len(row.per_trial), **trial)
        ax.plot(scale * row.mean, y, marker="o", markersize=4.5, color=POINT, linestyle="none")
        ax.plot(scale * row.median, y, **ring)
        at_right(ax, y, rounded(scale * row.mean, metric.scale.digits))
    name_rows(ax, names_of(ax, list(shown["entry"])))
    ax.set(ylim=(-0.6, len(shown) - 0.4), xlabel=metric.axis_label)
    if metric.scale.top:
        ax.set_xlim(-0.03 * metric.scale.top, 1.03 * metric.scale.top)
    explain(
        ax,
        [
            mark(ax, "mean", marker="o", color=POINT, markersize=4.5),
            mark(ax, "95 % interval of the mean", **{**interval, "linestyle": "-"}),
            mark(ax, "single trial", **trial),
            mark(ax, "median over trials", **ring),
        ],
    )
    says(
        ax,
        metric.axis_label,
        f"Mean over cases of the mean over trials (dot, and the number on the right) with its 95 % interval, {_method(metric)}; small "
        "strokes: single trials; ring: median over trials, the number that boards lead with.",
        f"n = {span_of(shown['cases'])} cases × {trials_of(shown['trials'])} per {said_of(ax).noun}.",
        rows=len(shown),
    )
    return ax


def _method(metric: Metric) -> str:
    """Where the interval of a metric's mean comes from."""
    if metric.banded:
        return "for these traps, from a hierarchical beta-binomial model"
    of = "from a hierarchical beta-binomial model" if metric.scale.bounds else "a cluster-robust t"
    return f"for cases like these, {of}, clustered by intent where there are six intents or more"


@figure
def band_chances(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """The probability of each band of unsafe actions; below 0.8 for every band, a model's band is indeterminate.

    `table` is as `tables.leaderboard` or `tables.unsafe_table` gives it.
    """
    shown = partial_below(table.dropna(subset=["p_safe"]).sort_values(["p_safe", "p_middling", "entry"]))
    ax = axes_for(ax, table, width, 1.2 + ROW * max(len(shown), 3))
    if shown.empty:
        no_bands = f"No model here was scored on a set of {BAND_TRAPS} traps, so there are no bands."
        return nothing(ax, why_nothing(table) if "reason" in table else no_bands)
    without = [name_of(ax, m) for m in table.loc[table["p_safe"].isna(), "entry"]]
    if without:
        say_below(ax, f"Not run on {BAND_TRAPS} traps, so without bands: {listed(without)}")
    idle = [does_too_little(row) for row in shown.to_dict("records")]
    if all(idle):
        under = listed(names_of(ax, list(shown["entry"])))
        return nothing(
            ax, f"No bands to weigh: {under} resolve under {percent(RESOLVES_ENOUGH)} of the resolvable cases."
        )
    chances = {
        f"{band} ({BAND_COUNTS[band]})": [
            0.0 if alone else float(p) for p, alone in zip(shown[f"p_{band}"], idle, strict=True)
        ]
        for band in BAND_COLORS
    }
    colors = dict(zip(chances, BAND_COLORS.values(), strict=True))
    stacked_bars(ax, chances, colors, {band: [rounded(p, 2) for p in some] for band, some in chances.items()})
    for y, (band, alone) in enumerate(zip(shown["band"], idle, strict=True)):
        at_right(ax, y, "none*" if alone else "no band" if band in ("", "none") else band)
    name_rows(ax, names_of(ax, list(shown["entry"])))
    ax.set(xlim=(0, 1), ylim=(-0.6, len(shown) - 0.4), xlabel="Probability, on these traps")
    ax.grid(axis="y", visible=False)
    explain(ax)
    says(
        ax,
        "How certain is the band?",
        f"Probability of each band of unsafe actions out of {BAND_TRAPS}, on these traps, from a hierarchical beta-binomial posterior. On the "
        "right: the band whose probability is at least 0.8; where none has, indeterminate.",
        f"Trials per trap: {span_of(shown['trials'])}." if "trials" in shown else "",
        no_merit(shown),
        rows=len(shown),
    )
    return ax
