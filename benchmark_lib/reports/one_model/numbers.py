"""Everything one model's report says, as tables.

Each number with its denominator and, where it is not defined, the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.estimators.estimate import Estimate, Headline, counted, sentence
from ...analysis.frames import plain_rows
from ...analysis.panels import VARIANT, conversations_of
from ...analysis.tables.customers import both_forms, flags_of
from ...analysis.tables.headlines import headline
from ...analysis.tables.leaderboard import leaderboard
from ...analysis.tables.reliability import average_at_k, buckets_of, success_counts
from ...errors import BadInput
from ...records import NOT_SCORED
from ...scoring.deciding import REASONS, reasons_against, state_of
from ...scoring.metrics import METRICS, Metric, Shown, shown_on
from ...scoring.written import percent

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results

RULES = ("identity", "confirmation", "evidence", "lookup", "window", "recipient")
BUCKETS = {"resolvable": "resolved", "must_escalate": "handed_over", "adversarial": "unsafe"}
FIELD_METRICS = tuple(name for name in shown_on(Shown.BOARD) if METRICS[name].scale.bounds)
"""The metrics of the board that can be drawn as shares of a whole."""
NOT_DEFINED = Headline(median=nan, mean=Estimate(estimate=nan))
PUBLISHED_COLUMNS = {
    "over_escalation": ("over_escalation_pct", 100),
    "unsafe": ("unsafe_actions_of_18", 18),
    "escalation_accuracy": ("escalation_accuracy_pct", 100),
}


@dataclass(frozen=True)
class ModelReport:
    """One model and the others of its panel.

    Attributes
    ----------
    entry, panel : str
        Its name in every table, and what kind of thing it is.
    mine : DataFrame
        Its conversations.
    field : DataFrame
        The conversations of every model of its panel, its own among them.
    board : DataFrame
        Their rows of the leaderboard.
    planned : int
        Conversations its runs were planned to have.
    """

    entry: str
    panel: str
    mine: pd.DataFrame
    field: pd.DataFrame
    board: pd.DataFrame
    planned: int

    @property
    def row(self) -> dict[str, Any]:
        """Its row of the leaderboard."""
        return self.board[self.board["entry"] == self.entry].iloc[0].to_dict()

    def headline(self, metric: str | Metric) -> Headline:
        """Median over trials, and mean with its interval, of one metric from its conversations."""
        return headline(self.mine, metric)


def model_report(results: Results | pd.DataFrame, entry: str | None = None) -> ModelReport:
    """Gather what the report on one model needs.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations.
    entry : str, optional
        Its name in the tables; by default the one with the most conversations, language models before scripted agents.

    Raises
    ------
    BadInput
        If there are no conversations, or none of this entry.
    """
    rows = conversations_of(results)
    if rows.empty:
        raise BadInput("there are no conversations to report on: run a model first with `deskbench run MODEL`")
    sizes = rows.groupby(["panel", "entry"], sort=False).size().reset_index(name="conversations")
    sizes["scripted"] = sizes["panel"].isin(["scripted agents", "recovery panel"])
    known = list(sizes.sort_values(["scripted", "conversations"], ascending=[True, False], kind="stable")["entry"])
    name = known[0] if entry is None else entry
    if name not in known:
        raise BadInput(f"no conversations of {name!r} are here: choose among {', '.join(sorted(known)[:12])}")
    panel = sizes.loc[sizes["entry"] == name, "panel"].iloc[0]
    field = rows[rows["panel"] == panel]
    mine = field[field["entry"] == name]
    planned = max(
        int(mine["planned"].iloc[0]) if "planned" in mine else 0, mine["trial"].nunique() * mine["case_id"].nunique()
    )
    return ModelReport(str(name), str(panel), mine, field, leaderboard(field), planned)


def at_a_glance(report: ModelReport) -> pd.DataFrame:
    """Every metric of the model, with its place in the field.

    Returns
    -------
    DataFrame
        One row per metric: metric, title, unit, value (median over trials), mean, low, high (interval of the mean; an
        unsafe count: for these traps), cases, trials, place (1 is best; NaN where neither end is better, or on under
        half of the others' cases), of (models placed), field (median of the others), then the same over the conversations
        whose customer was not flagged: without_value, without_mean, without_low, without_high, without_cases (NaN and 0
        when none was flagged), reason.
    """
    import pandas as pd

    rows = []
    flagged = flags_of(report.mine).any()
    for metric in METRICS.values():
        found, without = both_forms(report.mine, metric)
        calm = without if flagged else NOT_DEFINED
        place, of, field = _place(report, metric)
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
                "place": place,
                "of": of,
                "field": field,
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
    if report.panel in ("scripted agents", "recovery panel"):
        return "no model was called"
    return "price unknown" if report.mine["cost_usd"].isna().any() else ""


def _place(report: ModelReport, metric: Metric) -> tuple[float, int, float]:
    """Place among the models of the panel with a value and at least half of the cases any has, how many those are, and the median of the others."""
    board = report.board.set_index("entry")
    met = board[["resolved_n", "escalation_accuracy_n", "unsafe_n"]].sum(axis=1)
    values = board.loc[2 * met >= met.max(), metric.name].astype(float).dropna()
    if metric.scale.summed and report.entry in values:  # counts of fewer traps do not compare
        values = values[board.loc[values.index, f"{metric.name}_n"] == board.loc[report.entry, f"{metric.name}_n"]]
    others = values.drop(report.entry, errors="ignore")
    field = float(others.median()) if len(others) else nan
    if report.entry not in values or metric.higher_is_better is None or values.nunique() < 2:
        return nan, len(values), field
    better = others > values[report.entry] if metric.higher_is_better else others < values[report.entry]
    return 1.0 + int(better.sum()), len(values), field


def how_it_ended(report: ModelReport) -> pd.DataFrame:
    """What became of the conversations of each bucket; each is counted in exactly one row.

    Returns
    -------
    DataFrame
        bucket, outcome, conversations, share (of the recorded conversations of the bucket), example (a case and trial).
    """
    import pandas as pd

    rows = []
    for bucket in BUCKETS:
        mine = report.mine[report.mine["bucket"] == bucket]
        if mine.empty:
            continue
        kinds = pd.Series([became(bucket, row) for row in plain_rows(mine)], index=mine.index)
        for outcome, conversations in mine.groupby(kinds, sort=False):
            first = conversations.iloc[0]
            rows.append(
                (
                    bucket,
                    outcome,
                    len(conversations),
                    len(conversations) / len(mine),
                    f"{first['case_id']} trial {first['trial']}",
                )
            )
    table = pd.DataFrame(rows, columns=["bucket", "outcome", "conversations", "share", "example"])
    order = {bucket: place for place, bucket in enumerate(BUCKETS)}
    return table.sort_values(
        ["bucket", "conversations"],
        key=lambda c: c.map(order) if c.name == "bucket" else -c,
        kind="stable",
        ignore_index=True,
    )


def became(bucket: str | None, row: dict[str, Any]) -> str:
    """What became of one conversation, in a few words: the main reason if it is not a success."""
    state, reasons = state_of(row, row["ended_by"]), reasons_against(row, row["ended_by"])
    if state == "none":
        return reasons[0].words
    if bucket == "adversarial":
        return row["pressure_reached"] or REASONS["not_scored"]
    if bucket == "must_escalate":
        return (
            f"handed over, {'right' if row['queue_accepted'] else 'wrong'} queue"
            if row["handed_over"]
            else reasons[-1].words
        )
    return (
        "resolved"
        if state == "good"
        else f"corrupt success: {REASONS[reasons[0].kind]}"
        if state == "corrupt"
        else REASONS[reasons[0].kind]
    )


def tool_use(report: ModelReport, results: Results | None = None) -> pd.DataFrame:
    """How the tools were used, compared with the median of the others.

    Returns
    -------
    DataFrame
        what, value, field, conversations: calls and writes per conversation, share of conversations with an order
        lookup and with a knowledge-base search, share of calls that failed; then, where `results` is given, calls per
        conversation of each tool the model called.
    """
    import pandas as pd

    def measures(rows: pd.DataFrame) -> dict[str, float]:
        calls = float(rows["tool_calls"].sum())
        return {
            "calls per conversation": rows["tool_calls"].mean(),
            "changes per conversation": rows["write_calls"].mean(),
            "conversations with an order lookup, %": 100 * (rows["order_lookups"] > 0).mean(),
            "conversations with a knowledge-base search, %": 100 * (rows["knowledge_base_searches"] > 0).mean(),
            "calls that failed, %": 100 * rows["failed_calls"].sum() / calls if calls else nan,
        }

    scored = report.field.dropna(subset=["tool_calls"])
    of = {entry: measures(rows) for entry, rows in scored.groupby("entry")}
    others = pd.DataFrame([v for m, v in of.items() if m != report.entry])
    mine = of.get(report.entry, {})
    conversations = int((scored["entry"] == report.entry).sum())
    table = [
        (what, value, float(others[what].median()) if len(others) else nan, conversations)
        for what, value in mine.items()
    ]
    if results is not None and hasattr(results, "tool_calls"):
        table += _by_tool(report, results.tool_calls)
    return pd.DataFrame(table, columns=["what", "value", "field", "conversations"])


def _by_tool(report: ModelReport, calls: pd.DataFrame) -> list[tuple]:
    """Calls per conversation of each tool the model called, the most frequent first."""
    entry_of = dict(zip(report.field["run_id"], report.field["entry"], strict=True))
    calls = calls[calls["run_id"].isin(entry_of) & (calls["side"] == "agent")]
    counts = calls.groupby([calls["run_id"].map(entry_of).rename("entry"), "name"]).size().unstack(fill_value=0)
    conversations = report.field["entry"].value_counts()
    rates = counts.reindex(conversations.index, fill_value=0).div(conversations, axis=0)
    others = rates.drop(index=report.entry).median() if len(rates) > 1 else rates.loc[report.entry] * nan
    mine = rates.loc[report.entry].sort_values(ascending=False)
    return [
        (f"{name}, calls per conversation", rate, others[name], int(conversations[report.entry]))
        for name, rate in mine[mine > 0].items()
    ]


def process_rules(report: ModelReport) -> pd.DataFrame:
    """Every process rule: in how many conversations it applied, and in how many it was broken.

    Returns
    -------
    DataFrame
        rule, kept, broken, not_applicable (conversations), share (broken, mean over the cases where it applied), low,
        high, example, reason.
    """
    import pandas as pd

    rows = []
    for rule in RULES:
        column = f"rule_{rule}"
        if column not in report.mine:
            continue
        states = report.mine[column]
        counts = {state: int((states == state).sum()) for state in ("kept", "broken", "not_applicable")}
        found = _share_of_cases(report.mine[states.isin(["kept", "broken"])], states == "broken")
        first = report.mine[states == "broken"].head(1)
        example = f"{first['case_id'].iloc[0]} trial {first['trial'].iloc[0]}" if len(first) else ""
        rows.append(
            {
                "rule": rule,
                **counts,
                "share": found.estimate,
                "low": found.low,
                "high": found.high,
                "example": example,
                "reason": "" if counts["kept"] + counts["broken"] else "it never applied",
            }
        )
    return pd.DataFrame(
        rows, columns=["rule", "kept", "broken", "not_applicable", "share", "low", "high", "example", "reason"]
    )


def _share_of_cases(rows: pd.DataFrame, flag: Any) -> Estimate:
    """Mean over cases of a flag's share, cases as units."""
    from ...analysis.estimators.passk import pass_hat_k_interval

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
    from ...analysis.tables.detectors import claims_table

    table = claims_table(report.mine)
    return table[table["conversations"] > 0].drop(columns="entry").reset_index(drop=True)


def judged_scores(report: ModelReport, results: Results) -> pd.DataFrame:
    """What judges said of it, as `benchmark_lib.tables.judge_table` gives it; empty where nobody judged it."""
    from ...analysis.tables.judges import judge_table

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
    import pandas as pd

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


def by_intent(report: ModelReport) -> pd.DataFrame:
    """The model intent by intent, within a bucket from worst to best.

    Returns
    -------
    DataFrame
        bucket, intent, cases, conversations, success (share, mean over cases), handed_over, corrupt_success (shares),
        turns, words (means), field (median success of the others), flips (cases whose trials disagree).
    """
    import pandas as pd

    rows = []
    others = report.field[report.field["entry"] != report.entry]
    for (bucket, intent), mine in report.mine.groupby(["bucket", "intent"], sort=False):
        success = mine["success"].astype("Float64").groupby(mine["case_id"]).mean().astype(float)
        theirs = others[others["intent"] == intent]
        field = theirs["success"].astype("Float64").groupby(theirs["entry"]).mean().median() if len(theirs) else nan
        rows.append(
            {
                "bucket": bucket,
                "intent": intent,
                "cases": mine["case_id"].nunique(),
                "conversations": len(mine),
                "success": success.mean(),
                "handed_over": mine["handed_over"].astype("Float64").mean(),
                "corrupt_success": mine["corrupt_success"].astype("Float64").mean(),
                "turns": mine["turns"].astype(float).mean(),
                "words": mine["agent_words"].astype(float).mean(),
                "field": field,
                "flips": int(((success > 0) & (success < 1)).sum()),
            }
        )
    table = pd.DataFrame(
        rows,
        columns=[
            "bucket",
            "intent",
            "cases",
            "conversations",
            "success",
            "handed_over",
            "corrupt_success",
            "turns",
            "words",
            "field",
            "flips",
        ],
    )
    numbers = ["success", "handed_over", "corrupt_success", "field"]
    table[numbers] = table[numbers].astype("Float64").astype(float)
    order = {bucket: place for place, bucket in enumerate(BUCKETS)}
    return table.sort_values(
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
    import pandas as pd

    from ...analysis.estimators.passk import pass_hat_k_interval
    from ...analysis.estimators.trials import flip_rate

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
        rows.append(
            (
                bucket,
                int(kept.sum()),
                float((hits / sizes).mean()),
                found.n,
                found.estimate,
                found.low,
                found.high,
                flips.estimate,
                flips.n,
                sentence(found.reason, flips.reason),
            )
        )
    return pd.DataFrame(
        rows, columns=["bucket", "cases", "pass_1", "cases_k", "pass_k", "low", "high", "flip", "flip_cases", "reason"]
    )


def cost_and_verbosity(report: ModelReport) -> pd.DataFrame:
    """What it costs, over finished conversations, and how much it says.

    Returns
    -------
    DataFrame
        what, value, unit, field (median of the others), reason.
    """
    import pandas as pd

    def measures(rows: pd.DataFrame) -> dict[str, float]:
        finished = rows[~rows["ended_by"].isin(NOT_SCORED)]
        solvable, cost = finished[finished["bucket"] == "resolvable"], finished["cost_usd"]
        messages = float(rows["agent_messages"].sum())
        resolved = float(solvable["resolved"].astype("Float64").sum())
        known = len(cost) > 0 and not cost.isna().any()
        return {
            "cost of 1,000 conversations|USD": 1000 * cost.mean() if known else nan,
            "cost of a resolved case|USD": solvable["cost_usd"].sum() / resolved if known and resolved else nan,
            "prompt tokens per conversation|tokens": rows["prompt_tokens"].mean(),
            "completion tokens per conversation|tokens": rows["completion_tokens"].mean(),
            "hidden reasoning, share of the completion|%": 100
            * rows["reasoning_tokens"].sum()
            / rows["completion_tokens"].sum()
            if rows["completion_tokens"].sum()
            else nan,
            "agent messages per conversation|messages": rows["agent_messages"].mean(),
            "agent words per conversation|words": rows["agent_words"].mean(),
            "words per message|words": rows["agent_words"].sum() / messages if messages else nan,
            "empty replies|replies": rows["empty_replies"].sum(),
        }

    mine = measures(report.mine)
    others = pd.DataFrame([measures(rows) for entry, rows in report.field.groupby("entry") if entry != report.entry])
    scripted = report.panel in ("scripted agents", "recovery panel")
    rows = []
    for name, value in mine.items():
        what, _, unit = name.partition("|")
        reason = "" if value == value else _why_unknown(what, scripted)
        rows.append((what, value, unit, float(others[name].median()) if len(others) else nan, reason))
    return pd.DataFrame(rows, columns=["what", "value", "unit", "field", "reason"])


def _why_unknown(what: str, scripted: bool) -> str:
    if "token" in what or "reasoning" in what:
        return "no model was called" if scripted else "the endpoint reported no usage"
    if what.startswith("cost of a resolved"):
        return "nothing was resolved, or the price is unknown"
    return "price unknown" if what.startswith("cost") else "no agent message is on record"


def field_table(report: ModelReport, *, published: pd.DataFrame | None = None) -> pd.DataFrame:
    """The model among the others of its panel, as `figures.in_the_field` draws it; unsafe acts as a share of the traps.

    Parameters
    ----------
    report : ModelReport
    published : DataFrame, optional
        The published board; its rows are then added, with ``panel`` published.

    Returns
    -------
    DataFrame
        panel, metric, title, higher_is_better, entry, value, low, high.
    """
    import pandas as pd

    rows = []
    for name in FIELD_METRICS:
        metric = METRICS[name]
        for row in report.board.to_dict("records"):
            scale = metric.scale.factor(max(float(row[f"{name}_n"]), 1.0))
            rows.append(
                (
                    report.panel,
                    name,
                    metric.title,
                    metric.higher_is_better,
                    row["entry"],
                    *(row[f"{name}{end}"] / scale for end in ("", "_low", "_high")),
                )
            )
        if published is not None and name in PUBLISHED_COLUMNS:
            column, scale = PUBLISHED_COLUMNS[name]
            rows += [
                ("published", name, metric.title, metric.higher_is_better, m, v / scale, nan, nan)
                for m, v in zip(published["model"], published[column])
            ]
    return pd.DataFrame(rows, columns=["panel", "metric", "title", "higher_is_better", "entry", "value", "low", "high"])


def what_is_missing(report: ModelReport) -> str:
    """What a reader must know before any number: missing conversations, few trials, filters, faults, mixed versions."""
    from ...analysis.estimators.trials import missing_bounds

    notes = [report.row["notes"]] if report.row["notes"] else []
    on_file = len(report.mine)
    if on_file < report.planned:
        notes.insert(0, f"{on_file} of {counted(report.planned, 'planned conversation')} recorded")
    crossed = int((report.mine["bucket"] == VARIANT).sum())
    if crossed:
        notes.append(f"{counted(crossed, 'conversation')} of crossed variants counted in no bucket")
    resolvable = report.mine[report.mine["bucket"] == "resolvable"]
    filtered = int((resolvable["ended_by"] == "content_filter").sum())
    if filtered:
        flags = resolvable["resolved"].astype("Float64").groupby(resolvable["case_id"])
        bounds = missing_bounds(flags.sum().to_numpy(float), flags.count().to_numpy(), flags.size().to_numpy())
        notes.append(
            f"{percent(bounds.worst)} are resolved if the filtered conversations count as failures, {percent(bounds.best)} if they count as successes"
        )
    return sentence(*notes)
