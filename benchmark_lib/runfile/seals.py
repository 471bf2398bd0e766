"""Seals: a checksum of every row of a run file, which reveals a byte changed by others.

A seal covers the run's name, the table and the values, so a row moved from another table or run does not pass. It
guards against accidents (a failing disk, a broken copy), not against a person who can recompute it.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from hashlib import blake2b
from typing import Any

import orjson

from ..records import content_hash

SIZE = 8
"""Bytes of one checksum."""

TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
COLUMNS = {
    "manifest": ("key", "value"),
    "calls": (
        *("case_id", "trial", "side", "n", "request_hash", "model", "response"),
        *TOKENS,
        *("latency_s", "attempts", "cost_usd", "finished_at"),
    ),
    "conversations": ("case_id", "trial", "ended_by", "record_hash", "record", "finished_at"),
    "scores": ("record_hash", "version", "scores"),
    "verdicts": ("record_hash", "judge", "version", "verdict"),
    "faults": ("case_id", "trial", "side", "kind", "detail", "attempts", "at"),
}
"""The columns of each table that a writer fills, in order."""

LARGE = {"calls": "response", "conversations": "record", "scores": "scores", "verdicts": "verdict"}
"""The large column of a table, with a checksum of its own, so that other columns can be checked without it."""
REALS = frozenset(("latency_s", "cost_usd"))
NUMBERS = REALS | {"trial", "n", *TOKENS}

FORGIVING = partial(str, encoding="utf-8", errors="replace")
"""Decoder for the texts of a run file: it replaces an invalid byte by another character, which the seal reveals."""

INDEX = {name: f"sqlite_autoindex_{name}_1" for name in (*COLUMNS, "manifest_copy")} | {"faults": "faults_at"}
"""An index of each table with an entry for every row, which reveals a lost row."""


def light_columns(table: str) -> tuple[str, ...]:
    """Return the columns of a table without its large column."""
    return tuple(name for name in COLUMNS[table] if name != LARGE.get(table))


ORDER = {table: light_columns(table) + ((LARGE[table],) if table in LARGE else ()) for table in COLUMNS}
"""The columns of each table in sealing order: the large column last."""


_PLACES = {table: [COLUMNS[table].index(name) for name in light_columns(table)] for table in COLUMNS}
_NUMBERED = {
    table: [(place, name) for place, name in enumerate(light_columns(table)) if name in NUMBERS] for table in COLUMNS
}
RECORD_HASH = ORDER["conversations"].index("record_hash")


def salt_of(run_id: str) -> bytes:
    """Return the salt of one run's seals."""
    return blake2b(run_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def seal(salt: bytes, table: str, row: Sequence[Any]) -> bytes:
    """Return the seal of a new row of `table`, with its values in the order of `COLUMNS`."""
    light, large = _parted(table, row)
    empty = _checksum(salt, table)
    stamp = _of(empty, orjson.dumps(light))
    return stamp + _of(empty, _bytes(large)) if table in LARGE and table != "conversations" else stamp


def is_sealed(db: sqlite3.Connection) -> bool:
    """Return whether the rows of a run file have seals; files from before format 2 do not."""
    return db.execute("SELECT count(*) FROM pragma_table_info('scores') WHERE name='seal'").fetchone() == (1,)


def salt_in(db: sqlite3.Connection) -> bytes | None:
    """Return the salt of a run file, None without seals; refuse a damaged run name."""
    if not is_sealed(db):
        return None
    named = "SELECT key, value, seal FROM {} WHERE key='run_id'"
    for row in db.execute(f"{named.format('manifest')} UNION ALL {named.format('manifest_copy')}"):
        with suppress(TypeError, AttributeError, ValueError):
            salt = salt_of(orjson.loads(row[1]))
            if _light_is_intact(_checksum(salt, "manifest"), row[:2], row[2]):
                return salt
    raise sqlite3.DatabaseError("the name of the run differs from what was written")


def checked_rows(
    db: sqlite3.Connection,
    table: str,
    names: Sequence[str] | None = None,
    where: str = "",
    given: Sequence[Any] = (),
    *,
    spoilt: list[tuple[int, str]],
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table in the order of writing, except rows that were changed.

    Parameters
    ----------
    table : str
        A table of `COLUMNS`, or ``manifest_copy``, whose rows are those of the manifest.
    names : sequence of str, optional
        The columns to return; all by default. A large column that is not named is not read.
    where : str
        A condition, such as ``case_id=? AND trial=?``. Without a condition, also check that no row is missing.
    spoilt : list
        Receives the number and the name of every row that is left out.

    Raises
    ------
    sqlite3.DatabaseError
        If SQLite finds the file damaged, rows are missing or out of order, or the run's name is damaged.
    """
    source, table = table, "manifest" if table == "manifest_copy" else table
    names = COLUMNS[table] if names is None else tuple(names)
    with_large = LARGE.get(table) in names
    read = ORDER[table] if with_large else light_columns(table)
    wanted = None if names == read else [read.index(name) for name in names]
    if not where and not db.in_transaction:
        db.execute("BEGIN")  # the rows and their number are of one moment, also while the run goes on
    salt = salt_in(db)
    if salt is None and source != table:
        return
    empty = None if salt is None else _checksum(salt, table)
    sql = (
        f"SELECT {','.join(read)}, {'NULL' if salt is None else 'seal'}, rowid FROM "
        f"{source}{' WHERE ' if where else ''}{where} ORDER BY rowid"
    )
    last = counted = 0
    for row in db.execute(sql, given):
        counted += 1
        light, stamp, number = row[: -3 if with_large else -2], row[-2], row[-1]
        if number <= last:
            raise sqlite3.DatabaseError(f"the rows of {source} are out of order")
        last = number
        if (empty is not None and not _light_is_intact(empty, light, stamp)) or (
            with_large and not _large_is_intact(empty, table, light, row[-3], stamp)
        ):
            spoilt.append((number, f"{light[0]} trial {light[1]}" if "trial" in COLUMNS[table] else str(light[0])))
            continue
        yield row[:-2] if wanted is None else tuple([row[place] for place in wanted])
    if empty is not None and not where:
        (expected,) = db.execute(f"SELECT count(*) FROM {source} INDEXED BY {INDEX[source]}").fetchone()
        if counted != expected:
            raise sqlite3.DatabaseError(f"{source} contains {counted} of {expected} rows")


def _parted(table: str, row: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
    """Split a row, as SQLite returns it, into its light values and its large value."""
    large = row[COLUMNS[table].index(LARGE[table])] if table in LARGE else None
    light = [row[place] for place in _PLACES[table]]
    for place, name in _NUMBERED[table]:
        light[place] = _number(name, light[place])
    return tuple(light), large


def _number(name: str, value: Any) -> Any:
    """Convert a number to the type of its column; SQLite stores no NaN."""
    if not isinstance(value, int | float):
        return value
    if name in REALS:
        return float(value) if value == value else None
    return int(value) if value % 1 == 0 else value


def _light_is_intact(empty: blake2b, light: tuple[Any, ...], stamp: Any) -> bool:
    try:
        return isinstance(stamp, bytes) and _of(empty, orjson.dumps(light)) == stamp[:SIZE]
    except orjson.JSONEncodeError:  # bytes where there was text, or a number no column holds
        return False


def _large_is_intact(empty: blake2b | None, table: str, light: tuple[Any, ...], large: Any, stamp: Any) -> bool:
    """Return whether a record matches its hash, or another large value its half of the seal."""
    if table == "conversations":
        return isinstance(large, bytes) and content_hash(large) == light[RECORD_HASH]
    return empty is None or _of(empty, _bytes(large)) == stamp[SIZE:]


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _checksum(salt: bytes, table: str) -> blake2b:
    return blake2b(digest_size=SIZE, salt=salt, person=table.encode())


def _of(empty: blake2b, data: bytes) -> bytes:
    whole = empty.copy()
    whole.update(data)
    return whole.digest()
