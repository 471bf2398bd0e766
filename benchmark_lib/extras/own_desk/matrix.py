"""Tickets that models played: a table of models, one of tickets by models, and their page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ...analysis.cell import Cell, Heading, Table, metric_cell
from ...analysis.frames import Results
from ...analysis.query import Query
from ...analysis.tables.rows import framed
from ...errors import BadInput
from ...project import code_version
from ...records import Conversation
from ...reports.site.formatting import environment
from ...scoring.deciding import reasons_against
from ...scoring.scales import SHARE
from ...scoring.state import CLOSE, HANDOVER
from ...scoring.written import DASH
from .results import share_of, weighted_mean
from .tickets import Ticket, wordings

Checks = dict[str, Callable[[Conversation], Any]]
NOT_SCORED = "not_scored"


def what_went_wrong(score: dict[str, Any], record: Conversation) -> str:
    """Return a key of ``wrong`` in ``try.yaml``, or an empty text if nothing did.

    The score lets a handover pass to any queue, and a handover or a refusal without its texts. A ticket does not.
    """
    reasons = reasons_against(score, record.ended_by)
    if not reasons and score.get("queue_accepted") is False:
        return "queue"
    if not reasons:
        return "" if all((score.get("facts") or {}).values()) else "facts"
    acts = [c for c in record.tool_calls if c.write and not c.error and c.name not in (HANDOVER, CLOSE)]
    kind = reasons[0].kind
    if kind in wordings()["wrong"]:
        return kind
    return "wrong_act" if acts else "no_act" if kind == "wrong_end" else "other"


def _rows(results: Results, checks: Checks) -> Iterator[dict[str, Any]]:
    for run in results.runs:
        scores, who = run.scores(), {"entry": results.entries[run.run_id]}
        for case_id, _, digest, raw in run.conversations():
            record = Conversation.from_json(raw)
            wrong = what_went_wrong(scores.get(digest) or {}, record)
            answers = {name: _answer(name, check, record) for name, check in checks.items() if wrong != NOT_SCORED}
            yield {**who, "case_id": case_id, "intent": case_id, "wrong": wrong, "right": wrong == "", **answers}


def _answer(name: str, check: Callable[[Conversation], Any], record: Conversation) -> bool | None:
    try:
        answer = check(record)
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    if answer is None or isinstance(answer, bool):
        return answer
    raise BadInput(
        f"{name} gave {str(answer)[:90]!r} for ticket {record.case_id}, trial {record.trial}: let it return "
        "True, False or None, and rerun the command, which plays nothing again"
    )


def tables(tickets: list[Ticket], results: Results, checks: Checks) -> tuple[Table, Table]:
    """Return a row for each model, and a row for each ticket with a column for each model."""
    played = framed(_rows(results, checks), " ".join(["entry case_id intent wrong right", *checks]))
    scored, entries = played[played["wrong"] != NOT_SCORED], [*results.entries.values()]
    of = dict(list(scored.groupby(["entry", "case_id"])))
    models: list[dict[str, Any]] = []
    for entry in entries:
        own = scored[scored["entry"] == entry]
        by_tickets = metric_cell(weighted_mean(own, "right", {t.id: t.weight for t in tickets}), SHARE, "mean")
        models.append({"model": entry, "right": _share(own, "right", Query.of(entry=entry)), "weighted": by_tickets})
        models[-1] |= {name: _share(own, name) for name in checks}
    weighted = [("weighted", "Right, weighted")] if len({ticket.weight for ticket in tickets}) > 1 else []
    rows = [
        {"ticket": f"{t.id}: {t.title}", "expected": t.expected}
        | {entry: _cell(of.get((entry, t.id)), entry, t.id) for entry in entries}
        for t in tickets
    ]
    notes = tuple(("", wordings()["notes"][name]) for name in ("right", "stricter", *["own"] * bool(checks)))
    heads = [("model", "Model"), ("right", "Right"), *weighted, *zip(checks, checks)]
    columns = [("ticket", "Ticket"), ("expected", "What should happen"), *zip(entries, entries)]
    return _table(heads, models, caption=wordings()["thin"], notes=notes), _table(columns, rows)


def _table(columns: list[tuple[str, str]], rows: list[dict[str, Any]], **about: Any) -> Table:
    return Table(columns=tuple(Heading(key=key, title=title) for key, title in columns), rows=tuple(rows), **about)


def _share(own: pd.DataFrame, column: str, behind: Query | None = None) -> Cell:
    known = own.dropna(subset=[column]).astype({column: float})
    k, n = int(known[column].sum()), len(known)
    cell = metric_cell(share_of(known, column), SHARE, "mean", yes=behind, k=n, n=n)
    return replace(cell, note=f"{k} of {n}")


def _cell(own: pd.DataFrame | None, entry: str, case_id: str) -> Cell:
    if own is None:
        return Cell(number=DASH, note=wordings()["wrong"][NOT_SCORED])
    went = [wordings()["wrong"][word] for word in own.loc[~own["right"], "wrong"].value_counts().index[:2]]
    behind = Query.of(entry=entry, case_id=case_id)
    return Cell(number=f"{own['right'].sum()} of {len(own)}", note=", ".join(went), yes=behind, k=len(own), n=len(own))


def write_page(site: Path, title: str, parts: tuple[Table, ...]) -> Path:
    """Write a page of a site whose cells lead to the site's list of conversations."""
    about = {"canary": "", "version": code_version()["version"], "traps": True, "hard": False, "other": None}
    page, path = environment().get_template("site/tickets.html.j2"), site / "tickets.html"
    path.write_text(page.render(root="", here="", site={**about, "stores": []}, title=title, parts=parts), "utf-8")
    return path
