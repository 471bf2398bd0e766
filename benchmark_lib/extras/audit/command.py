"""``deskbench audit``."""

import argparse
import gc
import os

from ...cli.codes import FINISHED, UNSOUND
from ...cli.options import STORE, TOOLS
from ...commands import command
from ...errors import BadInput

ARGUMENTS = {
    **STORE,
    "--cases PATTERN": (
        (
            "which cases (default: all); hard for the hard set, hard:NAME for part of it; `deskbench cases` "
            "lists the names"
        ),
        "all",
    ),
    **TOOLS,
    "--sly": ("have every sly agent play every case; otherwise they share about 100 conversations, which change daily"),
    "--show AGENT": "print this scripted agent's conversations instead of the audit",
}


def execute(options: argparse.Namespace) -> int:
    """Print the audit, or the conversations of one scripted agent."""
    from ...cases import load_cases
    from ...cases.load import case_set
    from ...store import foreign_named, load_store
    from .audit import report, transcripts
    from .sly_audit import QUICK, audit_with_sly

    name, pattern = case_set(options.store, options.cases)
    if foreign_named(str(name)):
        raise BadInput(
            f"{name} has cases of another kind, which the audit cannot read: "
            f"play its oracle with {command('run', 'scripted:oracle', '--store', str(name))}"
        )
    gc.disable()
    try:
        store = load_store(name, options.tools)
        load_cases(store, pattern)
    finally:  # what is loaded is kept to the end, so no process needs to search it for garbage
        gc.freeze()
        gc.enable()
    if options.show:
        for text in transcripts(store, pattern, options.show):
            print(text)
        return FINISHED
    most = None if options.sly else QUICK
    audit = audit_with_sly(store, pattern, processes=os.cpu_count() or 1, tools=options.tools, most=most)
    print(report(audit))
    return UNSOUND if audit.problems else FINISHED
