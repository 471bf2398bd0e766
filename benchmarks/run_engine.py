"""What the run engine itself costs: CPU per scripted conversation, growth up to 10,000 conversations, and throughput.

``python benchmarks/run_engine.py`` prints one table; ``--quick`` plays a tenth of the conversations. Absolute figures
are printed and never asserted, because the machine may be shared.
"""

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LATENCY_S = 0.5


def cpu_of(code: str, *arguments: str) -> list[float]:
    """Run one of this file's measurements in a fresh process and return the numbers it prints."""
    line = [sys.executable, __file__, "--measure", code, *arguments]
    said = subprocess.run(line, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return [float(word) for word in said.split()[-1].split(",")]


def scripted(count: int, agent: str, name: str) -> None:
    """Print CPU ms per conversation, in all and in the engine, peak memory in MB, file size in KB per conversation, load ms."""
    from benchmark_lib import Experiment, load_cases, load_store
    from benchmark_lib.conversation import converse, make_agent, make_customer
    from benchmark_lib.runfile import RunFile
    from benchmark_lib.scoring import score

    store = load_store(name)
    cases = load_cases(store)
    trials = max(1, count // len(cases))
    prompt, schemas = store.prompt()[0], store.schemas()

    async def without_engine(trials: int) -> None:
        for trial in range(1, trials + 1):
            for case in cases:
                sides = make_agent(agent, case=case, store=store), make_customer("scripted", case=case, store=store)
                score(await converse(case, store, *sides, trial=trial, prompt=prompt, schemas=schemas), case, store)

    asyncio.run(without_engine(1))  # reads and compiles what is needed once
    few = min(trials, 10)
    started = time.process_time()
    asyncio.run(without_engine(few))
    bare = (time.process_time() - started) / few / len(cases)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.deskbench"
        started = time.process_time()
        asyncio.run(Experiment(agent, store=name, trials=trials, out=path, progress=False).run())
        whole = (time.process_time() - started) / trials / len(cases)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        size = path.stat().st_size / trials / len(cases) / 1024
        started = time.process_time()
        loaded = sum(len(record.messages) > 0 for record in RunFile(path).records()) + len(RunFile(path).scores())
        load = (time.process_time() - started) / loaded * 2
    print(f"{whole * 1e3},{(whole - bare) * 1e3},{peak},{size},{load * 486e3},{trials * len(cases)}")


def in_flight(concurrency: int, conversations: int, name: str) -> None:
    """Print the share of the ideal throughput and CPU ms per call, with this many conversations in flight."""
    from benchmark_lib import Experiment, load_cases, load_store

    cases = len(load_cases(load_store(name)))
    with endpoint() as (url, server), tempfile.TemporaryDirectory() as folder:
        options = {"trials": max(1, conversations // cases), "out": Path(folder) / "run.deskbench", "progress": False}
        experiment = Experiment("some-model", base_url=url, store=name, concurrency=concurrency, **options)
        started = time.process_time()
        run = asyncio.run(experiment.run())
        spent = time.process_time() - started
        share, *_ = steady(run, server, concurrency)
        calls = run.counts()["calls"]
    print(f"{share},{spent / calls * 1e3},{calls}")


@contextmanager
def endpoint(latency_s: float = LATENCY_S):
    """Start a server process that answers each call after the same time; yield its address and the process."""
    line = [sys.executable, str(ROOT / "benchmarks" / "fixed_latency.py"), str(latency_s)]
    server = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().split()[1], server
    finally:
        server.stdin.close()
        server.wait()


def steady(run, server: subprocess.Popen, concurrency: int) -> tuple[float, float, int]:
    """Return the share of the ideal throughput of a run on `endpoint`, the seconds observed, and the most calls in flight.

    Observation lasts from the end of `concurrency` times two conversations until no new one begins. The share is the mean
    number of calls at the endpoint in their first `LATENCY_S`, by its own clock, divided by `concurrency`. The delay of
    late answers does not count, so the share is at most 1 while no more than `concurrency` calls are in flight.
    """
    import numpy as np

    print(file=server.stdin, flush=True)
    most, arrivals = json.loads(server.stdout.readline())
    ends = sorted(datetime.fromisoformat(at).timestamp() for (at,) in run.rows("conversations", ["finished_at"]))
    first, last = ends[2 * concurrency - 1], ends[-concurrency - 1]
    at = np.array(arrivals)
    waited = np.clip(np.minimum(at + LATENCY_S, last) - np.maximum(at, first), 0.0, None).sum()
    return waited / (last - first) / concurrency, last - first, most


def main() -> None:
    """Measure and print the table, or do one measurement for another process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the scripted conversations")
    parser.add_argument("--store", default="northline", help="the store that is played on")
    parser.add_argument("--measure", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        name, *arguments = options.measure
        if name == "scripted":
            scripted(int(arguments[0]), *arguments[1:])
        else:
            in_flight(int(arguments[0]), int(arguments[1]), arguments[2])
        return
    scale = 10 if options.quick else 1
    print(f"{'measured':<44}{'ours':>10}  goal")
    per_conversation = {}
    for count in (1_000, 10_000):
        whole, engine, peak, size, load, played = cpu_of(
            "scripted", str(count // scale), "scripted:oracle", options.store
        )
        per_conversation[count], label = whole, f"{played:.0f} oracle conversations"
        print(f"{label + ', CPU each':<44}{whole:>7.2f} ms  at most 2 ms")
        print(f"{'  of it the engine and the run file':<44}{engine:>7.2f} ms")
        print(f"{'  peak memory, file a conversation':<44}{peak:>7.0f} MB  {size:.1f} KB")
        print(f"{'  records and scores of 486 read, CPU':<44}{load:>7.0f} ms")
    ratio = per_conversation[10_000] / per_conversation[1_000]
    print(f"{'cost at 10,000 against 1,000':<44}{ratio:>10.3f}  within 10%")
    for concurrency, goal in ((200, 0.97), (400, 0.93)):
        share, each, calls = cpu_of("in_flight", str(concurrency), str(concurrency * 5), options.store)
        print(f"{f'{concurrency} in flight, share of ideal ({calls:.0f} calls)':<44}{share:>10.3f}  at least {goal}")
        print(f"{'  CPU a call, engine and client':<44}{each:>7.2f} ms")


if __name__ == "__main__":
    main()
