"""Draw the board: safety against cost, escalation both ways, unsafe actions with their intervals."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

from ..analysis.estimators.unsafe import BAND_COUNTS, BAND_CUTS, BAND_TRAPS
from ..analysis.tables.costs import NO_MODEL, PLAYED, UNKNOWN, cost_of_1000, tier_in_words, tier_order
from ..analysis.tables.escalation import both_directions
from ..analysis.tables.leaderboard import NO_MERIT, does_too_little, of_usual_traps, worst_beside
from ..analysis.tables.published import BOARD_SOURCE
from ..scoring.metrics import METRICS
from .canvas import GREY, ROW, SMALL, axes_for, describe, figure, is_narrow, leads, mark, note_below, nothing
from .captions import listed, span_of
from .escalation import two_directions
from .labels import at_right, left_out, name_apart, name_rows, names_of, outermost_in_words, partial_below
from .style import plain

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
NO_COST = "No cost is known (`deskbench score FILE --costs` computes it by data/prices.yaml): "
BANDS_DRAWN = (("safe", "#E2F0E9"), ("middling", "#FBF3DC"), ("reckless", "#F9E4D8"))


@figure
def value_picture(*, board: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw unsafe actions by what 1,000 conversations cost; the bands are shaded where there are 18 traps.

    `board` is as `tables.leaderboard` or `tables.tier_table` gives it; published models have neither mean nor interval.
    """
    known = board.dropna(subset=["unsafe"])
    ax = axes_for(ax, of_usual_traps(known, "unsafe_n")[0], width)
    if known.empty:
        return nothing(ax, "No trap was run, so nothing is known about unsafe actions.")
    left_out(ax, board, known, NO_TRAPS)
    board, traps = on_all_traps(ax, known, "unsafe_n")
    tiers = [t for t in tier_order() if t in set(board["cost_tier"])]
    if {*tiers} <= {NO_MODEL, PLAYED, UNKNOWN}:
        return nothing(ax, f"{NO_COST}{plain(listed(names_of(ax, list(board['entry']))))}.")
    bands = _bands(traps)
    for low, high, name, shade in bands:
        ax.axhspan(low, high, color=shade, zorder=0, linewidth=0)
        at_right(ax, (low + high) / 2, name, color=GREY)
    points, here = [], list[str]()
    for tier, rows in board.sort_values(["unsafe", "entry"]).groupby("cost_tier"):
        for place, (name, row) in enumerate(zip(marked_names(ax, rows), rows.itertuples(), strict=True)):
            x = tiers.index(tier) - 0.36 + 0.72 * (place + 0.5) / len(rows)
            _unsafe_mark(ax, x, row, traps)
            points.append((x, row.unsafe, name))
            here += [name] * (row.block != "published")
    ax.set(ylim=(-0.5, traps + 0.5), xlim=(-0.5, len(tiers) - 0.5))
    ax.set_xticks(
        range(len(tiers)), [fill(tier_in_words(t), 8 if is_narrow(ax) else 20) for t in tiers], fontsize=SMALL
    )
    ax.grid(axis="x", visible=False)
    ax.locator_params(axis="y", integer=True)
    name_apart(ax, points, crowded=True, always=here)
    published = len(here) < len(points)
    describe(
        ax,
        "value_picture",
        rows=len(board),
        handles=block_marks(ax, board["block"]),
        traps=traps,
        published=published,
        source=BOARD_SOURCE,
        trials=trials_in_words(board),
        outermost=outermost_in_words(len(points), "those run here and " if published else ""),
        bands=bands_in_words() if bands else "",
        idle=no_merit(board),
    )
    return ax


def _unsafe_mark(ax: Axes, x: float, row: Any, traps: int) -> None:
    """Draw the median of one model, which leads to its page, its mean with the interval, and its worst trial."""
    color, sign = LOOKS[row.block]
    if row.unsafe_low == row.unsafe_low:
        ax.vlines(x, row.unsafe_low, row.unsafe_high, color=color, linewidth=1, zorder=3)
        ax.plot(x, row.unsafe_mean, color=color, marker="_", markersize=8, linestyle="none", zorder=3)
    (median,) = ax.plot(x, row.unsafe, color=color, marker=sign, markersize=5, linestyle="none", zorder=3)
    if row.unsafe_worst > row.unsafe:
        ax.plot(x, row.unsafe_worst, color=color, marker=".", markersize=5, linestyle="none", zorder=3)
    told, scale = row._asdict(), METRICS["unsafe"].scale
    ends = [told[f"unsafe_{end}"] for end in ("mean", "low", "high")]
    mean = f"mean {scale.with_interval(*ends)}, 95 % for these traps" if ends[1] == ends[1] else "no interval"
    cost = cost_of_1000(told) if "cost_usd_mean" in told else tier_in_words(row.cost_tier)
    parts = [f"{row.entry}: {row.unsafe:g} of {traps} unsafe (median over trials)", mean, worst_beside(told)]
    leads(ax, median, row, "; ".join(filter(None, [*parts, f"USD for 1,000 conversations: {cost}"])))


def block_marks(ax: Axes, blocks: pd.Series, shown: str = "median over trials") -> list[Any]:
    """Return the legend of the blocks of a board."""
    return [
        mark(ax, f"{b}: {'one number' if b == 'published' else shown}", color=color, marker=sign, markersize=5)
        for b, (color, sign) in LOOKS.items()
        if b in set(blocks)
    ]


def trials_in_words(table: pd.DataFrame) -> str:
    """Return ``Trials per case: 3.``, or ``1 to 3``; empty where the table has none."""
    known = table["trials"].dropna() if "trials" in table else ()
    return f"Trials per case: {span_of(known)}." if len(known) else ""


@figure
def escalation_both_ways(*, board: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the models of a board in both directions, as `two_directions` draws them."""
    return two_directions(table=both_directions(board), ax=ax, width=width)


@figure
def unsafe_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw unsafe actions by model with both intervals: on these traps (thick), on traps like these (thin).

    `table` is as `tables.unsafe_table` or `tables.safety_table` gives it.
    """
    known = partial_below(table.dropna(subset=["these_mean"]).sort_values("these_mean", ascending=False))
    ax = axes_for(ax, of_usual_traps(known, "traps")[0], width, 1.3 + ROW * max(len(known), 3))
    if known.empty:
        return nothing(ax, "No trap was run, so nothing is known about unsafe actions.")
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
    more = dict(idle=no_merit(shown), trials=trials_in_words(shown), bands=bands_in_words() if bands else "")
    describe(ax, "unsafe_intervals", rows=len(shown), handles=bands, traps=traps, **more)
    return ax


def _bands(traps: int) -> list[tuple[float, float, str, str]]:
    """Return where each band begins and ends, its name and its shade; none for another number of traps than 18."""
    edges = (-0.5, *BAND_CUTS, traps + 0.5)
    found = [(low, high, *band) for low, high, band in zip(edges, edges[1:], BANDS_DRAWN, strict=False)]
    return found if traps == BAND_TRAPS else []


def bands_in_words() -> str:
    """Return ``0–2 safe, 3–5 middling, 6 or more reckless``."""
    return ", ".join(f"{counts} {band}" for band, counts in BAND_COUNTS.items())


def marked_names(ax: Axes, table: pd.DataFrame) -> list[str]:
    """Return the names of rows; those that do too little for a band have a star, which `no_merit` explains."""
    idle = map(does_too_little, table.to_dict("records"))
    return [name + "*" * star for name, star in zip(names_of(ax, list(table["entry"])), idle, strict=True)]


def no_merit(table: pd.DataFrame) -> str:
    """Return the sentence on the rows with a star; empty where there is none."""
    return NO_MERIT if any(map(does_too_little, table.to_dict("records"))) else ""


def on_all_traps(ax: Axes, table: pd.DataFrame, count: str) -> tuple[pd.DataFrame, int]:
    """Return the rows of the usual number of traps, and that number.

    The others are named below the figure, since their counts are not comparable.
    """
    shown, traps, others = of_usual_traps(table, count)
    if others:
        note_below(ax, f"Not drawn: {plain(listed(others))}")
    return shown, traps
