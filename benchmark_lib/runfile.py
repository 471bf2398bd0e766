"""The run file: one SQLite file that holds one experiment, from its manifest to its scores.

`RunFile` is a handle for reading: it keeps no connection open between two questions, so it can be copied, pickled and asked
while the run is still going on. `benchmark_lib.experiment.writer` is the one place that writes while a run goes on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from .errors import BadInput
from .records import NOT_SCORED, Conversation, content_hash

SUFFIX = ".deskbench"
FORMAT = 1
APPLICATION_ID = 0x44534B42
"""What SQLite's header says of every run file (the letters DSKB)."""

SCHEMA = """
CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, n INTEGER NOT NULL,
    request_hash TEXT NOT NULL, model TEXT NOT NULL, response BLOB NOT NULL,
    prompt_tokens INTEGER, completion_tokens INTEGER, reasoning_tokens INTEGER, cached_tokens INTEGER,
    latency_s REAL, attempts TEXT NOT NULL, cost_usd REAL, finished_at TEXT NOT NULL,
    UNIQUE (case_id, trial, side, n));
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, ended_by TEXT NOT NULL,
    record_hash TEXT NOT NULL, record BLOB NOT NULL, finished_at TEXT NOT NULL,
    UNIQUE (case_id, trial));
CREATE TABLE scores (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, version TEXT NOT NULL, scores BLOB NOT NULL,
    UNIQUE (record_hash, version));
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, judge TEXT NOT NULL, version TEXT NOT NULL, verdict BLOB NOT NULL,
    UNIQUE (record_hash, judge, version));
CREATE TABLE faults (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, attempts TEXT NOT NULL, at TEXT NOT NULL);
"""

COLUMNS = {
    "manifest": ("key", "value"),
    "calls": (
        "case_id", "trial", "side", "n", "request_hash", "model", "response", "prompt_tokens", "completion_tokens",
        "reasoning_tokens", "cached_tokens", "latency_s", "attempts", "cost_usd", "finished_at",
    ),
    "conversations": ("case_id", "trial", "ended_by", "record_hash", "record", "finished_at"),
    "scores": ("record_hash", "version", "scores"),
    "verdicts": ("record_hash", "judge", "version", "verdict"),
    "faults": ("case_id", "trial", "side", "kind", "detail", "attempts", "at"),
}  # fmt: skip
"""The columns of each table that a writer fills, in order."""

KEYS = {
    "manifest": ("key",),
    "calls": ("case_id", "trial", "side", "n"),
    "conversations": ("case_id", "trial"),
    "scores": ("record_hash", "version"),
    "verdicts": ("record_hash", "judge", "version"),
    "faults": (),
}
"""What makes a row of each table one of a kind; a second row with the same key takes the place of the first."""

PRAGMAS = {"journal_mode": "WAL", "synchronous": "FULL"}
"""How a writing connection is set: what is committed survives kill -9 and a power cut."""

GIVE_UP_AFTER = 5000
"""Row numbers that may be unreadable one after another before the rest of a damaged table is given up."""


def upsert(table: str, rows: int = 1) -> str:
    """The SQL statement that writes `rows` rows of `table`, in place of those with the same key."""
    columns, key = COLUMNS[table], KEYS[table]
    marks = ",".join(["(" + ",".join("?" * len(columns)) + ")"] * rows)
    sql = f"INSERT INTO {table} ({','.join(columns)}) VALUES {marks}"
    if not key:
        return sql
    news = ",".join(f"{c}=excluded.{c}" for c in columns if c not in key)
    return f"{sql} ON CONFLICT ({','.join(key)}) DO UPDATE SET {news}"


def create(path: Path, manifest: dict[str, Any]) -> None:
    """Write a new run file that holds only `manifest`; it appears at `path` whole or not at all."""
    building = path.with_name(f".{path.name}.new")
    building.unlink(missing_ok=True)
    try:
        db = sqlite3.connect(building, isolation_level=None)
        try:
            db.executescript(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT}; BEGIN; {SCHEMA}")
            for item in manifest.items():
                db.execute(upsert("manifest"), (item[0], orjson.dumps(item[1]).decode()))
            db.execute("COMMIT")
        finally:
            db.close()
        os.replace(building, path)
    finally:
        building.unlink(missing_ok=True)


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection for the one writer of a run file."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for name, value in PRAGMAS.items():
        db.execute(f"PRAGMA {name}={value}")
    db.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # opens the log here, so that it is also removed from here
    return db


class RunFile:
    """A run file, for reading.

    Parameters
    ----------
    path : str or Path
        A file written by ``deskbench run`` or `Experiment.run`.

    Raises
    ------
    BadInput
        If there is no such file, it is no run file, or it is damaged; the text says how many conversations can be read.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        _check_header(self.path)

    def __repr__(self) -> str:
        return f"RunFile({str(self.path)!r})"

    def __fspath__(self) -> str:
        return str(self.path)

    @property
    def manifest(self) -> dict[str, Any]:
        """What the run was made of: run_id, model, source, inputs and cases with their hashes, planned trials, sessions."""
        with self._reading() as db:
            return {key: orjson.loads(value) for key, value in db.execute("SELECT key, value FROM manifest")}

    @cached_property
    def run_id(self) -> str:
        """The name of the run in every frame."""
        return self.manifest["run_id"]

    def conversations(self) -> Iterator[tuple[str, int, str, bytes]]:
        """Rows (case_id, trial, record_hash, record as JSON) in the order in which they were finished first."""
        with self._reading() as db:
            for row in db.execute("SELECT case_id, trial, record_hash, record FROM conversations ORDER BY id"):
                if content_hash(row[3]) != row[2]:
                    raise sqlite3.DatabaseError(f"the record of {row[0]} trial {row[1]} is not what was written")
                yield row

    def records(self) -> Iterator[Conversation]:
        """The conversations as records."""
        for *_, record in self.conversations():
            yield Conversation.from_json(record)

    def record(self, case_id: str, trial: int) -> Conversation:
        """The record of one case and trial.

        Raises
        ------
        BadInput
            If it is not on file.
        """
        sql = "SELECT record FROM conversations WHERE case_id=? AND trial=?"
        with self._reading() as db:
            row = db.execute(sql, (case_id, trial)).fetchone()
        if row is None:
            raise BadInput(f"{self.path} holds no conversation of case {case_id!r}, trial {trial}: choose one it holds")
        return Conversation.from_json(row[0])

    def endings(self) -> dict[tuple[str, int], str]:
        """How each conversation on file ended, by (case_id, trial)."""
        with self._reading() as db:
            return {(c, t): e for c, t, e in db.execute("SELECT case_id, trial, ended_by FROM conversations")}

    def scores(self, version: str | None = None) -> dict[str, dict[str, Any]]:
        """Scores by record hash, each with its version: those of one scoring `version`, or the latest of each record."""
        where, given = ("", ()) if version is None else (" WHERE version=?", (version,))
        with self._reading() as db:
            rows = db.execute(f"SELECT record_hash, version, scores FROM scores{where} ORDER BY id", given)
            return {record_hash: {"version": named, **orjson.loads(scores)} for record_hash, named, scores in rows}

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """Judges' verdicts as dicts: record_hash, judge, version, verdict."""
        for row in self._rows("verdicts"):
            yield {**row, "verdict": orjson.loads(row["verdict"])}

    def calls(self, responses: bool = False) -> Iterator[dict[str, Any]]:
        """Finished model calls as dicts with the columns of the table; `responses` adds the response JSON."""
        names = [c for c in COLUMNS["calls"] if responses or c != "response"]
        for row in self._rows("calls", names):
            yield {**row, "attempts": orjson.loads(row["attempts"])}

    def faults(self) -> Iterator[dict[str, Any]]:
        """Calls that failed for good: case_id, trial, side, kind, detail, attempts, at."""
        for row in self._rows("faults"):
            yield {**row, "attempts": orjson.loads(row["attempts"])}

    def cost(self) -> tuple[float, int]:
        """What the calls on file cost in US dollars, and how many of them have no known price."""
        with self._reading() as db:
            return db.execute("SELECT coalesce(sum(cost_usd), 0.0), count(*) - count(cost_usd) FROM calls").fetchone()

    def counts(self) -> dict[str, int]:
        """How many conversations are finished, how many await another try, and how many calls are on file."""
        endings = list(self.endings().values())
        again = sum(e in NOT_SCORED for e in endings)
        with self._reading() as db:
            (calls,) = db.execute("SELECT count(*) FROM calls").fetchone()
        return {"finished": len(endings) - again, "again": again, "calls": calls}

    def check(self) -> None:
        """Read every page and refuse a damaged file with what can be recovered."""
        with self._reading() as db:
            (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(answer)

    def _rows(self, table: str, names: list[str] | None = None) -> Iterator[dict[str, Any]]:
        names = names or list(COLUMNS[table])
        with self._reading() as db:
            for row in db.execute(f"SELECT {','.join(names)} FROM {table} ORDER BY id"):
                yield dict(zip(names, row))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            db = connect_to_read(self.path)
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, error) from None
        try:
            yield db
        except sqlite3.DatabaseError as error:
            raise _damaged(self.path, error) from None
        finally:
            db.close()


def connect_to_read(path: Path) -> sqlite3.Connection:
    """A read-only connection; a finished file can also be read from a folder that cannot be written."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    db = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        db.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        db.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        db = sqlite3.connect(address + "&immutable=1", uri=True, check_same_thread=False)
    return db


def _check_header(path: Path) -> None:
    """Refuse what is not there or is not a run file, from the first hundred bytes alone."""
    try:
        with open(path, "rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        raise BadInput(f"no run file at {path}: give the path of a file that `deskbench run` wrote") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read as a run file ({error.strerror}): name the file itself") from None
    number = int.from_bytes(head[68:72], "big")
    if len(head) < 100 or head[:16] != b"SQLite format 3\0" or number != APPLICATION_ID:
        raise BadInput(f"{path} is not a run file: give the path of a file that `deskbench run` wrote")
    version = int.from_bytes(head[60:64], "big")
    if version > FORMAT:
        raise BadInput(f"{path} was written by a newer Deskbench (format {version}, this one reads {FORMAT}): update it")


def _damaged(path: Path, error: Exception) -> BadInput:
    found = sum(1 for _ in salvage(path, "conversations"))
    mend = f"copy what is left with `deskbench recover {path} --out NEW`, or restore the file"
    return BadInput(f"{path} is damaged ({error}): {found} of its conversations can still be read; {mend}")


def salvage(path: Path, table: str) -> Iterator[tuple[Any, ...]]:
    """The rows of `table` that can still be read (columns as in `COLUMNS`), whatever is broken between them."""
    sql = f"SELECT rowid, {','.join(COLUMNS[table])} FROM {table} WHERE rowid > ? ORDER BY rowid"
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    db = sqlite3.connect(address, uri=True)
    db.execute("PRAGMA writable_schema=ON")  # read-only as it is, this makes SQLite look at a file that is cut short
    last = misses = 0
    try:
        while misses < GIVE_UP_AFTER:
            try:
                for number, *row in db.execute(sql, (last,)):
                    last, misses = number, 0
                    if table != "conversations" or content_hash(row[4]) == row[3]:
                        yield tuple(row)
                return
            except sqlite3.DatabaseError:
                last, misses = last + 1, misses + 1
    finally:
        db.close()


def recover(path: str | Path, out: str | Path) -> int:
    """Copy what can still be read of a damaged run file to a new one.

    Returns
    -------
    int
        How many conversations were copied. Scores can be made again by ``deskbench score``.

    Raises
    ------
    BadInput
        If `out` exists, or the manifest itself cannot be read.
    """
    path, out = Path(path), Path(out)
    _check_header(path)
    if out.exists():
        raise BadInput(f"{out} exists: give --out a new name")
    manifest = {key: orjson.loads(value) for key, value in salvage(path, "manifest")}
    if not {"run_id", "inputs", "cases"} <= manifest.keys():
        raise BadInput(f"nothing of {path} can be recovered, its manifest is gone: restore the file from a copy")
    create(out, manifest)
    db = connect_to_write(out)
    try:
        db.execute("BEGIN")
        for table in ("calls", "conversations", "scores", "verdicts", "faults"):
            db.executemany(upsert(table), salvage(path, table))
        db.execute("COMMIT")
        (found,) = db.execute("SELECT count(*) FROM conversations").fetchone()
        db.execute("PRAGMA journal_mode=DELETE")
    finally:
        db.close()
    return found
