"""``deskbench recover``."""

import argparse

from .codes import FINISHED


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench recover``."""
    parser.add_argument("file", metavar="FILE", help="the damaged run file; it is not changed")
    parser.add_argument("--out", required=True, metavar="NEW", help="the file to write")


def execute(options: argparse.Namespace) -> int:
    """Copy what is intact and say how much that is."""
    from ..runfile.salvage import recover

    copied = recover(options.file, options.out)
    talks, scores, calls = (copied.rows[name] for name in ("conversations", "scores", "calls"))
    intact = f"{options.out} holds the {talks} conversations of {options.file} that are intact"
    print(f"{intact}, with {scores} scores and {calls} model calls")
    if copied.lost:
        again = "`deskbench score` makes scores again, the same `deskbench run` plays what is missing"
        print(f"at least {copied.lost} damaged rows were left out: {again}")
    return FINISHED
