"""Results of one's own desk: broken rules, weighted success, losses, and their page section."""

import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup

from ...analysis.cell import framed, grouped, interval
from ...analysis.estimators.estimate import Estimate
from ...analysis.estimators.intervals import clustered_mean, clusters_or_cases
from ...analysis.facets import scores_of
from ...analysis.frames import Results
from ...analysis.panels import SCRIPTED, conversations_of
from ...analysis.tables.answers import Stakes, stakes_at, with_breaches, with_stakes
from ...analysis.tables.costs import HOW_TO_PRICE
from ...analysis.tables.nuisance import case_rate
from ...cases.load import known_cases
from ...experiment.summary import outdated
from ...reports.answers import stores_of
from ...reports.html import environment, plain_text
from ...scoring.deciding import rule_in_words
from ...store import Store
from .compiled import rules_tried
from .desk_file import DECLARED, REFUSE, read_desk, rule_name

COMMON = ("identity", "confirmation")
share_of = partial(case_rate, why_none="no conversation has a score")
FRONT = Path(__file__).with_name("front.html.j2")
UNCOUNTED = 100
"""Tickets per week for a desk that does not count its tickets."""
Stores = dict[str, Store]


def _stores_of(results: Results) -> Stores:
    for said in outdated(results.runs):
        warnings.warn(said, stacklevel=4)
    return stores_of(results)


def broken_rules(results: Results, stores: Stores | None = None) -> pd.DataFrame:
    """Return how often each entry broke each process rule of its store.

    `stores` maps each run_id to its store; by default, `stores_of` finds them. The most broken of a store's own rules
    comes first, with its words, what it says, and whether it refuses. Counts are conversations with a call that was
    carried out and to which it applies, broken of these, tested where it fails, and tested_broken of these with a
    forbidden call, even a failed one. Of those broken, unasked have an answer that would have allowed the act, but that
    nobody asked for. The broken_share is the mean over cases, with intents as clusters.
    """

    def counts(part: pd.DataFrame) -> dict[str, Any]:
        met, tested = part[part["applies"]], part["tested"]
        numbers = {"conversations": len(met), "broken": met["broken"].sum(), "unasked": met["unasked"].sum()}
        rate = share_of(met, "broken")
        numbers |= {"tested": tested.sum(), "tested_broken": (tested & part["called"]).sum(), "reason": rate.reason}
        return numbers | interval(rate, "broken_share", "broken_")

    columns = "store rule words says refuses entry panel case_id intent state tested called unasked"
    seen = framed(_rule_states(results, stores or _stores_of(results)), columns)
    seen = seen.assign(broken=seen["state"] == "broken", applies=seen["state"].isin(("kept", "broken")))
    seen = seen.astype(dict.fromkeys(("tested", "called", "unasked"), bool))
    seen["worst"] = -(seen["broken"] | seen["called"]).groupby([seen["store"], seen["rule"]]).transform("sum")
    seen["common"] = seen["rule"].isin(COMMON)
    names = "conversations broken unasked tested tested_broken broken_share broken_low broken_high reason"
    by = "store common worst rule entry words says refuses panel"
    return grouped(seen, counts, names, by, sort=True)[f"store rule words says refuses entry panel {names}".split()]


def _rule_states(results: Results, stores: Stores) -> Iterator[tuple[Any, ...]]:
    tests = {store: tested_by(store) for store in {*stores.values()}}
    desks = {store: read_desk(store.path) for store in tests if store.kind.name == DECLARED}
    declared = {(store, rule_name(*place)): rule for store, desk in desks.items() for place, rule in desk.rules.items()}
    rows = conversations_of(results)
    for c, score in zip(rows.itertuples(index=False), scores_of(rows, results.runs)):
        store = stores.get(c.run_id)
        if store is None or not score.get("scored"):
            continue
        for rule in store.rules:
            state = score.get(f"rule_{rule}")
            tested = c.case_id in tests[store].get(rule, ())
            if tested or state in ("kept", "broken"):
                own = declared.get((store, rule))
                about = rule_in_words(rule, store), own.say if own else "", own is None or own.otherwise == REFUSE
                called = tested and bool(score.get("forbidden_calls"))
                unasked = state == "broken" and not tested and own is not None and "knows." in own.holds
                yield store.name, rule, *about, c.entry, c.panel, c.case_id, c.intent, state, tested, called, unasked


def tested_by(store: Store) -> dict[str, set[str]]:
    """Return the cases for which each rule fails, or which name it as a reason to refuse."""
    found = {case.id: {*case.reasons} for case in known_cases(store).values()}
    if store.kind.name == DECLARED:
        failed = defaultdict[str, set[str]](set)
        for case_id, rule, holds in rules_tried(store, read_desk(store.path)):
            failed[case_id] |= set() if holds else {rule_name(*rule)}
        found |= failed
    return {rule: {case for case, rules in found.items() if rule in rules} for rule in store.rules}


def by_tickets(
    results: Results, tickets: int | None = None, stakes: Stakes | None = None, stores: Stores | None = None
) -> pd.DataFrame:
    """Return each entry's success on declared desks, and a week's cost of its mistakes in USD.

    `tickets` are those of a week; by default the sum of those in ``desk.yaml``, or 100 if no intent states a number.
    `stakes` are by default those of `stakes_at` the desk's folder. Success is the mean over cases; weighted, each
    intent counts by its share of the tickets. The loss covers handovers, unnoticed wrong endings, and acts that
    were carried out although forbidden or against a rule, whatever followed. The model's price is NaN if unknown.
    `nobody` is the cost if people answer every ticket. Intents are clusters. Of the conversations refused, those with a
    call of the forbidden act are crossed; of these, in committed ones it was carried out.
    """
    stores = stores or _stores_of(results)
    desks = {store.name for store in stores.values() if store.kind.name == DECLARED}
    f = with_breaches(results)
    f = f.assign(store=f["run_id"].map({run_id: store.name for run_id, store in stores.items()}))

    def row_of(part: pd.DataFrame) -> dict[str, Any]:
        desk = stores[part["run_id"].iloc[0]]
        traps = part[part["bucket"] == "adversarial"]
        counts = {name: intent.tickets for name, intent in read_desk(desk.path).intents.items()}
        total = sum(counts.values())
        given = stakes or stakes_at(desk.path)
        cases = part.dropna(subset=["success"]).assign(success=lambda p: p["success"].astype(float))
        weighted = weighted_mean(cases, "success", counts)
        costed = with_stakes(part.assign(bucket="resolvable"), given)
        loss = interval(weighted_mean(costed.dropna(subset=["loss"]), "loss", counts, None), "loss", "loss_")
        week = tickets or (total if total > len(counts) else UNCOUNTED)
        most = max(given.wrong, given.handover)
        return {
            "cases": cases["case_id"].nunique(),
            "trials": part["trial"].nunique(),
            **interval(share_of(cases, "success"), "success", "success_"),
            **interval(weighted, "weighted", "weighted_"),
            "reason": weighted.reason,
            "tickets": week,
            **{name: week * min(max(end, 0), most) for name, end in loss.items()},
            "price": week * float(part["cost_usd"].astype("Float64").astype(float).mean(skipna=False)),
            "nobody": week * given.handover,
            "refused": len(traps),
            "crossed": (traps["forbidden_calls"] > 0).sum(),
            "committed": (traps["forbidden_calls"] > traps["forbidden_malformed"]).sum(),
            "stakes": f"{given.wrong:g} and {given.handover:g} USD ({given.origin})",
        }

    names = "cases trials success success_low success_high weighted weighted_low weighted_high reason"
    names += " tickets loss loss_low loss_high price nobody refused crossed committed stakes"
    f = f[f["store"].isin(desks) & f["scored"].fillna(False).astype(bool)]
    return grouped(f, row_of, names, "store panel entry", sort=True)


def in_sentences(results: Results, stakes: Stakes, stores: Stores) -> list[str]:
    """Return whether no model kept every rule; for each, the broken rules and a week's cost."""
    rules = broken_rules(results, stores)
    entries = by_tickets(results, stakes=stakes, stores=stores)
    names = {"rules": rules.to_dict("records"), "entries": entries.to_dict("records")}
    said = plain_text("desk.txt.j2", first=True, common=COMMON, **names).split("\n\n")
    return [" ".join(text.split()) for text in said if text.strip()]


def weighted_mean(
    rows: pd.DataFrame, column: str, tickets: dict[str, int], bounds: tuple[float, float] | None = (0.0, 1.0)
) -> Estimate:
    """Estimate the mean over cases, with each intent weighted by its tickets.

    It is the clustered mean of values times their intent's share of the tickets, divided by its share of the cases.
    """
    by_case = rows.groupby(["intent", "case_id"])[column].mean().astype(float).reset_index()
    weight = by_case["intent"].map(tickets).fillna(0) / by_case.groupby("intent")["case_id"].transform("size")
    if by_case.empty or not weight.sum():
        return Estimate(estimate=nan, n=len(by_case), reason="no played intent has tickets")
    if bounds is not None and by_case[column].nunique() == 1:
        return share_of(rows, column)  # all values are equal: weights change nothing, and the bound is exact
    scaled = by_case[column] * weight / weight.mean()
    mean = clustered_mean(scaled.to_numpy(), clusters_or_cases(by_case["intent"], by_case["case_id"]), bounds=None)
    low, high = np.clip([mean.low, mean.high], *(bounds or (None, None)))
    return replace(mean, low=float(low), high=float(high))


def front(content: Any) -> Markup:
    """Return the section of a site's front page about its declared desks; empty without one."""
    desks = {store.name: store.title for store in content.stores.values() if store.kind.name == DECLARED}
    if not desks:
        return Markup()
    rules = broken_rules(content.results, content.stores)
    every = [part for _, part in rules[rules["store"].isin(desks)].groupby(["store", "rule"], sort=False)]
    names = {
        "desks": [*desks.values()],
        "rules": [part.to_dict("records") for part in every],
        "scripted": SCRIPTED,
        "own": any(r not in COMMON for part in every for r in part["rule"]),
        "how_to_price": HOW_TO_PRICE,
        "tested": {rule: cases for store in content.stores.values() for rule, cases in tested_by(store).items()},
        "entries": by_tickets(content.results, None, content.stakes, content.stores).to_dict("records"),
    }
    return Markup(environment().from_string(FRONT.read_text(encoding="utf-8")).render(names))
