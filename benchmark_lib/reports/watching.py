"""Watch a run: how far it is, and each conversation as soon as it is finished.

Each look opens the file for reading only and closes it again, so that the run never waits for a reader.
"""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from ..cases.load import same_cases, store_played
from ..errors import BadInput
from ..project import slug, writing
from ..records import BUCKETS, ENDINGS, TRIED_AGAIN
from ..runfile import RunFile
from ..scoring.written import cost_in_words, counted, failed_calls, words
from .html import render, transcript_css, transcript_html


@dataclass(frozen=True)
class Finished:
    """One conversation on file; `score` is None if it was not scored."""

    case_id: str
    trial: int
    ended_by: str
    finished_at: str
    score: dict[str, Any] | None

    @property
    def success(self) -> bool | None:
        """True for a success; None if it was not scored."""
        return (self.score or {}).get("success")

    @property
    def page(self) -> str:
        """The file name of its page."""
        return f"{slug(self.case_id)}-trial-{self.trial}.html"

    @property
    def words(self) -> str:
        """Its outcome in one word."""
        return "no score" if self.success is None else "success" if self.success else "failure"


@dataclass(frozen=True)
class Look:
    """One look at a run: finished conversations, newest last, the plan and the cost."""

    model: str
    finished: tuple[Finished, ...]
    planned: int
    calls: int
    cost: str
    failed: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        """Conversations that will not be tried again."""
        return sum(one.ended_by not in TRIED_AGAIN for one in self.finished)

    @property
    def over(self) -> bool:
        """True if nothing is missing."""
        return self.done >= self.planned

    def sentences(self) -> list[str]:
        """Return the progress and the outcomes, with denominators."""
        parts = []
        for bucket in BUCKETS:
            scores = [one.score for one in self.finished if one.score and one.score.get("bucket") == bucket]
            known = [score["success"] for score in scores if score.get("success") is not None]
            parts += [f"{words(bucket)} {sum(known)}/{len(known)}"] if known else []
        share = f"{self.done / self.planned:.0%}" if self.planned else ""
        return [
            f"{self.model}: {self.done:,} of {self.planned:,} conversations finished ({share}){self._minutes_left()}",
            f"conversations that succeeded so far: {', '.join(parts) or 'none has a score yet'}",
            *self.failed,
            f"{self.calls:,} model call{'s' * (self.calls != 1)}, {self.cost}",
        ]

    def _minutes_left(self) -> str:
        last = self.finished[-40:]
        if len(last) < 5 or self.over:
            return ""
        began, ended = (datetime.fromisoformat(one.finished_at) for one in (last[0], last[-1]))
        minutes = (ended - began).total_seconds() / 60 / (len(last) - 1) * (self.planned - self.done)
        return f", about {counted(round(minutes), 'minute')} left" if minutes >= 1 else ", less than a minute left"


def look(run: RunFile) -> Look:
    """Return the current state of a run."""
    manifest, scores = run.manifest, run.scores()
    rows = run.rows("conversations", ("case_id", "trial", "ended_by", "finished_at", "record_hash"))
    finished = [Finished(case_id, n, ended, at, scores.get(digest)) for case_id, n, ended, at, digest in rows]
    finished.sort(key=lambda one: one.finished_at)
    (cost, unpriced), calls = run.cost(), run.counts()["calls"]
    paid, planned = cost_in_words(cost, calls, unpriced, run.own_calls()), sum(manifest["planned"].values())
    return Look(manifest["model"], tuple(finished), planned, calls, paid, tuple(failed_calls(run.unscored_faults())))


class WatchPage:
    """A folder of pages on a run: an index that reloads itself, and a page per conversation."""

    def __init__(self, run: RunFile, folder: Path):
        self.run, self.folder, self.index = run, folder, folder / "index.html"
        self._written: dict[str, str] = {}
        self._cases: dict[str, Any] = {}
        self._store: Any = None
        with suppress(BadInput):  # the store is another version: the transcript then lacks the parts from the case
            self._store = store_played(run.manifest)
            self._cases = same_cases(run.path, run.manifest, self._store, "show it") if self._store else {}
        with writing(folder, ""):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "transcript.css").write_text(transcript_css(), encoding="utf-8")

    def write(self, seen: Look, every_s: float, going_on: bool) -> None:
        """Write new pages and the index, which reloads itself while the run goes on."""
        with writing(self.folder, ""):
            for one in seen.finished:
                if self._written.get(one.page) != one.finished_at:
                    self._write_page(one)
                    self._written[one.page] = one.finished_at
            how = {"every_s": every_s, "going_on": going_on, "endings": ENDINGS}
            text = render("watch.html.j2", seen=seen, lines=seen.sentences(), newest=seen.finished[::-1], **how)
            building = self.index.with_suffix(".new")
            building.write_text(text, encoding="utf-8")
            building.replace(self.index)

    def _write_page(self, one: Finished) -> None:
        record, calls = self.run.record(one.case_id, one.trial), self.run.calls_of(one.case_id, one.trial)
        about = {"case": self._cases.get(one.case_id), "store": self._store, "model_calls": calls}
        fragment = transcript_html(record, one.score, css=False, **about)
        page = render("watched.html.j2", title=f"{one.case_id}, trial {one.trial}", fragment=fragment)
        (self.folder / one.page).write_text(page, encoding="utf-8")
