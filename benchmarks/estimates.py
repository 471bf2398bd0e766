"""What the estimates cost, and how that grows: every table of the analysis notebooks over a panel of 24 and of 240 agents.

``python benchmarks/estimates.py AGENTS`` plays a panel of scripted agents with known rates over all cases, three trials
each, and prints seconds to load it, seconds of all its tables with their intervals, the slowest table, and peak memory
in MB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

VERBOSITY, QUALITY = "agent_messages", "resolved"
TABLES = {
    "leaderboard": (),
    "metric_table": (QUALITY,),
    "rank_table": (QUALITY,),
    "safety_table": (),
    "trap_table": (),
    "pressure_table": (),
    "claim_tone_table": (),
    "kind_table": (),
    "reliability_table": (),
    "flip_table": (),
    "trial_table": ("unsafe",),
    "missing_table": (),
    "escalation_table": (),
    "intent_table": (),
    "queue_table": (),
    "honesty_table": (),
    "between_models": (VERBOSITY,),
    "within_models": (VERBOSITY,),
    "cost_quality": (QUALITY,),
}
"""Functions of `benchmark_lib.analysis` that the notebooks 10 to 14 call, with what they are given beside the results."""


def measure(agents: int) -> tuple[int, float, float, float]:
    """Conversations, seconds to load them, seconds of all tables, and peak memory in MB; in a fresh process."""
    line = [sys.executable, __file__, str(agents)]
    said = subprocess.run(
        line, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[1]
    ).stdout
    conversations, *rest = said.split("\n")[-2].split()[:4]
    return int(conversations), *map(float, rest)


def main() -> None:
    """Play, load, estimate; the measured line comes last."""
    from benchmark_lib import analysis, tables
    from benchmark_lib.experiment import known_panel

    with TemporaryDirectory() as folder:
        runs = known_panel.play_panel(known_panel.known_panel(int(sys.argv[1])), folder)
        started = time.perf_counter()
        results = analysis.load_results(runs)
        conversations = len(results.conversations)
        loaded = time.perf_counter() - started
        took = {}
        for name, given in TABLES.items():
            started = time.perf_counter()
            getattr(tables, name)(results, *given)
            took[name] = time.perf_counter() - started
            print(f"{name:<20}{took[name]:8.2f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(conversations, f"{loaded:.2f} {sum(took.values()):.2f} {peak:.0f}")


if __name__ == "__main__":
    main()
