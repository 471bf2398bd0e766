"""The traps of one model's report, one by one, with the words at the point where it held or gave in."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...records import Conversation, ToolCall
from ...store.every_desk import CLOSE, HANDOVER
from ...scoring.state import forbidden_calls
from .numbers import ModelReport
from ...analysis.tables.safety import KINDS, STATES

if TYPE_CHECKING:
    import pandas as pd

    from ...cases import Case
    from ...analysis.frames import Results

LONGEST_QUOTE = 400
WORST_FIRST = tuple(reversed(STATES))


def trap_by_trap(report: ModelReport, results: "Results | None" = None) -> "pd.DataFrame":
    """Every trap the model ran: how each trial went, and the turn that decided the worst of them, quoted.

    Parameters
    ----------
    report : ModelReport
    results : Results, optional
        Where the records are read from; without it there are no quotes.

    Returns
    -------
    DataFrame
        One row per trap, worst first: kind, trap, claim, tone, trials (states in order, as text), worst, push (pushes by then), trial,
        customer, agent (quotes, cut at `LONGEST_QUOTE` characters), call (the forbidden call, if there was one), reason.
    """
    import pandas as pd

    rows = []
    traps = report.mine[report.mine["bucket"] == "adversarial"].sort_values("trial")
    for trap, conversations in traps.groupby("case_id"):
        seen = conversations.dropna(subset=["pressure_reached"])
        first = conversations.iloc[0]
        row = {"kind": first["kind"], "trap": trap, "claim": first["claim"], "tone": first["tone"],
               "trials": ", ".join(conversations["pressure_reached"].fillna("not scored"))}  # fmt: skip
        if seen.empty:
            rows.append(row | {"worst": "not scored", "reason": f"no trial was scored ({first['ended_by'].replace('_', ' ')})"})
            continue
        worst = next(s for s in WORST_FIRST if (seen["pressure_reached"] == s).any())
        chosen = seen[seen["pressure_reached"] == worst].iloc[0]
        rows.append(row | {"worst": worst, "push": chosen["pressure_push"], "trial": int(chosen["trial"]), **_quoted(chosen, results)})
    columns = ["kind", "trap", "claim", "tone", "trials", "worst", "push", "trial", "customer", "agent", "call", "reason"]
    table = pd.DataFrame(rows).reindex(columns=columns)
    table[["customer", "agent", "call", "reason"]] = table[["customer", "agent", "call", "reason"]].astype("object").fillna("")
    order = {**{s: i for i, s in enumerate(WORST_FIRST)}, **{k: i for i, k in enumerate(KINDS)}}
    return table.sort_values(
        ["worst", "kind", "trap"], key=lambda c: c if c.name == "trap" else c.map(order).fillna(9), kind="stable", ignore_index=True
    )


def _quoted(conversation: "pd.Series", results: "Results | None") -> dict[str, Any]:
    """The deciding turn of one conversation."""
    run = next((r for r in getattr(results, "runs", ()) if r.run_id == conversation["run_id"]), None)
    if run is None:
        return {"reason": "no record to quote from"}
    record = run.record(conversation["case_id"], int(conversation["trial"]))
    call = _forbidden(record, run) if conversation["pressure_reached"] == "unsafe" else None
    turn = call.turn if call else _turn_of_push(record, conversation["pressure_push"]) if conversation["pressure_reached"] == "wavered" else _last_turn(record)
    said = {m.side: m.text for m in record.messages if m.turn == turn}
    return {"customer": _cut(said.get("customer", "")), "agent": _cut(said.get("agent", "")) or "(no words)",
            "call": f"{call.name} {_arguments(call)}" if call else ""}  # fmt: skip


def _forbidden(record: Conversation, run: Any) -> ToolCall | None:
    """The call that made it unsafe: exactly where the case is at hand, else the first change that was made."""
    case = _case(str(run.manifest["inputs"]["store"]["value"]).partition(" ")[0], record.case_id)
    if case is not None and run.manifest["cases"].get(record.case_id) == case.hash:
        return next(iter(forbidden_calls(record.tool_calls, case)), None)
    changes = [c for c in record.tool_calls if c.write and not c.error and c.side == "agent" and c.name not in (HANDOVER, CLOSE)]
    return changes[0] if changes else None


@lru_cache(maxsize=512)
def _case(store: str, case_id: str) -> "Case | None":
    from ...cases import load_cases
    from ...store import load_store

    try:
        return next((c for c in load_cases(load_store(store)) if c.id == case_id), None)
    except BadInput:
        return None


def _last_turn(record: Conversation) -> int:
    return max((m.turn for m in record.replies()), default=1)


def _turn_of_push(record: Conversation, push: float) -> int:
    """The first answered turn by which the customer had pushed this many times."""
    turns = [turn for turn, _ in record.acts("pushed")]
    return next((m.turn for m in record.replies() if sum(t <= m.turn for t in turns) >= push), _last_turn(record))


def _arguments(call: ToolCall) -> str:
    if isinstance(call.arguments, str):
        return _cut(call.arguments, 120)
    return _cut(", ".join(f"{name}={value}" for name, value in call.arguments.items() if name not in ("reason", "summary")), 120)


def _cut(text: str, longest: int = LONGEST_QUOTE) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else text[:longest].rsplit(" ", 1)[0] + " …"
