"""Figures of the traps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.panels import partial_in
from ..analysis.tables.safety import STATES
from ..scoring.deciding import SUCCESS_STATES
from ..scoring.written import counted, rounded, words
from . import canvas
from .board_figures import on_all_traps, trials_in_words
from .canvas import GREY, LINES, QUIET, ROW, SMALL, axes_for, describe, figure, leads, mark, nothing
from .labels import at_right, name_rows, names_of, partial_below
from .style import figure_notes, figure_of, is_narrow, listed, span_of, trials_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STATE_COLORS = {"held": "#BFD9EA", "wavered": "#E69F00", "unengaged": "#D9D9D9", "unsafe": "#C44E00"}
SOME = "unsafe in some trials"
CELL_COLORS = {**{s: c for s, c in STATE_COLORS.items() if s != "unsafe"}, SOME: "#CC79A7", "unsafe": "#C44E00"}
"""Colours of cells by the state of most trials, with one for an unsafe minority."""
STATE_SIGNS = {"held": "", "wavered": "w", "unengaged": "u", "unsafe": SUCCESS_STATES["unsafe"][0]}
"""Sign of a cell. The site's other signs mark success, for which *held* alone is not enough."""
KIND_COLORS = {
    "free_goods": "#0072B2",
    "enabling_fraud": "#D55E00",
    "wrongful_cancellation": "#009E73",
    "false_closure": "#CC79A7",
}
MODELS_ACROSS = 10
"""Most models in columns of a narrow matrix."""


@figure
def trap_matrix(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw every trap by every model: the state of most trials, or how many were unsafe.

    `table` is the result of `tables.trap_table` for one panel. Many models are rows in a narrow figure.
    """
    traps = list(dict.fromkeys(table["trap"]))
    models = table.groupby("entry")["unsafe_share"].mean().sort_values(na_position="last").index
    models = sorted(models, key=partial_in(table).__contains__)
    turned = width == "column" and len(models) > MODELS_ACROSS
    ax = axes_for(ax, table, width, 2.2 + 0.23 * max(len(models if turned else traps), 4))
    if table.empty or not table["trials"].sum():
        return nothing(ax, "No trap was run and scored, so there is no matrix.")
    if len(models) == 1:
        return nothing(ax, f"A matrix of one {figure_notes(ax).noun} would be a list: the tables name its traps.")
    painted = table["state"].mask(table["unsafe"].gt(0) & table["state"].ne("unsafe"), SOME)
    table = table.assign(painted=painted)
    _cells(ax, table, traps, models, turned)
    kinds = table.drop_duplicates("trap").set_index("trap")["kind"]
    for above, below in zip(traps, traps[1:]):
        if kinds[above] != kinds[below]:
            line = ax.axvline if turned else ax.axhline
            line(traps.index(below), color=GREY, linewidth=0.8)
    rows, columns = (models, traps) if turned else (traps, models)
    names = {**dict(zip(models, names_of(ax, models), strict=True)), **{t: words(t) for t in traps}}
    ax.set(xlabel="", ylabel="")
    name_rows(ax, [names[r] for r in rows], [y + 0.5 for y in range(len(rows))])
    slanted = len(columns) > (1 if is_narrow(ax) else 3)
    places = np.arange(len(columns)) + 0.5
    ax.set_xticks(places, [names[c] for c in columns], rotation=90 if slanted else 0, fontsize=SMALL)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    trials, ran = table.loc[table["trials"] > 0, "trials"], table[table["trials"] > 0].groupby("entry").size()
    counts = dict(ran=span_of(ran) if ran.min() < len(traps) else "", traps=len(traps), trials=trials_of(trials))
    about = dict(handles=_states(ax, table), turned=turned, **counts)
    return describe(ax, "trap_matrix", rows=len(traps) * len(models), **about)


def _cells(ax: Axes, table: pd.DataFrame, traps: list[str], models: list[str], turned: bool) -> None:
    import seaborn as sns
    from matplotlib.colors import ListedColormap

    states, unsafe = list(CELL_COLORS), table["unsafe"].astype(str)
    share = unsafe if is_narrow(ax) else unsafe + "/" + table["trials"].astype(str)
    drawn = table.assign(
        number=table["painted"].map({state: number for number, state in enumerate(states)}).astype(float),
        sign=table["state"].map(STATE_SIGNS).fillna("").mask(table["stability"] == "flips", share),
    )
    grid, signs = (
        drawn.pivot(index="trap", columns="entry", values=name).reindex(index=traps, columns=models)
        for name in ("number", "sign")
    )
    if turned:
        grid, signs = grid.T, signs.T
    ax.set_facecolor("white")
    ax.patch.set(hatch="///", edgecolor="#C8C8C8")
    look: dict[str, Any] = dict(linecolor="white", linewidths=0.6 if is_narrow(ax) else 1.2)
    look |= dict(xticklabels=False, yticklabels=False)  # the caller writes the names, without formulas
    look |= dict(annot=signs.fillna(""), fmt="", annot_kws={"fontsize": SMALL}, cbar=False)
    colors = ListedColormap(list(CELL_COLORS.values()))
    sns.heatmap(grid, ax=ax, mask=grid.isna(), cmap=colors, vmin=-0.5, vmax=len(states) - 0.5, **look)


def _states(ax: Axes, table: pd.DataFrame) -> list[Any]:
    from matplotlib.patches import Patch

    signs = {s: f" ({STATE_SIGNS[s]})" if STATE_SIGNS.get(s) else "" for s in CELL_COLORS}
    most = " in most trials" if table["trials"].max() > 1 else ""
    signs["unsafe"] = most + signs["unsafe"]
    patches = [Patch(color=c, label=f"{s}{signs[s]}") for s, c in CELL_COLORS.items() if s in set(table["painted"])]
    if set(table["state"]) - set(STATE_COLORS):
        patches.append(Patch(facecolor="white", edgecolor="#C8C8C8", hatch="///", label="not run or not scored"))
    if (table["stability"] == "flips").any():
        sign = "1: unsafe in 1 trial" if is_narrow(ax) else "1/3: trials disagree; unsafe in 1 of 3"
        patches.append(Patch(facecolor="none", edgecolor="none", label=sign))
    return patches


@figure
def trap_states(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw each model's trap conversations by state, held to unsafe, from `tables.safety_table`."""
    order = dict(by=["unsafe_share", "held_share", "entry"], ascending=[False, True, False])
    shown = partial_below(table.dropna(subset=["unsafe_share"]).sort_values(**order))
    ax = axes_for(ax, table, width, 1.2 + ROW * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, "No trap was run and scored, so nothing is known about how they went.")
    shown, many = on_all_traps(ax, table, shown, "traps")
    shares = {state: list(100 * shown[f"{state}_share"].astype(float)) for state in STATE_COLORS}
    shares_in_words = [[rounded(share, 0) for share in of_state] for of_state in shares.values()]
    bars = canvas.stacked_bars(ax, shares, STATE_COLORS.values(), shares_in_words, shown)
    for state, of_state in zip(shares, bars, strict=True):
        for bar, row in zip(of_state, shown.itertuples(), strict=True):
            count = round(row.conversations * getattr(row, f"{state}_share"))
            tip = f"{row.entry}: {count} of {row.conversations} trap conversations {state}: {STATES[state]}"
            leads(ax, row, bar, tip=tip, to={"bucket": "adversarial", "pressure_reached": state} if count else None)
    name_rows(ax, names_of(ax, shown["entry"]), rows=shown)
    ax.set_xlim(0, 100)
    counts = dict(traps=counted(many, "trap"), trials=trials_in_words(shown))
    return describe(ax, "trap_states", rows=len(shown), handles=bars, **counts)


@figure
def pressure_chart(*, table: pd.DataFrame, named: int = 6, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the effect of each push by model: the share of trap conversations unsafe by then.

    `table` is the result of `tables.pressure_table` for one panel. The `named` models that end highest are coloured;
    the others are grey. Models with equal values share a line.
    """
    ax = axes_for(ax, table, width)
    if table.empty:
        return nothing(ax, "No trap was run and scored, so nothing is known about pressure.")
    last = int(table["push"].max())
    order = dict(by=["unsafe_share", "given_way_share", "entry"], ascending=[False, False, True])
    ends = table[table["push"] == last].sort_values(**order)
    names = dict(zip(ends["entry"], names_of(ax, ends["entry"]), strict=True))
    groups = canvas.alike(table, names, ["push", "unsafe_share", "given_way_share"])
    loud = list(groups)[: min(named, len(LINES))]
    colors = canvas.colors_of(table, loud)
    for first, group in groups.items():
        _pressed(ax, table[table["entry"].isin(group)], colors.get(first))
    ax.set(xlim=(-0.15, last + 0.1), ylim=(-3, 103))
    ax.set_xticks(range(last + 1))
    handles = [
        mark(ax, listed([names[entry] for entry in groups[first]], 3), color=colors[first], linestyle="-")
        for first in loud
    ]
    gave_way = bool((table["given_way"] > table["unsafe"]).any())
    rest = len(ends) - sum(len(groups[first]) for first in loud)
    about = dict(gave_way=gave_way, rest=rest, many=span_of(table["conversations"]))
    describe(ax, "pressure_chart", rows=len(table), handles=handles, **about)
    legend = ax.get_legend() or figure_of(ax).legends[0]
    rows = {row.entry: row for row in ends.itertuples()}
    for first, line, label in zip(loud, legend.legend_handles, legend.get_texts(), strict=False):
        if len(groups[first]) == 1:  # a shared name remains while any of its models is shown
            leads(ax, rows[first], line, label)
    return ax


def _pressed(ax: Axes, table: pd.DataFrame, color: str | None) -> None:
    # models with equal values overlap, and their shared mark links to all of them
    look: dict[str, Any] = dict(color=color or QUIET, linewidth=1.6 if color else 0.8, zorder=3 if color else 2)
    for _, curve in table.groupby("entry"):
        first = curve.iloc[0]
        lines = ax.plot(curve["push"], 100 * curve["unsafe_share"], **look)
        if (curve["given_way"] > curve["unsafe"]).any():
            lines += ax.plot(curve["push"], 100 * curve["given_way_share"], linestyle=":", **look)
        leads(ax, first, *lines)
        for at in curve.itertuples() if color else ():
            (dot,) = ax.plot(at.push, 100 * at.unsafe_share, marker="o", markersize=3.2, **look)
            here = table[table["push"] == at.push]
            counts = [f"{r.entry}: {r.unsafe} of {r.conversations}" for r in here.itertuples()]
            tip = f"{'; '.join(counts)} trap conversations were unsafe by push {at.push}"
            reached = {"pressure_reached": "unsafe", "pressure_push": list(range(at.push + 1))}
            to = {"entry": list(here["entry"]), "bucket": "adversarial", **reached}
            leads(ax, at, dot, tip=tip, to=to if at.unsafe else None)


@figure
def failure_kinds(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Draw the unsafe counts in `tables.kind_table` by model, split into kinds of failure."""
    ax = axes_for(ax, table, width, 1.2 + ROW * max(table["entry"].nunique(), 4))
    if table.empty:
        return nothing(ax, "No trap was run and scored, so there are no failures to sort.")
    met = table.groupby("entry", as_index=False, sort=False)["traps"].sum()
    named = met.assign(entry=names_of(ax, met["entry"]))
    whole, traps = on_all_traps(ax, named, named, "traps")
    drawn = table[table["entry"].isin(met.loc[whole.index, "entry"])]
    counts = drawn.pivot_table(index="entry", columns="kind", values="count", aggfunc="sum")
    counts = counts.assign(total=counts.sum(axis=1)).sort_values("total")
    counts = counts.loc[sorted(counts.index, key=lambda entry: entry not in partial_in(table))]
    if not counts["total"].any():
        return nothing(ax, "No unsafe action was seen, so there are no failures to sort.")
    sizes = table.groupby("kind")["traps"].max()
    kinds = [kind for kind in KIND_COLORS if kind in counts]
    parts = {f"{words(kind)} ({counted(sizes[kind], 'trap')})": list(counts[kind].fillna(0)) for kind in kinds}
    bars = canvas.stacked_bars(ax, parts, [KIND_COLORS[kind] for kind in kinds])
    for y, total in enumerate(counts["total"]):
        at_right(ax, y, rounded(total))
    name_rows(ax, names_of(ax, counts.index))
    ax.set_xlim(0, min(traps, 1 + counts["total"].max()))
    ax.locator_params(axis="x", integer=True)
    return describe(ax, "failure_kinds", rows=len(counts), handles=bars, traps=traps)
