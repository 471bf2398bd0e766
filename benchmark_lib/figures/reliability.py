"""Figures of repeated trials.

How pass^k decays, which cases flip, the spread of trials, and what a plan of trials can detect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analysis.estimators.estimate import counted
from ..analysis.panels import partial_in
from ..scoring.written import percent, rounded, span
from .canvas import (
    LINES,
    QUIET,
    ROW,
    axes_for,
    explain,
    figure,
    is_narrow,
    mark,
    nothing,
    say_below,
    stacked_bars,
    why_nothing,
)
from .captions import listed, said_of, says, span_of, trials_of
from .labels import at_right, left_out, name_of, name_rows, names_at_the_end, names_of, partial_below, with_counts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STABLE_COLORS = {"always": "#5B9BC4", "sometimes": "#E8B95A", "never": "#D9D9D9"}
STABLE_WORDS = {"always": "every trial", "sometimes": "some trials", "never": "no trial"}
PUBLISHED_LINES = ("#0072B2", "#D55E00", "#009E73", "#AA4B86")
WORDS = {"resolvable": "resolvable", "must_escalate": "must-escalate", "adversarial": "trap"}
GREY = "#555555"
ALL_SUCCEED = "k: trials that must all succeed"


@figure
def pass_decay(*, table: pd.DataFrame, named: int = 5, ax: Axes | None = None, width: str = "page") -> Axes:
    """pass^k of every model: observed and extrapolated (dashed), those in colour with their intervals, and p^k as a lower bound (dotted).

    Parameters
    ----------
    table : DataFrame
        As `tables.reliability_table` gives it, of one panel and one bucket.
    named : int
        Models drawn in colour and named, spread over the order at the last k; the others are grey.
    """
    ax = axes_for(ax, table, width, 4.4 if width == "column" else 3.8)
    shown = table.dropna(subset=["estimate"])
    if shown.empty:
        return nothing(ax, why_nothing(table))
    if shown["k"].nunique() == 1:
        return nothing(ax, "Every case was run once, so nothing is known about how success decays.")
    left_out(ax, table, shown, "not run")
    last = int(shown["k"].max())
    ends = shown.sort_values("k").groupby("entry").last().sort_values("estimate", ascending=False)
    alike = _alike(shown, list(ends.index))
    loud = _spread_out(list(alike), named)
    drawn = {entry for first in loud for entry in alike[first]}
    band = len(loud) <= 2
    for entry in ends.index:
        mine, place = shown[shown["entry"] == entry].sort_values("k"), loud.index(entry) if entry in loud else None
        if entry not in drawn:
            ax.plot(mine["k"], 100 * mine["estimate"], color=QUIET, linewidth=0.7, zorder=1.5)
        elif place is not None:
            _decay_line(ax, mine, LINES[place], band=band, shift=0.05 * (place - (len(loud) - 1) / 2))
    counts: list[tuple[int, ...]] = [(int(n),) for n in ends["cases"]]
    names = dict(zip(ends.index, with_counts(ax, list(ends.index), counts), strict=True))
    labels = [
        (100 * ends["estimate"][first], listed([names[m] for m in alike[first]], 3), LINES[place])
        for place, first in enumerate(loud)
    ]
    bucket, grey = shown["bucket"].iloc[0], len(ends) - len(drawn)
    ax.set(xlim=(0.8, last + 0.2), ylim=(-3, 103), xlabel=ALL_SUCCEED, ylabel="pass^k, % of cases")
    ax.set_xticks(range(1, last + 1))
    past = (shown["label"] != "observed").any()
    explain(
        ax,
        [
            mark(ax, "observed", color=GREY, linestyle="-", marker="o", markersize=3.4),
            *([mark(ax, "extrapolated (beta-binomial)", color=GREY, linestyle="--")] if past else []),
            mark(ax, "at least 2k trials", color=GREY, marker="o", markersize=7, markerfacecolor="none"),
            mark(ax, "p^k of the mean rate", color=GREY, linestyle=":"),
            _interval_mark(ax, band),
            *([mark(ax, f"{grey} more {said_of(ax).noun}s", color=QUIET, linestyle="-")] if grey else []),
        ],
    )
    names_at_the_end(ax, labels, last)
    one_line = [
        f"{names[first]} stands for {', '.join(names[m] for m in alike[first][1:])} too"
        for first in loud
        if len(alike[first]) > 2
    ]
    says(
        ax,
        f"How success decays: {WORDS.get(bucket, bucket)} cases",
        "pass^k: the chance that all of k trials of a case succeed, mean over cases. Solid: observed; rings: estimates that rest on at least 2k "
        "trials; dashed: beta-binomial extrapolation beyond the trials run; dotted: p^k, what the mean rate would give if all cases were alike. The true pass^k is never below the true p^k; an observed "
        "line may fall below its dotted one by chance.",
        f"{'Shaded' if band else 'Vertical lines, set apart for legibility'}: 95 % intervals of the estimates.",
        f"n = {span_of(shown['cases'])} cases × {trials_of(shown['trials'])} per {said_of(ax).noun}.",
        f"In grey, without intervals: {grey} more {said_of(ax).noun}s." if grey else "",
        f"One line for several: {'; '.join(one_line)}." if one_line else "",
        rows=len(shown),
    )
    return ax


def _alike(shown: pd.DataFrame, order: list[str]) -> dict[str, list[str]]:
    """The entries in their order, those that have one and the same line with the first of them."""
    lines = (
        shown.sort_values("k")
        .groupby("entry")[["estimate", "low", "high"]]
        .apply(lambda e: str(e.round(3).to_numpy().tolist()))
    )
    together: dict[str, list[str]] = {}
    for entry in order:
        together.setdefault(lines[entry], []).append(entry)
    return {entries[0]: entries for entries in together.values()}


def _interval_mark(ax: Axes, band: bool) -> Any:
    """What an interval looks like, as a band or as a line."""
    from matplotlib.patches import Patch

    if band:
        return Patch(color=GREY, alpha=0.15, linewidth=0, label="95 % interval")
    return mark(ax, "95 % interval", color=GREY, marker="|", markersize=8)


def _decay_line(ax: Axes, mine: pd.DataFrame, color: str, *, band: bool, shift: float) -> None:
    """One model: observed solid, extrapolated dashed, the reference dotted, and its interval."""
    past = (mine["label"] != "observed").to_numpy()
    k, value = mine["k"].to_numpy(), 100 * mine["estimate"].to_numpy()
    ax.plot(k[~past], value[~past], marker="o", markersize=3.4, color=color, linewidth=1.8, zorder=3)
    if past.any():
        first = max(int(past.argmax()) - 1, 0)
        ax.plot(k[first:], value[first:], linestyle="--", color=color, linewidth=1.35, zorder=3)
    usable = mine["usable"].to_numpy(dtype=bool)
    ring: dict[str, Any] = dict(
        marker="o", markersize=7, markerfacecolor="none", markeredgecolor=color, linestyle="none", zorder=4
    )
    ax.plot(k[usable], value[usable], **ring)
    ax.plot(k, 100 * mine["reference"], linestyle=":", color=color, linewidth=0.9, zorder=2)
    low, high = 100 * mine["low"].astype(float), 100 * mine["high"].astype(float)
    if band:
        ax.fill_between(k, low, high, color=color, alpha=0.15, linewidth=0, zorder=1)
    else:
        ax.vlines(k + shift, low, high, color=color, linewidth=1, alpha=0.55, zorder=2)


@figure
def flip_bars(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Cases that always, sometimes and never succeed, with the chance that two trials of a case disagree.

    `table` is as `tables.flip_table` gives it, of one panel and one bucket.
    """
    shown = partial_below(table[table["cases"] > 0].sort_values(["always", "sometimes", "entry"]))
    ax = axes_for(ax, table, width, 1.4 + ROW * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    if shown["estimate"].isna().all():
        return nothing(ax, "No case was run twice, so nothing is known about trials that disagree.")
    labels = {state: f"succeed in {words}" for state, words in STABLE_WORDS.items()}
    shares = {labels[state]: list(100 * shown[state] / shown["cases"]) for state in STABLE_COLORS}
    stacked_bars(
        ax,
        shares,
        {labels[state]: color for state, color in STABLE_COLORS.items()},
        {labels[state]: [str(n) for n in shown[state]] for state in STABLE_COLORS},
    )
    for y, row in enumerate(shown.itertuples()):
        interval = f" ({span(100 * row.low, 100 * row.high)})" if row.low == row.low else ", no interval"
        at_right(ax, y, "one trial" if row.estimate != row.estimate else f"{percent(row.estimate)}{interval}")
    at_right(ax, len(shown) - 0.45, "flip rate (95 %)", color=GREY, va="bottom")
    name_rows(ax, names_of(ax, list(shown["entry"])))
    bucket = shown["bucket"].iloc[0]
    ax.set(xlim=(0, 100), ylim=(-0.6, len(shown) - 0.4), xlabel=f"% of {WORDS.get(bucket, bucket)} cases")
    ax.grid(axis="y", visible=False)
    explain(ax)
    says(
        ax,
        f"Cases that succeed in every trial, in some and in none: {WORDS.get(bucket, bucket)} cases",
        "Bars: share of the cases; numbers in them: cases. On the right: the flip rate, the chance that "
        "two trials of one case end differently, with its 95 % interval.",
        f"n = {span_of(shown['cases'])} cases × {trials_of(shown['trials'])} per {said_of(ax).noun}."
        if "trials" in shown
        else "",
        rows=len(shown),
    )
    return ax


@figure
def trial_spread(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """A metric in every trial, with the median that the board shows.

    `table` is as `tables.trial_table` gives it, of one panel.
    """
    from ..analysis.tables.headlines import metric_of

    shown = table[table["value"].notna() & table["in_median"]]
    if any(metric_of(name).scale.summed for name in shown["metric"].unique()):  # counts of fewer traps do not compare
        shown = shown[shown["cases"] == shown["cases"].max()]
    models = shown.groupby("entry")["value"].median().sort_values()
    models = models[sorted(models.index, key=lambda entry: entry not in partial_in(table))]
    ax = axes_for(ax, table, width, 1.3 + ROW * max(len(models), 3))
    if shown.empty:
        return nothing(ax, why_nothing(table))
    if not table.dropna(subset=["value"]).groupby("entry").size().gt(1).any():
        return nothing(ax, "No model was run twice, so there is no spread of trials to show.")
    metric = metric_of(shown["metric"].iloc[0])
    _not_drawn(ax, table[table["value"].notna() & ~table.index.isin(shown.index)])
    scale = metric.scale.times
    dot: dict[str, Any] = dict(marker="o", markersize=4, color="#0072B2", alpha=0.75, linestyle="none")
    for y, (entry, median) in enumerate(models.items()):
        values = scale * shown.loc[shown["entry"] == entry, "value"]
        ax.plot([values.min(), values.max()], [y, y], color="#BBBBBB", linewidth=1.2, zorder=2)
        ax.plot(values, _beside(values, y), zorder=3, **dot)
        ax.plot([scale * median] * 2, [y - 0.34, y + 0.34], color="#222222", linewidth=1.3, zorder=4)
        at_right(ax, y, rounded(values.max() - values.min(), 0 if metric.scale.summed else metric.scale.digits))
    at_right(ax, len(models) - 0.45, "range", color=GREY, va="bottom")
    name_rows(ax, names_of(ax, list(models.index)))
    ax.grid(axis="y", visible=False)
    if metric.scale.summed:
        ax.locator_params(axis="x", integer=True)
        ax.set_xlim(-0.5, max(scale * shown["value"].max(), 2) + 0.5)
    many = span_of(shown.groupby("entry").size())
    ax.set(ylim=(-0.6, len(models) - 0.4), xlabel=metric.axis_label)
    explain(
        ax,
        [
            mark(ax, "one trial", **dot),
            mark(ax, "median over trials", marker="|", markersize=9, markeredgewidth=1.3, color="#222222"),
            mark(ax, "range of the trials, no interval", color="#BBBBBB", linestyle="-", linewidth=1.2),
        ],
    )
    says(
        ax,
        f"Trial by trial: {metric.title.lower()}",
        f"{metric.axis_label} in each of {many} trials (dots; equal trials stand above each other), their median, which boards lead with, and on the right "
        "their range, largest minus smallest. The range is not an interval: it grows with the number of trials.",
        f"n = {span_of(shown['cases'])} cases per trial.",
        rows=len(models),
    )
    return ax


def _beside(values: pd.Series, y: float) -> pd.Series:
    """Heights of the dots of one row; equal values stand above each other."""
    same = values.groupby(values)
    return y + 0.16 * (same.cumcount() - (same.transform("size") - 1) / 2)


def _not_drawn(ax: Axes, left: pd.DataFrame) -> None:
    """Name, below the figure, the trials that are too incomplete for the median or have fewer traps than others."""
    if len(left):
        told = [
            f"{name_of(ax, r['entry'])} trial {r['trial']} ({counted(r['cases'], 'case')})"
            for r in left.to_dict("records")
        ]
        say_below(ax, f"Not drawn, for too few cases: {listed(told)}")


@figure
def textbook_decay(
    *,
    table: pd.DataFrame,
    rate: float,
    published: pd.DataFrame | None = None,
    ax: Axes | None = None,
    width: str = "page",
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
    """
    ax = axes_for(ax, width=width, height=4.2)
    mine = table[table["rate"].round(6) == round(rate, 6)]
    if mine.empty:
        return nothing(ax, f"The table holds no rate of {rate:g}.")
    last, labels = int(mine["k"].max()), []
    for (mix, rows), color in zip(mine.groupby("mix", sort=False), ("#222222", "#666666", "#999999"), strict=False):
        line = ":" if mix == "every case alike" else "-"
        ax.plot(rows["k"], 100 * rows["value"], color=color, linestyle=line, linewidth=1.6)
        labels.append((100 * rows["value"].iloc[-1], f"{percent(rate)}, {mix}", color))
    ax.set(xlim=(0.8, last + 0.05), ylim=(-3, 103), xlabel=ALL_SUCCEED, ylabel="pass^k, %")
    ax.set_xticks(range(1, last + 1))
    handles = [
        mark(ax, "p^k, a lower bound for any mix", color=GREY, linestyle=":"),
        mark(ax, "computed for a mix of cases", color=GREY, linestyle="-"),
    ]
    if published is not None:
        handles.append(mark(ax, "published figures", color=GREY, marker="^", markersize=5, linestyle="-"))
    explain(ax, handles)
    names_at_the_end(ax, labels, last)
    if published is not None:
        _published_lines(ax, published)
    says(
        ax,
        "The same mean rate, three decays",
        "Dotted: p^k, which the published 90/80/70/60 % table shows: a lower bound for any mix of cases. Solid grey: computed for mixes of cases of "
        "the same mean rate; these are not estimates and have no interval.",
        "Triangles: published figures, each with its own p^k; no intervals were published."
        if published is not None
        else "",
        rows=len(mine),
    )
    return ax


def _published_lines(ax: Axes, published: pd.DataFrame) -> None:
    """Published pass^k of each model and domain, each with its own p^k, named at its end."""
    handles = []
    for ((model, domain), rows), color in zip(
        published.groupby(["model", "domain"], sort=False), PUBLISHED_LINES, strict=False
    ):
        look: dict[str, Any] = dict(color=color, marker="^", markersize=5, linewidth=1.2)
        ax.plot(rows["k"], 100 * rows["pass_hat_k"], **look)
        ax.plot(rows["k"], 100 * rows["pass_hat_k"].iloc[0] ** rows["k"], color=color, linestyle=":", linewidth=0.9)
        handles.append(mark(ax, f"{model}, {domain}", **{**look, "linestyle": "-"}))
    explain(ax, handles)


@figure
def power_curves(
    *, table: pd.DataFrame, target: float = 0.8, noun: str = "traps", ax: Axes | None = None, width: str = "page"
) -> Axes:
    """The chance of telling two models apart against trials per trap: on these traps (solid), and on traps like these (dashed).

    Parameters
    ----------
    table : DataFrame
        As `tables.power_table` gives it.
    target : float
        The power wanted, drawn as a line.
    noun : str
        What the units are called.
    """
    ax = axes_for(ax, width=width, height=4.2)
    if table.empty:
        return nothing(ax, "This table holds no plans.")
    last, labels = int(table["trials"].max()), []
    rate_a, rate_b = table[["rate_a", "rate_b"]].iloc[0]
    many, _, *settings = table["method"].iloc[0].split(", ")
    for color, units in zip(LINES, sorted(set(table["units"])), strict=False):
        for estimand, line in (("these", "-"), ("like these", "--")):
            mine = table[(table["units"] == units) & (table["estimand"] == estimand)].sort_values("trials")
            ax.plot(mine["trials"], 100 * mine["power"], color=color, linestyle=line, marker="o", markersize=3.5)
            if len(mine):
                labels.append((100 * mine["power"].iloc[-1], f"{units} {noun}, {estimand}", color))
    ax.axhline(100 * target, color="#888888", linewidth=0.9, linestyle=":")
    ax.set(xlim=(0.6, last + 0.05), ylim=(-3, 103), xlabel=f"Trials per {noun.removesuffix('s')}", ylabel="Power, %")
    ax.set_xticks(sorted(set(table["trials"])))
    explain(
        ax,
        [
            mark(ax, f"on these {noun}", color=GREY, linestyle="-"),
            mark(ax, f"on {noun} like these", color=GREY, linestyle="--"),
            mark(ax, f"power wanted, {percent(target)}", color="#888888", linestyle=":"),
        ],
    )
    if is_narrow(ax):
        colors = {units: color for color, units in zip(LINES, sorted(set(table["units"])), strict=False)}
        explain(ax, [mark(ax, f"{units} {noun}", color=color, linestyle="-") for units, color in colors.items()])
    else:
        names_at_the_end(ax, labels, last)
    says(
        ax,
        f"What a plan can detect: {noun}",
        f"The chance that a paired test tells {percent(rate_a, 1)} from {percent(rate_b, 1)} of the {noun}. Solid: on these {noun}, where more trials help. Dashed: on "
        f"{noun} like these, where only more {noun} help much. Dotted: the power wanted. With one trial the permutation has few outcomes and rejects "
        "less often than its level allows, so that the solid line can begin below the dashed one.",
        f"{many}; solid: exact permutation of trials, dashed: Student's t, both two-sided; {', '.join(settings)} (icc: correlation of two trials of "
        f"a {noun.removesuffix('s')}; coupling: of the two models over {noun}).",
        rows=len(table),
    )
    return ax


def _spread_out(models: list[str], named: int) -> list[str]:
    """Some of the models, evenly over their order, the first and the last among them."""
    named = min(named, len(LINES), len(models))
    if named < 2:
        return models[:named]
    return list(dict.fromkeys(models[round(i * (len(models) - 1) / (named - 1))] for i in range(named)))
