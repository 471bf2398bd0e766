"""``deskbench fork``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import orjson

from ...cli.codes import note
from ...cli.options import Options
from ...cli.play import agreed, played
from ...cli.run import ARGUMENTS as OF_RUNS
from ...commands import command
from ...errors import BadInput
from .tables import TEXTS, WRITTEN

if TYPE_CHECKING:
    from ...runfile import RunFile
    from .fork import Fork

SHOWN = 24
"""Maximum number of points in the terminal's table."""
NOT_OF_THE_FORK = ("command", "execute", "dry_run", "yes", "run", "traps", "stop_at")
ARGUMENTS: Options = {name: told or OF_RUNS[name] for name, told in TEXTS["arguments"].items()}
ARGUMENTS["--what-if CHANGE"] += WRITTEN


def execute(options: argparse.Namespace) -> int:
    """Play the forks and print what they show."""
    from ...cli.runs import run_named
    from .fork import Fork

    given = {k: v for k, v in vars(options).items() if k not in NOT_OF_THE_FORK}
    given["where"] += " bucket=adversarial" * options.traps
    given |= {"at": options.at or "decision", "stop_at_decision": options.stop_at is not None}
    if options.dry_run and options.replay:
        raise BadInput(TEXTS["refused"]["no forecast"])
    parents = {name: run_named(path) for name in ("run", "pivots") if (path := getattr(options, name))}
    fork = Fork(parent=parents["run"], **given | {"pivots": parents.get("pivots")})
    code = None if options.replay else agreed([fork], options)
    if code is None:
        code, run = played(fork)
        if run is not None:
            _say(fork, run)
    return code


def _say(fork: Fork, run: RunFile) -> None:
    from ...analysis import load_results
    from ...reports.terminal import columns, readable, screen_width
    from ...scoring.written import counted
    from .tables import fork_table

    if fork.left_out:
        note(fork.left_out)
    if fork.replay:
        print(f"{fork.replayed} forks replayed, each identical byte for byte")
    table = fork_table(load_results(run)).sort_values("share", ascending=False, kind="stable")
    points, with_value = counted(len(table), "point"), counted(int(table["forks"].sum()), "fork")
    print(f"{fork.kind} of {fork.model}: {points}, {with_value} with a known outcome")
    shown = readable(table.head(SHOWN), "forks").reset_index(drop=True)
    print(*columns([[*shown], *shown.to_numpy().tolist()], width=screen_width()), sep="\n")
    more = [f"... and {counted(len(table) - SHOWN, 'further point')}"] if len(table) > SHOWN else []
    print(*more, f"forks file: {run.path}", sep="\n")
    if fork.stopped:
        note(f"what is finished is saved; {fork.stopped.sentence}")
    else:
        given = orjson.dumps([str(run.path)]).decode()
        print(f"next:\n  tables and figures: {command('notebook', '23_forks', '-p', f'forks={given}')}")
