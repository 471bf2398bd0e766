"""Logged conversations of a support desk, from JSON lines or other harnesses' result files."""

import gzip
import os
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from ...errors import BadInput
from ...records import Conversation
from ..claims.commitments import REFUND
from ..exchange.chats import FlatChat
from ..exchange.imports import located, read_any

FORMATS = ("jsonl", "tau2", "inspect")
NAMES = ("id", "conversation_id", "ticket_id", "thread_id", "session_id")
TIMES = ("at", "started_at", "created_at", "timestamp", "time", "date", "start_time")
"""Fields that may hold a conversation's time, in the line, its ``metadata`` or its first message."""
ROLES = {"user": "customer", "customer": "customer", "assistant": "agent", "agent": "agent"}
UNSPOKEN = frozenset({"system", "developer"})
LONGEST_LINE = 32_000_000
"""Maximum length of a line in bytes."""
MILLISECONDS = 1e11
"""Times above this number are milliseconds since 1970; smaller ones are seconds."""
YEARS = range(1970, 2200)
"""Possible years of a conversation; any other year is a mistake in the log."""
READS, REFUNDS, OTHER = "read", REFUND, "other"
"""Acts that are not tools of a desk: one that changes nothing, a refund, and another change."""
ACTS = frozenset({READS, REFUNDS, OTHER})


@dataclass(slots=True)
class Logged:
    """A conversation of a log, with the desk's tool names."""

    name: str
    """The conversation's id, or its place if it has none."""
    place: str
    """File and line, or the conversation's number in the file."""
    at: datetime
    """The conversation's beginning, in UTC."""
    record: Conversation
    named: bool = True
    handed_over: bool | None = None
    """Whether a person took over, according to the log; None if the log does not say."""
    link: str | None = None
    """The conversation's address in the desk's own system."""


@dataclass
class LogReader:
    """Iterable of the conversations in logs; JSON lines are held in memory one at a time.

    Iteration raises `BadInput` for an unreadable file, an invalid line or a line without a time.
    """

    paths: Iterable[str | Path]
    """Files, or result folders of tau2; ``.gz`` files are decompressed."""
    format: str | None = None
    """One of `FORMATS`; by default as the file's name implies, or else JSON lines."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """The act of each tool in the log: the name of a desk's tool, or one of `ACTS`."""
    leave_out_bad: bool = False
    left_out: int = 0
    first_left_out: str = ""
    """The number of bad lines left out, and why the first of them is bad."""
    notes: list[str] = field(default_factory=list)
    """Notes on whole files."""
    called: set[str] = field(default_factory=set)
    """The keys of `tools` that the log calls."""

    def __iter__(self) -> Iterator[Logged]:
        """Yield the conversations of all files."""
        self.left_out, self.first_left_out, self.notes = 0, "", []
        for path in dict.fromkeys(map(Path, self.paths)):
            file, kind = located(path, self.format)
            kind = kind or "jsonl"
            if kind not in FORMATS:
                raise BadInput(f"there is no log format {kind!r}: choose one of {', '.join(FORMATS)}")
            if not os.path.isfile(file):
                raise BadInput(f"there is no log {path}: name a file of logged conversations")
            try:
                for logged in self._lines(file) if kind == "jsonl" else self._whole(file, kind):
                    for call in logged.record.tool_calls:
                        self.called |= self.tools.keys() & {call.name}
                        call.name = self.tools.get(call.name, call.name)
                    yield logged
            except (OSError, EOFError, zlib.error) as error:
                why = getattr(error, "strerror", None) or error
                raise BadInput(f"{path} cannot be read ({why}): check it") from None

    def _lines(self, path: Path) -> Iterator[Logged]:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                line = line.removeprefix(BOM_UTF8)  # on every line, because files may have been joined
                if not line.strip():
                    continue
                try:
                    yield logged_from(line, f"{path.name}:{number}")
                except BadInput as error:
                    why = f"{path}, line {number}: {error}, or skip such lines with --leave-out-bad"
                    if not self.leave_out_bad:
                        raise BadInput(why) from None
                    self.left_out, self.first_left_out = self.left_out + 1, self.first_left_out or why
                    while line and not line.endswith(b"\n"):
                        line = file.readline(LONGEST_LINE)

    def _whole(self, path: Path, kind: str) -> Iterator[Logged]:
        read = read_any(path.read_bytes(), path, kind, "unknown", None)
        self.notes += [f"{path.name}: {note}." for note in read.notes]
        for number, ((record, _), sample) in enumerate(zip(read.rows, read.sources, strict=True), 1):
            at = as_time(_first(TIMES, sample))
            if at is None:
                raise BadInput(f"{path}: conversation {number} has no time: use a log with times")
            yield Logged(f"{record.case_id}, trial {record.trial}", f"{path.name}:{number}", at, record)


def logged_from(line: bytes, place: str) -> Logged:
    """Read a logged conversation from a line of JSON; raise `BadInput` for an unusable line."""
    try:
        raw = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        why = f"it is longer than {LONGEST_LINE:,} bytes" if len(line) == LONGEST_LINE else str(error)
        raise BadInput(f"it is not JSON ({why}): write one conversation per line") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("messages"), list):
        raise BadInput("it has no list of messages: write one conversation per line")
    at = as_time(given := _first(TIMES, raw, *raw["messages"][:1]))
    if at is None:
        form = f"2026-06-29T10:00:00Z in the field {TIMES[0]!r}"
        unread = "" if given is None else f" that can be read ({given!r:.40})"
        raise BadInput(f"it has no time{unread}: write it as {form}")
    name = _first(NAMES, raw)
    # A record exported by Deskbench
    if isinstance(raw.get("case_id"), str) and isinstance(raw.get("trial"), int):
        name = f"{raw['case_id']}, trial {raw['trial']}"
    given, link = raw.get("handed_over"), raw.get("url")
    over = given if isinstance(given, bool) else True if raw.get("ended_by") == "handed_over" else None
    called = place if name is None else str(name)
    try:
        record = _record(raw, called)
    except (TypeError, AttributeError, LookupError) as error:
        raise BadInput(f"a part of it has the wrong type ({error}): correct it") from None
    return Logged(called, place, at, record, name is not None, over, link if isinstance(link, str) else None)


def _first(names: Iterable[str], *parts: Any) -> Any:
    # Return the first number or text in one of the fields of a part or its metadata.
    for part in (p for p in parts if isinstance(p, dict)):
        places = [p for p in (part, part.get("metadata")) if isinstance(p, dict)]
        for value in (place.get(name) for name in names for place in places):
            if isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
                return value
    return None


def as_time(value: Any) -> datetime | None:
    """Parse an ISO 8601 time, or seconds or milliseconds since 1970; None if invalid."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            read = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
        else:
            read = datetime.fromtimestamp(value / 1000 if abs(value) > MILLISECONDS else value, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return read if read.year in YEARS else None


def _record(raw: dict[str, Any], name: str) -> Conversation:
    # Chat messages contain their calls; an exported record has a separate list of calls.
    chat = FlatChat(name, 1, str(raw.get("model") or ""), "unknown")
    for message in raw["messages"]:
        if not isinstance(message, dict):
            raise BadInput("a message is not an object with role and content: correct it")
        _read(chat, message)
    for call in raw.get("tool_calls") or ():
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            raise BadInput("a tool call has no name: add one")
        chat.call("", call["name"], call.get("arguments"))
        logged, turn = chat.record.tool_calls[-1], call.get("turn")
        logged.turn = turn if isinstance(turn, int) else chat.turn
        logged.result, logged.error = call.get("result"), "failed" if call.get("error") else None
    return chat.record


def _read(chat: FlatChat, message: dict[str, Any]) -> None:
    role, content = message.get("role") or message.get("side"), message.get("content", message.get("text"))
    parts = [p.get("text") if isinstance(p, dict) else p for p in (content if isinstance(content, list) else [content])]
    text = "\n".join(part for part in parts if isinstance(part, str))
    if role == "tool":
        chat.result(message.get("tool_call_id"), text, failed=bool(message.get("error")))
    elif role in UNSPOKEN:
        return
    elif not isinstance(role, str) or role not in ROLES:
        raise BadInput(f"a message has the role {str(role)[:40]!r}: write customer or agent")
    else:
        calls = message.get("tool_calls") or ()
        for call in calls:
            call = call if isinstance(call, dict) else {}
            function = call.get("function")
            about = function if isinstance(function, dict) else call
            chat.call(str(call.get("id")), about.get("name"), about.get("arguments"))
        if text or not calls:
            chat.say(ROLES[role], text)
