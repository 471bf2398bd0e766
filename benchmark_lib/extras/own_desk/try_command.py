"""``deskbench desk try``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import orjson

from ...analysis.estimators.estimate import counted
from ...cli.codes import SIGNAL, note
from ...cli.options import ENDPOINT, SETTINGS, TRIALS
from ...cli.play import BEFORE, agreed, play
from ...commands import command
from ...errors import BadInput
from ...project import safe_name, slug
from ...records import content_hash
from ...runfile import SUFFIX
from ...store import load_store
from ...store.tools import import_object
from ...textfiles import read_text
from .tickets import Ticket, read_cells, scrub, tickets_of
from .writer import CASES, hash_of, tickets_on, write_desk

ARGUMENTS: dict[str, Any] = {
    "TICKETS": "a CSV file with a ticket in each row: email, and what should happen (tool and arguments, handover, "
    "refuse, must_say); see docs/desk-try.md",
    "--policy FILE": {"help": "the company's rules, as Markdown or plain text", "required": True},
    "--model NAME": (
        "a model's name at the endpoint (its key in OPENAI_API_KEY), or scripted:NAME; repeat it for several "
        "(default: scripted:oracle, which shows that the tickets can be played)",
        [],
    ),
    **ENDPOINT,
    **TRIALS,
    **SETTINGS,
    "--check MODULE:FUNCTION": ("your own check: a function of the record that returns True, False or None", []),
    "--title NAME": "the company's name (default: the file's name)",
    "--out FOLDER": "the folder of the desk (default: desks/NAME beside the tickets)",
    "--keep WORD": ("a word that is no personal data, such as a product; repeat it for several", []),
    "--keep-personal-data": "replace nothing in the tickets; for tickets that you made up",
    "--concurrency N": ("maximum number of conversations at once (default: 50)", 50),
    **BEFORE,
    "--budget-usd X": ("stop each model's run before it costs more than this", float),
}


def execute(options: argparse.Namespace) -> int:
    """Write the desk, play each model on it, and show the matrix."""
    from ...experiment import Experiment

    checks = {f"check_{spec.rpartition(':')[2]}": import_object(spec, "--check") for spec in options.check or []}
    if wrong := next((name for name, check in checks.items() if not callable(check)), ""):
        raise BadInput(f"{wrong} is not a function: name a function of the record that returns True, False or None")
    path = Path(options.tickets)
    out = (Path(options.out) if options.out else path.resolve().parent / "desks" / slug(path.stem)).resolve()
    tickets, results = _on_desk(path, out, options), out.with_name(f"{out.name}-results")
    version, experiments = hash_of(out)[:6], list[Experiment]()
    for model in dict.fromkeys(options.model or ["scripted:oracle"]):
        given = {name: getattr(options, name) for name in ("trials", "settings", "concurrency", "budget_usd")}
        given["base_url"] = None if model.startswith("scripted:") else options.base_url
        run = results / "runs" / f"{safe_name(model)}-{version}{SUFFIX}"
        experiments.append(Experiment(model, store=out, out=run, **given))
    code = agreed(experiments, options)
    if code is not None:
        return code
    code = play(experiments, board=False)
    runs = [one.out for one in experiments if one.out and Path(one.out).is_file()]
    if runs and code < SIGNAL:
        _show(tickets, runs, checks, out, results / "site")
    return code


def _on_desk(path: Path, out: Path, options: argparse.Namespace) -> list[Ticket]:
    """Write the desk unless it is there; return its tickets, without personal data."""
    rows, unused = read_cells(path)
    tickets, wrong = tickets_of(rows)
    for sentence in wrong:
        note(sentence)
    if wrong:
        raise BadInput(f"{path}: {len(wrong)} of {len(rows)} tickets cannot be used: correct them, nothing was played")
    if unused:
        note(f"columns that are not used: {', '.join(unused)}")
    policy = Path(options.policy)
    title = options.title or out.name.replace("-", " ").replace("_", " ").title()
    inputs = content_hash(orjson.dumps([tickets, read_text(policy), title, options.keep, options.keep_personal_data]))
    there = tickets_on(out, inputs)
    if there is None and not options.keep_personal_data:
        rows, replaced, left = scrub(rows, options.keep or [])
        tickets, wrong = tickets_of(rows)
        print(f"personal data replaced: {replaced} (--keep-personal-data if you made the tickets up)")
        if left:
            note(f"{counted(left, 'place')} may still hold personal data: read {out / CASES}")
    if there is None:
        write_desk(out, inputs, tickets, policy, title)
    print(f"desk: {out}, {counted(len(tickets), 'ticket')}{'' if there is None else ', as it is there'}", flush=True)
    return tickets if there is None else there


def _show(tickets: list[Ticket], runs: list[Any], checks: dict[str, Any], desk: Path, site: Path) -> None:
    from ...analysis import load_results
    from ...reports.site import build_site
    from ...reports.terminal import columns, screen_width
    from .matrix import tables, write_page

    results = load_results(*runs)
    parts = tables(tickets, results, checks)
    for part in parts:
        lines = columns([[c.title for c in part.columns], *part.texts()], width=screen_width(), gives=0)
        print("", *filter(None, [part.caption]), *lines, *(text for _, text in part.notes), sep="\n")
    build_site(results, site, stores=(desk,))
    print(f"\nopen: {write_page(site, load_store(desk).title, parts)}")
    print(f"go on by hand: edit {desk}, then {command('run', 'MODEL', '--store', str(desk))}")
