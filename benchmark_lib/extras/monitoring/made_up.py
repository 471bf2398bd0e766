"""A made-up year at a support desk: synthetic logs with planted changes, to test the alarms.

A seeded generator draws from written texts: the detectors' locked planted conversations, and the shipped example of
blind play. Nothing here is a log of a real desk.
"""

import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import orjson

from ...cases import load_cases
from ...outputs import built_beside, require_absent, writing
from ...project import DATA
from ...records import Conversation
from ...runfile import RunFile
from ...store.every_desk import HANDOVER
from ...store.world import load_store
from ..claims.planted import read_planted
from .logs import Logged
from .measures import Heard, Measure, measures, read_all

PLANTED = DATA / "claims" / "planted" / "locked.jsonl"
BLIND_PLAY = DATA / "examples" / "blind-play.deskbench"
FIRST_WEEK = date(2025, 1, 6)
WEEKS = 52
PER_WEEK = 200
"""Mean number of conversations per week."""
HONEST, HANDED = "honest", "handed_over"
"""Kinds without a planted fault, without and with a handover; other kinds are named after their measure."""
USUAL = {
    HANDED: 0.15,
    "phantom_action": 0.02,
    "commitments": 0.02,
    "escalation_honesty": 0.01,
    "leak": 0.01,
    "other_language": 0.01,
    "groundedness": 0.02,
    "text_action_mismatch": 0.01,
}
"""The share of each kind in an ordinary week; the rest is honest."""


@dataclass(frozen=True)
class Change:
    """A planted change: from `week` on (counted from 0) a kind has another share, gradually over `over` weeks."""

    kind: str
    week: int
    share: float
    over: int = 1


CHANGES = (
    Change("phantom_action", 20, 0.08),
    Change("commitments", 24, 0.10, over=16),
    Change("other_language", 32, 0.05),
    Change(HANDED, 38, 0.30),
)
"""Planted changes of the made-up year: two jumps of faults, a slow drift, and twice as many handovers."""


@dataclass(frozen=True)
class Texts:
    """The written conversations that a made-up year is drawn from, and the kind of each."""

    records: tuple[Conversation, ...]
    kinds: tuple[str, ...]


@lru_cache(maxsize=1)
def texts() -> Texts:
    """Return the texts; cached."""
    store = load_store()
    cases = {case.id: case for case in load_cases(store)}
    found: list[tuple[str, str, Conversation]] = []
    for planted in read_planted(PLANTED, cases, store):
        kind = next(iter(planted.findings.values()), _kind(planted.conversation))
        if kind in USUAL or kind == HONEST:
            found.append((kind, planted.language, planted.conversation))
    for _, _, _, raw in RunFile(BLIND_PLAY).conversations():
        record = Conversation.from_json(raw)
        found.append((_kind(record), cases[record.case_id].language, record))
    found += [("other_language", "", record) for record in _crossed(found)]
    return Texts(tuple(record for _, _, record in found), tuple(kind for kind, _, _ in found))


def _kind(record: Conversation) -> str:
    return HANDED if any(c.name == HANDOVER and not c.error for c in record.tool_calls) else HONEST


def _crossed(found: list[tuple[str, str, Conversation]]) -> list[Conversation]:
    """Return honest conversations with the replies of another conversation, in another language."""
    honest = [(language, record) for kind, language, record in found if kind == HONEST]
    crossed = []
    for number, (language, record) in enumerate(honest):
        other = next((r for spoken, r in honest[number + 1 :] if spoken != language), None)
        if other is not None:
            mine = [m for m in record.messages if m.side == "customer"][:1]
            theirs = [m for m in other.messages if m.side == "agent"][:1]
            calls = [c for c in other.tool_calls if c.turn <= 1]
            crossed.append(Conversation(record.case_id, 1, "made up", "synthetic", "written", [*mine, *theirs], calls))
    return crossed


def shares_by_week(changes: tuple[Change, ...] = CHANGES, weeks: int = WEEKS) -> np.ndarray:
    """Return the probability of every text in every week, shape (weeks, texts)."""
    kinds = np.array(texts().kinds)
    counts = Counter(texts().kinds)
    table = np.zeros((weeks, len(kinds)))
    for week in range(weeks):
        now = dict(USUAL)
        for change in changes:
            grown = np.clip((week - change.week + 1) / change.over, 0, 1)
            now[change.kind] = USUAL[change.kind] + grown * (change.share - USUAL[change.kind])
        now[HONEST] = 1 - sum(now.values())
        table[week] = [now[kind] / counts[kind] for kind in kinds]
    return table


def made_up_year(
    rng: np.random.Generator, *, changes: tuple[Change, ...] = CHANGES, weeks: int = WEEKS, per_week: int = PER_WEEK
) -> Iterator[dict[str, Any]]:
    """Yield the lines of a made-up log, in order of time.

    Parameters
    ----------
    weeks, per_week : int
        Its length, and the mean number of conversations per week (Poisson).

    Yields
    ------
    dict
        ``id``, ``at``, ``synthetic``, ``messages`` and ``tool_calls``.
    """
    written, number = [as_line(record) for record in texts().records], 0
    for week, shares in enumerate(shares_by_week(changes, weeks)):
        drawn = rng.choice(len(written), size=rng.poisson(per_week), p=shares)
        minutes = np.sort(rng.integers(0, 7 * 24 * 60, drawn.size))
        start = datetime.combine(FIRST_WEEK + timedelta(weeks=week), datetime.min.time(), UTC)
        for at, one in zip(minutes, drawn, strict=True):
            number += 1
            when = (start + timedelta(minutes=int(at))).isoformat()
            yield {"id": f"made-up-{number:06d}", "at": when, "synthetic": True, **written[one]}


def as_line(record: Conversation) -> dict[str, Any]:
    """Return a record in the format of a log: messages with their sides, and tool calls."""
    kept = ("name", "arguments", "result", "error", "turn")
    calls = [{name: getattr(c, name) for name in kept} for c in record.tool_calls]
    return {"messages": [{"role": m.side, "content": m.text} for m in record.messages], "tool_calls": calls}


def write_year(path: str | Path, rng: np.random.Generator, *, replace: bool = False, **more: Any) -> Path:
    """Write a made-up log as JSON lines, compressed if the name ends in ``.gz``.

    Parameters
    ----------
    replace : bool
        Whether to replace an existing file; otherwise it must not exist.
    **more
        As for `made_up_year`.
    """
    path = Path(path)
    if not replace:
        require_absent(path)
    opened = partial(gzip.open, compresslevel=5) if path.suffix == ".gz" else open
    with writing(path), built_beside(path) as building, cast(BinaryIO, opened(building, "wb")) as file:
        for line in made_up_year(rng, **more):
            file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return path


def week_of(change: Change) -> str:
    """Return the Monday of a planted change in the made-up year."""
    return (FIRST_WEEK + timedelta(weeks=change.week)).isoformat()


@dataclass(frozen=True)
class TextValues:
    """The value of every measure for every text, NaN if it does not apply; shape (texts, measures)."""

    measures: tuple[Measure, ...]
    values: np.ndarray


@lru_cache(maxsize=1)
def text_values() -> TextValues:
    """Return the measures' values of each text, computed by the same code as for a log; cached."""
    chosen, store = measures(), load_store()
    rows = []
    for record in texts().records:
        logged = Logged("", "", datetime(2025, 1, 6, tzinfo=UTC), record)
        found, _ = read_all(Heard(logged, store), chosen, True)
        rows.append([float(found.get(m.name, np.nan)) for m in chosen])
    return TextValues(chosen, np.array(rows))
