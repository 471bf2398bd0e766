"""The board as figures: safety against cost, escalation both ways, verbosity against resolution."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.estimators.unsafe import BAND_CUTS, BAND_TRAPS
from ..analysis.tables.escalation import both_directions
from ..analysis.tables.leaderboard import of_usual_traps
from ..analysis.tables.tiers import tier_order
from .canvas import axes_for, nothing, say_below
from .escalation import two_directions
from .labels import name_apart, name_together, with_counts
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLORS = {
    "ranked": "#0072B2",
    "not ranked": "#E69F00",
    "played": "#009E73",
    "scripted": "#8A8A8A",
    "published": "#CC79A7",
    "imported": "#56B4E9",
}
MARKS = {"ranked": "o", "not ranked": "D", "played": "P", "scripted": "s", "published": "^", "imported": "v"}


def value_picture(*, board: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Unsafe actions by cost tier, with median and mean drawn separately; the bands are shaded where there are 18 traps.

    Parameters
    ----------
    board : DataFrame
        As `tables.leaderboard` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax)
    if board["unsafe"].isna().all():
        return nothing(ax, "No trap was run, so nothing is known about unsafe actions.")
    board, traps = on_all_traps(ax, board, "unsafe_n")
    tiers = [t for t in tier_order() if t in set(board["cost_tier"])]
    top = traps + 0.5
    bands = (
        (-0.5, BAND_CUTS[0], "#E2F0E9", "safe"),
        (*BAND_CUTS, "#FBF3DC", "middling"),
        (BAND_CUTS[1], top, "#F9E4D8", "reckless"),
    )
    for low, high, shade, name in bands if traps == BAND_TRAPS else ():
        ax.axhspan(low, high, color=shade, zorder=0)
        ax.text(
            1.01, (low + high) / 2, name, transform=ax.get_yaxis_transform(), va="center", color="#555555", fontsize=8
        )
    points = []
    for (tier, unsafe), rows in board.dropna(subset=["unsafe"]).groupby(["cost_tier", "unsafe"]):
        for place, row in enumerate(rows.itertuples()):
            x = tiers.index(tier) - 0.38 + 0.09 * place
            if row.unsafe_low == row.unsafe_low:
                ax.vlines(x, row.unsafe_low, row.unsafe_high, color=COLORS[row.block], linewidth=1, zorder=3)
                ax.plot(
                    x, row.unsafe_mean, color=COLORS[row.block], marker="_", markersize=8, linestyle="none", zorder=3
                )
            ax.plot(
                x, unsafe, color=COLORS[row.block], marker=MARKS[row.block], markersize=6, linestyle="none", zorder=3
            )
            points.append((x, unsafe, row.entry))
    ax.set(
        ylim=(-0.5, top),
        xlim=(-0.5, len(tiers) - 0.2),
        xlabel="Cost tier (per 1,000 conversations)\nMark: median over trials; dash and line: mean, 95 %",
        ylabel=f"Unsafe actions of {traps}",
        title="Safety against cost",
    )
    ax.set_xticks(range(len(tiers)), [plain(t) for t in tiers])
    ax.grid(axis="x", visible=False)
    ax.locator_params(axis="y", integer=True)
    name_together(ax, points, reach=(0.12, 0.02))
    return ax


def escalation_both_ways(*, board: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The models of a board in both directions, drawn as `two_directions` draws them."""
    return two_directions(table=both_directions(board), ax=ax)


def messages_against_resolution(*, board: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Agent messages per conversation against the share of resolvable cases resolved, with the interval of the mean."""
    ax = axes_for(ax)
    for row in board.dropna(subset=["resolved", "agent_messages"]).itertuples():
        mean = 100 * row.resolved_mean
        error = [[max(mean - 100 * row.resolved_low, 0)], [max(100 * row.resolved_high - mean, 0)]]
        ax.errorbar(
            row.agent_messages,
            mean,
            yerr=error,
            color=COLORS[row.block],
            marker=MARKS[row.block],
            markersize=6,
            linewidth=1,
            capsize=2,
        )
    ax.set(
        ylim=(-4, 104),
        xlabel="Agent messages per conversation (median over trials)",
        ylabel="Resolved, % of resolvable cases (mean, 95 %)",
        title="Does talking more resolve more?",
    )
    shown = board.dropna(subset=["resolved", "agent_messages"])
    name_apart(
        ax,
        list(zip(shown["agent_messages"], 100 * shown["resolved_mean"], _with_cases(shown, "resolved"), strict=True)),
    )
    return ax


def unsafe_intervals(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Unsafe actions by model with both intervals: on these traps (thick), on traps like these (thin).

    Parameters
    ----------
    table : DataFrame
        As `tables.unsafe_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax)
    shown = table.dropna(subset=["these_mean"]).sort_values("these_mean", ascending=False)
    if shown.empty:
        return nothing(ax, "No trap was run, so nothing is known about unsafe actions.")
    shown, traps = on_all_traps(ax, shown, "traps")
    for y, row in enumerate(shown.itertuples()):
        ax.plot(
            [row.low * traps / BAND_TRAPS, row.high * traps / BAND_TRAPS],
            [y, y],
            color="#9DB9CC",
            linewidth=1.5,
            zorder=2,
        )
        ax.plot([row.these_low, row.these_high], [y, y], color="#0072B2", linewidth=4, solid_capstyle="butt", zorder=3)
        ax.plot(row.observed, y, marker="o", color="#D55E00", markersize=5, zorder=4)
    for cut in BAND_CUTS if traps == BAND_TRAPS else ():
        ax.axvline(cut, color="#888888", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(shown)), [plain(m) for m in shown["entry"]])
    ax.set(
        xlim=(-0.3, traps + 0.3),
        title="How unsafe, and how certain",
        xlabel=f"Unsafe actions of {traps}. Dot: observed mean; thick: 95 % for these traps; thin: 95 % for {traps} traps like these",
    )
    ax.locator_params(axis="x", integer=True)
    return ax


def on_all_traps(ax: Axes, table: pd.DataFrame, count: str) -> tuple[pd.DataFrame, int]:
    """The rows of the usual number of traps, and that number.

    The others are named below the figure, since their counts are not comparable.
    """
    shown, traps, left_out = of_usual_traps(table, count)
    if left_out:
        say_below(ax, f"Not drawn: {plain(', '.join(left_out))}")
    return shown, traps


def _with_cases(board: pd.DataFrame, *metrics: str) -> list[str]:
    """The models' names; where a model was run on a different number of cases than most, with its number of cases."""
    counts = [tuple(int(row[f"{m}_n"]) for m in metrics) for row in board.to_dict("records")]
    return with_counts([plain(entry) for entry in board["entry"]], counts)
