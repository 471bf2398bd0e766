"""Figures of handovers: both directions around a centre line, by model and by intent, and how precise handovers are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.estimators.estimate import counted, usual
from ..analysis.estimators.intervals import proportion_interval
from ..analysis.query import NO, YES
from ..analysis.tables.escalation import DIRECTIONS
from ..scoring.metrics import METRICS
from ..scoring.written import percent, rounded, span
from .canvas import ROW, SMALL, axes_for, explain, figure, is_narrow, leads, mark, nothing, rows_high
from .captions import said_of, says, span_of
from .labels import left_out, name_of, name_rows, partial_below, with_counts
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MISSED, OVER = "#C44E00", "#0072B2"
TIPS = {"missed": "not handed over, of the cases that need a human", "over": "handed over, of the resolvable cases"}
WHICH = {
    name: {"bucket": METRICS[key].bucket, METRICS[key].column: flag}
    for (name, key), flag in zip(DIRECTIONS.items(), (NO, YES), strict=True)
}
"""The conversations that each bar counts."""


@figure
def two_directions(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Misses to the left, over-escalation to the right: the mean with its interval (bar and whisker), the median over trials (dot).

    `table` is as `tables.escalation_table` gives it.
    """
    if "panel" in table:  # a published rate has no mean
        public = table["panel"] == "published"
        table = table.assign(**{f"{name}_mean": table[f"{name}_mean"].mask(public, table[name]) for name in TIPS})
    shown = table.dropna(subset=["missed_mean", "over_mean"], how="all")
    wrong = shown["missed_mean"].fillna(0) + shown["over_mean"].fillna(0)
    shown = partial_below(shown.assign(_wrong=wrong).sort_values("_wrong", ascending=False))
    ax = axes_for(ax, table, width, 1.3 + ROW * (1.3 if width == "column" else 1) * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, "No case was run and scored that needs a human or can be resolved.")
    left_out(ax, table, shown, "only traps run")
    for y, row in enumerate(shown.itertuples()):
        for name in ("missed", "over"):
            _direction(ax, y, name, row)
    counts = list(shown[["missed_cases", "over_cases"]].astype(int).itertuples(index=False, name=None))
    ends = shown[["missed_high", "over_high", "missed_mean", "over_mean", "missed", "over"]].astype(float)
    _centre(ax, with_counts(ax, list(shown["entry"]), counts), 100 * float(np.nanmax(ends)), shown)
    missed, over = (usual(n) for n in zip(*counts, strict=True))
    sides = ((missed, f"left: % of {missed} must-escalate cases"), (over, f"right: % of {over} resolvable cases"))
    label = ("\n" if is_narrow(ax) else "  |  ").join(words for cases, words in sides if cases)
    ax.set(xlabel=f"{label}\n(bar: mean over cases; dot: median over trials)" if label else "% of cases, as published")
    known = shown["missed_low"].notna() | shown["over_low"].notna()
    measured = [
        mark(ax, "95 % interval of the mean", linestyle="-", color="#333333", linewidth=0.9),
        mark(ax, "median over trials", marker="o", markersize=3, color="white", markeredgecolor="#333333"),
    ]
    _explain_directions(ax, *(measured if known.any() else ()))
    says(
        ax,
        "Escalation, both ways",
        f"Left: needed a human and was kept (n = {missed} cases). Right: resolvable and was handed over (n = {over} cases). Bar and number: mean "
        "over cases of the mean over trials, %; line: its 95 % interval; dot: median over trials."
        if known.any()
        else "Left: needed a human and was kept. Right: resolvable and was handed over. Bar and number: % of cases as published, without an interval.",
        rows=len(shown),
    )
    return ax


def _direction(ax: Axes, y: int, name: str, row: Any) -> None:
    """Draw one direction of one model: the mean with its interval, and the median."""
    sign, side, color = (-1, "right", MISSED) if name == "missed" else (1, "left", OVER)
    mean, low, high, median, cases = (getattr(row, f"{name}{end}") for end in ("_mean", "_low", "_high", "", "_cases"))
    if mean != mean:
        ax.text(sign * 3, y, "not run", ha=side, va="center", fontsize=SMALL, color="#888888")
        return
    (bar,) = ax.barh(y, sign * 100 * mean, color=color, height=0.6, alpha=0.85)
    ends = f"{span(100 * low, 100 * high)}, {counted(cases, 'case')}" if low == low else "as published"
    mid = f"; median over trials {percent(median)}" if low == low else ""
    tip = f"{row.entry}: {TIPS[name]} {percent(mean)} ({ends}){mid}"
    leads(ax, bar, row, tip, **WHICH[name])
    ax.plot([sign * 100 * low, sign * 100 * high], [y, y], color="#333333", linewidth=0.9)
    look: dict[str, Any] = dict(color="white", markeredgecolor="#333333", markeredgewidth=0.7)
    if low == low:
        ax.plot(sign * 100 * median, y, marker="o", markersize=3, **look)
    far = max(100 * v for v in (high, mean, median) if v == v)
    text: dict[str, Any] = dict(ha=side, va="center", fontsize=SMALL, annotation_clip=False)
    ax.annotate(rounded(100 * mean, 0), (sign * far, y), xytext=(sign * 4, 0), textcoords="offset points", **text)


def _explain_directions(ax: Axes, *more: Any) -> None:
    """The legend of both directions."""
    from matplotlib.patches import Patch

    left = Patch(color=MISSED, alpha=0.85, label="left: kept, needed a human")
    right = Patch(color=OVER, alpha=0.85, label="right: handed over, resolvable")
    explain(ax, [left, right, *more])


@figure
def directions_by_intent(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Both directions by intent: bars are the mean over the models given, strokes the models; of one model, with its Wilson interval.

    `table` is as `tables.intent_table` gives it, of both buckets.
    """
    known = table.dropna(subset=["wrong"])
    parts = [(-1, MISSED, known[known["bucket"] == "must_escalate"]), (1, OVER, known[known["bucket"] == "resolvable"])]
    names = [i for _, _, part in reversed(parts) for i in part.groupby("intent")["wrong"].mean().sort_values().index]
    ax = axes_for(ax, table, width, 1.3 + rows_high(max(len(names), 4)))
    if not names:
        return nothing(ax, "No case was run and scored that needs a human or can be resolved.")
    left_out(ax, table, known, "no such case run")
    several = known.groupby(["bucket", "intent"])["entry"].nunique().max() > 1
    for sign, color, part in parts:
        for intent, rows in part.groupby("intent"):
            _intent(ax, names.index(intent), sign, color, rows, several)
    reach = max(float(np.abs(np.asarray(line.get_xdata(), dtype=float)).max()) for line in ax.lines)
    _centre(ax, [n.replace("_", " ") for n in names], reach)
    ax.set(xlabel="% of conversations of the intent that went wrong")
    many = span_of(known.groupby(["bucket", "intent"])["entry"].nunique())
    whose = f"mean of {many} {said_of(ax).noun}s" if several else f"{name_of(ax, known['entry'].iloc[0])}"
    drawn = (
        mark(ax, f"one {said_of(ax).noun}", marker="|", color="#444444", markersize=6)
        if several
        else mark(ax, "95 % interval (Wilson)", linestyle="-", color="#333333", linewidth=0.9)
    )
    _explain_directions(ax, drawn)
    spread = (
        "strokes: the single models, whose spread is shown in place of an interval, since the models are not a sample."
        if several
        else "line: 95 % Wilson interval, which takes the trials of a case as independent and is therefore narrow."
    )
    says(
        ax,
        "Escalation by intent, both ways",
        "Left: needed a human and was kept. Right: resolvable and was handed over. Each intent on its own.",
        f"Bar: {whose}, % of the conversations of the intent; {spread}",
        f"Conversations per {said_of(ax).noun} and intent: {span_of(known['conversations'])}.",
        rows=len(names),
    )
    return ax


def _intent(ax: Axes, y: int, sign: int, color: str, rows: pd.DataFrame, several: bool) -> None:
    """The line of one intent."""
    mean = 100 * rows["wrong"].mean()
    ax.barh(y, sign * mean, color=color, height=0.62, alpha=0.85)
    only = rows.iloc[0]
    wrong = only["handed_over"] if sign > 0 else only["conversations"] - only["handed_over"]
    if several:
        look: dict[str, Any] = dict(marker="|", linestyle="none", markersize=6, color="#444444", alpha=0.5)
        ax.plot(sign * 100 * rows["wrong"], np.full(len(rows), y), **look)
        text, far = rounded(mean, 0), 100 * rows["wrong"].max()
    else:
        found = proportion_interval(int(wrong), int(only["conversations"]))
        ax.plot([sign * 100 * found.low, sign * 100 * found.high], [y, y], color="#333333", linewidth=0.9)
        text, far = f"{wrong} of {only['conversations']}", 100 * found.high
    ax.text(sign * (far + 3), y, text, ha="right" if sign < 0 else "left", va="center", fontsize=SMALL)


def _centre(ax: Axes, names: list[str], reach: float, rows: pd.DataFrame | None = None) -> None:
    """Draw the centre line and what both figures share; `reach` is where the longest line ends."""
    far = min(100, 10 * (reach // 10 + 1)) * (1.55 if is_narrow(ax) else 1.25)
    ax.axvline(0, color="#222222", linewidth=1)
    name_rows(ax, names, rows=rows)
    ax.set(xlim=(-far, far), ylim=(-0.7, len(names) - 0.3))
    ax.locator_params(axis="x", nbins=5 if is_narrow(ax) else 9)
    ax.xaxis.set_major_formatter(lambda x, _: f"{abs(x):.0f}" if abs(x) <= 100 else "")
    ax.grid(axis="y", visible=False)


@figure
def queue_matrix(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Where the handovers of each intent went: shares of the intent's handovers, in orange where the case does not accept the queue.

    `table` is as `tables.queue_table` gives it.
    """
    rows = table["intent"].nunique() if len(table) else 0
    ax = axes_for(ax, table, width, 1.2 + 0.42 * max(rows, 3))
    if table.empty:
        return nothing(ax, "Nothing was handed over to a queue.")
    sums = table.groupby(["intent", "queue"])[["accepted", "conversations"]].sum()
    intents, queues = sorted(table["intent"].unique(), reverse=True), sorted(table["queue"].unique())
    totals = table.groupby("intent")["conversations"].sum()
    between = "\nof " if is_narrow(ax) else " of "
    for (intent, queue), cell in sums.iterrows():
        x, y, share = queues.index(queue), intents.index(intent), cell["conversations"] / totals[intent]
        wrong = 1 - cell["accepted"] / cell["conversations"]
        ax.scatter(x, y, s=90 + 380 * share, color=MISSED if wrong > 0.5 else OVER, alpha=0.35, linewidth=0)
        words = f"{cell['accepted']}{between}{cell['conversations']}"
        ax.text(x, y, words, ha="center", va="center", fontsize=SMALL, linespacing=0.95)
    ax.set_xticks(range(len(queues)), [plain(q) for q in queues], fontsize=SMALL, rotation=90 if is_narrow(ax) else 0)
    name_rows(ax, [i.replace("_", " ") for i in intents])
    ax.set(xlim=(-0.6, len(queues) - 0.4), ylim=(-0.6, len(intents) - 0.4), xlabel="Queue used")
    look: dict[str, Any] = dict(marker="o", markersize=9, alpha=0.35, markeredgewidth=0)
    explain(
        ax,
        [
            mark(ax, "most of these handovers are to a queue that the case accepts", color=OVER, **look),
            mark(ax, "most are not", color=MISSED, **look),
        ],
    )
    says(
        ax,
        "Right queue?",
        "Rows: intents; columns: the queue used. Numbers: handovers that the case accepts there, of all handovers there. Area: the larger, "
        "the greater the share of the intent's handovers. These are counts of conversations and have no interval.",
        f"n = {int(totals.sum())} handovers.",
        rows=len(sums),
    )
    return ax
