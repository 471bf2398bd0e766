"""The command ``judge``: arguments here, the work in `benchmark_lib.experiment.judging`."""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import Any

from ..scoring.written import usd
from ..errors import BadInput

MARKS = {"ok": "ok  ", "fail": "FAIL"}


def judge(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench judge``."""
    add = parser.add_argument
    add("runs", nargs="*", metavar="RUN", help="finished run files")
    add("--judge", action="append", default=[], metavar="MODEL", help="the endpoint's name of a judging model; give it twice for a second judge")
    add("--base-url", action="append", default=[], metavar="URL", help="the judges' endpoint; once for all, or once each (default: OpenAI's own)")
    add("--settings", action="append", default=[], metavar="FILE", help="model settings, role judge; once for all, or once each")
    add("--scorers", metavar="NAMES", help="scorers parted by commas (default: all six)")
    add("--apart", action="store_true", help="one call a scorer, in place of one call for all")
    add("--limit", type=int, metavar="N", help="judge a fixed sample of N conversations of each run")
    add("--unfinished", action="store_true", help="also judge a run that still lacks conversations")
    add("--store", default="northline", metavar="DIR", help="the store the runs were played on")
    add("--concurrency", type=int, default=8, help="the most conversations judged at once (default: 8)")
    add("--timeout", type=float, metavar="S", help="seconds one attempt of a call may take (default: 120)")
    add("--budget-usd", type=float, metavar="X", help="stop before the judges' calls on a run file have cost more than this")
    add("--probe", action="store_true", help="no run: find out in six calls whether a judge can be trusted, and whether a text can order it about")
    parser.set_defaults(execute=_judge)


def _judge(options: argparse.Namespace) -> int:
    from ..scoring.judges import SCORERS
    from .judging import judge_runs
    from .writer import CannotSave

    scorers = [s.strip() for s in options.scorers.split(",")] if options.scorers is not None else list(SCORERS)
    if not options.judge:
        raise BadInput("no judge is named: write `deskbench judge RUN --judge MODEL`")
    if options.probe:
        return _probe(options, scorers)
    if not options.runs:
        raise BadInput("no run file is named: write `deskbench judge RUN --judge MODEL`, or add --probe to try the judge itself")
    try:
        done = asyncio.run(judge_runs(
            *options.runs, judges=options.judge, base_urls=options.base_url, settings=options.settings, scorers=scorers, store=options.store,
            limit=options.limit, apart=options.apart, unfinished=options.unfinished, concurrency=options.concurrency, timeout=options.timeout,
            budget_usd=options.budget_usd))  # fmt: skip
    except CannotSave as error:
        print(f"deskbench: {error}: make room, then give the same command again to go on", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("deskbench: interrupted; what is finished is saved: give the same command again to go on", file=sys.stderr)
        return 130
    for one in done:
        _tell(one, options.judge, scorers)
    return 3 if any(one.stopped or one.incomplete for one in done) else 0


def _tell(done: Any, judges: list[str], scorers: list[str]) -> None:
    """How a round of judging went, with denominators."""
    from ..runfile import RunFile
    from .judging import same_model

    run = RunFile(done.path)
    asked, lost = done.made * len(scorers), sum(done.unscored.values())
    print(f"{done.path}: {done.made} verdicts made, {done.conversations - done.made - done.incomplete} on file before, of {done.conversations}")
    reasons = "; ".join(f"{n} x {why}" for why, n in done.unscored.most_common(3))
    print(f"  {asked - lost} of {asked} new scores count" + (f"; unscored: {reasons}" if lost else ""))
    for name in judges:
        if same_model(name, run.manifest["model"]):
            print(f"  {name} judges its own run: say so wherever its scores stand")
    cost, calls, unpriced = _judging_cost(run)
    print(f"  {calls} calls of judges on file, {usd(cost)}" + (f" ({unpriced} without a known price)" if unpriced else ""), flush=True)
    if done.incomplete and not done.stopped:
        print(f"deskbench: {done.incomplete} verdicts failed by faults of the endpoint: give the same command again", file=sys.stderr)
    if done.stopped:
        print(f"deskbench: what is finished is saved; {done.stopped.sentence}", file=sys.stderr)


def _judging_cost(run: Any) -> tuple[float, int, int]:
    from .judging import SIDE

    costs = [call["cost_usd"] for call in run.calls() if call["side"] == SIDE]
    return sum(c or 0.0 for c in costs), len(costs), costs.count(None)


def _probe(options: argparse.Namespace, scorers: list[str]) -> int:
    """Probe each judge and print a line for each finding; exit code 2 when one cannot be trusted."""
    from ..endpoint import EndpointError
    from ..scoring.judges import load_rubrics
    from ..store import load_store
    from .judge_probe import probe_judge
    from .judging import judge_models

    if options.runs:
        raise BadInput("--probe tries the judge itself and takes no run: leave the run files out, or leave --probe out")
    store, rubrics = load_store(options.store), load_rubrics(scorers)
    models = judge_models(options.judge, options.base_url, options.settings, timeout=options.timeout, concurrency=1)
    bad = 0
    for model in models:

        async def run(endpoint: Any = model.endpoint) -> Any:
            async with endpoint:
                return await probe_judge(endpoint.complete, store, rubrics)

        try:
            found, used = asyncio.run(run())
        except EndpointError as error:
            raise BadInput(str(error)) from None
        cost = model.price(used)
        print(f"{model.endpoint.model}: {used.calls} calls, " + ("price unknown" if cost is None else usd(cost)))
        for finding in found:
            print(f"{MARKS[finding.status]}  {finding.name:<40} {finding.meaning}")
        bad += any(f.status == "fail" for f in found)
    return 2 if bad else 0
