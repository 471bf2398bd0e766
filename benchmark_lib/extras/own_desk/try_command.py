"""``deskbench desk try``."""

import argparse
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pandas as pd

from ...analysis import load_results
from ...analysis.cell import Cell, Heading, Table, framed, metric_cell
from ...analysis.frames import Results
from ...analysis.query import Query
from ...cases import load_cases
from ...cli.codes import SIGNAL, note
from ...cli.options import ENDPOINT, SETTINGS, TRIALS
from ...cli.play import BEFORE, agreed, play
from ...commands import command
from ...experiment import Experiment
from ...project import code_version, safe_name, slug
from ...records import Conversation, content_hash
from ...reports.html import render
from ...reports.site import build_site
from ...reports.terminal import columns, screen_width
from ...runfile import SUFFIX
from ...scoring.deciding import reasons_against
from ...scoring.metrics import SHARE
from ...scoring.state import CLOSE, HANDOVER
from ...scoring.written import DASH, counted
from ...store import FolderStore, load_store
from ...store.tools import import_object
from ...textfiles import read_text
from .desk_file import CASES, Row, mark_of, refusal, texts, write_made
from .results import share_of, weighted_mean
from .tickets import desk_of_tickets, read_cells, scrub, tickets_of

ARGUMENTS: dict[str, Any] = {
    "TICKETS": "a CSV file: in each row an email and what should happen; see docs/desk-try.md",
    "--policy FILE": {"help": "the company's rules, as Markdown or plain text", "required": True},
    "--model NAME": ("a model, or scripted:NAME; repeat it for several (default: scripted:oracle)", []),
    **ENDPOINT,
    **TRIALS,
    **SETTINGS,
    "--check MODULE:FUNCTION": ("your own check: a function of the record that returns True, False or None", []),
    "--title NAME": ("the company's name for the agent and the pages (default: Our company)", "Our company"),
    "--out FOLDER": "the folder of the desk (default: desks/NAME next to the tickets)",
    "--keep WORD": ("a word that is not personal data; repeat it for several", []),
    "--keep-personal-data": "replace nothing in the tickets, because you made them up",
    "--concurrency N": ("maximum number of conversations at once (default: 50)", 50),
    **BEFORE,
    "--budget-usd X": ("stop each model's run before it costs more than this amount", float),
}
Checks = dict[str, Callable[[Conversation], Any]]


def execute(options: argparse.Namespace) -> int:
    """Write the desk, run each model on it, and show the matrix."""
    checks = {f"check_{spec.rpartition(':')[2]}": import_object(spec, "--check") for spec in options.check or []}
    if wrong := next((name for name, check in checks.items() if not callable(check)), ""):
        raise refusal("own_check", name=wrong)
    path = Path(options.tickets)
    out = (Path(options.out) if options.out else path.resolve().parent / "desks" / slug(path.stem)).resolve()
    tickets = _on_desk(path, out, options)
    results = out.with_name(f"{out.name}-results")
    desk = FolderStore(out)
    played = content_hash(orjson.dumps([desk.hash, desk.prompt(), *(case.hash for case in load_cases(desk))]))
    given = {name: getattr(options, name) for name in ("trials", "settings", "concurrency", "budget_usd")}
    experiments = []
    for model in dict.fromkeys(options.model or ["scripted:oracle"]):
        run = results / "runs" / f"{safe_name(model)}-{played[:6]}{SUFFIX}"
        base = None if model.startswith("scripted:") else options.base_url
        experiments.append(Experiment(model, store=out, out=run, base_url=base, **given))
    code = agreed(experiments, options)
    if code is not None:
        return code
    code = play(experiments, board=False)
    runs = [one.out for one in experiments if one.out and Path(one.out).is_file()]
    if runs and code < SIGNAL:
        _show(tickets, runs, checks, out, results / "site")
    return code


def _on_desk(path: Path, out: Path, options: argparse.Namespace) -> list[Row]:
    """Write the desk unless it was made from these inputs; return its scrubbed tickets."""
    rows, unused = read_cells(path)
    tickets = tickets_of(rows, path)
    if unused:
        note(texts("try.yaml")["unused"].format(columns=", ".join(unused)))
    unweighted = [ticket | {"weight": 1} for ticket in tickets]
    given = [unweighted, read_text(Path(options.policy)), options.title, options.keep, options.keep_personal_data]
    made = mark_of(out)
    inputs = content_hash(orjson.dumps(given))
    day = str(date.today())
    kept = made["tickets"] if made.get("inputs") == inputs else []
    if kept:
        tickets, day = [one | {"weight": t["weight"]} for one, t in zip(kept, tickets)], made["day"]
    elif not options.keep_personal_data:
        rows, replaced, left = scrub(rows, tickets, options.keep or [])
        tickets = tickets_of(rows, path)
        said = texts("try.yaml")["personal"]
        print(said["replaced"].format(count=replaced))
        if left:
            note(said["left"].format(places=counted(left, "place"), file=out / CASES))
    if tickets != kept:
        files = desk_of_tickets(tickets, Path(options.policy), out.name, options.title, day)
        write_made(out, files, inputs=inputs, day=day, tickets=tickets)
    print(f"desk: {out}, {counted(len(tickets), 'ticket')}{' (already written)' * bool(kept)}", flush=True)
    return tickets


def _show(tickets: list[Row], runs: list[Any], checks: Checks, desk: Path, site: Path) -> None:
    results = load_results(*runs)
    parts = tables(tickets, results, checks)
    for part in parts:
        lines = columns([[c.title for c in part.columns], *part.texts()], width=screen_width(), gives=0)
        print("", *filter(None, [part.caption]), *lines, *(text for _, text in part.notes), sep="\n")
    build_site(results, site, stores=(desk,))
    about = {"canary": "", "version": code_version()["version"], "traps": True, "hard": False, "other": None}
    names = {"root": "", "here": "", "site": {**about, "stores": []}, "title": load_store(desk).title}
    page = site / "tickets.html"
    page.write_text(render("site/tickets.html.j2", **names, parts=parts), "utf-8")
    print(texts("try.yaml")["next"].format(page=page, desk=desk, run=command("run", "MODEL", "--store", str(desk))))


def tables(tickets: list[Row], results: Results, checks: Checks) -> tuple[Table, Table]:
    """Return a table with a row per model, and one with a row per ticket and a column per model."""
    words = texts("try.yaml")
    weights = {t["id"]: t["weight"] for t in tickets}
    played = framed(_rows(results, checks), " ".join(["entry case_id intent wrong right", *checks]))
    entries = [*results.entries.values()]
    models = list[Row]()
    rows: list[Row] = [{"ticket": f"{t['id']}: {t['title']}", "expected": t["expected"]} for t in tickets]
    for entry in entries:
        own = played[played["entry"] == entry]
        right = _share(own, "right", Query.of(entry=entry))
        weighted = metric_cell(weighted_mean(own, "right", weights), SHARE, "mean")
        models.append({"model": entry, "right": right, "weighted": weighted})
        models[-1] |= {name: _share(own, name) for name in checks}
        for row, ticket in zip(rows, tickets, strict=True):
            row[entry] = _cell(own[own["case_id"] == ticket["id"]], Query.of(entry=entry, case_id=ticket["id"]))
    notes = tuple(("", words["notes"][name]) for name in ("right", "stricter", *["own"] * bool(checks)))
    shown = {"weighted": "Right, weighted"} if len({*weights.values()}) > 1 else {}
    heads = {"model": "Model", "right": "Right", **shown, **{name: name for name in checks}}
    titles = {"ticket": "Ticket", "expected": "What should happen", **{entry: entry for entry in entries}}
    return table(heads, models, caption=words["thin"], notes=notes), table(titles, rows)


def _rows(results: Results, checks: Checks) -> Iterator[Row]:
    for run in results.runs:
        scores, entry = run.scores(), results.entries[run.run_id]
        for case_id, _, digest, raw in run.conversations():
            record = Conversation.from_json(raw)
            wrong = what_went_wrong(scores.get(digest) or {}, record)
            if wrong != "not_scored":
                row = {"entry": entry, "case_id": case_id, "intent": case_id, "wrong": wrong, "right": wrong == ""}
                yield row | {name: _answer(name, check, record) for name, check in checks.items()}


def what_went_wrong(score: dict[str, Any], record: Conversation) -> str:
    """Return a key of ``wrong`` in ``try.yaml``; empty if nothing went wrong.

    A ticket demands its queue, and the texts of its handover or refusal, which the score does not.
    """
    reasons = reasons_against(score, record.ended_by)
    if not reasons and score.get("queue_accepted") is False:
        return "queue"
    if not reasons:
        return "" if all((score.get("facts") or {}).values()) else "facts"
    if reasons[0].kind != "wrong_end":
        return reasons[0].kind if reasons[0].kind in texts("try.yaml")["wrong"] else "other"
    acts = (c for c in record.tool_calls if c.write and not c.error and c.name not in (HANDOVER, CLOSE))
    return "wrong_act" if any(acts) else "no_act"


def _answer(name: str, check: Callable[[Conversation], Any], record: Conversation) -> bool | None:
    try:
        answer = check(record)
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"
    if answer is None or isinstance(answer, bool):
        return answer
    raise refusal("own_answer", name=name, answer=str(answer), ticket=record.case_id, trial=record.trial)


def _share(own: pd.DataFrame, column: str, behind: Query | None = None) -> Cell:
    known = own.dropna(subset=[column]).astype({column: float})
    k, n = int(known[column].sum()), len(known)
    return metric_cell(share_of(known, column), SHARE, "mean", f"{k} of {n}", yes=behind, k=n, n=n)


def _cell(own: pd.DataFrame, behind: Query) -> Cell:
    words, n = texts("try.yaml")["wrong"], len(own)
    if not n:
        return Cell(number=DASH, note=words["not_scored"])
    went = ", ".join(words[word] for word in own.loc[own["wrong"] != "", "wrong"].value_counts().index[:2])
    return Cell(number=f"{own['right'].sum()} of {n}", note=went, yes=behind, k=n, n=n)


def table(columns: dict[str, str], rows: list[Row], **about: Any) -> Table:
    """Return a table with the given column titles."""
    return Table(columns=tuple(Heading(key=key, title=title) for key, title in columns.items()), rows=(*rows,), **about)
