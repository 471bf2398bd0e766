"""Logged conversations of a support desk, one at a time: JSON lines, or result files of other harnesses."""

import gzip
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from ...errors import BadInput
from ...records import Conversation
from ..claims.actions import REFUND
from ..exchange.flat_chats import FlatChat
from ..exchange.inspect_in import read_inspect
from ..exchange.tau_files import read_tau2, results_file

FORMATS = ("jsonl", "tau2", "inspect")
SUFFIXES = {".eval": "inspect"}
NAMES = ("id", "conversation_id", "ticket_id", "thread_id", "session_id")
TIMES = ("at", "started_at", "created_at", "timestamp", "time", "date", "start_time")
"""Fields with the times of conversations: of the line, its ``metadata``, or its first message."""
ROLES = {"user": "customer", "customer": "customer", "assistant": "agent", "agent": "agent"}
UNSPOKEN = frozenset({"system", "developer"})
LONGEST_LINE = 32_000_000
"""Bytes of the longest line."""
MILLISECONDS = 1e11
"""Larger time numbers are milliseconds since 1970, smaller ones seconds."""
YEARS = range(1970, 2200)
"""Possible years of a conversation; any other year is a mistake in the log."""
OR_LEAVE_OUT = "or leave such lines out with --leave-out-bad"
READS, REFUNDS, OTHER = "read", REFUND, "other"
"""Acts other than a desk's tools: a tool without changes, a refund, and a change that no measure uses."""
ACTS = frozenset({READS, REFUNDS, OTHER})


@dataclass(slots=True)
class Logged:
    """A conversation of a log.

    Attributes
    ----------
    name : str
        Its id, or else its place.
    place : str
        File and line, or number in the file.
    at : datetime
        Its beginning, in UTC.
    record : Conversation
        Its messages and calls, with the desk's tool names.
    named : bool
        Whether it has an id.
    handed_over : bool or None
        Whether the log says that a person took over; None if it does not say.
    link : str or None
        Its address in the desk's own system, if the log has one.
    """

    name: str
    place: str
    at: datetime
    record: Conversation
    named: bool = True
    handed_over: bool | None = None
    link: str | None = None


@dataclass
class LeftOut:
    """Number of omitted lines, and the reason for the first."""

    lines: int = 0
    first: str = ""

    def add(self, why: str) -> None:
        """Count a line."""
        self.lines += 1
        self.first = self.first or why


@dataclass(frozen=True)
class LogFormat:
    """Settings for reading logs.

    Attributes
    ----------
    format : str or None
        A format of `FORMATS`; by default from the file's name, else JSON lines.
    tools : dict of str to str
        The act of each tool in the log: the name of a desk's tool, or one of `ACTS`.
    left_out : LeftOut or None
        Counter of unreadable lines; with None the first such line is refused.
    notes : list of str
        Notes on whole files, added during reading.
    """

    format: str | None = None
    tools: Mapping[str, str] = field(default_factory=dict)
    left_out: LeftOut | None = None
    notes: list[str] = field(default_factory=list)


def read_logs(paths: Iterable[str | Path], how: LogFormat | None = None) -> Iterator[Logged]:
    """Yield the conversations of logs one at a time; of JSON lines, only one line is in memory.

    Parameters
    ----------
    paths : iterable of path
        Files, or folders of tau2; ``.gz`` is decompressed.

    Raises `BadInput` for an unreadable file and, unless lines may be omitted, an invalid line or one without a time.
    """
    how = how or LogFormat()
    for path in map(Path, paths):
        kind = how.format or ("tau2" if path.is_dir() else SUFFIXES.get(path.suffix, "jsonl"))
        if kind not in FORMATS:
            raise BadInput(f"there is no log format {kind!r}: choose one of {', '.join(FORMATS)}")
        if not (results_file(path) if kind == "tau2" else path).is_file():
            raise BadInput(f"there is no log {path}: name a file of logged conversations")
        try:
            yield from (_lines(path, how) if kind == "jsonl" else _whole(path, kind, how))
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}): check it") from None


def _lines(path: Path, how: LogFormat) -> Iterator[Logged]:
    with cast(BinaryIO, gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")) as file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            line = line.removeprefix(BOM_UTF8)  # at each line: files may have been joined
            if not line.strip():
                continue
            try:
                yield _logged(line, path, number, how)
            except BadInput as error:
                if how.left_out is None:
                    raise
                how.left_out.add(str(error))
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)


def _logged(line: bytes, path: Path, number: int, how: LogFormat) -> Logged:
    where = f"{path}, line {number}"
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        why = f"it is longer than {LONGEST_LINE:,} bytes" if len(line) == LONGEST_LINE else str(error)
        raise BadInput(f"{where} is not JSON ({why}): give one conversation per line, {OR_LEAVE_OUT}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("messages"), list):
        raise BadInput(f"{where} has no list of messages: give one conversation per line, {OR_LEAVE_OUT}")
    at = when(raw)
    if at is None:
        mend = f"give it a field {TIMES[0]!r} such as 2026-06-29T10:00:00Z, {OR_LEAVE_OUT}"
        raise BadInput(f"{where} does not say when it was: {mend}")
    name = _name(raw)
    place = f"{path.name}:{number}"
    given = raw.get("handed_over")
    told = given if isinstance(given, bool) else True if raw.get("ended_by") == "handed_over" else None
    link, called = raw.get("url"), place if name is None else str(name)
    try:
        record = _record(raw, called, where, how.tools)
    except (TypeError, AttributeError, LookupError) as error:
        raise BadInput(f"{where}: a part of it is not of its kind ({error}): mend it, {OR_LEAVE_OUT}") from None
    return Logged(called, place, at, record, name is not None, told, link if isinstance(link, str) else None)


def _first(raw: dict[str, Any], names: Iterable[str]) -> Any:
    more = raw.get("metadata")
    parts = (raw, more) if isinstance(more, dict) else (raw,)
    found = (part.get(name) for name in names for part in parts)
    return next((v for v in found if isinstance(v, str | int | float) and not isinstance(v, bool) and v != ""), None)


def _name(raw: dict[str, Any]) -> Any:
    """Return the id of a conversation; for a record exported by Deskbench, its case and trial."""
    if isinstance(raw.get("case_id"), str) and isinstance(raw.get("trial"), int):
        return f"{raw['case_id']}, trial {raw['trial']}"
    return _first(raw, NAMES)


def when(raw: dict[str, Any]) -> datetime | None:
    """Return the beginning of a conversation in UTC, also for times without a zone; None if there is no time."""
    first = raw["messages"][0] if raw.get("messages") else None
    value = _first(raw, TIMES)
    if value is None and isinstance(first, dict):
        value = _first(first, TIMES)
    return as_time(value)


def as_time(value: Any) -> datetime | None:
    """Parse a time of a log (ISO 8601, seconds or milliseconds since 1970); return None if it is invalid."""
    try:
        if isinstance(value, str):
            told = datetime.fromisoformat(value)
            read = told.replace(tzinfo=UTC) if told.tzinfo is None else told.astimezone(UTC)
        elif isinstance(value, int | float):
            read = datetime.fromtimestamp(value / 1000 if abs(value) > MILLISECONDS else value, UTC)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return read if read.year in YEARS else None


def monday(at: datetime) -> date:
    """Return the first day of a week, in UTC."""
    return at.date() - timedelta(days=at.weekday())


def _record(raw: dict[str, Any], name: str, where: str, tools: Mapping[str, str]) -> Conversation:
    """Return the messages and calls of a line, from a list of chat messages or an exported record."""
    talk = FlatChat()
    for message in raw["messages"]:
        if not isinstance(message, dict):
            raise BadInput(f"{where}: a message is not an object with role and content: mend it, {OR_LEAVE_OUT}")
        _read(talk, message, where)
    for call in raw.get("tool_calls") or ():
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise BadInput(f"{where}: a tool call has no name: mend it, {OR_LEAVE_OUT}")
        talk.call("", call["name"], call.get("arguments"))
        made, turn = talk.calls[-1], call.get("turn")
        made.turn = turn if isinstance(turn, int) else talk.turn
        made.result, made.error = call.get("result"), "failed" if call.get("error") else None
    for made in talk.calls:
        made.name = tools.get(made.name, made.name)
    return Conversation(name, 1, str(raw.get("model") or ""), "imported", "unknown", talk.messages, talk.calls)


def _read(talk: FlatChat, message: dict[str, Any], where: str) -> None:
    role, text = message.get("role") or message.get("side"), _text(message.get("content", message.get("text")))
    if role == "tool":
        talk.result(message.get("tool_call_id"), text, failed=bool(message.get("error")))
    elif role in UNSPOKEN:
        return
    elif not isinstance(role, str) or role not in ROLES:
        raise BadInput(f"{where}: a message is by {str(role)[:40]!r}: write customer or agent, {OR_LEAVE_OUT}")
    else:
        calls = message.get("tool_calls") or ()
        for call in calls:
            function = call.get("function") if isinstance(call, dict) else None
            about = function if isinstance(function, dict) else call if isinstance(call, dict) else {}
            talk.call(str(call.get("id")) if about else "", about.get("name"), about.get("arguments"))
        if text or not calls:
            talk.say(ROLES[role], text)


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = (p.get("text") if isinstance(p, dict) else p for p in content)
        return "\n".join(p for p in parts if isinstance(p, str))
    return content if isinstance(content, str) else ""


def _whole(path: Path, kind: str, how: LogFormat) -> Iterator[Logged]:
    """Yield the conversations of another harness's file, which is read as a whole."""
    file = results_file(path)
    data = file.read_bytes()
    try:
        if kind == "tau2":
            found = read_tau2(orjson.loads(data), file, "unknown", None)
        else:
            found = read_inspect(data, file, "unknown", None)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{path} is damaged, or not a file of {kind} ({error}): give another --format") from None
    how.notes.extend([f"{path.name}: {note}." for note in found.notes])
    for number, ((record, _), sample) in enumerate(zip(found.rows, found.sources, strict=True), 1):
        at = as_time(_first(sample, TIMES))
        if at is None:
            raise BadInput(f"{path}: conversation {number} does not say when it was: give a log with times")
        for call in record.tool_calls:
            call.name = how.tools.get(call.name, call.name)
        yield Logged(f"{record.case_id}, trial {record.trial}", f"{path.name}:{number}", at, record)
