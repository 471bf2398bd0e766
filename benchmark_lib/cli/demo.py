"""``deskbench demo``, the main job that ``make run`` does."""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench demo``."""
    parser.add_argument(
        "--model", metavar="MODEL", help="also run this model; 'local' is a small real model that needs no key"
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="base URL of the model's OpenAI-compatible endpoint (default: OpenAI)"
    )
    parser.add_argument("--trials", type=int, default=3, help="trials per case (default: 3)")
    parser.add_argument("--cases", default="all", metavar="PATTERN", help="which cases (default: all)")


def execute(options: argparse.Namespace) -> int:
    """Play the scripted agents, a model beside them if one is named, and end with the leaderboard."""
    return play_demo(options.cases, options.trials, options.model, options.base_url)


def play_demo(cases: str = "all", trials: int = 3, model: str | None = None, base_url: str | None = None) -> int:
    """Play what `benchmark_lib.experiment.demo` puts together.

    The leaderboard is made where all of it was played to its end.
    """
    from ..experiment.demo import demo
    from ..reports.notebooks import LEADERBOARD, run_notebook
    from .play import play

    code = play(demo(cases, trials, model, base_url))
    if code:
        return code
    page = run_notebook(LEADERBOARD)
    print(f"leaderboard: {page.resolve()}")
    return code
