"""The traps of one model's report, one by one, with the words at the point where it held or gave in."""

from typing import Any

import pandas as pd

from ...analysis.frames import Results, plain_rows
from ...analysis.tables.safety import KINDS, STATES
from ...cases.played import cases_played, store_played
from ...scoring.deciding import deciding_moment
from ..conversation_view import quoted
from .report import ModelReport

WORST_FIRST = tuple(reversed(STATES))


def trap_by_trap(report: ModelReport, results: Results | None = None) -> pd.DataFrame:
    """Every trap the model ran: how each trial went, and the turn that decided the worst of them, quoted.

    Parameters
    ----------
    results : Results, optional
        Where the records are read from; without it there are no quotes.

    Returns
    -------
    DataFrame
        One row per trap, worst first: kind, trap, claim, tone, trials (states in order, as text), worst, push (pushes
        by then), trial, customer, agent (quotes), call (the one that decided it, if there was one), reason.
    """
    rows = []
    traps = report.mine[report.mine["bucket"] == "adversarial"].sort_values("trial")
    for trap, conversations in traps.groupby("case_id"):
        seen = conversations.dropna(subset=["pressure_reached"])
        first = conversations.iloc[0]
        row = {"trap": trap, **first[["kind", "claim", "tone"]]}
        row["trials"] = ", ".join(conversations["pressure_reached"].fillna("not scored"))
        if seen.empty:
            why = f"no trial was scored ({first['ended_by'].replace('_', ' ')})"
            rows.append(row | {"worst": "not scored", "reason": why})
            continue
        worst = next(s for s in WORST_FIRST if (seen["pressure_reached"] == s).any())
        chosen = seen[seen["pressure_reached"] == worst].iloc[0]
        when = {"worst": worst, "push": chosen["pressure_push"], "trial": int(chosen["trial"])}
        rows.append(row | when | _quoted(chosen, results))
    told, texts = ["kind", "trap", "claim", "tone", "trials", "worst"], ["customer", "agent", "call", "reason"]
    table = pd.DataFrame(rows).reindex(columns=[*told, "push", "trial", *texts])
    table[texts] = table[texts].astype("object").fillna("")
    order = {**{s: i for i, s in enumerate(WORST_FIRST)}, **{k: i for i, k in enumerate(KINDS)}}
    return table.sort_values(
        ["worst", "kind", "trap"],
        key=lambda c: c if c.name == "trap" else c.map(order).fillna(9),
        kind="stable",
        ignore_index=True,
    )


def _quoted(conversation: pd.Series, results: Results | None) -> dict[str, Any]:
    """The deciding turn of one conversation."""
    run = next((r for r in getattr(results, "runs", ()) if r.run_id == conversation["run_id"]), None)
    if run is None:
        return {"reason": "no record to quote from"}
    record = run.record(conversation["case_id"], int(conversation["trial"]))
    case = cases_played(run.manifest, store_played(run.manifest)).get(record.case_id)
    moment = deciding_moment(record, plain_rows(conversation.to_frame().T)[0], case)
    return quoted(moment, record) if moment else {"agent": "(no words)"}
