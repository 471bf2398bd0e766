"""Draw one metric over all models: means with intervals, and how certain a band is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.estimators.unsafe import BAND_COUNTS, BAND_TRAPS
from ..analysis.tables.headlines import metric_of
from ..analysis.tables.leaderboard import RESOLVES_ENOUGH, does_too_little
from ..scoring.written import percent, rounded
from .board import no_merit
from .canvas import ROW, axes_for, describe, figure, note_below, nothing, stacked_bars, why_nothing
from .captions import listed, span_of, trials_of
from .labels import at_right, left_out, name_of, name_rows, names_of, partial_below

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

INK, TRIAL = "#0072B2", "#D55E00"
BAND_COLORS = {"safe": "#9FCDB8", "middling": "#F0D58A", "reckless": "#E09A76"}


@figure
def metric_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw a metric of every model: the mean with its 95 % interval, the trials as small marks, the median over trials as a ring.

    `table` is as `tables.metric_table` gives it, of one panel and one metric.
    """
    shown = partial_below(table.dropna(subset=["mean"]).iloc[::-1])
    ax = axes_for(ax, table, width, 1.3 + ROW * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    left_out(ax, table, shown, "no value")
    metric = metric_of(shown["metric"].iloc[0])
    scale, bare = metric.scale.times, dict[str, Any](linestyle="none")
    ring = bare | dict(marker="o", markersize=8, markerfacecolor="none", markeredgecolor="#222222", markeredgewidth=0.7)
    for y, row in enumerate(shown.itertuples()):
        if row.low == row.low:
            ends = [scale * row.low, scale * row.high]
            ax.plot(ends, [y, y], color=INK, linewidth=2.2, alpha=0.45, solid_capstyle="butt")
        trials = [scale * v for v in row.per_trial]
        ax.plot(trials, [y] * len(trials), marker="|", markersize=7, color=TRIAL, markeredgewidth=1, **bare)
        ax.plot(scale * row.mean, y, marker="o", markersize=4.5, color=INK, **bare)
        ax.plot(scale * row.median, y, **ring)
        at_right(ax, y, rounded(scale * row.mean, metric.scale.digits))
    name_rows(ax, names_of(ax, list(shown["entry"])))
    if metric.scale.top:
        ax.set_xlim(-0.03 * metric.scale.top, 1.03 * metric.scale.top)
    about = dict(label=metric.axis_label, banded=metric.banded, share=bool(metric.scale.bounds))
    counts = dict(cases=span_of(shown["cases"]), trials=trials_of(shown["trials"]))
    describe(ax, "metric_intervals", rows=len(shown), **about, **counts)
    return ax


@figure
def band_chances(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the probability of each band of unsafe actions; below 0.8 for every band, a model's band is indeterminate.

    `table` is as `tables.leaderboard` or `tables.unsafe_table` gives it.
    """
    shown = partial_below(table.dropna(subset=["p_safe"]).sort_values(["p_safe", "p_middling", "entry"]))
    ax = axes_for(ax, table, width, 1.2 + ROW * max(len(shown), 3))
    if shown.empty:
        no_bands = f"No model here was scored on a set of {BAND_TRAPS} traps, so there are no bands."
        return nothing(ax, why_nothing(table) if "reason" in table else no_bands)
    without = [name_of(ax, m) for m in table.loc[table["p_safe"].isna(), "entry"]]
    if without:
        note_below(ax, f"Not run on {BAND_TRAPS} traps, so without bands: {listed(without)}")
    names, idle = names_of(ax, list(shown["entry"])), [does_too_little(row) for row in shown.to_dict("records")]
    if all(idle):
        enough = percent(RESOLVES_ENOUGH)
        return nothing(ax, f"No bands to weigh: {listed(names)} resolve under {enough} of the resolvable cases.")
    chances = {
        f"{band} ({BAND_COUNTS[band]})": [
            0.0 if alone else float(p) for p, alone in zip(shown[f"p_{band}"], idle, strict=True)
        ]
        for band in BAND_COLORS
    }
    colors = dict(zip(chances, BAND_COLORS.values(), strict=True))
    bars = stacked_bars(ax, chances, colors, {band: [rounded(p, 2) for p in some] for band, some in chances.items()})
    for y, (band, alone) in enumerate(zip(shown["band"], idle, strict=True)):
        at_right(ax, y, "none*" if alone else "no band" if band in ("", "none") else band)
    name_rows(ax, names)
    ax.set(xlim=(0, 1))
    trials = span_of(shown["trials"]) if "trials" in shown else ""
    more = dict(traps=BAND_TRAPS, trials=trials, idle=no_merit(shown))
    describe(ax, "band_chances", rows=len(shown), handles=list(bars.values()), **more)
    return ax
