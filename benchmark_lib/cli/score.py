"""``deskbench score``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .codes import FINISHED, RESUMABLE, note
from .options import STORE_PLAYED, TOOLS_PLAYED, add_options

if TYPE_CHECKING:
    from ..experiment.scoring import ScoreFault

TRACEBACKS_SHOWN = 3


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench score``."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="run files")
    again = {"--again": "also rescore conversations that have scores of this version"}
    add_options(parser, STORE_PLAYED | TOOLS_PLAYED | again)


def execute(options: argparse.Namespace) -> int:
    """Score every file and say how each run did."""
    from ..experiment.rescore import rescore
    from ..experiment.scoring import score_faults
    from ..experiment.summary import summary
    from ..experiment.writer import CannotSave
    from ..runfile import RunFile

    code = FINISHED
    for file in options.files:
        try:
            made, found = rescore(file, options.store, options.again, options.tools)
        except CannotSave as error:
            note(f"{error}: make room, then give the same command again")
            return RESUMABLE
        print(f"{file}: scored {made} of {found} conversations")
        for line in summary(RunFile(file)):
            print(f"  {line}")
        faults = [*score_faults(RunFile(file))]
        if faults:
            code = RESUMABLE
            _tell_faults(file, faults)
    return code


def _tell_faults(file: str, faults: list[ScoreFault]) -> None:
    """Say which conversations could not be scored, and show one traceback of each kind."""
    shown = {f.traceback.splitlines()[-1] if f.traceback else "": f for f in reversed(faults)}
    for fault in [*shown.values()][:TRACEBACKS_SHOWN]:
        print(f"case {fault.case_id}, trial {fault.trial}:\n{fault.traceback or fault.reason}", file=sys.stderr)
    note(
        f"{len(faults)} of the conversations of {file} cannot be scored, which is a fault of Deskbench: report it with the traceback "
        "above, and give the same command again after an update"
    )
