"""``deskbench score``."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from .codes import FINISHED, RESUMABLE, note
from .options import STORE_PLAYED, TOOLS_PLAYED

if TYPE_CHECKING:
    from ..experiment.scoring import ScoreFault

TRACEBACKS_SHOWN = 3


ARGUMENTS = {
    "FILE+": "run files",
    **STORE_PLAYED,
    **TOOLS_PLAYED,
    "--again": "also rescore conversations that have scores from this version",
    "--costs": "compute unknown costs from the recorded tokens and data/prices.yaml without scoring",
}


def execute(options: argparse.Namespace) -> int:
    """Score every file and print a summary of each run, or compute its costs."""
    from ..experiment.again import rescore
    from ..experiment.scoring import score_faults
    from ..experiment.summary import summary
    from ..experiment.writer import CannotSave
    from ..runfile import RunFile

    code = FINISHED
    for file in options.files:
        try:
            if options.costs:
                _price(file)
                continue
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


def _price(file: str) -> None:
    from ..analysis.estimators.estimate import counted
    from ..endpoint.prices import PRICES, how_to_add
    from ..experiment.again import price_again
    from ..experiment.summary import summary
    from ..runfile import RunFile
    from ..scoring.written import usd

    repriced = price_again(file)
    by = f"{PRICES.name} of {repriced.prices.dated} ({repriced.prices.hash[:8]})"
    total = f": {usd(repriced.after)}, before {usd(repriced.before)}" if repriced.priced else ""
    print(f"{file}: computed the cost of {counted(repriced.priced, 'call')} by {by}{total}")
    if repriced.unreported:
        print(f"  {counted(repriced.unreported, 'call')} reported no tokens, so their cost remains unknown")
    for model in repriced.unpriced:
        print(f"  no price for {model}, or different prices at the endpoints of the run: {how_to_add(model)}")
    print(f"  {summary(RunFile(file))[-1]}")


def _show_faults(file: str, faults: list[ScoreFault]) -> None:
    # one traceback of each kind
    shown = {f.traceback.splitlines()[-1] if f.traceback else "": f for f in reversed(faults)}
    for fault in [*shown.values()][:TRACEBACKS_SHOWN]:
        print(f"case {fault.case_id}, trial {fault.trial}:\n{fault.traceback or fault.reason}", file=sys.stderr)
    mend = "report it with the traceback above, and rerun the same command after an update"
    note(f"{len(faults)} of the conversations in {file} cannot be scored, which is a fault of Deskbench: {mend}")
