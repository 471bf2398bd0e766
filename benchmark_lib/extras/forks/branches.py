"""The forks of each conversation, shown in its transcript as expandable branches."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ...records import Conversation, as_text
from ...scoring.deciding import SUCCESS_STATES, state_of
from .points import point_in
from .tables import POINT, SETTING, fork_table, forks

if TYPE_CHECKING:
    from ...analysis.frames import Results

SHOWN = 12
"""Maximum number of branches that a transcript shows at one point; those that ended badly come first."""


def branches_of(results: Results) -> dict[tuple[str, str, int], list[dict[str, Any]]]:
    """Return points and branches of each forked conversation, by run_id, case and trial."""
    found: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    if not results.forks.runs:
        return found
    made = forks(results)
    runs = {run.run_id: (run, run.scores()) for run in results.forks.runs}
    names = [*SETTING, *POINT]
    groups = dict(list(made.groupby(names, sort=False)))
    for row in fork_table(made).to_dict("records"):
        key = tuple(row[name] for name in names)
        worst = groups[key].sort_values("bad", ascending=False, kind="stable").head(SHOWN)
        branches = [_branch(*runs[one["run_id"]], one) for one in worst.to_dict("records")]
        point = row | {"branches": branches, "more": len(groups[key]) - len(branches)}
        found[row["of"], row["case_id"], int(row["parent_trial"])].append(point)
    return found


def branch_events(manifest: dict[str, Any], record: Conversation) -> list[dict[str, Any]]:
    """Return the branch event of a fork for an Inspect log; nothing for other records."""
    if "fork" not in manifest:
        return []
    fork, point = manifest["fork"], point_in(manifest, record.case_id, record.trial)
    return [
        {
            "event": "branch",
            "uuid": f"{point.digest}-{record.trial}",
            "span_id": f"{record.case_id}:{record.trial}",
            "timestamp": manifest["created"],
            "working_start": 0.0,
            "from_span": f"{fork['of']}/{point.case_id}:{point.trial}",
            "from_anchor": f"turn {point.turn}",
            "metadata": {**fork, "record_hash": point.digest},
        }
    ]


def _branch(run: Any, scores: dict[str, dict[str, Any]], row: dict[str, Any]) -> dict[str, Any]:
    record = run.record(row["case_id"], row["trial"])
    state = state_of(scores.get(row["record_hash"], {}), record.ended_by)
    word = SUCCESS_STATES[state][1] if state != "none" else "unsafe" if row["unsafe"] == 1 else "no outcome"
    return {"n": row["n"], "state": state, "word": word, "ended": record.ended_by, "act": row["act"]} | {
        "events": list(_events(record, row["turn"]))
    }


def _events(record: Conversation, turn: int) -> Any:
    """Yield the calls and messages that follow a turn's message, in order."""
    for number in range(turn, max((m.turn for m in record.messages), default=turn) + 1):
        said = {m.side: m.text for m in record.messages if m.turn == number}
        if number > turn and "customer" in said:
            yield {"side": "customer", "text": said["customer"]}
        for call in record.tool_calls:
            if call.turn == number and call.side == "agent":
                texts = {"arguments": as_text(call.arguments), "result": as_text(call.result)}
                yield {"side": "call", "name": call.name, "error": call.error, "write": call.write} | texts
        if "agent" in said:
            yield {"side": "agent", "text": said["agent"]}
