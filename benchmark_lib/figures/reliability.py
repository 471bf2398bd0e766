"""Figures of repeated trials, and of the power of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.panels import partial_in
from ..analysis.tables.headlines import metric_of
from ..scoring.written import counted, percent, rounded
from . import canvas
from .canvas import LINES, QUIET, ROW, axes_for, describe, figure, interval, mark, nothing, why_nothing
from .labels import at_right, left_out, name_of, name_rows, names_of, with_counts
from .style import listed, span_of, trials_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

WORDS = {"resolvable": "resolvable", "must_escalate": "must-escalate", "adversarial": "trap"}
POWER_WANTED = 0.8


@figure
def pass_decay(*, table: pd.DataFrame, named: int = 5, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw pass^k by model: observed, extrapolated (dashed), and its lower bound p^k (dotted).

    `table` is the result of `tables.reliability_table` for one panel and one bucket. `named` models, spread evenly
    over the ranking at the last k, are coloured; the others are grey.
    """
    ax = axes_for(ax, table, width, 4.4 if width == "column" else 3.8)
    shown = table.dropna(subset=["estimate"]).sort_values("k")
    if shown.empty:
        return nothing(ax, why_nothing(table))
    if shown["k"].nunique() == 1:
        return nothing(ax, "Every case was run once, so nothing is known about how success decays.")
    left_out(ax, table, shown, "not run")
    last = int(shown["k"].max())
    ends = shown.groupby("entry").last().sort_values("estimate", ascending=False)
    together = canvas.alike(shown, ends.index, ["estimate", "low", "high"])
    firsts, many = list(together), min(named, len(LINES), len(together))
    loud = [firsts[round(i * (len(firsts) - 1) / max(many - 1, 1))] for i in range(many)]
    colors = canvas.colors_of(table, loud)
    names = dict(zip(ends.index, with_counts(ax, ends.index, [(int(n),) for n in ends["cases"]]), strict=True))
    handles, quiet = [], [entry for entry in ends.index if not any(entry in together[first] for first in loud)]
    for entry in quiet:
        curve = shown[shown["entry"] == entry]
        ax.plot(curve["k"], 100 * curve["estimate"], color=QUIET, linewidth=0.7, zorder=1.5)
    for place, first in enumerate(loud):
        shift = 0.05 * (place - (len(loud) - 1) / 2) if len(loud) > 2 else 0
        _decay_line(ax, shown[shown["entry"] == first], colors[first], shift=shift, band=len(loud) <= 2)
        handles.append(mark(ax, listed([names[m] for m in together[first]], 3), color=colors[first], linestyle="-"))
    ax.set(xlim=(0.8, last + 0.2), ylim=(-3, 103))
    ax.set_xticks(range(1, last + 1))
    shared = [f"{names[f]} and {', '.join(names[m] for m in together[f][1:])}" for f in loud if len(together[f]) > 2]
    about = dict(bucket=WORDS.get(shown["bucket"].iloc[0], shown["bucket"].iloc[0]), shared="; ".join(shared))
    about |= dict(cases=span_of(shown["cases"]), trials=trials_of(shown["trials"]), grey=len(quiet))
    marked = dict(band=len(loud) <= 2, past=bool((shown["label"] != "observed").any()))
    return describe(ax, "pass_decay", rows=len(shown), handles=handles, **about, **marked)


def _decay_line(ax: Axes, curve: pd.DataFrame, color: str, *, band: bool, shift: float) -> None:
    past, usable = (curve["label"] != "observed").to_numpy(), curve["usable"].to_numpy(dtype=bool)
    k, value = curve["k"].to_numpy(), 100 * curve["estimate"].to_numpy()
    ax.plot(k[~past], value[~past], marker="o", markersize=3.4, color=color, linewidth=1.8, zorder=3)
    if past.any():
        first = max(int(past.argmax()) - 1, 0)
        ax.plot(k[first:], value[first:], linestyle="--", color=color, linewidth=1.35, zorder=3)
    ring: dict[str, Any] = dict(marker="o", markersize=7, markerfacecolor="none", markeredgecolor=color, zorder=4)
    ax.plot(k[usable], value[usable], linestyle="none", **ring)
    ax.plot(k, 100 * curve["reference"], linestyle=":", color=color, linewidth=0.9, zorder=2)
    low, high = 100 * curve["low"].astype(float), 100 * curve["high"].astype(float)
    if band:
        ax.fill_between(k, low, high, color=color, alpha=0.15, linewidth=0, zorder=1)
    else:
        ax.vlines(k + shift, low, high, color=color, linewidth=1, alpha=0.55, zorder=2)


@figure
def trial_spread(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw a metric in every trial, with its median, from one panel of `tables.trial_table`."""
    shown = table[table["value"].notna() & table["in_median"]]
    if any(metric_of(name).scale.summed for name in shown["metric"].unique()):  # counts need equally many traps
        shown = shown[shown["cases"] == shown["cases"].max()]
    models = shown.groupby("entry")["value"].median().sort_values()
    models = models[sorted(models.index, key=lambda entry: entry not in partial_in(table))]
    ax = axes_for(ax, table, width, 1.3 + ROW * max(len(models), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    if not table.dropna(subset=["value"]).groupby("entry").size().gt(1).any():
        return nothing(ax, "No model was run twice, so there is no spread of trials to show.")
    metric = metric_of(shown["metric"].iloc[0])
    left = table[table["value"].notna() & ~table.index.isin(shown.index)].to_dict("records")
    if left:
        names = [f"{name_of(ax, r['entry'])} trial {r['trial']} ({counted(r['cases'], 'case')})" for r in left]
        canvas.note_below(ax, f"Not drawn, because of too few cases: {listed(names)}")
    scale, summed = metric.scale.times, metric.scale.summed
    for y, (entry, median) in enumerate(models.items()):
        values = scale * shown.loc[shown["entry"] == entry, "value"]
        interval(ax, y, values.min(), values.max(), color="#BBBBBB", wide=1.2, zorder=2)
        same = values.groupby(values)
        beside = y + 0.16 * (same.cumcount() - (same.transform("size") - 1) / 2)
        ax.plot(values, beside, "o", markersize=4, color="#0072B2", alpha=0.75, zorder=3)
        ax.plot([scale * median] * 2, [y - 0.34, y + 0.34], color="#222222", linewidth=1.3, zorder=4)
        at_right(ax, y, rounded(values.max() - values.min(), 0 if summed else metric.scale.digits))
    at_right(ax, len(models) - 0.45, "range", color=canvas.GREY, va="bottom")
    name_rows(ax, names_of(ax, models.index))
    if summed:
        ax.locator_params(axis="x", integer=True)
        ax.set_xlim(-0.5, max(scale * shown["value"].max(), 2) + 0.5)
    about = dict(metric=metric.title.lower(), label=metric.axis_label, cases=span_of(shown["cases"]))
    return describe(ax, "trial_spread", rows=len(models), many=span_of(shown.groupby("entry").size()), **about)


@figure
def power_curves(*, table: pd.DataFrame, noun: str = "traps", ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the power in `tables.power_table` by number of trials; `noun` names its units."""
    ax = axes_for(ax, width=width, height=4.2)
    if table.empty:
        return nothing(ax, "This table has no plans.")
    handles = []
    for color, (units, plans) in zip(LINES, table.groupby("units"), strict=False):
        for estimand, line in (("these", "-"), ("like these", "--")):
            curve = plans[plans["estimand"] == estimand].sort_values("trials")
            ax.plot(curve["trials"], 100 * curve["power"], color=color, linestyle=line, marker="o", markersize=3.5)
        handles.append(mark(ax, f"{units} {noun}", color=color, linestyle="-"))
    ax.axhline(100 * POWER_WANTED, color="#888888", linewidth=0.9, linestyle=":")
    ax.set(xlim=(0.6, int(table["trials"].max()) + 0.05), ylim=(-3, 103))
    ax.set_xticks(sorted(set(table["trials"])))
    rate_a, rate_b = (percent(table[name].iloc[0], 1) for name in ("rate_a", "rate_b"))
    many, _, *settings = table["method"].iloc[0].split(", ")
    about = dict(units=noun, unit=noun.removesuffix("s"), target=percent(POWER_WANTED), rate_a=rate_a, rate_b=rate_b)
    about |= dict(many=many, settings=", ".join(settings))
    return describe(ax, "power_curves", rows=len(table), handles=handles, **about)
