"""``deskbench demo``, which does the main job of ``make run``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..errors import BadInput
from .codes import FINISHED
from .options import TRIALS
from .play import BEFORE, agreed, play

if TYPE_CHECKING:
    from ..experiment import Experiment

OF_THE_RUN = ("base_url", "cases", "trials", "budget_usd")
ARGUMENTS = {
    "--model MODEL": "also run this model; 'local' is a small real model that needs no key",
    "--base-url URL": "base URL of the model's OpenAI-compatible endpoint (default: OpenAI)",
    **TRIALS,
    "--cases PATTERN": ("cases to play; `deskbench cases` lists the names (default: all)", "all"),
    "--budget-usd X": ("stop before the model's run costs more than this", float),
    **BEFORE,
}


def execute(options: argparse.Namespace) -> int:
    """Play the scripted agents and a model if one is named; end with the leaderboard."""
    from ..experiment import Experiment
    from ..experiment.demo import LOCAL

    model = None
    if options.model and options.model != LOCAL:
        model = Experiment(options.model, **{name: getattr(options, name) for name in OF_THE_RUN})
    elif options.base_url or options.budget_usd is not None:
        raise BadInput("a base URL or a budget needs a model: name it with --model (make run MODEL=name)")
    code = agreed([model] if model else [], options, greet=True)
    return play_demo(options.cases, options.trials, model or options.model or None) if code is None else code


def play_demo(cases: str = "all", trials: int = 3, model: Experiment | str | None = None) -> int:
    """Play the experiments of `benchmark_lib.experiment.demo`; then make the leaderboard."""
    from ..experiment.demo import demo
    from ..reports.notebooks import LEADERBOARD, run_notebook

    code = play(demo(cases, trials, model), brief=True)
    if code == FINISHED:
        print(f"leaderboard: {run_notebook(LEADERBOARD).resolve()}")
    return code
