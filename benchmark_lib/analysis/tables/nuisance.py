"""Effects besides the model: simulated customer, endpoint, wording, operator's rules."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from ...cases.load import store_name, store_played
from ...cases.operator_rules import OperatorRule, load_rules, rules_played
from ...cases.variants import worded_case
from ...errors import BadInput
from ...records import NOT_SCORED, Conversation
from ...runfile import RunFile
from ...scoring.customer_audit import FINDINGS, turns_in
from ...scoring.operator_rules import kept_replies
from ...scoring.written import percent
from ..cell import ITEM, Row, fields, framed, grouped, interval
from ..estimators.estimate import Estimate, Headline
from ..estimators.intervals import clustered_rate, clusters_or_cases, proportion_interval
from ..estimators.trials import trial_shift, wording_spread
from ..facets import flags_of
from ..frames import Results
from ..panels import conversations_of, is_wording, says_partial
from .comparison import PLANNED
from .headlines import headline
from .pairs import comparison_table

LEVEL = 0.01
"""At this level, a board of thirty runs has a false alarm one time in four."""
SHIFTED = (
    "trial {trial} differs: success {own} against {others} in the others (p {p:.2g}); the endpoint may have "
    "changed during the run, and no interval here covers that"
)
UNDECIDED = "no reply for which this is decidable"
ALL = "all of them"
"""Name of an entry's row over all rules: kept if no rule is broken."""
REPLY = ["run_id", "entry", "panel", "case_id", "intent", "trial", "turn"]


# --- the customer


def customer_flag_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Count how often each customer failed to play its part.

    One row per entry and customer. Shares have a Wilson interval. ``asked_back`` counts conversations in which the
    customer asked what an offer means. After ``findings``, their text, there is one column per finding that occurred.
    """

    def of_customer(group: pd.DataFrame) -> Row:
        flagged, n = int(flags_of(group).sum()), len(group)
        asked = int((group["asked_back"].fillna(0) > 0).sum()) if "asked_back" in group else 0
        texts = group["customer_finding_names"].fillna("").astype(str)
        names = Counter(name for text in texts for name in text.split(", ") if name in FINDINGS)
        row: Row = {"conversations": n, "flagged": flagged, **interval(proportion_interval(flagged, n), "share")}
        row |= {"asked_back": asked, **interval(proportion_interval(asked, n), "asked_share", "asked_")}
        row["findings"] = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in names.most_common())
        return row | {name: names[name] for name in FINDINGS}

    columns = "conversations flagged share low high asked_back asked_share asked_low asked_high findings"
    columns = f"{columns} {' '.join(FINDINGS)}"
    table = grouped(conversations_of(results), of_customer, columns, "entry customer", sort=True)
    return table.drop(columns=[name for name in FINDINGS if not table[name].any()])


def customer_turns(results: Results) -> pd.DataFrame:
    """Return each judge's newest verdict on each customer message after the email.

    One row per judge and message: run_id, case_id, trial, entry, customer, judge, turn, verdict (None if unread),
    quote, reason.
    """
    rows = [
        {"run_id": run.run_id, "record_hash": row["record_hash"], "judge": row["judge"], **turn}
        for run in results.runs
        for row in run.verdicts()
        for turn in turns_in(row["verdict"])
    ]
    frame = framed(rows, "run_id record_hash judge turn verdict quote reason")
    newest = frame.drop_duplicates(["run_id", "record_hash", "judge", "turn"], keep="last")
    known = results.conversations[[*ITEM, "entry", "customer", "record_hash"]]
    return known.merge(newest, on=["run_id", "record_hash"]).drop(columns="record_hash")


def both_forms(conversations: pd.DataFrame, metrics: Iterable[str]) -> Iterator[tuple[Headline, Headline]]:
    """Yield one model's metrics over all conversations, and without flagged customers."""
    flagged = flags_of(conversations)
    kept = conversations[~flagged] if flagged.any() else None
    for metric in metrics:
        every = headline(conversations, metric)
        yield every, every if kept is None else headline(kept, metric)


# --- the endpoint, and the words of a case


def shift_in_words(conversations: pd.DataFrame) -> str:
    """Return a sentence on the trial of an entry that differs from the others, if any."""
    return str(_shift(conversations)["finding"])


def shift_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Test every entry for a trial that differs from the others.

    One row per entry. ``trial`` is the one farthest from the others, ``estimate`` its success, and ``finding`` a
    sentence if p is at most 0.01.
    """
    table = grouped(conversations_of(results), _shift, "trial estimate others p cases finding reason", "panel entry")
    return table.sort_values("p", kind="stable", na_position="last", ignore_index=True)


def _shift(conversations: pd.DataFrame) -> Row:
    known = conversations[["case_id", "trial", "success"]].dropna(subset=["success"]).astype({"success": float})
    table = known.pivot_table("success", "case_id", "trial")
    shift = trial_shift(table.to_numpy() if len(known) else np.empty((0, 0)), n_resamples=1_999)
    trial = int(table.columns[shift.trial]) if shift.trial >= 0 else pd.NA
    values = {"trial": trial, "own": percent(shift.estimate), "others": percent(shift.others), "p": shift.p}
    finding = SHIFTED.format(**values) if shift.p <= LEVEL else ""
    return {"trial": trial, "cases": shift.n, "finding": finding, **fields(shift, "estimate others p reason")}


def wording_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Compare the spread over wordings of a case with the spread over trials of a wording.

    Only runs made with ``deskbench run MODEL --cases wordings`` have rows, and no other table has their conversations.
    One row per entry. ``trials`` counts scored conversations, and ``success`` is their share of successes. ``moved``
    counts the cases in which some wordings always succeed and others never do. ``over_wordings`` and ``over_trials``
    are standard deviations of success, from 0 to 1, with intervals over cases. ``share`` is the part of the variance
    within a case that is due to its words, and ``p`` tests the hypothesis that words have no effect.
    """

    def of_entry(group: pd.DataFrame) -> Row:
        cells = group.groupby(["tells", "case_id"])["success"].agg(["sum", "size", "mean"]).reset_index()
        spread, by_case = wording_spread(cells["sum"], cells["size"], cells["tells"]), cells.groupby("tells")["mean"]
        row: Row = {"cases": cells["tells"].nunique(), "wordings": len(cells), "trials": len(group)}
        row |= {"success": group["success"].mean(), "moved": int(((by_case.max() == 1) & (by_case.min() == 0)).sum())}
        for name, variance in (("over_wordings", spread.wording), ("over_trials", spread.trial)):
            ends = interval(variance, name, f"{name}_").items()  # a negative variance becomes 0
            row |= {end: sqrt(max(value, 0.0)) if value == value else nan for end, value in ends}
        return row | {"share": spread.share, **fields(spread.wording, "p reason")}

    frame = conversations_of(results, variants=True)
    frame = frame[is_wording(frame["case_id"]) & frame["success"].notna()]
    frame = frame.assign(success=frame["success"].astype(int), tells=frame["case_id"].map(worded_case))
    columns = (
        "cases wordings trials success moved over_wordings over_wordings_low over_wordings_high "
        "over_trials over_trials_low over_trials_high share p reason"
    )
    return grouped(frame, of_entry, columns, "panel entry")


# --- the operator's rules: how often they are kept, for how long, at what cost


@says_partial
def rules_kept(results: Results, rules: Sequence[OperatorRule] = ()) -> pd.DataFrame:
    """Return every reply of the runs with rules, and whether it keeps each rule.

    One row per reply and rule: run_id, entry, panel, case_id, intent, trial, turn, rule, and kept (NA if undecidable,
    such as the language of two words). Conversations that ended in infrastructure faults are left out.

    Parameters
    ----------
    results : Results
        Result of `load_results`; the rules are in the run files.
    rules : sequence of OperatorRule, optional
        Rules to check in every run, including runs without them; by default, each run's own.
    """
    if not hasattr(results, "runs"):
        raise BadInput("operator rules are read from run files: pass the result of load_results, not a frame")
    frame, rows = conversations_of(results), []
    about = frame.set_index(ITEM)[["panel", "intent", "language"]].T.to_dict("list")
    for run in results.runs:
        read = list(rules) or rules_played(run.manifest)
        for case_id, trial, _, raw in run.conversations() if read else ():
            record = Conversation.from_json(raw) if (run.run_id, case_id, trial) in about else None
            if record is None or record.ended_by in NOT_SCORED:
                continue
            panel, intent, language = about[run.run_id, case_id, trial]
            head = (run.run_id, results.entries[run.run_id], panel, case_id, intent, trial)
            known = language if isinstance(language, str) else None
            rows += [(*head, *found) for found in kept_replies(record, read, known)]
    return framed(rows, " ".join([*REPLY, "rule kept"])).astype({"kept": "boolean"})


def rules_of(results: Results, rules: str | None = None) -> list[OperatorRule]:
    """Return the distinct rules of some runs; if there are none, those named in `rules`."""
    given = {rule.name: rule for run in results.runs for rule in rules_played(run.manifest)}
    if given or not rules:
        return list(given.values())
    desks = [store.title for run in results.runs if (store := store_played(run.manifest)) is not None]
    return load_rules(rules, desks[0] if desks else store_name(results.runs[0].manifest))


def rules_table(replies: pd.DataFrame) -> pd.DataFrame:
    """Count how often each rule is kept, by reply and throughout a conversation.

    `replies` is the result of `rules_kept`. One row per entry and rule, and one over all rules. ``replies`` counts the
    decidable replies, ``untold`` the others. ``kept`` is the mean over cases of the share of replies that keep the
    rule, with intents as clusters; ``throughout`` counts conversations without a breach.
    """

    def of_entry(group: pd.DataFrame) -> Iterator[Row]:
        every = group.dropna(subset=["kept"]).groupby(REPLY, sort=False)["kept"].all().reset_index().assign(rule=ALL)
        together = every if group["rule"].nunique() > 1 else every.iloc[:0]
        for rule, part in pd.concat([group, together]).groupby("rule", sort=False):
            read = part.dropna(subset=["kept"])
            whole = read.groupby(["run_id", "case_id", "intent", "trial"])["kept"].all().reset_index()
            by_reply, kept, throughout = case_rate(read), int(read["kept"].sum()), int(whole["kept"].sum())
            row = {"rule": rule, "replies": len(read), "replies_kept": kept, "untold": len(part) - len(read)}
            row |= {**interval(by_reply, "kept"), "conversations": len(whole), "throughout": throughout}
            yield row | interval(case_rate(whole), "throughout_share", "throughout_") | {"reason": by_reply.reason}

    columns = (
        "rule replies replies_kept untold kept low high conversations throughout throughout_share throughout_low "
        "throughout_high reason"
    )
    return grouped(replies, of_entry, columns, "panel entry", sort=True)


def case_rate(part: pd.DataFrame, column: str = "kept", why_none: str = UNDECIDED) -> Estimate:
    """Estimate the mean of a flag over cases, with intents (or few cases) as clusters."""
    if part.empty:
        return Estimate(estimate=nan, n=0, reason=why_none)
    by_case = part.astype({column: float}).groupby(["intent", "case_id"])[column].agg(["mean", "size"])
    clusters = clusters_or_cases(*(by_case.index.get_level_values(name) for name in ("intent", "case_id")))
    return clustered_rate(by_case["mean"].to_numpy(), clusters, trials=int(by_case["size"].max()))


def with_and_without_rules(results: Results) -> dict[str, str]:
    """Match each entry with rules to the entry that differs only in them; may be empty."""
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

    The rows are those of `comparison_table` for the planned metrics (A without rules, B with them), plus the columns
    entry and without; a run without a counterpart has no rows.
    """
    parts = [
        comparison_table(results, without, entry, PLANNED).assign(entry=entry, without=without)
        for entry, without in with_and_without_rules(results).items()
        if without
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
