"""``deskbench score``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .codes import FINISHED, RESUMABLE, note
from .options import STORE_PLAYED

if TYPE_CHECKING:
    from ..experiment.scoring import ScoreFault

TRACEBACKS_SHOWN = 3
ARGUMENTS = {
    "FILE+": "run files, or names of runs in data/runs",
    **STORE_PLAYED,
    "--tools MODULE:NAME": "your own tools; name them again for runs that used some",
    "--again": "also rescore conversations that have scores from this version",
}


def execute(options: argparse.Namespace) -> int:
    """Score every file and print a summary of each run."""
    from ..experiment.again import rescore
    from ..experiment.scoring import score_faults
    from ..experiment.summary import summary
    from ..experiment.writer import CannotSave
    from ..runfile import RunFile
    from .runs import run_named

    code = FINISHED
    for file in map(run_named, options.files):
        try:
            scored, recorded = rescore(file, options.store, options.again, options.tools)
        except CannotSave as error:
            note(f"{error}: make room, then rerun the same command")
            return RESUMABLE
        print(f"{file}: scored {scored} of {recorded} conversations")
        print(*(f"  {line}" for line in summary(RunFile(file))), sep="\n")
        if faults := [*score_faults(RunFile(file))]:
            code = RESUMABLE
            _show_faults(file, faults)
    return code


def _show_faults(file: Path, faults: list[ScoreFault]) -> None:
    # one traceback of each kind
    shown = {f.traceback.splitlines()[-1] if f.traceback else "": f for f in reversed(faults)}
    for fault in [*shown.values()][:TRACEBACKS_SHOWN]:
        print(f"case {fault.case_id}, trial {fault.trial}:\n{fault.traceback or fault.reason}", file=sys.stderr)
    mend = "report it with the traceback above, and rerun the same command after an update"
    note(f"{len(faults)} of the conversations in {file} cannot be scored, which is a fault of Deskbench: {mend}")
