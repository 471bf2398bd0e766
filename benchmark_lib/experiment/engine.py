"""Play many conversations of a run concurrently; score and write each when it ends."""

import asyncio
import contextlib
import gc
from collections import Counter
from collections.abc import Iterator, Mapping
from math import inf
from typing import NamedTuple

from ..cases import Case
from ..errors import BadInput
from ..records import LASTING, NOT_SCORED, TRIED_AGAIN, Conversation, content_hash
from ..runfile import RunFile, set_aside
from ..threads import in_thread, read_aside
from .manifest import now
from .plan import Plan
from .players import PlayersLine
from .recorder import TRIES, Budget, CallLine, KeptCall, KeptCalls, Line, Recorder, Stop
from .scoring import advice, score_faults, scores_as_json
from .summary import Progress
from .writer import CannotSave, Row, Writer, saving

GRACE_S = 60.0
"""Seconds that calls in flight may take after a stop; they are paid for, so the engine waits."""
AS_BEGUN = ("run_id", "model", "source", "inputs", "cases", "planned")
"""Parts of the manifest that do not change during a run."""
RECORD_A_TEXT = 8
"""Usual maximum length of a record relative to its messages; a longer one has long arguments or results."""
LARGEST_BACKLOG = 400
"""Rows that may wait for the disk before conversations wait too, to bound memory."""
ALLOCATIONS = (20_000, 20, 20)
"""Allocations before a garbage collection, and collections before an older generation is scanned."""


class Ended(NamedTuple):
    """An ended conversation and its scores, as rows; a trial to be repeated is not `finished`."""

    row: Row
    finished: bool
    scores: Row
    scored: bool


@contextlib.contextmanager
def quiet_collector() -> Iterator[None]:
    """Exclude loaded objects from garbage collection and collect less often, within a block."""
    # a store has several hundred thousand objects, which take longer to scan than ten model calls
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*ALLOCATIONS)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*usual)


class Engine:
    """Play the missing conversations of a run file.

    `also_faulty` is a part of a sentence that names sources of faults other than network and endpoint.
    """

    also_faulty = ""

    def __init__(self, plan: Plan, run: RunFile):
        self.plan, self.run = plan, run
        self.stopped: Stop | None = None
        self.manifest = run.manifest
        self._finished = run.finished(plan.options.retry_faults)
        missing = plan.missing(self._finished)
        self.total = sum(1 for _ in plan.pairs())
        self.done, self._again = self.total - len(missing), iter(missing)
        self._on_the_way = 0
        self.unscored: set[tuple[str, int]] = set()
        self._digests = run.digests()
        self._scored: dict[str, tuple[str, str]] = {}
        self._error: BaseException | None = None
        self._workers: list[asyncio.Task[None]] = []

    def stop(self, stop: Stop, grace_s: float = GRACE_S) -> None:
        """End the run: start no new call and give calls in flight `grace_s` seconds."""
        if self.stopped is not None and grace_s:
            return
        self.stopped = self.stopped or stop
        loop = asyncio.get_running_loop()
        loop.call_later(grace_s, self._cancel)

    async def play(self) -> Stop | None:
        """Play the missing conversations and return why the run ended early, or None.

        Raise `CannotSave` if the file can no longer be written, and errors of the user's own agent.
        """
        if self.done < self.total:
            await self._prepare()
        spent, _ = self.run.cost()
        self._kept = KeptCalls(self.run.path)
        self._writer = Writer(self.run.path)
        self._progress = Progress(
            self.plan.model, self.total, self.done, self.plan.options.progress and self.done < self.total
        )
        self._progress.cost_usd = spent
        self.budget, self.called = Budget(self.plan.options.budget_usd, spent, self.stop), self._progress.call
        self._lines = self._open_lines()
        if self.plan.options.players is not None:
            self.plan.options.players.chairs.left = self.total - self.done
        try:
            await self._score_what_has_no_score()
            self._workers = self._begin()
            await asyncio.gather(*self._workers, return_exceptions=True)
        finally:
            await self._close()
        if self._writer.failure is None:
            await in_thread(self._compare_with_file)
        if self._error is not None:
            raise self._error
        if self._writer.failure is not None:
            raise self._writer.failure
        faulty = self._progress.faults
        if faulty:
            await self._end_lasting()
            done = self.total - len(self.plan.missing(self.run.finished()))
            faulty, self.done = faulty - (done - self.done), done
        return self.stopped or self._unfinished(faulty)

    async def _prepare(self) -> None:
        await self.plan.rehearse()

    def _compare_with_file(self) -> None:
        # the user's agent may have written to the file: hide it if it differs from what this command wrote
        digests, manifest = self.run.digests(), self.run.manifest
        changed = [key for key in {**self._digests, **digests} if digests.get(key) != self._digests.get(key)]
        latest = {d: (version, content_hash(scores)) for d, version, scores in self.run.rows("scores")}
        changed += [key for key, d in digests.items() if latest.get(d) != self._scored.get(d, latest.get(d))]
        if not changed and self.plan.own_agent is not None:  # earlier conversations must score as on file
            cases, version = {c.id: c for c in self.plan.cases}, self.plan.scoring_version
            for key in (key for key, d in digests.items() if d not in self._scored and key[0] in cases):
                scores, _ = scores_as_json(self.plan.score, self.run.record(*key), cases[key[0]])
                changed += [key] if latest.get(digests[key]) != (version, content_hash(scores)) else []
        what = [f"case {case_id}, trial {trial}" for case_id, trial in changed[:1]]
        what += ["its manifest" for name in AS_BEGUN if manifest[name] != self.manifest[name]]
        if what:
            with contextlib.suppress(OSError, BadInput):
                set_aside(self.run.path)
            raise BadInput(
                f"{self.run.path} is not what this command wrote: {what[0]} was changed by something else, so the "
                "file was moved to old/: play again, and do not trust the agent"
            )

    async def _end_lasting(self) -> None:
        # write `LASTING` as the ending of each conversation that has used up its `TRIES`
        failed = Counter((fault["case_id"], fault["trial"], fault["kind"]) for fault in self.run.faults())
        lasting = {
            (case_id, trial) for (case_id, trial, kind), count in failed.items() if count >= TRIES.get(kind, inf)
        }
        endings = self.run.endings() if lasting else {}
        given_up = []
        for case, trial in self.plan.pairs():
            if (case.id, trial) in lasting and endings.get((case.id, trial)) in TRIED_AGAIN:
                record = self.run.record(case.id, trial)
                record.ended_by = LASTING
                given_up.append(await ended(self.plan, case, record))
        if given_up:
            with saving(self.run.path) as db:
                db.put("conversations", [played.row for played in given_up])
                db.put("scores", [played.scores for played in given_up])

    def _begin(self) -> list[asyncio.Task[None]]:
        wave = min(self.plan.options.concurrency, self.total - self.done)
        return [asyncio.ensure_future(self._work()) for _ in range(wave)]

    def _unfinished(self, faulty: int) -> Stop | None:
        if faulty:
            many = f"{faulty} of {self.total} conversations were ended by faults"
            by = f"the network{self.also_faulty} or the endpoint"
            return Stop(f"{many} of {by}: rerun the same command to retry them")
        if self.done < self.total:
            left = f"{self.total - self.done} of {self.total} conversations"
            mend = "this is a fault of Deskbench: report it, then rerun the command"
            return Stop(f"{left} were not played though nobody stopped the run: {mend}")
        if self.unscored:
            return Stop(advice(len(self.unscored), len(self.run.endings()), self.run.path))
        return None

    async def _score_what_has_no_score(self) -> None:
        if not self._finished:
            return
        cases = {c.id: c for c in self.plan.cases}
        for fault in await in_thread(lambda: [*score_faults(self.run, self.run.scores(self.plan.scoring_version))]):
            key = fault.case_id, fault.trial
            if self.stopped is None and fault.case_id in cases and key in self._finished:
                self._put_scores(await ended(self.plan, cases[fault.case_id], self.run.record(*key)))
        if self.manifest["cases"].keys() - cases.keys():
            others = await in_thread(lambda: [*score_faults(self.run)])
            self.unscored |= {(f.case_id, f.trial) for f in others if f.case_id not in cases}

    def _put_scores(self, played: Ended) -> None:
        self.unscored -= {played.row[:2]}
        self.unscored |= set() if played.scored else {played.row[:2]}
        digest, version, scores = played.scores
        self._scored[digest] = version, content_hash(scores)
        self._writer.put("scores", played.scores)

    def put(self, table: str, row: Row, urgent: bool = False) -> asyncio.Future[None]:
        """Write a row; the returned future is done once it is on disk."""
        return self._writer.put(table, row, urgent)

    def _open_lines(self) -> dict[str, CallLine]:
        players, wave = self.plan.options.players, self.plan.options.concurrency
        began = self.run.counts()["calls"] > 0
        lines = {side: Line(side, model, self, wave, began) for side, model in self.plan.models.items()}
        return {players.side: PlayersLine(players, self), **lines} if players else {**lines}

    async def _close(self) -> None:
        # finished conversations are on disk afterwards, even if this is cancelled
        self._cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*self._workers, return_exceptions=True)
        self._kept.close()
        self._writer.close()
        with contextlib.suppress(asyncio.CancelledError):
            # The writer has ended, so the last acknowledgements arrive within a few steps of the loop.
            while self._on_the_way:
                await asyncio.sleep(0)
        self._progress.close()
        for model in self.plan.models.values():
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await model.endpoint.aclose()

    def _cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _next(self) -> tuple[Case, int] | None:
        return next(self._again, None)

    async def _work(self) -> None:
        while (due := await self._next()) is not None:
            case, trial = due
            try:
                await self._one(case, trial)
            except (asyncio.CancelledError, CannotSave):
                return
            except Exception as error:
                end = self.plan.blame(error, case.id, trial)
                if not isinstance(end, Stop):
                    self._error, end = self._error or end, Stop(str(error), refused=True)
                self.stop(end)
            if self.stopped is not None:
                return

    async def _one(self, case: Case, trial: int) -> None:
        if self._writer.failure is not None:
            raise self._writer.failure
        played = await self._played(case, trial)
        if played is None or (self.stopped is not None and not played.finished):
            return
        self._put_scores(played)
        self._digests[case.id, trial] = played.row[3]
        on_disk = self._writer.put("conversations", played.row)
        self._on_the_way += 1
        on_disk.add_done_callback(lambda future: self._acknowledged(future, played.finished))
        if self._writer.backlog > LARGEST_BACKLOG:
            await on_disk
        else:
            await asyncio.sleep(0)

    async def _played(self, case: Case, trial: int) -> Ended | None:
        kept = self._kept.of(case.id, trial)
        return await play_whole(self.plan, case, trial, self._lines, kept)

    def _acknowledged(self, on_disk: asyncio.Future[None], finished: bool) -> None:
        self._on_the_way -= 1
        if on_disk.cancelled() or on_disk.exception() is not None:
            return
        if finished:
            self.done += 1
            self._progress.conversation()
        else:
            self._progress.fault()


async def ended(plan: Plan, case: Case, conversation: Conversation) -> Ended:
    """Score an ended conversation; long records in a thread, so that calls in flight are served."""
    record = conversation.to_json()
    digest, ended_by = content_hash(record), conversation.ended_by
    length: float = max(sum(len(message.text) for message in conversation.messages), len(record) // RECORD_A_TEXT)
    length = inf if plan.store.foreign else length  # other packages' code takes long
    scores, scored = await read_aside(length, scores_as_json, plan.score, conversation, case)
    row = conversation.case_id, conversation.trial, ended_by, digest, record, now()
    return Ended(row, ended_by not in NOT_SCORED, (digest, plan.scoring_version, scores), scored)


async def play_whole(
    plan: Plan, case: Case, trial: int, lines: Mapping[str, CallLine], kept: dict[tuple[str, int], KeptCall]
) -> Ended:
    """Play one conversation of a plan and score it."""
    complete = {side: Recorder(side, case.id, trial, line, kept) for side, line in lines.items()}
    conversation = await plan.play(case, trial, complete)
    if plan.options.players is not None:
        plan.options.players.chairs.ended((case.id, trial), conversation)
    return await ended(plan, case, conversation)
