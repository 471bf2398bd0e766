"""The board as pictures: safety against cost, escalation both ways, verbosity against resolution."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLORS = {"ranked": "#0072B2", "not ranked": "#E69F00", "scripted": "#8A8A8A", "published": "#CC79A7", "imported": "#56B4E9"}
MARKS = {"ranked": "o", "not ranked": "D", "scripted": "s", "published": "^", "imported": "v"}
TIERS = ("none (scripted)", "$", "$$", "$$$", "$$$$", "price unknown")
BAND_CUTS = (2.5, 5.5)


def value_picture(*, board: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Unsafe actions by cost tier; the bands of 0-2, 3-5 and 6 or more are shaded.

    Parameters
    ----------
    board : DataFrame
        As `analysis.leaderboard` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = _axes(ax)
    if board["unsafe"].isna().all():
        return _nothing(ax, "No trap was run, so nothing is known of unsafe actions.")
    tiers = [t for t in TIERS if t in set(board["cost_tier"])]
    top = max(18.5, float(board["unsafe_high"].max()) if board["unsafe_high"].notna().any() else 18.5)
    for low, high, shade, name in ((-0.5, BAND_CUTS[0], "#E2F0E9", "safe"), (*BAND_CUTS, "#FBF3DC", "middling"), (BAND_CUTS[1], top, "#F9E4D8", "reckless")):
        ax.axhspan(low, high, color=shade, zorder=0)
        ax.text(1.01, (low + high) / 2, name, transform=ax.get_yaxis_transform(), va="center", color="#555555", fontsize=8)
    points = []
    for (tier, unsafe), rows in board.dropna(subset=["unsafe"]).groupby(["cost_tier", "unsafe"]):
        for place, row in enumerate(rows.itertuples()):
            x = tiers.index(tier) - 0.38 + 0.09 * place
            error = [[max(unsafe - row.unsafe_low, 0)], [max(row.unsafe_high - unsafe, 0)]]
            ax.errorbar(x, unsafe, yerr=error, color=COLORS[row.block], marker=MARKS[row.block], markersize=6, linewidth=1, capsize=2, zorder=3)
            points.append((x, unsafe, row.model))
    ax.set(ylim=(-0.5, top), xlim=(-0.5, len(tiers) - 0.2), xlabel="Cost tier (per 1,000 conversations)",
           ylabel="Unsafe actions (median over trials, of 18)", title="Safety against cost")  # fmt: skip
    ax.set_xticks(range(len(tiers)), [plain(t) for t in tiers])
    ax.grid(axis="x", visible=False)
    name_points(ax, points, reach=(0.12, 0.02))
    return ax


def escalation_both_ways(*, board: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Escalation misses to the left (needed a human, kept), over-escalation to the right, around one centre line."""
    ax = _axes(ax)
    shown = board.dropna(subset=["escalation_accuracy", "over_escalation"]).iloc[::-1]
    if shown.empty:
        return _nothing(ax, "Both resolvable and must-escalate cases are needed for this picture.")
    names = [plain(m) for m in shown["model"]]
    missed = 100 * (1 - shown["escalation_accuracy"].astype(float))
    over = 100 * shown["over_escalation"].astype(float)
    ax.barh(names, -missed, color="#D55E00", height=0.62, label="missed: needed a human, not handed over")
    ax.barh(names, over, color="#0072B2", height=0.62, label="over-escalated: solvable, handed over")
    for y, (left, right) in enumerate(zip(missed, over, strict=True)):
        ax.text(-left - 1.5, y, f"{left:.0f} %", ha="right", va="center", fontsize=7.5)
        ax.text(right + 1.5, y, f"{right:.0f} %", ha="left", va="center", fontsize=7.5)
    ax.axvline(0, color="#222222", linewidth=1)
    ax.set(xlim=(-118, 118), xlabel=_over(board, "% of must-escalate cases", "% of resolvable cases"), title="Escalation, both ways")
    ax.set_xticks(range(-100, 101, 50), [f"{abs(x)}" for x in range(-100, 101, 50)])
    ax.grid(axis="y", visible=False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
    return ax


def messages_against_resolution(*, board: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Agent messages a conversation against the share of resolvable cases resolved, with the interval of the mean."""
    ax = _axes(ax)
    for row in board.dropna(subset=["resolved", "agent_messages"]).itertuples():
        mean = 100 * row.resolved_mean
        error = [[max(mean - 100 * row.resolved_low, 0)], [max(100 * row.resolved_high - mean, 0)]]
        ax.errorbar(row.agent_messages, mean, yerr=error, color=COLORS[row.block], marker=MARKS[row.block], markersize=6, linewidth=1, capsize=2)
    ax.set(ylim=(-4, 104), xlabel="Agent messages a conversation (median over trials)", ylabel="Resolved, % of resolvable cases",
           title="Does talking more resolve more?")  # fmt: skip
    shown = board.dropna(subset=["resolved", "agent_messages"])
    name_points(ax, list(zip(shown["agent_messages"], 100 * shown["resolved_mean"], shown["model"], strict=True)))
    return ax


def unsafe_intervals(*, table: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Unsafe actions by model with both intervals: on these traps (thick), on traps like these (thin).

    Parameters
    ----------
    table : DataFrame
        As `analysis.unsafe_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = _axes(ax)
    shown = table.dropna(subset=["these_mean"]).sort_values("these_mean", ascending=False)
    if shown.empty:
        return _nothing(ax, "No trap was run, so nothing is known of unsafe actions.")
    for y, row in enumerate(shown.itertuples()):
        ax.plot([row.low, row.high], [y, y], color="#9DB9CC", linewidth=1.5, zorder=2)
        ax.plot([row.these_low, row.these_high], [y, y], color="#0072B2", linewidth=4, solid_capstyle="butt", zorder=3)
        ax.plot(row.observed, y, marker="o", color="#D55E00", markersize=5, zorder=4)
    for cut in BAND_CUTS:
        ax.axvline(cut, color="#888888", linewidth=0.8, linestyle=":")
    ax.set_yticks(range(len(shown)), [plain(m) for m in shown["model"]])
    ax.set(xlim=(-0.3, 18.3), xlabel="Unsafe actions of 18. Dot: observed mean; thick: 95 % for these traps; thin: 95 % for 18 traps like these",
           title="How unsafe, and how sure")  # fmt: skip
    return ax


def _axes(ax: "Axes | None") -> Any:
    if ax is not None:
        return ax
    from .style import new_axes

    return new_axes()


def _nothing(ax: "Axes", why: str) -> "Axes":
    """A picture that says why there is none."""
    ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center", color="#555555")
    ax.set_axis_off()
    return ax


def _over(board: "pd.DataFrame", left: str, right: str) -> str:
    few = board["escalation_accuracy_n"].max(), board["over_escalation_n"].max()
    return f"{left} (n = {few[0]:.0f})   |   {right} (n = {few[1]:.0f}); median over trials"


def name_points(ax: "Axes", points: list[tuple[float, float, str]], reach: tuple[float, float] = (0.1, 0.05)) -> None:
    """Write the names beside their points; points that nearly fall together share one label.

    Parameters
    ----------
    ax : Axes
        With its limits set.
    points : list of (x, y, name)
        In data units.
    reach : (float, float)
        How near two points are one, as shares of the axes' width and height.
    """
    width, height = (abs(high - low) for low, high in (ax.get_xlim(), ax.get_ylim()))
    groups: list[list[tuple[float, float, str]]] = []
    for point in sorted(points):
        near = next((g for g in groups if abs(g[-1][0] - point[0]) < reach[0] * width and abs(g[0][1] - point[1]) < reach[1] * height), None)
        near.append(point) if near else groups.append([point])
    for group in groups:
        names = plain(textwrap.fill(", ".join(name for *_, name in group), 42))
        right = max(x for x, *_ in group)
        left = right > ax.get_xlim()[0] + 0.7 * width
        x = min(x for x, *_ in group) if left else right
        ax.annotate(names, (x, group[0][1]), xytext=(-7 if left else 7, 4), textcoords="offset points", fontsize=7.5,
                    ha="right" if left else "left", path_effects=halo())  # fmt: skip


def halo() -> list:
    """Path effects that keep a label legible where lines run behind it."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.2, foreground="white")]
