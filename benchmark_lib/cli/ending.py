"""The end of a run: the board in the terminal, and what to do next."""

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

import orjson

from ..analysis.entries import without_copies
from ..analysis.estimators.estimate import counted
from ..analysis.frames import is_hard
from ..cases.operator_rules import rules_played
from ..cases.played import store_words
from ..commands import command
from ..errors import BadInput
from ..records import source_of
from ..reports.notebooks import LEADERBOARD
from ..reports.terminal import terminal_board
from ..runfile import SUFFIX, RunFile
from ..textfiles import BROKEN_YAML, load_yaml

MOST_ROWS = 16
"""Maximum rows of the board in the terminal: first the run that ended, then models and people, then scripted agents."""


def say_what_next(run: RunFile, made: bool = True, store: str | Path = "") -> None:
    """Print the board of the runs on the same store, and the next steps; see `next_steps`.

    The board marks the run if it was `made` now. If another file cannot be read, it shows the run alone.
    """
    others = [*run.path.parent.glob(f"*{SUFFIX}")]
    try:
        lines = _what_next(run, others, made, store)
    except (BadInput, OSError):
        lines = _what_next(run, [], made, store)
    print(*lines, sep="\n")


def _what_next(run: RunFile, others: Sequence[Path], made: bool, store: str | Path) -> list[str]:
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
        lines.append(f"{len(alike) - MOST_ROWS} more runs are not shown here: {_notebook(LEADERBOARD, folder)}")
    return [*lines, *next_steps(run, store)]


def next_steps(run: RunFile, store: str | Path = "") -> Sequence[str]:
    """Return two commands to continue with after a run; each names its file.

    The first makes a report (on the operator's rules if the prompt had any) or, after a scripted agent, runs a model;
    the second shows every conversation. If the `store` is a folder, the commands name it.
    """
    default = _in_data_runs(run) and not is_hard(run.manifest)  # what notebooks load
    runs = [] if default else [_runs([run.path])]
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
        page = f"  its conversations: {command('watch', _short(run.path), '--page')}"
    return "next:", first, page


def _notebook(name: str, given: Sequence[str]) -> str:
    return command("notebook", name, *(word for one in given for word in ("-p", one)))


def _runs(paths: Sequence[Path]) -> str:
    return f"runs={orjson.dumps([_short(path) for path in paths]).decode()}"


def _in_data_runs(run: RunFile) -> bool:
    return run.path.parts[-3:-1] == ("data", "runs")


def _as_yaml(text: str) -> str:
    # in quotes if YAML would not read it as text
    with contextlib.suppress(*BROKEN_YAML):
        if load_yaml(text) == text:
            return text
    return orjson.dumps(text).decode()


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _readable(paths: Sequence[Path]) -> list[RunFile]:
    runs: dict[str, RunFile] = {}
    for path in paths:
        with contextlib.suppress(BadInput):  # commands that name an unreadable file say what is wrong with it
            run = RunFile(path)
            runs.setdefault(run.run_id, run)
    return list(runs.values())
