"""Scores on their way to the run file.

A record that cannot be scored is a fault of ours: stored, shown, and tried again, never silent.
"""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ..cases import Case
from ..commands import command
from ..conversation.agent_view import plain_text
from ..records import NO_SCORE, SCORE_FAULT, Conversation
from ..runfile import RunFile
from ..scoring import TAGS
from ..scoring.score import Score

SHOWN, LONGEST_TRACEBACK = 300, 20_000
RECORD_A_TEXT = 8
"""A record is at most about this many times as long as what was said in it.

A larger one holds long arguments or results.
"""
PACKAGE = str(Path(__file__).parents[2])

Scorer = Callable[[Conversation, Case], Score]
"""What gives a record its scores."""


@dataclass(frozen=True)
class ScoreFault:
    """One conversation on file without a score: why, and the traceback where scoring it was tried."""

    case_id: str
    trial: int
    reason: str
    traceback: str = ""


def scores_as_json(score: Scorer, conversation: Conversation, case: Case) -> tuple[bytes, bool]:
    """The scores of a record as they are written, or the fault that scoring it raised, and whether there are any."""
    try:
        return orjson.dumps(score(conversation, case)), True
    except Exception as error:
        return orjson.dumps(_fault(case, error)), False


def _fault(case: Case, error: Exception) -> dict[str, Any]:
    """What is written in place of scores: a trial that does not count, with the reason."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    reason = f"{type(error).__name__}: {' '.join(str(error).split())[:SHOWN]}{place}"
    told = "".join(traceback.format_exception(error)).replace(f"{PACKAGE}/", "")[-LONGEST_TRACEBACK:]
    found = {tag: getattr(case, tag) for tag in ("bucket", "intent", *TAGS)}
    found |= {"scored": False, SCORE_FAULT: reason, "traceback": told}
    return {name: plain_text(value) if isinstance(value, str) else value for name, value in found.items()}


def size(conversation: Conversation, record: bytes) -> int:
    """How much text scoring a record has to read, in characters: what was said, and of large records everything."""
    said = sum(len(message.text) for message in conversation.messages)
    return max(said, len(record) // RECORD_A_TEXT)


def score_faults(run: RunFile, scores: dict[str, dict[str, Any]] | None = None) -> Iterator[ScoreFault]:
    """The conversations on file without a score, with the reason; `scores` are by default the latest of each record."""
    scores = run.scores() if scores is None else scores
    for case_id, trial, digest, _ in run.conversations():
        found = scores.get(digest)
        if found is None:
            yield ScoreFault(case_id, trial, NO_SCORE)
        elif found.get(SCORE_FAULT):
            yield ScoreFault(case_id, trial, found[SCORE_FAULT], found.get("traceback", ""))


def advice(count: int, of: int, path: Path) -> str:
    """What to tell of conversations without a score, and what to do."""
    return (
        f"{count} of {of} conversations have no score and enter no rate, which is a fault of Deskbench and "
        "not of the model: "
        f"`{command('score', path)}` tries again and shows why"
    )
