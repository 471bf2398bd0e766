"""What the estimates cost, and how the cost grows: every table of the analysis notebooks for panels of 24 and 240 agents.

``python benchmarks/estimates.py AGENTS`` plays a panel of scripted agents with known rates over all cases, three trials
each. It prints the seconds to load the panel and to make all tables with their intervals, the slowest table, and peak
memory in MB. With ``--executor dask --workers N`` the tables are divided among N workers, each of which loads the runs itself.
"""

import argparse
import resource
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

VERBOSITY, QUALITY = "agent_messages", "resolved"
TABLES = {
    "leaderboard": (),
    "metric_table": (QUALITY,),
    "safety_table": (),
    "trap_table": (),
    "pressure_table": (),
    "kind_table": (),
    "reliability_table": (),
    "trial_table": ("unsafe",),
    "escalation_table": (),
    "intent_table": (),
    "queue_table": (),
    "honesty_table": (),
    "between_models": (VERBOSITY,),
    "within_models": (VERBOSITY,),
    "cost_quality": (QUALITY,),
}
"""Functions of `benchmark_lib.analysis` that notebooks 10 to 14 call, with their arguments other than the results."""


def measure(agents: int) -> tuple[int, float, float, float]:
    """Return conversations, seconds to load them, seconds of all tables, and peak memory in MB, from a fresh process."""
    line = [sys.executable, __file__, str(agents)]
    said = subprocess.run(
        line, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1]
    ).stdout
    conversations, *rest = said.split("\n")[-2].split()[:4]
    return int(conversations), *map(float, rest)


def seconds_of(runs: list[Path], names: list[str]) -> tuple[int, dict[str, float]]:
    """Return the runs' conversations, and the seconds that loading them and each of some tables takes."""
    from benchmark_lib import analysis, tables

    started = time.perf_counter()
    results = analysis.load_results(*runs)
    conversations = len(results.conversations)
    took = {"loaded": time.perf_counter() - started}
    for name in names:
        started = time.perf_counter()
        getattr(tables, name)(results, *TABLES[name])
        took[name] = time.perf_counter() - started
    return conversations, took


def main() -> None:
    """Play, load and estimate; print the measured line last."""
    from benchmark_lib import spread
    from benchmark_lib.cli.options import add_options, executor
    from benchmark_lib.experiment import demo

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agents", type=int)
    add_options(parser, executor("make the tables"))
    options = parser.parse_args()
    where = {name: getattr(options, name) for name in ("executor", "scheduler", "workers")}
    with TemporaryDirectory() as folder:
        runs = [run.path for run in demo.play_panel(demo.known_panel(options.agents), folder)]
        parts = options.workers or 1
        started = time.perf_counter()
        found = list(spread(partial(seconds_of, runs), [list(TABLES)[n::parts] for n in range(parts)], **where))
        whole = time.perf_counter() - started
    took = {name: seconds for _, part in found for name, seconds in part.items() if name != "loaded"}
    for name, seconds in took.items():
        print(f"{name:<20}{seconds:8.2f} s")
    print(f"{'all, as a clock says':<20}{whole:8.2f} s")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(found[0][0], f"{found[0][1]['loaded']:.2f} {sum(took.values()):.2f} {peak:.0f}")


if __name__ == "__main__":
    main()
