"""Score the records of a run.

A record that cannot be scored is a fault of Deskbench: the reason is stored and shown, and scoring is tried again
later.
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
from ..scoring.columns import Score

SHOWN, LONGEST_TRACEBACK = 300, 20_000
PACKAGE = str(Path(__file__).parents[2])


@dataclass(frozen=True)
class ScoreFault:
    """A conversation on file without a score: the reason, and the traceback if there is one."""

    case_id: str
    trial: int
    reason: str
    traceback: str = ""


def scores_as_json(
    score: Callable[[Conversation, Case], Score], conversation: Conversation, case: Case
) -> tuple[bytes, bool]:
    """Return a record's scores, or why scoring failed, as JSON, and whether it succeeded."""
    try:
        return orjson.dumps(score(conversation, case)), True
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:SHOWN]}{place}"
        trace = "".join(traceback.format_exception(error)).replace(f"{PACKAGE}/", "")[-LONGEST_TRACEBACK:]
        fault: dict[str, Any] = {tag: getattr(case, tag) for tag in ("bucket", "intent", *TAGS)}
        fault |= {"scored": False, SCORE_FAULT: reason, "traceback": trace}
        plain = {name: plain_text(value) if isinstance(value, str) else value for name, value in fault.items()}
        return orjson.dumps(plain), False


def score_faults(run: RunFile, scores: dict[str, dict[str, Any]] | None = None) -> Iterator[ScoreFault]:
    """Yield the conversations on file without a score; `scores` default to the latest."""
    scores = run.scores() if scores is None else scores
    for (case_id, trial), digest in run.digests().items():
        score = scores.get(digest, {SCORE_FAULT: NO_SCORE})
        if score.get(SCORE_FAULT):
            yield ScoreFault(case_id, trial, score[SCORE_FAULT], score.get("traceback", ""))


def advice(count: int, of: int, path: Path) -> str:
    """Describe the conversations without a score and the remedy."""
    return (
        f"{count} of {of} conversations have no score and enter no rate, which is a fault of Deskbench and "
        f"not of the model: `{command('score', path)}` tries again and shows why"
    )
