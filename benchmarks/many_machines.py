"""Runs on several worker processes of this machine: the cost of a conversation, and the calls that stay in flight.

``python benchmarks/many_machines.py`` measures everything in one run and prints two tables; ``--quick`` measures a part of it, and
``--in-flight 400 1000`` only these rows of the second table.
CPU time is that of all processes of the run, without the endpoint. Nothing is asserted; the machine's load is printed below.
"""

import argparse
import asyncio
import logging
import os
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import dask
import psutil
from run_engine import LATENCY_S, endpoint, steady

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmark_lib import Experiment  # noqa: E402
from benchmark_lib.extras.machines.cluster import local_cluster  # noqa: E402

WORKERS = (0, 1, 2, 4)
"""0 is the usual run, in one process and without Dask."""
IN_FLIGHT = {50: WORKERS, 400: WORKERS, 1_000: (0, 2, 4)}
ROUNDS = 6
"""Number of conversations played for each one in flight."""


@contextmanager
def machines(workers: int):
    """Yield the options of a run on this many running workers, and their processes."""
    if not workers:
        yield {}, []
        return
    with local_cluster(workers, asynchronous=False) as cluster, dask.config.set(certificates(cluster.security)):
        processes = [psutil.Process(nanny.pid) for nanny in cluster.workers.values()]
        yield {"executor": "dask", "scheduler": cluster.scheduler_address}, processes


def certificates(security) -> dict:
    """Return Dask's configuration for a client that may connect to its own cluster."""
    names = {"ca-file": "tls_ca_file", "client.cert": "tls_client_cert", "client.key": "tls_client_key"}
    return {f"distributed.comm.tls.{key}": getattr(security, name) for key, name in names.items()}


def cpu_s(processes: list[psutil.Process]) -> float:
    """Return the CPU time of these processes so far."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def busy_s() -> float:
    """Return the CPU time that all processes of this machine have taken so far."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - times.iowait


def played(where: dict, model: str, folder: str, **options):
    """Play one run and return its run file."""
    out = Path(folder) / f"{time.monotonic_ns()}.deskbench"
    return asyncio.run(Experiment(model, out=out, progress=False, **where, **options).run())


def pure_cpu(workers: int, trials: int) -> str:
    """Measure scripted conversations, which never wait."""
    me = psutil.Process()
    with tempfile.TemporaryDirectory() as folder, machines(workers) as (where, others):
        played(where, "scripted:oracle", folder, trials=1)  # reads and compiles what is needed once
        mine, theirs, started = cpu_s([me]), cpu_s(others), time.perf_counter()
        run = played(where, "scripted:oracle", folder, trials=trials)
        seconds, mine, theirs = time.perf_counter() - started, cpu_s([me]) - mine, cpu_s(others) - theirs
        ended = run.counts()["finished"]
    ms = 1e3 / ended
    return f"| {name_of(workers)} | {ended} | {ended / seconds:.0f} | {mine * ms:.2f} | {theirs * ms:.2f} | {(mine + theirs) * ms:.2f} |"


def in_flight(concurrency: int, workers: int, conversations: int) -> str:
    """Measure conversations with a model that always answers after the same time."""
    me = psutil.Process()
    trials = max(1, round(conversations / 162))
    with tempfile.TemporaryDirectory() as folder, endpoint() as (url, process), machines(workers) as (where, others):
        played(where, "scripted:oracle", folder, trials=1)
        server = psutil.Process(process.pid)
        mine, theirs, its, busy, started = cpu_s([me]), cpu_s(others), cpu_s([server]), busy_s(), time.perf_counter()
        run = played(where, "some-model", folder, base_url=url, trials=trials, concurrency=concurrency)
        mine, theirs, its, busy = cpu_s([me]) - mine, cpu_s(others) - theirs, cpu_s([server]) - its, busy_s() - busy
        elsewhere = (busy - mine - theirs - its) / (time.perf_counter() - started)
        share, seconds, most = steady(run, process, concurrency)
        calls = run.counts()["calls"]
    ms = 1e3 / calls
    cpu = f"{mine * ms:.2f} | {theirs * ms:.2f} | {its * ms:.2f} | {(mine + theirs + its) * ms:.2f}"
    seen = f"{share:.3f} | {seconds:.0f} | {most}"
    return f"| {concurrency} | {name_of(workers)} | {calls} | {seen} | {cpu} | {elsewhere:.2f} |"


def name_of(workers: int) -> str:
    """Return the name of a number of workers in the tables."""
    return f"{workers} worker{'s' * (workers > 1)}" if workers else "no executor"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer conversations, and no 1,000 in flight")
    parser.add_argument(
        "--in-flight", type=int, nargs="+", choices=IN_FLIGHT, help="only the second table, and of it these"
    )
    parser.add_argument("--workers", type=int, nargs="+", choices=WORKERS, help="only these numbers of workers")
    options = parser.parse_args()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if not options.in_flight:
        print("| pure CPU | conversations | a second | CPU ms each: this process | the workers | all |")
        print("|---|---|---|---|---|---|")
        for workers in WORKERS:
            print(pure_cpu(workers, 6 if options.quick else 30), flush=True)
        print()
    print(
        f"| in flight at {LATENCY_S:g} s | played by | calls | share of the ideal | for seconds | most in flight | "
        "CPU ms a call: this process | the workers | the endpoint | all | cores that others took |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for concurrency in options.in_flight or [n for n in IN_FLIGHT if n < 1_000 or not options.quick]:
        for workers in options.workers or IN_FLIGHT[concurrency]:
            print(in_flight(concurrency, workers, ROUNDS * concurrency), flush=True)
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} when it ended")


if __name__ == "__main__":
    main()
