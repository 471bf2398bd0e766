"""The experiments of the main job: every scripted agent over the cases, and a model beside them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..cases import load_cases
from ..conversation import AGENTS
from ..endpoint import Endpoint, EndpointError, local_model
from ..errors import BadInput
from ..project import DATA, project_folder, slug
from ..records import content_hash
from ..runfile import SUFFIX
from ..store import load_store
from .experiment import Experiment

EXAMPLE = DATA / "examples" / f"blind-play{SUFFIX}"
"""Conversations of the last round of blind play."""
LOCAL = "local"
LOCAL_MODEL = "smollm2-135m-instruct"


def demo(
    cases: str = "all", trials: int = 3, model: str | None = None, base_url: str | None = None
) -> Iterator[Experiment]:
    """Yield the experiments in the order in which they are to be played: every scripted agent, and the model last.

    Parameters
    ----------
    cases, trials : str, int
        As for `Experiment`.
    model : str, optional
        The endpoint's name of a model. ``local`` is the small real one, which plays a slice of the cases once: its
        server runs until the next experiment is asked for.
    base_url : str, optional
        The endpoint of the model.

    Raises
    ------
    BadInput
        For unknown cases, and a model whose key is missing or whose endpoint cannot be reached, before anything is
        played.
    """
    if model and model != LOCAL:
        _check_endpoint(model, base_url)
    runs = project_folder() / "data" / "runs"
    name = _set_name(cases)
    _put_aside(runs, name)
    if cases == "all":
        add_example(runs, name)
    for agent in AGENTS:
        yield Experiment(f"scripted:{agent}", cases=cases, trials=trials, out=runs / f"scripted-{agent}-{name}{SUFFIX}")
    if model == LOCAL:
        print("starting the small local model; six cases take one to four minutes on two cores", flush=True)
        with local_model() as url:
            yield _local_slice(url, runs)
    elif model:
        yield Experiment(model, base_url=base_url, cases=cases, trials=trials)


def every_scripted(experiment: Experiment) -> list[Experiment]:
    """The same experiment with each scripted agent; its `out` is then a folder.

    Raises
    ------
    BadInput
        If `out` is a file.
    """
    if experiment.out is not None and Path(experiment.out).is_file():
        raise BadInput(f"{experiment.out} is a file, and scripted:all makes one file an agent: give --out a folder")
    found = []
    for name in AGENTS:
        model = f"scripted:{name}"
        out = None if experiment.out is None else Path(experiment.out) / f"{slug(model)}{SUFFIX}"
        found.append(replace(experiment, model=model, out=out))
    return found


def add_example(runs: Path, set_name: str) -> Path:
    """Put the example run beside the others, so that the board and the pages show conversations that were really played.

    Its conversations were played blind, by a strong language model in a chair of `deskbench sit`, once each.

    Returns
    -------
    Path
        Where it is.
    """
    path = runs / f"{EXAMPLE.stem}-{set_name}{SUFFIX}"
    if not path.exists():
        runs.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(EXAMPLE, path)
    return path


def _put_aside(runs: Path, set_name: str) -> None:
    """Move the demo's files of other case sets into ``old/``, so that one board never mixes them."""
    old = [p for p in runs.glob(f"scripted-*-*-*{SUFFIX}") if p.stem.split("-")[1] in AGENTS]
    for path in [*old, *runs.glob(f"{EXAMPLE.stem}-*-*-*{SUFFIX}")]:
        if not path.stem.endswith(set_name):
            (runs / "old").mkdir(exist_ok=True)
            path.replace(runs / "old" / path.name)
            print(f"the cases have changed since then: {path.name} was moved to {runs / 'old'}")


def _set_name(pattern: str) -> str:
    """A name for the cases that are played; it changes with their content, so that a new version starts new files."""
    store = load_store()
    hashes = "".join([store.hash, *(c.hash for c in load_cases(store, pattern))])
    return f"{store.name}-{store.version}-{content_hash(hashes.encode())[:8]}"


def _check_endpoint(model: str, base_url: str | None) -> None:
    try:
        Endpoint(model, base_url=base_url).reach()
    except EndpointError as error:
        raise BadInput(str(error)) from None


def _local_slice(base_url: str, runs: Path) -> Experiment:
    """The small local model on a slice of the cases, over HTTP and the same code path as any model."""
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
