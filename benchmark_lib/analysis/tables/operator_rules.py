"""Operator rules added to the prompt: how often they are kept, for how long, at what cost."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from ...cases.operator_rules import OperatorRule, load_rules, rules_played
from ...cases.played import store_name, store_played
from ...errors import BadInput
from ...records import NOT_SCORED, Conversation
from ...scoring.operator_rules import kept_replies
from ..estimators.estimate import Estimate, counted, sentence
from ..estimators.intervals import clustered_rate, clusters_or_cases
from ..panels import conversations_of, says_partial
from .many import comparison_table
from .rows import framed, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from ...runfile import RunFile
    from ..frames import Results

ALL = "all of them"
"""Row of an entry over every rule: kept if no rule is broken."""
COSTS = ("over_escalation", "unsafe", "escalation_accuracy", "resolved")
FEW = 10
"""Conversations below which a rate by turn is marked."""
REPLY = ["run_id", "entry", "panel", "case_id", "intent", "trial", "turn"]


@says_partial
def rules_kept(results: Results, rules: Sequence[OperatorRule] = ()) -> pd.DataFrame:
    """Return every reply of the runs with rules, and whether it keeps each rule.

    Parameters
    ----------
    results : Results
        Result of `load_results`; the rules are in the run files.
    rules : sequence of OperatorRule, optional
        Rules to check in every run, also in runs without them; by default each run's own.

    Returns
    -------
    DataFrame
        One row per reply and rule: run_id, entry, panel, case_id, intent, trial, turn, rule, and kept (NA if
        undecidable, such as the language of two words). Conversations that ended by infrastructure faults are left out.
    """
    if not hasattr(results, "runs"):
        raise BadInput("operator rules are read from run files: pass what load_results gives, not a frame")
    frame, rows = conversations_of(results), []
    about = frame.set_index(["run_id", "case_id", "trial"])[["panel", "intent", "language"]].T.to_dict("list")
    for run in results.runs:
        read = list(rules) or rules_played(run.manifest)
        for case_id, trial, _, raw in run.conversations() if read else ():
            if (run.run_id, case_id, trial) not in about:
                continue
            record = Conversation.from_json(raw)
            if record.ended_by in NOT_SCORED:
                continue
            panel, intent, language = about[run.run_id, case_id, trial]
            head = (run.run_id, results.entries[run.run_id], panel, case_id, intent, trial)
            known = language if isinstance(language, str) else None
            rows += [(*head, k.turn, k.rule, k.kept) for k in kept_replies(record, read, known)]
    return framed(rows, " ".join([*REPLY, "rule kept"])).astype({"kept": "boolean"})


def rules_of(results: Results, rules: str | None = None) -> list[OperatorRule]:
    """Return the distinct rules of some runs; if there are none, those that `rules` names."""
    given = {rule.name: rule for run in results.runs for rule in rules_played(run.manifest)}
    if given or not rules:
        return list(given.values())
    desks = [store.title for run in results.runs if (store := store_played(run.manifest)) is not None]
    return load_rules(rules, desks[0] if desks else store_name(results.runs[0].manifest))


def first_to_break(turns: pd.DataFrame) -> str | None:
    """Choose the entry to draw by default: the one whose kept share differs most between turns."""
    kept = turns.groupby("entry", sort=False)["kept"]
    return None if turns.empty else str((kept.max() - kept.min()).idxmax())


def rules_table(replies: pd.DataFrame) -> pd.DataFrame:
    """Count how often each rule is kept, by reply and throughout a conversation.

    `replies` is the result of `rules_kept`.

    Returns
    -------
    DataFrame
        One row per entry and rule, and one over all rules: panel, replies (decidable), replies_kept, untold (other
        replies); kept with low and high (mean over cases of the share of replies, intents as clusters); conversations,
        throughout (without a break), throughout_share with throughout_low and throughout_high; reason.
    """
    import pandas as pd

    rows = []
    for (panel, entry), group in replies.groupby(["panel", "entry"], sort=True):
        every = group.dropna(subset=["kept"]).groupby(REPLY, sort=False)["kept"].all().reset_index().assign(rule=ALL)
        together = every if group["rule"].nunique() > 1 else every.iloc[:0]
        for rule, part in pd.concat([group, together]).groupby("rule", sort=False):
            read = part.dropna(subset=["kept"])
            whole = read.groupby(["run_id", "case_id", "intent", "trial"])["kept"].all().reset_index()
            by_reply, kept, throughout = _rate(read), int(read["kept"].sum()), int(whole["kept"].sum())
            row: dict[str, Any] = {"panel": panel, "entry": entry, "rule": rule}
            row |= {"replies": len(read), "replies_kept": kept, "untold": len(part) - len(read)}
            row |= {**interval(by_reply, "kept"), "conversations": len(whole), "throughout": throughout}
            row |= interval(_rate(whole), "throughout_share", "throughout_")
            rows.append(row | {"reason": by_reply.reason})
    return pd.DataFrame(rows)


def _rate(part: pd.DataFrame) -> Estimate:
    if part.empty:
        return Estimate(estimate=nan, n=0, reason="no reply for which this is decidable")
    by_case = part.assign(kept=part["kept"].astype(float)).groupby(["intent", "case_id"])["kept"].agg(["mean", "size"])
    clusters = clusters_or_cases(*(by_case.index.get_level_values(name) for name in ("intent", "case_id")))
    return clustered_rate(by_case["mean"].to_numpy(), clusters, trials=int(by_case["size"].max()))


def rules_by_turn(replies: pd.DataFrame) -> pd.DataFrame:
    """Return how often the rules are kept as a conversation gets longer.

    Long conversations differ from short ones. Each turn therefore also has the first reply of the conversations that
    reach it: only the difference between the two is an effect of length. `replies` is the result of `rules_kept`.

    Returns
    -------
    DataFrame
        One row per entry, rule and turn: panel, partial, kept with low and high (mean over cases, intents as clusters),
        replies, kept_at_first (the same conversations at their first reply) and reason. Rules for the first reply only
        are left out.
    """
    read = replies.dropna(subset=["kept"]).assign(kept=lambda r: r["kept"].astype(float)).sort_values("turn")
    read["at_first"] = read.groupby(["run_id", "case_id", "trial", "rule"])["kept"].transform("first")
    read = read[read.groupby(["entry", "rule"])["turn"].transform("nunique") > 1].sort_index()
    rows, keys = [], ["panel", "entry", "partial", "rule"]
    for who, group in read.groupby(keys, sort=False):
        for turn, part in group.groupby("turn"):
            rate = _rate(part)
            few = f"only {counted(len(part), 'reply', 'replies')}" if len(part) < FEW else ""
            first = float(part.groupby("case_id")["at_first"].mean().mean())
            numbers = (rate.estimate, rate.low, rate.high, len(part), first)
            rows.append((*who, int(turn), *numbers, sentence(rate.reason, few)))
    return framed(rows, "panel entry partial rule turn kept low high replies kept_at_first reason")


def with_and_without_rules(results: Results) -> dict[str, str]:
    """Return for each entry with rules the entry that differs only in them; may be empty."""
    inputs = {results.entries[run.run_id]: run.manifest["inputs"] for run in results.runs}
    ruled = [results.entries[run.run_id] for run in results.runs if rules_played(run.manifest)]
    plain = [entry for entry, given in inputs.items() if "rules" not in given]
    return {name: next((other for other in plain if _alike(inputs[other], inputs[name])), "") for name in ruled}


def _alike(one: dict[str, Any], other: dict[str, Any]) -> bool:
    names = (one.keys() | other.keys()) - {"rules"}
    return all(one.get(name, {}).get("hash") == other.get(name, {}).get("hash") for name in names)


def runs_with_rules(results: Results) -> list[RunFile]:
    """Return the runs with rules, and those that differ from them only in the rules."""
    pairs = with_and_without_rules(results)
    wanted = {*pairs, *pairs.values()}
    return [run for run in results.runs if results.entries[run.run_id] in wanted]


def rules_cost(results: Results) -> pd.DataFrame:
    """Compare each run with rules with the same run without them, paired by case.

    Returns
    -------
    DataFrame
        The rows of `comparison_table` for the planned metrics (A without rules, B with them), with entry and without;
        no row for a run without a counterpart.
    """
    import pandas as pd

    parts = [
        comparison_table(results, without, entry, COSTS).assign(entry=entry, without=without)
        for entry, without in with_and_without_rules(results).items()
        if without
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
