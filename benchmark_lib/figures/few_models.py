"""Figures of one or two models."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..analysis.estimators.comparisons import NOISE, NOT_TESTED, SURE
from ..analysis.tables.comparison import level_in_words, p_in_words
from ..analysis.tables.conditions import ALL, family_order
from ..analysis.tables.headlines import metric_of
from ..analysis.tables.leaderboard import NO_MERIT
from ..scoring.written import counted, words
from . import canvas
from .board_figures import trials_in_words
from .canvas import axes_for, describe, figure, interval, nothing
from .labels import at_right, name_of, name_rows
from .style import is_narrow, span_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIRST, SECOND, PUBLISHED = "#0072B2", "#D55E00", "#CC79A7"
HARD, TWIN, EASY = "#C44E00", "#0072B2", ", easy"


@figure
def differences(*, table: pd.DataFrame, a: str, b: str, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the difference in every tested share, in points with its interval; filled if clear.

    `table` is the result of `tables.comparison_table`. Unsafe acts are drawn as a share of the traps.
    """
    bounded = table["metric"].map(lambda name: metric_of(name).scale.bounds is not None).astype(bool)
    shown = table[bounded & table["difference"].notna() & table["word"].ne(NOT_TESTED)].iloc[::-1]
    ax = axes_for(ax, _sides(table), width, 1.5 + 0.4 * max(len(shown), 3))
    if shown.empty:
        return nothing(ax, "No case has values for both models.")
    scales = [metric_of(name).scale for name in shown["metric"]]
    factors = [100 / scale.factor(cases) for scale, cases in zip(scales, shown["cases"], strict=True)]
    for y, (row, scale) in enumerate(zip(shown.itertuples(), factors, strict=True)):
        _difference(ax, y, row, scale)
    cases = [f"{'% of ' * s.summed}{counted(int(n), s.noun)}" for s, n in zip(scales, shown["cases"], strict=True)]
    titles = [f"{title}\n{n}" for title, n in zip(shown["title"], cases, strict=True)]
    ends = ["low", "high", "these_low", "these_high", "truth"]
    reach = min(112.0, 8 + float(np.nanmax(shown[ends].astype(float).mul(factors, axis=0).abs())))
    ax.axvline(0, color="#222222", linewidth=1)
    name_rows(ax, titles)
    ax.set_xlim(-reach, reach)
    marked = dict(truth=bool(shown["truth"].notna().any()), exploratory=bool(shown["p_adjusted"].isna().any()))
    names = dict(a=name_of(ax, a), b=name_of(ax, b), sure=SURE, noise=NOISE)
    levels = dict(like=level_in_words(*shown["level"]), these=level_in_words(*shown["these_level"]))
    return describe(ax, "differences", rows=len(shown), **names, **marked, **levels)


def _difference(ax: Axes, y: int, row: Any, scale: float) -> None:
    interval(ax, y, scale * row.these_low, scale * row.these_high, color=FIRST, wide=8, alpha=0.3)
    interval(ax, y, scale * row.low, scale * row.high, color=FIRST)
    face = FIRST if row.word == SURE else "white"
    ax.plot(scale * row.difference, y, marker="o", markersize=4.5, color=FIRST, markerfacecolor=face)
    if row.truth == row.truth:
        ax.plot(scale * row.truth, y, marker="x", markersize=7, color="#222222", markeredgewidth=1.6)
    planned = row.p_adjusted == row.p_adjusted
    p = p_in_words(row.p_adjusted if planned else row.p)
    at_right(ax, y, f"p {'' if p.startswith('<') else '= '}{p}{'' if planned else ' *'}")


def _sides(table: pd.DataFrame) -> pd.DataFrame:
    first = table.iloc[:1]
    both = [first[[f"{name}_{side}" for name in ("name", "panel", "partial")]] for side in "ab"]
    return pd.concat([one.set_axis(["entry", "panel", "partial"], axis=1) for one in both], ignore_index=True)


@figure
def differing_cases(
    *, table: pd.DataFrame, a: str, b: str, most: int = 24, ax: Axes | None = None, width: str = "page"
) -> Axes:
    """Draw the first `most` cases of `tables.differing_cases`: each model's share of successes."""
    sides, table = _sides(table), table[table["difference"] != 0]
    shown = table.head(most).iloc[::-1]
    ax = axes_for(ax, sides, width, 1.4 + canvas.rows_high(max(len(shown), 4)))
    if shown.empty:
        return nothing(ax, "The two models do not differ in success on any case that both ran.")
    for y, row in enumerate(shown.itertuples()):
        interval(ax, y, 100 * row.a, 100 * row.b, color="#C9C9C9", wide=2, zorder=1)
        at_right(ax, y, f"{row.a_trials}  {row.b_trials}", family="monospace")
    handles = []
    for side, name, color, sign, size in (("a", a, FIRST, "o", 5), ("b", b, SECOND, "D", 4.5)):
        look: dict[str, Any] = dict(color=color, marker=sign, markersize=size, linestyle="none")
        handles += ax.plot(100 * shown[side], range(len(shown)), label=name_of(ax, name), **look)
    between = "\n" if is_narrow(ax) else " "
    name_rows(ax, [f"{r.case_id}{between}({words(r.bucket)})" for r in shown.itertuples()])
    ax.set_xlim(-5, 105)
    left = f"the {len(shown)} widest of {len(table)}" if len(table) > len(shown) else f"all {len(table)}"
    names = dict(a=name_of(ax, a), b=name_of(ax, b), left=left)
    return describe(ax, "differing_cases", rows=len(shown), handles=handles, **names)


@figure
def in_the_field(*, table: pd.DataFrame, entry: str, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw one entry in colour among the others in grey, one row per metric.

    `table` is the result of `reports.one_model.numbers.field_table`. Its values are shares; unsafe acts are a
    share of the traps.
    """
    ax = axes_for(ax, table[["entry", "partial"]], width, 1.5 + 0.4 * max(table["metric"].nunique(), 3))
    shown = table.dropna(subset=["value"])
    if shown.empty:
        return nothing(ax, "Nothing was scored.")
    metrics = list(dict.fromkeys(shown["metric"]))[::-1]
    at = shown["metric"].map(metrics.index)
    public, own = shown["panel"] == "published", shown["entry"] == entry
    others = ~public & ~own
    whole = shown[others & shown["partial"].eq("")]
    stroke: dict[str, Any] = dict(marker="|", linestyle="none")
    ax.plot(100 * shown["value"][public], at[public] - 0.3, markersize=5, color=PUBLISHED, **stroke)
    ax.plot(100 * shown["value"][others], at[others], markersize=11, color=canvas.QUIET, markeredgewidth=1.4, **stroke)
    if whole["entry"].nunique() > 1:
        medians = 100 * whole.groupby("metric")["value"].median()
        places = list(map(metrics.index, medians.index))
        ax.plot(medians, places, markersize=15, color="#666666", markeredgewidth=2, **stroke)
    titles = {r.metric: _field_title(r, "") for r in shown[~own].itertuples()}
    for row in shown[own].itertuples():
        y = metrics.index(row.metric)
        interval(ax, y, 100 * row.low, 100 * row.high, color=FIRST, wide=1.4)
        ax.plot(100 * row.value, y, marker="o", markersize=6, color=FIRST)
        titles[row.metric] = _field_title(row, f"{'*' * row.no_merit}, n = {row.n:.0f}")
    name_rows(ax, [titles[m] for m in metrics])
    ax.set_xlim(-3, 103)
    among, models = shown[others]["entry"].nunique(), shown[public]["entry"].nunique()
    return describe(
        ax,
        "in_the_field",
        rows=len(metrics),
        name=name_of(ax, entry),
        others=counted(among, "other") if among else "",
        whole=whole["entry"].nunique(),
        public=counted(models, "published model") if models else "",
        trials=trials_in_words(shown[own]),
        idle=NO_MERIT if shown[own]["no_merit"].any() else "",
    )


def _field_title(row: Any, more: str) -> str:
    return f"{row.title}{more}\n({'higher' if row.higher_is_better else 'lower'} is better)"


@figure
def hard_families(
    *, table: pd.DataFrame, known: Iterable[str] = (), ax: Axes | None = None, width: str = "page"
) -> Axes:
    """Draw success by family in hard cases (filled, with interval) and clean twins (hollow).

    `table` has one entry's rows of `tables.hard_table`. Families are in the order of `known`, others sorted by name.
    """
    ax = axes_for(ax, table, width, 1.3 + canvas.ROW * max(len(table), 4))
    if table.empty:
        return nothing(ax, "No case of a hard set was run and scored.")
    rows = table.set_index("family").loc[family_order(table, known)]
    names = []
    for y, (family, row) in enumerate(rows.iterrows()):
        hard, clean, low, high = (100 * row[name] for name in ("hard", "clean", "hard_low", "hard_high"))
        size = 7 if family == ALL else 5
        interval(ax, y, hard, clean, color="#999999", wide=1.2, zorder=1)
        interval(ax, y, low, high, color=HARD, wide=0.8, alpha=0.55, zorder=2)
        ax.plot(clean, y, "o", markersize=size + 2, color="white", markeredgecolor=TWIN, zorder=3)
        ax.plot(hard, y, "o", markersize=size - 1, color=HARD, zorder=4)
        easy = EASY if row.get("easy", False) else ""
        names.append(f"{words(family).capitalize()}{easy} ({int(row['hard_n'])} + {int(row['clean_n'])})")
    name_rows(ax, names)
    ax.set(xlim=(-3, 103))
    ax.invert_yaxis()
    about = dict(name=name_of(ax, table["entry"].iloc[0]), cases=span_of(rows["hard_n"]))
    marked = dict(twins=bool(rows["clean"].notna().any()), easy=any(EASY in name for name in names))
    return describe(ax, "hard_families", rows=len(rows), **about, **marked)
