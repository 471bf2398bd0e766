"""Figures of the traps.

Which model falls for which, how far the pushes go, claims against tone, kinds of failure, safety against cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.estimators.estimate import counted
from ..analysis.panels import partial_in
from ..analysis.tables.safety import STATES
from ..scoring.deciding import SUCCESS_STATES
from ..scoring.written import percent, rounded, span
from .board import NO_TRAPS, on_all_traps
from .canvas import (
    LINES,
    QUIET,
    ROW,
    SMALL,
    axes_for,
    explain,
    figure,
    is_narrow,
    leads,
    mark,
    nothing,
    say_below,
    stacked_bars,
)
from .captions import said_of, says, span_of, trials_of
from .labels import (
    at_right,
    left_out,
    name_of,
    name_rows,
    names_at_the_end,
    names_of,
    partial_below,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STATE_COLORS = {"held": "#BFD9EA", "wavered": "#E69F00", "unengaged": "#D9D9D9", "unsafe": "#C44E00"}
SOME = "unsafe in some trials"
CELL_COLORS = {**{s: c for s, c in STATE_COLORS.items() if s != "unsafe"}, SOME: "#CC79A7", "unsafe": "#C44E00"}
"""A cell of the matrix: how most trials went, unless one of them was unsafe."""
STATE_SIGNS = {"held": "", "wavered": "w", "unengaged": "u", "unsafe": SUCCESS_STATES["unsafe"][0]}
"""A cell's sign; the other signs of the site say whether a conversation succeeded, which is more than holding."""
KIND_COLORS = {
    "free_goods": "#0072B2",
    "enabling_fraud": "#D55E00",
    "wrongful_cancellation": "#009E73",
    "false_closure": "#CC79A7",
}
MODELS_ACROSS = 10
"""With more models than this, a narrow matrix has them as rows."""
LEAST_CASES = 3
"""A cell of fewer cases has no interval."""


@figure
def trap_matrix(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Every trap by every model: how most trials went, or that some were unsafe; where trials disagree, the cell says how many were.

    Parameters
    ----------
    table : DataFrame
        As `tables.trap_table` gives it, of one panel.
    width : str
        ``"column"`` or ``"page"``; many models are rows where the figure is narrow.
    """
    traps = list(dict.fromkeys(table["trap"]))
    models = table.groupby("entry")["unsafe_share"].mean().sort_values(na_position="last").index
    models = sorted(models, key=partial_in(table).__contains__)
    turned = width == "column" and len(models) > MODELS_ACROSS
    ax = axes_for(ax, table, width, 2.2 + 0.23 * max(len(models if turned else traps), 4))
    if table.empty or not table["trials"].sum():
        return nothing(ax, "No trap was run and scored, so there is no matrix.")
    _cells(ax, table, traps, models, turned)
    kinds = table.drop_duplicates("trap").set_index("trap")["kind"]
    for above, below in zip(traps, traps[1:]):
        if kinds[above] != kinds[below]:
            line = ax.axvline if turned else ax.axhline
            line(traps.index(below), color="#555555", linewidth=0.8)
    rows, columns = (models, traps) if turned else (traps, models)
    names = {**dict(zip(models, names_of(ax, models), strict=True)), **{t: t.replace("_", " ") for t in traps}}
    ax.set(xlabel="", ylabel="")
    name_rows(ax, [names[r] for r in rows], [y + 0.5 for y in range(len(rows))])
    slanted = len(columns) > (1 if is_narrow(ax) else 3)
    places = np.arange(len(columns)) + 0.5
    ax.set_xticks(places, [names[c] for c in columns], rotation=90 if slanted else 0, fontsize=SMALL)
    ax.tick_params(axis="y", labelrotation=0)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    _explain_states(ax, table)
    trials, ran = table.loc[table["trials"] > 0, "trials"], table[table["trials"] > 0].groupby("entry").size()
    says(
        ax,
        f"Which {said_of(ax).noun} falls for which trap",
        f"{'Rows' if turned else 'Columns'}: {said_of(ax).noun}s, sorted by their share of unsafe trials; {'columns' if turned else 'rows'}: traps, divided by kind of failure. "
        "Colour: how most trials went, and its own where one was unsafe. A number: trials disagree, and so many of them were unsafe. These are single outcomes, not estimates.",
        f"n = {span_of(ran)} of the {len(traps)} traps × {trials_of(trials)} per {said_of(ax).noun}; hatched: not run or not scored."
        if ran.min() < len(traps)
        else f"n = {len(traps)} traps × {trials_of(trials)} per {said_of(ax).noun}.",
        rows=len(traps) * len(models),
    )
    return ax


def _cells(ax: Axes, table: pd.DataFrame, traps: list[str], models: list[str], turned: bool) -> None:
    """The coloured cells of the matrix with their signs."""
    import seaborn as sns
    from matplotlib.colors import ListedColormap

    states = list(CELL_COLORS)
    flips = table["stability"] == "flips"
    told = table.assign(
        number=_painted(table).map({state: number for number, state in enumerate(states)}).astype(float),
        sign=table["state"]
        .map(STATE_SIGNS)
        .fillna("")
        .mask(flips, table["unsafe"].astype(str) + ("" if is_narrow(ax) else "/" + table["trials"].astype(str))),
    )
    grid, signs = (
        told.pivot(index="trap", columns="entry", values=name).reindex(index=traps, columns=models)
        for name in ("number", "sign")
    )
    if turned:
        grid, signs = grid.T, signs.T
    ax.set_facecolor("white")
    ax.patch.set(hatch="///", edgecolor="#C8C8C8")
    sns.heatmap(
        grid,
        mask=grid.isna(),
        annot=signs.fillna(""),
        fmt="",
        annot_kws={"fontsize": SMALL},
        ax=ax,
        cbar=False,
        xticklabels=False,  # named below, where a dollar sign starts no formula
        yticklabels=False,
        linewidths=0.6 if is_narrow(ax) else 1.2,
        linecolor="white",
        cmap=ListedColormap(list(CELL_COLORS.values())),
        vmin=-0.5,
        vmax=len(states) - 0.5,
    )


def _painted(table: pd.DataFrame) -> pd.Series:
    """What each cell is painted as."""
    return table["state"].mask(table["unsafe"].gt(0) & table["state"].ne("unsafe"), SOME)


def _explain_states(ax: Axes, table: pd.DataFrame) -> None:
    """The states that occur and the meaning of the signs, above the matrix."""
    from matplotlib.patches import Patch

    present = [s for s in CELL_COLORS if s in set(_painted(table))]
    patches = [
        Patch(color=CELL_COLORS[s], label=f"{s}{f' ({STATE_SIGNS[s]})' if STATE_SIGNS.get(s) else ''}") for s in present
    ]
    if set(table["state"]) - set(STATE_COLORS):
        patches.append(Patch(facecolor="white", edgecolor="#C8C8C8", hatch="///", label="not run or not scored"))
    if (table["stability"] == "flips").any():
        words = "1: unsafe in 1 trial" if is_narrow(ax) else "1/3: trials disagree; unsafe in 1 of 3"
        patches.append(Patch(facecolor="none", edgecolor="none", label=words))
    explain(ax, patches)


@figure
def trap_states(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """How the trap conversations of every model went: shares that held, wavered, stayed unengaged, or were unsafe.

    `table` is as `tables.safety_table` gives it.
    """
    order = dict(by=["unsafe_share", "held_share", "entry"], ascending=[False, True, False])
    shown = partial_below(table.dropna(subset=["unsafe_share"]).sort_values(**order))
    ax = axes_for(ax, table, width, 1.2 + ROW * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, "No trap was run and scored, so nothing is known about how they went.")
    left_out(ax, table, shown, NO_TRAPS)
    shown, many = on_all_traps(ax, shown, "traps")
    names = names_of(ax, list(shown["entry"]))
    shares = {state: list(100 * shown[f"{state}_share"].astype(float)) for state in STATE_COLORS}
    words = {state: [rounded(w, 0) for w in widths] for state, widths in shares.items()}
    bars = stacked_bars(ax, shares, STATE_COLORS, words)
    for state, of_state in bars.items():
        for bar, row in zip(of_state, shown.itertuples(), strict=True):
            tip = f"{row.entry}: {percent(bar.get_width() / 100)} of the trap conversations {state}: {STATES[state]}"
            leads(ax, bar, row, tip, bucket="adversarial", pressure_reached=state)
    name_rows(ax, names, rows=shown)
    traps = counted(many, "trap")
    ax.set(xlim=(0, 100), ylim=(-0.6, len(shown) - 0.4), xlabel=f"% of trap conversations ({traps})")
    ax.grid(axis="y", visible=False)
    explain(ax)
    says(
        ax,
        "How the traps went",
        f"Share of the trap conversations of each model ({traps}) that held (verified, declined with a reason or handed over), wavered, stayed "
        "unengaged, or were unsafe. Shares of what happened, without intervals; the unsafe count has its own figure with intervals.",
        f"Trials per trap: {span_of(shown['trials'])}." if "trials" in shown else "",
        rows=len(shown),
    )
    return ax


@figure
def pressure_chart(*, table: pd.DataFrame, named: int = 6, ax: Axes | None = None, width: str = "page") -> Axes:
    """How far each push takes each model: the share of trap conversations that were unsafe by then (dotted: unsafe or wavered).

    Parameters
    ----------
    table : DataFrame
        As `tables.pressure_table` gives it, of one panel.
    named : int
        Models drawn in colour and named, those that end highest; the others are grey.
    """
    ax = axes_for(ax, table, width)
    if table.empty:
        return nothing(ax, "No trap was run and scored, so nothing is known about pressure.")
    last = int(table["push"].max())
    ends = table[table["push"] == last].sort_values(
        ["unsafe_share", "given_way_share", "entry"], ascending=[False, False, True]
    )
    loud = list(ends["entry"][: min(named, len(LINES))])
    gave_way = False
    for row in ends.itertuples():
        mine, is_loud = table[table["entry"] == row.entry], row.entry in loud
        color = LINES[loud.index(row.entry)] if is_loud else QUIET
        style: dict[str, Any] = dict(color=color, linewidth=1.6 if is_loud else 0.8, zorder=3 if is_loud else 2)
        ax.plot(mine["push"], 100 * mine["unsafe_share"], **style)
        for at in mine.itertuples() if is_loud else ():
            (dot,) = ax.plot(at.push, 100 * at.unsafe_share, marker="o", markersize=3.2, **style)
            tip = f"{at.entry}: {at.unsafe} of {at.conversations} trap conversations unsafe by push {at.push}"
            fields = {"pressure_reached": "unsafe", "pressure_push": list(range(at.push + 1))}
            leads(ax, dot, at, tip, bucket="adversarial", **(fields if at.unsafe else {}))
        if (mine["given_way"] > mine["unsafe"]).any():
            gave_way = True
            ax.plot(mine["push"], 100 * mine["given_way_share"], linestyle=":", **style)
    names = dict(zip(ends["entry"], names_of(ax, list(ends["entry"])), strict=True))
    labels = [
        (100 * row.unsafe_share, names[row.entry], LINES[loud.index(row.entry)])
        for row in ends[ends["entry"].isin(loud)].itertuples()
    ]
    many, noun = span_of(table["conversations"]), said_of(ax).noun
    ax.set(xlim=(-0.15, last + 0.1), ylim=(-3, 103))
    ax.set(xlabel="Pushes so far (0: the email alone)", ylabel=f"% of trap conversations (n = {many} per {noun})")
    ax.set_xticks(range(last + 1))
    rest = len(ends) - len(loud)
    explain(
        ax,
        [
            mark(ax, "unsafe by then", color="#555555", linestyle="-", marker="o", markersize=3.2),
            *([mark(ax, "unsafe or wavered by then", color="#555555", linestyle=":")] if gave_way else []),
            *([mark(ax, f"{rest} more {noun}s", color=QUIET, linestyle="-")] if rest else []),
        ],
    )
    names_at_the_end(ax, labels, last)
    says(
        ax,
        f"How far each push takes each {noun}",
        "Solid: share of the trap conversations that were unsafe by then"
        + ("; dotted: unsafe or wavered. " if gave_way else ". ")
        + "Conversations that ended earlier stay in the share. Cumulative shares of what happened, without intervals: the points of a line are not "
        "independent.",
        f"n = {many} conversations per {noun}.",
        f"In grey: {rest} more {noun}s." if rest else "",
        rows=len(table),
    )
    return ax


@figure
def claim_by_tone(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """Claims (rows) against tones (columns): the mean share of the models with its interval and the cases in each cell.

    `table` is as `tables.claim_tone_means` gives it; of one panel and one set of cases.
    """
    from statsmodels.stats.proportion import proportion_confint

    from ..analysis.tables.safety import CLAIMS, TONES

    claims = [c for c in CLAIMS if c in set(table["claim"])]
    tones = [t for t in TONES if t in set(table["tone"])]
    ax = axes_for(ax, table, width, 1.0 + 0.55 * max(len(claims), 2))
    if table.empty:
        return nothing(ax, "No such case was run and scored.")
    grid = np.full((len(claims), len(tones)), np.nan)
    for cell in table.itertuples():
        y, x = claims.index(cell.claim), tones.index(cell.tone)
        grid[y, x] = cell.share
        lines = [percent(cell.share), counted(cell.cases, "case")]
        if cell.cases >= LEAST_CASES:
            low, high = proportion_confint(cell.share * cell.cases, cell.cases, method="wilson")
            lines.insert(1, span(100 * low, 100 * high))
        ink = "white" if cell.share > 0.6 else "#222222"
        ax.text(x, y, "\n".join(lines), ha="center", va="center", fontsize=SMALL, linespacing=1.0, color=ink)
    bad = table["outcome"].iloc[0] == "unsafe act"
    ax.imshow(grid, cmap="Oranges" if bad else "Blues", vmin=0, vmax=1.1, aspect="auto")
    for y, x in np.argwhere(np.isnan(grid)):
        ax.text(x, y, "no case", ha="center", va="center", fontsize=SMALL, color="#888888")
    ax.set_xticks(range(len(tones)), tones, fontsize=SMALL)
    name_rows(ax, claims, range(len(claims)))
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    only = set(table["entry"])
    several = len(only) > 1 or "" in only
    whose = (
        f"mean of {span_of(table['models'])} {said_of(ax).noun}s" if several else name_of(ax, table["entry"].iloc[0])
    )
    of = "crossed variants" if set(table["set"]) == {"factorial"} else "the cases"
    ax.set(ylabel="Claim", xlabel=f"Tone ({whose})")
    if table["left_out"].any():
        say_below(ax, "Models with fewer cases in a cell are left out of its mean.")
    says(
        ax,
        f"{table['outcome'].iloc[0].capitalize()} by claim and tone, %",
        f"Share of conversations with this outcome ({of}; {whose}), darker for more; below it the 95 % Wilson interval with the cases as units, where a "
        f"cell has at least {LEAST_CASES} of them, and the number of cases.",
        rows=len(table),
    )
    return ax


@figure
def failure_kinds(*, table: pd.DataFrame, ax: Axes | None = None, width: str = "page") -> Axes:
    """The unsafe count of every model, split into kinds of failure.

    `table` is as `tables.kind_table` gives it.
    """
    many = table["entry"].nunique()
    ax = axes_for(ax, table, width, 1.2 + ROW * max(many, 4))
    if table.empty:
        return nothing(ax, "No trap was run and scored, so there are no failures to sort.")
    met = table.groupby("entry", as_index=False, sort=False)["traps"].sum()
    whole, traps = on_all_traps(ax, met.assign(entry=names_of(ax, list(met["entry"]))), "traps")
    drawn = table[table["entry"].isin(met.loc[whole.index, "entry"])]
    counts = drawn.pivot_table(index="entry", columns="kind", values="count", aggfunc="sum")
    counts = counts.assign(total=counts.sum(axis=1)).sort_values("total")
    counts = counts.loc[sorted(counts.index, key=lambda entry: entry not in partial_in(table))]
    if not counts["total"].any():
        return nothing(ax, "No unsafe action was seen, so there are no failures to sort.")
    sizes = table.groupby("kind")["traps"].max()
    kinds = [kind for kind in KIND_COLORS if kind in counts]
    labels = {kind: f"{kind.replace('_', ' ')} ({counted(sizes[kind], 'trap')})" for kind in kinds}
    parts = {label: list(counts[kind].fillna(0)) for kind, label in labels.items()}
    stacked_bars(ax, parts, {label: KIND_COLORS[kind] for kind, label in labels.items()})
    for y, total in enumerate(counts["total"]):
        at_right(ax, y, rounded(total))
    name_rows(ax, names_of(ax, list(counts.index)))
    far = min(traps, 1 + counts["total"].max())
    ax.set(xlim=(0, far), ylim=(-0.6, len(counts) - 0.4), xlabel=f"Unsafe actions of {traps}, mean over trials")
    ax.grid(axis="y", visible=False)
    ax.locator_params(axis="x", integer=True)
    explain(ax)
    says(
        ax,
        "What kind of failure",
        f"Unsafe actions on {traps} traps, mean over trials (number on the right), by kind of failure. No interval for the parts: some kinds have one "
        "trap; the total has its interval in the figure of unsafe actions.",
        rows=len(counts),
    )
    return ax
