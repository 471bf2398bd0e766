"""A run file for reading.

`RunFile` keeps no connection open between two calls, so it can be copied, pickled and used during the run. During a
run, only `benchmark_lib.experiment.writer` writes.
"""

import os
import shlex
import sqlite3
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson

from ..errors import BadInput
from ..records import LASTING, NOT_SCORED, OWN, TRIED_AGAIN, Conversation, source_of
from .manifests import without_line_ends, wrong_part
from .schema import APPLICATION_ID, FORMAT, SUFFIX, refuse_foreign, take_in
from .seals import COLUMNS, checked_rows, light_columns

DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions raised by a damaged file; the second where SQLite's own message quotes damaged bytes."""
FIRST_PAGE = 4096
SHOWN = 3
"""Damaged rows that a warning names."""


class RunFile:
    """A file written by ``deskbench run`` or `Experiment.run`, for reading.

    Raise `BadInput` if the file is missing, is not a run file, or SQLite finds it damaged. Leave out a row that differs
    from what was written, and name it in a warning: it counts as missing.
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
        """Inputs of a run: run_id, model, source, hashed inputs and cases, planned trials, sessions.

        Raise `BadInput` if a part is missing or of the wrong type.
        """
        both = dict(self._rows("manifest_copy")) | dict(self._rows("manifest"))
        found = {key: self._json(value) for key, value in both.items()}
        wrong = wrong_part(found)
        if wrong:
            raise BadInput(f"the manifest of {self.path} has {wrong}: restore the file from a copy, or exclude it")
        return found | {name: without_line_ends(found[name]) for name in ("run_id", "model")}

    @cached_property
    def run_id(self) -> str:
        """The name of the run, as in every frame."""
        return self.manifest["run_id"]

    def conversations(self) -> Iterator[tuple[str, int, str, bytes]]:
        """Yield rows (case_id, trial, record_hash, record as JSON) in the order of first completion."""
        yield from self._rows("conversations", ("case_id", "trial", "record_hash", "record"))

    def records(self) -> Iterator[Conversation]:
        """Yield the conversations as records."""
        for *_, record in self.conversations():
            yield Conversation.from_json(record)

    def record(self, case_id: str, trial: int) -> Conversation:
        """Return the record of one case and trial; raise `BadInput` if it is not on file."""
        key = (case_id, int(trial))  # a frame's own numbers are not those of SQLite
        row = next(self._rows("conversations", ("record",), "case_id=? AND trial=?", key), None)
        if row is None:
            raise BadInput(f"{self.path} has no conversation for case {case_id!r}, trial {trial}: choose another")
        return Conversation.from_json(row[0])

    def endings(self) -> dict[tuple[str, int], str]:
        """Return the ending of each conversation on file, by (case_id, trial)."""
        return {(c, t): e for c, t, e in self._rows("conversations", ("case_id", "trial", "ended_by"))}

    def scores(self, version: str | None = None) -> dict[str, dict[str, Any]]:
        """Return the scores by record hash: those of one scoring `version`, or the latest of each."""
        rows = self._rows("scores")
        return {
            digest: {"version": named, **self._json(scores, dict)}
            for digest, named, scores in rows
            if version in (None, named)
        }

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """Yield judges' verdicts as dicts: record_hash, judge, version, verdict."""
        for row in self._dicts("verdicts"):
            yield {**row, "verdict": self._json(row["verdict"], dict)}

    def calls(self, responses: bool = False) -> Iterator[dict[str, Any]]:
        """Yield finished model calls as dicts by column; `responses` adds the response JSON."""
        for row in self._dicts("calls", None if responses else light_columns("calls")):
            yield {**row, "attempts": self._json(row["attempts"], list)}

    def calls_of(self, case_id: str, trial: int) -> list[dict[str, Any]]:
        """Return the finished calls of one conversation, without texts, in the order of their ends."""
        return self.calls_by_conversation("case_id=? AND trial=?", (case_id, int(trial))).get((case_id, int(trial)), [])

    def calls_by_conversation(
        self, where: str = "", given: Sequence[Any] = ()
    ) -> dict[tuple[str, int], list[dict[str, Any]]]:
        """Return the finished calls by case and trial, without texts, in the order of their ends."""
        names, found = light_columns("calls"), defaultdict(list)
        for row in self._rows("calls", names, where, given):
            call = dict(zip(names, row, strict=True))
            found[call["case_id"], call["trial"]].append(call)
        return {key: sorted(calls, key=lambda call: call["finished_at"]) for key, calls in found.items()}

    def rows(self, table: str, names: Sequence[str] | None = None) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table as stored, with all columns or only `names`."""
        yield from self._rows(table, names)

    def faults(self) -> Iterator[dict[str, Any]]:
        """Yield the calls that failed permanently: case_id, trial, side, kind, detail, attempts, at."""
        for row in self._dicts("faults"):
            yield {**row, "attempts": self._json(row["attempts"], list)}

    def unscored_faults(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of `faults` whose conversations have not reached a score since."""
        endings = self.endings()
        for fault in self.faults():
            if endings.get((fault["case_id"], fault["trial"]), LASTING) in NOT_SCORED:
                yield fault

    def finished(self, retry: bool = False) -> set[tuple[str, int]]:
        """Return the conversations that need no call; `retry` excludes those with a lasting fault."""
        missing = NOT_SCORED if retry else TRIED_AGAIN
        return {key for key, ending in self.endings().items() if ending not in missing}

    def cost(self) -> tuple[float, int]:
        """Return the cost of the calls in US dollars, and the number of calls without a price."""
        costs = [cost for (cost,) in self._rows("calls", ("cost_usd",))]
        return sum((cost for cost in costs if cost is not None), 0.0), costs.count(None)

    def own_calls(self) -> int:
        """Return the number of calls by the user's own agent, which are not on file."""
        if source_of(self.manifest) != OWN:
            return 0
        return sum(record.usage["agent"].calls for record in self.records() if "agent" in record.usage)

    def counts(self) -> dict[str, int]:
        """Return the numbers of finished conversations, of those to try again, and of calls."""
        endings = list(self.endings().values())
        again = sum(e in TRIED_AGAIN for e in endings)
        with self._reading() as db:
            (calls,) = db.execute("SELECT count(*) FROM calls").fetchone()
        return {"finished": len(endings) - again, "again": again, "calls": calls}

    def check(self) -> dict[str, list[int]]:
        """Read every page and row and return the damaged rows by table; refuse a damaged file."""
        spoilt = {}
        with self._reading() as db:
            (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(answer)
        for table in COLUMNS:
            rows: list[tuple[int, str]] = []
            for _ in self._rows(table, spoilt=rows):
                pass
            spoilt[table] = [number for number, _ in rows]
        return spoilt

    def check_calls(self) -> None:
        """Warn of conversations with fewer calls on file than their record charges to a model."""
        there = Counter(
            (case_id, trial, side) for case_id, trial, side in self.rows("calls", ("case_id", "trial", "side"))
        )
        inputs = self.manifest["inputs"]
        if "fork" in inputs:  # the calls before a fork are on file where it comes from
            return
        models = {"agent"} if self.manifest["source"] == "model" and not inputs.get("agent", {}).get("value") else set()
        models |= {side for *_, side in there}
        for record in self.records():
            for side, usage in record.usage.items():
                key = (record.case_id, record.trial, side)
                if side in models and there[key] < usage.calls:
                    warnings.warn(
                        f"{self.path} has {there[key]} of the {usage.calls} calls of the {side} in "
                        f"{record.case_id} trial {record.trial}: "
                        "rows were deleted or lost, so the cost of the run is understated: use a complete copy "
                        "if there is one",
                        stacklevel=2,
                    )

    def _json(self, text: str | bytes, kind: type = object) -> Any:
        """Return the parsed value; only files without seals can have invalid JSON or a wrong type."""
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise _damaged(self.path, error) from None
        if not isinstance(value, kind):
            raise _damaged(self.path, ValueError(f"{str(value)[:40]!r} is of the wrong type"))
        return value

    def _dicts(self, table: str, names: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        for row in self._rows(table, names):
            yield dict(zip(names or COLUMNS[table], row))

    def _rows(
        self,
        table: str,
        names: Sequence[str] | None = None,
        where: str = "",
        given: Sequence[Any] = (),
        spoilt: list[tuple[int, str]] | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        spoilt = [] if spoilt is None else spoilt
        with self._reading() as db:
            yield from checked_rows(db, table, names, where, given, spoilt=spoilt)
        if spoilt:
            named = f"{', '.join(name for _, name in spoilt[:SHOWN])}{', ...' * (len(spoilt) > SHOWN)}"
            warnings.warn(
                (
                    f"{self.path} has {len(spoilt)} of its {table} left out, because their bytes differ from "
                    f"those that were written: {named}"
                ),
                stacklevel=2,
            )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect_to_read(self.path)) as db:
                yield db
        except DAMAGE as error:
            raise _damaged(self.path, error) from None


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


def _check_header(path: Path) -> None:
    """Refuse a missing or foreign file by its first page; complete one that sqlite3 recovered."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise BadInput(f"{path} cannot be read as a run file (it is not a file): name the file itself")
    try:
        with open(path, "rb") as file:
            head = file.read(FIRST_PAGE)
    except FileNotFoundError:
        raise _absent(path) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read as a run file ({error.strerror}): name the file itself") from None
    number = int.from_bytes(head[68:72], "big")
    if head[:16] == b"SQLite format 3\0" and (number == 0 or b"TABLE lost_and_found" in head):
        try:
            take_in(path)
        except sqlite3.Error as error:
            if number == APPLICATION_ID:
                raise BadInput(f"{path} has recovered rows that cannot be put in place ({error})") from None
        else:
            return
    if len(head) < 100 or head[:16] != b"SQLite format 3\0" or number != APPLICATION_ID:
        mend = f"; if it is one whose beginning is damaged, {_mending(path)}" * (path.suffix == SUFFIX)
        raise BadInput(f"{path} is not a run file: name a file that `deskbench run` wrote{mend}")
    version = int.from_bytes(head[60:64], "big")
    if version > FORMAT:
        raise BadInput(
            f"{path} was written by a newer Deskbench (format {version}, this one reads {FORMAT}): update it"
        )


def _damaged(path: Path, error: Exception) -> BadInput:
    if not path.exists():
        return _absent(path)
    return BadInput(f"{path} is damaged ({error}): {_mending(path)}")


def _absent(path: Path) -> BadInput:
    return BadInput(f"no run file at {path}: name a file that `deskbench run` wrote")


def _mending(path: Path) -> str:
    """Return how to copy the intact rows of a damaged file to a new file."""
    old, new = (shlex.quote(str(one)) for one in (path, path.with_name(f"{path.stem}-mended{SUFFIX}")))
    return (
        f"copy what is intact with `sqlite3 {old} .recover | sqlite3 {new}` and continue with the copy "
        "(the sqlite3 shell in Debian 13 has .recover; those in Debian 12 and Ubuntu 24.04 do not)"
    )
