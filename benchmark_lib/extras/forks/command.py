"""``deskbench fork``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import orjson

from ...cli.codes import note
from ...cli.play import agreed, played
from ...cli.run import ARGUMENTS as OF_RUNS
from ...commands import command
from ...errors import BadInput
from .tables import WRITTEN

if TYPE_CHECKING:
    from ...runfile import RunFile
    from .fork import Fork

SHOWN = 24
"""Maximum number of points in the terminal's table."""
NOT_OF_THE_FORK = ("command", "execute", "dry_run", "yes", "run", "traps", "stop_at")
AS_FOR_RUNS = (
    *("--base-url URL", "--agent MODULE:OBJECT", "--prompt FILE", "--rules RULES", "--tools MODULE:NAME"),
    *("--settings FILE", "--concurrency N", "--timeout S", "--dry-run", "--yes", "--budget-usd X"),
    "--retry-faults",
)
ARGUMENTS = {
    "RUN": "the run to continue: a run file, or the name of a run in data/runs",
    "--times N": ("number of forks at each point (default: 10)", 10),
    "--at POINT": (
        "where to fork: decision (default), the turn of the first write, handover or close; pressure, each pressure "
        "message; trouble, each planted text or tool fault; every, each turn; or CASE:TRIAL:TURN; may be repeated",
        [],
    ),
    "--where QUERY": ("the conversations to which a rule applies, such as 'bucket=adversarial unsafe=yes'", ""),
    "--traps": "short for --where bucket=adversarial",
    "--pivots RUN": "fork where the agents of this other run and of RUN first act differently",
    "--along CASE:TRIAL": "fork every turn of one conversation, to find the turn that decided its outcome",
    "--with-twins": "also fork the same turns of the clean twins",
    "--model MODEL": "let another model continue the same conversations (default: the run's own)",
    "--shared": "let the run's own model continue as other models do, without its own hidden context",
    "--stop-at POINT": {"help": "decision: end each fork after its next deciding act", "choices": ["decision"]},
    "--what-if CHANGE": f"change one thing at the fork: {WRITTEN}",
    "--store DIR": "the store on which the run was played (default: the one it names)",
    **{name: OF_RUNS[name] for name in AS_FOR_RUNS},
    "--out FILE": "the file for the forks (default: in data/forks, named after the options)",
    "--replay": "replay finished forks from their own calls, without an endpoint, and compare every record",
}


def execute(options: argparse.Namespace) -> int:
    """Play the forks and print what they show."""
    from ...experiment.run_list import find_run
    from .fork import Fork

    given = {k: v for k, v in vars(options).items() if k not in NOT_OF_THE_FORK}
    given["where"] += " bucket=adversarial" * options.traps
    given |= {"at": options.at or "decision", "stop_at_decision": options.stop_at is not None}
    if options.dry_run and options.replay:
        raise BadInput("a replay calls nothing, so there is nothing to forecast: omit --dry-run or --replay")
    parents = {name: find_run(path) for name in ("run", "pivots") if (path := getattr(options, name))}
    fork = Fork(parent=parents["run"], **given | {"pivots": parents.get("pivots")})
    code = None if options.replay else agreed([fork], options)
    if code is None:
        code, run = played(fork)
        if run is not None:
            _say(fork, run)
    return code


def _say(fork: Fork, run: RunFile) -> None:
    from ...analysis import load_results
    from ...analysis.estimators.estimate import counted
    from ...reports.terminal import columns, readable, screen_width
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
