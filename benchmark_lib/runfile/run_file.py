"""Read a run file, check its manifest, and set run files aside.

`RunFile` keeps no connection open between calls. During a run, only `benchmark_lib.experiment.writer` writes.
"""

import os
import re
import secrets
import shlex
import sqlite3
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..endpoint.prices import Price, find_price
from ..errors import BadInput
from ..records import LASTING, NOT_SCORED, OWN, TRIED_AGAIN, Conversation, Usage, source_of
from .tables import APPLICATION_ID, COLUMNS, FORMAT, LIGHT, SUFFIX, TOKENS, checked_rows, connect_to_read, take_in

DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""Exceptions for a damaged file; the second occurs when SQLite's message quotes damaged bytes."""
MAGIC = b"SQLite format 3\0"
FIRST_PAGE = 4096
SHOWN = 3
"""Maximum number of damaged rows that a warning names."""
IN_JSON = ("attempts", "verdict")
"""Columns whose values are returned as plain data."""


class RunFile:
    """A file written by ``deskbench run`` or `Experiment.run`, for reading.

    Raise `BadInput` if the file is missing, not a run file or, according to SQLite, damaged. A row that differs from
    what was written is left out and named in a warning; it counts as missing.
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
        rows = dict(self.rows("manifest_copy")) | dict(self.rows("manifest"))
        try:
            manifest = {key: orjson.loads(value) for key, value in rows.items()}
            wrong = wrong_part(manifest)
        except orjson.JSONDecodeError as error:
            wrong = f"a part that is not JSON ({error})"
        if wrong:
            raise BadInput(f"the manifest of {self.path} has {wrong}: restore the file from a copy, or exclude it")
        return manifest | {name: without_line_ends(manifest[name]) for name in ("run_id", "model")}

    @cached_property
    def run_id(self) -> str:
        """The name of the run, as it appears in every frame."""
        return self.manifest["run_id"]

    def conversations(self) -> Iterator[tuple[str, int, str, bytes]]:
        """Return rows (case_id, trial, record_hash, record as JSON), ordered by first completion."""
        return self.rows("conversations", ("case_id", "trial", "record_hash", "record"))

    def records(self) -> Iterator[Conversation]:
        """Yield the conversations as records."""
        for *_, record in self.conversations():
            yield Conversation.from_json(record)

    def record(self, case_id: str, trial: int) -> Conversation:
        """Return the record of one case and trial; raise `BadInput` if it is not on file."""
        # SQLite does not accept the number types of a frame
        row = next(self.rows("conversations", ("record",), (case_id, int(trial))), None)
        if row is None:
            raise BadInput(f"{self.path} has no conversation for case {case_id!r}, trial {trial}: choose another")
        return Conversation.from_json(row[0])

    def digests(self) -> dict[tuple[str, int], str]:
        """Return the record hash of each conversation on file, by (case_id, trial)."""
        return {(c, t): digest for c, t, digest in self.rows("conversations", ("case_id", "trial", "record_hash"))}

    def endings(self) -> dict[tuple[str, int], str]:
        """Return the ending of each conversation on file, by (case_id, trial)."""
        return {(c, t): e for c, t, e in self.rows("conversations", ("case_id", "trial", "ended_by"))}

    def scores(self, version: str | None = None) -> dict[str, dict[str, Any]]:
        """Return the scores by record hash: those of one scoring `version`, or the latest of each."""
        return {
            digest: {"version": scored_by, **orjson.loads(scores)}
            for digest, scored_by, scores in self.rows("scores")
            if version in (None, scored_by)
        }

    def verdicts(self) -> Iterator[dict[str, Any]]:
        """Return the judges' verdicts as dicts with record_hash, judge, version and verdict."""
        return self._dicts("verdicts")

    def calls(self, responses: bool = False, of: tuple[str, int] | None = None) -> Iterator[dict[str, Any]]:
        """Yield finished model calls as dicts by column: all, or those `of` one conversation.

        `responses` adds the response JSON. A cost that was unknown is computed from today's price file.
        """
        prices: dict[tuple[str, str], Price | None] = {}
        for call in self._dicts("calls", None if responses else LIGHT["calls"], of):
            if call["cost_usd"] is None and call["prompt_tokens"] is not None:
                who = call["side"], call["model"]
                if who not in prices:
                    prices[who] = _price(self.manifest, *who)
                if price := prices[who]:
                    call["cost_usd"] = price.cost_usd(Usage(*(call[name] or 0 for name in TOKENS)))
            yield call

    def calls_of(self, case_id: str, trial: int) -> list[dict[str, Any]]:
        """Return the finished calls of one conversation, without texts, ordered by end time."""
        return sorted(self.calls(of=(case_id, int(trial))), key=lambda call: call["finished_at"])

    def calls_by_conversation(self) -> dict[tuple[str, int], list[dict[str, Any]]]:
        """Return the calls of every conversation as `calls_of` does, by case and trial."""
        calls = defaultdict(list)
        for call in sorted(self.calls(), key=lambda call: call["finished_at"]):
            calls[call["case_id"], call["trial"]].append(call)
        return calls

    def faults(self) -> Iterator[dict[str, Any]]:
        """Return calls that failed permanently: case_id, trial, side, kind, detail, attempts, at."""
        return self._dicts("faults")

    def unscored_faults(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of `faults` whose conversations have not been completed since."""
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
        costs = [call["cost_usd"] for call in self.calls()]
        return sum((cost for cost in costs if cost is not None), 0.0), costs.count(None)

    def own_calls(self) -> int | None:
        """Return the number of calls that the user's own agent charged; None for other runs."""
        if source_of(self.manifest) != OWN:
            return None
        return sum(record.usage["agent"].calls for record in self.records() if "agent" in record.usage)

    def counts(self) -> dict[str, int]:
        """Return the numbers of finished conversations, of those to try again, and of calls."""
        endings = self.endings().values()
        again = sum(ending in TRIED_AGAIN for ending in endings)
        with self._reading() as db:
            (calls,) = db.execute("SELECT count(*) FROM calls").fetchone()
        return {"finished": len(endings) - again, "again": again, "calls": calls}

    def check(self) -> dict[str, list[int]]:
        """Read every page and row and return the damaged rows by table; refuse a damaged file."""
        with self._reading() as db:
            (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if answer != "ok":
                raise sqlite3.DatabaseError(answer)
        spoilt: dict[str, list[tuple[int, str]]] = {table: [] for table in COLUMNS}
        for table, rows in spoilt.items():
            for _ in self.rows(table, spoilt=rows):
                pass
        return {table: [number for number, _ in rows] for table, rows in spoilt.items()}

    def rows(
        self,
        table: str,
        names: Sequence[str] | None = None,
        of: tuple[str, int] | None = None,
        spoilt: list[tuple[int, str]] | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a table as `checked_rows` does, and warn about those it leaves out."""
        spoilt = [] if spoilt is None else spoilt
        with self._reading() as db:
            yield from checked_rows(db, table, names, of, spoilt)
        if spoilt:
            first = f"{', '.join(name for _, name in spoilt[:SHOWN])}{', ...' * (len(spoilt) > SHOWN)}"
            warnings.warn(
                f"{self.path} has {len(spoilt)} of its {table} left out, because their bytes differ from those that "
                f"were written: {first}",
                stacklevel=2,
            )

    def _dicts(self, table: str, names: Sequence[str] | None = None, of: Any = None) -> Iterator[dict[str, Any]]:
        for row in self.rows(table, names, of):
            named = zip(names or COLUMNS[table], row)
            yield {name: orjson.loads(value) if name in IN_JSON else value for name, value in named}

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connect_to_read(self.path)) as db:
                yield db
        except DAMAGE as error:
            raise (
                _absent(self.path)
                if not self.path.exists()
                else BadInput(f"{self.path} is damaged ({error}): {_mending(self.path)}")
            ) from None


def _check_header(path: Path) -> None:
    # refuse a missing or foreign file by its first page; complete one that sqlite3 recovered
    if os.path.exists(path) and not os.path.isfile(path):
        raise BadInput(f"{path} cannot be read as a run file (it is not a file): name the file itself")
    try:
        with open(path, "rb") as file:
            head = file.read(FIRST_PAGE)
    except FileNotFoundError:
        raise _absent(path) from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read as a run file ({error.strerror}): name the file itself") from None
    number, version = (int.from_bytes(head[at : at + 4], "big") for at in (68, 60))
    if head[:16] == MAGIC and (number == 0 or b"TABLE lost_and_found" in head):
        try:
            take_in(path)
            return
        except sqlite3.Error as error:
            if number == APPLICATION_ID:
                raise BadInput(f"{path} has recovered rows that cannot be put in place ({error})") from None
    if len(head) < 100 or head[:16] != MAGIC or number != APPLICATION_ID:
        mend = f"; if it is a run file whose beginning is damaged, {_mending(path)}" * (path.suffix == SUFFIX)
        raise BadInput(f"{path} is not a run file: name a file that `deskbench run` wrote{mend}")
    if version != FORMAT:
        age, mend = ("a newer", "update it") if version > FORMAT else ("an unreleased", "play the run again")
        raise BadInput(f"{path} was written by {age} Deskbench (format {version}, this one reads {FORMAT}): {mend}")


def _price(manifest: dict[str, Any], side: str, model: str) -> Price | None:
    # None if unknown, not the same at each endpoint of the run, or paid by somebody else
    if manifest["source"] == "imported":
        return None
    prices = {find_price(model, url) for url in addresses(manifest).get(side, [None])}
    return prices.pop() if len(prices) == 1 else None


def _absent(path: Path) -> BadInput:
    return BadInput(f"no run file at {path}: name a file that `deskbench run` wrote")


def _mending(path: Path) -> str:
    # how to copy the intact rows of a damaged file to a new file
    old, new = (shlex.quote(str(one)) for one in (path, path.with_name(f"{path.stem}-mended{SUFFIX}")))
    return (
        f"copy what is intact with `sqlite3 {old} .recover | sqlite3 {new}` and continue with the copy "
        "(the sqlite3 shell in Debian 13 has .recover; those in Debian 12 and Ubuntu 24.04 do not)"
    )


# --- Manifests

OLD = "old"
"""The subfolder for run files that were set aside."""
LINE_ENDS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Input(_Strict):
    value: Any
    hash: str


class _Session(_Strict):
    code: dict[str, Any] = {}


class _Manifest(_Strict):
    run_id: str
    model: str
    source: str
    inputs: dict[str, _Input]
    cases: dict[str, str]
    trials: int
    planned: dict[str, Annotated[int, Field(ge=0)]] = Field(min_length=1)
    sessions: list[_Session]

    @field_validator("inputs")
    @classmethod
    def _names_its_store(cls, inputs: dict[str, _Input]) -> dict[str, _Input]:
        if "store" not in inputs:
            raise ValueError("the store is missing")
        return inputs


def wrong_part(manifest: dict[str, Any]) -> str | None:
    """Describe the first part of a manifest that is missing or wrong; None if all are fine."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
        return f"no {place}" if first["type"] == "missing" else f"a wrong {place} ({message})"
    return None


def addresses(manifest: dict[str, Any]) -> dict[str, list[str]]:
    """Return the addresses of a run's models by side, each address once."""
    urls: dict[str, list[str]] = {}
    for one in manifest["sessions"]:
        for side, at in one.get("endpoints", {}).items():
            known = urls.setdefault(side, [])
            known += [at["base_url"]] * (at["base_url"] not in known)
    return urls


def without_line_ends(text: str) -> str:
    """Replace each sequence of tabs and line ends in a name or line with one space."""
    return LINE_ENDS.sub(" ", text)


def set_aside(path: Path) -> Path:
    """Move a run file into ``old/``, from which nothing is loaded; return its new path."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    new = path.parent / OLD / f"{path.stem[:200]}-{stamp}-{secrets.token_hex(2)}{path.suffix}"
    new.parent.mkdir(exist_ok=True)
    return path.replace(new)
