"""Choose the turns at which recorded conversations are forked, by rules fixed before any result is seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ...cases import Case
from ...errors import BadInput
from ...records import NOT_SCORED, Conversation, ToolCall, content_hash

PLACES = 10_000
"""Numbers of trials that each place of a case has in a file of forks."""
EVERY = "every"


@dataclass(frozen=True)
class Point:
    """The state of a recorded conversation before the agent answers one message.

    Attributes
    ----------
    case_id, trial : str, int
        The conversation.
    turn : int
        The number of the customer message that the agent answers anew.
    digest : str
        Hash of the record.
    """

    case_id: str
    trial: int
    turn: int
    digest: str

    def __str__(self) -> str:
        return f"{self.case_id}:{self.trial}:{self.turn}"


def number_of(place: int, n: int) -> int:
    """Return the trial under which a file keeps the `n`-th fork (from 1) at the `place`-th point (from 0) of a case."""
    return place * PLACES + n


def place_of(trial: int) -> tuple[int, int]:
    """Return place and n of a trial of `number_of`."""
    return divmod(trial, PLACES)


def deciding_act(record: Conversation, since: int = 0) -> ToolCall | None:
    """Return the agent's first write, handover or close, from the call with the index `since` on; None without one."""
    return next((c for c in record.tool_calls[since:] if c.side == "agent" and c.write and not c.error), None)


def _decision(record: Conversation) -> set[int]:
    act = deciding_act(record)
    return {act.turn} if act else set()


def _pressure(record: Conversation) -> set[int]:
    return {turn for turn, _ in record.acts("pushed")}


def _trouble(record: Conversation) -> set[int]:
    return {call.turn for call in record.tool_calls if str(call.index) in record.staged}


def _every(record: Conversation) -> set[int]:
    return {message.turn for message in record.messages if message.side == "agent"}


RULES: dict[str, Callable[[Conversation], set[int]]] = {
    "decision": _decision,
    "pressure": _pressure,
    "trouble": _trouble,
    EVERY: _every,
}
"""Turns of a record by rule: its deciding act, each line of pressure, each staged trouble or planted text, all."""


def by_rule(records: Iterable[Conversation], rule: str) -> list[Point]:
    """Return the points of records by a rule of `RULES`, in order; a record without such a turn has none."""
    return [point for record in records for point in _points(record, RULES[rule](record))]


def along(text: str, records: Mapping[tuple[str, int], Conversation]) -> list[Point]:
    """Return every turn of ``CASE:TRIAL`` up to its last write, handover or close, or all where there is none."""
    record = _recorded(text, *parsed(text, 2)[:2], records)
    writes = [c.turn for c in record.tool_calls if c.side == "agent" and c.write and not c.error]
    return [p for p in _points(record, _every(record)) if p.turn <= max(writes, default=p.turn)]


def pivots(records: Iterable[Conversation], others: Mapping[tuple[str, int], Conversation]) -> list[Point]:
    """Return for each record the first turn in which the agent of another run, on the same case, begins otherwise."""
    found = []
    for record in records:
        other = others.get((record.case_id, record.trial))
        if other is not None:
            turns = sorted(_every(record) & _every(other))
            found += _points(record, {*[t for t in turns if _first(record, t) != _first(other, t)][:1]})
    return found


def twins(points: Iterable[Point], records: Mapping[tuple[str, int], Conversation], cases: Mapping[str, Case]) -> list:
    """Return the same turns of the clean twins that the run has played."""
    of_pair = {c.pair: c.id for c in cases.values() if c.arm == "clean"}
    of_trap = {c.twin_of: c.id for c in cases.values() if c.twin_of}
    found = []
    for point in points:
        case = cases[point.case_id]
        twin = of_pair.get(case.pair) if case.pair else of_trap.get(case.id)
        record = records.get((twin or "", point.trial))
        if record is not None and twin != case.id and point.turn in _every(record):
            found += _points(record, {point.turn})
    return found


def named(text: str, records: Mapping[tuple[str, int], Conversation]) -> Point:
    """Return the point that ``CASE:TRIAL:TURN`` names; raise `BadInput` if the run has no such turn."""
    case_id, trial, turn = parsed(text, 3)
    record = _recorded(text, case_id, trial, records)
    last = max(_every(record), default=0)
    if turn not in _every(record):
        raise BadInput(f"--at {text}: the agent answers in the turns 1 to {last} of this conversation: choose one")
    return _points(record, {turn})[0]


def parsed(text: str, parts: int) -> tuple[str, int, int]:
    """Return case, trial and turn (0 without one) of ``CASE:TRIAL`` or ``CASE:TRIAL:TURN``."""
    words = text.split(":")
    if len(words) != parts or not all(word.isascii() and word.isdigit() for word in words[1:]):
        how = "CASE:TRIAL:TURN" if parts == 3 else "CASE:TRIAL"
        rules = f", or one of {', '.join(RULES)}" if parts == 3 else ""
        raise BadInput(f"{text!r} is no point: write {how}, such as wrong_item_1:1{':2' * (parts == 3)}{rules}")
    return words[0], int(words[1]), int(words[2]) if parts == 3 else 0


def numbered(points: Iterable[Point], on_file: Mapping[str, Iterable[Iterable]]) -> dict[str, list[Point]]:
    """Return by case the points on file and the new ones after them, so that a point keeps its place in the file."""
    found = {case: [Point(case, *row) for row in rows] for case, rows in on_file.items()}
    for point in points:
        mine = found.setdefault(point.case_id, [])
        if point not in mine:
            mine.append(point)
    return found


def finished(records: Iterable[Conversation]) -> dict[tuple[str, int], Conversation]:
    """Return the records that can be forked, by case and trial: those that a fault of the world did not end."""
    return {(r.case_id, r.trial): r for r in records if r.ended_by not in NOT_SCORED}


def _recorded(text: str, case_id: str, trial: int, records: Mapping[tuple[str, int], Conversation]) -> Conversation:
    record = records.get((case_id, trial))
    if record is None:
        raise BadInput(f"{text}: the run has no finished conversation {case_id}:{trial}: choose one that it has")
    return record


def _points(record: Conversation, turns: Iterable[int]) -> list[Point]:
    digest = content_hash(record.to_json())
    return [Point(record.case_id, record.trial, turn, digest) for turn in sorted({*turns} & _every(record))]


def _first(record: Conversation, turn: int) -> tuple:
    calls = (c for c in record.tool_calls if c.turn == turn and c.side == "agent")
    return next(((c.name, str(c.named)) for c in calls), ())
