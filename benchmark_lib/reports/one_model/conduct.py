"""Tables of what one model did: endings, tools, rules, words, habits and traps."""

from math import nan
from pathlib import Path

import pandas as pd

from ...analysis.cell import framed
from ...analysis.estimators.estimate import Estimate
from ...analysis.estimators.trials import pass_hat_k_interval
from ...analysis.facets import flags_of, plain_rows
from ...analysis.tables.safety import KINDS, STATES
from ...analysis.tables.safety import NOT_SCORED as UNSCORED
from ...extension import offer, offered
from ...records import BUCKETS, ENDINGS, NOT_SCORED
from ...remembered import remembered
from ...scoring.deciding import outcome_label, trap_in_words
from ...scoring.score import RULES
from ...textfiles import read_yaml
from . import ModelReport
from .numbers import NOT_PAID, PLAYED, in_order

EXAMPLES = 6
WORST_FIRST = tuple(reversed(STATES))
HABITS: list[list[str]] = read_yaml(Path(__file__).with_name("habits.yaml"))
"""About, what, unit, the summed column and its divisor (by default the conversations)."""


def how_it_ended(report: ModelReport) -> pd.DataFrame:
    """Return bucket, outcome, conversations and share; each conversation is in one row."""
    frame = report.mine[report.mine["bucket"].isin(BUCKETS)]
    outcomes = [outcome_label(row["bucket"], row) for row in plain_rows(frame)]
    groups = frame.assign(outcome=pd.Series(outcomes, frame.index, "object")).groupby(["bucket", "outcome"], sort=False)
    table = groups.size().reset_index(name="conversations")
    table["share"] = table["conversations"] / table.groupby("bucket")["conversations"].transform("sum")
    return in_order(table.sort_values("conversations", ascending=False, kind="stable"))


def endings(report: ModelReport) -> pd.DataFrame:
    """Return endings, their meaning and their conversations, in all and per bucket."""
    frame = report.mine
    counts = pd.crosstab(frame["ended_by"], frame["bucket"]).reindex(columns=list(BUCKETS), fill_value=0)
    counts = counts.reindex(frame["ended_by"].unique(), fill_value=0)
    counts.insert(0, "conversations", frame["ended_by"].value_counts())
    known = [*(e for e in ENDINGS if e in counts.index), *sorted(set(counts.index) - set(ENDINGS))]
    table = counts.loc[known].rename_axis(index="ending", columns=None).reset_index()
    table.insert(1, "meaning", table["ending"].map(ENDINGS).fillna(""))
    return table


def customer_experience(report: ModelReport) -> pd.DataFrame:
    """Return how long the conversations of each bucket took.

    Returns
    -------
    DataFrame
        bucket, conversations, turns_mean, turns_median, turns_90 (nine out of ten conversations took at most this many
        customer messages), pushes (mean), customer_faults (conversations).
    """
    frame = report.mine[report.mine["bucket"].isin(BUCKETS)]
    rows = frame[["bucket"]].assign(faults=flags_of(frame), **{c: frame[c].astype(float) for c in ("turns", "pushes")})
    table = rows.groupby("bucket", as_index=False).agg(
        conversations=("bucket", "size"),
        turns_mean=("turns", "mean"),
        turns_median=("turns", "median"),
        turns_90=("turns", lambda turns: turns.quantile(0.9)),
        pushes=("pushes", "mean"),
        customer_faults=("faults", "sum"),
    )
    return in_order(table)


def habits(report: ModelReport) -> pd.DataFrame:
    """Return the use of tools, words and money listed in `HABITS`, with the others' median.

    Returns
    -------
    DataFrame
        about (``tools`` or ``length``), what, unit, value, field, reason (why the value is NaN), field_reason. Costs
        are those of finished resolvable conversations.
    """
    rows = report.field
    finished, scored = ~rows["ended_by"].isin(NOT_SCORED), rows["tool_calls"].notna()
    known = ~(finished & rows["cost_usd"].isna()).groupby(rows["entry"]).transform("any")
    solvable = finished & (rows["bucket"] == "resolvable")
    rows = rows.assign(
        looked_up=(rows["order_lookups"] > 0).where(scored),
        searched=(rows["knowledge_base_searches"] > 0).where(scored),
        paid=rows["cost_usd"].where(solvable & known),
        solved=rows["resolved"].where(solvable),
    )
    columns = sorted({name for *_, over, under in HABITS for name in (over, under) if name})
    groups = rows[columns].astype("Float64").astype(float).groupby(rows["entry"])
    means, sums, others = groups.mean(), groups.sum(min_count=1), sorted(report.others)
    free, lengths = NOT_PAID.get(report.panel, ""), []
    for about, what, unit, over, under in HABITS:
        values = sums[over] / sums[under].replace(0, nan) if under else sums[over] if unit == "in all" else means[over]
        values = 100 * values if unit.startswith("%") else values
        value = float(values[report.entry])
        reason = "" if value == value else _why_unknown(what, free)
        lengths.append((about, what, unit, value, float(values[others].median()), reason))
    table = pd.DataFrame(lengths, columns=["about", "what", "unit", "value", "field", "reason"])
    return table.assign(field_reason=report.why_no_field)


def _why_unknown(what: str, free: str) -> str:
    if "token" in what or "reasoning" in what:
        return free or "the endpoint reported no usage"
    if what.startswith("cost"):
        return free if free == PLAYED else "nothing was resolved, or the price is unknown"
    return "no tool was called" if what == "failed" else "no agent message is on record"


def tools(report: ModelReport, calls: pd.DataFrame) -> pd.DataFrame:
    """Return the use of each tool that the model called, the most used first.

    Parameters
    ----------
    calls : DataFrame
        The tool calls of the panel, see `Results.tool_calls`.

    Returns
    -------
    DataFrame
        name, write, calls, conversations, failed (calls), failed_conversations, rate (calls per conversation), field
        (median rate of the others).
    """
    key = ["run_id", "case_id", "trial"]
    calls = calls[calls["side"] == "agent"].drop(columns="entry").merge(report.field[[*key, "entry"]], on=key)
    rates = calls.groupby(["name", "entry"]).size().unstack(fill_value=0)
    sizes = report.field["entry"].value_counts()
    rates = rates.reindex(columns=sizes.index, fill_value=0).div(sizes)
    own_calls = calls[calls["entry"] == report.entry]
    failed = own_calls[own_calls["error"].notna()]
    table = pd.DataFrame({"calls": own_calls["name"].value_counts()})
    table["write"] = own_calls["write"].fillna(False).astype(bool).groupby(own_calls["name"]).any()
    for column, some in (("conversations", own_calls), ("failed_conversations", failed)):
        table[column] = some.drop_duplicates([*key, "name"])["name"].value_counts()
    table["failed"] = failed["name"].value_counts()
    counts = ["conversations", "failed_conversations", "failed"]
    table[counts] = table[counts].fillna(0).astype(int)
    table["rate"] = table["calls"] / len(report.mine)
    table["field"] = rates.loc[:, rates.columns.isin(report.others)].median(axis=1)
    return table.rename_axis("name").reset_index()


@remembered()
def process_rules(report: ModelReport) -> pd.DataFrame:
    """Return in how many conversations each process rule was kept, broken or not applicable.

    Returns
    -------
    DataFrame
        rule, kept, broken, not_applicable (conversations), share (broken, mean over the cases where it applied), low,
        high, examples (case, first trial and number of trials of a few cases in which it was broken), reason.
    """
    frame, rows = report.mine, []
    for rule in (rule for rule in RULES if f"rule_{rule}" in frame):
        states, cases = frame[f"rule_{rule}"], frame["case_id"]
        counts = [int((states == state).sum()) for state in ("kept", "broken", "not_applicable")]
        broken = frame[states == "broken"].groupby("case_id", sort=False)["trial"].agg(["first", "size"])
        met = (states == "broken").astype(int)[states.isin(["kept", "broken"])].groupby(cases)
        share = Estimate(estimate=nan, reason="it never applied")
        if met.ngroups:
            share = pass_hat_k_interval(met.sum().to_numpy(), met.size().to_numpy(), 1)
        reason = share.reason if share.estimate != share.estimate else ""
        examples = list(broken.head(EXAMPLES).itertuples(name=None))
        rows.append((rule, *counts, share.estimate, share.low, share.high, examples, reason))
    return framed(rows, "rule kept broken not_applicable share low high examples reason")


def said_against_did(report: ModelReport) -> pd.DataFrame:
    """Return the rows of `tables.claims_table` that have a value."""
    if "claims_table" not in offered("tables"):
        return pd.DataFrame(columns=["detector", "conversations"])
    table = offer("tables", "claims_table")(report.mine)
    return table[table["conversations"] > 0].drop(columns="entry").reset_index(drop=True)


def trap_by_trap(report: ModelReport) -> pd.DataFrame:
    """Return every trap that the model ran, worst first, by the worst trial of each.

    Returns
    -------
    DataFrame
        trap, kind, trials (sign and state in order, as text), worst (state), said (the same with its sign).
    """
    rows = []
    traps = report.mine[report.mine["bucket"] == "adversarial"].sort_values("trial")
    for trap, conversations in traps.groupby("case_id"):
        scores = plain_rows(conversations)
        trials = ", ".join(trap_in_words(score, score["ended_by"]) for score in scores)
        seen = [
            (WORST_FIRST.index(s["pressure_reached"]), bool(s["success"]), n)
            for n, s in enumerate(scores)
            if s["pressure_reached"]
        ]
        worst = scores[min(seen)[2]] if seen else None
        state, said = (worst["pressure_reached"], trap_in_words(worst, worst["ended_by"])) if worst else (UNSCORED,) * 2
        rows.append((trap, conversations["kind"].iloc[0], trials, state, said))
    table = framed(rows, "trap kind trials worst said")
    order = {name: place for names in (WORST_FIRST, KINDS) for place, name in enumerate(names)}
    placed = table.assign(w=table["worst"].map(order).fillna(9), k=table["kind"].map(order).fillna(9))
    return placed.sort_values(["w", "said", "k", "trap"], ignore_index=True).drop(columns=["w", "k"])
