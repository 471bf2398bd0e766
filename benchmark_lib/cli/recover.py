"""``deskbench recover``."""

import argparse

from .codes import FINISHED


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench recover``."""
    parser.add_argument("file", metavar="FILE", help="the damaged run file; it is not changed")
    parser.add_argument("--out", required=True, metavar="NEW", help="the file to write")


def execute(options: argparse.Namespace) -> int:
    """Copy what is intact and say how much that is."""
    from ..analysis.estimators.estimate import counted
    from ..runfile.salvage import recover

    copied = recover(options.file, options.out)
    talks, scores, calls = (copied.rows[name] for name in ("conversations", "scores", "calls"))
    intact = f"{options.out} holds what is intact of {options.file}: {counted(talks, 'conversation')}"
    print(f"{intact}, with {counted(scores, 'score')} and {counted(calls, 'model call')}")
    if copied.lost:
        again = "`deskbench score` makes scores again, the same `deskbench run` plays what is missing"
        print(f"left out: at least {counted(copied.lost, 'damaged row')}; {again}")
    return FINISHED
