"""Experiments of ``make run``: every scripted agent over the cases, and one model."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from ..cases import load_cases
from ..cases.hard import HARD
from ..cases.load import case_set
from ..conversation import AGENTS
from ..extension import offer
from ..project import DATA, project_folder, slug
from ..records import content_hash
from ..runfile import SUFFIX
from ..store import load_store
from .experiment import Experiment
from .plan import prepare

EXAMPLE = DATA / "examples" / f"blind-play{SUFFIX}"
"""Conversations of the last round of blind play on the core set."""
HARD_EXAMPLE = DATA / "examples" / f"blind-play-hard{SUFFIX}"
"""Conversations of a round of blind play on the hard set, sampled at random: hard cases without their twins."""
EXAMPLES = {"all": (EXAMPLE,), HARD: (HARD_EXAMPLE,)}
"""The example runs shown with the scripted agents, by the value of ``--cases``."""
LOCAL = "local"
LOCAL_MODEL = "smollm2-135m-instruct"


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
        for example in EXAMPLES.get(pattern, ()):
            add_example(runs, name, example)
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
