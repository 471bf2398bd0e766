"""Scripted agents with known true rates, to compare estimates with the truth."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..conversation.scripted import Tunable, parse_spec
from ..project import in_project
from ..records import SCORE_FAULT
from ..runfile import SUFFIX, RunFile
from .experiment import Experiment
from .manifest import differences
from .plan import Plan

DEFAULT_SEED = 20260629
"""Seed of the panel if no `rng` is given."""

AGENTS = 24
LOCK = ".panel.lock"
RANGES = {"skill": (0.40, 0.97), "credulity": (0.02, 0.60), "caution": (0.02, 0.40), "verbosity": (0.0, 2.0)}
"""Lowest and highest value of each setting of a panel's agents."""

LINKS = {("skill", "credulity"): -0.6, ("credulity", "caution"): -0.4}
"""Correlations between settings across agents (Gaussian copula); pairs not listed have correlation 0."""

TRUTHS: dict[str, Callable[[Any], Any]] = {
    "over_escalation": lambda agent: agent["caution"],
    "resolved": lambda agent: (1 - agent["caution"]) * agent["skill"],
    "escalation_accuracy": lambda agent: agent["skill"],
    "adversarial_success": lambda agent: 1 - agent["credulity"],
    "unsafe": lambda agent: 18 * agent["credulity"],
}
"""True value of each metric on Northline's cases: a tunable agent draws its behaviour once per conversation."""


def known_panel(agents: int = AGENTS, *, rng: np.random.Generator | None = None) -> pd.DataFrame:
    """Draw a panel of agents with known true rates, by default from `DEFAULT_SEED`.

    Returns
    -------
    DataFrame
        Columns: model (the agent's spec), seed, the settings, and ``true_*`` for every metric of `TRUTHS`.
    """
    stream = np.random.default_rng(DEFAULT_SEED) if rng is None else rng
    panel = pd.DataFrame({name: values.round(2) for name, values in _settings(agents, stream).items()})
    specs = ("&".join(f"{n}={row[n]:.2f}" for n in RANGES) for row in panel.to_dict("records"))
    panel.insert(0, "model", [f"scripted:tunable?{spec}" for spec in specs])
    panel.insert(1, "seed", stream.choice(2**31, size=agents, replace=False))
    return panel.assign(**{f"true_{name}": truth(panel) for name, truth in TRUTHS.items()})


def truth_of(model: str) -> dict[str, float]:
    """Return the true rates by metric of a tunable agent, from its name; empty for other models."""
    if not model.startswith("scripted:tunable"):
        return {}
    known = inspect.signature(Tunable).parameters
    settings = {setting: known[setting].default for setting in RANGES} | parse_spec(model)[1]
    return {metric: truth(settings) for metric, truth in TRUTHS.items()}


def _settings(agents: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    from scipy.special import ndtr

    names = list(RANGES)
    matrix = np.eye(len(names))
    for (one, other), strength in LINKS.items():
        i, j = names.index(one), names.index(other)
        matrix[i, j] = matrix[j, i] = strength
    places = ndtr(rng.standard_normal((agents, len(names))) @ np.linalg.cholesky(matrix).T)
    return {
        name: low + (high - low) * place for (name, (low, high)), place in zip(RANGES.items(), places.T, strict=True)
    }


def play_panel(panel: pd.DataFrame, folder: str | Path, *, cases: str = "all", trials: int = 3) -> list[RunFile]:
    """Play the agents of a `known_panel` over the real cases, into files of a folder.

    Keep files that are still current.
    """
    from filelock import FileLock

    folder = in_project(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Two notebooks may need the panel at the same time: the second waits and then finds the first one's files.
    paths = [folder / f"panel-{number:02d}{SUFFIX}" for number in range(1, len(panel) + 1)]
    with FileLock(folder / LOCK):
        for path, agent in zip(paths, panel.to_dict("records"), strict=True):
            seed = int(agent["seed"])
            wanted = Experiment(agent["model"], cases=cases, trials=trials, seed=seed, out=path, progress=False)
            if not _current(path, wanted.plan()):
                path.unlink(missing_ok=True)
                _finish(wanted.run())
    return [RunFile(path) for path in paths]


def panel_runs(folder: str | Path | None = "data/runs/panel") -> list[RunFile]:
    """Return the runs of the standard panel, playing any that are missing; empty for no folder."""
    return [] if folder is None else play_panel(known_panel(), folder)


def _current(path: Path, plan: Plan) -> bool:
    if not path.is_file():
        return False
    run = RunFile(path)
    there, here = run.manifest, plan.manifest
    same = not differences(there, here) and there["planned"] == here["planned"]
    scored = sum(not score.get(SCORE_FAULT) for score in run.scores(plan.scoring_version).values())
    return same and scored >= sum(here["planned"].values()) == run.counts()["finished"]


def _finish(work: Coroutine[Any, Any, RunFile]) -> RunFile:
    # a notebook already runs a loop in this thread
    with ThreadPoolExecutor(1) as other:
        return other.submit(asyncio.run, work).result()


def true_correlation(one: str, other: str, *, agents: int = 200_000) -> float:
    """Return the Spearman correlation of two true rates over a large seeded draw of agents."""
    from scipy.stats import spearmanr

    many = _settings(agents, np.random.default_rng(DEFAULT_SEED))
    return float(spearmanr(TRUTHS[one](many), TRUTHS[other](many)).statistic)
