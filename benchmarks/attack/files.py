"""Part: damaged run files, loaded."""

import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .damage import Original, make_files
from .figure import Figure, count
from .server import serving

FULL = 1000
MEMORY = Path("/dev/shm")
"""If this folder exists, files are damaged in memory, because time spent waiting for a disk finds nothing."""
WRONG = {
    "damaged files on which loading ends in a traceback": "raises",
    "damaged files that load with something else than was written": "loads altered",
}
"""The figures, and the words by which `Original.attack` names what they count."""


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    until, played, found = time.monotonic() + 0.9 * seconds, 0, []
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        folder = Path(name)
        with serving("plain") as endpoint:
            original = Original(*make_files(folder, endpoint.base_url))
        while played < FULL and time.monotonic() < until:
            found.append([*original.attack(folder, random.Random(f"{seed} {played}"))])
            played += 1
    for what, word in WRONG.items():
        hits = [next(w for w in one if word in w) for one in found if any(word in w for w in one)]
        yield count(
            what,
            len(hits),
            played,
            ", ".join(f"{n} {w}" for w, n in Counter(hits).most_common(3)) if word == "raises" else "",
        )
