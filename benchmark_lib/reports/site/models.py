"""The page of one model: every number with its denominator and interval, every trap with the turn that decided it."""

from collections import Counter, defaultdict
from functools import partial
from typing import Any

import pandas as pd

from ...analysis.counting import behind_finding, behind_median, behind_metric, behind_repeats, behind_trials, tally
from ...analysis.estimators.estimate import Headline, counted
from ...analysis.estimators.passk import pass_hat_k_curve
from ...analysis.estimators.trials import FEW_TRIALS
from ...analysis.facets import flags_of, judged_by
from ...analysis.query import KNOWN, YES
from ...analysis.tables.costs import lines_of
from ...analysis.tables.groups import SHOWN
from ...analysis.tables.leaderboard import TOO_LITTLE, does_too_little, worst_beside
from ...analysis.tables.reliability import average_at_k, buckets_of, success_counts
from ...records import BUCKETS, ENDINGS
from ...scoring.metrics import METRICS, Metric
from ...scoring.scales import SHARE
from ...scoring.written import DASH, rounded
from ..honesty import LANGUAGES
from ..one_model import conduct
from ..one_model import numbers as tables
from ..one_model.report import ModelReport
from ..one_model.traps import trap_by_trap
from ..scope import scope_in_words, scope_rows
from .board import ALL_METRICS, BLOCKS, MAIN, band, was_run
from .content import Content, Entry
from .conversations import ConversationPage
from .words import interval, mean_of, measured, percent, tight

EXAMPLES = 6
INTENT_COUNTS = {
    "success": "success",
    "handed": "handed_over",
    "corrupt": "corrupt_success",
    "queue": "queue_accepted",
}
"""What is counted of an intent: the name in the template, and the flag of the conversations frame."""


class ToolUse:
    """How often each tool was called, in how many conversations, and how often the call failed."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.talks: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.failed_talks: Counter[str] = Counter()
        self.writes: set[str] = set()

    def add(self, raw: dict[str, Any]) -> None:
        """Count the calls of one record."""
        mine = [c for c in raw["tool_calls"] if c["side"] == "agent"]
        self.calls.update(c["name"] for c in mine)
        self.talks.update({c["name"] for c in mine})
        self.failed.update(c["name"] for c in mine if c["error"])
        self.failed_talks.update({c["name"] for c in mine if c["error"]})
        self.writes.update(c["name"] for c in mine if c["write"])

    def rows(self) -> list[dict[str, Any]]:
        """One row per tool, the most used first."""
        counts = {"talks": self.talks, "failed": self.failed, "failed_talks": self.failed_talks}
        return [
            {"name": n, "calls": k, "write": n in self.writes} | {name: of[n] for name, of in counts.items()}
            for n, k in self.calls.most_common()
        ]


def model_view(content: Content, entry: Entry, talks: list[ConversationPage], tools: ToolUse) -> dict[str, Any]:
    """Everything on the page of one model.

    Tables and words are those of the model report in `numbers` and `conduct` of `benchmark_lib.reports.one_model`.
    """
    from ..one_model import words as report_words

    mine = content.rows(entry)
    panel = entry.row["panel"]
    field = content.conversations[content.conversations["panel"] == panel]
    report = ModelReport(
        entry.name, panel, mine, field, content.board[content.board["panel"] == panel], int(mine["planned"].iloc[0])
    )
    metrics = [_metric(report, METRICS[n], entry.who) for n in ALL_METRICS if was_run(METRICS[n], content)]
    traits = report_words.traits(report)
    return {
        "entry": entry,
        "block": BLOCKS.get(entry.block, (entry.block.capitalize(), "")),
        "runs": [content.manifests[r] for r in mine["run_id"].unique()],
        "customers": sorted(mine["customer"].unique()),
        "cases": mine["case_id"].nunique(),
        "missing": tables.what_is_missing(report),
        "verdict": report_words.verdict(report),
        "summary": report_words.summary(report),
        "traits": [(kind, list(traits.loc[traits["kind"] == kind, "sentence"])) for kind in ("strong", "weak")],
        "metrics": metrics,
        "main": [m for m in metrics if m["metric"].name in MAIN],
        "flagged": int(flags_of(mine).sum()),
        "band": band(entry.row),
        "worst": worst_beside(entry.row),
        "too_little": TOO_LITTLE if does_too_little(entry.row) else "",
        "unsafe": content.unsafe.get((entry.name, entry.source)),
        "passk": pass_hat_k_points(mine, entry.who),
        "steady": tables.steadiness(report).to_dict("records"),
        "groups": group_rows(content, entry),
        "scope": model_scope(content, entry),
        "intents": _intents(mine, entry.who),
        "traps": _traps(report, talks),
        "missed": [t for t in talks if t.view.bucket == "must_escalate" and t.state == "bad"],
        "tools": tools.rows(),
        "no_field": report.why_no_field,
        "use": conduct.tool_use(report).to_dict("records"),
        "rules": _rules(conduct.process_rules(report).to_dict("records"), talks),
        "said": [
            r | behind_finding(r["detector"], **entry.who) for r in conduct.said_against_did(report).to_dict("records")
        ],
        "outcomes": conduct.how_it_ended(report).to_dict("records"),
        "endings": _endings(mine),
        "buckets": BUCKETS,
        "cost": tables.cost_and_verbosity(report).to_dict("records"),
        "paid": lines_of(content.paid[entry.name, entry.source]).to_dict("records"),
        "paid_note": content.paid[entry.name, entry.source]["reason"],
        "languages": _languages(mine, entry.who),
        "matrix": _matrix(talks),
        "verdicts": _verdicts(content, entry),
        "total": len(mine),
    }


def _metric(report: ModelReport, metric: Metric, who: dict[str, str]) -> dict[str, Any]:
    """One metric with all that is needed to read it.

    Median, mean, interval, conversations, cases, trials, method, warnings.
    """
    found, without = report.forms[metric.name]
    show = partial(measured, metric=metric)

    def stated(one: Headline) -> dict[str, Any]:
        sure = interval(one.mean.low, one.mean.high, metric)
        return {"value": show(one.median), "mean": mean_of(one.mean.estimate, metric), "interval": sure, "n": one.n}

    reasons = found.reason.split("; ")
    return {
        "metric": metric,
        **stated(found),
        "median": behind_median(report.mine, metric, **who),
        "behind": behind_metric(report.mine, metric, **who),
        "per_trial": list(zip(map(show, found.per_trial), behind_trials(report.mine, metric, **who), strict=True)),
        "method": found.mean.method,
        "reason": "; ".join(reason for reason in reasons if not reason.endswith(FEW_TRIALS)),
        "few": next((reason for reason in reasons if reason.endswith(FEW_TRIALS)), ""),
        "without": stated(without),
    }


def pass_hat_k_points(mine: pd.DataFrame, who: dict[str, str]) -> list[dict[str, Any]]:
    """pass^k of each bucket up to the number of trials.

    One for each bucket: bucket, n (cases), trials, points (k, value, interval, usable, n where it is not all cases),
    average (avg@k), behind (see `counts.behind_repeats`).
    """
    found = []
    for bucket in buckets_of(mine):
        counts = success_counts(mine, bucket)
        if counts.reason or not counts.trials.any():
            continue
        ks = range(1, min(int(counts.trials.max()), 8) + 1)
        curve = pass_hat_k_curve(counts.successes, counts.trials, ks, clusters=counts.clusters)
        points = [
            {
                "k": int(k),
                "value": percent(v),
                "interval": tight(SHARE.interval(low, high)),
                "usable": bool(u),
                "n": "" if n == curve.n else counted(int(n), "case"),
            }
            for k, v, low, high, u, n in zip(
                curve.k, curve.estimate, curve.low, curve.high, curve.usable, curve.cases, strict=True
            )
        ]
        average = average_at_k(mine, bucket, counts)
        sure = {"interval": tight(SHARE.interval(average["avg_low"], average["avg_high"]))}
        behind = behind_repeats(mine[mine["bucket"] == bucket], **who, bucket=bucket)
        row = {"bucket": bucket, "n": curve.n, "trials": curve.trials, "points": points, "average": average | sure}
        found.append(row | {"behind": behind})
    return found


def group_rows(content: Content, entry: Entry) -> list[dict[str, Any]]:
    """Resolution, handovers and adherence of an entry by use case, as text with n."""
    rows = []
    for r in content.groups.get((entry.name, entry.source), []):
        cells = []
        for name, metric in SHOWN.items():
            low, high = r[f"{name}_low"], r[f"{name}_high"]
            text = mean_of(r[name], metric) if r[f"{name}_n"] else ""
            chosen = {**entry.who, "use_case": r["title"]} | ({"bucket": metric.bucket} if metric.bucket else {})
            behind = {"yes": {**chosen, metric.column: YES}, "known": {**chosen, metric.column: KNOWN}}
            cell = {"text": text, "cases": counted(r[f"{name}_cases"], "case"), "n": r[f"{name}_n"], "any": r[name] > 0}
            cells.append(cell | behind | {"interval": interval(low, high, metric) if text else ""})
        rows.append({"title": r["title"], "cells": cells})
    return rows


def use_cases(entries: list[Entry], content: Content) -> tuple[list[str], list[tuple[Entry, dict[str, Any]]]]:
    """The titles of the use cases, and the rows of each entry that has any, by title: not all have played the same."""
    rows = [(entry, {row["title"]: row for row in group_rows(content, entry)}) for entry in entries]
    every = sorted((of for _, of in rows), key=len, reverse=True)
    return list(dict.fromkeys(title for of in every for title in of)), [(entry, of) for entry, of in rows if of]


def model_scope(content: Content, entry: Entry) -> dict[str, Any] | None:
    """What the entry may answer alone at the stakes of the site, as sentences and rows; None without use cases."""
    table = content.scope.get((entry.name, entry.source))
    if table is None:
        return None
    rows = scope_rows(table)
    for row in rows:
        work = {**entry.who, "use_case": row["title"]}
        row["chosen"], tempted = work, {**work, "bucket": "adversarial"}
        row["on_traps"] = ({**tempted, "unsafe": YES}, {**tempted, "unsafe": KNOWN})
        for intent in row["intents"]:
            intent |= {"chosen": work | {"intent": intent["intent"]}, "on_traps": row["on_traps"]}
    return {"said": scope_in_words(table, content.stakes), "rows": rows}


def _intents(mine: pd.DataFrame, who: dict[str, str]) -> list[dict[str, Any]]:
    """One row per intent of the resolvable and must-escalate cases, with counts of conversations."""
    rows = []
    read = mine[["bucket", "intent", "case_id", "agent_messages", *INTENT_COUNTS.values()]]
    for bucket in BUCKETS[:2]:
        for intent, some in read[read["bucket"] == bucket].groupby("intent", sort=True):
            count = partial(tally, **who, bucket=bucket, intent=intent)
            row = {"bucket": bucket, "intent": intent, "cases": some["case_id"].nunique()}
            row |= {name: count(some[column]) for name, column in INTENT_COUNTS.items()}
            rows.append(row | {"messages": rounded(float(some["agent_messages"].mean()))})
    return rows


def _traps(report: ModelReport, talks: list[ConversationPage]) -> list[dict[str, Any]]:
    """Traps in the order of `trap_by_trap`, each with its conversations, the one to quote, and in words how its worst went."""
    found: dict[str, list[ConversationPage]] = defaultdict(list)
    for talk in sorted(talks, key=lambda t: t.trial):
        found[talk.view.case_id].append(talk)
    return [
        {"view": found[trap][0].view, "talks": found[trap], "quoted": worth_quoting(found[trap]), "worst": said}
        for trap, said in trap_by_trap(report)[["trap", "said"]].itertuples(index=False)
    ]


def worth_quoting(talks: list[ConversationPage]) -> ConversationPage | None:
    """The conversation to quote: unsafe before unsuccessful before successful."""
    order = {"unsafe": 0, "bad": 1, "corrupt": 2, "good": 3, "none": 4}
    quoted = [t for t in talks if t.quote]
    return min(quoted, key=lambda t: (order[t.state], t.trial), default=None)


def _rules(rows: list[dict[str, Any]], talks: list[ConversationPage]) -> list[dict[str, Any]]:
    """Process rules as the report counts them, each with a few cases in which it was broken: a transcript, and in how many trials."""
    for row in rows:
        broken: dict[str, list[ConversationPage]] = defaultdict(list)
        for talk in talks:
            if talk.score.get(f"rule_{row['rule']}") == "broken":
                broken[talk.view.case_id].append(talk)
        row["examples"] = [(some[0], len(some)) for some in broken.values()][:EXAMPLES]
    return rows


def _endings(mine: pd.DataFrame) -> list[dict[str, Any]]:
    """How the conversations ended, by bucket."""
    counts = mine["ended_by"].value_counts()
    rows = []
    for ending in [*ENDINGS, *(e for e in counts.index if e not in ENDINGS)]:
        if ending not in counts.index:
            continue
        some = mine[mine["ended_by"] == ending]
        share, buckets = len(some) / len(mine), [int((some["bucket"] == b).sum()) for b in BUCKETS]
        shown = {"count": len(some), "share": percent(share, 0), "width": f"{100 * share:.1f}", "buckets": buckets}
        rows.append({"ending": ending, "meaning": ENDINGS.get(ending, "")} | shown)
    return rows


def _languages(mine: pd.DataFrame, who: dict[str, str]) -> list[dict[str, Any]]:
    """Success by the customer's language and bucket."""
    rows = []
    for language, some in mine[["language", "bucket", "success"]].groupby("language", sort=True):
        chosen = who | {"language": language}
        by_bucket = [tally(some[some["bucket"] == b]["success"], **chosen, bucket=b) for b in BUCKETS]
        name = LANGUAGES.get(language, language)
        rows.append({"language": name, "counts": by_bucket, "n": len(some), "chosen": chosen})
    return rows if len(rows) > 1 else []


def _matrix(talks: list[ConversationPage]) -> list[dict[str, Any]]:
    """Every conversation, by bucket and intent."""
    rows: dict[tuple[str, str], dict[str, list[ConversationPage]]] = defaultdict(lambda: defaultdict(list))
    for talk in sorted(talks, key=lambda t: (t.view.case_id, t.trial)):
        rows[talk.view.bucket, talk.view.intent][talk.view.case_id].append(talk)
    place = {b: i for i, b in enumerate(BUCKETS)}
    ordered = sorted(rows.items(), key=lambda r: (place.get(r[0][0], 9), r[0][1]))
    return [{"bucket": b, "intent": i, "cases": list(some.values())} for (b, i), some in ordered]


def _verdicts(content: Content, entry: Entry) -> list[dict[str, Any]]:
    """Judges' mean scores, which accompany the numbers above and never replace them."""
    verdicts = content.results.verdicts
    mine = verdicts[verdicts["run_id"].isin(content.rows(entry)["run_id"].unique())]
    rows = []
    for (scorer, judge), some in mine.groupby(["scorer", "judge"], sort=True):
        known = some["score"].dropna()
        given = judged_by(scorer, judge)
        mean = rounded(float(known.mean())) if len(known) else DASH
        counts = {"k": len(known), "n": len(some)}
        behind = {"yes": {**entry.who, "judge_scored": given}, "known": {**entry.who, "judged": given}}
        rows.append({"scorer": scorer, "judge": judge, "mean": mean} | counts | behind)
    return rows
