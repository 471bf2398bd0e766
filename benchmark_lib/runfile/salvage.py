"""Copying what is intact of a damaged run file.

Rows are looked for twice: the way SQLite finds them, which also sees what a killed run left in its log, and page by
page, which needs neither header nor tree. Whatever is found counts only with its seal; files from before seals are read
in the first way alone.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from ..errors import BadInput
from ..outputs import built_beside, require_absent, writing
from .manifests import wrong_part
from .schema import KEYS, SCHEMA, connect_to_write, create, upsert
from .seals import COLUMNS, INDEX, intact, is_sealed, record_fits, salt_in, salt_of
from .sqlite_pages import rows_on_pages

GIVE_UP_AFTER = 5000
"""Row numbers that may be unreadable one after another before the rest of a damaged table is given up."""
GIVE_UP_SEALED_AFTER = 50
"""The same where the pages are read one by one as well."""
LAST_NUMBER = 2**63 - 1
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a damaged file raises: the second where SQLite's own message quotes what is damaged."""
JSON_COLUMNS = frozenset(("value", "response", "attempts", "record", "scores", "verdict"))


@dataclass(frozen=True)
class Recovered:
    """What `recover` found: rows copied, by table, and how many are known to be lost; there may have been more."""

    rows: dict[str, int]
    lost: int


@dataclass
class _Found:
    """Intact rows by table and key, each with its number, and how many rows of each table there should be."""

    rows: dict[str, dict[Any, tuple[int, tuple[Any, ...]]]] = field(
        default_factory=lambda: {table: {} for table in COLUMNS}
    )
    expected: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COLUMNS, 0))

    def add(self, table: str, number: int, row: tuple[Any, ...]) -> None:
        """Keep a row, unless one with its key was found before."""
        key = tuple(row[COLUMNS[table].index(name)] for name in KEYS[table]) or (number, row)
        self.rows[table].setdefault(key, (number, row))

    def expect(self, table: str, count: int) -> None:
        """Note how many rows there should be."""
        self.expected[table] = max(self.expected[table], count)

    def in_order(self, table: str) -> list[tuple[Any, ...]]:
        """The rows of a table in the order in which they were written first."""
        return [row for _, row in sorted(self.rows[table].values(), key=lambda numbered: numbered[0])]

    @property
    def lost(self) -> int:
        """Rows that should be there and are not."""
        return sum(max(0, self.expected[table] - len(rows)) for table, rows in self.rows.items())


def recover(path: str | Path, out: str | Path) -> Recovered:
    """Copy what is intact of a damaged run file to a new one; the damaged one is left as it is.

    Scores that were lost can be made again by ``deskbench score``. `BadInput` if `out` exists or cannot be written, or
    the manifest cannot be read; no file is then left behind.
    """
    path, out = Path(path), Path(out)
    if not os.path.isfile(path):
        raise BadInput(f"no run file at {path}: give the path of a file that `deskbench run` wrote")
    require_absent(out)
    try:
        found = _search(path, tuple(COLUMNS))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): name the run file itself") from None
    if not any(found.rows.values()):
        raise BadInput(
            f"{path} is not a run file, or nothing of it is intact: give a file that `deskbench run` wrote, or restore it from a copy"
        )
    manifest = {}
    for key, value in found.in_order("manifest"):
        with suppress(orjson.JSONDecodeError):  # whole as it was written, and written wrong: it counts as missing
            manifest[key] = orjson.loads(value)
    wrong = wrong_part(manifest)
    if wrong:
        raise BadInput(f"nothing of {path} can be recovered, its manifest has {wrong}: restore the file from a copy")
    with writing(out, "--out", sqlite3.Error), built_beside(out) as building:
        create(building, manifest)
        with closing(connect_to_write(building)) as db:
            db.execute("BEGIN")
            for table in COLUMNS:
                if table != "manifest":
                    db.executemany(upsert(table), found.in_order(table))
            db.execute("COMMIT")
            db.execute("PRAGMA journal_mode=DELETE")
    return Recovered({table: len(rows) for table, rows in found.rows.items()}, found.lost)


def readable(path: Path) -> int:
    """How many conversations of a damaged file are intact."""
    try:
        return len(_search(path, ("conversations",)).rows["conversations"])
    except OSError:
        return 0


def _search(path: Path, tables: Sequence[str]) -> _Found:
    """Every intact row of some tables of a file."""
    found, salt = _Found(), _salt(path)
    with suppress(*DAMAGE), closing(_connect(path)) as db:
        if salt is None and is_sealed(db):
            salt = salt_in(db)  # of a file whose manifest lies in the log alone; without it no row can be trusted
        for table in tables:
            visited = 0
            for number, stamp, row in _rows(db, table, salt is not None):
                visited += 1
                if intact(salt, table, row, stamp) if salt else _plausible(table, row):
                    found.add(table, number, row)
            found.expect(table, visited)
            with suppress(*DAMAGE):
                (count,) = db.execute(f"SELECT count(*) FROM {table} INDEXED BY {INDEX[table]}").fetchone()
                found.expect(table, count)
    if salt:
        for table, number, stamp, row in _rows_on_pages(path, tables):
            if intact(salt, table, row, stamp):
                found.add(table, number, row)
    return found


def _salt(path: Path) -> bytes | None:
    """The salt of a file, from any row on its pages that holds the run's name and carries the seal that goes with it.

    A page of another file may hold another run's name: the salt is then the one that most rows were sealed with.
    """
    names = ((_salt_of_row(row), row, stamp) for _, _, stamp, row in _rows_on_pages(path, ("manifest",)))
    salts = list(dict.fromkeys(salt for salt, row, stamp in names if salt and intact(salt, "manifest", row, stamp)))
    if len(salts) < 2:
        return next(iter(salts), None)
    rows = list(_rows_on_pages(path, tuple(COLUMNS)))
    return max(salts, key=lambda salt: sum(intact(salt, table, row, stamp) for table, _, stamp, row in rows))


def _salt_of_row(row: tuple[Any, ...]) -> bytes | None:
    with suppress(AttributeError, TypeError, ValueError):
        return salt_of(orjson.loads(row[1])) if row[0] == "run_id" else None
    return None


def _rows_on_pages(path: Path, tables: Sequence[str]) -> Iterator[tuple[str, int, Any, tuple[Any, ...]]]:
    """Rows (table, number, seal, values in the order of `COLUMNS`), as the pages hold them."""
    layouts = _layouts(tables)
    for number, values in rows_on_pages(path, set(layouts)):
        table, stamp, places = layouts[len(values)]
        yield table, number, values[stamp], tuple(values[place] for place in places)


def _layouts(tables: Sequence[str]) -> dict[int, tuple[str, int, list[int]]]:
    """By number of columns, which no two tables share: the table, and the places of its seal and of its `COLUMNS`."""
    found = {}
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(SCHEMA)
        for table in tables:
            names = [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
            found[len(names)] = (table, names.index("seal"), [names.index(name) for name in COLUMNS[table]])
    return found


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)
    db.execute("PRAGMA writable_schema=ON")  # read-only as it is, this makes SQLite look at a file that is cut short
    return db


def _rows(db: sqlite3.Connection, table: str, sealed: bool) -> Iterator[tuple[int, Any, tuple[Any, ...]]]:
    """Rows (number, seal, values) as SQLite finds them, whatever is broken between them."""
    sql = f"SELECT rowid, {'seal' if sealed else 'NULL'}, {','.join(COLUMNS[table])} FROM {table} WHERE rowid > ? ORDER BY rowid"
    last = misses = 0
    while misses < (GIVE_UP_SEALED_AFTER if sealed else GIVE_UP_AFTER) and last < LAST_NUMBER:
        try:
            for number, stamp, *row in db.execute(sql, (last,)):
                if number > last:  # in a broken tree the numbers may also fall, and would lead back to where this began
                    last, misses = number, 0
                yield number, stamp, tuple(row)
            return
        except DAMAGE:
            last, misses = last + 1, misses + 1


def _plausible(table: str, row: tuple[Any, ...]) -> bool:
    """Whether a row without a seal can be what was written: its record fits its hash, and what should be JSON is."""
    if table == "conversations" and not record_fits(row[3], row[4]):
        return False
    with suppress(TypeError, ValueError):
        for name, value in zip(COLUMNS[table], row):
            if name in JSON_COLUMNS:
                orjson.loads(value)
        return True
    return False
