"""Figures of handovers: both directions by model and by intent, and the queues used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.estimators.estimate import counted, usual
from ..analysis.estimators.intervals import proportion_interval
from ..analysis.query import NO, YES
from ..analysis.tables.escalation import DIRECTIONS
from ..scoring.metrics import METRICS
from ..scoring.written import percent, rounded, span, visible, words
from .canvas import ROW, SMALL, STROKE, axes_for, describe, figure, leads, nothing, rows_high
from .labels import at_right, left_out, name_of, name_rows, partial_below, with_counts
from .style import figure_notes, is_narrow, span_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MISSED, OVER = "#C44E00", "#0072B2"
TIPS = {"missed": "not handed over, of the cases that need a human", "over": "handed over, of the resolvable cases"}
WHICH = {
    name: {"bucket": METRICS[key].bucket, METRICS[key].column: flag}
    for (name, key), flag in zip(DIRECTIONS.items(), (NO, YES), strict=True)
}
"""Query fields of the conversations that each bar counts."""
NEITHER = "No case was run and scored that needs a human or can be resolved."


@figure
def two_directions(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw misses (left) and over-escalation (right): means with intervals, medians as dots.

    `table` is the result of `tables.escalation_table`.
    """
    if "panel" in table:  # a published rate has no mean
        public = table["panel"] == "published"
        table = table.assign(**{f"{name}_mean": table[f"{name}_mean"].mask(public, table[name]) for name in TIPS})
    shown = table.dropna(subset=["missed_mean", "over_mean"], how="all")
    wrong = shown["missed_mean"].fillna(0) + shown["over_mean"].fillna(0)
    shown = partial_below(shown.assign(_wrong=wrong).sort_values("_wrong", ascending=False))
    ax = axes_for(ax, table, width, 1.3 + ROW * (1.3 if width == "column" else 1) * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, NEITHER)
    left_out(ax, table, shown, "only traps run")
    for y, row in enumerate(shown.itertuples()):
        _direction(ax, y, "missed", row)
        _direction(ax, y, "over", row)
    counts = list(shown[["missed_cases", "over_cases"]].astype(int).itertuples(index=False, name=None))
    ends = shown[["missed_high", "over_high", "missed_mean", "over_mean", "missed", "over"]].astype(float)
    _centre(ax, with_counts(ax, shown["entry"], counts), 100 * float(np.nanmax(ends)), shown)
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
    tip = f"{row.entry}: {TIPS[name]} {percent(mean)} (as published)"
    if low == low:
        others += ax.plot([sign * 100 * low, sign * 100 * high], [y, y], color=STROKE, linewidth=0.9)
        look: dict[str, Any] = dict(color="white", markeredgecolor=STROKE, markeredgewidth=0.7)
        others += ax.plot(sign * 100 * median, y, marker="o", markersize=3, **look)
        ends = f"{span(100 * low, 100 * high)}, {counted(cases, 'case')}"
        tip = f"{row.entry}: {TIPS[name]} {percent(mean)} ({ends}); median over trials {percent(median)}"
    leads(ax, row, *bars, tip=tip, to=WHICH[name] if mean else None)
    far = max(100 * v for v in (high, mean, median) if v == v)
    text |= dict(xytext=(sign * 4, 0), textcoords="offset points", annotation_clip=False)
    leads(ax, row, *others, ax.annotate(rounded(100 * mean, 0), (sign * far, y), **text))


@figure
def directions_by_intent(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw both directions by intent: bars are the mean over the models, strokes the models.

    `table` is the result of `tables.intent_table` for both buckets.
    """
    known = table.dropna(subset=["wrong"])
    parts = [(-1, MISSED, known[known["bucket"] == "must_escalate"]), (1, OVER, known[known["bucket"] == "resolvable"])]
    names = [i for _, _, part in reversed(parts) for i in part.groupby("intent")["wrong"].mean().sort_values().index]
    ax = axes_for(ax, table, width, 1.3 + rows_high(max(len(names), 4)))
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
        ax.plot([sign * 100 * rate.low, sign * 100 * rate.high], [y, y], color=STROKE, linewidth=0.9)
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
    """Draw the queues of each intent's handovers, orange if its cases do not accept the queue.

    `table` is the result of `tables.queue_table`.
    """
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
