"""The run file of a run: its lock, how it is opened, and the one writer of its rows."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, Self, cast

import orjson

from ..errors import BadInput
from ..records import LASTING, TRIED_AGAIN, content_hash
from ..runfile import RunFile, connect_to_write, create, upsert
from ..runfile.seals import salt_in, seal
from .manifest import merged, now
from .plan import Plan
from .recorder import TRIES
from .scoring import scores_as_json


def end_lasting(plan: Plan, run: RunFile) -> None:
    """Write `LASTING` as the ending of each conversation of a plan that has used up its `TRIES`."""
    failed = Counter((fault["case_id"], fault["trial"], fault["kind"]) for fault in run.faults())
    lasting = {(case_id, trial) for (case_id, trial, kind), count in failed.items() if count >= TRIES.get(kind, inf)}
    endings = run.endings() if lasting else {}
    rows = []
    for case, trial in plan.pairs():
        if (case.id, trial) in lasting and endings.get((case.id, trial)) in TRIED_AGAIN:
            record = run.record(case.id, trial)
            record.ended_by = LASTING
            data = record.to_json()
            row = (case.id, trial, LASTING, content_hash(data), data, now())
            rows.append((row, scores_as_json(plan.score, record, case)[0]))
    if not rows:
        return
    with closing(connect_to_write(run.path)) as db:
        db.execute("BEGIN IMMEDIATE")
        for row, scores in rows:
            db.execute(upsert("conversations"), row)
            db.execute(upsert("scores"), (row[3], plan.scoring_version, scores))
        db.execute("COMMIT")
        db.execute("PRAGMA journal_mode=DELETE")


@contextmanager
def locked_run_file(plan: Plan) -> Iterator[RunFile]:
    """Yield the plan's run file, locked; delete a new one if the run is refused before a call."""
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
            if begins and not any(run.counts().values()):
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
    run.check_calls()
    old = run.manifest
    new = merged(old, plan.manifest, plan.path)
    new["sessions"] = [*old["sessions"], plan.session]
    try:
        with closing(connect_to_write(plan.path)) as db:
            db.execute("BEGIN IMMEDIATE")
            for table, numbers in spoilt.items():
                db.executemany(f"DELETE FROM {table} WHERE rowid=?", [(number,) for number in numbers])
            db.execute("DELETE FROM manifest_copy WHERE key NOT IN (SELECT key FROM manifest)")
            for key, value in new.items():
                db.execute(upsert("manifest"), (key, orjson.dumps(value).decode()))
            db.execute("COMMIT")
    except Exception as error:
        if "full" in str(error):  # a run can continue after a full disk; any other error is bad input
            raise CannotSave(f"{plan.path} cannot be written any more ({error})") from None
        why = "check its permissions, or choose another --out"
        raise BadInput(f"{plan.path} cannot be written ({error}): {why}") from None
    return run


GROUP_S = 0.05
"""Seconds that a non-urgent row may wait in memory."""
URGENT_S = 0.001
"""Seconds that an urgent commit waits for other rows to join it."""
ROWS_A_STATEMENT = 40
"""Rows per SQL statement: the interpreter lock is released once per statement, not once per row."""


class CannotSave(RuntimeError):
    """The run file can no longer be written; everything acknowledged before is safe."""


class Writer:
    """Writer of rows into a run file, from its own thread; use it inside a running event loop."""

    def __init__(self, path: Path):
        self.path = path
        self.failure: CannotSave | None = None
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[str, tuple[Any, ...], asyncio.Future[None]]] = deque()
        self._something, self._urgent, self._closing = threading.Event(), threading.Event(), False
        self._db = connect_to_write(path)
        self._salt = cast(bytes, salt_in(self._db))  # connecting to write adds missing seals first
        self._thread = threading.Thread(target=self._work, name=f"writer of {path.name}", daemon=True)
        self._thread.start()

    @property
    def backlog(self) -> int:
        """Return the number of rows that are not on disk yet."""
        return len(self._waiting)

    def put(self, table: str, row: tuple[Any, ...], urgent: bool = False) -> asyncio.Future[None]:
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

    def _commit(self, batch: list[tuple[str, tuple[Any, ...], asyncio.Future[None]]]) -> None:
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

    def _write(self, batch: list[tuple[str, tuple[Any, ...], asyncio.Future[None]]]) -> None:
        statements = []
        for table, group in groupby(sorted(batch, key=lambda item: item[0]), key=lambda item: item[0]):
            rows = [row for _, row, _ in group]
            for start in range(0, len(rows), ROWS_A_STATEMENT):
                some = rows[start : start + ROWS_A_STATEMENT]
                values = [value for row in some for value in (*row, seal(self._salt, table, row))]
                statements.append((upsert(table, len(some), sealed=True), values))
        if len(statements) == 1:  # one statement is a transaction: one wait for the interpreter lock instead of three
            self._db.execute(*statements[0])
            return
        self._db.execute("BEGIN IMMEDIATE")
        for statement in statements:
            self._db.execute(*statement)
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
    """Retrieve the exception, so that asyncio does not log it: `Writer.failure` reports it."""
    if not future.cancelled():
        future.exception()


class RunLock:
    """Lock of a run file against a second process; it ends with this process.

    All names of a file, through links or relative paths, share one lock. Raise `BadInput` on entry if another run has
    the lock. Also raise it if the file has a second name on the disk (a hard link), under which another run could write
    it.
    """

    def __init__(self, path: Path):
        from filelock import FileLock

        self.path = path
        self._real = Path(os.path.realpath(path))
        self._file = self._real.with_name(f".{self._real.name}.lock")
        self._lock = FileLock(self._file, timeout=0)

    def __enter__(self) -> Self:
        from filelock import Timeout

        if self._real.is_file() and self._real.stat().st_nlink > 1:
            raise BadInput(
                f"{self.path} has another name on this disk (a hard link), and two logs would damage it: copy "
                "it to a separate file"
            )
        try:
            self._lock.acquire()
        except (Timeout, RuntimeError):
            raise BadInput(
                f"{self.path} is being written by another run: wait for it, or choose another --out"
            ) from None
        except OSError as error:
            raise BadInput(f"{self._real.parent} cannot be written ({error.strerror}): choose another --out") from None
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):  # removed while locked, so that a waiting run notices and creates its own
            os.unlink(self._file)
        self._lock.release()
