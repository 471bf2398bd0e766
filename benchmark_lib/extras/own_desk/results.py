"""Results of a desk of one's own: broken rules, weighted success, weekly losses."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.estimators.estimate import Estimate
from ...analysis.estimators.intervals import clustered_mean, clustered_rate, clusters_or_cases
from ...analysis.panels import SCRIPTED, conversations_of
from ...analysis.tables.answers import Stakes, read_stakes, with_stakes
from ...analysis.tables.rows import framed, interval
from ...cases.played import store_played
from ...scoring.deciding import rule_in_words
from .desk_file import read_desk
from .kind import DECLARED

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results
    from ...store import Store

RULE = "rule_"
STAKES = "stakes.yaml"


def stores_of(results: Results) -> dict[str, Store]:
    """Return the stores of runs by run_id, also those that are beside their run file."""
    stores = {run.run_id: store_played(run.manifest, [run.path.resolve().parent]) for run in results.runs}
    return {run_id: store for run_id, store in stores.items() if store is not None}


def own_desks(stores: dict[str, Store]) -> dict[str, Store]:
    """Return the declared desks among the stores of runs, by the name of the store."""
    return {store.name: store for store in stores.values() if store.kind.name == DECLARED}


def broken_rules(results: Results, stores: dict[str, Store] | None = None) -> pd.DataFrame:
    """Return how often each entry broke each process rule of its store.

    Parameters
    ----------
    results : Results
        Runs on any stores of ours.
    stores : dict of str to Store, optional
        The store of each run by run_id; by default as `stores_of` finds them.

    Returns
    -------
    DataFrame
        One row per store, rule and entry, the most often broken rule first: words (what the rule asks), panel,
        conversations (in which it applied), broken (of these), and broken_share with low and high (mean over cases,
        intents as clusters); reason.
    """
    seen = _rule_states(results, stores or stores_of(results))
    seen["worst"] = -seen.groupby(["store", "rule"])["broken"].transform("sum")
    rows = []
    by = ["store", "worst", "rule", "entry", "words", "panel"]
    for (store, _, rule, entry, words, panel), part in seen.groupby(by):
        rate = _plain(part, "broken")
        row = (store, rule, words, entry, panel, len(part), int(part["broken"].sum()))
        rows.append((*row, *interval(rate).values(), rate.reason))
    return framed(rows, "store rule words entry panel conversations broken broken_share broken_low broken_high reason")


def _rule_states(results: Results, stores: dict[str, Store]) -> pd.DataFrame:
    f = conversations_of(results)
    scores = {(run.run_id, digest): score for run in results.runs for digest, score in run.scores().items()}
    rows = []
    for c in f[["run_id", "record_hash", "entry", "panel", "case_id", "intent"]].itertuples(index=False):
        score, store = scores.get((c.run_id, c.record_hash), {}), stores.get(c.run_id)
        states = {name.removeprefix(RULE): state for name, state in score.items() if name.startswith(RULE)}
        for rule, state in states.items() if score.get("scored") else ():
            if state in ("kept", "broken") and store is not None and rule in store.rules:
                head = (store.name, rule, rule_in_words(rule, store), c.entry, c.panel, c.case_id, c.intent)
                rows.append((*head, state == "broken"))
    return framed(rows, "store rule words entry panel case_id intent broken")


def weighted_success(results: Results, stores: dict[str, Store] | None = None) -> pd.DataFrame:
    """Return each entry's success on declared desks, plain and weighted by tickets.

    Returns
    -------
    DataFrame
        One row per store and entry: panel, cases, trials; success with low and high (mean over cases), weighted with
        low and high (each intent counts as its share of the desk's tickets), reason. Intents are clusters.
    """
    rows = []
    for store, entry, panel, part in _by_entry(results, stores or stores_of(results)):
        cases = part.dropna(subset=["success"]).assign(success=lambda p: p["success"].astype(float))
        weighted = _weighted(cases, "success", (0.0, 1.0), store)
        ends = [*interval(_plain(cases, "success")).values(), *interval(weighted).values()]
        rows.append(
            (store.name, entry, panel, cases["case_id"].nunique(), part["trial"].nunique(), *ends, weighted.reason)
        )
    names = "success success_low success_high weighted weighted_low weighted_high"
    return framed(rows, f"store entry panel cases trials {names} reason")


def weekly_loss(
    results: Results, tickets: int = 500, stakes: Stakes | None = None, stores: dict[str, Store] | None = None
) -> pd.DataFrame:
    """Return what mistakes and handovers of each entry cost a week, in US dollars.

    Parameters
    ----------
    results : Results
        Runs on declared desks.
    tickets : int
        Tickets a week, in the proportions of the desk's intents.
    stakes : Stakes, optional
        By default the ``stakes.yaml`` in the desk's folder, or else the shipped defaults.

    Returns
    -------
    DataFrame
        One row per store and entry: panel, tickets; loss with low and high (wrong ends that nobody notices, traps
        included, and handovers); price (the model's, NaN if unknown); nobody (every ticket answered by a person).
    """
    rows = []
    for store, entry, panel, part in _by_entry(results, stores or stores_of(results)):
        file = store.path / STAKES
        given = stakes or read_stakes(file if file.is_file() else None)
        costed = with_stakes(part.assign(bucket="resolvable"), given)
        loss = _weighted(costed.dropna(subset=["loss"]), "loss", None, store)
        price = part["cost_usd"].astype("Float64").astype(float).mean(skipna=False)
        costs = (*interval(loss).values(), float(price), given.handover)
        rows.append((store.name, entry, panel, tickets, *(tickets * cost for cost in costs)))
    return framed(rows, "store entry panel tickets loss loss_low loss_high price nobody")


def _by_entry(results: Results, stores: dict[str, Store]) -> Any:
    desks, played = own_desks(stores), {run_id: store.name for run_id, store in stores.items()}
    f = conversations_of(results)
    f = f.assign(store=f["run_id"].map(played))
    f = f[f["store"].isin(desks) & f["scored"].fillna(False).astype(bool)]
    for (name, panel, entry), part in f.groupby(["store", "panel", "entry"]):
        yield desks[name], entry, panel, part


def _plain(cases: pd.DataFrame, column: str) -> Estimate:
    by_case = cases.groupby(["intent", "case_id"])[column].agg(["mean", "size"]).reset_index()
    if by_case.empty:
        return Estimate(estimate=nan, n=0, reason="no conversation has a score")
    clusters = clusters_or_cases(by_case["intent"], by_case["case_id"])
    return clustered_rate(by_case["mean"].to_numpy(), clusters, trials=int(by_case["size"].max()))


def _weighted(rows: pd.DataFrame, column: str, bounds: tuple[float, float] | None, store: Store) -> Estimate:
    """Estimate the mean over cases with each intent weighted by its tickets.

    A case's value is scaled by its intent's share of the tickets over its share of the cases, so that the plain
    clustered mean of the scaled values is the weighted mean.
    """
    by_case = rows.groupby(["intent", "case_id"])[column].mean().astype(float).reset_index()
    tickets = {name: intent.tickets for name, intent in read_desk(store.path).intents.items()}
    weight = by_case["intent"].map(tickets).fillna(0) / by_case.groupby("intent")["case_id"].transform("size")
    if by_case.empty or not weight.sum():
        return Estimate(estimate=nan, n=len(by_case), reason="no played intent has tickets")
    scaled = by_case[column] * weight / weight.mean()
    clusters = clusters_or_cases(by_case["intent"], by_case["case_id"])
    found = clustered_mean(scaled.to_numpy(), clusters, bounds=None)
    if bounds is None:
        return found
    low, high = np.clip([found.low, found.high], *bounds)
    return replace(found, low=float(low), high=float(high))


def is_model(panel: str) -> bool:
    """Return whether rows of a panel are models, not scripted agents."""
    return panel not in SCRIPTED
