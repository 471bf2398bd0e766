"""Play experiments one after another, from forecast and confirmation to the final report."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from ..cases.load import store_words
from ..cases.operator_rules import rules_played
from ..commands import command, from_here
from ..errors import BadInput
from ..records import source_of
from ..runfile import SUFFIX, RunFile
from ..scoring.written import counted
from ..textfiles import BROKEN_YAML, load_yaml
from .codes import FINISHED, RESUMABLE, SIGNAL, confirmed, note

if TYPE_CHECKING:
    from ..experiment import Experiment
    from ..experiment.forecast import Forecast

ASK_ABOVE_USD, ASK_ABOVE_CALLS = 5.0, 2_000
"""Ask in a terminal above this likely cost, or above this number of calls if a price is unknown."""
BEFORE = {
    "--dry-run": "print the forecast of calls, tokens, cost and minutes, and exit",
    "--yes": f"do not ask before a run that is likely to cost more than {ASK_ABOVE_USD:g} USD",
}
"""Options for what happens between the forecast and the first call."""
GRACE_S = {"SIGINT": 60.0, "SIGTERM": 8.0}
"""Seconds to wait for calls in flight, which are paid for. SIGKILL often follows SIGTERM after ten seconds."""
AT_ONCE_S = 0.5
"""Seconds that an orderly end may take after the second signal; then the process ends."""
GO_ON = "rerun the same command to resume"


def agreed(experiments: Iterable[Experiment], options: argparse.Namespace, greet: bool = False) -> int | None:
    """Print the forecast of each run that calls models, and ask if it is above a limit.

    Return the exit code, or None if the run may begin. For `greet` see `Experiment.forecast`. Raise `BadInput` if the
    answer is no, or an endpoint is out of reach and nothing is on file.
    """
    from ..endpoint import EndpointError

    for experiment in experiments:
        if not (options.dry_run or experiment.calls_models):
            continue
        try:
            forecast = experiment.forecast(dry=options.dry_run, greet=greet)
        except EndpointError as error:
            if not experiment.on_file():
                raise BadInput(str(error)) from None
            note(f"finished conversations are saved; {error}")
            return RESUMABLE
        print("\n".join(forecast.sentences(experiment.model)), flush=True)
        if not (options.dry_run or options.yes or experiment.budget_usd):
            _ask(forecast)
    if options.dry_run:
        print("dry run: nothing was called")
        return FINISHED
    return None


def _ask(forecast: Forecast) -> None:
    from ..scoring.written import usd

    cost = forecast.cost_usd
    if cost is None:
        above = forecast.calls.likely > ASK_ABOVE_CALLS
        what, way = f"takes {forecast.calls.written()} calls at an unknown price", "a price in data/prices.yaml"
    else:
        above = cost.likely > ASK_ABOVE_USD
        what, way = f"is likely to cost {usd(cost.likely, 2)}", "a limit with --budget-usd"
    if above and sys.stdin.isatty() and sys.stderr.isatty() and not confirmed(f"the run {what}. Begin?"):
        raise BadInput(f"nothing was started: choose fewer --cases or --trials, or {way}")


def play(experiments: Iterable[Experiment], *, brief: bool = False, board: bool = True) -> int:
    """Play experiments until a signal ends one; return the highest exit code.

    A `brief` report has one line per scripted agent and counts earlier finished runs in one line. The caller then adds
    the leaderboard's page. Without `board`, the caller shows the results.
    """
    code, done, before, made = FINISHED, None, 0, False
    for experiment in experiments:
        short = brief and not experiment.calls_models
        experiment.progress = experiment.progress and not short
        code_of_this, run = played(experiment)
        if short and experiment.nothing_to_play and run is not None:
            before += 1
        elif run is not None:
            _report(experiment, run, short and code_of_this == FINISHED)
        code, done = max(code, code_of_this), None if experiment.replay else run
        made = not (short or experiment.nothing_to_play)
        if code >= SIGNAL:
            break
    if before:
        print(f"finished before: {before} run{'s' * (before > 1)} of scripted agents (`deskbench runs` lists them)")
    if board and code == FINISHED and done is not None:
        say_what_next(done, made=made, store=experiment.store)
    return code


def played(experiment: Experiment) -> tuple[int, RunFile | None]:
    """Play an experiment to its end or a signal; return the exit code, and the run file if any."""
    runs: list[RunFile] = []

    async def work(seen: list[int]) -> int:
        with stopped_by_signals(experiment, seen, GRACE_S):
            runs.append(await experiment.run())
        seen[:] = seen if experiment.stopped is not None else []
        return FINISHED if experiment.stopped is None else RESUMABLE

    return run_to_signal(work), runs[0] if runs else None


def _report(experiment: Experiment, run: RunFile, short: bool) -> None:
    from ..experiment.summary import summary

    if short:
        finished, _, *wrong, _ = summary(run)
        print("; ".join([finished, *wrong]), flush=True)
        return
    if experiment.replay:
        print(f"{counted(experiment.replayed, 'conversation')} replayed, each identical byte for byte")
    print(*summary(run), f"run file: {run.path}", sep="\n", flush=True)
    if experiment.stopped:
        note(f"finished conversations are saved; {experiment.stopped.sentence}")


def run_to_signal(work: Callable[[list[int]], Coroutine[Any, Any, int]]) -> int:
    """Run ``work(seen)`` and return its exit code, or the signal's; `seen` receives the signals."""
    from ..experiment.writer import CannotSave

    seen: list[int] = []
    try:
        code = asyncio.run(work(seen))
    except CannotSave as error:
        note(f"{error}: make room, then {GO_ON}")
        return RESUMABLE
    except asyncio.CancelledError:
        if not seen:
            raise
        code = 0
    return SIGNAL + seen[0] if seen else code


@contextlib.contextmanager
def stopped_by_signals(experiment: Experiment, seen: list[int], grace_s: Mapping[str, float]) -> Iterator[None]:
    """End an experiment in good order on Ctrl-C or SIGTERM; on a second one, within `AT_ONCE_S`.

    Calls in flight get `grace_s` seconds, by signal. Python's own handlers run even if an agent blocks the event loop.
    Acknowledged rows are on disk, so ending the process costs at most the calls in flight.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def on_signal(number: int, _: Any) -> None:
        seen.append(number)
        name = signal.Signals(number).name
        if len(seen) == 2:
            timer = threading.Timer(AT_ONCE_S, _end, (SIGNAL + number,))
            timer.daemon = True
            timer.start()
        if not experiment.running:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            return
        wait_s = grace_s.get(name, 0.0) if len(seen) == 1 else 0.0
        if wait_s:
            waits = f"waiting up to {wait_s:g} s for calls in flight"
            print(f"stopping: {waits}; once more to stop at once", file=sys.stderr)
        loop.call_soon_threadsafe(experiment.stop, f"interrupted by {name}: {GO_ON}", wait_s)

    for number in before:
        # only wakes the loop: another thread may receive the signal
        loop.add_signal_handler(number, lambda: None)
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _end(code: int) -> None:
    note(f"stopped at once; finished conversations are saved: {GO_ON}")
    os._exit(code)


# --- After a run

MOST_ROWS = 16
"""Maximum rows of the board in the terminal: the run that ended, models and people, then scripted agents."""


def say_what_next(run: RunFile, made: bool = True, store: str | Path = "") -> None:
    """Print the board of the runs on the same store, and the next steps; see `next_steps`.

    The board marks the run if it was `made` now. If another file cannot be read, it shows the run alone.
    """
    try:
        lines = _what_next(run, [*run.path.parent.glob(f"*{SUFFIX}")], made, store)
    except (BadInput, OSError):
        lines = _what_next(run, [], made, store)
    print(*lines, sep="\n")


def _what_next(run: RunFile, others: Sequence[Path], made: bool, store: str | Path) -> list[str]:
    from ..analysis.entries import without_copies
    from ..analysis.frames import is_hard
    from ..reports.terminal import terminal_board

    newest = sorted((path for path in others if path.is_file()), key=lambda path: -path.stat().st_mtime)
    runs = without_copies(_readable([run.path, *newest]), keep=run.run_id)
    words = store_words(one.manifest for one in runs)
    stores = {run_id: re.sub(r" [^,]*", "", store, count=1) for run_id, store in words.items()}
    alike = [one for one in runs if stores[one.run_id] == stores[run.run_id]]
    alike.sort(key=lambda one: (one.run_id != run.run_id, source_of(one.manifest) == "scripted"))
    lines = [terminal_board(alike[:MOST_ROWS], this_run=run.run_id if made else None, near=[Path(store)])]
    if elsewhere := sum(is_hard(one.manifest) == is_hard(run.manifest) for one in runs) - len(alike):
        lines.append(f"{counted(elsewhere, 'run')} on other stores not shown: a board covers one store")
    if len(alike) > MOST_ROWS:
        folder = [] if _in_data_runs(run) else [_runs([run.path.parent])]
        lines.append(f"{len(alike) - MOST_ROWS} more runs are not shown here: {_notebook('02_leaderboard', folder)}")
    return [*lines, *next_steps(run, store)]


def next_steps(run: RunFile, store: str | Path = "") -> Sequence[str]:
    """Return two commands to continue with after a run; each names its file.

    The first makes a report (on the operator's rules if the prompt had any) or, after a scripted agent, runs a model;
    the second shows every conversation. If the `store` is a folder, the commands name it.
    """
    from ..analysis.frames import is_hard

    runs = [] if _in_data_runs(run) and not is_hard(run.manifest) else [_runs([run.path])]
    on = ["--store", store] if (Path(store) / "store.yaml").is_file() else []
    if rules_played(run.manifest):
        first = f"  how well it keeps its rules: {_notebook('22_operator_rules', runs)}"
    elif source_of(run.manifest) == "scripted":
        first = f"  what a run of a model would take: {command('run', 'gpt-5.5', '--dry-run', *on)}"
    else:  # a panel excludes runs of the hard set
        given = [f"entry={_as_yaml(run.path.stem)}", *runs, *["panel=null"] * is_hard(run.manifest)]
        first = f"  a report on this run: {_notebook('20_model_report', given)}"
    page = f"  every conversation and comparison of data/runs as pages to share: {command('site', *on)}"
    if not _in_data_runs(run):
        page = f"  its conversations: {command('watch', from_here(run.path), '--page')}"
    return "next:", first, page


def _notebook(name: str, given: Sequence[str]) -> str:
    return command("notebook", name, *(word for one in given for word in ("-p", one)))


def _runs(paths: Sequence[Path]) -> str:
    return f"runs={orjson.dumps([from_here(path) for path in paths]).decode()}"


def _in_data_runs(run: RunFile) -> bool:
    return run.path.parts[-3:-1] == ("data", "runs")


def _as_yaml(text: str) -> str:
    # in quotes if YAML would not read it as text
    with contextlib.suppress(*BROKEN_YAML):
        if load_yaml(text) == text:
            return text
    return orjson.dumps(text).decode()


def _readable(paths: Sequence[Path]) -> list[RunFile]:
    runs: dict[str, RunFile] = {}
    for path in paths:
        with contextlib.suppress(BadInput):  # commands that name an unreadable file say what is wrong with it
            run = RunFile(path)
            runs.setdefault(run.run_id, run)
    return list(runs.values())
