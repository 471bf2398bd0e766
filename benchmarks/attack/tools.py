"""Part: a user's own tools that raise, sleep, leave or return what cannot be written."""

import shlex
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .figure import Ended, Figure, at_most, count, deskbench, finish, start
from .server import serving

CASES = "address_change_1,wismo_travel_1"
SLEEPS = "sleeps"
STOPS_S = 15.0
"""Seconds in which a run ends after a second SIGTERM while a tool sleeps."""


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part."""
    from .own import TOOLS

    names = [t.name for t in TOOLS if t.name != SLEEPS]
    raw, unclear = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            ends = _run(Path(folder), name)
            if any(e.traceback for e in ends):
                raw.append(name)
            if any(
                e.code not in (0, 2, 3) or (e.code and name not in e.said) or (not e.code and "2 of 2" not in e.said)
                for e in ends
            ):
                unclear.append(name)
        yield count("tools of one's own that end a run in a raw traceback", len(raw), len(names), ", ".join(raw))
        yield count(
            "tools whose run, begun and begun again, neither finishes nor names the tool",
            len(unclear),
            len(names),
            ", ".join(unclear),
        )
        yield _asleep(Path(folder))


def _run(folder: Path, name: str) -> list[Ended]:
    """Play a run in which the model calls the tool, and the same command once more."""
    with serving(f"call:{name}") as endpoint:
        return [deskbench(_line(endpoint.base_url, name), folder) for _ in range(2)]


def _line(base_url: str, name: str) -> list[str]:
    return shlex.split(
        f"run some-model --base-url {base_url} --tools benchmarks.attack.own:TOOLS --cases {CASES} --trials 1 --messages 2 "
        f"--out {name}.deskbench"
    )


def _asleep(folder: Path) -> Figure:
    """Measure how long a run goes on after two SIGTERMs while a tool sleeps."""
    with serving(f"call:{SLEEPS}") as endpoint:
        process = start(_line(endpoint.base_url, SLEEPS), folder)
        while "ASLEEP" not in (said := process.stdout.readline()) and said:
            continue
        since = time.monotonic()
        for _ in range(2):
            process.send_signal(signal.SIGTERM)
            time.sleep(1)
        ended = finish(process, STOPS_S, since)
    return at_most("a run whose tool sleeps ends after two SIGTERMs", ended.seconds, STOPS_S, "s", ended.code is None)
