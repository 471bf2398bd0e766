"""Run files -> tidy frames. One row a conversation, a message, a tool call, a model call, a verdict; all with run_id, model, case_id, trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from ..errors import BadInput
from ..runfile import SUFFIX, RunFile

if TYPE_CHECKING:
    import pandas as pd

SCORE_COLUMNS = (
    "bucket", "intent", "kind", "claim", "tone", "language", "hardness", "twin_of", "scored", "handed_over", "queue", "queue_accepted",
    "unsafe", "forbidden_calls", "forbidden_malformed", "resolved", "corrupt_success", "success", "state_matches", "right_end",
    "facts_told", "facts_required", "pressure_reached", "pressure_push", "pushes", "rule_identity", "rule_confirmation", "rule_evidence",
    "rule_lookup", "rule_window", "rule_recipient", "turns", "agent_messages", "agent_words", "empty_replies", "tool_calls", "write_calls",
    "failed_calls", "order_lookups", "knowledge_base_searches", "customer_faults",
)  # fmt: skip
"""Columns of `conversations` that come from the score, in order."""


class Results:
    """The frames of one or more runs; each is built when it is first asked for.

    Parameters
    ----------
    runs : list of RunFile
        Where they are read from.

    Attributes
    ----------
    conversations, messages, tool_calls, calls, verdicts : pandas.DataFrame
        See the data dictionary in the README.
    """

    def __init__(self, runs: list[RunFile]):
        self.runs = runs
        self._records: list[tuple[dict[str, Any], bytes, dict[str, Any]]] | None = None

    def __repr__(self) -> str:
        return f"Results({len(self.runs)} runs: {', '.join(sorted({r.manifest['model'] for r in self.runs}))})"

    def _rows(self) -> Iterator[tuple[dict[str, Any], str, dict[str, Any]]]:
        """Each record with its run's manifest and its hash."""
        for run in self.runs:
            manifest = run.manifest
            for _, _, record_hash, record in run.conversations():
                yield manifest, record_hash, orjson.loads(record)

    @cached_property
    def conversations(self) -> "pd.DataFrame":
        """One row a conversation, scores included."""
        columns: dict[str, list[Any]] = {}
        fixed = ("run_id", "model", "case_id", "trial", "source", "customer", "ended_by", "store_version", "scoring", "prompt_tokens",
                 "completion_tokens", "reasoning_tokens", "cost_usd", "customer_cost_usd", "record_hash")  # fmt: skip
        for name in (*fixed, *SCORE_COLUMNS):
            columns[name] = []
        for run in self.runs:
            self._add_run(run, columns)
        return _frame(columns)

    def _add_run(self, run: RunFile, columns: dict[str, list[Any]]) -> None:
        manifest, scores, costs = run.manifest, run.scores(), _costs(run)
        store, nothing = manifest["inputs"]["store"]["value"], {}
        version = f"{store.get('name')} {store.get('version')}" if isinstance(store, dict) else str(store)
        for case_id, trial, record_hash, record in run.conversations():
            raw, score = orjson.loads(record), scores.get(record_hash, nothing)
            usage = raw["usage"].get("agent") or nothing
            known = (manifest["run_id"], raw["model"], case_id, trial, raw["source"], raw["customer"], raw["ended_by"], version,
                     score.get("version"), usage.get("prompt_tokens"), usage.get("completion_tokens"), usage.get("reasoning_tokens"),
                     _cost(costs, case_id, trial, "agent", raw["source"]), _cost(costs, case_id, trial, "customer", raw["customer"]),
                     record_hash)  # fmt: skip
            for values, value in zip(columns.values(), known, strict=False):
                values.append(value)
            for name in SCORE_COLUMNS:
                columns[name].append(score.get(name))

    @cached_property
    def messages(self) -> "pd.DataFrame":
        """One row a message: turn, side, text, acts (as text), attachments."""
        names = ("run_id", "model", "case_id", "trial", "turn", "side", "text", "acts", "attachments")
        return _frame(_columns(names, (
            (m["run_id"], r["model"], r["case_id"], r["trial"], x["turn"], x["side"], x["text"],
             ", ".join(f"{a['kind']} {a['what']}" for a in x["acts"]), ", ".join(x["attachments"]))
            for m, _, r in self._rows() for x in r["messages"])))  # fmt: skip

    @cached_property
    def tool_calls(self) -> "pd.DataFrame":
        """One row a tool call: turn, index, side, name, arguments and result as JSON, error, write."""
        names = ("run_id", "model", "case_id", "trial", "turn", "index", "side", "name", "arguments", "result", "error", "write")
        return _frame(_columns(names, (
            (m["run_id"], r["model"], r["case_id"], r["trial"], x["turn"], x["index"], x["side"], x["name"],
             orjson.dumps(x["arguments"]).decode(), orjson.dumps(x["result"]).decode(), x["error"], x["write"])
            for m, _, r in self._rows() for x in r["tool_calls"])))  # fmt: skip

    @cached_property
    def calls(self) -> "pd.DataFrame":
        """One row a finished model call: side, n, tokens, latency_s, attempts (number), cost_usd."""
        names = ("run_id", "case_id", "trial", "side", "n", "model", "prompt_tokens", "completion_tokens", "reasoning_tokens",
                 "cached_tokens", "latency_s", "attempts", "cost_usd", "finished_at")  # fmt: skip
        rows = (
            [run.run_id] + [len(row[n]) if n == "attempts" else row[n] for n in names[1:]]
            for run in self.runs
            for row in run.calls()
        )
        return _frame(_columns(names, rows))

    @cached_property
    def verdicts(self) -> "pd.DataFrame":
        """One row a judge's verdict on one scorer: judge, scorer, score (0-100, NaN if unscored), reason, quote."""
        where = self.conversations.set_index("record_hash")[["run_id", "model", "case_id", "trial"]]
        names = ("run_id", "model", "case_id", "trial", "judge", "version", "scorer", "score", "reason", "quote")
        rows = []
        for run in self.runs:
            for row in run.verdicts():
                key = where.loc[row["record_hash"]]
                for scorer, found in (row["verdict"].get("scores") or {}).items():
                    rows.append((*key, row["judge"], row["version"], scorer, found.get("score"), found.get("reason"), found.get("quote")))
        return _frame(_columns(names, rows))

    def record(self, model: str, case_id: str, trial: int = 1) -> Any:
        """The record of one conversation."""
        for run in self.runs:
            if run.manifest["model"] == model and (case_id, trial) in run.endings():
                return run.record(case_id, trial)
        raise BadInput(f"no run of {model!r} holds case {case_id!r}, trial {trial}: look into .conversations for what is there")


def load_results(*where: Any) -> Results:
    """Load runs into frames.

    Parameters
    ----------
    *where : RunFile, path, or folder
        Run files, or folders with run files in them (``data/runs`` where nothing is given).

    Returns
    -------
    Results

    Raises
    ------
    BadInput
        If a path holds no run file.
    """
    runs = [run for place in where or ("data/runs",) for run in _runs_at(place)]
    if not runs:
        raise BadInput(f"no run files in {', '.join(str(w) for w in where) or 'data/runs'}: make one with `deskbench run MODEL`")
    unique = {run.run_id: run for run in runs}
    return Results(list(unique.values()))


def _runs_at(place: Any) -> Iterable[RunFile]:
    if isinstance(place, RunFile):
        return [place]
    if isinstance(place, (list, tuple)):
        return [run for inner in place for run in _runs_at(inner)]
    from ..experiment.manifest import in_project

    path = in_project(place)
    if path.is_dir():
        return [RunFile(p) for p in sorted(path.glob(f"*{SUFFIX}"))]
    return [RunFile(path)]


def _costs(run: RunFile) -> dict[tuple[str, int, str], float | None]:
    """Cost of each conversation and side; None as soon as one of its calls has no known price."""
    costs: dict[tuple[str, int, str], float | None] = {}
    for call in run.calls():
        key = (call["case_id"], call["trial"], call["side"])
        known = costs.get(key, 0.0)
        costs[key] = None if known is None or call["cost_usd"] is None else known + call["cost_usd"]
    return costs


def _cost(costs: dict[tuple[str, int, str], float | None], case_id: str, trial: int, side: str, source: str) -> float | None:
    return costs.get((case_id, trial, side), 0.0 if source == "scripted" else None)


def _columns(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> dict[str, list[Any]]:
    names = tuple(names)
    columns: dict[str, list[Any]] = {n: [] for n in names}
    adders = [columns[n].append for n in names]
    for row in rows:
        for add, value in zip(adders, row, strict=True):
            add(value)
    return columns


_FLAGS = ("handed_over", "queue_accepted", "unsafe", "resolved", "corrupt_success", "success", "state_matches", "right_end", "write", "scored")
_NUMBERS = ("cost_usd", "customer_cost_usd", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "latency_s", "score",
            "pressure_push")  # fmt: skip
_KINDS = ("run_id", "model", "case_id", "source", "customer", "ended_by", "store_version", "scoring", "bucket", "intent", "kind", "claim", "tone",
          "language", "hardness", "twin_of", "queue", "pressure_reached", "side", "name", "error", "rule_identity", "rule_confirmation",
          "rule_evidence", "rule_lookup", "rule_window", "rule_recipient")  # fmt: skip


def _frame(columns: dict[str, list[Any]]) -> "pd.DataFrame":
    """A frame whose flags are nullable booleans, whose numbers are floats and whose labels are text, also where it is empty."""
    import pandas as pd

    frame = {}
    for name, values in columns.items():
        if name in _FLAGS:
            frame[name] = pd.array(values, dtype="boolean")
        elif name in _NUMBERS:
            frame[name] = pd.array(values, dtype="Float64").to_numpy(dtype="float64", na_value=float("nan"))
        elif name in _KINDS:
            frame[name] = pd.Series(values, dtype="str")
        else:
            frame[name] = values
    return pd.DataFrame(frame)
