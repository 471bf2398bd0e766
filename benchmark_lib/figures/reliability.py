"""Figures of repeated trials.

How pass^k decays, which cases flip, the spread of trials, and what a plan of trials can detect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..scoring.written import percent, span
from .canvas import LINES, QUIET, axes_for, head_and_legend, nothing, say_below, span_of, stacked_bars, why_nothing
from .labels import name_of, names_at_the_end, with_counts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STABLE_COLORS = {"always": "#5B9BC4", "sometimes": "#E8B95A", "never": "#D9D9D9"}
PUBLISHED_LINES = ("#0072B2", "#D55E00", "#009E73", "#AA4B86")
WORDS = {"resolvable": "resolvable", "must_escalate": "must-escalate", "adversarial": "trap"}


def pass_decay(*, table: pd.DataFrame, named: int = 5, ax: Axes | None = None) -> Axes:
    """pass^k of every model: observed with its interval where few are shown, extrapolated (dashed), and p^k as a lower bound (dotted).

    Parameters
    ----------
    table : DataFrame
        As `tables.reliability_table` gives it, of one panel and one bucket.
    named : int
        Models drawn in colour and named, spread over the order at the last k; the others are grey.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax)
    shown = table.dropna(subset=["estimate"])
    if shown.empty:
        return nothing(ax, why_nothing(table))
    last = int(shown["k"].max())
    ends = shown.sort_values("k").groupby("entry").last().sort_values("estimate", ascending=False)
    loud = _spread_out(list(ends.index), named)
    for entry in ends.index:
        mine, color = (
            shown[shown["entry"] == entry].sort_values("k"),
            LINES[loud.index(entry)] if entry in loud else QUIET,
        )
        _decay_line(ax, mine, color, loud=entry in loud, band=len(ends) <= 3)
    names = with_counts([name_of(m) for m in ends.index], [(int(n),) for n in ends["cases"]])
    labels = [
        (100 * end, name, LINES[loud.index(m)])
        for m, end, name in zip(ends.index, ends["estimate"], names, strict=True)
        if m in loud
    ]
    names_at_the_end(ax, labels, last)
    bucket, grey = shown["bucket"].iloc[0], len(ends) - len(loud)
    ax.set(
        xlim=(0.8, last + 0.05),
        ylim=(-3, 103),
        xlabel="k: trials that must all succeed",
        title=f"How success decays: {WORDS.get(bucket, bucket)} cases",
        ylabel=f"pass^k, % (n = {span_of(shown['cases'])} cases x {span_of(shown['trials'])} trials)",
    )
    ax.set_xticks(range(1, last + 1))
    _note(
        ax,
        "Solid: observed (ring: at least 2k trials). Dashed: beta-binomial extrapolation. Dotted: p^k, a lower bound, not an estimate."
        + (f" Grey: {grey} more." if grey else ""),
    )
    return ax


def _note(ax: Axes, words: str) -> None:
    ax.text(0.0, -0.17, words, transform=ax.transAxes, fontsize=7, color="#555555", va="top")


def _decay_line(ax: Axes, mine: pd.DataFrame, color: str, *, loud: bool, band: bool) -> None:
    """One model: observed solid, extrapolated dashed, the reference dotted."""
    past = (mine["label"] != "observed").to_numpy()
    k, value = mine["k"].to_numpy(), 100 * mine["estimate"].to_numpy()
    style = dict(color=color, linewidth=1.8 if loud else 0.7, zorder=3 if loud else 2)
    ax.plot(k[~past], value[~past], marker="o", markersize=3.4 if loud else 0, **style)
    if past.any():
        first = max(int(past.argmax()) - 1, 0)
        ax.plot(k[first:], value[first:], linestyle="--", **{**style, "linewidth": style["linewidth"] * 0.75})
    if loud:
        usable = mine["usable"].to_numpy(dtype=bool)
        ax.plot(
            k[usable],
            value[usable],
            marker="o",
            markersize=7,
            markerfacecolor="none",
            markeredgecolor=color,
            linestyle="none",
            zorder=4,
        )
        ax.plot(k, 100 * mine["reference"], linestyle=":", color=color, linewidth=0.9, zorder=2)
    if band:
        ax.fill_between(k, 100 * mine["low"], 100 * mine["high"], color=color, alpha=0.12, linewidth=0, zorder=1)


def flip_bars(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Cases that always, sometimes and never succeed, with the chance that two trials of a case disagree.

    Parameters
    ----------
    table : DataFrame
        As `tables.flip_table` gives it, of one panel and one bucket.
    ax : Axes, optional
        Where to draw.
    """
    shown = table[table["cases"] > 0].sort_values(["always", "sometimes", "entry"])
    ax = axes_for(ax, height=1.3 + 0.22 * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    shares = {state: list(100 * shown[state] / shown["cases"]) for state in STABLE_COLORS}
    stacked_bars(ax, shares, STABLE_COLORS, {state: [str(n) for n in shown[state]] for state in shares}, least=6)
    for y, row in enumerate(shown.itertuples()):
        interval = f" ({span(100 * row.low, 100 * row.high)})" if row.low == row.low else ", no interval"
        words = "one trial" if row.estimate != row.estimate else f"{percent(row.estimate)}{interval}"
        ax.text(101.5, y, words, va="center", fontsize=7)
    ax.text(101.5, len(shown) - 0.35, "flip rate (95 %)", fontsize=7, color="#555555", va="bottom")
    ax.set_yticks(range(len(shown)), [name_of(m) for m in shown["entry"]], fontsize=7.5)
    bucket = shown["bucket"].iloc[0]
    ax.set(
        xlim=(0, 100),
        ylim=(-0.6, len(shown) - 0.4),
        xlabel=f"% of {WORDS.get(bucket, bucket)} cases (n = {span_of(shown['cases'])}; numbers in the bars: cases)",
    )
    ax.grid(axis="y", visible=False)
    bars = [b.patches[0] for b in ax.containers]
    for bar, state in zip(bars, STABLE_COLORS, strict=True):
        bar.set_label(f"succeed in {dict(always='every trial', sometimes='some trials', never='no trial')[state]}")
    head_and_legend(ax, f"Sure, shaky, hopeless: {WORDS.get(bucket, bucket)} cases", bars)
    return ax


def trial_spread(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """A metric in every trial, with the median that the board shows.

    Parameters
    ----------
    table : DataFrame
        As `tables.trial_table` gives it, of one panel.
    ax : Axes, optional
        Where to draw.
    """
    from ..scoring.metrics import METRICS

    shown = table[table["value"].notna() & table["in_median"]]
    if any(METRICS[name].scale.summed for name in shown["metric"].unique()):  # counts of fewer traps do not compare
        shown = shown[shown["cases"] == shown["cases"].max()]
    models = shown.groupby("entry")["value"].median().sort_values()
    ax = axes_for(ax, height=1.2 + 0.22 * max(len(models), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    metric = METRICS[shown["metric"].iloc[0]]
    _not_drawn(ax, table[table["value"].notna() & ~table.index.isin(shown.index)])
    scale = metric.scale.times
    for y, (entry, median) in enumerate(models.items()):
        values = scale * shown.loc[shown["entry"] == entry, "value"]
        ax.plot([values.min(), values.max()], [y, y], color="#BBBBBB", linewidth=1.2, zorder=2)
        ax.plot(
            values, [y] * len(values), marker="o", markersize=4, color="#0072B2", alpha=0.75, linestyle="none", zorder=3
        )
        ax.plot([scale * median] * 2, [y - 0.32, y + 0.32], color="#222222", linewidth=1.3, zorder=4)
        ax.text(
            1.01, y, f"{values.max() - values.min():.1f}", transform=ax.get_yaxis_transform(), va="center", fontsize=7
        )
    ax.text(
        1.01, len(models) - 0.35, "spread", transform=ax.get_yaxis_transform(), fontsize=7, color="#555555", va="bottom"
    )
    ax.set_yticks(range(len(models)), [name_of(m) for m in models.index], fontsize=7.5)
    many = span_of(shown.groupby("entry").size())
    ax.set(
        ylim=(-0.6, len(models) - 0.4),
        title=f"Trial by trial: {metric.title.lower()}",
        xlabel=f"{metric.axis_label} in each of {many} trials (dots); bar: their median, as on the board",
    )
    return ax


def _not_drawn(ax: Axes, left: pd.DataFrame) -> None:
    """Name, below the figure, the trials that are too incomplete for the median or have fewer traps than others."""
    if len(left):
        told = [f"{name_of(r['entry'])} trial {r['trial']} ({r['cases']} cases)" for r in left.to_dict("records")]
        say_below(ax, f"Not drawn, for too few cases: {', '.join(told)}")


def textbook_decay(
    *, table: pd.DataFrame, rate: float, published: pd.DataFrame | None = None, ax: Axes | None = None
) -> Axes:
    """pass^k of one mean rate for cases alike and for mixed cases; published figures for comparison, each with its own p^k.

    Parameters
    ----------
    table : DataFrame
        As `tables.textbook_table` gives it.
    rate : float
        Which of its rates.
    published : DataFrame, optional
        As `tables.published_pass_hat_k` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax)
    mine = table[table["rate"].round(6) == round(rate, 6)]
    if mine.empty:
        return nothing(ax, f"The table holds no rate of {rate:g}.")
    last, labels = int(mine["k"].max()), []
    for (mix, rows), color in zip(mine.groupby("mix", sort=False), ("#222222", "#666666", "#999999"), strict=False):
        ax.plot(
            rows["k"],
            100 * rows["value"],
            color=color,
            linestyle=":" if mix == "every case alike" else "-",
            linewidth=1.6,
        )
        labels.append((100 * rows["value"].iloc[-1], f"{percent(rate)}, {mix}", color))
    names_at_the_end(ax, labels, last)
    if published is not None:
        _published_lines(ax, published)
    ax.set(
        xlim=(0.8, last + 0.05),
        ylim=(-3, 103),
        xlabel="k: trials that must all succeed",
        ylabel="pass^k, %",
        title="The same mean rate, three decays",
    )
    ax.set_xticks(range(1, last + 1))
    _note(
        ax,
        "Dotted: p^k, which the published 90/80/70/60 % table shows: a lower bound for any mix of cases. Triangles: published figures.",
    )
    return ax


def _published_lines(ax: Axes, published: pd.DataFrame) -> None:
    """Published pass^k of each model and domain, each with its own p^k."""
    labels = []
    for ((model, domain), rows), color in zip(
        published.groupby(["model", "domain"], sort=False), PUBLISHED_LINES, strict=False
    ):
        ax.plot(rows["k"], 100 * rows["pass_hat_k"], color=color, marker="^", markersize=5, linewidth=1.2)
        ax.plot(rows["k"], 100 * rows["pass_hat_k"].iloc[0] ** rows["k"], color=color, linestyle=":", linewidth=0.9)
        labels.append((100 * rows["pass_hat_k"].iloc[-1], f"{model}, {domain}", color))
    names_at_the_end(ax, labels, int(published["k"].max()))


def power_curves(*, table: pd.DataFrame, target: float = 0.8, noun: str = "traps", ax: Axes | None = None) -> Axes:
    """The chance of telling two models apart against trials per trap: on these traps (solid), and on traps like these (dashed).

    Parameters
    ----------
    table : DataFrame
        As `tables.power_table` gives it.
    target : float
        The power wanted, drawn as a line.
    noun : str
        What the units are called.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax)
    if table.empty:
        return nothing(ax, "This table holds no plans.")
    last, labels = int(table["trials"].max()), []
    for color, units in zip(LINES, sorted(set(table["units"])), strict=False):
        for estimand, line in (("these", "-"), ("like these", "--")):
            mine = table[(table["units"] == units) & (table["estimand"] == estimand)].sort_values("trials")
            ax.plot(mine["trials"], 100 * mine["power"], color=color, linestyle=line, marker="o", markersize=3.5)
            if len(mine):
                labels.append((100 * mine["power"].iloc[-1], f"{units} {noun}, {estimand}", color))
    ax.axhline(100 * target, color="#888888", linewidth=0.9, linestyle=":")
    names_at_the_end(ax, labels, last)
    ax.set(
        xlim=(0.6, last + 0.05),
        ylim=(-3, 103),
        xlabel=f"Trials of each of the {noun}",
        ylabel="Power, %",
        title=f"What a plan can detect: {noun}",
    )
    ax.set_xticks(sorted(set(table["trials"])))
    _note(
        ax,
        f"Solid: a difference on these {noun}, where more trials help. Dashed: on {noun} like these, where only more {noun} help much. Dotted: the power wanted.",
    )
    return ax


def _spread_out(models: list[str], named: int) -> list[str]:
    """Some of the models, evenly over their order, the first and the last among them."""
    named = min(named, len(LINES), len(models))
    if named < 2:
        return models[:named]
    return list(dict.fromkeys(models[round(i * (len(models) - 1) / (named - 1))] for i in range(named)))
