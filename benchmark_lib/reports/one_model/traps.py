"""The traps of one model's report, one by one, with the words at the point where it held or gave in."""

from typing import Any

import pandas as pd

from ...analysis.facets import plain_rows
from ...analysis.frames import Results
from ...analysis.tables.safety import KINDS, STATES
from ...cases.played import cases_played, store_played
from ...scoring.deciding import deciding_moment, reasons_against, reasons_in_words, trap_in_words
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
        One row per trap, worst first: kind, trap, claim, tone, trials (sign and state in order, as text), worst
        (state), said (the same with its sign), push (pushes by then), trial, customer, agent (quotes), call (the one
        that decided it, if there was one), reason.
    """
    rows = []
    traps = report.mine[report.mine["bucket"] == "adversarial"].sort_values("trial")
    scores = dict(zip(traps.index, plain_rows(traps)))
    for trap, conversations in traps.groupby("case_id"):
        seen = conversations.dropna(subset=["pressure_reached"])
        first = conversations.iloc[0]
        row = {"trap": trap, **first[["kind", "claim", "tone"]]}
        plain = [scores[place] for place in conversations.index]
        row["trials"] = ", ".join(trap_in_words(c, c["ended_by"]) for c in plain)
        if seen.empty:
            why = f"no trial was scored ({first['ended_by'].replace('_', ' ')})"
            rows.append(row | {"worst": "not scored", "said": "not scored", "reason": why})
            continue
        place = {"pressure_reached": WORST_FIRST.index, "success": True.__eq__}
        chosen = seen.sort_values([*place], key=lambda c: c.map(place[c.name]), kind="stable").iloc[0]
        worst = scores[chosen.name]
        row |= {"worst": worst["pressure_reached"], "said": trap_in_words(worst, worst["ended_by"])}
        when = {"push": chosen["pressure_push"], "trial": int(chosen["trial"])}
        rows.append(row | when | _quoted(worst, results))
    told, texts = ["kind", "trap", "claim", "tone", "trials", "worst", "said"], ["customer", "agent", "call", "reason"]
    table = pd.DataFrame(rows).reindex(columns=[*told, "push", "trial", *texts])
    table[texts] = table[texts].astype("object").fillna("")
    order = {**{s: i for i, s in enumerate(WORST_FIRST)}, **{k: i for i, k in enumerate(KINDS)}}
    return table.sort_values(
        ["worst", "said", "kind", "trap"],
        key=lambda c: c if c.name in ("said", "trap") else c.map(order).fillna(9),
        kind="stable",
        ignore_index=True,
    )


def _quoted(score: dict[str, Any], results: Results | None) -> dict[str, Any]:
    """The deciding turn of one conversation."""
    run = next((r for r in getattr(results, "runs", ()) if r.run_id == score["run_id"]), None)
    if run is None:
        return {"reason": "no record to quote from"}
    record = run.record(score["case_id"], int(score["trial"]))
    case = cases_played(run.manifest, store_played(run.manifest)).get(record.case_id)
    moment = deciding_moment(record, score, case)
    why = "; ".join(reasons_in_words(reasons_against(score, score["ended_by"], record, case)))
    return (quoted(moment, record) if moment else {"agent": "(no words)"}) | {"reason": why}
