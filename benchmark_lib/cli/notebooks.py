"""``deskbench notebooks``."""

import argparse

ARGUMENTS: dict[str, str] = {}


def execute(options: argparse.Namespace) -> int:
    """Play the scripted agents if necessary, and run every notebook over data/runs."""
    from ..reports.notebooks import run_every_notebook
    from .demo import play_demo

    code = play_demo()
    for page in run_every_notebook():
        print(f"page: {page}", flush=True)
    return code
