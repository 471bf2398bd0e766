"""The commands ``notebook`` and ``demo``: running a notebook strictly, and the main job that ``make run`` does."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from ..errors import BadInput

LOCAL = "local"
LOCAL_MODEL = "smollm2-135m-instruct"
LEADERBOARD, RUN_MODEL = "02_leaderboard", "01_run_model"


def notebook(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench notebook``."""
    parser.add_argument("notebook", metavar="NOTEBOOK", help="its path, or its name in notebooks/")
    parser.add_argument("-p", "--parameter", action="append", default=[], metavar="NAME=VALUE", help="a value for its parameters cell (YAML)")
    parser.add_argument("--out", metavar="NAME", help="name of the executed copy in reports/ (default: the notebook's own)")
    parser.set_defaults(execute=_notebook)


def demo(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench demo``."""
    parser.add_argument("--model", metavar="MODEL", help="also run this model; 'local' is the small real one, which needs no key")
    parser.add_argument("--base-url", metavar="URL", help="its OpenAI-compatible endpoint (default: OpenAI's own)")
    parser.add_argument("--trials", type=int, default=3, help="trials per case (default: 3)")
    parser.add_argument("--cases", default="all", metavar="PATTERN", help="which cases (default: all)")
    parser.set_defaults(execute=_demo)


def notebooks(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``deskbench notebooks``."""
    parser.set_defaults(execute=_notebooks)


def _notebooks(_: argparse.Namespace) -> int:
    """Execute every notebook with its defaults, two at a time, on the runs in data/runs; the scripted agents play first if needed."""
    from concurrent.futures import ThreadPoolExecutor

    from ..cli import main
    from ..project import project_folder, slug
    from .notebooks import link_pages, run_notebook

    code = main(["demo"])
    names = sorted(p.stem for p in (project_folder() / "notebooks").glob("*.ipynb") if p.stem not in (RUN_MODEL, LEADERBOARD))
    few = {"cases": "slice", "trials": 1, "out": str(project_folder() / "data" / "runs" / "old" / "slice.deskbench")}
    pages = [run_notebook(RUN_MODEL, few)]
    with ThreadPoolExecutor(2) as pool:
        for page in pool.map(run_notebook, names):
            pages.append(page)
            print(f"page: {page}", flush=True)
    link_pages(*pages, pages[0].with_name(f"{slug(LEADERBOARD)}.html"))
    return code


def _notebook(options: argparse.Namespace) -> int:
    from .notebooks import run_notebook

    page = run_notebook(options.notebook, dict(_parameter(p) for p in options.parameter), out=options.out)
    print(f"page: {page}")
    return 0


def _parameter(text: str) -> tuple[str, Any]:
    import yaml

    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"-p {text!r} is not of the form NAME=VALUE")
    try:
        read = yaml.safe_load(value)
        json.dumps(read, default=str)  # a list that holds itself cannot be written into a notebook
        return name, read
    except (yaml.YAMLError, TypeError, ValueError, RecursionError) as error:
        why = getattr(error, "problem", None) or type(error).__name__
        raise BadInput(f"-p {name}: its value cannot be read as YAML ({why}): put it in quotes, such as -p '{name}=\"text\"'") from None


def _demo(options: argparse.Namespace) -> int:
    """Play the scripted agents over every case, and a model too if one is named, and end with the leaderboard."""
    from ..cli import main
    from ..conversation import AGENTS
    from ..project import project_folder
    from .notebooks import run_notebook

    common = ["--cases", options.cases, "--trials", str(options.trials)]
    runs = project_folder() / "data" / "runs"
    set_name = _set_name(options.cases)
    _put_aside(runs, set_name)
    if options.model and options.model != LOCAL:
        _check_endpoint(options.model, options.base_url)
    codes = [main(["run", f"scripted:{a}", *common, "--out", str(runs / f"scripted-{a}-{set_name}.deskbench")]) for a in AGENTS]
    if options.model == LOCAL:
        codes.append(_local_slice())
    elif options.model:
        address = ["--base-url", options.base_url] if options.base_url else []
        codes.append(main(["run", options.model, *address, *common]))
    if max(codes):
        return max(codes)
    page = run_notebook(LEADERBOARD)
    print(f"leaderboard: {page.resolve()}")
    return 0


def _put_aside(runs: Path, set_name: str) -> None:
    """Move this command's files of other case sets into ``old/``, so that one board never mixes them."""
    from ..conversation import AGENTS

    for path in runs.glob("scripted-*-*-*.deskbench"):
        if not path.stem.endswith(set_name) and path.stem.split("-")[1] in AGENTS:
            (runs / "old").mkdir(exist_ok=True)
            path.replace(runs / "old" / path.name)
            print(f"the cases have changed since then: {path.name} was moved to {runs / 'old'}")


def _set_name(pattern: str) -> str:
    """A name for the cases that are played; it changes with their content, so that a new version starts new files."""
    from ..cases import load_cases
    from ..records import content_hash
    from ..store import load_store

    store = load_store()
    hashes = "".join([store.hash, *(c.hash for c in load_cases(store, pattern))])
    return f"{store.name}-{store.version}-{content_hash(hashes.encode())[:8]}"


def _check_endpoint(model: str, base_url: str | None) -> None:
    """Refuse a missing key, or an endpoint that cannot be reached, before anything is played."""
    from ..endpoint import Endpoint, EndpointError

    try:
        Endpoint(model, base_url=base_url).reach()
    except EndpointError as error:
        raise BadInput(str(error)) from None


def _local_slice() -> int:
    """Take the small local model through a slice of the cases, over HTTP and the same code path as any model."""
    from ..cli import main
    from ..endpoint import local_model
    from ..project import project_folder

    print("starting the small local model; six cases take one to four minutes on two cores", flush=True)
    out = project_folder() / "data" / "runs" / "local-slice.deskbench"
    with local_model() as base_url:
        return main(["run", LOCAL_MODEL, "--base-url", base_url, "--cases", "slice", "--trials", "1", "--messages", "3", "--out", str(out),
                     "--concurrency", "2", "--timeout", "240"])  # fmt: skip
