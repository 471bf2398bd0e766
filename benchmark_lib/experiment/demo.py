"""Experiments of ``make run``, and scripted agents whose true rates are known."""

from __future__ import annotations

import asyncio
import inspect
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..cases import load_cases
from ..cases.hard import HARD
from ..cases.load import case_set
from ..conversation import AGENTS
from ..conversation.scripted import Tunable, parse_spec
from ..extension import offer
from ..project import DATA, in_project, project_folder, slug
from ..records import LOCAL_MODEL, SCORE_FAULT, content_hash
from ..runfile import SUFFIX, RunFile
from ..store import load_store
from .experiment import Experiment
from .manifest import differences
from .plan import Plan, prepare

EXAMPLE = DATA / "examples" / f"blind-play{SUFFIX}"
"""Conversations of the last round of blind play on the core set."""
HARD_EXAMPLE = DATA / "examples" / f"blind-play-hard{SUFFIX}"
"""Conversations of a round of blind play on the hard set, sampled at random: hard cases without their twins."""
EXAMPLES = {"all": EXAMPLE, HARD: HARD_EXAMPLE}
"""The example runs shown with the scripted agents, by the value of ``--cases``."""
LOCAL = "local"


def demo(cases: str = "all", trials: int = 3, model: Experiment | str | None = None) -> Iterator[Experiment]:
    """Yield the experiments in the order of play: every scripted agent, and the model last.

    Parameters
    ----------
    cases, trials : str, int
        As for `Experiment`; with ``all`` the hard set comes first, and the scripted agents play its cases once.
    model : Experiment or str, optional
        The last experiment. ``local`` is the small real model, which plays a slice of the cases once. Its
        server runs until the next experiment is requested.

    Raises
    ------
    BadInput
        For unknown cases, a wrong number of trials or a local model that cannot start. Raised before any conversation
        is played or any file is moved.
    """
    runs = project_folder() / "data" / "runs"
    if model == LOCAL:  # refuse wrong inputs and missing parts before anything is played
        local_slice("http://127.0.0.1/v1", runs).on_file()
        offer("local", "check_parts")()
    prepare(Experiment("scripted:oracle", cases=cases, trials=trials))
    sets = {pattern: _set_name(pattern) for pattern in ((HARD, cases) if cases == "all" else (cases,))}
    whole = {pattern: _set_name(HARD if pattern.startswith(HARD) else "all") for pattern in sets}
    _put_aside(runs, {*sets.values(), *whole.values()})
    for pattern, name in sets.items():
        if pattern in EXAMPLES:
            add_example(runs, name, EXAMPLES[pattern])
        times = 1 if pattern.startswith(HARD) else trials
        for agent in AGENTS:
            out = runs / f"scripted-{agent}-{name}{SUFFIX}"
            if name != whole[pattern] and (runs / f"scripted-{agent}-{whole[pattern]}{SUFFIX}").exists():
                continue  # this agent has played these cases among all others
            yield Experiment(f"scripted:{agent}", cases=pattern, trials=times, out=out)
    if model == LOCAL:
        print("starting the small local model; six cases take one to four minutes on two cores", flush=True)
        with offer("local", "local_model")() as url:
            yield local_slice(url, runs)
    elif isinstance(model, Experiment):
        yield model


def add_example(runs: Path, set_name: str, example: Path = EXAMPLE) -> Path:
    """Copy an example run into the folder and return the copy, for the board.

    A strong language model played the examples blind, once per case, in a chair of `deskbench sit`.
    """
    path = runs / f"{example.stem}-{set_name}{SUFFIX}"
    if not path.exists():
        runs.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(example, path)
    return path


def _put_aside(runs: Path, set_names: set[str]) -> None:
    # so that no board mixes files with different cases or versions
    for shop in {re.escape(name.rsplit("-", 2)[0]) for name in set_names}:
        ours = re.compile(rf"(?:scripted-(?:{'|'.join(AGENTS)})|blind-play(?:-hard)?)-{shop}-\d[^-]*-[0-9a-f]{{8}}")
        for path in runs.glob(f"*{SUFFIX}"):
            if ours.fullmatch(path.stem) and not path.stem.endswith(tuple(set_names)):
                (runs / "old").mkdir(exist_ok=True)
                path.replace(runs / "old" / path.name)
                print(f"{path.name} has different cases, or another version of them: moved to {runs / 'old'}")


def _set_name(pattern: str) -> str:
    # a name that changes with the content of the cases
    name, within = case_set("northline", pattern)
    store = load_store(name)
    hashes = "".join([store.hash, *(c.hash for c in load_cases(store, within))])
    return f"{slug(store.name)}-{store.version}-{content_hash(hashes.encode())[:8]}"


def local_slice(base_url: str, runs: Path) -> Experiment:
    """Return the experiment of the small local model on a slice of the cases, over HTTP."""
    return Experiment(
        LOCAL_MODEL,
        base_url=base_url,
        cases="slice",
        trials=1,
        messages=3,
        out=runs / f"local-slice{SUFFIX}",
        concurrency=2,
        timeout=240.0,
    )


# --- Known rates

DEFAULT_SEED = 20260629
"""Seed of the panel if no `rng` is given."""

KNOWN_AGENTS = 24
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


def known_panel(agents: int = KNOWN_AGENTS, *, rng: np.random.Generator | None = None) -> pd.DataFrame:
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
    # of two notebooks that need the panel, the second waits and then finds the first one's files
    paths = [folder / f"panel-{number:02d}{SUFFIX}" for number in range(1, len(panel) + 1)]
    with FileLock(folder / LOCK):
        for path, agent in zip(paths, panel.to_dict("records"), strict=True):
            seed = int(agent["seed"])
            wanted = Experiment(agent["model"], cases=cases, trials=trials, seed=seed, out=path, progress=False)
            if not _current(path, wanted.plan()):
                path.unlink(missing_ok=True)
                with ThreadPoolExecutor(1) as other:  # a notebook already runs a loop in this thread
                    other.submit(asyncio.run, wanted.run()).result()
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


def true_correlation(one: str, other: str, *, agents: int = 200_000) -> float:
    """Return the Spearman correlation of two true rates over a large seeded draw of agents."""
    from scipy.stats import spearmanr

    many = _settings(agents, np.random.default_rng(DEFAULT_SEED))
    return float(spearmanr(TRUTHS[one](many), TRUTHS[other](many)).statistic)
