"""The run file: one SQLite file that holds one experiment, from its manifest to its scores.

`RunFile` is a handle for reading: it keeps no connection open between two questions, so it can be copied, pickled and asked
while the run is still going on. `benchmark_lib.experiment.writer` is the one place that writes while a run goes on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from .errors import BadInput
from .manifests import wrong_part
from .outputs import remove
from .records import NOT_SCORED, Conversation
from .seals import COLUMNS, checked_rows, light_columns, salt_in, salt_of, seal

SUFFIX = ".deskbench"
FORMAT = 2
"""Since 2 every row carries a seal."""
APPLICATION_ID = 0x44534B42
"""What SQLite's header says of every run file (the letters DSKB)."""

SCHEMA = """
CREATE TABLE manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL);
CREATE TABLE calls (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, n INTEGER NOT NULL,
    request_hash TEXT NOT NULL, model TEXT NOT NULL,
    prompt_tokens INTEGER, completion_tokens INTEGER, reasoning_tokens INTEGER, cached_tokens INTEGER,
    latency_s REAL, attempts TEXT NOT NULL, cost_usd REAL, finished_at TEXT NOT NULL, seal BLOB NOT NULL, response BLOB NOT NULL,
    UNIQUE (case_id, trial, side, n));
CREATE TABLE conversations (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, ended_by TEXT NOT NULL,
    record_hash TEXT NOT NULL, finished_at TEXT NOT NULL, seal BLOB NOT NULL, record BLOB NOT NULL,
    UNIQUE (case_id, trial));
CREATE TABLE scores (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, version TEXT NOT NULL, seal BLOB NOT NULL, scores BLOB NOT NULL,
    UNIQUE (record_hash, version));
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, judge TEXT NOT NULL, version TEXT NOT NULL, seal BLOB NOT NULL, verdict BLOB NOT NULL,
    UNIQUE (record_hash, judge, version));
CREATE TABLE faults (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, attempts TEXT NOT NULL, at TEXT NOT NULL, seal BLOB NOT NULL);
CREATE INDEX faults_at ON faults (at);
CREATE TABLE manifest_copy (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL);
CREATE TRIGGER manifest_added AFTER INSERT ON manifest
    BEGIN INSERT INTO manifest_copy VALUES (new.key, new.value, new.seal); END;
CREATE TRIGGER manifest_changed AFTER UPDATE ON manifest
    BEGIN UPDATE manifest_copy SET value = new.value, seal = new.seal WHERE key = new.key; END;
"""
"""Large columns stand last, so that the others are read without them; the copy of the manifest is for `salvage.recover` alone."""

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

@lru_cache(maxsize=256)
def upsert(table: str, rows: int = 1, sealed: bool = False) -> str:
    """The SQL statement that writes `rows` rows of `table`, in place of those with the same key.

    A row is given as the values of `seals.COLUMNS`; the connection adds its seal. With `sealed` each row brings it along as its last
    value: many rows are then written without asking the interpreter between them.
    """
    columns, key = COLUMNS[table], KEYS[table]
    width = len(columns) + sealed
    one = [",".join(f"?{row * width + place + 1}" for place in range(width)) for row in range(rows)]
    values = ",".join(f"({marks})" if sealed else f"({marks},seal('{table}',{marks}))" for marks in one)
    sql = f"INSERT INTO {table} ({','.join(columns)},seal) VALUES {values}"
    if not key:
        return sql
    news = ",".join(f"{c}=excluded.{c}" for c in (*columns, "seal") if c not in key)
    return f"{sql} ON CONFLICT ({','.join(key)}) DO UPDATE SET {news}"


def create(path: Path, manifest: dict[str, Any]) -> None:
    """Write a new run file that holds only `manifest`; it appears at `path`, or where this links to, whole or not at all."""
    path = Path(os.path.realpath(path))
    building = path.with_name(f".{path.name}.new")
    remove(building)
    try:
        db = sqlite3.connect(building, isolation_level=None)
        try:
            _add_seal(db, salt_of(manifest["run_id"]))
            db.executescript(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT}; BEGIN; {SCHEMA}")
            for item in manifest.items():
                db.execute(upsert("manifest"), (item[0], orjson.dumps(item[1]).decode()))
            db.execute("COMMIT")
        finally:
            db.close()
        os.replace(building, path)
    finally:
        remove(building)


def connect_to_write(path: Path) -> sqlite3.Connection:
    """A connection for the one writer of a run file; the rows of a file from before seals are given theirs first."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        for name, value in PRAGMAS.items():
            db.execute(f"PRAGMA {name}={value}")
        salt = salt_in(db)  # opens the log here, so that it is also removed from here
        if salt is None:
            _seal_old(db)
        else:
            _add_seal(db, salt)
    except BaseException:
        db.close()
        raise
    return db


def _add_seal(db: sqlite3.Connection, salt: bytes) -> None:
    db.create_function("seal", -1, lambda table, *row: seal(salt, table, row), deterministic=True)


def _seal_old(db: sqlite3.Connection) -> None:
    """Bring a file of format 1 to the present one: the same rows in the same order, with seals."""
    row = db.execute("SELECT value FROM manifest WHERE key='run_id'").fetchone()
    try:
        _add_seal(db, salt_of(orjson.loads(row[0])))
    except (TypeError, AttributeError, ValueError):
        raise sqlite3.DatabaseError("the name of the run is gone") from None
    db.execute("BEGIN IMMEDIATE")
    try:
        for table in COLUMNS:
            db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        for statement in _statements(SCHEMA):
            db.execute(statement)
        for table, columns in COLUMNS.items():
            names = ",".join(columns)
            number = "rowid" if table == "manifest" else "id"
            db.execute(f"INSERT INTO {table} ({number},{names},seal) SELECT rowid,{names},seal('{table}',{names}) FROM old_{table} ORDER BY rowid")
            db.execute(f"DROP TABLE old_{table}")
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


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
        """What the run was made of: run_id, model, source, inputs and cases with their hashes, planned trials, sessions.

        Raises
        ------
        BadInput
            If a part is missing or is not of its kind.
        """
        found = {key: self._json(value) for key, value in self._rows("manifest")}
        wrong = wrong_part(found)
        if wrong:
            raise BadInput(f"the manifest of {self.path} has {wrong}: restore the file from a copy, or leave it out")
        return found

    @cached_property
    def run_id(self) -> str:
        """The name of the run in every frame."""
        return self.manifest["run_id"]

    def conversations(self) -> Iterator[tuple[str, int, str, bytes]]:
        """Rows (case_id, trial, record_hash, record as JSON) in the order in which they were finished first."""
        yield from self._rows("conversations", ("case_id", "trial", "record_hash", "record"))

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
        row = next(self._rows("conversations", ("record",), "case_id=? AND trial=?", (case_id, trial)), None)
        if row is None:
            raise BadInput(f"{self.path} holds no conversation of case {case_id!r}, trial {trial}: choose one it holds")
        return Conversation.from_json(row[0])

    def endings(self) -> dict[tuple[str, int], str]:
        """How each conversation on file ended, by (case_id, trial)."""
        return {(c, t): e for c, t, e in self._rows("conversations", ("case_id", "trial", "ended_by"))}

    def scores(self, version: str | None = None) -> dict[str, dict[str, Any]]:
        """Scores by record hash, each with its version: those of one scoring `version`, or the latest of each record."""
        rows = self._rows("scores")
        return {digest: {"version": named, **self._json(scores, dict)} for digest, named, scores in rows if version in (None, named)}

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """Judges' verdicts as dicts: record_hash, judge, version, verdict."""
        for row in self._dicts("verdicts"):
            yield {**row, "verdict": self._json(row["verdict"], dict)}

    def calls(self, responses: bool = False) -> Iterator[dict[str, Any]]:
        """Finished model calls as dicts with the columns of the table; `responses` adds the response JSON."""
        for row in self._dicts("calls", None if responses else light_columns("calls")):
            yield {**row, "attempts": self._json(row["attempts"], list)}

    def faults(self) -> Iterator[dict[str, Any]]:
        """Calls that failed for good: case_id, trial, side, kind, detail, attempts, at."""
        for row in self._dicts("faults"):
            yield {**row, "attempts": self._json(row["attempts"], list)}

    def cost(self) -> tuple[float, int]:
        """What the calls on file cost in US dollars, and how many of them have no known price."""
        costs = [cost for (cost,) in self._rows("calls", ("cost_usd",))]
        return sum((cost for cost in costs if cost is not None), 0.0), costs.count(None)

    def counts(self) -> dict[str, int]:
        """How many conversations are finished, how many await another try, and how many calls are on file."""
        endings = list(self.endings().values())
        again = sum(e in NOT_SCORED for e in endings)
        with self._reading() as db:
            (calls,) = db.execute("SELECT count(*) FROM calls").fetchone()
        return {"finished": len(endings) - again, "again": again, "calls": calls}

    def check(self) -> None:
        """Read every page and every row, and refuse a damaged file with what can be recovered."""
        with self._reading() as db:
            (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(answer)
            for table in COLUMNS:
                for _ in checked_rows(db, table):
                    pass

    def _json(self, text: str | bytes, kind: type = object) -> Any:
        """What a value holds; only in a file from before seals can it be anything but JSON of its kind."""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _damaged(self.path, error) from None
        if not isinstance(value, kind):
            raise _damaged(self.path, ValueError(f"{str(value)[:40]!r} stands where there was something else"))
        return value

    def _dicts(self, table: str, names: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        for row in self._rows(table, names):
            yield dict(zip(names or COLUMNS[table], row))

    def _rows(self, table: str, names: Sequence[str] | None = None, where: str = "", given: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        with self._reading() as db:
            yield from checked_rows(db, table, names, where, given)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect_to_read(self.path)) as db:
                yield db
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # the second where SQLite's own message quotes what is damaged
            raise _damaged(self.path, error) from None


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
    from .salvage import readable

    mend = f"copy what is left with `deskbench recover {path} --out NEW`, or restore the file"
    return BadInput(f"{path} is damaged ({error}): {readable(path)} of its conversations can still be read; {mend}")
