"""Tables of a run file, seals of their rows, and connections that read and write them.

A seal is a checksum of a row, the run's name and the table's name. It reveals a byte changed by a failing disk or a
broken copy, which SQLite's own check misses inside a value. It does not stop a person who computes a new seal.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from ..errors import BadInput
from ..project import remove
from ..records import content_hash

SUFFIX = ".deskbench"
FORMAT = 2
"""Version of the format; since 2, before the first release, every row has a seal."""
APPLICATION_ID = 0x44534B42
"""The application id in SQLite's header of every run file (the letters DSKB)."""
PRAGMAS = {"journal_mode": "WAL", "synchronous": "FULL"}
"""Settings of a writing connection: committed rows survive kill -9 and a power cut."""
SIZE = 8
"""Bytes of one checksum."""
ROWS_A_STATEMENT = 40
"""Rows per SQL statement: the interpreter lock is released once per statement, not once per row."""


@dataclass(frozen=True)
class StoredTable:
    """A table: the columns that a writer fills, in their order, the key, and the large column.

    A large value has a checksum of its own and is stored last: the other columns are read and checked without it.
    """

    columns: dict[str, str]
    key: tuple[str, ...]
    large: str = ""


TEXT, WHOLE, BLOB = "TEXT NOT NULL", "INTEGER NOT NULL", "BLOB NOT NULL"
CONVERSATION = {"case_id": TEXT, "trial": WHOLE}
TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
PAID = {**dict.fromkeys(TOKENS, "INTEGER"), "latency_s": "REAL", "attempts": TEXT, "cost_usd": "REAL"}
TABLES = {
    "manifest": StoredTable({"key": TEXT, "value": TEXT}, ("key",)),
    "calls": StoredTable(
        CONVERSATION
        | {"side": TEXT, "n": WHOLE, "request_hash": TEXT, "model": TEXT, "response": BLOB}
        | {**PAID, "finished_at": TEXT},
        ("case_id", "trial", "side", "n"),
        "response",
    ),
    "conversations": StoredTable(
        CONVERSATION | {"ended_by": TEXT, "record_hash": TEXT, "record": BLOB, "finished_at": TEXT},
        ("case_id", "trial"),
        "record",
    ),
    "scores": StoredTable({"record_hash": TEXT, "version": TEXT, "scores": BLOB}, ("record_hash", "version"), "scores"),
    "verdicts": StoredTable(
        {"record_hash": TEXT, "judge": TEXT, "version": TEXT, "verdict": BLOB},
        ("record_hash", "judge", "version"),
        "verdict",
    ),
    "faults": StoredTable(
        CONVERSATION | {"side": TEXT, "kind": TEXT, "detail": TEXT, "attempts": TEXT, "at": TEXT}, ()
    ),
}
COLUMNS = {name: tuple(table.columns) for name, table in TABLES.items()}
LIGHT = {name: tuple(column for column in table.columns if column != table.large) for name, table in TABLES.items()}
"""For each table, the columns other than the large one."""
INDEX = {name: f"sqlite_autoindex_{name}_1" for name in (*TABLES, "manifest_copy")} | {"faults": "faults_at"}
"""For each table, an index with an entry for every row, which reveals lost rows."""


def _definition(name: str) -> str:
    table = TABLES[name]
    columns = [f"{column} {table.columns[column]}" for column in LIGHT[name]]
    large = [f"{table.large} {BLOB}"] * bool(table.large) + [f"UNIQUE ({', '.join(table.key)})"] * bool(table.key)
    parts = ["id INTEGER PRIMARY KEY", *columns, f"seal {BLOB}", *large]
    return f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(parts)})"


SCHEMA = (
    "CREATE TABLE IF NOT EXISTS manifest (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL)",
    *(_definition(name) for name in TABLES if name != "manifest"),
    "CREATE INDEX IF NOT EXISTS faults_at ON faults (at)",
    # for a file that has lost the manifest's page
    "CREATE TABLE IF NOT EXISTS manifest_copy (key TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL)",
    """CREATE TRIGGER IF NOT EXISTS manifest_added AFTER INSERT ON manifest
    BEGIN INSERT INTO manifest_copy VALUES (new.key, new.value, new.seal); END""",
    """CREATE TRIGGER IF NOT EXISTS manifest_changed AFTER UPDATE ON manifest
    BEGIN UPDATE manifest_copy SET value = new.value, seal = new.seal WHERE key = new.key; END""",
)
FOREIGN = """
SELECT type, name FROM pragma_table_list WHERE schema = 'main' AND type != 'table'
UNION ALL SELECT 'trigger', name FROM sqlite_schema WHERE sql LIKE '%TRIGGER%'
    AND (sql LIKE '%SELECT%' OR NOT (sql LIKE 'CREATE TRIGGER manifest_added AFTER INSERT ON manifest%'
    OR sql LIKE 'CREATE TRIGGER manifest_changed AFTER UPDATE ON manifest%'))
"""
"""Query for what no run file has: a view, a virtual table or a foreign trigger, any of which may run forever."""


def seal(salt: bytes, table: str, row: Sequence[Any]) -> bytes:
    """Return the seal of a new row of `table`, with its values in the order of `COLUMNS`."""
    columns, large = TABLES[table].columns, TABLES[table].large
    light = [_as_stored(columns[name], value) for name, value in zip(columns, row, strict=True) if name != large]
    stamp = _checksum(salt, table, orjson.dumps(light))
    if not large or table == "conversations":  # a record has its hash in a column of its own
        return stamp
    return stamp + _checksum(salt, table, _bytes(row[COLUMNS[table].index(large)]))


def _as_stored(kind: str, value: Any) -> Any:
    # as SQLite will return it: in the type of the column, and NULL for NaN
    if not isinstance(value, int | float):
        return value
    if kind == "REAL":
        return float(value) if value == value else None
    return int(value) if value % 1 == 0 else value


def _checksum(salt: bytes, table: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=SIZE, salt=salt, person=table.encode()).digest()


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _salt_of(run_id: str) -> bytes:
    return blake2b(run_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def salt_in(db: sqlite3.Connection) -> bytes:
    """Return the salt of a file's seals; raise `sqlite3.DatabaseError` if it is damaged."""
    named = "SELECT key, value, seal FROM {} WHERE key='run_id'"
    for row in db.execute(f"{named.format('manifest')} UNION ALL {named.format('manifest_copy')}"):
        with suppress(TypeError, AttributeError, ValueError):
            salt = _salt_of(orjson.loads(row[1]))
            if _is_intact(salt, "manifest", row[:2], row[2]):
                return salt
    raise sqlite3.DatabaseError("the name of the run differs from what was written")


def _is_intact(salt: bytes, table: str, values: tuple[Any, ...], stamp: Any) -> bool:
    # `values` has the light columns, and the large one if it was read
    light, large = values[: len(LIGHT[table])], values[len(LIGHT[table]) :]
    try:
        fits = isinstance(stamp, bytes) and _checksum(salt, table, orjson.dumps(light)) == stamp[:SIZE]
    except orjson.JSONEncodeError:  # bytes in place of text, or a number that no column can have
        return False
    if not fits or not large:
        return fits
    if table == "conversations":
        return isinstance(large[0], bytes) and content_hash(large[0]) == light[LIGHT[table].index("record_hash")]
    return _checksum(salt, table, _bytes(large[0])) == stamp[SIZE:]


def checked_rows(
    db: sqlite3.Connection,
    table: str,
    names: Sequence[str] | None,
    of: tuple[str, int] | None,
    spoilt: list[tuple[int, str]],
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table in the order in which they were written, except changed rows.

    `names` are the columns to return, by default all; a large one that is not named is not read. Without a conversation
    (`of`), also check that no row is missing. `spoilt` receives the number and name of every row left out. Raise
    `sqlite3.DatabaseError` for a damaged file.
    """
    source, table = table, "manifest" if table == "manifest_copy" else table
    names = COLUMNS[table] if names is None else tuple(names)
    light, large = LIGHT[table], TABLES[table].large
    read = (*light, large) if large in names else light
    places = None if names == read else [read.index(name) for name in names]
    if of is None and not db.in_transaction:
        db.execute("BEGIN")  # the rows and their count are from one moment, even while the run goes on
    salt, last, count = salt_in(db), 0, 0
    condition = " WHERE case_id=? AND trial=?" if of else ""
    for row in db.execute(f"SELECT {','.join(read)},seal,rowid FROM {source}{condition} ORDER BY rowid", of or ()):
        values, stamp, number = row[:-2], row[-2], row[-1]
        if number <= last:
            raise sqlite3.DatabaseError(f"the rows of {source} are out of order")
        last, count = number, count + 1
        if not _is_intact(salt, table, values, stamp):
            spoilt.append((number, f"{row[0]} trial {row[1]}" if "trial" in light else str(row[0])))
            continue
        yield values if places is None else tuple([values[place] for place in places])
    if of is None:
        (expected,) = db.execute(f"SELECT count(*) FROM {source} INDEXED BY {INDEX[source]}").fetchone()
        if count != expected:
            raise sqlite3.DatabaseError(f"{source} contains {count} of {expected} rows")


class Connection(sqlite3.Connection):
    """A connection that seals the rows which it writes."""

    salt = b""

    def put(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows, each with the values of `COLUMNS`; a row replaces one with the same key."""
        for start in range(0, len(rows), ROWS_A_STATEMENT):
            some = rows[start : start + ROWS_A_STATEMENT]
            values = [value for row in some for value in (*row, seal(self.salt, table, row))]
            self.execute(_upsert(table, len(some)), values)


@lru_cache(maxsize=256)
def _upsert(table: str, rows: int) -> str:
    columns, key = (*COLUMNS[table], "seal"), TABLES[table].key
    marks = ",".join([f"({','.join('?' * len(columns))})"] * rows)
    sql = f"INSERT INTO {table} ({','.join(columns)}) VALUES {marks}"
    if not key:
        return sql
    news = ",".join(f"{c}=excluded.{c}" for c in columns if c not in key)
    return f"{sql} ON CONFLICT ({','.join(key)}) DO UPDATE SET {news}"


def create(path: Path, manifest: dict[str, Any]) -> None:
    """Write a new run file with only `manifest`; it appears at `path` when complete."""
    path = Path(os.path.realpath(path))
    building = path.with_name(f".{path.name}.new")
    remove(building)
    try:
        with closing(sqlite3.connect(building, isolation_level=None, factory=Connection)) as db:
            db.salt = _salt_of(manifest["run_id"])
            db.execute(f"PRAGMA application_id={APPLICATION_ID}")
            db.execute(f"PRAGMA user_version={FORMAT}")
            db.execute("BEGIN")
            for statement in SCHEMA:
                db.execute(statement)
            db.put("manifest", as_rows(manifest))
            db.execute("COMMIT")
        os.replace(building, path)
    finally:
        remove(building)


def as_rows(manifest: dict[str, Any]) -> list[tuple[str, str]]:
    """Return a manifest as rows of its table."""
    return [(key, orjson.dumps(value).decode()) for key, value in manifest.items()]


def connect_to_write(path: Path) -> Connection:
    """Open a connection for the one writer of a run file."""
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Connection)
    try:
        refuse_foreign(db, path)
        for name, value in PRAGMAS.items():
            db.execute(f"PRAGMA {name}={value}")
        db.salt = salt_in(db)  # opens the log now, so that this connection also removes it
    except BaseException:
        db.close()
        raise
    return db


@contextmanager
def writing_rows(path: Path) -> Iterator[Connection]:
    """Yield a connection for one transaction, and leave one plain file if it succeeds."""
    with closing(connect_to_write(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield db
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=DELETE")


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a read-only connection; a finished file needs no write permission in its folder."""
    address = f"file:{quote(str(path.resolve()))}?mode=ro"
    db = sqlite3.connect(address, uri=True, check_same_thread=False)
    try:
        db.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        db.close()
        if path.with_name(path.name + "-wal").exists():
            raise
        db = sqlite3.connect(address + "&immutable=1", uri=True, check_same_thread=False)
    try:
        refuse_foreign(db, path)
    except BaseException:
        db.close()
        raise
    return db


def refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    """Raise `BadInput` for a file with a view, a virtual table or a foreign trigger."""
    # an invalid byte becomes another character, which the seal reveals
    db.text_factory = partial(str, encoding="utf-8", errors="replace")
    if foreign := db.execute(FOREIGN).fetchone():
        raise BadInput(
            f"{path} contains a {foreign[0]} named {foreign[1]!r}, which no run file has: get it again from its source"
        )


def take_in(path: Path) -> None:
    """Restore to their tables the rows that sqlite3's ``.recover`` could not place.

    The shell keeps such rows in ``lost_and_found``, by their number of columns, which no two tables share. Raise
    `sqlite3.DatabaseError` if the file is not a run file, and leave it unchanged.
    """
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        refuse_foreign(db, path)
        db.execute("PRAGMA secure_delete=ON")  # the first page keeps no trace of the dropped table
        db.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA:
            db.execute(statement)
        columns = {name for _, name, *_ in db.execute("PRAGMA table_info(lost_and_found)")}
        for table in COLUMNS:
            names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
            values = [f"c{place}" for place in range(len(names))]
            if columns.issuperset(values):
                numbered = values if names[0] != "id" else ["id", *values[1:]]
                placed = f"INSERT OR IGNORE INTO {table} ({','.join(names)}) SELECT {','.join(numbered)}"
                lost = "FROM lost_and_found WHERE nfield=? AND id IS NOT NULL ORDER BY id"
                db.execute(f"{placed} {lost}", (len(names),))
        salt_in(db)
        db.execute("DROP TABLE IF EXISTS lost_and_found")
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.execute("COMMIT")
