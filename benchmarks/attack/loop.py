"""Part: one conversation with long hostile replies among many that have calls in flight."""

import asyncio
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .figure import Figure, at_most, count, finish, start
from .server import Served, serving

CONVERSATIONS = 37
LATENCY_S = 0.5
TIMEOUT_S = 2.0
SLACK_S = 0.03
"""Seconds allowed for other work on a shared machine, in addition to the 20 ms for which scoring may hold the loop."""
HELD_S = 0.02
HEARD_S = 1.0
SAMPLES_S = 0.002


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving("long", LATENCY_S) as endpoint:
            stall, ended = asyncio.run(_stall(endpoint, folder / "run.deskbench", 0.4 * seconds))
        yield at_most(
            f"longest stall of the loop, a hostile conversation among {CONVERSATIONS}",
            stall,
            HELD_S + SLACK_S,
            "s",
            not ended,
        )
        twice = "calls bought twice meanwhile"
        yield (
            count(twice, endpoint.twice, endpoint.count)
            if ended
            else Figure(twice, f"{endpoint.twice}, but the run did not end", "0", False)
        )
        with serving("long", LATENCY_S) as endpoint:
            yield _signal(endpoint, folder, 0.3 * seconds)


def _cases() -> str:
    from benchmark_lib import load_cases, load_store

    ids = [c.id for c in load_cases(load_store())]
    return ",".join(ids[i * len(ids) // CONVERSATIONS] for i in range(CONVERSATIONS))


async def _stall(endpoint: Served, out: Path, seconds: float) -> tuple[float, bool]:
    """Return the longest time that hostile replies blocked the loop, and whether the run ended."""
    from benchmark_lib import Experiment

    experiment = Experiment(
        "some-model", base_url=endpoint.base_url, cases=_cases(), trials=1, timeout=TIMEOUT_S, out=out, progress=False
    )
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        await asyncio.get_running_loop().run_in_executor(None, endpoint.wait_for_hostile_answer, seconds)
        while True:
            before = time.monotonic()
            try:
                await asyncio.sleep(SAMPLES_S)
            finally:
                longest = max(longest, time.monotonic() - before - SAMPLES_S)

    watcher = asyncio.ensure_future(watch())
    try:
        await asyncio.wait_for(experiment.run(), seconds)
    except TimeoutError:
        return longest, False
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
    return longest, True


def _signal(endpoint: Served, folder: Path, seconds: float) -> Figure:
    """Measure how long a SIGTERM waits if it is sent just after the first hostile reply arrived."""
    line = f"run some-model --base-url {endpoint.base_url} --cases {_cases()} --trials 1 --out signal.deskbench"
    process = start(shlex.split(line), folder)
    endpoint.wait_for_hostile_answer(30)
    time.sleep(2 * LATENCY_S)
    since = time.monotonic()
    process.send_signal(signal.SIGTERM)
    heard = _first_words(process, "stopping", seconds)
    finish(process, 1.0)
    return at_most("SIGTERM is heard after", heard - since, HEARD_S, "s", heard - since >= seconds)


def _first_words(process: subprocess.Popen[str], word: str, seconds: float) -> float:
    """Return when a process first prints a word, ends, or runs out of time."""
    said, until = b"", time.monotonic() + seconds
    while time.monotonic() < until and word.encode() not in said:
        if select.select([process.stdout], [], [], 0.05)[0]:
            more = os.read(process.stdout.fileno(), 4096)
            said += more
            if not more:
                break
    return time.monotonic()
