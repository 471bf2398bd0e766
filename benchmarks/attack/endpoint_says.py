"""Part: what an endpoint may do to memory, budget and run file, and what happens if it cannot be reached."""

import os
import resource
import shlex
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .figure import COMMAND_S, Figure, at_most, count, deskbench, finish, start, yes
from .server import serving

CASES = "address_change_*,wismo_travel_*"
MEMORY_MB, LIMIT_MB = 400, 6000
FILE_MB = 20
TELLS_S, UNREACHABLE_S = 5.0, 30.0
"""Seconds within which an unreachable address must be reported, and after which the measurement stops waiting."""
BUDGET_USD = 0.4
"""Enough for some calls of the small runs below, at the highest listed price."""


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield from _bomb(folder)
        yield from _budget(folder)
        yield from _doubled(folder)
        yield _unreachable(folder)


def _line(base_url: str, out: str, *more: str, model: str = "gpt-5.5") -> list[str]:
    line = f"run {model} --base-url {base_url} --cases '{CASES}' --trials 1 --messages 2 --out {out}"
    return [*shlex.split(line), *more]


def _bomb(folder: Path) -> Iterator[Figure]:
    """Measure a reply of 50 MB in 50 kB."""
    with serving("bomb") as endpoint:
        process = start([*_line(endpoint.base_url, "bomb.deskbench"), "--concurrency", "4"], folder, LIMIT_MB)
        peak, since = 0.0, time.monotonic()
        while process.poll() is None and time.monotonic() - since < COMMAND_S:
            peak = max(peak, _resident_mb(process))
            time.sleep(0.05)
        ended = finish(process, 0.1)
    peak = max(peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024 if ended.code is not None else 0.0)
    size = sum(p.stat().st_size for p in folder.glob("bomb.deskbench*")) / 1e6
    yield at_most("peak memory under replies of 50 MB in 50 kB", peak, MEMORY_MB, "MB", ended.code is None)
    yield at_most("the run file under such replies", size, FILE_MB, "MB")
    yield yes(
        "such a run ends with a sentence and no traceback",
        ended.code is not None and not ended.traceback,
        f"no (exit {ended.code})",
    )


def _resident_mb(process: subprocess.Popen[str]) -> float:
    try:
        return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6
    except (OSError, IndexError):
        return 0.0


def _budget(folder: Path) -> Iterator[Figure]:
    """Measure an endpoint that reports no usage, with a budget, begun and resumed three times."""
    bought, before = [], 0
    with serving("no_usage") as endpoint:
        for _ in range(4):
            deskbench(
                _line(endpoint.base_url, "budget.deskbench", "--budget-usd", str(BUDGET_USD), "--concurrency", "1"),
                folder,
            )
            on_file = _calls(folder / "budget.deskbench")
            bought.append(on_file - before)
            before = on_file
    yield count(
        "calls bought when a spent budget is resumed three times, no usage reported",
        sum(bought[1:]),
        None,
        f"{bought[0]} the first time",
    )
    yield yes("the budget lets some calls through and stops before all", 0 < bought[0] < 24, f"no ({bought[0]})")


def _calls(path: Path) -> int:
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        (found,) = db.execute("SELECT count(*) FROM calls").fetchone()
        db.close()
    except sqlite3.Error:
        return 0
    return found


def _doubled(folder: Path) -> Iterator[Figure]:
    """Run three processes on one file: by its own path, through a link to it, and through a linked folder."""
    (folder / "real").mkdir()
    (folder / "link.deskbench").symlink_to(folder / "real" / "run.deskbench")
    (folder / "linked").symlink_to(folder / "real")
    with serving("plain", 0.3) as endpoint:
        lines = [
            _line(endpoint.base_url, out, "--concurrency", "2")
            for out in ("real/run.deskbench", "link.deskbench", "linked/run.deskbench")
        ]
        first = start(lines[0], folder)
        while not (folder / "real" / "run.deskbench").exists() and first.poll() is None:
            time.sleep(0.05)
        others = [start(line, folder) for line in lines[1:]]
        ends = [finish(p) for p in (*others, first)]
    yield count("calls bought twice by three processes on one file through links", endpoint.twice, endpoint.count)
    yield yes(
        "the second and third are refused",
        [e.code for e in ends] == [2, 2, 0],
        f"no (exits {', '.join(str(e.code) for e in ends)})",
    )


def _unreachable(folder: Path) -> Figure:
    """Measure how long the main job works before it says that the model's address cannot be reached."""
    line = "demo --model x --base-url http://127.0.0.1:9/v1 --cases address_change_1 --trials 1"
    process = start(shlex.split(line), folder)
    ended = finish(process, UNREACHABLE_S)
    told = "127.0.0.1:9" in ended.said and ended.code not in (0, None)
    return at_most("`make run MODEL=x` at an unreachable address says so within", ended.seconds, TELLS_S, "s", not told)
