"""Part: importing more and more trials of one case; twice as many may take twice as long."""

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import orjson

from .figure import Figure, at_most, deskbench

TRIALS = (1_000, 2_000, 4_000)
PER_DOUBLING = 2.5
LONGEST_S = 100.0


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    took = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for trials in TRIALS:
            write(folder / "records.jsonl", trials)
            before = _cpu_s()
            ended = deskbench(
                ["import", "records.jsonl", "--format", "jsonl", "--out", f"{trials}.deskbench"],
                folder,
                min(LONGEST_S, 0.8 * seconds),
            )
            took.append((_cpu_s() - before, ended.code != 0))
    seconds_taken = ", ".join(f"{'over ' if cut else ''}{t:.1f} s" for t, cut in took)
    ratio = max(b / a for (a, _), (b, _) in zip(took, took[1:]))
    yield at_most(
        f"CPU time of importing twice as many trials ({', '.join(f'{n:,}' for n in TRIALS)}: {seconds_taken})",
        ratio,
        PER_DOUBLING,
        "times",
        any(cut for _, cut in took),
    )


def _cpu_s() -> float:
    """Return the CPU seconds of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def write(path: Path, trials: int) -> None:
    """Write records of one case, with every other one a success."""
    said = [{"side": "customer", "text": "Where is my order?"}, {"side": "agent", "text": "On its way."}]
    rows = (
        {
            "case_id": "one",
            "trial": n,
            "model": "some-model",
            "messages": said,
            "ended_by": "turn_limit",
            "success": n % 2 == 0,
            "bucket": "resolvable",
        }
        for n in range(1, trials + 1)
    )
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
