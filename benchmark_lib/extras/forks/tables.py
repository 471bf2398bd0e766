"""Tables of forks: points, kinds of case, overall rates, what-ifs, deciding turns."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from ...analysis.cell import ITEM, Row, framed, grouped, interval
from ...analysis.entries import entry_names
from ...analysis.estimators.estimate import Estimate
from ...analysis.estimators.intervals import proportion_interval
from ...cases import Case
from ...cases.hard import HANDED_OVER
from ...cases.operator_rules import load_rules, prompt_with
from ...conversation.speaker import Reply
from ...errors import BadInput
from ...experiment.manifest import hashed
from ...records import NOT_SCORED, Conversation
from ...store import Store
from ...textfiles import read_yaml
from .estimates import branch_weighted_rate, effect, rate_over_prefixes
from .points import BEFORE_THE_ACT, RULES, ForkPoint, parsed, place_of, point_in, turns_of, writes

if TYPE_CHECKING:
    import pandas as pd

    from ...analysis.frames import Results
    from ...runfile import RunFile

SETTING = ["entry", "of", "prefix", "change"]
"""Columns in which forks must agree to be counted together."""
POINT = ["case_id", "parent_trial", "turn"]
NO_ACT = "no act"
NOT_ALL = (
    "its forks were chosen by what the agent did, or leave conversations out: fork it with --at every or --at pressure"
)
"""Reason why forks do not count in an overall rate."""
OUTCOMES = ("bad", "success", "unsafe")
"""Outcomes of a fork; ``bad`` means unsafe in a trap, and unsuccessful in other cases."""


def forks(results: Results) -> pd.DataFrame:
    """Return one row per fork.

    Returns
    -------
    DataFrame
        For the files of forks in `results`: the columns of conversations, and of (run of the parent), prefix (own or
        shared), change, parent_trial, turn, n (within the point), calls (bought for the fork), act (the next
        write, handover or close, or ``no act``), bad, success and unsafe (1, 0 or NaN). Forks that an infrastructure
        fault ended are left out.
    """
    these, rows = results.forks, []
    for run in these.runs:
        manifest, calls = run.manifest, Counter(run.rows("calls", ("case_id", "trial")))
        about = [str((manifest.get("fork") or {}).get(name, "")) for name in SETTING[1:]]
        for record in run.records():
            _, trial, turn, _ = point_in(manifest, record.case_id, record.trial)
            acts = [call.name for call in writes(record) if call.turn >= turn]
            bought = calls[record.case_id, record.trial]
            if record.ended_by not in NOT_SCORED:
                which = (run.run_id, record.case_id, record.trial)
                rows.append((*which, *about, trial, turn, place_of(record.trial)[1], bought, (acts or [NO_ACT])[0]))
    names = " ".join([*ITEM, *SETTING[1:], *POINT[1:], "n calls act"])
    frame = these.conversations.merge(framed(rows, names), on=ITEM)
    frame["entry"] = frame["run_id"].map(_entries(these))
    return _with_outcomes(frame.sort_values([*SETTING, *POINT, "n"]))


def fork_table(results: Results | pd.DataFrame, outcome: str = "bad") -> pd.DataFrame:
    """Return how often each point ended in an outcome.

    Parameters
    ----------
    results : Results or DataFrame
        Results with files of forks, or the rows of `forks`.
    outcome : {"bad", "success", "unsafe"}

    Returns
    -------
    DataFrame
        One row per entry, change and point: entry, of, prefix, change, case_id, parent_trial, turn, bucket, forks (with
        a value), count, share, low, high (Wilson; ten of ten gives .72 to 1), acts (with their counts), reason.
    """

    def row_of(group: pd.DataFrame) -> Row:
        known = group[outcome].dropna()
        rate = proportion_interval(int(known.sum()), len(known))
        acts = ", ".join(f"{name} {count}" for name, count in Counter(group["act"]).most_common())
        row = {"forks": len(known), "count": int(known.sum()), "acts": acts, "reason": rate.reason}
        return row | interval(rate, "share")

    columns = "forks count share low high acts reason"
    return grouped(_rows(results, outcome), row_of, columns, " ".join([*SETTING, *POINT, "bucket"]))


def fork_rates(results: Results | pd.DataFrame, outcome: str = "bad", by: str = "intent") -> pd.DataFrame:
    """Return the rate of an outcome by kind of case, with each prefix as a cluster.

    Returns
    -------
    DataFrame
        One row per entry, change and value of `by`: prefixes, forks, count, share, low, high, reason; see
        `rate_over_prefixes`.
    """

    def row_of(group: pd.DataFrame) -> Row:
        shares = _shares(group, outcome)
        found = rate_over_prefixes(shares["count"], shares["size"])
        row = {"prefixes": len(shares), "forks": shares["size"].sum(), "count": shares["count"].sum()}
        return row | interval(found, "share") | {"reason": found.reason}

    columns = "prefixes forks count share low high reason"
    return grouped(_rows(results, outcome), row_of, columns, " ".join([*SETTING, "bucket", by]))


def branch_rates(results: Results, outcome: str = "bad") -> pd.DataFrame:
    """Return overall rates with and without forks in place of single outcomes.

    Parameters
    ----------
    results : Results
        The runs, and the files of unchanged forks of their own prefixes.

    Returns
    -------
    DataFrame
        One row per run and bucket: entry, bucket, conversations, forked, whole with whole_low and whole_high (as if not
        forked), share with low and high (see `branch_weighted_rate`), more (the width, as a share of `whole`'s, if as
        many calls had gone into further whole conversations), reason. Forks count only if their turn was chosen
        regardless of what the agent did there. It is the first turn of each conversation in the bucket, or the first
        line of pressure in each that has one. Other forks, such as those of deciding acts, were chosen by what happened
        and would bias the rate.
    """
    made = forks(results)
    made = made[(made["change"] == "") & (made["prefix"] == "own prefix")]
    points = made.groupby(["of", *POINT]).agg(share=(outcome, "mean"), calls=("calls", "sum"))
    parents = {run.run_id: run for run in (*results.runs, *results.hard.runs)}
    made_of = [(run.manifest["fork"]["of"], run.manifest.get("rules", ())) for run in results.forks.runs]

    def row_of(group: pd.DataFrame) -> Row:
        parent = parents[group["run_id"].iloc[0]]
        rules = {rule for of, names in made_of if of == parent.run_id for rule in names}
        keys = list(zip(group["case_id"], group["trial"], strict=True))
        forked = _first_forks(points.loc[parent.run_id], parent, keys, rules)
        single, shares = group[outcome].to_numpy(), forked["share"].to_numpy()
        whole = branch_weighted_rate(single, group["case_id"])
        combined = branch_weighted_rate(np.where(np.isnan(shares), single, shares), group["case_id"])
        calls = sum(1 for _ in parent.calls())
        row: Row = {"conversations": len(group), "forked": int((~np.isnan(shares)).sum())}
        row |= {**interval(whole, "whole", "whole_"), **interval(combined, "share")}
        row["more"] = (1 + forked["calls"].sum() / calls) ** -0.5 if calls else np.nan
        return row | {"reason": combined.reason if row["forked"] else NOT_ALL}

    every, columns = _whole(results), "conversations forked whole whole_low whole_high share low high more reason"
    parts = every[every["run_id"].isin(made["of"])]
    return grouped(parts, row_of, columns, "run_id entry bucket").drop(columns="run_id")


def _first_forks(points: pd.DataFrame, parent: RunFile, keys: list[tuple[str, int]], rules: set[str]) -> pd.DataFrame:
    """Return each conversation's forks at the first turn of a rule that ignores acts.

    They are NaN unless every conversation with such a turn has them.
    """
    records = [record for record in parent.records() if (record.case_id, record.trial) in set(keys)]
    for rule in (rule for rule in BEFORE_THE_ACT if rule in rules):
        first = [(r.case_id, r.trial, min(turns)) for r in records if (turns := RULES[rule](r) & turns_of(r))]
        if first and points.index.isin(first).sum() == len(first):
            return points.loc[first].droplevel("turn").reindex(keys)
    return points.iloc[:0].droplevel("turn").reindex(keys)


def what_if_table(results: Results | pd.DataFrame, outcome: str = "bad") -> pd.DataFrame:
    """Return what each change does to an outcome, at points forked with it and without it.

    Returns
    -------
    DataFrame
        One row per entry and change: points, forks, plain and changed (mean shares over points), effect, low, high,
        reason; see `effect`.
    """
    made = _rows(results, outcome)
    plain = made[made["change"] == ""]

    def row_of(changed: pd.DataFrame) -> Row:
        same = (plain[SETTING[:-1]] == changed[SETTING[:-1]].iloc[0]).all(axis=1)
        both = _shares(changed, outcome).join(_shares(plain[same], outcome), rsuffix="_plain", how="inner")
        contrast = effect(both["count"], both["size"], both["count_plain"], both["size_plain"])
        row: Row = {"points": len(both), "forks": both["size"].sum() + both["size_plain"].sum()}
        row |= {"changed": (both["count"] / both["size"]).mean()}
        row |= {"plain": (both["count_plain"] / both["size_plain"]).mean()}
        return row | interval(contrast, "effect") | {"reason": contrast.reason}

    columns = "points forks plain changed effect low high reason"
    return grouped(made[made["change"] != ""], row_of, columns, " ".join(SETTING))


def along_table(results: Results | pd.DataFrame, conversation: str, outcome: str = "bad") -> pd.DataFrame:
    """Return the chance of an outcome turn by turn, and the turn at which it was decided.

    Parameters
    ----------
    results : Results or DataFrame
        If the conversation's run is among the results, the last turn is compared with how it ended.
    conversation : str
        ``CASE:TRIAL`` of a run that was forked with ``--along``.

    Returns
    -------
    DataFrame
        One row per entry and turn: forks, count, share, low, high, jump (the next turn's share, or the recorded
        outcome, minus this turn's share), jump_low and jump_high (Newcombe; for the last turn, Wilson), decided_here
        (the largest jump whose interval excludes 0), reason.
    """
    case_id, trial, _ = parsed(conversation, 2)
    table = fork_table(results, outcome)
    table = table[(table["case_id"] == case_id) & (table["parent_trial"] == trial) & (table["change"] == "")]
    if table.empty:
        raise BadInput(TEXTS["refused"]["not forked"].format(conversation=conversation))
    ends, rows = {}, []
    if hasattr(results, "runs"):
        whole = _whole(results)
        whole = whole[(whole["case_id"] == case_id) & (whole["trial"] == trial)]
        ends = dict(zip(whole["run_id"], whole[outcome], strict=True))
    for _, points in table.groupby(SETTING, sort=False):
        listed = points.to_dict("records")
        steps = [effect([b["count"]], [b["forks"]], [a["count"]], [a["forks"]]) for a, b in pairwise(listed)]
        last, end = listed[-1], ends.get(listed[-1]["of"], np.nan)
        steps.append(Estimate(estimate=end - last["share"], low=end - last["high"], high=end - last["low"]))
        surest = max(steps, key=lambda step: np.nan_to_num(abs(step.estimate)))
        for row, step in zip(listed, steps, strict=True):
            here = step is surest and (step.low > 0 or step.high < 0)
            rows.append(row | interval(step, "jump", "jump_") | {"decided_here": here})
    return framed(rows, "entry of prefix turn forks count share low high jump jump_low jump_high decided_here reason")


def steepest(table: pd.DataFrame) -> str:
    """Return ``CASE:TRIAL`` of the conversation of a `fork_table` with the largest step."""
    plain = table[table["change"] == ""].groupby(["entry", "case_id", "parent_trial"])["share"]
    steps = plain.agg(lambda share: share.diff().abs().max())
    if steps.empty:
        raise BadInput(TEXTS["refused"]["no plain fork"])
    _, case_id, trial = steps.fillna(-1).idxmax()
    return f"{case_id}:{trial}"


def _whole(results: Results) -> pd.DataFrame:
    """Return the whole conversations of every set."""
    import pandas as pd

    return _with_outcomes(pd.concat([results.conversations, results.hard.conversations]))


def _with_outcomes(conversations: pd.DataFrame) -> pd.DataFrame:
    """Return conversations with success, unsafe and bad as 1, 0 or NaN."""
    import pandas as pd

    trap = conversations["bucket"] == "adversarial"
    known = {n: pd.to_numeric(conversations[n], errors="coerce").astype(float) for n in ("success", "unsafe")}
    return conversations.assign(**known, bad=np.where(trap, known["unsafe"], 1 - known["success"]))


def _entries(results: Results) -> dict[str, str]:
    bare, of = dict[str, dict[str, Any]](), dict[str, str]()
    for run in results.runs:
        manifest = run.manifest
        inputs = {name: part for name, part in manifest["inputs"].items() if name != "fork"}
        of[run.run_id] = hashed([manifest["model"], inputs])
        bare.setdefault(of[run.run_id], {**manifest, "inputs": inputs, "cases": {}, "planned": {}})
    names = entry_names(bare.values())
    return {run_id: names[bare[key]["run_id"]] for run_id, key in of.items()}


def _rows(results: Results | pd.DataFrame, outcome: str) -> pd.DataFrame:
    if outcome not in OUTCOMES:
        raise BadInput(f"outcome is {outcome!r}: choose one of {', '.join(OUTCOMES)}")
    return forks(results) if hasattr(results, "runs") else results


def _shares(rows: pd.DataFrame, outcome: str) -> pd.DataFrame:
    return rows.dropna(subset=[outcome]).groupby(POINT)[outcome].agg(count="sum", size="size").astype(int)


# --- What-ifs

TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"))
KINDS = {"no-pressure": False, "say": True, "photo": False, "no-plant": False, "rule": True, "article": True}
"""Kinds of changes, and whether they take a value; ``docs/forks.md`` explains them."""
WRITTEN = ", ".join(f"{kind}=..." if valued else kind for kind, valued in KINDS.items())


class WhatIf(NamedTuple):
    """One change at the fork, as in ``--what-if NAME`` or ``NAME=VALUE``; none if empty."""

    name: str = ""
    value: str = ""

    @classmethod
    def of(cls, text: str | None) -> WhatIf:
        """Return the change that a text names; raise `BadInput` for an unknown one."""
        name, _, value = (text or "").partition("=")
        if text and KINDS.get(name) != bool(value.strip()):
            raise BadInput(TEXTS["refused"]["what-if"].format(text=text[:60], written=WRITTEN))
        return cls(name, value.strip())

    def __str__(self) -> str:
        return f"{self.name}={self.value}" if self.value else self.name

    def fits(self, record: Conversation, point: ForkPoint, case: Case) -> bool:
        """Return whether a point has anything to change that the agent had not met before."""
        if self.name == "no-pressure":
            return any(turn == point.turn for turn, _ in record.acts("pushed"))
        if self.name == "photo":
            sent = {name for m in record.messages if m.turn <= point.turn for name in m.attachments}
            return any(known.attach and known.attach not in sent for known in case.ledger.values())
        if self.name == "no-plant":
            met = [call.turn for call in record.tool_calls if str(call.index) in record.staged]
            met += [m.turn for m in record.messages for text in case.planted if text in " ".join(m.shows.values())]
            clean = self.case(case)
            changes = (clean.world, clean.ledger) != (case.world, case.ledger)
            return changes and all(turn >= point.turn for turn in met)
        return True

    def case(self, case: Case) -> Case:
        """Return the case to play, with changes to what the customer has or to what is planted."""
        if self.name == "photo":
            ledger = dict(case.ledger)
            for slot, known in case.ledger.items():
                if known.attach:
                    asked = {"when": "asked", "shows": known.shows or TEXTS["shows"]}
                    ledger[slot] = known.model_copy(update=asked)
            return case.model_copy(update={"ledger": ledger})
        if self.name == "no-plant":
            text = case.model_dump_json(include={"world", "ledger"})
            for planted in case.planted:
                text = text.replace(orjson.dumps(planted).decode()[1:-1], "")
            clean = Case.model_validate(case.model_dump() | orjson.loads(text) | {"planted": []})
            return case.model_copy(update={name: getattr(clean, name) for name in ("world", "ledger", "planted")})
        return case

    def said(self, said: Reply, case: Case) -> Reply:
        """Return the customer's message at the fork."""
        text, attachments = said.text, said.attachments
        if self.name == "photo":
            attachments = attachments + [known.attach for known in case.ledger.values() if known.attach][:1]
            return Reply(text, said.acts, attachments)
        if self.name not in ("say", "no-pressure"):
            return said
        for line in case.pressure:
            text = text.replace(line.strip(), " ")
        calm = "\n".join(" ".join(line.split()) for line in text.splitlines()).strip()
        calm = calm or TEXTS["calm"].get(case.language, TEXTS["calm"]["en"])
        acts = [act for act in said.acts if act.kind != "pushed"]
        return Reply(self.value if self.name == "say" else calm, acts, attachments)

    def prompt(self, prompt: str, store: Store) -> str | None:
        """Return the agent's prompt from the fork on; None if it is unchanged."""
        if self.name == "rule":
            return prompt_with(prompt, load_rules(self.value, store.title))
        if self.name == "article":
            article = next((a for a in store.articles if a["id"] == self.value), None)
            if article is None:
                raise BadInput(
                    f"{self}: the store has no such article: choose one of its articles by id, such as KB-01"
                )
            return f"{prompt}\n\n{HANDED_OVER}\n\n### {article['id']} {article['title']}\n{article['text']}"
        return None
