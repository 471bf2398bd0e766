"""Lock and open the run file of a run, and write its rows through one writer."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from ..errors import BadInput
from ..runfile import ROWS_A_STATEMENT, Connection, RunFile, as_rows, connect_to_write, create, writing_rows
from .manifest import merged
from .plan import Plan

GROUP_S = 0.05
"""Seconds that a non-urgent row may wait in memory."""
URGENT_S = 0.001
"""Seconds that an urgent commit waits for other rows to join it."""

Row = tuple[Any, ...]
"""The values of a row, in the order of `runfile.COLUMNS`."""


class CannotSave(RuntimeError):
    """The run file can no longer be written; everything acknowledged before is safe."""


@contextmanager
def saving(path: Path) -> Iterator[Connection]:
    """Yield a connection for one transaction; raise `CannotSave` if it cannot be written."""
    try:
        with writing_rows(path) as db:
            yield db
    except sqlite3.Error as error:
        raise CannotSave(f"{path} cannot be written ({error})") from None


@contextmanager
def locked_run_file(plan: Plan) -> Iterator[RunFile]:
    """Yield the plan's run file, locked; delete a new file if the run is refused before a call."""
    path = plan.path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path.parent} cannot be created ({error.strerror}): choose another --out") from None
    with RunLock(path):
        begins = not path.exists()
        run = _begin(plan) if begins else _go_on(plan)
        try:
            yield run
        except BadInput:
            if begins and path.exists() and not any(run.counts().values()):
                path.unlink()
            raise


def _begin(plan: Plan) -> RunFile:
    try:
        create(plan.path, {**plan.manifest, "sessions": [plan.session]})
    except Exception as error:
        raise BadInput(f"{plan.path} cannot be written ({error}): choose another --out") from None
    return RunFile(plan.path)


def _go_on(plan: Plan) -> RunFile:
    run = RunFile(plan.path)
    spoilt = run.check()
    old = run.manifest
    new = {**merged(old, plan.manifest, plan.path), "sessions": [*old["sessions"], plan.session]}
    try:
        with closing(connect_to_write(plan.path)) as db:
            db.execute("BEGIN IMMEDIATE")
            for table, numbers in spoilt.items():
                db.executemany(f"DELETE FROM {table} WHERE rowid=?", [(number,) for number in numbers])
            db.execute("DELETE FROM manifest_copy WHERE key NOT IN (SELECT key FROM manifest)")
            db.put("manifest", as_rows(new))
            db.execute("COMMIT")
    except Exception as error:
        if "full" in str(error):  # a run can continue after a full disk; any other error is bad input
            raise CannotSave(f"{plan.path} cannot be written any more ({error})") from None
        why = "check its permissions, or choose another --out"
        raise BadInput(f"{plan.path} cannot be written ({error}): {why}") from None
    return run


class Writer:
    """Write rows into a run file from a separate thread; for use inside a running event loop."""

    def __init__(self, path: Path):
        self.path = path
        self.failure: CannotSave | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[str, Row, asyncio.Future[None]]] = deque()
        self._something, self._urgent, self._closing = threading.Event(), threading.Event(), False
        self._db = connect_to_write(path)
        self._thread = threading.Thread(target=self._work, name=f"writer of {path.name}", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Return the number of rows that are not on disk yet."""
        return len(self._waiting)

    def put(self, table: str, row: Row, urgent: bool = False) -> asyncio.Future[None]:
        """Queue a row; its future is done when the row is on disk, or fails with `CannotSave`."""
        future = self._loop.create_future()
        if self.failure:
            future.set_exception(self.failure)
        else:
            self._waiting.append((table, row, future))
            if urgent:
                self._urgent.set()
            if not self._something.is_set():
                self._something.set()
        future.add_done_callback(_was_seen)
        return future

    def close(self) -> None:
        """Commit the waiting rows and leave one plain file; block for the time of one commit."""
        self._closing = True
        self._urgent.set()
        self._something.set()
        self._thread.join()
        # If a reader has the file open, the log stays until the next run.
        with contextlib.suppress(sqlite3.Error):
            self._db.execute("PRAGMA journal_mode=DELETE")
        self._db.close()

    def _work(self) -> None:
        while not (self._closing and not self._waiting):
            self._something.wait()
            if self._urgent.wait(GROUP_S) and not self._closing:
                time.sleep(URGENT_S)
            self._urgent.clear()
            self._something.clear()
            batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if batch:
                self._commit(batch)

    def _commit(self, batch: list[tuple[str, Row, asyncio.Future[None]]]) -> None:
        try:
            if self.failure is None:
                self._write(batch)
        except Exception as error:  # every waiting future must get the error
            self.failure = CannotSave(f"{self.path} cannot be written any more ({error})")
            if self._db.in_transaction:
                with contextlib.suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for an answer
            self._loop.call_soon_threadsafe(_answer, [future for *_, future in batch], self.failure)

    def _write(self, batch: list[tuple[str, Row, asyncio.Future[None]]]) -> None:
        tables = defaultdict[str, list[Row]](list)
        for table, row, _ in batch:
            tables[table].append(row)
        # one statement is a transaction: one wait for the interpreter lock instead of three
        alone = len(tables) == 1 and len(batch) <= ROWS_A_STATEMENT
        if not alone:
            self._db.execute("BEGIN IMMEDIATE")
        for table, rows in tables.items():
            self._db.put(table, rows)
        if not alone:
            self._db.execute("COMMIT")


def _answer(futures: list[asyncio.Future[None]], failure: CannotSave | None) -> None:
    for future in futures:
        if future.done():
            continue
        if failure:
            future.set_exception(failure)
        else:
            future.set_result(None)


def _was_seen(future: asyncio.Future[None]) -> None:
    # retrieve the exception, so that asyncio does not log it: `Writer.failure` reports it
    if not future.cancelled():
        future.exception()


class RunLock:
    """Lock that keeps a second process from a run file; it ends with this process.

    All names of a file, through links or relative paths, share one lock. Raise `BadInput` on entry if another run has
    it, or if the file has a second hard link, under which another run could write it.
    """

    def __init__(self, path: Path):
        from filelock import FileLock

        self.path, self._real = path, Path(os.path.realpath(path))
        self._file = self._real.with_name(f".{self._real.name}.lock")
        self._lock = FileLock(self._file, timeout=0)

    @property
    def taken(self) -> bool:
        """True if a run has the lock now; a killed run has no lock."""
        if not self._file.exists():
            return False
        try:
            with self:
                return False
        except BadInput:
            return True

    def __enter__(self) -> Self:
        from filelock import Timeout

        if self._real.is_file() and self._real.stat().st_nlink > 1:
            what = f"{self.path} has another name on this disk (a hard link), and two logs would damage it"
            raise BadInput(f"{what}: copy it to a separate file")
        try:
            self._lock.acquire()
        except (Timeout, RuntimeError):
            what = f"{self.path} is being written by another run"
            raise BadInput(f"{what}: wait for it, or choose another --out") from None
        except OSError as error:
            raise BadInput(f"{self._real.parent} cannot be written ({error.strerror}): choose another --out") from None
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # removed while locked, so that a waiting run creates its own
            os.unlink(self._file)
        self._lock.release()
