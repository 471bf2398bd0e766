"""Tables of how good a model is: numbers with denominators, or why they are missing."""

from math import nan
from typing import Any

import pandas as pd

from ...analysis.cell import framed, interval
from ...analysis.estimators.estimate import sentence
from ...analysis.estimators.trials import flip_rate, missing_bounds, pass_hat_k_curve
from ...analysis.facets import flags_of
from ...analysis.panels import SCRIPTED, VARIANT
from ...analysis.tables.leaderboard import does_too_little
from ...analysis.tables.reliability import KS, average_at_k, buckets_of, success_counts
from ...records import BUCKETS
from ...remembered import remembered
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import counted, percent
from . import ModelReport

FIELD_METRICS = tuple(name for name in shown_on(Shown.BOARD) if METRICS[name].scale.bounds)
"""The metrics of the board that can be drawn as shares of a whole."""
PLAYED, UNCALLED = "played, not paid for", "no model was called"
NOT_PAID = {**dict.fromkeys(SCRIPTED, UNCALLED), "players": PLAYED}
PUBLISHED_COLUMNS = {
    "over_escalation": ("over_escalation_pct", 100),
    "unsafe": ("unsafe_actions_of_18", 18),
    "escalation_accuracy": ("escalation_accuracy_pct", 100),
}
FLAGS = ["success", "handed_over", "corrupt_success", "queue_accepted"]
LENGTHS = ["turns", "agent_messages", "agent_words"]
PLACES = {bucket: place for place, bucket in enumerate(BUCKETS)}


@remembered()
def at_a_glance(report: ModelReport) -> pd.DataFrame:
    """Return every metric of the model, with the median of the others of its panel.

    Returns
    -------
    DataFrame
        One row per metric: metric, title, unit, value (median over trials), mean, low, high (interval of the mean; for
        an unsafe count, on these traps), cases, trials, field (median of the others), field_reason (why it is NaN),
        then the same over the conversations whose customer was not flagged: without_value, without_mean, without_low,
        without_high, without_cases (NaN and 0 when none was flagged), reason.
    """
    rows, flagged = [], flags_of(report.mine).any()
    unpriced = "price unknown" if report.mine["cost_usd"].isna().any() else ""
    for metric in METRICS.values():
        full, without = report.forms[metric.name]
        numbers = [(*interval(one.mean, "mean").values(), one.median, one.n) for one in (full, without)]
        why = (NOT_PAID.get(report.panel) or unpriced if metric.scale.money else "") or full.reason
        head = (metric.name, metric.title, metric.scale.name, len(full.per_trial), _field(report, metric), why)
        rows.append((*head, *numbers[0], *(numbers[1] if flagged else (nan, nan, nan, nan, 0))))
    names = "mean low high value cases without_mean without_low without_high without_value without_cases"
    return framed(rows, f"metric title unit trials field reason {names}").assign(field_reason=report.why_no_field)


def _field(report: ModelReport, metric: Metric) -> float:
    entry, board = report.entry, report.comparable
    values = board[metric.name].astype(float).dropna()
    if metric.scale.summed and entry in values:  # counts over fewer traps are not comparable
        sizes = board.loc[values.index, f"{metric.name}_n"]
        values = values[sizes == sizes[entry]]
    return float(values[values.index.isin(report.others)].median())


@remembered()
def by_intent(report: ModelReport) -> pd.DataFrame:
    """Return the model's numbers by intent, from worst to best within each bucket.

    Returns
    -------
    DataFrame
        bucket, intent, cases, conversations; turns, agent_messages, agent_words (means); the share of each flag of
        `FLAGS` (for success, a mean over cases); flips (cases whose trials disagree), field (median success of
        the others), field_reason (why it is NaN).
    """
    keys = ["bucket", "intent"]
    rows = report.mine[[*keys, "case_id"]].join(_floats(report.mine[[*FLAGS, *LENGTHS]]))
    groups = rows.groupby(keys, sort=False)
    table = groups.agg(cases=("case_id", "nunique"), conversations=("case_id", "size"))
    table = table.join(groups[[*FLAGS, *LENGTHS]].mean())
    case = rows.groupby([*keys, "case_id"])["success"].mean()
    table["success"] = case.groupby(keys).mean().round(12)  # equal shares must be equal in any order
    table["flips"] = case.between(0, 1, inclusive="neither").groupby(keys).sum()
    others = report.field[report.field["entry"].isin(report.others)]
    means = _floats(others["success"]).groupby([others["intent"], others["entry"]]).mean()
    table = table.reset_index()
    table["field"] = table["intent"].map(means.groupby("intent").median()).astype(float)
    return in_order(table.assign(field_reason=report.why_no_field), "success", "intent")


def _floats(columns: Any) -> Any:
    return columns.astype("Float64").astype(float)


def in_order(table: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Sort the rows of a table by bucket, and within it by some columns."""
    placed = table.assign(place=table["bucket"].map(PLACES).fillna(len(PLACES)))
    return placed.sort_values(["place", *by], kind="stable", ignore_index=True).drop(columns="place")


@remembered()
def repeats(report: ModelReport) -> list[dict[str, Any]]:
    """Return how often the model repeats a result, in each bucket with scored conversations.

    Returns
    -------
    list of dict
        bucket, cases, trials; points: k, value, low, high, usable and cases (with k trials) of each pass^k up to the
        number of trials; avg_k, avg, avg_low, avg_high (avg@k); flip (the chance that two trials of a case disagree),
        flip_cases (with two trials or more). A bucket whose rewards cannot be pooled is left out.
    """
    rows = []
    for bucket in buckets_of(report.mine):
        counts = success_counts(report.mine, bucket)
        if counts.reason or not counts.trials.any():
            continue
        ks = [k for k in KS if k <= counts.trials.max()]
        curve = pass_hat_k_curve(counts.successes, counts.trials, ks, clusters=counts.clusters)
        columns = {"k": ks, "value": curve.estimate, "low": curve.low, "high": curve.high}
        columns |= {"usable": curve.usable, "cases": [int(n) for n in curve.cases]}
        points = [dict(zip(columns, point, strict=True)) for point in zip(*columns.values(), strict=True)]
        flips, kept = flip_rate(counts.successes, counts.trials), counts.trials > 0
        once = float((counts.successes[kept] / counts.trials[kept]).mean())
        row = {"bucket": bucket, "cases": curve.n, "trials": curve.trials, "points": points, "pass_1": once}
        row |= {"flip": flips.estimate, "flip_cases": flips.n, **average_at_k(report.mine, counts)}
        rows.append(row)
    return rows


def field_table(report: ModelReport, *, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the model's metrics among those of its panel, for `figures.in_the_field`.

    Parameters
    ----------
    published : DataFrame, optional
        The published board; its rows are then added, with ``panel`` published.

    Returns
    -------
    DataFrame
        panel, metric, title, higher_is_better, entry, partial, no_merit (whether few unsafe acts come from doing too
        little), n, trials, value, low, high; unsafe acts as a share of the traps.
    """
    rows = []
    for name in FIELD_METRICS:
        metric = METRICS[name]
        about = (name, metric.title, metric.higher_is_better)
        for row in report.board.to_dict("records"):
            n, idle = row[f"{name}_n"], bool(metric.banded) and does_too_little(row)
            values = (row[f"{name}{end}"] / metric.scale.factor(max(float(n), 1.0)) for end in ("", "_low", "_high"))
            rows.append((report.panel, *about, row["entry"], row["partial"], idle, n, row["trials"], *values))
        if published is not None and name in PUBLISHED_COLUMNS:
            column, scale = PUBLISHED_COLUMNS[name]
            for model, value in zip(published["model"], published[column]):
                rows.append(("published", *about, model, "", False, nan, nan, value / scale, nan, nan))
    return framed(rows, "panel metric title higher_is_better entry partial no_merit n trials value low high")


def what_is_missing(report: ModelReport) -> str:
    """Describe what a reader must know before any number: gaps, filters, versions."""
    notes = [report.row["notes"]] if report.row["notes"] else []
    crossed = int((report.mine["bucket"] == VARIANT).sum())
    if crossed:
        notes.append(f"{counted(crossed, 'conversation')} of crossed variants counted in no bucket")
    resolvable = report.mine[report.mine["bucket"] == "resolvable"]
    if (resolvable["ended_by"] == "content_filter").any():
        flags = resolvable["resolved"].astype("Float64").groupby(resolvable["case_id"])
        bounds = missing_bounds(flags.sum().to_numpy(float), flags.count().to_numpy(), flags.size().to_numpy())
        worst = f"{percent(bounds.low)} are resolved if the filtered conversations count as failures"
        notes.append(f"{worst}, {percent(bounds.high)} if they count as successes")
    return sentence(*notes)
