"""What it costs to show a large leaderboard: the static site and all notebooks for a panel of 24 agents.

``python benchmarks/panel.py [--agents 24]`` plays a panel of scripted agents with known rates over all cases, three
trials each, builds its site with ``deskbench site`` and executes every notebook over it, as ``deskbench notebooks`` does.
It prints elapsed seconds and the CPU seconds of all processes together, because on a shared machine elapsed time mostly
measures what others do.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

EVERY_NOTEBOOK = """
from benchmark_lib.reports.notebooks import LEADERBOARD, run_every_notebook, run_notebook
run_notebook(LEADERBOARD)
list(run_every_notebook())
"""
WORK = {
    "the static site": ["-m", "benchmark_lib", "site", "data/runs"],
    "all notebooks": ["-c", EVERY_NOTEBOOK],
}
"""What is measured, with the arguments that make Python do it in a project's folder."""
GOALS = {"the static site": 60, "all notebooks": 180}
"""Maximum elapsed seconds for a panel of 24 agents on two otherwise idle cores."""


def measure(agents: int) -> dict[str, tuple[float, float]]:
    """Return the elapsed and CPU seconds of everything in `WORK`."""
    from benchmark_lib.experiment import demo

    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "pyproject.toml").touch()
        for run in demo.play_panel(demo.known_panel(agents), place / "data" / "runs" / "panel"):
            os.link(run.path, place / "data" / "runs" / run.path.name)
        return {what: _took(arguments, place) for what, arguments in WORK.items()}


def _took(arguments: list[str], place: Path) -> tuple[float, float]:
    used, started = _used(), time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=place, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started, _used() - used


def _used() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Play, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=24)
    options = parser.parse_args()
    for what, (clock, cpu) in measure(options.agents).items():
        print(f"{what:<16}{clock:8.1f} s, {cpu:.1f} s of CPU")


if __name__ == "__main__":
    main()
