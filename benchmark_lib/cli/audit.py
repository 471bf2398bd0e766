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
    parser.add_argument("--cases", default="all", metavar="PATTERN", help="which cases (default: all)")
    parser.add_argument(
        "--show", metavar="AGENT", help="print this scripted agent's conversations instead of the audit"
    )


def execute(options: argparse.Namespace) -> int:
    """Print the audit, or the conversations of one scripted agent."""
    from ..audit import report, transcripts
    from ..sly_audit import audit_with_sly
    from ..store import load_store

    store = load_store(options.store)
    if options.show:
        for text in transcripts(store, options.cases, options.show):
            print(text)
        return FINISHED
    found = audit_with_sly(store, options.cases, processes=os.cpu_count() or 1)
    print(report(found))
    return UNSOUND if found.problems else FINISHED
