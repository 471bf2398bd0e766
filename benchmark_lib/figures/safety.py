"""Figures of the traps.

Which model falls for which, how far the pushes go, claims against tone, kinds of failure, safety against cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..analysis.estimators.estimate import counted
from ..analysis.estimators.unsafe import BAND_CUTS, BAND_TRAPS
from ..analysis.panels import short_name
from ..scoring.written import percent, rounded
from .board import on_all_traps, unsafe_intervals
from .canvas import LINES, QUIET, axes_for, legend_under_title, nothing, say_below, span_of, stacked_bars
from .labels import name_of, names_at_the_end, with_counts
from .style import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

STATE_COLORS = {"held": "#BFD9EA", "wavered": "#E69F00", "unengaged": "#D9D9D9", "unsafe": "#C44E00"}
STATE_SIGNS = {"held": "", "wavered": "w", "unengaged": "–", "unsafe": "×"}
KIND_COLORS = {
    "free_goods": "#0072B2",
    "enabling_fraud": "#D55E00",
    "wrongful_cancellation": "#009E73",
    "false_closure": "#CC79A7",
}


def unsafe_counts(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Unsafe actions with both intervals, one line per model; like `unsafe_intervals`, but as tall as the models require.

    Parameters
    ----------
    table : DataFrame
        As `tables.safety_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    known = table.dropna(subset=["these_mean"])
    ax = axes_for(ax, table, height=1.3 + 0.22 * max(len(known), 4))
    ax = unsafe_intervals(table=known.assign(entry=[name_of(m) for m in known["entry"]]), ax=ax)
    if len(known):
        traps, rows = int(known["traps"].max()), int((known["traps"] == known["traps"].max()).sum())
        ax.set(
            ylim=(-0.7, rows - 0.3),
            xlabel=f"Unsafe actions of {traps}. Dot: mean over trials; thick: 95 % for these traps; thin: 95 % for {traps} traps like these",
        )
        ax.tick_params(axis="y", labelsize=7.5)
        ax.grid(axis="y", visible=False)
        bands = ((-0.3, BAND_CUTS[0], "safe"), (*BAND_CUTS, "middling"), (BAND_CUTS[1], 18.3, "reckless"))
        for low, high, band in bands if traps == BAND_TRAPS else ():
            ax.text((low + high) / 2, rows - 0.45, band, fontsize=7, color="#555555", ha="center", va="bottom")
        ax.set_title(ax.get_title(loc="left"), loc="left", pad=14)
    return ax


def trap_matrix(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Every trap by every model: how it went in most trials; where trials disagree, the cell says how many were unsafe.

    Parameters
    ----------
    table : DataFrame
        As `tables.trap_table` gives it, of one panel.
    ax : Axes, optional
        Where to draw.
    """
    traps = list(dict.fromkeys(table["trap"]))
    models = list(table.groupby("entry")["unsafe_share"].mean().sort_values(na_position="last").index)
    ax = axes_for(ax, table, height=1.9 + 0.23 * max(len(traps), 4))
    if table.empty or not table["trials"].sum():
        return nothing(ax, "No trap was run and scored, so there is no matrix.")
    _cells(ax, table, traps, models)
    kinds = table.drop_duplicates("trap").set_index("trap")["kind"]
    for above, below in zip(traps, traps[1:]):
        if kinds[above] != kinds[below]:
            ax.axhline(traps.index(below), color="#555555", linewidth=0.8)
    ax.set(title="Which model falls for which trap", xlabel="", ylabel="")
    ax.set_yticks(np.arange(len(traps)) + 0.5, [t.replace("_", " ") for t in traps], fontsize=7.5, rotation=0)
    ax.set_xticks(
        np.arange(len(models)) + 0.5,
        [name_of(m) for m in models],
        rotation=90 if len(models) > 3 else 0,
        fontsize=7 if len(models) > 12 else 7.5,
    )
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    _state_legend(ax, table)
    return ax


def _cells(ax: Axes, table: pd.DataFrame, traps: list[str], models: list[str]) -> None:
    """The coloured cells of the matrix with their signs."""
    import seaborn as sns
    from matplotlib.colors import ListedColormap

    states = list(STATE_COLORS)
    flips = table["stability"] == "flips"
    told = table.assign(
        number=table["state"].map({state: number for number, state in enumerate(states)}).astype(float),
        sign=table["state"]
        .map(STATE_SIGNS)
        .fillna("")
        .mask(flips, table["unsafe"].astype(str) + "/" + table["trials"].astype(str)),
    )
    grid, signs = (
        told.pivot(index="trap", columns="entry", values=name).reindex(index=traps, columns=models)
        for name in ("number", "sign")
    )
    ax.set_facecolor("white")
    ax.patch.set(hatch="///", edgecolor="#C8C8C8")
    sns.heatmap(
        grid,
        mask=grid.isna(),
        annot=signs.fillna(""),
        fmt="",
        annot_kws={"fontsize": 6.2},
        ax=ax,
        cbar=False,
        linewidths=1.2,
        linecolor="white",
        cmap=ListedColormap(list(STATE_COLORS.values())),
        vmin=-0.5,
        vmax=len(states) - 0.5,
    )


def _state_legend(ax: Axes, table: pd.DataFrame) -> None:
    """The states that occur and the meaning of the signs, above the matrix."""
    from matplotlib.patches import Patch

    present = [s for s in STATE_COLORS if s in set(table["state"])]
    patches = [
        Patch(color=STATE_COLORS[s], label=f"{s}{f' ({STATE_SIGNS[s]})' if STATE_SIGNS[s] else ''}") for s in present
    ]
    if set(table["state"]) - set(STATE_COLORS):
        patches.append(Patch(facecolor="white", edgecolor="#C8C8C8", hatch="///", label="not run or not scored"))
    if (table["stability"] == "flips").any():
        patches.append(Patch(facecolor="none", edgecolor="none", label="1/3: trials disagree; unsafe in 1 of 3"))
    legend_under_title(ax, handles=patches)


def trap_states(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """How the trap conversations of every model went: shares that held, wavered, stayed unengaged, or were unsafe.

    Parameters
    ----------
    table : DataFrame
        As `tables.safety_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    from ..analysis.estimators.estimate import counted

    shown = table.dropna(subset=["unsafe_share"]).sort_values(
        ["unsafe_share", "held_share", "entry"], ascending=[False, True, False]
    )
    ax = axes_for(ax, table, height=1.1 + 0.22 * max(len(shown), 4))
    if shown.empty:
        return nothing(ax, "No trap was run and scored, so nothing is known about how they went.")
    names = with_counts([name_of(m) for m in shown["entry"]], [(int(n),) for n in shown["traps"]])
    shares = {state: list(100 * shown[f"{state}_share"].astype(float)) for state in STATE_COLORS}
    stacked_bars(
        ax, shares, STATE_COLORS, {state: [rounded(w, 0) for w in widths] for state, widths in shares.items()}, least=7
    )
    ax.set_yticks(range(len(shown)), names, fontsize=7.5)
    traps = counted(int(shown["traps"].max()), "trap")
    ax.set(
        xlim=(0, 100),
        ylim=(-0.6, len(shown) - 0.4),
        xlabel=f"% of trap conversations ({traps})",
        title="How the traps went",
    )
    ax.grid(axis="y", visible=False)
    legend_under_title(ax)
    return ax


def pressure_chart(*, table: pd.DataFrame, named: int = 6, ax: Axes | None = None) -> Axes:
    """How far each push takes each model: the share of trap conversations that were unsafe by then (dotted: unsafe or wavered).

    Parameters
    ----------
    table : DataFrame
        As `tables.pressure_table` gives it, of one panel.
    named : int
        Models drawn in colour and named, those that end highest; the others are grey.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax, table)
    if table.empty:
        return nothing(ax, "No trap was run and scored, so nothing is known about pressure.")
    last = int(table["push"].max())
    ends = table[table["push"] == last].sort_values(
        ["unsafe_share", "given_way_share", "entry"], ascending=[False, False, True]
    )
    loud = list(ends["entry"][: min(named, len(LINES))])
    for row in ends.itertuples():
        mine = table[table["entry"] == row.entry]
        color = LINES[loud.index(row.entry)] if row.entry in loud else QUIET
        style = dict(color=color, linewidth=1.8 if row.entry in loud else 0.8, zorder=3 if row.entry in loud else 2)
        ax.plot(
            mine["push"], 100 * mine["unsafe_share"], marker="o", markersize=3.2 if row.entry in loud else 0, **style
        )
        if (mine["given_way"] > mine["unsafe"]).any():
            ax.plot(mine["push"], 100 * mine["given_way_share"], linestyle=":", **style)
    labels = [
        (100 * row.unsafe_share, name_of(row.entry), LINES[loud.index(row.entry)])
        for row in ends[ends["entry"].isin(loud)].itertuples()
    ]
    rest = [100 * share for share in ends.loc[~ends["entry"].isin(loud), "unsafe_share"]]
    if rest:
        labels.append((float(np.median(rest)), f"{len(rest)} more (grey)", "#777777"))
    names_at_the_end(ax, labels, last)
    conversations = sorted(set(table["conversations"]))
    many = f"{conversations[0]}" if len(conversations) == 1 else f"{conversations[0]} to {conversations[-1]}"
    explained = "Line: unsafe by then. Dotted: unsafe or wavered. Conversations that ended earlier stay in the share."
    ax.set(
        xlim=(-0.15, last + 0.05),
        ylim=(-3, 103),
        xlabel=f"Pushes so far (0: the email alone)\n{explained}",
        ylabel=f"% of trap conversations (n = {many} per model)",
        title="How far each push takes each model",
    )
    ax.set_xticks(range(last + 1))
    return ax


def claim_by_tone(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Claims (rows) against tones (columns): the mean share of the models, with cases in each cell.

    Parameters
    ----------
    table : DataFrame
        As `tables.claim_tone_means` gives it; of one panel and one set of cases.
    ax : Axes, optional
        Where to draw.
    """
    from ..analysis.tables.safety import CLAIMS, TONES

    ax = axes_for(ax, table, width=3.6, height=2.5)
    if table.empty:
        return nothing(ax, "No such case was run and scored.")
    claims = [c for c in CLAIMS if c in set(table["claim"])]
    tones = [t for t in TONES if t in set(table["tone"])]
    grid = np.full((len(claims), len(tones)), np.nan)
    for cell in table.itertuples():
        y, x = claims.index(cell.claim), tones.index(cell.tone)
        grid[y, x] = cell.share
        ax.text(
            x,
            y,
            f"{percent(cell.share)}\n{counted(cell.cases, 'case')}",
            ha="center",
            va="center",
            fontsize=6.8,
            color="white" if cell.share > 0.6 else "#222222",
        )
    bad = table["outcome"].iloc[0] == "unsafe act"
    ax.imshow(grid, cmap="Oranges" if bad else "Blues", vmin=0, vmax=1.1, aspect="auto")
    for y, x in np.argwhere(np.isnan(grid)):
        ax.text(x, y, "no case", ha="center", va="center", fontsize=6.5, color="#888888")
    ax.set_xticks(range(len(tones)), tones, fontsize=7.5)
    ax.set_yticks(range(len(claims)), claims, fontsize=7.5)
    ax.tick_params(length=0)
    ax.grid(visible=False)
    ax.spines[["left", "bottom"]].set_visible(False)
    only = set(table["entry"])
    whose = (
        name_of(table["entry"].iloc[0])
        if len(only) == 1 and "" not in only
        else f"mean of {span_of(table['models'])} models"
    )
    of = "crossed variants" if set(table["set"]) == {"factorial"} else "the cases"
    ax.set(ylabel="Claim", title=f"{table['outcome'].iloc[0].capitalize()}, %")
    ax.set_xlabel(f"Tone ({whose}, {of})", fontsize=7.5)
    if table["left_out"].any():
        say_below(ax, "Models with fewer cases in a cell are left out of its mean.")
    return ax


def failure_kinds(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """The unsafe count of every model, split into kinds of failure.

    Parameters
    ----------
    table : DataFrame
        As `tables.kind_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    ax = axes_for(ax, table, height=1.1 + 0.22 * max(table["entry"].nunique(), 4))
    if table.empty:
        return nothing(ax, "No trap was run and scored, so there are no failures to sort.")
    met = table.groupby("entry", as_index=False, sort=False)["traps"].sum()
    whole, traps = on_all_traps(ax, met.assign(entry=[short_name(m) for m in met["entry"]]), "traps")
    counts = table[table["entry"].isin(met.loc[whole.index, "entry"])].pivot_table(
        index="entry", columns="kind", values="count", aggfunc="sum"
    )
    counts = counts.assign(total=counts.sum(axis=1)).sort_values("total")
    sizes = table.groupby("kind")["traps"].max()
    labels = {
        kind: f"{kind.replace('_', ' ')} ({counted(sizes[kind], 'trap')})" for kind in KIND_COLORS if kind in counts
    }
    stacked_bars(
        ax,
        {label: list(counts[kind].fillna(0)) for kind, label in labels.items()},
        {label: KIND_COLORS[kind] for kind, label in labels.items()},
    )
    for y, total in enumerate(counts["total"]):
        ax.text(total + 0.15, y, f"{total:.1f}", va="center", fontsize=7)
    ax.set_yticks(range(len(counts)), [name_of(m) for m in counts.index], fontsize=7.5)
    ax.set(
        xlim=(0, max(traps, counts["total"].max()) * 1.04),
        ylim=(-0.6, len(counts) - 0.4),
        xlabel=f"Unsafe actions on {traps} traps, mean over trials",
        title="What kind of failure",
    )
    ax.grid(axis="y", visible=False)
    ax.locator_params(axis="x", integer=True)
    legend_under_title(ax)
    return ax


def unsafe_by_tier(*, table: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Unsafe actions by cost tier; published models without an interval, because only counts were published.

    Parameters
    ----------
    table : DataFrame
        As `tables.tier_table` gives it.
    ax : Axes, optional
        Where to draw.
    """
    from ..analysis.tables.safety import TIERS

    ax = axes_for(ax, table)
    shown = table.dropna(subset=["unsafe", "level"])
    fewer = shown[shown["traps"] != BAND_TRAPS]
    if len(fewer):
        words = [f"{name_of(r['entry'])} ({r['traps']:.0f} traps)" for r in fewer.to_dict("records")]
        say_below(ax, f"Not drawn, since not run on {BAND_TRAPS} traps: {', '.join(words)}")
    shown = shown[shown["traps"] == BAND_TRAPS]
    if shown.empty:
        return nothing(ax, "No model here has both a price and unsafe actions, and no published board was given.")
    for cut in BAND_CUTS:
        ax.axhline(cut, color="#888888", linewidth=0.8, linestyle=":")
    top = max(9.0, float(np.nanmax([shown["unsafe"].max(), shown["high"].astype(float).max()])) + 0.8)
    for low, high, band in ((0, BAND_CUTS[0], "safe"), (*BAND_CUTS, "middling"), (BAND_CUTS[1], top, "reckless")):
        ax.text(4.72, (low + high) / 2, band, fontsize=7.5, color="#555555", va="center")
    for (level, unsafe), rows in shown.groupby(["level", "unsafe"]):
        names = []
        for place, row in enumerate(rows.itertuples()):
            x = level - 0.34 + 0.07 * place
            own = row.panel != "published"
            if own and row.low == row.low:
                ax.plot([x, x], [row.low, row.high], color="#0072B2", linewidth=1.2)
            ax.plot(
                x,
                unsafe,
                marker="o" if own else "^",
                color="#0072B2" if own else "#CC79A7",
                markersize=5,
                linestyle="none",
            )
            names.append(name_of(row.entry))
        _stacked(ax, names, level - 0.34 + 0.07 * len(rows), unsafe)
    ax.set(
        xlim=(0.5, 4.7),
        ylim=(-0.4, top),
        xlabel="Cost tier",
        ylabel=f"Unsafe actions of {BAND_TRAPS}, median over trials",
        title="Does paying more buy safety?",
    )
    ax.set_xticks(range(1, 5), [plain(t) for t in TIERS])
    ax.grid(axis="x", visible=False)
    marks = (
        [("o", "#0072B2", "run here; line: interval of the mean, for these traps")]
        if (shown["panel"] != "published").any()
        else []
    )
    marks += [("^", "#CC79A7", "published: no trials, so no interval")] if (shown["panel"] == "published").any() else []
    handles = [
        ax.plot([], [], marker=m, color=c, linestyle="none", markersize=5, label=text)[0] for m, c, text in marks
    ]
    legend_under_title(ax, handles=handles)
    return ax


def _stacked(ax: Axes, names: list[str], x: float, y: float) -> None:
    """Names next to their marks, one per line."""
    ax.text(x, y, "\n".join(names), fontsize=5.8, va="center", linespacing=0.95, color="#333333")
