"""``deskbench audit``."""

from __future__ import annotations

import argparse
import os

from .codes import FINISHED, UNSOUND


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench audit``."""
    parser.add_argument(
        "--store", default="northline", metavar="DIR", help="name or folder of a store (default: northline)"
    )
    parser.add_argument(
        "--cases",
        default="all",
        metavar="PATTERN",
        help="which cases (default: all); hard for the hard set, hard:NAME for a part of it; `deskbench cases` lists the names",
    )
    parser.add_argument("--tools", metavar="MODULE:NAME", help="your own tools, in addition to the store's")
    parser.add_argument(
        "--show", metavar="AGENT", help="print this scripted agent's conversations instead of the audit"
    )


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
    whole = pattern == "all"
    if whole:
        found = audit_with_sly(store, pattern, processes=os.cpu_count() or 1, tools=options.tools)
    else:
        found = audit(store, pattern)
    print(report(found))
    return UNSOUND if found.problems else FINISHED
