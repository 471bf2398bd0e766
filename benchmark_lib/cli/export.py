"""``deskbench export``."""

from __future__ import annotations

import argparse

from ..exchange.exports import FORMATS, export_frames
from .codes import FINISHED


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench export``."""
    parser.add_argument("runs", nargs="+", metavar="RUN", help="run files, or folders with run files")
    parser.add_argument("--format", required=True, choices=FORMATS, help="what to write")
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder to write to")


def execute(options: argparse.Namespace) -> int:
    """Write the frames and name the files."""
    from ..analysis.frames import load_results

    for path in export_frames(load_results(*options.runs), options.out, format=options.format):
        print(path)
    return FINISHED
