"""Seals: the checksum that every row of a run file carries, so that a byte changed by others is found when the row is read.

A seal is made of the run's name, the table and the values, so a row that was moved here from another table or another run does not
pass for one of this run. It guards against accidents (a failing disk, a broken copy), not against a person who can compute it anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import orjson

from .records import content_hash

SIZE = 8
"""Bytes of one checksum."""

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

APART = {"calls": "response"}
"""A large column with a checksum of its own, the second half of the seal: rows can be checked without reading it."""
ELSEWHERE = {"conversations": "record"}
"""A large column whose checksum is a column itself (``record_hash``)."""

INDEX = {"faults": "faults_at"} | {name: f"sqlite_autoindex_{name}_1" for name in COLUMNS if name != "faults"}
"""An index that holds every row of a table a second time, by which a row that was lost is missed."""


def salt_of(run_id: str) -> bytes:
    """What makes the seals of one run its own."""
    return blake2b(run_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def seal(salt: bytes, table: str, row: Sequence[Any]) -> bytes:
    """The seal of a row of `table`, its values in the order of `COLUMNS`."""
    columns = COLUMNS[table]
    skipped = APART.get(table) or ELSEWHERE.get(table)
    stamp = _checksum(salt, table, _light(value for name, value in zip(columns, row, strict=True) if name != skipped))
    if table in APART:
        stamp += _checksum(salt, table, _bytes(row[columns.index(APART[table])]))
    return stamp


def intact(salt: bytes, table: str, row: Sequence[Any], stamp: Any) -> bool:
    """Whether a row is what was written: all of its columns, or all but the one that is checked `APART`."""
    columns = COLUMNS[table]
    if not isinstance(stamp, bytes):
        return False
    if len(row) == len(columns):
        return seal(salt, table, row) == stamp and record_fits(table, row)
    return _checksum(salt, table, _light(row)) == stamp[:SIZE]


def record_fits(table: str, row: Sequence[Any]) -> bool:
    """Whether the record of a conversation is the one that its hash was made of; true of every other table."""
    return table != "conversations" or (isinstance(row[4], bytes) and content_hash(row[4]) == row[3])


def light_columns(table: str) -> tuple[str, ...]:
    """The columns of a table that its seal covers without its large one."""
    skipped = APART.get(table) or ELSEWHERE.get(table)
    return tuple(name for name in COLUMNS[table] if name != skipped)


def is_sealed(db: sqlite3.Connection) -> bool:
    """Whether the rows of a run file carry seals; those of files from before format 2 do not."""
    return db.execute("SELECT count(*) FROM pragma_table_info('scores') WHERE name='seal'").fetchone() == (1,)


def salt_in(db: sqlite3.Connection) -> bytes | None:
    """The salt of a run file, None where its rows carry no seals.

    Raises
    ------
    sqlite3.DatabaseError
        If the run's name is not in the file, or is not what was written.
    """
    if not is_sealed(db):
        return None
    row = db.execute("SELECT value, seal FROM manifest WHERE key='run_id'").fetchone()
    try:
        salt = salt_of(orjson.loads(row[0]))
    except (TypeError, AttributeError, ValueError):
        raise sqlite3.DatabaseError("the name of the run is gone") from None
    if not intact(salt, "manifest", ("run_id", row[0]), row[1]):
        raise sqlite3.DatabaseError("the name of the run is not what was written")
    return salt


def checked_rows(
    db: sqlite3.Connection, table: str, names: Sequence[str] | None = None, where: str = "", given: Sequence[Any] = ()
) -> Iterator[tuple[Any, ...]]:
    """Rows of a table in the order in which they were written first, each checked against its seal.

    Parameters
    ----------
    db : sqlite3.Connection
        From `runfile.connect_to_read`.
    names : sequence of str, optional
        The columns wanted; all of them by default. A large column that is not among them is not read.
    where : str
        A condition, such as ``case_id=? AND trial=?``. Without one it is also checked that no row is missing.

    Raises
    ------
    sqlite3.DatabaseError
        At the first row that is not what was written.
    """
    names = COLUMNS[table] if names is None else tuple(names)
    large = APART.get(table) or ELSEWHERE.get(table)
    read = COLUMNS[table] if large in names else light_columns(table)
    places = None if names == read else [read.index(name) for name in names]
    if not where and not db.in_transaction:
        db.execute("BEGIN")  # the rows and their number are of one moment, also while the run goes on
    salt = salt_in(db)
    stamp = "seal" if salt is not None else "NULL"
    condition = f" WHERE {where}" if where else ""
    last = found = 0
    for number, sealed, *row in db.execute(f"SELECT rowid, {stamp}, {','.join(read)} FROM {table}{condition} ORDER BY rowid", given):
        found += 1
        whole = number > last and intact(salt, table, row, sealed) if salt is not None else len(row) < len(COLUMNS[table]) or record_fits(table, row)
        if not whole:
            raise sqlite3.DatabaseError(f"row {number} of {table} is not what was written")
        last = number
        yield tuple(row) if places is None else tuple([row[place] for place in places])
    if salt is not None and not where:
        (expected,) = db.execute(f"SELECT count(*) FROM {table} INDEXED BY {INDEX[table]}").fetchone()
        if found != expected:
            raise sqlite3.DatabaseError(f"{table} holds {found} of {expected} rows")


def _light(values: Any) -> bytes:
    """Values as bytes, the same before they are written and after they are read back: SQLite tells no 1 from 1.0 and keeps no NaN."""
    plain = [value if isinstance(value, str) else None if value is None or value != value else float(value) if isinstance(value, int | float) else value
             for value in values]  # fmt: skip
    return ascii(plain).encode()


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _checksum(salt: bytes, table: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=SIZE, salt=salt, person=table.encode()).digest()
