"""What conversations can be chosen by: one row of fields per conversation, for every `Query`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..scoring.columns import names_of
from ..scoring.deciding import REASONS, SUCCESS_STATES, became, reasons_against, state_of
from ..scoring.detectors import detectors, finding_label
from ..scoring.metrics import METRICS
from ..scoring.score import Score
from ..scoring.written import words
from .panels import conversations_of
from .query import NO, YES
from .use_cases import desk_view

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from .frames import Results

NAMES = (
    *("entry", "source", "panel", "run_id", "case_id", "trial", "bucket", "intent", "kind", "language"),
    *("family", "arm", "settings", "weights", "ended_by", "pressure_reached", "pressure_push"),
)
"""Columns of the conversations frame that are chosen by their values."""
COUNTED = ("customer_faults", "forbidden_calls", "failed_calls")
"""Counts of the conversations frame that are chosen as flags: more than none."""
BROKEN = "broken: "
"""The beginning of the name of a rule that was broken, among the findings."""
DECIDED = ("outcome", "reason", "became")
SEVERAL = ("tool", "tool_refused", "judged", "judge_scored", "finding", "promise")
"""Fields with several values in one conversation."""


def facets(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Return the fields that conversations are chosen by.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations alone; then there are none of the fields `SEVERAL`.

    Returns
    -------
    DataFrame
        One row per conversation, in the order and with the index of the frame. Names are text, flags ``yes`` and
        ``no``, other numbers ``some``; None where the value is missing. Made here: ``outcome`` (a word of
        `SUCCESS_STATES`), ``reason`` (the main reason against a success), ``became`` (the outcome with that reason),
        ``trials_succeed`` (``always``, ``sometimes`` or ``never``, over the trials of the case), ``shared`` (every
        entry played the case), ``use_case``, ``adherent`` and ``end_for_desk`` (see `desk_view`), and the fields
        `SEVERAL`, which hold tuples.
    """
    import pandas as pd

    f = conversations_of(results)
    found: dict[str, Any] = {name: _names(f[name]) for name in NAMES if name in f}
    found |= {name: _names(f[name]) for name in f if name.startswith("rule_")}
    metrics = {m.column: m.scale.bounds for m in METRICS.values()}
    flags = {c for c in f if str(f[c].dtype) == "boolean"} | {c for c, bounded in metrics.items() if bounded}
    found |= {name: _flags(f[name]) for name in sorted(flags) if name in f}
    found |= {name: _flags(f[name].fillna(0) > 0) for name in COUNTED if name in f}
    if "customer_flagged" in f:
        found["customer_flagged"] = _flags(flags_of(f))
    names = names_of(Score)
    counted = {names[d.column] for d in detectors().values()} - flags
    found |= {name: _flags(f[name].astype("Float64") > 0) for name in sorted(counted) if name in f}
    some = (name for name in metrics if name in f and name not in found)
    found |= {name: ["some" if known else None for known in f[name].notna()] for name in some}
    found |= dict(zip(DECIDED, zip(*map(_decided, plain_rows(f))), strict=True)) if len(f) else dict.fromkeys(DECIDED)
    found |= {"trials_succeed": _over_trials(f), "shared": _shared(f)}
    desk = desk_view(f)
    found |= {"adherent": _flags(desk["adherent"])} | {n: _names(desk[n]) for n in ("use_case", "end_for_desk")}
    if not isinstance(results, pd.DataFrame):
        found |= _several(f, results)
    return pd.DataFrame(found, index=f.index, dtype="object")


def plain_rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dicts, with None for what is unknown, as in a stored score."""
    columns = {
        name: [value if known else None for value, known in zip(column.tolist(), column.notna().tolist())]
        for name, column in frame.items()
    }
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def judged_by(scorer: str, judge: str) -> str:
    """Return a scorer with the judge that was asked, as the fields ``judged`` and ``judge_scored`` name them."""
    return f"{scorer} by {judge}"


def flags_of(conversations: pd.DataFrame) -> pd.Series:
    """Return which conversations are customer faults: the audit found something, or the customer broke off.

    Where no audit was run, as in imported records, a fault on record counts in its place. The one definition that every
    count and every metric without customer faults uses.
    """
    recorded = conversations["customer_faults"].fillna(0) > 0
    audited = conversations["customer_flagged"].astype("boolean").fillna(recorded).astype(bool)
    return audited | (conversations["ended_by"] == "customer_fault")


def _decided(row: dict[str, Any]) -> tuple[str, str | None, str]:
    """The outcome, the main reason against a success, and both in words."""
    reasons = reasons_against(row, row["ended_by"])
    reason = REASONS[reasons[0].kind] if reasons else None
    return SUCCESS_STATES[state_of(row, row["ended_by"])][1], reason, became(row["bucket"], row)


def _names(column: pd.Series) -> list[str | None]:
    whole = column.dtype.kind == "f"
    return [None if v is None or v != v else f"{v:g}" if whole else str(v) for v in column.astype("object")]


def _flags(column: pd.Series) -> list[str | None]:
    return [None if v != v else YES if v else NO for v in _numbers(column)]


def _numbers(column: pd.Series) -> np.ndarray:
    return column.astype("Float64").to_numpy(dtype=float, na_value=float("nan"))


def _over_trials(f: pd.DataFrame) -> list[str | None]:
    """How the scored trials of the same entry and case went, one value per conversation."""
    success = f["success"].astype("Float64")
    share = success.groupby([f["entry"], f["source"], f["case_id"]]).transform("mean")
    return [None if v != v else "always" if v == 1 else "never" if v == 0 else "sometimes" for v in _numbers(share)]


def _shared(f: pd.DataFrame) -> list[str | None]:
    """Flags of cases that every entry played, one value per conversation."""
    entries = f["entry"] + "\n" + f["source"]
    played = entries.groupby([f["store_version"], f["case_id"]]).transform("nunique")
    return _flags(played == entries.nunique())


def _several(f: pd.DataFrame, results: Results) -> dict[str, list[tuple[str, ...]]]:
    """The fields with several values: tools called and refused, judges asked and answering, findings, promises."""
    calls = results.tool_calls[results.tool_calls["side"] == "agent"]
    found = {"tool": _sets(f, calls), "tool_refused": _sets(f, calls[calls["error"].fillna("") != ""])}
    verdicts = results.verdicts
    if len(verdicts):
        given = [judged_by(scorer, judge) for scorer, judge in zip(verdicts["scorer"], verdicts["judge"], strict=True)]
        asked = verdicts.assign(name=given)
        found |= {"judged": _sets(f, asked), "judge_scored": _sets(f, asked[asked["score"].notna()])}
    scores = {(run.run_id, record): score for run in results.runs for record, score in run.scores().items()}
    mine = [scores.get(key, {}) for key in zip(f["run_id"], f["record_hash"], strict=True)]
    said = [{finding_label(one) for one in score.get("findings") or ()} for score in mine]
    for names, column in zip(said, f["customer_finding_names"].fillna(""), strict=True):
        names |= {f"customer: {name}" for name in column.split(", ") if name}
    for rule in (name for name in f if name.startswith("rule_")):
        for names, state in zip(said, f[rule], strict=True):
            names |= {f"{BROKEN}{rule.removeprefix('rule_')}"} if state == "broken" else set()
    return found | {
        "finding": [tuple(sorted(names)) for names in said],
        "promise": [tuple(sorted(_promises(score))) for score in mine],
    }


def promise_label(kind: str, state: str) -> str:
    """Return a promise and what became of it, as the field ``promise`` names them: ``refund: beyond authority``."""
    return f"{words(kind)}: {words(state)}"


def _promises(score: dict[str, Any]) -> Iterable[str]:
    promised = (score.get("promises") or {}).items()
    return {promise_label(kind, state) for kind, states in promised for state, n in states.items() if n}


def _sets(f: pd.DataFrame, calls: pd.DataFrame) -> list[tuple[str, ...]]:
    """The names of some calls or verdicts, each once, per conversation."""
    keys = ["run_id", "case_id", "trial"]
    names: dict[tuple[Any, ...], set[str]] = {}
    for *key, name in calls[[*keys, "name"]].drop_duplicates().itertuples(index=False):
        names.setdefault(tuple(key), set()).add(str(name))
    return [tuple(sorted(names.get(key, ()))) for key in f[keys].itertuples(index=False, name=None)]
