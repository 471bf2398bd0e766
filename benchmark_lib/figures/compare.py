"""Two models next to each other, and one model among the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.tables.leaderboard import NO_MERIT
from ..scoring.written import percent, rounded
from .board import trials_in_words
from .canvas import LINES, QUIET, axes_for, explain, figure, is_narrow, mark, nothing, rows_high, why_nothing
from .captions import says
from .labels import at_right, name_of, name_rows, names_at_the_end

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

FIRST, SECOND, PUBLISHED = "#0072B2", "#D55E00", "#CC79A7"


@figure
def differences(*, table: pd.DataFrame, a: str, b: str, ax: Axes | None = None, width: str = "page") -> Axes:
    """The difference of every share that is tested, in percentage points with its interval: filled where it is clear.

    `table` is as `tables.comparison_table` gives it; unsafe acts are drawn as a share of the traps.
    """
    from ..analysis.estimators.comparisons import NOISE, NOT_TESTED, SURE
    from ..analysis.estimators.estimate import counted
    from ..analysis.tables.headlines import metric_of

    bounded = table["metric"].map(lambda name: metric_of(name).scale.bounds is not None).astype(bool)
    shown = table[bounded & table["difference"].notna() & table["word"].ne(NOT_TESTED)].iloc[::-1]
    ax = axes_for(ax, _sides(table), width, 1.4 + 0.36 * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, "No case has values for both models, so there is no difference to draw.")
    factors = [100 / metric_of(r.metric).scale.factor(r.cases) for r in shown.itertuples()]
    for y, (row, scale) in enumerate(zip(shown.itertuples(), factors, strict=True)):
        _difference(ax, y, row, scale)
    titles = [
        f"{r.title}{f' (% of {s.noun}s)' if s.summed else ''}\n{counted(int(r.cases), 'case')}"
        for r, s in zip(shown.itertuples(), (metric_of(name).scale for name in shown["metric"]), strict=True)
    ]
    reach = min(105.0, 8 + float(np.nanmax(np.abs([shown[c] * factors for c in ("low", "high")]))))
    ax.axvline(0, color="#222222", linewidth=1)
    name_rows(ax, titles)
    ax.set(xlim=(-reach, reach), ylim=(-0.6, len(shown) - 0.4))
    ax.set(xlabel=f"{name_of(ax, b)} minus {name_of(ax, a)}, percentage points")
    ax.grid(axis="y", visible=False)
    true = shown["truth"].notna().any()
    dot = dict(marker="o", markersize=6, color=FIRST)
    explain(
        ax,
        [
            mark(ax, SURE, **dot),
            mark(ax, NOISE, **dot, markerfacecolor="white"),
            mark(ax, "adjusted 95 %, cases like these", color=FIRST, linestyle="-", linewidth=1.6),
            mark(ax, "95 %, these cases", color=FIRST, linestyle="-", linewidth=4.5, alpha=0.3),
            *([mark(ax, "true difference", marker="x", markersize=7, color="#222222")] if true else []),
            *([mark(ax, "*: p not corrected, exploratory")] if shown["p_adjusted"].isna().any() else []),
        ],
    )
    says(
        ax,
        f"What differs: {name_of(ax, b)} minus {name_of(ax, a)}",
        "Difference of the means over shared cases, in percentage points. Line: the interval for cases like these, as wide as the correction over the "
        "planned metrics needs, from the same t test as p; band: the 95 % interval for exactly these cases. Filled where the difference is "
        "clear at the 5 % level. On the right: p, corrected by Holm's method over the planned metrics; * marks those that are not corrected."
        + (" Cross: the true difference." if true else ""),
        rows=len(shown),
    )
    return ax


def _difference(ax: Axes, y: int, row: Any, scale: float) -> None:
    """The difference of one metric with both intervals, its true value where that is known, and p on the right."""
    from ..analysis.estimators.comparisons import SURE

    these: dict[str, Any] = dict(linewidth=4.5, alpha=0.3, solid_capstyle="butt")
    ax.plot([scale * row.these_low, scale * row.these_high], [y, y], color=FIRST, **these)
    ax.plot([scale * row.low, scale * row.high], [y, y], color=FIRST, linewidth=1.6)
    face = FIRST if row.word == SURE else "white"
    ax.plot(scale * row.difference, y, marker="o", markersize=6, color=FIRST, markerfacecolor=face)
    if row.truth == row.truth:
        ax.plot(scale * row.truth, y, marker="x", markersize=7, color="#222222", markeredgewidth=1.6)
    adjusted = row.p_adjusted == row.p_adjusted
    at_right(ax, y, _p(row.p_adjusted if adjusted else row.p) + ("" if adjusted else " *"))


def _sides(table: pd.DataFrame) -> pd.DataFrame:
    """The two that are compared, a row each."""
    import pandas as pd

    told = ("name", "panel", "partial")
    both = [table[[f"{name}_{side}" for name in told]].set_axis(["entry", *told[1:]], axis=1).head(1) for side in "ab"]
    return pd.concat(both, ignore_index=True)


def _p(value: float) -> str:
    """A p-value beside a row: ``p = 0.59``, ``p < 0.0001``."""
    from ..analysis.tables.verdicts import p_in_words

    words = p_in_words(value)
    return f"p {words}" if words.startswith("<") else f"p = {words}"


@figure
def differing_cases(
    *, table: pd.DataFrame, a: str, b: str, most: int = 24, ax: Axes | None = None, width: str = "page"
) -> Axes:
    """The cases on which the two models differ most in success: the share of trials in which each succeeded.

    Parameters
    ----------
    table : DataFrame
        As `tables.differing_cases` gives it.
    most : int
        How many rows are drawn.
    """
    sides, table = _sides(table), table[table["difference"] != 0]
    shown = table.head(most).iloc[::-1]
    ax = axes_for(ax, sides, width, 1.4 + rows_high(max(len(shown), 4)))
    if shown.empty:
        return nothing(ax, "The two models do not differ in success on any case that both ran.")
    for y, row in enumerate(shown.itertuples()):
        ax.plot([100 * row.a, 100 * row.b], [y, y], color="#C9C9C9", linewidth=2, zorder=1)
        for name, value, color, sign, size in ((a, row.a, FIRST, "o", 5), (b, row.b, SECOND, "D", 4.5)):
            look: dict[str, Any] = dict(color=color, marker=sign, markersize=size, linestyle="none")
            ax.plot(100 * value, y, label=None if y else name_of(ax, name), **look)
        at_right(ax, y, f"{row.a_trials}  {row.b_trials}", family="monospace")
    between = "\n" if is_narrow(ax) else " "
    name_rows(ax, [f"{r.case_id}{between}({r.bucket.replace('_', ' ')})" for r in shown.itertuples()])
    left = f"the {len(shown)} widest of {len(table)}" if len(table) > len(shown) else f"all {len(table)}"
    ax.set(xlim=(-5, 105), ylim=(-0.7, len(shown) - 0.3), xlabel=f"% of trials that succeeded; {left}")
    ax.grid(axis="y", visible=False)
    explain(ax)
    says(
        ax,
        f"On which cases: {name_of(ax, a)} and {name_of(ax, b)}",
        f"Share of the trials of each case in which each succeeded; {left} cases on which they differ in success. On the right: the trials of each, + success, "
        "- failure. Single outcomes, so without intervals.",
        rows=len(shown),
    )
    return ax


@figure
def chance_to_know(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """The chance of detecting the observed difference for cases like these, against the number of trials.

    `table` is as `tables.what_it_takes` gives it.
    """
    from ..scoring.metrics import METRICS

    ax = axes_for(ax, _sides(table), width, 3.2)
    columns = [c for c in table.columns if c.startswith("power_")]
    known = table.dropna(subset=["a", "b"])
    if known.empty:
        return nothing(ax, "The two models share too few cases for a comparison.")
    differ = known[known["a"] != known["b"]]
    if differ.empty:
        return nothing(ax, "The two models do not differ in any planned metric, so there is no difference to detect.")
    shown = differ.dropna(subset=columns)
    if shown.empty:
        return nothing(ax, why_nothing(differ))
    trials = [int(c.removeprefix("power_")) for c in columns]
    labels, sides = [], [name_of(ax, table[f"name_{side}"].iloc[0]) for side in "ab"]
    for place, row in enumerate(shown.to_dict("records")):
        heights = [100 * row[c] for c in columns]
        ax.plot(range(len(trials)), heights, marker="o", markersize=4, color=LINES[place])
        scale = METRICS[row["metric"]].scale
        means = f"({rounded(100 * row['a'], scale.digits)} v {percent(row['b'], scale.digits)})"
        labels.append((heights[-1], f"{METRICS[row['metric']].title} {means}", LINES[place]))
    ax.axhline(80, color="#888888", linewidth=0.8, linestyle=":")
    ax.set_xticks(range(len(trials)), [str(n) for n in trials])
    ax.set(ylim=(-3, 103), xlim=(-0.15, len(trials) - 0.9))
    ax.set(xlabel="Trials of each case", ylabel="Chance of detecting it, %")
    explain(ax, [mark(ax, "80 %, the usual aim", color="#888888", linestyle=":")])
    names_at_the_end(ax, labels, len(trials) - 1)
    says(
        ax,
        f"The chance of finding the difference between {sides[0]} and {sides[1]}",
        f"Simulated chance that the test for cases like these finds the observed difference (in brackets: the means of {sides[0]} and {sides[1]}) with so many trials of each "
        "case. A simulated power is no estimate with an interval: it takes the observed rates as true.",
        rows=len(shown) * len(trials),
    )
    return ax


@figure
def in_the_field(*, table: pd.DataFrame, entry: str, ax: Axes | None = None, width: str = "page") -> Axes:
    """One entry among the others: one line per metric, the others in grey, the entry in colour with the interval of its mean.

    Parameters
    ----------
    table : DataFrame
        As `reports.one_model.numbers.field_table` gives it: panel, metric, title, entry, value, low, high (shares;
        unsafe acts as a share of the traps).
    entry : str
        The entry of the report.
    """
    from ..analysis.estimators.estimate import counted

    ax = axes_for(ax, table[["entry", "partial"]], width, 1.4 + 0.34 * max(table["metric"].nunique(), 3))
    shown = table.dropna(subset=["value"])
    if shown.empty:
        return nothing(ax, "Nothing was scored, so there is nothing to compare.")
    metrics = list(dict.fromkeys(shown["metric"]))[::-1]
    for y, metric in enumerate(metrics):
        rows = shown[shown["metric"] == metric]
        public = rows[rows["panel"] == "published"]
        rows = rows[rows["panel"] != "published"]
        others, mine = rows[rows["entry"] != entry], rows[rows["entry"] == entry]
        stroke: dict[str, Any] = dict(marker="|", linestyle="none")
        ax.plot(100 * public["value"], np.full(len(public), y - 0.3), markersize=5, color=PUBLISHED, **stroke)
        grey = {**stroke, "markersize": 11, "color": QUIET, "markeredgewidth": 1.4}
        ax.plot(100 * others["value"], np.full(len(others), y), **grey)
        whole = others[others["partial"].eq("")]
        if len(whole) > 1:
            median = {**stroke, "markersize": 15, "color": "#666666", "markeredgewidth": 2}
            ax.plot(100 * whole["value"].median(), y, **median)
        for row in mine.itertuples():
            ax.plot([100 * row.low, 100 * row.high], [y, y], color=FIRST, linewidth=1.4)
            ax.plot(100 * row.value, y, marker="o", markersize=6, color=FIRST)
    better = {True: "higher is better", False: "lower is better"}
    own = shown["entry"] == entry
    titles = {r.metric: f"{r.title}\n({better[bool(r.higher_is_better)]})" for r in shown.itertuples()}
    titles |= {
        r.metric: f"{r.title}{'*' * r.no_merit}, n = {r.n:.0f}\n({better[bool(r.higher_is_better)]})"
        for r in shown[own].itertuples()
    }
    name_rows(ax, [titles[m] for m in metrics])
    ax.set(xlim=(-3, 103), ylim=(-0.6, len(metrics) - 0.4), xlabel="%")
    ax.grid(axis="y", visible=False)
    public = shown["panel"] == "published"
    others = shown.loc[~public & ~own, "entry"].nunique()
    whole = shown.loc[~public & ~own & shown["partial"].eq(""), "entry"].nunique()
    stroke = dict(marker="|", markersize=9, color=QUIET, markeredgewidth=1.4)
    explain(
        ax,
        [
            mark(ax, f"{name_of(ax, entry)}: median over trials", marker="o", color=FIRST, markersize=6),
            mark(ax, "its mean, 95 % interval", color=FIRST, linestyle="-", linewidth=1.4),
            *([mark(ax, f"{others} other{'s' * (others != 1)} of its panel", **stroke)] if others else []),
            *([mark(ax, "their median", **{**stroke, "color": "#666666", "markeredgewidth": 2})] if whole > 1 else []),
            *([mark(ax, "published models", marker="|", markersize=5, color=PUBLISHED)] if public.any() else []),
        ],
    )
    says(
        ax,
        f"{name_of(ax, entry)} among the others",
        "Dot: median over trials; line: 95 % interval of the mean.",
        f"Grey strokes: the medians of {counted(others, 'other')}{f', the longer one the median of the {whole} that played all cases' if whole > 1 else ''}."
        if others
        else "There are no others of its kind here.",
        trials_in_words(shown[own]),
        NO_MERIT if shown.loc[own, "no_merit"].any() else "",
        f"Pink: {counted(shown.loc[public, 'entry'].nunique(), 'published model')}, without an interval."
        if public.any()
        else "",
        rows=len(metrics),
    )
    return ax
