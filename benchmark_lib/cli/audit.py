"""``deskbench audit``."""

import argparse
import os

from .codes import FINISHED, UNSOUND
from .options import STORE, TOOLS, add_options


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench audit``."""
    options = {
        **STORE,
        "--cases PATTERN": (
            "which cases (default: all); hard for the hard set, hard:NAME for a part of it; `deskbench cases` lists the names",
            "all",
        ),
        **TOOLS,
        "--show AGENT": "print this scripted agent's conversations instead of the audit",
    }
    add_options(parser, options)


def execute(options: argparse.Namespace) -> int:
    """Print the audit, or the conversations of one scripted agent."""
    from ..audit import audit, report, transcripts
    from ..cases.load import case_set
    from ..sly_audit import audit_with_sly
    from ..store import load_store

    name, pattern = case_set(options.store, options.cases)
    store = load_store(name, options.tools)
    if options.show:
        for text in transcripts(store, pattern, options.show):
            print(text)
        return FINISHED
    if pattern == "all":
        found = audit_with_sly(store, pattern, processes=os.cpu_count() or 1, tools=options.tools)
    else:
        found = audit(store, pattern)
    print(report(found))
    return UNSOUND if found.problems else FINISHED
