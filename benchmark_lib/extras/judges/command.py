"""``deskbench judge``."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from ...cli.codes import FINISHED, INTERRUPTED, REFUSED, RESUMABLE, note
from ...cli.options import STORE_PLAYED, TOOLS_PLAYED
from ...errors import BadInput
from ...scoring.written import cost_in_words, usd

if TYPE_CHECKING:
    from .judging import Judged

ARGUMENTS = {
    "RUN*": "finished run files",
    "--judge MODEL": ("the judge's name at the endpoint; repeat the option for a second judge", []),
    "--base-url URL": ("base URL for the judges; once for all, or once for each (default: OpenAI)", []),
    "--settings FILE": ("YAML file with settings for the judge role; once for all, or once for each", []),
    "--scorers NAMES": (
        "scorers, separated by commas (default: all but red_flag, which reads the model's reasoning, customer_turns, "
        "which reads the customer, and losses, which rereads losses that depend on wording alone)"
    ),
    "--apart": "make one call per scorer instead of one for all",
    "--limit N": ("judge a fixed sample of N conversations per run", int),
    "--unfinished": "also judge unfinished runs",
    **STORE_PLAYED,
    **TOOLS_PLAYED,
    "--concurrency CONCURRENCY": ("maximum number of conversations judged at once (default: 8)", 8),
    "--timeout S": ("time limit for one attempt of a call, in seconds (default: 120)", float),
    "--budget-usd X": ("stop before judging a run costs more than this", float),
    "--probe": (
        "judge no run; find out in six calls (customer_turns: 28, losses: 16) whether the judge is consistent and "
        "resists instructions in what it reads"
    ),
}


def execute(options: argparse.Namespace) -> int:
    """Judge every run, or test the judges themselves."""
    from ...experiment.writer import CannotSave
    from .judging import judge_runs
    from .verdicts import SCORERS

    scorers = [s.strip() for s in options.scorers.split(",")] if options.scorers is not None else list(SCORERS)
    if not options.judge:
        raise BadInput("no judge is named: run `deskbench judge RUN --judge MODEL`")
    if options.probe:
        return _probe(options, scorers)
    if not options.runs:
        raise BadInput(
            "no run file is named: run `deskbench judge RUN --judge MODEL`, or add --probe to test the judge itself"
        )
    try:
        names = ("settings", "store", "tools", "limit", "apart", "unfinished", "concurrency", "timeout", "budget_usd")
        how = {name: getattr(options, name) for name in names}
        judging = judge_runs(*options.runs, judges=options.judge, base_urls=options.base_url, scorers=scorers, **how)
        done = asyncio.run(judging)
    except CannotSave as error:
        note(f"{error}: make room, then rerun the same command to resume")
        return RESUMABLE
    except KeyboardInterrupt:
        note("interrupted; what is finished is saved: rerun the same command to resume")
        return INTERRUPTED
    for one in done:
        _tell(one, options.judge, scorers)
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
    print(f"{done.path}: {before + done.made} of {done.conversations} judged, {done.made} of them now")
    reasons = "; ".join(f"{n} x {why}" for why, n in done.unscored.most_common(3))
    what = "readings" if {CUSTOMER_TURNS, LOSSES} & {*scorers} else "scores"
    print(f"  {asked - lost} of {asked} new {what} count" + (f"; unscored: {reasons}" if lost else ""))
    for name in judges:
        if same_model(name, run.manifest["model"]):
            print(f"  {name} judges its own run: say so wherever you show its scores")
    cost, calls, unpriced = judging_cost(run)
    print(f"  judge calls on file: {calls}, {cost_in_words(cost, calls, unpriced)}", flush=True)
    if LOSSES in scorers:
        table = readable(loss_table(load_results(done.path)), "second readings")
        for _, row in table.iterrows():
            print("\n".join(f"  {heading}: {value}" for heading, value in row.items()))
        if table.empty:
            print("  no conversation was lost through wording alone")
    if done.incomplete and not done.stopped:
        note(f"{done.incomplete} verdicts failed through endpoint faults: rerun the same command")
    if done.stopped:
        note(f"what is finished is saved; {done.stopped.sentence}")


def _probe(options: argparse.Namespace, scorers: list[str]) -> int:
    """Probe each judge and print a line for each finding; fail if one cannot be trusted."""
    from .probe import probe_judges

    if options.runs:
        raise BadInput("--probe tests the judge itself and takes no run: omit the run files or --probe")
    how = {"store": options.store or "northline", "tools": options.tools, "timeout": options.timeout}
    probed = asyncio.run(probe_judges(options.judge, options.base_url, options.settings, scorers=scorers, **how))
    for judge in probed:
        cost = "price unknown" if judge.cost_usd is None else usd(judge.cost_usd)
        print(f"{judge.model}: {judge.calls} call{'s' * (judge.calls != 1)}, {cost}")
        for finding in judge.findings:
            print(f"{'ok  ' if finding.ok else 'FAIL'}  {finding.name:<40} {finding.meaning}")
    return FINISHED if all(finding.ok for judge in probed for finding in judge.findings) else REFUSED
