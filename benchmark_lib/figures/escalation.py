"""Figures of handovers: both directions around a centre line, by model and by intent, and how precise handovers are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.estimators.estimate import usual
from .canvas import QUIET, axes_for, nothing, span_of
from .labels import halo, name_of, with_counts
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MISSED, OVER = "#C44E00", "#0072B2"


def two_directions(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Misses to the left, over-escalation to the right: the mean with its interval (bar and whisker), the median over trials (dot).

    Parameters
    ----------
    table : DataFrame
        As `tables.escalation_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    shown = table.dropna(subset=["missed_mean", "over_mean"], how="all")
    shown = shown.assign(_wrong=shown["missed_mean"].fillna(0) + shown["over_mean"].fillna(0)).sort_values(
        "_wrong", ascending=False
    )
    ax = axes_for(ax, table, height=1.2 + 0.22 * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, "Neither must-escalate nor resolvable cases were run and scored.")
    for y, row in enumerate(shown.itertuples()):
        for sign, color, mean, low, high, median in (
            (-1, MISSED, row.missed_mean, row.missed_low, row.missed_high, row.missed),
            (1, OVER, row.over_mean, row.over_low, row.over_high, row.over),
        ):
            if mean != mean:
                ax.text(
                    sign * 3,
                    y,
                    "not run",
                    ha="right" if sign < 0 else "left",
                    va="center",
                    fontsize=6.5,
                    color="#888888",
                )
                continue
            ax.barh(y, sign * 100 * mean, color=color, height=0.6, alpha=0.85)
            ax.plot([sign * 100 * low, sign * 100 * high], [y, y], color="#333333", linewidth=0.9)
            ax.plot(
                sign * 100 * median,
                y,
                marker="o",
                markersize=3,
                color="white",
                markeredgecolor="#333333",
                markeredgewidth=0.7,
            )
            ax.text(
                sign * (100 * max(high, mean) + 2),
                y,
                f"{100 * mean:.0f}",
                ha="right" if sign < 0 else "left",
                va="center",
                fontsize=6.8,
            )
    counts = list(shown[["missed_cases", "over_cases"]].astype(int).itertuples(index=False, name=None))
    _centre(ax, len(shown), with_counts([name_of(m) for m in shown["entry"]], counts))
    cases = [usual(n) for n in zip(*counts, strict=True)]
    ax.set(
        xlabel=f"needed a human and was kept, % ({cases[0]} cases)      |      resolvable and was handed over, % ({cases[1]} cases)",
        title="Escalation, both ways",
    )
    return ax


def directions_by_intent(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Both directions by intent: bars are the mean over the models given, strokes the models; each intent is shown on its own.

    Parameters
    ----------
    table : DataFrame
        As `tables.intent_table` gives it, of both buckets.
    ax : Axes, optional
        Where to draw.
    """
    known = table.dropna(subset=["wrong"])
    parts = [(-1, MISSED, known[known["bucket"] == "must_escalate"]), (1, OVER, known[known["bucket"] == "resolvable"])]
    names = [i for _, _, part in reversed(parts) for i in part.groupby("intent")["wrong"].mean().sort_values().index]
    ax = axes_for(ax, table, height=1.2 + 0.2 * max(len(names), 4))
    if not names:
        return nothing(ax, "Neither must-escalate nor resolvable cases were run and scored.")
    for sign, color, part in parts:
        for intent, rows in part.groupby("intent"):
            _intent(ax, names.index(intent), sign, color, rows)
    _centre(ax, len(names), [n.replace("_", " ") for n in names])
    models = known.groupby(["bucket", "intent"])["entry"].nunique()
    strokes = f"Bar: mean of {span_of(models)} models; strokes: the models." if models.max() > 1 else ""
    ax.set(
        xlabel=f"kept although it needed a human, % of conversations      |      handed over although resolvable, % of conversations\n{strokes}".rstrip(
            "\n"
        ),
        title="By intent, both ways",
    )
    return ax


def _intent(ax: Axes, y: int, sign: int, color: str, rows: pd.DataFrame) -> None:
    """The line of one intent."""
    mean, several = 100 * rows["wrong"].mean(), len(rows) > 1
    ax.barh(y, sign * mean, color=color, height=0.62, alpha=0.85)
    if several:
        ax.plot(
            sign * 100 * rows["wrong"],
            np.full(len(rows), y),
            marker="|",
            linestyle="none",
            markersize=6,
            color="#444444",
            alpha=0.5,
        )
    only = rows.iloc[0]
    wrong = only["handed_over"] if sign > 0 else only["conversations"] - only["handed_over"]
    text = f"{mean:.0f}" if several else f"{wrong} of {only['conversations']}"
    far = 100 * rows["wrong"].max() if several else mean
    ax.text(sign * (far + 2), y, text, ha="right" if sign < 0 else "left", va="center", fontsize=6.8)


def _centre(ax: Axes, rows: int, names: list[str]) -> None:
    """The centre line and what both figures share."""
    ax.axvline(0, color="#222222", linewidth=1)
    ax.set_yticks(range(rows), names, fontsize=7.5)
    ax.set(xlim=(-125, 125), ylim=(-0.7, rows - 0.3))
    ax.set_xticks(range(-100, 101, 50), [f"{abs(x)}" for x in range(-100, 101, 50)])
    ax.grid(axis="y", visible=False)


def handover_precision(*, table: pd.DataFrame, named: int = 8, ax: Axes | None = None) -> Axes:
    """Recall of handovers against their precision, with intervals; upper right is good.

    Parameters
    ----------
    table : DataFrame
        As `tables.escalation_table` gives it.
    named : int
        How many models are named, those farthest from the others; the rest stay grey.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax, table, width=5.2, height=4.2)
    shown = table.dropna(subset=["precision", "recall"])
    if shown.empty:
        return nothing(ax, "No model handed anything over, so there is no precision.")
    x, y = 100 * shown["recall"].to_numpy(dtype=float), 100 * shown["precision"].to_numpy(dtype=float)
    far = np.argsort(-np.hypot(x - np.median(x), y - np.median(y)), kind="stable")[:named]
    placed: list[tuple[float, float]] = []
    for place, row in enumerate(shown.itertuples()):
        loud = place in far
        color = OVER if loud else QUIET
        if row.precision_low == row.precision_low:
            ax.plot(
                [x[place]] * 2,
                [100 * row.precision_low, 100 * row.precision_high],
                color=color,
                linewidth=0.8,
                alpha=0.6,
            )
        ax.plot([100 * row.recall_low, 100 * row.recall_high], [y[place]] * 2, color=color, linewidth=0.8, alpha=0.6)
        ax.plot(x[place], y[place], marker="o", markersize=4.5, color=color)
    for place in sorted(far, key=lambda i: (y[i], x[i])):
        crowd = sum(abs(y[place] - b) < 5 and abs(x[place] - a) < 25 for a, b in placed)
        right = x[place] < 70
        ax.annotate(
            name_of(shown["entry"].iloc[place]),
            (x[place], y[place]),
            xytext=(6 if right else -6, 5 + 9 * crowd),
            textcoords="offset points",
            fontsize=6.8,
            ha="left" if right else "right",
            path_effects=halo(),
        )
        placed.append((x[place], y[place]))
    quiet = len(shown) - len(far)
    note = f"; {quiet} more in grey" if quiet > 0 else ""
    ax.set(
        xlim=(-3, 103),
        ylim=(-3, 106),
        xlabel=f"Recall: % of must-escalate cases handed over{note}",
        ylabel="Precision: % of handovers needed (traps aside)",
        title="How precise are the handovers?",
    )
    return ax


def queue_matrix(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Where the handovers of each intent went: shares of the intent's handovers, in orange where the case does not accept the queue.

    Parameters
    ----------
    table : DataFrame
        As `tables.queue_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax, table, width=5.6, height=2.6)
    if table.empty:
        return nothing(ax, "Nothing was handed over to a queue.")
    sums = table.groupby(["intent", "queue"])[["accepted", "conversations"]].sum()
    intents, queues = sorted(table["intent"].unique(), reverse=True), sorted(table["queue"].unique())
    totals = table.groupby("intent")["conversations"].sum()
    for (intent, queue), cell in sums.iterrows():
        x, y, share = queues.index(queue), intents.index(intent), cell["conversations"] / totals[intent]
        wrong = 1 - cell["accepted"] / cell["conversations"]
        ax.scatter(x, y, s=30 + 420 * share, color=MISSED if wrong > 0.5 else OVER, alpha=0.35, linewidth=0)
        ax.text(x, y, f"{cell['accepted']} of {cell['conversations']}", ha="center", va="center", fontsize=6.8)
    ax.set_xticks(range(len(queues)), [plain(q) for q in queues], fontsize=7.5)
    ax.set_yticks(range(len(intents)), [i.replace("_", " ") for i in intents], fontsize=7.5)
    ax.set(
        xlim=(-0.6, len(queues) - 0.4),
        ylim=(-0.6, len(intents) - 0.4),
        xlabel="Queue used; numbers: handovers that the case accepts there, of all handovers there",
        title="Right queue?",
    )
    return ax
