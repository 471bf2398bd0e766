"""Tables of a run file, and the connections that write them."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..errors import BadInput
from ..outputs import remove
from .seals import COLUMNS, FORGIVING, salt_in, salt_of, seal

SUFFIX = ".deskbench"
FORMAT = 2
"""Version of the format; since 2 every row has a seal."""
APPLICATION_ID = 0x44534B42
"""The application id in SQLite's header of every run file (the letters DSKB)."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS calls (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, n INTEGER NOT NULL,
    request_hash TEXT NOT NULL, model TEXT NOT NULL,
    prompt_tokens INTEGER, completion_tokens INTEGER, reasoning_tokens INTEGER, cached_tokens INTEGER,
    latency_s REAL, attempts TEXT NOT NULL, cost_usd REAL, finished_at TEXT NOT NULL, seal BLOB NOT NULL, response BLOB NOT NULL,
    UNIQUE (case_id, trial, side, n));
CREATE TABLE IF NOT EXISTS conversations (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, ended_by TEXT NOT NULL,
    record_hash TEXT NOT NULL, finished_at TEXT NOT NULL, seal BLOB NOT NULL, record BLOB NOT NULL,
    UNIQUE (case_id, trial));
CREATE TABLE IF NOT EXISTS scores (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, version TEXT NOT NULL, seal BLOB NOT NULL, scores BLOB NOT NULL,
    UNIQUE (record_hash, version));
CREATE TABLE IF NOT EXISTS verdicts (
    id INTEGER PRIMARY KEY, record_hash TEXT NOT NULL, judge TEXT NOT NULL, version TEXT NOT NULL, seal BLOB NOT NULL, verdict BLOB NOT NULL,
    UNIQUE (record_hash, judge, version));
CREATE TABLE IF NOT EXISTS faults (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, trial INTEGER NOT NULL, side TEXT NOT NULL, kind TEXT NOT NULL,
    detail TEXT NOT NULL, attempts TEXT NOT NULL, at TEXT NOT NULL, seal BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS faults_at ON faults (at);
CREATE TABLE IF NOT EXISTS manifest_copy (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS manifest_added AFTER INSERT ON manifest
    BEGIN INSERT INTO manifest_copy VALUES (new.key, new.value, new.seal); END;
CREATE TRIGGER IF NOT EXISTS manifest_changed AFTER UPDATE ON manifest
    BEGIN UPDATE manifest_copy SET value = new.value, seal = new.seal WHERE key = new.key; END;
"""  # noqa: E501
"""Tables of a run file, with large columns last, so that SQLite reads the others without them.

`manifest_copy` serves a file that lost the page of the manifest.
"""

FOREIGN = """
SELECT type, name FROM pragma_table_list WHERE schema = 'main' AND type != 'table'
UNION ALL SELECT 'trigger', name FROM sqlite_schema WHERE sql LIKE '%TRIGGER%' AND (sql LIKE '%SELECT%' OR NOT
    (sql LIKE 'CREATE TRIGGER manifest_added AFTER INSERT ON manifest%' OR sql LIKE 'CREATE TRIGGER manifest_changed AFTER UPDATE ON manifest%'))
"""  # noqa: E501
"""Finds what no run file has: a view, a virtual table or a foreign trigger, any of which may never end."""

KEYS = {
    "manifest": ("key",),
    "calls": ("case_id", "trial", "side", "n"),
    "conversations": ("case_id", "trial"),
    "scores": ("record_hash", "version"),
    "verdicts": ("record_hash", "judge", "version"),
    "faults": (),
}
"""The key of each table; a second row with the same key replaces the first."""

PRAGMAS = {"journal_mode": "WAL", "synchronous": "FULL"}
"""Settings of a writing connection: committed rows survive kill -9 and a power cut."""


@lru_cache(maxsize=256)
def upsert(table: str, rows: int = 1, sealed: bool = False) -> str:
    """Return the SQL that writes `rows` rows of `table`, replacing rows with the same key.

    A row is the values of `seals.COLUMNS`, and the connection adds its seal. With `sealed` each row brings its seal as
    the last value: SQLite then writes many rows without calling Python between them.
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
    """Write a new run file with only `manifest`; it appears at `path` when complete."""
    path = Path(os.path.realpath(path))
    building = path.with_name(f".{path.name}.new")
    remove(building)
    try:
        with closing(sqlite3.connect(building, isolation_level=None)) as db:
            _add_seal(db, salt_of(manifest["run_id"]))
            db.executescript(f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={FORMAT}; BEGIN; {SCHEMA}")
            for key, value in manifest.items():
                db.execute(upsert("manifest"), (key, orjson.dumps(value).decode()))
            db.execute("COMMIT")
        os.replace(building, path)
    finally:
        remove(building)


def refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    """Raise `BadInput` for a file with a view, a virtual table or a foreign trigger."""
    db.text_factory = FORGIVING
    if found := db.execute(FOREIGN).fetchone():
        raise BadInput(
            f"{path} contains a {found[0]} named {found[1]!r}, which no run file has: get it from its source again"
        )


def take_in(path: Path) -> None:
    """Put the rows that sqlite3's ``.recover`` could not place back into their tables.

    The shell keeps such rows in ``lost_and_found``, by their number of columns, which no two tables share. Raise
    `sqlite3.DatabaseError` if the file is not of a run, and leave it unchanged.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        refuse_foreign(db, path)
        db.execute("PRAGMA secure_delete=ON")  # so that nothing in the first page recalls the table that is dropped
        db.execute("BEGIN IMMEDIATE")
        for statement in _statements(SCHEMA):
            db.execute(statement)
        columns = {name for _, name, *_ in db.execute("PRAGMA table_info(lost_and_found)")}
        for table in COLUMNS:
            names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
            values = [f"c{place}" for place in range(len(names))]
            if columns.issuperset(values):
                numbered = values if names[0] != "id" else ["id", *values[1:]]
                db.execute(
                    f"INSERT OR IGNORE INTO {table} ({','.join(names)}) SELECT {','.join(numbered)} FROM "
                    "lost_and_found "
                    "WHERE nfield=? AND id IS NOT NULL ORDER BY id",
                    (len(names),),
                )
        salt_in(db)
        db.execute("DROP TABLE IF EXISTS lost_and_found")
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")


def connect_to_write(path: Path) -> sqlite3.Connection:
    """Open a connection for the one writer of a run file; add seals to a file without them."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        refuse_foreign(db, path)
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
    """Upgrade a file of format 1: the same rows in the same order, with seals."""
    row = db.execute("SELECT value FROM manifest WHERE key='run_id'").fetchone()
    try:
        _add_seal(db, salt_of(orjson.loads(row[0])))
    except (TypeError, AttributeError, ValueError):
        raise sqlite3.DatabaseError("the name of the run is missing") from None
    db.execute("BEGIN IMMEDIATE")
    try:
        for table in COLUMNS:
            db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
        for statement in _statements(SCHEMA):
            db.execute(statement)
        for table, columns in COLUMNS.items():
            names = ",".join(columns)
            number = "rowid" if table == "manifest" else "id"
            db.execute(
                f"INSERT INTO {table} ({number},{names},seal) SELECT rowid,{names},seal('{table}',{names}) "
                f"FROM old_{table} ORDER BY rowid"
            )
            db.execute(f"DROP TABLE old_{table}")
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script one by one: `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
