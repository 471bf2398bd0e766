"""Damaged run files: how they are damaged, what is still whole in them, and what loading and recovering make of it."""

import random
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

PAGE = 4096
TABLES = ("conversations", "scores", "calls")
WAYS = (
    "one bit", "one bit", "some bits", "a byte run", "a zeroed page", "zeroed pages", "a page of noise", "cut short",
    "cut at a page", "a page from elsewhere", "two pages exchanged", "another file's page", "a longer file",
    "the header",
)  # fmt: skip
NEEDED = ("run_id", "inputs", "cases")
"""Parts of the manifest without which nothing can be made of a file."""


def damaged(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """A copy of a file that was damaged in one of the `WAYS`; it always differs."""
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


def rows_of(path: Path, table: str) -> dict[int, tuple[object, ...]]:
    """The rows of a table of an undamaged file by their number."""
    db = sqlite3.connect(path)
    try:
        return {row[0]: row[1:] for row in db.execute(f"SELECT * FROM {table}")}
    finally:
        db.close()


def whole_rows(path: Path, table: str, rows: dict[int, tuple[object, ...]]) -> set[int]:
    """Numbers of the rows that a plain question for each of them, one by one, still answers as they were."""
    found = set()
    db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
    try:
        db.execute("PRAGMA writable_schema=ON")
        for number, row in rows.items():
            if _asked(db, f"SELECT * FROM {table} WHERE id=?", number) == (number, *row):
                found.add(number)
    except sqlite3.Error:
        pass  # nothing of it can be asked for
    finally:
        db.close()
    return found


def manifest_is_whole(path: Path, manifest: dict[str, str]) -> bool:
    """Whether the parts of the manifest that a file needs can be asked for, one by one."""
    db = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
    try:
        db.execute("PRAGMA writable_schema=ON")
        return all(_asked(db, "SELECT value FROM manifest WHERE key=?", key) == (manifest[key],) for key in NEEDED)
    except sqlite3.Error:
        return False
    finally:
        db.close()


def _asked(db: sqlite3.Connection, sql: str, value: object) -> tuple[object, ...] | None:
    try:
        return db.execute(sql, (value,)).fetchone()
    except (sqlite3.Error, UnicodeDecodeError, OverflowError):
        return None


class Original:
    """An undamaged run file and everything on it, to hold damaged copies against."""

    def __init__(self, path: Path, other: Path):
        self.path, self.data, self.other = path, path.read_bytes(), other.read_bytes()
        self.rows = {table: rows_of(path, table) for table in TABLES}
        db = sqlite3.connect(path)
        self.manifest = dict(db.execute("SELECT key, value FROM manifest"))
        db.close()
        self.frames = _loaded(path)

    def attack(self, folder: Path, rng: random.Random) -> Iterator[str]:
        """Damage a copy, load it and recover it.

        Yields what went wrong: "raises ...", "loads altered", "loses rows", ...
        """
        path, out = folder / "damaged.deskbench", folder / "saved.deskbench"
        for old in folder.glob("*.deskbench*"):
            old.unlink()
        path.write_bytes(damaged(self.data, rng, self.other))
        yield from self._load(path)
        yield from self._recover(path, out)

    def _load(self, path: Path) -> Iterator[str]:
        from benchmark_lib.errors import BadInput

        try:
            frames = _loaded(path)
        except BadInput:
            return
        except Exception as error:
            yield f"loading raises {type(error).__name__}"
            return
        if frames != self.frames:
            yield "loads altered"

    def _recover(self, path: Path, out: Path) -> Iterator[str]:
        from benchmark_lib.errors import BadInput
        from benchmark_lib.runfile.salvage import recover

        whole = {table: whole_rows(path, table, rows) for table, rows in self.rows.items()}
        begun = manifest_is_whole(path, self.manifest)
        try:
            recover(path, out)
        except BadInput:
            yield from ["recovering refuses what can be read"] * (begun and bool(whole["conversations"]))
        except Exception as error:
            yield f"recovering raises {type(error).__name__}"
        if not out.exists():
            return
        try:
            saved = {table: {row: number for number, row in rows_of(out, table).items()} for table in TABLES}
        except Exception as error:
            yield f"recovering leaves a file that raises {type(error).__name__}"
            return
        if not any(saved.values()) and any(whole.values()):
            yield "recovering leaves an empty file"
        known = {table: set(rows.values()) for table, rows in self.rows.items()}
        if any(set(saved[table]) - known[table] for table in TABLES):
            yield "recovers altered rows"
        if begun and any(self.rows[table][number] not in saved[table] for table in TABLES for number in whole[table]):
            yield "loses whole rows"


def _loaded(path: Path) -> list[str]:
    """Everything that the frames of a run file hold, as text."""
    from benchmark_lib import load_results

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = load_results(path)
        return [getattr(results, name).to_csv() for name in ("conversations", "messages", "tool_calls", "calls")]


def make_files(
    folder: Path, base_url: str | None, cases: str = "address_change_*,fraud_reroute_*"
) -> tuple[Path, Path]:
    """Two run files with different things on them.

    The first with a model's calls, bought from `base_url`; without one, of a scripted agent.
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
