"""A made-up year at a support desk: synthetic logs with planted changes, to test the alarms.

A seeded generator draws from written texts: the detectors' locked planted conversations, and the shipped example of
blind play. Nothing here is a log of a real desk.
"""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
import pandas as pd

from ...cases import load_cases
from ...outputs import built_beside, require_absent, writing
from ...project import DATA
from ...records import Conversation
from ...runfile import RunFile
from ...store.every_desk import HANDOVER
from ...store.world import load_store
from ..claims.planted import read_planted
from .logs import Logged
from .measures import LoggedFacts, measures, read_all

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
    """A planted change: from `week` on (counted from 0) a kind has another share.

    It grows over `over` weeks.
    """

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


@lru_cache(maxsize=1)
def texts() -> pd.DataFrame:
    """Return the written conversations to draw from: kind, language, record; cached."""
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
    honest = [(language, record) for kind, language, record in found if kind == HONEST]
    for number, (language, record) in enumerate(honest):
        other = next((r for spoken, r in honest[number + 1 :] if spoken != language), None)
        if other is not None:
            found.append(("other_language", "", _crossed(record, other)))
    return pd.DataFrame(found, columns=["kind", "language", "record"])


def _kind(record: Conversation) -> str:
    return HANDED if any(c.name == HANDOVER and not c.error for c in record.tool_calls) else HONEST


def _crossed(record: Conversation, other: Conversation) -> Conversation:
    """Return a conversation with the reply and calls of another one, in another language."""
    mine = [m for m in record.messages if m.side == "customer"][:1]
    theirs = [m for m in other.messages if m.side == "agent"][:1]
    calls = [c for c in other.tool_calls if c.turn <= 1]
    return Conversation(record.case_id, 1, "made up", "synthetic", "written", [*mine, *theirs], calls)


def shares_by_week(changes: tuple[Change, ...] = CHANGES, weeks: int = WEEKS) -> np.ndarray:
    """Return the probability of every text in every week, shape (weeks, texts)."""
    kinds, shares = texts()["kind"], pd.DataFrame(USUAL, index=range(weeks))
    for change in changes:
        grown = np.clip((shares.index - change.week + 1) / change.over, 0, 1)
        shares[change.kind] = USUAL[change.kind] + grown * (change.share - USUAL[change.kind])
    shares[HONEST] = 1 - shares.sum(axis=1)
    return shares[kinds].to_numpy() / kinds.map(kinds.value_counts()).to_numpy()


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
    written, number = [as_line(record) for record in texts()["record"]], 0
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


@lru_cache(maxsize=1)
def text_values() -> pd.DataFrame:
    """Return the value of every measure for every text, as read from a log; cached."""
    chosen, store, at = measures(), load_store(), datetime(2025, 1, 6, tzinfo=UTC)
    rows = [read_all(LoggedFacts(Logged("", "", at, record), store), chosen)[0] for record in texts()["record"]]
    return pd.DataFrame(rows, columns=[m.name for m in chosen], dtype=float)
