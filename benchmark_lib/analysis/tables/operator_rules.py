"""Rules that an operator added to the prompt: how often they are kept, for how long, and what they cost."""

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
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from ...runfile import RunFile
    from ..frames import Results

ALL = "all of them"
"""The row of an entry over every rule: kept where no rule is broken."""
COSTS = ("over_escalation", "unsafe", "escalation_accuracy", "resolved")
FEW = 10
"""Conversations below which a rate by turn is marked."""


@says_partial
def rules_kept(results: Results, rules: Sequence[OperatorRule] = ()) -> pd.DataFrame:
    """Return every reply of the runs with rules, and whether it keeps each of them.

    Parameters
    ----------
    results : Results
        What `load_results` gives: the rules stand in the run files.
    rules : sequence of OperatorRule, optional
        Read these in every run, also in one that was never told of them, for what would have been kept anyway; by
        default each run's own.

    Returns
    -------
    DataFrame
        One row per reply and rule: run_id, entry, panel, case_id, intent, trial, turn, rule, and kept (NA where it
        cannot be told, such as the language of two words). Conversations that faults of the world ended are left out.
    """
    if not hasattr(results, "runs"):
        raise BadInput("operator rules are read from run files: pass what load_results gives, not a frame")
    rows: list[tuple[Any, ...]] = []
    about = {
        (r, c, t): (panel, intent, language)
        for r, c, t, panel, intent, language in conversations_of(results)[
            ["run_id", "case_id", "trial", "panel", "intent", "language"]
        ].itertuples(index=False)
    }
    for run in results.runs:
        read = list(rules) or rules_played(run.manifest)
        for case_id, trial, _, raw in run.conversations() if read else ():
            if (run.run_id, case_id, trial) not in about:
                continue
            record = Conversation.from_json(raw)
            panel, intent, language = about[run.run_id, case_id, trial]
            if record.ended_by in NOT_SCORED:
                continue
            head = (run.run_id, results.entries[run.run_id], panel, case_id, intent, trial)
            known = language if isinstance(language, str) else None
            rows += [(*head, k.turn, k.rule, k.kept) for k in kept_replies(record, read, known)]
    return framed(rows, "run_id entry panel case_id intent trial turn rule kept").astype({"kept": "boolean"})


def rules_of(results: Results, rules: str | None = None) -> list[OperatorRule]:
    """Return the rules that any of the runs was given, each name once; those of `rules` where none was given any."""
    told = {rule.name: rule for run in results.runs for rule in rules_played(run.manifest)}
    if told or not rules:
        return list(told.values())
    desks = [store.title for run in results.runs if (store := store_played(run.manifest)) is not None]
    return load_rules(rules, desks[0] if desks else store_name(results.runs[0].manifest))


def first_to_break(turns: pd.DataFrame) -> str | None:
    """Choose the entry to draw unless one is named: that whose kept share differs most between two turns."""
    if turns.empty:
        return None
    spread = turns.groupby("entry", sort=False)["kept"].agg(lambda kept: kept.max() - kept.min())
    return str(spread.idxmax())


def rules_table(replies: pd.DataFrame) -> pd.DataFrame:
    """Count how often each rule is kept, reply by reply and throughout a conversation.

    `replies` is as `rules_kept` gives it.

    Returns
    -------
    DataFrame
        One row per entry and rule, and one over all rules: panel, replies (that could be told), replies_kept, untold;
        kept with low and high (mean over cases of the share of replies, intents as clusters); conversations, throughout
        (that never break it), throughout_share with throughout_low and throughout_high; reason.
    """
    import pandas as pd

    rows = []
    for (panel, entry), mine in replies.groupby(["panel", "entry"], sort=True):
        together = _all_rules(mine) if mine["rule"].nunique() > 1 else mine.iloc[:0]
        for rule, part in pd.concat([mine, together]).groupby("rule", sort=False):
            rows.append({"panel": panel, "entry": entry, "rule": rule, **_counts(part)})
    return pd.DataFrame(rows)


def _counts(part: pd.DataFrame) -> dict[str, Any]:
    told = part.dropna(subset=["kept"])
    talks = told.groupby(["run_id", "case_id", "intent", "trial"])["kept"].all().reset_index()
    by_reply, by_talk = _rate(told), _rate(talks)
    row: dict[str, Any] = {
        "replies": len(told),
        "replies_kept": int(told["kept"].sum()),
        "untold": len(part) - len(told),
    }
    row |= {**interval(by_reply, "kept"), "conversations": len(talks), "throughout": int(talks["kept"].sum())}
    return row | interval(by_talk, "throughout_share", "throughout_") | {"reason": sentence(by_reply.reason)}


def _all_rules(mine: pd.DataFrame) -> pd.DataFrame:
    """Return one row per reply: kept where none of the rules that can be read is broken."""
    keys = ["run_id", "entry", "panel", "case_id", "intent", "trial", "turn"]
    return mine.dropna(subset=["kept"]).groupby(keys, sort=False)["kept"].all().reset_index().assign(rule=ALL)


def _rate(part: pd.DataFrame) -> Estimate:
    if part.empty:
        return Estimate(estimate=nan, n=0, reason="no reply of which it can be told")
    by_case = part.assign(kept=part["kept"].astype(float)).groupby(["intent", "case_id"])["kept"].agg(["mean", "size"])
    clusters = clusters_or_cases(*(by_case.index.get_level_values(name) for name in ("intent", "case_id")))
    return clustered_rate(by_case["mean"].to_numpy(), clusters, trials=int(by_case["size"].max()))


def rules_by_turn(replies: pd.DataFrame) -> pd.DataFrame:
    """Return how often the rules are kept as a conversation gets longer.

    Long conversations are others than short ones, so that each turn stands beside the first reply of the very
    conversations that came that far: only what falls from the one to the other has to do with length.

    `replies` is as `rules_kept` gives it.

    Returns
    -------
    DataFrame
        One row per entry, rule and turn: panel, partial, kept with low and high (mean over cases, intents as clusters),
        replies, kept_at_first (the same conversations at their first reply) and reason. Rules on the first reply alone
        are left out.
    """
    told = replies.dropna(subset=["kept"]).assign(kept=lambda r: r["kept"].astype(float))
    talk = ["run_id", "case_id", "trial", "rule"]
    first = told.sort_values("turn").groupby(talk, sort=False)["kept"].first().rename("at_first")
    told = told.join(first, on=talk)
    rows = []
    for (panel, entry, partial, rule), mine in told.groupby(["panel", "entry", "partial", "rule"], sort=False):
        if mine["turn"].nunique() < 2:
            continue
        for turn, part in mine.groupby("turn"):
            found = _rate(part)
            few = f"only {counted(len(part), 'reply', 'replies')}" if len(part) < FEW else ""
            row = {"panel": panel, "entry": entry, "partial": partial, "rule": rule, "turn": int(turn)}
            row |= interval(found, "kept")
            row |= {"replies": len(part), "kept_at_first": float(part.groupby("case_id")["at_first"].mean().mean())}
            rows.append(row | {"reason": sentence(found.reason, few)})
    return framed(rows, "panel entry partial rule turn kept low high replies kept_at_first reason")


def with_and_without_rules(results: Results) -> pd.DataFrame:
    """Return the runs that differ in the operator's rules alone.

    Returns
    -------
    DataFrame
        One row per run with rules: with_rules and without (entries; the latter empty where there is no such run),
        rules.
    """
    runs = [run.manifest for run in results.runs]
    rows = []
    for manifest in (m for m in runs if rules_played(m)):
        other = next((m["run_id"] for m in runs if "rules" not in m["inputs"] and _same(m, manifest)), None)
        without = results.entries[other] if other else ""
        rows.append((results.entries[manifest["run_id"]], without, manifest["inputs"]["rules"]["value"]))
    return framed(rows, "with_rules without rules")


def runs_with_rules(results: Results) -> list[RunFile]:
    """Return the runs with rules, and those that differ from one of them in the rules alone."""
    pairs = with_and_without_rules(results)
    wanted = {*pairs["with_rules"], *pairs["without"]}
    return [run for run in results.runs if results.entries[run.run_id] in wanted]


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    names = (one["inputs"].keys() | other["inputs"].keys()) - {"rules"}
    hashes: Iterable[tuple[Any, Any]] = (
        (one["inputs"].get(name, {}).get("hash"), other["inputs"].get(name, {}).get("hash")) for name in names
    )
    return all(mine == theirs for mine, theirs in hashes)


def rules_cost(results: Results) -> pd.DataFrame:
    """Compare each run with rules with the same run without them, paired by case.

    Returns
    -------
    DataFrame
        The rows of `comparison_table` for the planned metrics (A without rules, B with them), after entry and without;
        no row where there is no run to compare with.
    """
    import pandas as pd

    pairs = with_and_without_rules(results)
    parts = [
        comparison_table(results, row["without"], row["with_rules"], COSTS).assign(
            entry=row["with_rules"], without=row["without"]
        )
        for row in pairs.to_dict("records")
        if row["without"]
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
