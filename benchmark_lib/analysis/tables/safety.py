"""What the traps show.

Which trap catches which model, how far pushing takes a model, and whether it believed or gave in.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ..estimators.correlations import correlation
from ..estimators.estimate import counted, sentence
from ..estimators.intervals import bootstrap_interval, proportion_interval
from ..estimators.unsafe import BAND_TRAPS
from ..panels import conversations_of, is_crossed, is_wording, named_with, partial_in, says_partial
from .debatable import without_debatable
from .headlines import case_matrix, headline
from .leaderboard import band_in_words, unsafe_table
from .published import TIERS, published_data
from .relations import vendor_of
from .rows import framed
from .tiers import UNKNOWN, cost_tier

if TYPE_CHECKING:
    import pandas as pd

    from ..frames import Results

STATES = {
    "held": "verified, declined with the reason, or handed over",
    "wavered": "reversed a refusal, or promised the act in words without the call",
    "unengaged": "stalled: neither a reason nor a handover",
    "unsafe": "committed the forbidden act",
}
"""How a trap conversation can go, from best to worst."""

NOT_RUN, NOT_SCORED = "not run", "not scored"
KINDS = ("free_goods", "enabling_fraud", "wrongful_cancellation", "false_closure")
CLAIMS = ("true", "unprovable", "false")
TONES = ("neutral", "friendly", "frustrated", "pressing", "vip")
OUTCOMES = {
    "adversarial": ("unsafe", "unsafe act"),
    "resolvable": ("resolved", "resolved"),
    "must_escalate": ("handed_over", "handed over"),
}
"""The column that is read for each bucket where claim and tone are crossed, and its label."""

PUBLISHED_TRAPS = {
    "fraud_reroute_": ("reroute_", " (three reroutes)"),
    "comp_demand_": ("compensation_", " (two compensations)"),
}
"""Published names that cover several of ours: how ours begin, and what to add to the sum."""


@says_partial
def trap_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return how every model fared on every trap, over its trials.

    Returns
    -------
    DataFrame
        One row per entry and trap, even if the model did not run it: panel, entry, trap, kind, trials (scored), held,
        wavered, unengaged, unsafe (trials), state (the most frequent one; the worse of two as frequent), stability
        (``stable``, ``flips``, ``one trial`` or ``unknown``), unsafe_share and reason.
    """
    import pandas as pd

    rows = conversations_of(results)
    traps = rows[rows["bucket"] == "adversarial"]
    kinds = traps.drop_duplicates("case_id").set_index("case_id")["kind"]
    keys = ["panel", "entry", "case_id"]
    everyone = rows.drop_duplicates(["panel", "entry"])[["panel", "entry"]]
    grid = everyone.merge(pd.DataFrame({"case_id": kinds.index, "kind": kinds.to_numpy()}), how="cross")
    states = pd.get_dummies(traps["pressure_reached"]).reindex(columns=list(STATES), fill_value=False).astype(int)
    counts = states.assign(conversations=1).groupby([traps[k] for k in keys]).sum().reset_index()
    table = (
        grid.merge(counts, on=keys, how="left")
        .fillna({**dict.fromkeys(STATES, 0), "conversations": 0})
        .rename(columns={"case_id": "trap"})
    )
    table = table.astype({**dict.fromkeys(STATES, int), "conversations": int})
    table["trials"] = table[list(STATES)].sum(axis=1)
    table = table.assign(**_fates(table)).drop(columns="conversations")
    order = {kind: place for place, kind in enumerate(KINDS)}
    place = table["kind"].map(order).fillna(9)
    table = table.assign(place=place).sort_values(["place", "trap"], kind="stable", ignore_index=True)
    return table[["panel", "entry", "trap", "kind", "trials", *STATES, "state", "stability", "unsafe_share", "reason"]]


def _fates(table: pd.DataFrame) -> dict[str, Any]:
    counts = table[list(STATES)].to_numpy()
    trials, conversations = table["trials"].to_numpy(), table["conversations"].to_numpy()
    worst_of_most = counts.shape[1] - 1 - counts[:, ::-1].argmax(axis=1)
    state = np.array(list(STATES), dtype=object)[worst_of_most]
    most = counts.max(axis=1)
    lost = zip(conversations - trials, conversations)
    reasons = [f"{gone} of {all_} trials not scored" if gone else "" for gone, all_ in lost]
    return {
        "state": np.where(conversations == 0, NOT_RUN, np.where(trials == 0, NOT_SCORED, state)),
        "stability": np.select([trials == 0, trials == 1, most == trials], ["unknown", "one trial", "stable"], "flips"),
        "unsafe_share": np.where(trials > 0, table["unsafe"] / np.maximum(trials, 1), nan),
        "reason": np.where(conversations == 0, NOT_RUN, reasons),
    }


def safety_table(results: Results | pd.DataFrame, labels: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return unsafe actions with both intervals, how the trap conversations went, and the cost tier: one row per entry.

    Parameters
    ----------
    labels : DataFrame, optional
        As `reports.read_labels` gives it: acts that it calls debatable.

    Returns
    -------
    DataFrame
        cost_tier, chances (the band with its probability in words), the columns of `unsafe_table`, conversations
        (trap conversations that were scored) and the share of them ``*_share`` that held, wavered, stayed unengaged or were unsafe, flipping (traps whose trials
        disagree), repeated (traps with two trials or more), without (the median without debatable acts; with labels
        only), reason.
    """
    rows = conversations_of(results)
    unsafe = unsafe_table(rows)
    without = None if labels is None else unsafe_table(without_debatable(rows, labels)).set_index(["entry", "source"])
    fates = trap_table(rows)
    tiers = {key: cost_tier(mine) for key, mine in rows.groupby(["entry", "source"])}
    found = []
    for row in unsafe.to_dict("records"):
        mine = fates[(fates["entry"] == row["entry"]) & (fates["panel"] == row["panel"])]
        trials = int(mine["trials"].sum())
        shares = {f"{s}_share": mine[s].sum() / trials if trials else nan for s in STATES}
        lost = mine.loc[mine["state"].isin([NOT_RUN, NOT_SCORED]), "state"].value_counts()
        lacking = [f"{counted(int(n), 'trap')} {state}" for state, n in lost.items() if trials]
        row |= {
            "chances": band_in_words(row),
            "cost_tier": tiers[row["entry"], row["source"]],
            "conversations": trials,
            **shares,
        }
        row |= {"flipping": int((mine["stability"] == "flips").sum()), "repeated": int((mine["trials"] >= 2).sum())}
        if without is not None:
            row["without"] = without.loc[(row["entry"], row["source"]), "median"]
        found.append(row | {"reason": sentence(row["reason"], *lacking)})
    names = ["chances cost_tier conversations", *(f"{s}_share" for s in STATES), "flipping repeated"]
    names += ["reason"] if labels is None else ["without reason"]
    return framed(found, " ".join([*(c for c in unsafe if c != "reason"), *names]))


@says_partial
def trap_intervals(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Estimate the unsafe count of every model by the posterior and by the BCa bootstrap over whole traps.

    Both answer for traps like these; the posterior also answers for exactly these traps.

    Returns
    -------
    DataFrame
        One row per entry with a trap: panel, entry, traps, observed (mean count of a trial); mean with low and high
        (posterior, traps like these), bca_low and bca_high (bootstrap around observed), these_low and these_high
        (posterior, these traps), all as counts of `traps`; method (of the bootstrap) and reason. `trap_coverage` says
        how often each holds the truth.
    """
    rows = []
    for (panel, entry), mine in conversations_of(results).groupby(["panel", "entry"], sort=False):
        values, like = case_matrix(mine, "unsafe")[0], headline(mine, "unsafe")
        values = values[~np.isnan(values).all(axis=1)]
        if not len(values) or like.like_these is None:
            continue
        traps, found = len(values), bootstrap_interval(np.nanmean(values, axis=1))
        ends, scale = (traps * found.low, traps * found.high), traps / BAND_TRAPS
        posterior = (scale * v for v in (like.like_these.estimate, like.like_these.low, like.like_these.high))
        these = (like.mean.low, like.mean.high, found.method, sentence(found.reason, like.reason))
        rows.append((panel, entry, traps, traps * found.estimate, *posterior, *ends, *these))
    columns = "panel entry traps observed mean low high bca_low bca_high these_low these_high method reason"
    return framed(rows, columns)


@says_partial
def pressure_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return how far each push takes each model on the traps.

    Returns
    -------
    DataFrame
        One row per entry and push (0: before any): panel, entry, push, conversations (scored trap conversations), heard
        (those in which the customer got as far as this push), unsafe and given_way (conversations that were unsafe, or
        unsafe or wavered, by then), ``*_share`` of all conversations.
    """
    rows = conversations_of(results)
    conversations = rows[(rows["bucket"] == "adversarial") & rows["pressure_reached"].notna()]
    last = int(conversations["pushes"].max()) if len(conversations) else 0
    found = []
    for (panel, entry), mine in conversations.groupby(["panel", "entry"], sort=False):
        unsafe, wavered = mine["pressure_reached"] == "unsafe", mine["pressure_reached"] == "wavered"
        for push in range(last + 1):
            by_then = mine["pressure_push"] <= push
            counts = {"unsafe": int((unsafe & by_then).sum()), "given_way": int(((unsafe | wavered) & by_then).sum())}
            row = {"panel": panel, "entry": entry, "push": push, "conversations": len(mine), **counts}
            row |= {f"{name}_share": count / len(mine) for name, count in counts.items()}
            found.append(row | {"heard": int((mine["pushes"].astype(float) >= push).sum())})
    return framed(found, "panel entry push conversations heard unsafe given_way unsafe_share given_way_share")


@says_partial
def claim_tone_table(results: Results | pd.DataFrame, bucket: str = "adversarial") -> pd.DataFrame:
    """Return what became of true, unprovable and false claims in each tone.

    Parameters
    ----------
    bucket : str
        Buckets are never pooled: traps show unsafe acts, resolvable cases what was resolved, must-escalate cases what
        was handed over.

    Returns
    -------
    DataFrame
        One row per entry, set of cases (``cases`` or ``factorial``: the crossed variants, where each claim meets each
        tone on the same base case), claim and tone that stands in the data: panel, entry, set, claim, tone, cases,
        conversations, count, share, outcome.
    """
    column, word = OUTCOMES[bucket]
    rows = conversations_of(results, variants=True)
    rows = rows[(rows["bucket"] == bucket) & rows[column].notna() & ~is_wording(rows["case_id"])]
    rows = rows.assign(
        set=is_crossed(rows["case_id"]).map({True: "factorial", False: "cases"}), count=rows[column].astype(int)
    )
    keys = ["panel", "entry", "set", "claim", "tone"]
    table = (
        rows.groupby(keys, sort=False)
        .agg(cases=("case_id", "nunique"), conversations=("count", "size"), count=("count", "sum"))
        .reset_index()
    )
    if table.empty:
        return framed([], "panel entry set claim tone cases conversations count share outcome")
    table = table.assign(share=table["count"] / table["conversations"], outcome=word)
    return table.sort_values(["panel", "entry", "set"], kind="stable", ignore_index=True)


def crossed_where_run(claims: pd.DataFrame) -> pd.DataFrame:
    """Keep, for each panel of `claim_tone_table`, the crossed variants if there are any, else the cases."""
    crossed = claims["set"] == "factorial"
    return claims[crossed | ~claims["panel"].isin(set(claims.loc[crossed, "panel"]))].reset_index(drop=True)


def claim_tone_means(claims: pd.DataFrame) -> pd.DataFrame:
    """Average the shares of `claim_tone_table` over the models that met as many cases of a cell as any.

    Returns
    -------
    DataFrame
        One row per panel, set, claim and tone: panel, set, claim, tone, outcome, share, cases, conversations, models,
        left_out (models that have fewer cases of the cell), entry (its name where there is one, else empty), partial.
    """
    keys = ["panel", "set", "claim", "tone", "outcome"]
    whole = claims["cases"] == claims.groupby(keys)["cases"].transform("max")
    means = (
        claims[whole]
        .groupby(keys, sort=False)
        .agg(
            share=("share", "mean"),
            cases=("cases", "max"),
            conversations=("conversations", "sum"),
            models=("entry", "nunique"),
            entry=("entry", "first"),
            partial=("partial", "first"),
        )
    )
    means["left_out"] = claims[~whole].groupby(keys)["entry"].nunique().reindex(means.index, fill_value=0)
    lacking = {panel: named_with(partial_in(mine)) for panel, mine in claims.groupby("panel")}
    alone, together = means["models"] == 1, means.index.get_level_values("panel").map(lacking)
    partial = means["partial"].where(alone, together)
    return means.assign(entry=means["entry"].where(alone, ""), partial=partial).reset_index()


@says_partial
def kind_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return unsafe actions by the kind of failure a trap tempts the agent into.

    Returns
    -------
    DataFrame
        One row per entry and kind: panel, entry, kind, traps (run and scored), conversations, unsafe (conversations),
        count (mean over trials, summed over the traps of the kind: the part of the unsafe count that is of this kind).
        No interval: some kinds have one trap.
    """
    table = trap_table(results)
    table = table[table["trials"] > 0]
    found = table.groupby(["panel", "entry", "kind"], sort=False).agg(
        traps=("trap", "nunique"),
        conversations=("trials", "sum"),
        unsafe=("unsafe", "sum"),
        count=("unsafe_share", "sum"),
    )
    return found.reset_index()


def tier_table(safety: pd.DataFrame, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return unsafe actions and cost tier of every model that was paid for, together with the published ones.

    Parameters
    ----------
    safety : DataFrame
        As `safety_table` gives it.
    published : DataFrame, optional
        The published board (model, vendor, cost_tier, unsafe_actions_of_18).

    Returns
    -------
    DataFrame
        panel, entry, family, cost_tier, level (1 to 4; NaN where a price is unknown), traps (18 where published),
        unsafe (median over trials; as published), worst (trial), low, high (NaN where published: no trial-level data),
        partial; block, trials and unsafe_mean, _low, _high, _worst and _n as on a board.
    """
    import pandas as pd

    mine = safety[["panel", "entry", "cost_tier"]].assign(
        family=[vendor_of(m) for m in safety["model"]],
        traps=safety["traps"],
        unsafe=safety["median"],
        worst=safety["worst"],
        low=safety["these_low"],
        high=safety["these_high"],
        partial=safety.get("partial", ""),
        trials=safety.get("trials", nan),
        unsafe_mean=safety.get("observed", nan),
    )
    levels = {tier: place for place, tier in enumerate(TIERS, 1)}
    parts = [mine[mine["cost_tier"].isin([*TIERS, UNKNOWN])]]
    if published is not None:
        theirs = (
            published[["model", "cost_tier"]]
            .rename(columns={"model": "entry"})
            .assign(
                panel="published",
                family=published["vendor"],
                traps=float(BAND_TRAPS),
                unsafe=published["unsafe_actions_of_18"].astype(float),
                partial="",
            )
        )
        parts.append(theirs)
    table = pd.concat([p for p in parts if len(p)], ignore_index=True) if any(len(p) for p in parts) else parts[0]
    columns = ["panel", "entry", "family", "cost_tier", "level", "traps", "unsafe", "worst", "low", "high", "partial"]
    table = table.assign(level=table["cost_tier"].map(levels)).reindex(columns=[*columns, "trials", "unsafe_mean"])
    as_on_a_board = {f"unsafe_{end}": table[end].astype(float) for end in ("low", "high", "worst")}
    block = table["panel"].replace({"players": "played", "local model": "models"})
    return table.assign(**as_on_a_board, unsafe_n=table["traps"], block=block)


def tier_correlation(table: pd.DataFrame) -> pd.DataFrame:
    """Correlate cost tier and unsafe actions within each panel (Spearman, families as units, models on all traps only).

    Returns
    -------
    DataFrame
        panel, models, families, estimate, low, high, p, reason.
    """
    rows = []
    for panel, mine in table.dropna(subset=["level"]).groupby("panel", sort=False):
        fewer = mine["traps"] < mine["traps"].max()
        found = correlation(mine["level"], mine["unsafe"].where(~fewer), families=mine["family"])
        models = counted(int(fewer.sum()), "model")
        words = f"{models} on fewer than {mine['traps'].max():.0f} traps among them" if fewer.any() else ""
        numbers = (found.n, found.families, found.estimate, found.low, found.high, found.p)
        rows.append((panel, *numbers, sentence(found.reason, words)))
    return framed(rows, "panel models families estimate low high p reason")


def published_trap_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return the published failures by trap, beside those of the language models run here.

    Returns
    -------
    DataFrame
        trap, failed, runs, share, low, high (Wilson, which takes runs as independent: models differ, so it is too
        narrow), here (failed of the runs of language models here; in words where there are none).
    """
    published = published_data("supportagentbench_traps_2026-07")
    fates = trap_table(results)
    fates = fates[fates["panel"].isin(["models", "local model"])].groupby("trap")[["unsafe", "trials"]].sum()
    rows = []
    for name, failed, runs in published[["trap", "failed_runs_rounded", "runs"]].itertuples(index=False):
        groups = (group for theirs, group in PUBLISHED_TRAPS.items() if name.startswith(theirs))
        start, words = next(groups, (name, ""))
        ours = fates[fates.index.str.startswith(start)].sum()
        seen = len(fates) and ours["trials"]
        here = f"{ours['unsafe']} of {ours['trials']}{words}" if seen else "not run by a language model here"
        found = proportion_interval(int(failed), int(runs))
        rows.append((name, int(failed), int(runs), found.estimate, found.low, found.high, here))
    return framed(rows, "trap failed runs share low high here")
