"""Part: invalid command lines; each must be refused in one sentence, with exit code 2."""

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from . import arguments
from .figure import Figure, count

MANIFESTS, FAMILY = 60, 600


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    os.environ.pop("OPENAI_API_KEY", None)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments.lay_out(folder)
        os.chdir(folder)
        try:
            yield from _figures(folder, seed, time.monotonic() + 0.9 * seconds)
        finally:
            os.chdir("/")


def _figures(folder: Path, seed: int, until: float) -> Iterator[Figure]:
    lines = arguments.table()
    wrong = list(arguments.faults(iter(lines), folder))
    yield count(
        "listed wrong command lines that are not refused in one sentence with exit 2",
        len(wrong),
        len(lines),
        _most(wrong),
    )
    wrong, tried, rng = [], 0, random.Random(seed)
    while tried < MANIFESTS and time.monotonic() < until:
        tried += 1
        for line in arguments.with_manifest():
            part = arguments.odd_manifest(folder, rng)
            fault = arguments.fault_of(line, folder, must_refuse=False)
            wrong += [(line, f"{fault}: {part}")] if fault else []
    each = len(arguments.with_manifest())
    yield count(
        "commands on a manifest with a missing or mistyped part that end otherwise than in one sentence",
        len(wrong),
        tried * each,
        _most(wrong),
    )
    wrong, tried = [], 0
    while tried < FAMILY and time.monotonic() < until:
        tried += 1
        wrong += arguments.faults(iter([arguments.family(rng)]), folder, must_refuse=False)
    yield count(
        "made command lines of every command that end otherwise than in one sentence", len(wrong), tried, _most(wrong)
    )


def _most(wrong: list[tuple[arguments.Line, str]]) -> str:
    kinds = Counter(fault.partition(":")[0][:60] for _, fault in wrong)
    return "; ".join(f"{n} {kind}" for kind, n in kinds.most_common(4))
