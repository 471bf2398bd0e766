"""What one model did: how its conversations ended, its tools, its rules, its words, and what customers went through."""

from math import nan
from typing import Any

import pandas as pd

from ...analysis.estimators.estimate import Estimate
from ...analysis.estimators.passk import pass_hat_k_interval
from ...analysis.facets import flags_of, plain_rows
from ...analysis.frames import Results
from ...analysis.tables.detectors import claims_table
from ...analysis.tables.judges import judge_table
from ...records import BUCKETS
from ...remembered import remembered
from ...scoring.deciding import became
from .report import ModelReport

RULES = ("identity", "confirmation", "evidence", "lookup", "window", "recipient")


def how_it_ended(report: ModelReport) -> pd.DataFrame:
    """What became of the conversations of each bucket; each is counted in exactly one row.

    Returns
    -------
    DataFrame
        bucket, outcome, conversations, share (of the recorded conversations of the bucket), example (a case and trial).
    """
    rows = []
    for bucket in BUCKETS:
        mine = report.mine[report.mine["bucket"] == bucket]
        if mine.empty:
            continue
        kinds = pd.Series([became(bucket, row) for row in plain_rows(mine)], index=mine.index)
        for outcome, conversations in mine.groupby(kinds, sort=False):
            first = conversations.iloc[0]
            n, example = len(conversations), f"{first['case_id']} trial {first['trial']}"
            rows.append((bucket, outcome, n, n / len(mine), example))
    table = pd.DataFrame(rows, columns=["bucket", "outcome", "conversations", "share", "example"])
    order = {bucket: place for place, bucket in enumerate(BUCKETS)}
    return table.sort_values(
        ["bucket", "conversations"],
        key=lambda c: c.map(order) if c.name == "bucket" else -c,
        kind="stable",
        ignore_index=True,
    )


def tool_use(report: ModelReport, results: Results | None = None) -> pd.DataFrame:
    """How the tools were used, compared with the median of the others.

    Returns
    -------
    DataFrame
        what, value, field, conversations, field_reason (why the field is NaN): calls and writes per conversation, share of conversations with an order
        lookup and with a knowledge-base search, share of calls that failed; then, where `results` is given, calls per
        conversation of each tool the model called.
    """

    def measures(rows: pd.DataFrame) -> dict[str, float]:
        calls = float(rows["tool_calls"].sum())
        return {
            "calls per conversation": rows["tool_calls"].mean(),
            "changes per conversation": rows["write_calls"].mean(),
            "conversations with an order lookup, %": 100 * (rows["order_lookups"] > 0).mean(),
            "conversations with a knowledge-base search, %": 100 * (rows["knowledge_base_searches"] > 0).mean(),
            "calls that failed, %": 100 * rows["failed_calls"].sum() / calls if calls else nan,
        }

    read = ["entry", "tool_calls", "write_calls", "order_lookups", "knowledge_base_searches", "failed_calls"]
    scored = report.field[read].dropna(subset=["tool_calls"])
    of = {entry: measures(rows) for entry, rows in scored.groupby("entry")}
    others = pd.DataFrame([v for m, v in of.items() if m in report.others])
    mine = of.get(report.entry, {})
    conversations = int((scored["entry"] == report.entry).sum())
    table = [
        (what, value, float(others[what].median()) if len(others) else nan, conversations)
        for what, value in mine.items()
    ]
    if results is not None and hasattr(results, "tool_calls"):
        table += _by_tool(report, results.tool_calls)
    table = pd.DataFrame(table, columns=["what", "value", "field", "conversations"])
    return table.assign(field_reason=report.why_no_field)


def _by_tool(report: ModelReport, calls: pd.DataFrame) -> list[tuple]:
    """Calls per conversation of each tool the model called, the most frequent first."""
    entry_of = dict(zip(report.field["run_id"], report.field["entry"], strict=True))
    calls = calls[calls["run_id"].isin(entry_of) & (calls["side"] == "agent")]
    counts = calls.groupby([calls["run_id"].map(entry_of).rename("entry"), "name"]).size().unstack(fill_value=0)
    conversations = report.field["entry"].value_counts()
    rates = counts.reindex(conversations.index, fill_value=0).div(conversations, axis=0)
    others = rates[rates.index.isin(report.others)].median()
    mine = rates.loc[report.entry].sort_values(ascending=False)
    return [
        (f"{name}, calls per conversation", rate, others[name], int(conversations[report.entry]))
        for name, rate in mine[mine > 0].items()
    ]


@remembered()
def process_rules(report: ModelReport) -> pd.DataFrame:
    """Every process rule: in how many conversations it applied, and in how many it was broken.

    Returns
    -------
    DataFrame
        rule, kept, broken, not_applicable (conversations), share (broken, mean over the cases where it applied), low,
        high, example, reason.
    """
    rows = []
    for rule in RULES:
        column = f"rule_{rule}"
        if column not in report.mine:
            continue
        states = report.mine[column]
        counts = {state: int((states == state).sum()) for state in ("kept", "broken", "not_applicable")}
        named = report.mine[["case_id", "trial"]]
        found = _share_of_cases(named[states.isin(["kept", "broken"])], states == "broken")
        first = named[states == "broken"].head(1)
        example = f"{first['case_id'].iloc[0]} trial {first['trial'].iloc[0]}" if len(first) else ""
        reason = "" if counts["kept"] + counts["broken"] else "it never applied"
        rows.append((rule, *counts.values(), found.estimate, found.low, found.high, example, reason))
    columns = ["rule", "kept", "broken", "not_applicable", "share", "low", "high", "example", "reason"]
    return pd.DataFrame(rows, columns=columns)


def _share_of_cases(rows: pd.DataFrame, flag: Any) -> Estimate:
    """Mean over cases of a flag's share, cases as units."""
    if rows.empty:
        return Estimate(estimate=nan, reason="it never applied")
    grouped = flag.reindex(rows.index).astype(int).groupby(rows["case_id"])
    return pass_hat_k_interval(grouped.sum().to_numpy(), grouped.size().to_numpy(), 1)


def said_against_did(report: ModelReport) -> pd.DataFrame:
    """What the detectors found between words and deeds; empty if no detector was run.

    Returns
    -------
    DataFrame
        detector, title, conversations (with a value), abstained, found, share, low, high.
    """
    table = claims_table(report.mine)
    return table[table["conversations"] > 0].drop(columns="entry").reset_index(drop=True)


def judged_scores(report: ModelReport, results: Results) -> pd.DataFrame:
    """What judges said of it, as `benchmark_lib.tables.judge_table` gives it; empty where nobody judged it."""
    table = judge_table(results)
    return table[table["entry"] == report.entry].reset_index(drop=True)


def customer_experience(report: ModelReport) -> pd.DataFrame:
    """How the conversations ended and how long they took, by bucket.

    Returns
    -------
    DataFrame
        One row per bucket: bucket, conversations, a column for every ending that occurs (conversations), turns_mean,
        turns_median, turns_90 (nine of ten conversations took at most this many customer messages), pushes (mean),
        customer_faults (conversations).
    """
    rows = []
    endings = list(report.mine["ended_by"].value_counts().index)
    for bucket in BUCKETS:
        mine = report.mine[report.mine["bucket"] == bucket]
        if mine.empty:
            continue
        turns = mine["turns"].dropna().astype(float)
        rows.append(
            {
                "bucket": bucket,
                "conversations": len(mine),
                **{e: int((mine["ended_by"] == e).sum()) for e in endings},
                "turns_mean": turns.mean(),
                "turns_median": turns.median(),
                "turns_90": turns.quantile(0.9) if len(turns) else nan,
                "pushes": mine["pushes"].astype(float).mean(),
                "customer_faults": int(flags_of(mine).sum()),
            }
        )
    return pd.DataFrame(rows)
