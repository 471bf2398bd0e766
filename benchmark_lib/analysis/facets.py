"""Fields for selecting conversations, and the questions that a record answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..scoring.columns import Score, names_of
from ..scoring.deciding import REASONS, SUCCESS_STATES, outcome_label, reasons_against, state_of
from ..scoring.detectors import WHERE_TRUE_IS_RIGHT, detectors, finding_label
from ..scoring.metrics import METRICS
from ..scoring.score import RULES
from ..scoring.written import words
from .entries import Frames
from .panels import conversations_of, desk_view
from .query import NO, SOME, YES

if TYPE_CHECKING:
    import pandas as pd


NAMES = (
    *("entry", "source", "panel", "run_id", "case_id", "trial", "bucket", "intent", "kind", "language"),
    *("family", "arm", "settings", "weights", "ended_by", "pressure_reached", "pressure_push"),
)
"""Columns of the conversations frame that are selected by value."""
COUNTED = ("customer_faults", "forbidden_calls", "failed_calls")
"""Counts of the conversations frame that are selected as flags, true above zero."""
BROKEN = "broken: "
"""Prefix of a broken rule among the findings."""
DECIDED = ("outcome", "reason", "became")
SEVERAL = ("tool", "tool_refused", "judged", "judge_scored", "finding", "promise")
"""Fields that can have several values in one conversation."""


def facets(results: Frames | pd.DataFrame) -> pd.DataFrame:
    """Return the fields of conversations; a frame alone lacks the fields in `SEVERAL`.

    The rows keep the order and index of the frame. Names are text, flags ``yes`` or ``no``, and other numbers ``some``;
    missing values are None. Added fields: ``outcome`` (a word of `SUCCESS_STATES`); ``reason`` (the main reason against
    a success); ``became`` (the outcome with that reason); ``trials_succeed`` (``always``, ``sometimes`` or ``never``,
    over the trials of the case); ``shared`` (every entry played the case); ``use_case`` and ``end_for_desk`` (see
    `desk_view`), and the fields in `SEVERAL` as tuples.
    """
    import pandas as pd

    f = conversations_of(results)
    named = [*(name for name in NAMES if name in f), *(name for name in f if name.startswith("rule_"))]
    fields: dict[str, Any] = {name: _names(f[name]) for name in named}
    metrics = {m.column: m.scale.bounds for m in METRICS.values()}
    flags = {c for c in f if str(f[c].dtype) == "boolean"} | {c for c, bounded in metrics.items() if bounded}
    fields |= {name: _flags(f[name]) for name in sorted(flags) if name in f}
    fields |= {name: _flags(f[name].fillna(0) > 0) for name in COUNTED if name in f}
    if "customer_flagged" in f:
        fields["customer_flagged"] = _flags(flags_of(f))
    names = names_of(Score)
    counted = {names[d.column] for d in detectors().values()} - flags
    fields |= {name: _flags(f[name].astype("Float64") > 0) for name in sorted(counted) if name in f}
    some = (name for name in metrics if name in f and name not in fields)
    fields |= {name: [SOME if known else None for known in f[name].notna()] for name in some}
    fields |= dict(zip(DECIDED, zip(*map(_decided, plain_rows(f))), strict=True)) if len(f) else dict.fromkeys(DECIDED)
    fields |= {"trials_succeed": _over_trials(f), "shared": _shared(f)}
    fields |= {name: _names(column) for name, column in desk_view(f).items()}
    if not isinstance(results, pd.DataFrame):
        fields |= _several(f, results)
    return pd.DataFrame(fields, index=f.index, dtype="object")


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dicts, with None for unknown values, as in a stored score."""
    columns = {
        name: [value if known else None for value, known in zip(column.tolist(), column.notna().tolist())]
        for name, column in frame.items()
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def judged_by(scorer: str, judge: str) -> str:
    """Return a scorer with its judge, as the fields ``judged`` and ``judge_scored`` name them."""
    return f"{scorer} by {judge}"


def flags_of(conversations: pd.DataFrame) -> pd.Series:
    """Return which conversations have a customer fault: flagged by the audit, or broken off.

    In conversations without an audit, such as imported records, a recorded fault counts instead.
    """
    recorded = conversations["customer_faults"].fillna(0) > 0
    audited = conversations["customer_flagged"].astype("boolean").fillna(recorded).astype(bool)
    return audited | (conversations["ended_by"] == "customer_fault")


def _decided(row: dict[str, Any]) -> tuple[str, str | None, str]:
    reasons = reasons_against(row, row["ended_by"])
    reason = REASONS[reasons[0].kind] if reasons else None
    return SUCCESS_STATES[state_of(row, row["ended_by"])][1], reason, outcome_label(row["bucket"], row)


def _names(column: pd.Series) -> list[str | None]:
    whole = column.dtype.kind == "f"
    return [None if v is None or v != v else f"{v:g}" if whole else str(v) for v in column.astype("object")]


def _flags(column: pd.Series) -> list[str | None]:
    return [None if v != v else YES if v else NO for v in _numbers(column)]


def _numbers(column: pd.Series) -> np.ndarray:
    return column.astype("Float64").to_numpy(dtype=float, na_value=float("nan"))


def _over_trials(f: pd.DataFrame) -> list[str | None]:
    success = f["success"].astype("Float64")
    share = success.groupby([f["entry"], f["source"], f["case_id"]]).transform("mean")
    return [None if v != v else "always" if v == 1 else "never" if v == 0 else "sometimes" for v in _numbers(share)]


def _shared(f: pd.DataFrame) -> list[str | None]:
    entries = f["entry"] + "\n" + f["source"]
    played = entries.groupby([f["store_version"], f["case_id"]]).transform("nunique")
    return _flags(played == entries.nunique())


def _several(f: pd.DataFrame, results: Frames) -> dict[str, list[tuple[str, ...]]]:
    calls = results.tool_calls[results.tool_calls["side"] == "agent"]
    fields = {"tool": _sets(f, calls), "tool_refused": _sets(f, calls[calls["error"].fillna("") != ""])}
    verdicts = results.verdicts
    if len(verdicts):
        given = [judged_by(scorer, judge) for scorer, judge in zip(verdicts["scorer"], verdicts["judge"], strict=True)]
        asked = verdicts.assign(name=given)
        fields |= {"judged": _sets(f, asked), "judge_scored": _sets(f, asked[asked["score"].notna()])}
    stored = scores_of(f, results.runs)
    findings = [
        {finding_label(finding) for finding in score.get("findings") or ()}
        | {f"customer: {name}" for name in column.split(", ") if name}
        | {f"{BROKEN}{rule}" for rule in score.get("rules_broken_by") or ()}
        for score, column in zip(stored, f["customer_finding_names"].fillna(""), strict=True)
    ]
    for rule in (name for name in f if name.startswith("rule_")):
        for names, state in zip(findings, f[rule], strict=True):
            names |= {f"{BROKEN}{rule.removeprefix('rule_')}"} if state == "broken" else set()
    promises = [(score.get("promises") or {}).items() for score in stored]
    promised = [{promise_label(kind, state) for kind, ns in made for state, n in ns.items() if n} for made in promises]
    sets = {"finding": findings, "promise": promised}
    return fields | {name: [tuple(sorted(names)) for names in column] for name, column in sets.items()}


def scores_of(f: pd.DataFrame, runs: Any) -> list[dict[str, Any]]:
    """Return each conversation's stored score, or an empty one."""
    scores = {(run.run_id, record): score for run in runs for record, score in run.scores().items()}
    return [scores.get(key, {}) for key in zip(f["run_id"], f["record_hash"], strict=True)]


def promise_label(kind: str, state: str) -> str:
    """Return a promise and its outcome, as in ``promise``: ``refund: beyond authority``."""
    return f"{words(kind)}: {words(state)}"


def _sets(f: pd.DataFrame, calls: pd.DataFrame) -> list[tuple[str, ...]]:
    # distinct names of the calls or verdicts of each conversation
    keys = ["run_id", "case_id", "trial"]
    names: dict[tuple[Any, ...], set[str]] = {}
    for *key, name in calls[[*keys, "name"]].drop_duplicates().itertuples(index=False):
        names.setdefault(tuple(key), set()).add(str(name))
    return [tuple(sorted(names.get(key, ()))) for key in f[keys].itertuples(index=False, name=None)]


SUCCESS = "success"
"""The question that every scored conversation answers."""
FINDING, RULE, OWN = "finding:", "rule:", "own: "
"""Prefixes in a file of labels, for a detector's, a rule's and the labeller's own question."""


@dataclass(frozen=True)
class RecordQuestion:
    """A yes-or-no question that a column of the conversations answers, in one bucket or in all.

    `definition` says in one sentence what a yes means; `yes_is` names the values that count as yes: ``above 0`` (or
    true), ``false`` or ``broken``.
    """

    title: str
    definition: str
    column: str
    bucket: str | None = None
    yes_is: str = "above 0"

    def answers(self, conversations: pd.DataFrame) -> np.ndarray:
        """Return 1 for yes, 0 for no and NaN for no answer, one value per conversation."""
        values = conversations[self.column]
        if self.yes_is == "broken":
            answers = values.map({"broken": 1.0, "kept": 0.0}).to_numpy(dtype=float)
        else:
            numbers = _numbers(values)
            yes = numbers == 0 if self.yes_is == "false" else numbers > 0
            answers = np.where(np.isnan(numbers), np.nan, yes.astype(float))
        if self.bucket is not None:
            answers[(conversations["bucket"] != self.bucket).to_numpy(dtype=bool, na_value=True)] = np.nan
        return answers


def _questions() -> dict[str, RecordQuestion]:
    names = names_of(Score)
    found = {d.name: names[d.column] for d in detectors().values()}
    questions = {SUCCESS: RecordQuestion("Success", "A success by the rules of its bucket.", "success")}
    for m in METRICS.values():
        if m.scale.bounds is not None and m.column not in found.values():
            questions[m.name] = RecordQuestion(m.title, m.definition, m.column, m.bucket)
    for d in detectors().values():
        yes_is = "false" if d.name in WHERE_TRUE_IS_RIGHT else "above 0"
        words = f"Is there a finding? {d.definition}"
        questions[f"{FINDING}{d.name}"] = RecordQuestion(d.title, words, found[d.name], yes_is=yes_is)
    for rule in RULES:
        words = f"Was the process rule `{rule}` broken?"
        questions[f"{RULE}{rule}"] = RecordQuestion(f"Rule {rule}", words, f"rule_{rule}", yes_is="broken")
    return questions


QUESTIONS = _questions()
"""Every question that a record answers, by its name in a file of labels."""


def is_yes_or_no(scorer: str) -> bool:
    """Return True if labels of this scorer are yes or no instead of scores on the judges' scale."""
    return scorer in QUESTIONS or scorer.startswith((FINDING, RULE, OWN))
