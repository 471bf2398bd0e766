"""Figures of the board: safety against cost, unsafe actions and bands, one metric by model."""

from __future__ import annotations

from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..analysis.estimators.unsafe import BAND_COUNTS, BAND_CUTS, BAND_TRAPS
from ..analysis.tables.costs import NO_MODEL, PLAYED, UNKNOWN, cost_of_1000, tier_in_words, tier_order
from ..analysis.tables.escalation import both_directions
from ..analysis.tables.headlines import metric_of
from ..analysis.tables.leaderboard import NO_MERIT, RESOLVES_ENOUGH, does_too_little, of_usual_traps, worst_beside
from ..analysis.tables.published import BOARD_SOURCE
from ..scoring.metrics import METRICS
from ..scoring.written import percent, rounded
from .canvas import (
    GREY,
    ROW,
    SMALL,
    axes_for,
    describe,
    figure,
    leads,
    mark,
    note_below,
    nothing,
    stacked_bars,
    why_nothing,
)
from .escalation import two_directions
from .labels import (
    Point,
    at_right,
    left_out,
    name_apart,
    name_of,
    name_rows,
    names_of,
    outermost_in_words,
    partial_below,
)
from .style import is_narrow, listed, span_of, trials_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LOOKS = {
    "models": ("#0072B2", "o"),
    "own agents": ("#D55E00", "X"),
    "played": ("#009E73", "P"),
    "scripted": ("#8A8A8A", "s"),
    "published": ("#CC79A7", "^"),
    "imported": ("#56B4E9", "v"),
    "set apart": ("#E69F00", "D"),
    "partial": ("#222222", "d"),
}
"""Colour and mark of each block of a board."""
NO_TRAPS = "no trap run"
NOTHING_KNOWN = "No trap was run, so nothing is known about unsafe actions."
NO_COST = "No cost is known (`deskbench score FILE --costs` computes it by data/prices.yaml): "
BANDS_DRAWN = (("safe", "#E2F0E9"), ("middling", "#FBF3DC"), ("reckless", "#F9E4D8"))
BAND_COLORS = {"safe": "#9FCDB8", "middling": "#F0D58A", "reckless": "#E09A76"}
BANDS_IN_WORDS = ", ".join(f"{counts} {band}" for band, counts in BAND_COUNTS.items())


@figure
def value_picture(*, board: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw unsafe actions against the cost of 1,000 conversations, with bands for 18 traps.

    `board` is the result of `tables.leaderboard` or `tables.tier_table`. Published models have no mean and no
    interval.
    """
    known = board.dropna(subset=["unsafe"])
    ax = axes_for(ax, of_usual_traps(known, "unsafe_n")[0], width)
    if known.empty:
        return nothing(ax, NOTHING_KNOWN)
    left_out(ax, board, known, NO_TRAPS)
    board, traps = on_all_traps(ax, known, "unsafe_n")
    tiers = [t for t in tier_order() if t in set(board["cost_tier"])]
    if {*tiers} <= {NO_MODEL, PLAYED, UNKNOWN}:
        return nothing(ax, f"{NO_COST}{listed(names_of(ax, board['entry']))}.")
    bands = _bands(traps)
    for low, high, name, shade in bands:
        ax.axhspan(low, high, color=shade, zorder=0, linewidth=0)
        at_right(ax, (low + high) / 2, name, color=GREY)
    points = list[Point]()
    for tier, rows in board.sort_values(["unsafe", "entry"]).groupby("cost_tier"):
        for place, (name, row) in enumerate(zip(marked_names(ax, rows), rows.itertuples(), strict=True)):
            x = tiers.index(tier) - 0.36 + 0.72 * (place + 0.5) / len(rows)
            _unsafe_mark(ax, x, row, traps)
            points.append(Point(x, row.unsafe, name, row))
    ax.set(ylim=(-0.5, traps + 0.5), xlim=(-0.5, len(tiers) - 0.5))
    words = [fill(tier_in_words(t), 8 if is_narrow(ax) else 20) for t in tiers]
    ax.set_xticks(range(len(tiers)), words, fontsize=SMALL)
    ax.grid(axis="x", visible=False)
    ax.locator_params(axis="y", integer=True)
    here = [point.name for point in points if point.row.block != "published"]
    published = len(here) < len(points)
    name_apart(ax, points, crowded=True, first=here)
    return describe(
        ax,
        "value_picture",
        rows=len(board),
        handles=block_marks(ax, board["block"]),
        traps=traps,
        published=published,
        source=BOARD_SOURCE,
        trials=trials_in_words(board),
        outermost=outermost_in_words(len(points), "those run here and " if published else ""),
        bands=BANDS_IN_WORDS if bands else "",
        idle=no_merit(board),
    )


def _unsafe_mark(ax: Axes, x: float, row: Any, traps: int) -> None:
    color, sign = LOOKS[row.block]
    look: dict[str, Any] = dict(color=color, markersize=5, linestyle="none", zorder=3)
    others = list[Any]()
    if row.unsafe_low == row.unsafe_low:
        others.append(ax.vlines(x, row.unsafe_low, row.unsafe_high, color=color, linewidth=1, zorder=3))
        others += ax.plot(x, row.unsafe_mean, marker="_", **look | {"markersize": 8})
    (median,) = ax.plot(x, row.unsafe, marker=sign, **look)
    if row.unsafe_worst > row.unsafe:
        others += ax.plot(x, row.unsafe_worst, marker=".", **look)
    leads(ax, row, *others)
    leads(ax, row, median, tip=_unsafe_tip(row._asdict(), traps), to={})


def _unsafe_tip(row: dict[str, Any], traps: int) -> str:
    count = f"{row['entry']}: {row['unsafe']:g} of {traps} unsafe"
    if row["block"] == "published":
        return f"{count} (as published); no interval published; cost tier as published: {row['cost_tier']}"
    ends = [row[f"unsafe_{end}"] for end in ("mean", "low", "high")]
    interval = f"mean {METRICS['unsafe'].scale.with_interval(*ends)}, 95% for these traps"
    cost = cost_of_1000(row) if "cost_usd_mean" in row else tier_in_words(row["cost_tier"])
    mean = interval if ends[1] == ends[1] else "no interval"
    parts = [f"{count} (median over trials)", mean, worst_beside(row), f"USD for 1,000 conversations: {cost}"]
    return "; ".join(filter(None, parts))


def block_marks(ax: Axes, blocks: pd.Series, shown: str = "median over trials") -> list[Any]:
    """Return the legend of the blocks of a board."""
    return [
        mark(ax, f"{b}: {'one number' if b == 'published' else shown}", color=color, marker=sign, markersize=5)
        for b, (color, sign) in LOOKS.items()
        if b in set(blocks)
    ]


def trials_in_words(table: pd.DataFrame) -> str:
    """Return ``Trials per case: 3.`` or ``1 to 3``; empty for a table without trials."""
    known = table["trials"].dropna() if "trials" in table else ()
    return f"Trials per case: {span_of(known)}." if len(known) else ""


@figure
def escalation_both_ways(*, board: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the models of a board in both directions of `two_directions`."""
    return two_directions(table=both_directions(board), ax=ax, width=width)


@figure
def unsafe_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw unsafe actions by model with intervals: these traps (thick), traps like these (thin).

    `table` is the result of `tables.unsafe_table` or `tables.safety_table`.
    """
    known = partial_below(table.dropna(subset=["these_mean"]).sort_values("these_mean", ascending=False))
    ax = axes_for(ax, of_usual_traps(known, "traps")[0], width, 1.3 + ROW * max(len(known), 3))
    if known.empty:
        return nothing(ax, NOTHING_KNOWN)
    left_out(ax, table, known, NO_TRAPS)
    shown, traps = on_all_traps(ax, known, "traps")
    for y, row in enumerate(shown.itertuples()):
        ends = [row.low * traps / BAND_TRAPS, row.high * traps / BAND_TRAPS]
        ax.plot(ends, [y, y], color="#5F8FB0", linewidth=1.5, zorder=2)
        ax.plot([row.these_low, row.these_high], [y, y], color="#0072B2", linewidth=4, solid_capstyle="butt", zorder=3)
        ax.plot(row.observed, y, marker="o", color="#D55E00", markersize=5, zorder=4)
        ax.plot(row.worst, y, marker="|", color="#222222", markersize=9, markeredgewidth=1.4, zorder=5)
    name_rows(ax, marked_names(ax, shown))
    ax.set(xlim=(-0.3, traps + 0.3))
    bands = [
        ax.axvspan(low, high, color=shade, zorder=0, linewidth=0, label=f"{name} ({BAND_COUNTS[name]})")
        for low, high, name, shade in _bands(traps)
    ]
    ax.locator_params(axis="x", integer=True)
    more = dict(idle=no_merit(shown), trials=trials_in_words(shown), bands=BANDS_IN_WORDS if bands else "")
    return describe(ax, "unsafe_intervals", rows=len(shown), handles=bands, traps=traps, **more)


def _bands(traps: int) -> list[tuple[float, float, str, str]]:
    if traps != BAND_TRAPS:
        return []
    edges = pairwise((-0.5, *BAND_CUTS, traps + 0.5))
    return [(*ends, *band) for ends, band in zip(edges, BANDS_DRAWN, strict=True)]


def _idle(table: pd.DataFrame) -> list[bool]:
    return [does_too_little(row) for row in table.to_dict("records")]


def marked_names(ax: Axes, table: pd.DataFrame) -> list[str]:
    """Return the names of rows, with a star for rows that do too little for a band (`no_merit`)."""
    return [name + "*" * star for name, star in zip(names_of(ax, table["entry"]), _idle(table), strict=True)]


def no_merit(table: pd.DataFrame) -> str:
    """Return the sentence on rows with a star; empty without one."""
    return NO_MERIT if any(_idle(table)) else ""


def on_all_traps(ax: Axes, table: pd.DataFrame, count: str) -> tuple[pd.DataFrame, int]:
    """Return the rows with the usual number of traps, and that number; note the other rows."""
    shown, traps, others = of_usual_traps(table, count)
    if others:
        note_below(ax, f"Not drawn: {listed(others)}")
    return shown, traps


@figure
def metric_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw a metric by model: mean with 95% interval, trials as strokes, median as a ring.

    `table` is the result of `tables.metric_table` for one panel and one metric.
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
            ax.plot(ends, [y, y], color="#0072B2", linewidth=2.2, alpha=0.45, solid_capstyle="butt")
        trials = [scale * v for v in row.per_trial]
        ax.plot(trials, [y] * len(trials), marker="|", markersize=7, color="#D55E00", markeredgewidth=1, **bare)
        ax.plot(scale * row.mean, y, marker="o", markersize=4.5, color="#0072B2", **bare)
        ax.plot(scale * row.median, y, **ring)
        at_right(ax, y, rounded(scale * row.mean, metric.scale.digits))
    name_rows(ax, names_of(ax, shown["entry"]))
    if metric.scale.top:
        ax.set_xlim(-0.03 * metric.scale.top, 1.03 * metric.scale.top)
    about = dict(label=metric.axis_label, banded=metric.banded, share=bool(metric.scale.bounds))
    counts = dict(cases=span_of(shown["cases"]), trials=trials_of(shown["trials"]))
    return describe(ax, "metric_intervals", rows=len(shown), **about, **counts)


@figure
def band_chances(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the probability of each band of unsafe actions; a band needs 0.8 to be determined.

    `table` is the result of `tables.leaderboard` or `tables.unsafe_table`.
    """
    shown = partial_below(table.dropna(subset=["p_safe"]).sort_values(["p_safe", "p_middling", "entry"]))
    ax = axes_for(ax, table, width, 1.2 + ROW * max(len(shown), 3))
    if shown.empty:
        no_bands = f"No model here was scored on a set of {BAND_TRAPS} traps, so there are no bands."
        return nothing(ax, why_nothing(table) if "reason" in table else no_bands)
    without = [name_of(ax, m) for m in table.loc[table["p_safe"].isna(), "entry"]]
    if without:
        note_below(ax, f"Not run on {BAND_TRAPS} traps, so without bands: {listed(without)}")
    names, idle = names_of(ax, shown["entry"]), _idle(shown)
    if all(idle):
        enough = percent(RESOLVES_ENOUGH)
        return nothing(ax, f"No bands to weigh: {listed(names)} resolve under {enough} of the resolvable cases.")
    shares = {band: shown[f"p_{band}"].astype(float).mask(idle, 0.0) for band in BAND_COLORS}
    parts = {f"{band} ({BAND_COUNTS[band]})": list(values) for band, values in shares.items()}
    words = [[rounded(p, 2) for p in values] for values in parts.values()]
    bars = stacked_bars(ax, parts, BAND_COLORS.values(), words)
    for y, (band, alone) in enumerate(zip(shown["band"], idle, strict=True)):
        at_right(ax, y, "none*" if alone else "no band" if band in ("", "none") else band)
    name_rows(ax, names)
    ax.set(xlim=(0, 1))
    more = dict(traps=BAND_TRAPS, trials=trials_in_words(shown), idle=no_merit(shown))
    return describe(ax, "band_chances", rows=len(shown), handles=bars, **more)
