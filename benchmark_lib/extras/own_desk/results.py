"""Results of one's own desk: broken rules, weighted success, losses, and their page section."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from ...analysis.cell import Cell, Heading, Table, metric_cell
from ...analysis.estimators.estimate import Estimate
from ...analysis.estimators.intervals import clustered_mean, clustered_rate, clusters_or_cases
from ...analysis.facets import BROKEN
from ...analysis.panels import SCRIPTED, conversations_of
from ...analysis.query import Query
from ...analysis.tables.answers import Stakes, read_stakes, with_stakes
from ...analysis.tables.rows import framed, grouped, interval
from ...cases.played import known_cases, store_played
from ...reports.html import environment
from ...scoring.deciding import rule_in_words
from ...scoring.scales import SHARE
from .desk_file import DECLARED, read_desk, texts

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results
    from ...store import Store

COMMON = ("identity", "confirmation")
STAKES = "stakes.yaml"
UNCOUNTED = 100
"""Tickets per week for a desk that does not count its tickets."""
FRONT, CAPTIONS = Path(__file__).with_name("front.html.j2"), "base/captions.yaml"
NOTE, TESTED = "{broken} of {conversations}", "; {tested_broken} of {tested} where it refuses"
Stores = dict[str, "Store"]


def stores_of(results: Results) -> Stores:
    """Return the store of each run by run_id; also search the folder of the run file."""
    stores = {run.run_id: store_played(run.manifest, [run.path.resolve().parent]) for run in results.runs}
    return {run_id: store for run_id, store in stores.items() if store is not None}


def broken_rules(results: Results, stores: Stores | None = None) -> pd.DataFrame:
    """Return how often each entry broke each process rule of its store.

    `stores` maps each run_id to its store; by default, `stores_of` finds them.

    Returns
    -------
    DataFrame
        One row per store, rule and entry, the most broken of a store's own rules first: words (what the rule demands),
        panel, conversations (with a call to which it applies), broken (of these), tested (on tickets that it refuses),
        tested_broken, and broken_share with low and high (mean over cases, intents as clusters); reason.
    """

    def counts(part: pd.DataFrame) -> dict[str, Any]:
        met, tested = part[part["applies"]], part["tested"]
        numbers = {"conversations": len(met), "broken": met["broken"].sum(), "tested": tested.sum()}
        rate = share_of(met, "broken")
        ends = interval(rate, "broken_share", "broken_")
        return {**numbers, "tested_broken": (tested & part["broken"]).sum(), **ends, "reason": rate.reason}

    seen = framed(
        _rule_states(results, stores or stores_of(results)), "store rule words entry panel case_id intent state tested"
    )
    seen = seen.assign(broken=seen["state"] == "broken", applies=seen["state"].isin(("kept", "broken")))
    seen["tested"] = seen["tested"].astype(bool)
    seen["worst"] = -seen.groupby(["store", "rule"])["broken"].transform("sum")
    seen["common"] = seen["rule"].isin(COMMON)
    names = "conversations broken tested tested_broken broken_share broken_low broken_high reason"
    by = "store common worst rule entry words panel"
    table = grouped(seen, counts, names, by, sort=True)
    return table[["store", "rule", "words", "entry", "panel", *names.split()]]


def _rule_states(results: Results, stores: Stores) -> Iterator[tuple[Any, ...]]:
    """Yield each conversation with each rule that applies to it or that its ticket tests."""
    scores = {(run.run_id, digest): score for run in results.runs for digest, score in run.scores().items()}
    cases = {store.name: known_cases(store) for store in stores.values()}
    for c in conversations_of(results).itertuples(index=False):
        score, store = scores.get((c.run_id, c.record_hash), {}), stores.get(c.run_id)
        if store is None or not score.get("scored"):
            continue
        case = cases[store.name].get(c.case_id)
        for rule in store.rules:
            state, tested = score.get(f"rule_{rule}"), case is not None and rule in case.reasons
            if tested or state in ("kept", "broken"):
                words = rule_in_words(rule, store)
                yield store.name, rule, words, c.entry, c.panel, c.case_id, c.intent, state, tested


def by_tickets(
    results: Results, tickets: int | None = None, stakes: Stakes | None = None, stores: Stores | None = None
) -> pd.DataFrame:
    """Return each entry's success on declared desks, and a week's cost of its mistakes in USD.

    Parameters
    ----------
    tickets : int, optional
        Tickets per week; by default the sum of those in ``desk.yaml``, or 100 if no intent states a number.
    stakes : Stakes, optional
        By default the ``stakes.yaml`` in the desk's folder, or else the shipped defaults.

    Returns
    -------
    DataFrame
        One row per store and entry: panel, cases, trials; success with low and high (mean over cases), weighted with
        low and high (each intent counts by its share of the tickets), reason; tickets; loss with low and high
        (unnoticed wrong endings, including those of traps, and handovers); price (the model's, NaN if unknown); nobody
        (the cost if people answer every ticket); stakes (their source in words). Intents are clusters.
    """
    stores = stores or stores_of(results)
    desks = {store.name: store for store in stores.values() if store.kind.name == DECLARED}
    f = conversations_of(results)
    f = f.assign(store=f["run_id"].map({run_id: store.name for run_id, store in stores.items()}))

    def row_of(part: pd.DataFrame) -> dict[str, Any]:
        desk = desks[part["store"].iloc[0]]
        counts = {name: intent.tickets for name, intent in read_desk(desk.path).intents.items()}
        total, file = sum(counts.values()), desk.path / STAKES
        given = stakes or read_stakes(file if file.is_file() else None)
        cases = part.dropna(subset=["success"]).assign(success=lambda p: p["success"].astype(float))
        weighted = weighted_mean(cases, "success", counts)
        costed = with_stakes(part.assign(bucket="resolvable"), given)
        loss = interval(weighted_mean(costed.dropna(subset=["loss"]), "loss", counts, None), "loss", "loss_")
        week, most = tickets or (total if total > len(counts) else UNCOUNTED), max(given.wrong, given.handover)
        price = part["cost_usd"].astype("Float64").astype(float).mean(skipna=False)
        return {
            "cases": cases["case_id"].nunique(),
            "trials": part["trial"].nunique(),
            **interval(share_of(cases, "success"), "success", "success_"),
            **interval(weighted, "weighted", "weighted_"),
            "reason": weighted.reason,
            "tickets": week,
            **{name: week * min(max(end, 0), most) for name, end in loss.items()},
            "price": week * float(price),
            "nobody": week * given.handover,
            "stakes": given.origin,
        }

    names = "cases trials success success_low success_high weighted weighted_low weighted_high reason"
    names += " tickets loss loss_low loss_high price nobody stakes"
    f = f[f["store"].isin(desks) & f["scored"].fillna(False).astype(bool)]
    return grouped(f, row_of, names, "store panel entry", sort=True)


def share_of(cases: pd.DataFrame, column: str) -> Estimate:
    """Estimate the mean of a column over cases, with intents (or few cases) as clusters."""
    by_case = cases.groupby(["intent", "case_id"])[column].agg(["mean", "size"]).reset_index()
    if by_case.empty:
        return Estimate(estimate=nan, n=0, reason="no conversation has a score")
    clusters = clusters_or_cases(by_case["intent"], by_case["case_id"])
    return clustered_rate(by_case["mean"].to_numpy(), clusters, trials=int(by_case["size"].max()))


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
    given = content.stakes if content.stakes and content.stakes.file else None
    entries = by_tickets(content.results, stakes=given, stores=content.stores)
    rules = broken_rules(content.results, content.stores)
    rules = rules[rules["store"].isin(desks)]
    titles = {"entry": "Entry", "cases": "Cases", "success": "Success, plain", "weighted": "Success, by tickets"}
    rows = [
        {"entry": r["entry"], "cases": Cell(number=str(r["cases"]))} | {n: _cell(r, n) for n in ("success", "weighted")}
        for r in entries.to_dict("records")
    ]
    names = {
        "desks": [*desks.values()],
        "headlines": [_of_models(part) for _, part in rules.groupby(["store", "rule"], sort=False)],
        "scripted": SCRIPTED,
        "rules": _rules_table(rules),
        "success": table(titles, rows, caption=texts(CAPTIONS)["success"]),
        "losses": _of_models(entries),
    }
    return Markup(environment().from_string(FRONT.read_text(encoding="utf-8")).render(names))


def table(columns: dict[str, str], rows: list[dict[str, Any]], **about: Any) -> Table:
    """Return a table with the given column titles."""
    return Table(columns=tuple(Heading(key=key, title=title) for key, title in columns.items()), rows=(*rows,), **about)


def _of_models(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of models; if there are none, the rows of scripted agents."""
    models = rows[~rows["panel"].isin(SCRIPTED)]
    return (models if len(models) else rows).to_dict("records")


def _cell(row: dict[str, Any], name: str, ends: str = "", **about: Any) -> Cell:
    low, high = (row[f"{ends or name}_{end}"] for end in ("low", "high"))
    return metric_cell(Estimate(estimate=row[name], low=low, high=high), SHARE, "mean", **about)


def _rules_table(rules: pd.DataFrame) -> Table:
    rows: dict[str, dict[str, Any]] = {}
    for r in rules.to_dict("records"):
        note = NOTE.format(**r) + (TESTED.format(**r) if r["tested"] else "")
        behind = Query.of(finding=f"{BROKEN}{r['rule']}", entry=r["entry"])
        cell = _cell(r, "broken_share", "broken", note=note, yes=behind, k=r["broken"], n=r["conversations"])
        rows.setdefault(r["rule"], {"rule": r["words"]})[r["entry"]] = cell
    return table(
        {"rule": "Rule"} | {entry: entry for entry in rules["entry"]},
        [*rows.values()],
        caption=texts(CAPTIONS)["rules"],
    )
