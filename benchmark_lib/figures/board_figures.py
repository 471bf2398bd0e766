"""Figures of the board."""

from __future__ import annotations

from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.estimators.estimate import usual
from ..analysis.estimators.intervals import proportion_interval
from ..analysis.estimators.unsafe import BAND_COUNTS, BAND_CUTS, BAND_TRAPS
from ..analysis.query import NO, YES
from ..analysis.tables.costs import (
    NO_MODEL,
    PLAYED,
    UNKNOWN,
    cost_of_1000,
    tier_in_words,
    tier_order,
)
from ..analysis.tables.headlines import metric_of
from ..analysis.tables.leaderboard import NO_MERIT, RESOLVES_ENOUGH, does_too_little, of_usual_traps, worst_beside
from ..analysis.tables.measurements import BOARD_SOURCE
from ..analysis.tables.safety import DIRECTIONS, both_directions
from ..scoring.metrics import METRICS
from ..scoring.written import counted, percent, rounded, span, visible, words
from . import canvas, labels
from .canvas import GREY, ROW, SMALL, STROKE, axes_for, describe, figure, interval, leads, nothing
from .labels import at_right, left_out, name_of, name_rows, names_of, partial_below
from .style import figure_notes, is_narrow, listed, span_of, trials_of

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
NOTHING_KNOWN = "No trap was run, so nothing is known about unsafe actions."
NO_COST = "No cost is known (add the price to data/prices.yaml): "
FREE = "Free of charge: "
BANDS_DRAWN = (("safe", "#E2F0E9"), ("middling", "#FBF3DC"), ("reckless", "#F9E4D8"))
BAND_COLORS = {"safe": "#9FCDB8", "middling": "#F0D58A", "reckless": "#E09A76"}
BANDS_IN_WORDS = ", ".join(f"{counts} {band}" for band, counts in BAND_COUNTS.items())
MISSED, OVER = "#C44E00", "#0072B2"
TIPS = {"missed": "of the cases for a human were not handed over", "over": "of the resolvable cases were handed over"}
WHICH = {
    name: {"bucket": METRICS[key].bucket, METRICS[key].column: flag}
    for (name, key), flag in zip(DIRECTIONS.items(), (NO, YES), strict=True)
}
"""Query fields of the conversations that each bar counts."""
NEITHER = "No case that needs a human or can be resolved was run and scored."


@figure
def value_picture(*, board: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw unsafe actions against the cost of 1,000 conversations, with bands for 18 traps.

    `board` is from `tables.leaderboard`. Published models have neither mean nor interval.
    """
    known = board.dropna(subset=["unsafe"])
    ax = axes_for(ax, of_usual_traps(known, "unsafe_n")[0], width)
    if known.empty:
        return nothing(ax, NOTHING_KNOWN)
    board, traps = on_all_traps(ax, board, known, "unsafe_n")
    tiers = [t for t in tier_order() if t in set(board["cost_tier"])]
    if {*tiers} <= {NO_MODEL, PLAYED, UNKNOWN}:
        return nothing(ax, f"{NO_COST if UNKNOWN in tiers else FREE}{listed(names_of(ax, board['entry']))}.")
    bands = _bands(traps)
    for low, high, name, shade in bands:
        ax.axhspan(low, high, color=shade, zorder=0, linewidth=0)
        at_right(ax, (low + high) / 2, name, color=GREY)
    points = list[labels.Point]()
    for tier, rows in board.sort_values(["unsafe", "entry"]).groupby("cost_tier"):
        for place, (name, row) in enumerate(zip(marked_names(ax, rows), rows.itertuples(), strict=True)):
            x = tiers.index(tier) - 0.36 + 0.72 * (place + 0.5) / len(rows)
            _unsafe_mark(ax, x, row, traps)
            points.append(labels.Point(x, row.unsafe, name, row))
    ax.set(ylim=(-0.5, traps + 0.5), xlim=(-0.5, len(tiers) - 0.5))
    titles = [fill(tier_in_words(t), 8 if is_narrow(ax) else 20) for t in tiers]
    ax.set_xticks(range(len(tiers)), titles, fontsize=SMALL)
    ax.grid(axis="x", visible=False)
    ax.locator_params(axis="y", integer=True)
    here = [point.name for point in points if point.row.block != "published"]
    published = len(here) < len(points)
    labels.name_apart(ax, points, crowded=True, first=here)
    return describe(
        ax,
        "value_picture",
        rows=len(board),
        handles=block_marks(ax, board["block"]),
        traps=traps,
        published=published,
        source=BOARD_SOURCE,
        trials=trials_in_words(board),
        outermost=labels.outermost_in_words(len(points), "those run here and " if published else ""),
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
    mean = interval if ends[1] == ends[1] else "no interval"
    parts = [
        f"{count} (median over trials)",
        mean,
        worst_beside(row),
        f"USD for 1,000 conversations: {cost_of_1000(row)}",
    ]
    return "; ".join(filter(None, parts))


def block_marks(ax: Axes, blocks: pd.Series, shown: str = "median over trials") -> list[Any]:
    """Return the legend entries of a board's blocks."""
    return [
        canvas.mark(ax, f"{b}: {'one number' if b == 'published' else shown}", color=color, marker=sign, markersize=5)
        for b, (color, sign) in LOOKS.items()
        if b in set(blocks)
    ]


def trials_in_words(table: pd.DataFrame) -> str:
    """Return ``Trials per case: 3.`` or ``1 to 3``; empty for a table without trials."""
    known = table["trials"].dropna() if "trials" in table else ()
    return f"Trials per case: {span_of(known)}." if len(known) else ""


@figure
def escalation_both_ways(*, board: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the misses and over-escalation of `tables.leaderboard`, as `two_directions` does."""
    return two_directions(table=both_directions(board), ax=ax, width=width)


@figure
def unsafe_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw unsafe actions by model with intervals: these traps (thick), traps like these (thin).

    `table` is the result of `tables.unsafe_table` or `tables.safety_table`.
    """
    known = table.dropna(subset=["these_mean"]).sort_values("these_mean", kind="stable")
    known = partial_below(known[::-1])
    ax = axes_for(ax, of_usual_traps(known, "traps")[0], width, 1.3 + ROW * max(len(known), 3))
    if known.empty:
        return nothing(ax, NOTHING_KNOWN)
    shown, traps = on_all_traps(ax, table, known, "traps")
    share = traps / BAND_TRAPS  # the interval for traps like these assumes as many traps as the bands
    for y, row in enumerate(shown.itertuples()):
        interval(ax, y, share * row.low, share * row.high, color="#5F8FB0", wide=1.5, zorder=2)
        interval(ax, y, row.these_low, row.these_high, color="#0072B2", wide=4, zorder=3)
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
    """Return names, with a star for rows that do too little for a band."""
    return [name + "*" * star for name, star in zip(names_of(ax, table["entry"]), _idle(table), strict=True)]


def no_merit(table: pd.DataFrame) -> str:
    """Return the sentence that explains starred rows; empty if there are none."""
    return NO_MERIT if any(_idle(table)) else ""


def on_all_traps(ax: Axes, table: pd.DataFrame, known: pd.DataFrame, count: str) -> tuple[pd.DataFrame, int]:
    """Return the rows with the usual number of traps, and that number; note the others."""
    left_out(ax, table, known, "no trap run")
    shown, traps, others = of_usual_traps(known, count)
    if others:
        canvas.note_below(ax, f"Not drawn: {listed(others)}")
    return shown, traps


@figure
def metric_intervals(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw a metric by model: mean with 95% interval, trials as strokes, median as a ring.

    `table` is the result of `tables.metric_table` for one panel and one metric.
    """
    shown = partial_below(table.dropna(subset=["mean"]).iloc[::-1])
    ax = axes_for(ax, table, width, 1.3 + ROW * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, canvas.why_nothing(table))
    left_out(ax, table, shown, "no value")
    metric = metric_of(shown["metric"].iloc[0])
    scale, bare = metric.scale.times, dict[str, Any](linestyle="none")
    ring = bare | dict(marker="o", markersize=8, markerfacecolor="none", markeredgecolor="#222222", markeredgewidth=0.7)
    for y, row in enumerate(shown.itertuples()):
        interval(ax, y, scale * row.low, scale * row.high, color="#0072B2", wide=2.2, alpha=0.45)
        trials = [scale * v for v in row.per_trial]
        ax.plot(trials, [y] * len(trials), marker="|", markersize=7, color="#D55E00", markeredgewidth=1, **bare)
        ax.plot(scale * row.mean, y, marker="o", markersize=4.5, color="#0072B2", **bare)
        ax.plot(scale * row.median, y, **ring)
        at_right(ax, y, rounded(scale * row.mean, metric.scale.digits))
    name_rows(ax, names_of(ax, shown["entry"]))
    if metric.scale.top:
        ax.set_xlim(-0.03 * metric.scale.top, 1.03 * metric.scale.top)
    about = dict(label=metric.axis_label, banded=metric.banded, share=bool(metric.scale.bounds))
    about |= dict(cases=span_of(shown["cases"]), trials=trials_of(shown["trials"]))
    return describe(ax, "metric_intervals", rows=len(shown), **about)


@figure
def band_chances(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the probability of each band of unsafe actions; a band needs 0.8 to be determined.

    `table` is the result of `tables.leaderboard` or `tables.unsafe_table`.
    """
    shown = partial_below(table.dropna(subset=["p_safe"]).sort_values(["p_safe", "p_middling", "entry"]))
    ax = axes_for(ax, table, width, 1.2 + ROW * max(len(shown), 3))
    if shown.empty:
        no_bands = f"No model here was scored on {BAND_TRAPS} traps, so there are no bands."
        return nothing(ax, canvas.why_nothing(table) if "reason" in table else no_bands)
    without = [name_of(ax, m) for m in table.loc[table["p_safe"].isna(), "entry"]]
    if without:
        canvas.note_below(ax, f"No bands, because not run on {BAND_TRAPS} traps: {listed(without)}")
    names, idle = names_of(ax, shown["entry"]), _idle(shown)
    if all(idle):
        enough = percent(RESOLVES_ENOUGH)
        return nothing(ax, f"No bands to weigh: {listed(names)} resolve under {enough} of the resolvable cases.")
    shares = {band: shown[f"p_{band}"].astype(float).mask(idle, 0.0) for band in BAND_COLORS}
    parts = {f"{band} ({BAND_COUNTS[band]})": list(values) for band, values in shares.items()}
    words = [[rounded(p, 2) for p in values] for values in parts.values()]
    bars = canvas.stacked_bars(ax, parts, BAND_COLORS.values(), words)
    for y, (band, alone) in enumerate(zip(shown["band"], idle, strict=True)):
        at_right(ax, y, "none*" if alone else "no band" if band in ("", "none") else band)
    name_rows(ax, names)
    ax.set(xlim=(0, 1))
    more = dict(traps=BAND_TRAPS, trials=trials_in_words(shown), idle=no_merit(shown))
    return describe(ax, "band_chances", rows=len(shown), handles=bars, **more)


@figure
def two_directions(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw misses (left) and over-escalation (right) by model, from `tables.escalation_table`."""
    if "panel" in table:  # a published rate has no mean
        public = table["panel"] == "published"
        table = table.assign(**{f"{name}_mean": table[f"{name}_mean"].mask(public, table[name]) for name in TIPS})
    known = table.dropna(subset=["missed_mean", "over_mean"], how="all")
    wrong = known[["missed_mean", "over_mean"]].astype(float).sum(axis=1).to_numpy()
    shown = partial_below(known.iloc[wrong.argsort(kind="stable")[::-1]])
    ax = axes_for(ax, table, width, 1.3 + ROW * (1.3 if width == "column" else 1) * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, NEITHER)
    left_out(ax, table, shown, "only traps run")
    for y, row in enumerate(shown.itertuples()):
        _direction(ax, y, "missed", row)
        _direction(ax, y, "over", row)
    counts = list(shown[["missed_cases", "over_cases"]].astype(int).itertuples(index=False, name=None))
    ends = shown[["missed_high", "over_high", "missed_mean", "over_mean", "missed", "over"]].astype(float)
    _centre(ax, labels.with_counts(ax, shown["entry"], counts), 100 * float(np.nanmax(ends)), shown)
    missed, over = (usual(n) for n in zip(*counts, strict=True))
    sides = [f"left: % of {missed} must-escalate cases"] * bool(missed)
    sides += [f"right: % of {over} resolvable cases"] * bool(over)
    about = dict(sides=("\n" if is_narrow(ax) else "  |  ").join(sides) or "% of cases", missed=missed, over=over)
    measured = bool((shown["missed_low"].notna() | shown["over_low"].notna()).any())
    return describe(ax, "two_directions", rows=len(shown), measured=measured, **about)


def _direction(ax: Axes, y: int, name: str, row: Any) -> None:
    sign, side, color = (-1, "right", MISSED) if name == "missed" else (1, "left", OVER)
    mean, low, high, median, cases = (getattr(row, f"{name}{end}") for end in ("_mean", "_low", "_high", "", "_cases"))
    text: dict[str, Any] = dict(ha=side, va="center", fontsize=SMALL)
    if mean != mean:
        leads(ax, row, ax.text(sign * 3, y, "not run", color="#888888", **text))
        return
    bars, others = ax.barh(y, sign * 100 * mean, color=color, height=0.6, alpha=0.85), list[Any]()
    tip = f"{row.entry}: {percent(mean)} {TIPS[name]} (as published)"
    if low == low:
        others += interval(ax, y, sign * 100 * low, sign * 100 * high, color=STROKE, wide=0.9)
        look: dict[str, Any] = dict(color="white", markeredgecolor=STROKE, markeredgewidth=0.7)
        others += ax.plot(sign * 100 * median, y, marker="o", markersize=3, **look)
        ends = f"{span(100 * low, 100 * high)}, {counted(cases, 'case')}"
        tip = f"{row.entry}: {percent(mean)} {TIPS[name]} ({ends}); median over trials {percent(median)}"
    leads(ax, row, *bars, tip=tip, to=WHICH[name] if mean else None)
    far = max(100 * v for v in (high, mean, median) if v == v)
    text |= dict(xytext=(sign * 4, 0), textcoords="offset points", annotation_clip=False)
    leads(ax, row, *others, ax.annotate(rounded(100 * mean, 0), (sign * far, y), **text))


@figure
def directions_by_intent(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw both directions by intent, from `tables.intent_table` for both buckets."""
    known = table.dropna(subset=["wrong"])
    parts = [(-1, MISSED, known[known["bucket"] == "must_escalate"]), (1, OVER, known[known["bucket"] == "resolvable"])]
    names = [i for _, _, part in reversed(parts) for i in part.groupby("intent")["wrong"].mean().sort_values().index]
    ax = axes_for(ax, table, width, 1.3 + canvas.rows_high(max(len(names), 4)))
    if not names:
        return nothing(ax, NEITHER)
    left_out(ax, table, known, "no such case run")
    models = known.groupby(["bucket", "intent"])["entry"].nunique()
    several = bool(models.max() > 1)
    for sign, color, part in parts:
        for intent, rows in part.groupby("intent"):
            _intent(ax, names.index(intent), sign, color, rows, several)
    reach = max(float(np.abs(np.asarray(line.get_xdata(), dtype=float)).max()) for line in ax.lines)
    _centre(ax, list(map(words, names)), reach)
    whose = f"mean of {span_of(models)} {figure_notes(ax).noun}s" if several else name_of(ax, known["entry"].iloc[0])
    many = span_of(known["conversations"])
    return describe(ax, "directions_by_intent", rows=len(names), several=several, whose=whose, conversations=many)


def _intent(ax: Axes, y: int, sign: int, color: str, rows: pd.DataFrame, several: bool) -> None:
    mean, only = 100 * rows["wrong"].mean(), rows.iloc[0]
    ax.barh(y, sign * mean, color=color, height=0.62, alpha=0.85)
    if several:
        look: dict[str, Any] = dict(marker="|", linestyle="none", markersize=6, color="#444444", alpha=0.5)
        ax.plot(sign * 100 * rows["wrong"], np.full(len(rows), y), **look)
        at_right(ax, y, rounded(mean, 0))
    else:
        wrong = only["handed_over"] if sign > 0 else only["conversations"] - only["handed_over"]
        rate = proportion_interval(int(wrong), int(only["conversations"]))
        interval(ax, y, sign * 100 * rate.low, sign * 100 * rate.high, color=STROKE, wide=0.9)
        at_right(ax, y, f"{wrong} of {only['conversations']}")


def _centre(ax: Axes, names: list[str], reach: float, rows: pd.DataFrame | None = None) -> None:
    far = min(100, 10 * (reach // 10 + 1)) * (1.55 if is_narrow(ax) else 1.25)
    ax.axvline(0, color="#222222", linewidth=1)
    name_rows(ax, names, rows=rows)
    ax.set_xlim(-far, far)
    ax.locator_params(axis="x", nbins=5 if is_narrow(ax) else 9)
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):.0f}" if abs(x) <= 100 else "")


@figure
def queue_matrix(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the queues in `tables.queue_table` by intent, orange where cases do not accept them."""
    ax = axes_for(ax, table, width, 1.2 + 0.42 * max(table["intent"].nunique() if len(table) else 0, 3))
    if table.empty:
        return nothing(ax, "Nothing was handed over to a queue.")
    sums = table.groupby(["intent", "queue"])[["accepted", "conversations"]].sum()
    intents, queues = sorted(table["intent"].unique(), reverse=True), sorted(table["queue"].unique())
    totals = table.groupby("intent")["conversations"].sum()
    between = "\nof " if is_narrow(ax) else " of "
    for (intent, queue), cell in sums.iterrows():
        x, y, share = queues.index(queue), intents.index(intent), cell["conversations"] / totals[intent]
        color = OVER if 2 * cell["accepted"] >= cell["conversations"] else MISSED
        ax.scatter(x, y, s=90 + 380 * share, color=color, alpha=0.35, linewidth=0)
        counts = f"{cell['accepted']}{between}{cell['conversations']}"
        ax.text(x, y, counts, ha="center", va="center", fontsize=SMALL, linespacing=0.95)
    name_rows(ax, list(map(words, intents)))
    ax.set_xticks(range(len(queues)), list(map(visible, queues)), fontsize=SMALL, rotation=90 if is_narrow(ax) else 0)
    ax.set_xlim(-0.6, len(queues) - 0.4)
    return describe(ax, "queue_matrix", rows=len(sums), handovers=int(totals.sum()))
