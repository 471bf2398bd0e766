"""Damaged run files: how they are damaged, and what happens when they are loaded."""

import random
import warnings
from collections.abc import Iterator
from pathlib import Path

PAGE = 4096
WAYS = (
    "one bit", "one bit", "some bits", "a byte run", "a zeroed page", "zeroed pages", "a page of noise", "cut short",
    "cut at a page", "a page from elsewhere", "two pages exchanged", "another file's page", "a longer file",
    "the header",
)  # fmt: skip


def damaged(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """Return a copy of a file, damaged in one of the `WAYS`; it always differs from the original."""
    while True:
        found = _damaged(bytearray(data), rng, other or data[::-1])
        if found != data:
            return found


def _damaged(data: bytearray, rng: random.Random, other: bytes) -> bytes:
    way, pages = rng.choice(WAYS), max(len(data) // PAGE, 1)
    here, there = rng.randrange(pages) * PAGE, rng.randrange(pages) * PAGE
    if way in ("one bit", "some bits"):
        for _ in range(1 if way == "one bit" else rng.randint(2, 60)):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == "a byte run":
        at = rng.randrange(len(data))
        data[at : at + rng.randint(1, 300)] = b""
    elif way in ("a zeroed page", "zeroed pages"):
        for at in [here] + [rng.randrange(pages) * PAGE for _ in range(rng.randint(1, 6)) if way == "zeroed pages"]:
            data[at : at + PAGE] = bytes(PAGE)
    elif way == "a page of noise":
        data[here : here + PAGE] = rng.randbytes(PAGE)
    elif way in ("cut short", "cut at a page"):
        del data[here if way == "cut at a page" else rng.randrange(len(data)) :]
    elif way == "a page from elsewhere":
        data[here : here + PAGE] = data[there : there + PAGE]
    elif way == "two pages exchanged":
        data[here : here + PAGE], data[there : there + PAGE] = data[there : there + PAGE], data[here : here + PAGE]
    elif way == "another file's page":
        data[here : here + PAGE] = other[here : here + PAGE]
    elif way == "a longer file":
        data += rng.randbytes(rng.randint(1, 3 * PAGE))
    else:
        data[rng.randrange(100)] ^= 1 << rng.randrange(8)
    return bytes(data)


class Original:
    """An undamaged run file and everything in it, for comparison with damaged copies."""

    def __init__(self, path: Path, other: Path):
        self.path, self.data, self.other = path, path.read_bytes(), other.read_bytes()
        self.frames, _ = _loaded(path)

    def attack(self, folder: Path, rng: random.Random) -> Iterator[str]:
        """Damage a copy and load it; yield what went wrong: "raises ...", "loads altered"."""
        path = folder / "damaged.deskbench"
        for old in folder.glob("*.deskbench*"):
            old.unlink()
        path.write_bytes(damaged(self.data, rng, self.other))

        from benchmark_lib.errors import BadInput

        try:
            frames, said = _loaded(path)
        except BadInput:
            return
        except Exception as error:
            yield f"loading raises {type(error).__name__}"
            return
        if frames != self.frames and not said:
            yield "loads altered"
        elif any(set(here.splitlines()) - set(there.splitlines()) for here, there in zip(frames[1:], self.frames[1:])):
            yield "loads altered rows"


def _loaded(path: Path) -> tuple[list[str], bool]:
    """Return everything in a run file's frames as text, and whether a warning named omitted rows."""
    from benchmark_lib import load_results

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        results = load_results(path)
        frames = [
            getattr(results, name).to_csv(index=False) for name in ("conversations", "messages", "tool_calls", "calls")
        ]
    return frames, any("left out" in str(one.message) for one in said)


def make_files(
    folder: Path, base_url: str | None, cases: str = "address_change_*,fraud_reroute_*"
) -> tuple[Path, Path]:
    """Make two run files with different contents.

    The first holds a model's calls, bought from `base_url`; without an address, it is a scripted agent's.
    """
    import asyncio

    from benchmark_lib import Experiment

    one = Experiment(
        "some-model" if base_url else "scripted:oracle",
        base_url=base_url,
        cases=cases,
        trials=1,
        out=folder / "one.run",
        progress=False,
    )
    other = Experiment("scripted:spam", cases=cases, trials=1, out=folder / "other.run", progress=False)
    for experiment in (one, other):
        asyncio.run(experiment.run())
    return one.out, other.out
