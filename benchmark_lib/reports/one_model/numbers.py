"""Everything one model's report says, as tables; those of its conduct are made in `conduct`.

Each number with its denominator and, where it is not defined, the reason.
"""

from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ...analysis.estimators.estimate import Estimate, Headline, counted, sentence
from ...analysis.estimators.passk import pass_hat_k_interval
from ...analysis.estimators.trials import flip_rate, missing_bounds
from ...analysis.facets import flags_of
from ...analysis.panels import VARIANT
from ...analysis.tables.leaderboard import does_too_little
from ...analysis.tables.reliability import average_at_k, buckets_of, success_counts
from ...analysis.tables.rows import framed
from ...records import BUCKETS, NOT_SCORED
from ...remembered import remembered
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import percent
from .report import ModelReport

FIELD_METRICS = tuple(name for name in shown_on(Shown.BOARD) if METRICS[name].scale.bounds)
"""The metrics of the board that can be drawn as shares of a whole."""
READ = "cost_usd agent_messages agent_words empty_replies prompt_tokens completion_tokens reasoning_tokens"
"""What cost and verbosity are counted from."""
NOT_DEFINED = Headline(median=nan, mean=Estimate(estimate=nan))
PLAYED, UNCALLED = "played, not paid for", "no model was called"
NOT_PAID = {"scripted agents": UNCALLED, "recovery panel": UNCALLED, "players": PLAYED}
"""Why nothing was paid, by panel."""
PUBLISHED_COLUMNS = {
    "over_escalation": ("over_escalation_pct", 100),
    "unsafe": ("unsafe_actions_of_18", 18),
    "escalation_accuracy": ("escalation_accuracy_pct", 100),
}


@remembered()
def at_a_glance(report: ModelReport) -> pd.DataFrame:
    """Every metric of the model, beside the median of the others of its panel.

    Returns
    -------
    DataFrame
        One row per metric: metric, title, unit, value (median over trials), mean, low, high (interval of the mean; an
        unsafe count: for these traps), cases, trials, field (median of the others), field_reason (why it is NaN), then the same over the conversations
        whose customer was not flagged: without_value, without_mean, without_low, without_high, without_cases (NaN and 0
        when none was flagged), reason.
    """
    rows = []
    flagged = flags_of(report.mine).any()
    for metric in METRICS.values():
        found, without = report.forms[metric.name]
        calm = without if flagged else NOT_DEFINED
        rows.append(
            {
                "metric": metric.name,
                "title": metric.title,
                "unit": metric.scale.name,
                "value": found.median,
                "mean": found.mean.estimate,
                "low": found.mean.low,
                "high": found.mean.high,
                "cases": found.n,
                "trials": len(found.per_trial),
                "field": _field(report, metric),
                "field_reason": report.why_no_field,
                "without_value": calm.median,
                "without_mean": calm.mean.estimate,
                "without_low": calm.mean.low,
                "without_high": calm.mean.high,
                "without_cases": calm.n,
                "reason": (_unpriced(report) if metric.scale.money else "") or found.reason,
            }
        )
    return pd.DataFrame(rows)


def _unpriced(report: ModelReport) -> str:
    return NOT_PAID.get(report.panel) or ("price unknown" if report.mine["cost_usd"].isna().any() else "")


def _field(report: ModelReport, metric: Metric) -> float:
    """The median of the others of the panel that played all of their cases; of counts, on as many traps."""
    entry, board = report.entry, report.comparable
    values = board[metric.name].astype(float).dropna()
    if metric.scale.summed and entry in values:  # counts of fewer traps do not compare
        sizes = board.loc[values.index, f"{metric.name}_n"]
        values = values[sizes == sizes[entry]]
    return float(values[values.index.isin(report.others)].median())


def by_intent(report: ModelReport) -> pd.DataFrame:
    """The model intent by intent, within a bucket from worst to best.

    Returns
    -------
    DataFrame
        bucket, intent, cases, conversations, success (share, mean over cases), handed_over, corrupt_success (shares),
        turns, words (means), field (median success of the others), field_reason (why it is NaN), flips (cases whose trials disagree).
    """
    rows = []
    others = report.field[["entry", "intent", "success"]][report.field["entry"].isin(report.others)]
    means = others["success"].astype("Float64").groupby([others["intent"], others["entry"]]).mean()
    medians = means.groupby("intent").median()
    averaged = ["success", "handed_over", "corrupt_success", "turns", "agent_words"]
    read = report.mine[["bucket", "intent", "case_id"]].join(report.mine[averaged].astype("Float64").astype(float))
    for (bucket, intent), mine in read.groupby(["bucket", "intent"], sort=False):
        success = mine["success"].groupby(mine["case_id"]).mean()
        field = medians.get(intent, nan)
        shares = (mine[name].mean() for name in ("handed_over", "corrupt_success"))
        lengths = (mine[name].mean() for name in ("turns", "agent_words"))
        flips = int(((success > 0) & (success < 1)).sum())
        counts = (mine["case_id"].nunique(), len(mine))
        rows.append((bucket, intent, *counts, success.mean(), *shares, *lengths, field, flips))
    columns = ["bucket", "intent", "cases", "conversations", "success", "handed_over", "corrupt_success"]
    table = pd.DataFrame(rows, columns=[*columns, "turns", "words", "field", "flips"])
    numbers = ["success", "handed_over", "corrupt_success", "field"]
    table[numbers] = table[numbers].astype("Float64").astype(float)
    order = {bucket: place for place, bucket in enumerate(BUCKETS)}
    return table.assign(field_reason=report.why_no_field).sort_values(
        ["bucket", "success", "intent"],
        key=lambda c: c.map(order).fillna(9) if c.name == "bucket" else c,
        ignore_index=True,
    )


def brought_success(report: ModelReport) -> list[dict[str, Any]]:
    """Success in each domain of records that the desk did not score, by the rewards they came with.

    Returns
    -------
    list of dict
        bucket (the domain), cases, avg, avg_low, avg_high; a domain whose rewards cannot be pooled is left out.
    """
    found = []
    for bucket in (b for b in buckets_of(report.mine) if b not in BUCKETS):
        counts = success_counts(report.mine, bucket)
        if counts.trials.any() and not counts.reason:
            cases = int((counts.trials > 0).sum())
            found.append({"bucket": bucket, "cases": cases, **average_at_k(report.mine, bucket, counts)})
    return found


def steadiness(report: ModelReport, k: int = 3) -> pd.DataFrame:
    """Does it do the same thing again? pass^1, pass^k and the flip rate of each bucket.

    Returns
    -------
    DataFrame
        bucket, cases, pass_1, cases_k (with at least k trials), pass_k, low, high (of pass^k), flip (chance that two
        trials of a case disagree), flip_cases (with two trials or more), reason.
    """
    rows = []
    for bucket in dict.fromkeys((*BUCKETS, *buckets_of(report.mine))):
        counts = success_counts(report.mine, bucket)
        kept = counts.trials > 0
        if not kept.any():
            rows.append((bucket, 0, nan, 0, nan, nan, nan, nan, 0, "not run or not scored"))
            continue
        hits, sizes = counts.successes[kept], counts.trials[kept]
        labels = None if counts.clusters is None else np.array(counts.clusters, dtype=object)[kept]
        found = pass_hat_k_interval(hits, sizes, k, clusters=labels)
        flips = flip_rate(hits, sizes)
        every = (found.n, found.estimate, found.low, found.high)
        reason = sentence(found.reason, "" if flips.n == found.n else flips.reason)
        if sizes.max() == 1:
            reason = "each case was played once, so nothing is known of repeats"
        once = float((hits / sizes).mean())
        rows.append((bucket, int(kept.sum()), once, *every, flips.estimate, flips.n, reason))
    return pd.DataFrame(
        rows, columns=["bucket", "cases", "pass_1", "cases_k", "pass_k", "low", "high", "flip", "flip_cases", "reason"]
    )


def cost_and_verbosity(report: ModelReport) -> pd.DataFrame:
    """What it costs, over finished conversations, and how much it says.

    Returns
    -------
    DataFrame
        what, value, unit, field (median of the others), reason, field_reason (why the median is NaN).
    """

    def measures(rows: pd.DataFrame) -> dict[str, float]:
        finished = rows[~rows["ended_by"].isin(NOT_SCORED)]
        solvable, cost = finished[finished["bucket"] == "resolvable"], finished["cost_usd"]
        messages = float(rows["agent_messages"].sum())
        resolved = float(solvable["resolved"].astype("Float64").sum())
        known = len(cost) > 0 and not cost.isna().any()
        written, hidden = rows["completion_tokens"].sum(), rows["reasoning_tokens"].sum()
        return {
            "cost of 1,000 conversations|USD": 1000 * cost.mean() if known else nan,
            "cost of a resolved case|USD": solvable["cost_usd"].sum() / resolved if known and resolved else nan,
            "prompt tokens per conversation|tokens": rows["prompt_tokens"].mean(),
            "completion tokens per conversation|tokens": rows["completion_tokens"].mean(),
            "hidden reasoning, share of the completion|%": 100 * hidden / written if written else nan,
            "agent messages per conversation|messages": rows["agent_messages"].mean(),
            "agent words per conversation|words": rows["agent_words"].mean(),
            "words per message|words": rows["agent_words"].sum() / messages if messages else nan,
            "empty replies|replies": rows["empty_replies"].sum(),
        }

    mine = measures(report.mine)
    field = report.field[["entry", "bucket", "ended_by", "resolved", *READ.split()]].groupby("entry")
    others = pd.DataFrame([measures(rows) for entry, rows in field if entry in report.others])
    rows = []
    for name, value in mine.items():
        what, _, unit = name.partition("|")
        reason = "" if value == value else _why_unknown(what, NOT_PAID.get(report.panel, ""))
        rows.append((what, value, unit, float(others[name].median()) if len(others) else nan, reason))
    table = pd.DataFrame(rows, columns=["what", "value", "unit", "field", "reason"])
    return table.assign(field_reason=report.why_no_field)


def _why_unknown(what: str, free: str) -> str:
    if "token" in what or "reasoning" in what:
        return free or "the endpoint reported no usage"
    if free == PLAYED and what.startswith("cost"):
        return free
    if what.startswith("cost of a resolved"):
        return "nothing was resolved, or the price is unknown"
    return "price unknown" if what.startswith("cost") else "no agent message is on record"


def field_table(report: ModelReport, *, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """The model among the others of its panel, as `figures.in_the_field` draws it; unsafe acts as a share of the traps.

    Parameters
    ----------
    published : DataFrame, optional
        The published board; its rows are then added, with ``panel`` published.

    Returns
    -------
    DataFrame
        panel, metric, title, higher_is_better, entry, partial, no_merit (whether few unsafe acts come from doing too little), n, trials,
        value, low, high.
    """
    rows = []
    for name in FIELD_METRICS:
        metric = METRICS[name]
        for row in report.board.to_dict("records"):
            scale = metric.scale.factor(max(float(row[f"{name}_n"]), 1.0))
            values = (row[f"{name}{end}"] / scale for end in ("", "_low", "_high"))
            head = (report.panel, name, metric.title, metric.higher_is_better, row["entry"], row["partial"])
            idle = bool(metric.banded) and does_too_little(row)
            rows.append((*head, idle, row[f"{name}_n"], row["trials"], *values))
        if published is not None and name in PUBLISHED_COLUMNS:
            column, scale = PUBLISHED_COLUMNS[name]
            rows += [
                ("published", name, metric.title, metric.higher_is_better, m, "", False, nan, nan, v / scale, nan, nan)
                for m, v in zip(published["model"], published[column])
            ]
    return framed(rows, "panel metric title higher_is_better entry partial no_merit n trials value low high")


def what_is_missing(report: ModelReport) -> str:
    """What a reader must know before any number: missing conversations, few trials, filters, faults, mixed versions."""
    notes = [report.row["notes"]] if report.row["notes"] else []
    crossed = int((report.mine["bucket"] == VARIANT).sum())
    if crossed:
        notes.append(f"{counted(crossed, 'conversation')} of crossed variants counted in no bucket")
    resolvable = report.mine[report.mine["bucket"] == "resolvable"]
    filtered = int((resolvable["ended_by"] == "content_filter").sum())
    if filtered:
        flags = resolvable["resolved"].astype("Float64").groupby(resolvable["case_id"])
        bounds = missing_bounds(flags.sum().to_numpy(float), flags.count().to_numpy(), flags.size().to_numpy())
        worst = f"{percent(bounds.worst)} are resolved if the filtered conversations count as failures"
        notes.append(f"{worst}, {percent(bounds.best)} if they count as successes")
    return sentence(*notes)
