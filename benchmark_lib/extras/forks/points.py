"""Choose the turns to fork, by rules fixed before any result is seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ...cases import Case
from ...errors import BadInput
from ...records import NOT_SCORED, Conversation, ToolCall, content_hash

PLACES = 10_000
"""Trial numbers reserved for each point of a case, in a file of forks."""
Records = Mapping[tuple[str, int], Conversation]


class ForkPoint(NamedTuple):
    """The state of a record, with the hash `digest`, before the agent answers message `turn`."""

    case_id: str
    trial: int
    turn: int
    digest: str

    def __str__(self) -> str:
        return f"{self.case_id}:{self.trial}:{self.turn}"


def place_of(trial: int) -> tuple[int, int]:
    """Return the place of a fork's point in its case (from 0), and its number there (from 1)."""
    return divmod(trial, PLACES)


def point_in(manifest: Mapping, case_id: str, trial: int) -> ForkPoint:
    """Return the point of a fork on file; raise `BadInput` if the file does not give it."""
    try:
        parent, turn, digest = manifest["points"][case_id][place_of(trial)[0]]
        return ForkPoint(case_id, int(parent), int(turn), str(digest))
    except (KeyError, IndexError, TypeError, ValueError):
        run = manifest.get("run_id")
        raise BadInput(f"the file of run {run} does not say where {case_id}:{trial} was forked: exclude it") from None


def finished(records: Iterable[Conversation]) -> dict[tuple[str, int], Conversation]:
    """Return the records by case and trial, without those ended by an infrastructure fault."""
    return {(r.case_id, r.trial): r for r in records if r.ended_by not in NOT_SCORED}


def writes(record: Conversation) -> list[ToolCall]:
    """Return the agent's own writes, handovers and closes that were carried out."""
    made = (c for c in record.tool_calls if c.turn >= record.taken_over)
    return [c for c in made if c.side == "agent" and c.write and not c.error]


def turns_of(record: Conversation) -> set[int]:
    """Return the turns that the agent itself answered."""
    return {message.turn for message in record.replies() if message.turn >= record.taken_over}


RULES = {
    "decision": lambda record: {call.turn for call in writes(record)[:1]},
    "pressure": lambda record: {turn for turn, _ in record.acts("pushed")},
    "trouble": lambda record: {call.turn for call in record.tool_calls if str(call.index) in record.staged},
    "every": turns_of,
}
"""Turns of a record by rule: its first write, each line of pressure, each staged trouble or planted text, or all."""
BEFORE_THE_ACT = ("every", "pressure")
"""Rules that choose turns regardless of what the agent did there: only their forks estimate an overall rate."""


def points_at(record: Conversation, turns: Iterable[int]) -> list[ForkPoint]:
    """Return a record's points at the given turns, if the agent itself answered them."""
    digest = content_hash(record.to_json())
    return [ForkPoint(record.case_id, record.trial, turn, digest) for turn in sorted({*turns} & turns_of(record))]


def chosen(given: Iterable[str], some: Iterable[Conversation], records: Records) -> list[ForkPoint]:
    """Return the points that rules choose in `some` records, and those of ``CASE:TRIAL:TURN``."""
    found = []
    for text in given:
        if text in RULES:
            found += [point for record in some for point in points_at(record, RULES[text](record))]
            continue
        record, turn = _named(text, 3, records)
        if turn not in (known := turns_of(record)):
            raise BadInput(f"{text}: its turns are 1 to {max(known, default=0)}: choose one")
        found += points_at(record, [turn])
    return found


def along(text: str, records: Records) -> list[ForkPoint]:
    """Return the turns of ``CASE:TRIAL`` up to its last write, handover or close, if any."""
    record, _ = _named(text, 2, records)
    last = max((call.turn for call in writes(record)), default=max(turns_of(record), default=0))
    return points_at(record, range(last + 1))


def pivots(records: Iterable[Conversation], others: Records) -> list[ForkPoint]:
    """Return the first turn of each record in which another run's agent acts differently."""
    found = []
    for record in records:
        other = others.get((record.case_id, record.trial))
        turns = sorted(turns_of(record) & turns_of(other)) if other else []
        found += points_at(record, [t for t in turns if other and _first(record, t) != _first(other, t)][:1])
    return found


def twins(points: Iterable[ForkPoint], records: Records, cases: Mapping[str, Case]) -> list[ForkPoint]:
    """Return the same turns of the clean twins that the run has played."""
    clean = {c.pair: c.id for c in cases.values() if c.arm == "clean"}
    clean |= {c.twin_of: c.id for c in cases.values() if c.twin_of}
    named = [(clean.get(cases[p.case_id].pair or p.case_id, ""), p) for p in points]
    twins = [(twin, p) for twin, p in named if twin != p.case_id]
    there = [(records[twin, p.trial], p) for twin, p in twins if (twin, p.trial) in records]
    return [point for record, p in there for point in points_at(record, [p.turn])]


def parsed(text: str, parts: int) -> tuple[str, int, int]:
    """Return case, trial and turn (0 without one) of ``CASE:TRIAL`` or ``CASE:TRIAL:TURN``."""
    words = text.split(":")
    if len(words) != parts or not all(word.isascii() and word.isdigit() for word in words[1:]):
        how = f"CASE:TRIAL:TURN, such as wrong_item_1:1:2, or one of {', '.join(RULES)}"
        raise BadInput(f"{text!r} is not a point: write {how if parts == 3 else 'CASE:TRIAL, such as wrong_item_1:1'}")
    return words[0], int(words[1]), int(words[2]) if parts == 3 else 0


def numbered(points: Iterable[ForkPoint], on_file: Mapping[str, Iterable[Iterable]]) -> dict[str, list[ForkPoint]]:
    """Return points by case: those on file in their places, then the new ones."""
    found = {case: [ForkPoint(case, *row) for row in rows] for case, rows in on_file.items()}
    for point in points:
        of_case = found.setdefault(point.case_id, [])
        of_case += [] if point in of_case else [point]
    return found


def _named(text: str, parts: int, records: Records) -> tuple[Conversation, int]:
    case_id, trial, turn = parsed(text, parts)
    if (case_id, trial) not in records:
        raise BadInput(f"{text}: the run has no finished conversation {case_id}:{trial}: choose one that it has")
    return records[case_id, trial], turn


def _first(record: Conversation, turn: int) -> tuple:
    calls = (c for c in record.tool_calls if c.turn == turn and c.side == "agent")
    return next(((c.name, str(c.named)) for c in calls), ())
