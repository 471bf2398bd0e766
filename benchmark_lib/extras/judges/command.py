"""``deskbench judge``."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from ...cli.codes import FINISHED, INTERRUPTED, RESUMABLE, UNSOUND, note
from ...cli.options import STORE_PLAYED, Options
from ...commands import command
from ...errors import BadInput
from ...scoring.written import cost_in_words, usd
from ...textfiles import read_yaml

if TYPE_CHECKING:
    from .judging import Judged

TEXTS = read_yaml(Path(__file__).with_name("texts.yaml"))
ARGUMENTS: Options = TEXTS["arguments"] | STORE_PLAYED


def execute(options: argparse.Namespace) -> int:
    """Judge every run, or test the judges themselves."""
    from ...cli.runs import run_named
    from ...experiment.writer import CannotSave
    from .judging import judge_runs
    from .verdicts import SCORERS

    scorers = [s.strip() for s in options.scorers.split(",")] if options.scorers is not None else list(SCORERS)
    if not options.judge:
        raise BadInput(TEXTS["no judge"])
    if options.probe:
        return _probe(options, scorers)
    if not options.runs:
        raise BadInput(TEXTS["no run"])
    try:
        names = ("settings", "store", "tools", "limit", "apart", "unfinished", "concurrency", "timeout", "budget_usd")
        how = {name: getattr(options, name) for name in names}
        runs = [run_named(name) for name in options.runs]
        judging = judge_runs(*runs, judges=options.judge, base_urls=options.base_url, scorers=scorers, **how)
        done = asyncio.run(judging)
    except CannotSave as error:
        note(TEXTS["full"].format(error=error))
        return RESUMABLE
    except KeyboardInterrupt:
        note(TEXTS["interrupted"])
        return INTERRUPTED
    for one in done:
        _tell(one, options.judge, scorers)
    judged = orjson.dumps([str(one.path) for one in done]).decode()
    print(f"next:\n  tables of judges: {command('notebook', '04_judges', '-p', f'runs={judged}')}")
    return RESUMABLE if any(one.stopped or one.incomplete for one in done) else FINISHED


def _tell(done: Judged, judges: list[str], scorers: list[str]) -> None:
    """Print how a round of judging went, with denominators."""
    from ...analysis.frames import load_results
    from ...reports.terminal import readable
    from ...runfile import RunFile
    from .judging import judging_cost, same_model
    from .loss_table import loss_table
    from .verdicts import CUSTOMER_TURNS, LOSSES

    run = RunFile(done.path)
    asked, lost = done.made * len(scorers), sum(done.unscored.values())
    before = done.conversations - done.made - done.incomplete
    print(f"{done.path}: {done.made} of {done.conversations} judged now, {before} before")
    reasons = "; ".join(f"{n} x {why}" for why, n in done.unscored.most_common(3))
    what = "readings" if {CUSTOMER_TURNS, LOSSES} & {*scorers} else "scores"
    print(f"  {asked - lost} of {asked} new {what} count" + (f"; unscored: {reasons}" if lost else ""))
    for name in judges:
        if same_model(name, run.manifest["model"]):
            print(TEXTS["own run"].format(name=name))
    cost, calls, unpriced = judging_cost(run)
    print(f"  judge calls on file: {calls}, {cost_in_words(cost, calls, unpriced)}", flush=True)
    if LOSSES in scorers:
        table = readable(loss_table(load_results(done.path)), "second readings")
        for _, row in table.iterrows():
            print("\n".join(f"  {heading}: {value}" for heading, value in row.items()))
        if table.empty:
            print(TEXTS["no loss"])
    if done.incomplete and not done.stopped:
        note(TEXTS["failed"].format(incomplete=done.incomplete))
    if done.stopped:
        note(TEXTS["stopped"].format(sentence=done.stopped.sentence))


def _probe(options: argparse.Namespace, scorers: list[str]) -> int:
    from .probe import probe_judges

    if options.runs:
        raise BadInput(TEXTS["probe alone"])
    how = {"store": options.store or "northline", "tools": options.tools, "timeout": options.timeout}
    probed = asyncio.run(probe_judges(options.judge, options.base_url, options.settings, scorers=scorers, **how))
    for judge in probed:
        cost = "price unknown" if judge.cost_usd is None else usd(judge.cost_usd)
        print(f"{judge.model}: {judge.calls} call{'s' * (judge.calls != 1)}, {cost}")
        for finding in judge.findings:
            print(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.name:<40} {finding.meaning}")
    return FINISHED if all(finding.ok for judge in probed for finding in judge.findings) else UNSOUND
