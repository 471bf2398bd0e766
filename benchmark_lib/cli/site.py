"""``deskbench site``."""

from __future__ import annotations

import argparse

from .codes import FINISHED


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench site``."""
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="run files, or folders with run files (default: data/runs)"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", default="reports/site", help="folder for the site (default: reports/site)"
    )
    parser.add_argument("--no-published", action="store_true", help="leave out figures published elsewhere")
    parser.add_argument(
        "--labels",
        metavar="FILE",
        help="a file of labels: unsafe acts that it calls debatable are shown with and without",
    )
    parser.add_argument(
        "--stakes",
        metavar="FILE",
        help="a YAML file with what a resolved conversation is worth and what a wrong end, a handover and an approval cost you (US dollars): "
        "the answers and the advice on scope rest on them (default: those of data/stakes.yaml)",
    )


def execute(options: argparse.Namespace) -> int:
    """Build the site and say where it is."""
    from ..analysis.frames import load_results
    from ..analysis.tables.answers import read_stakes
    from ..reports.site.build import build_site

    built = build_site(
        load_results(*options.runs),
        options.out,
        published=not options.no_published,
        labels=options.labels,
        stakes=read_stakes(options.stakes),
    )
    print(
        f"site: {sum(built.pages.values())} files ({built.pages['transcript']} transcripts), {built.bytes / 1e6:.1f} MB"
    )
    print(f"open: {built.index.resolve()}")
    return FINISHED
