"""Judges over finished run files: what is judged stays judged, every call is on the ledger and never bought twice."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ...cases import Case
from ...cases.played import same_cases, store_of
from ...cli.codes import note
from ...endpoint import Completion, Endpoint, EndpointError, load_settings
from ...errors import BadInput
from ...experiment.budget import Budget, Stop
from ...experiment.progress import Progress
from ...experiment.recorder import KeptCall, Line, Model, model_at
from ...experiment.writer import RunLock, Writer
from ...records import NOT_SCORED, Conversation, content_hash
from ...runfile import RunFile, connect_to_read
from ...store import Store
from ...threads import in_thread
from .losses import forecast, read_again, readings_of, rests_on
from .verdicts import SCORERS, Rubric, judge_conversation, judging_version, load_rubrics

SIDE = "judge"


@dataclass
class Judged:
    """What a round of judging left on one run file.

    Attributes
    ----------
    conversations, made : int
        Conversations that were to be judged, by every judge, and verdicts made now; the rest was on file.
    unscored : Counter
        Scores of the new verdicts that do not count, by reason.
    incomplete : int
        Conversations that a fault of the endpoint left without a verdict.
    """

    path: Path
    conversations: int = 0
    made: int = 0
    unscored: Counter[str] = field(default_factory=Counter)
    incomplete: int = 0
    stopped: Stop | None = None


async def judge_runs(
    *runs: Any,
    judges: Sequence[str],
    base_urls: Sequence[str] = (),
    settings: Sequence[Any] = (),
    scorers: Sequence[str] = SCORERS,
    store: str | Path | None = None,
    tools: str | None = None,
    limit: int | None = None,
    apart: bool = False,
    unfinished: bool = False,
    concurrency: int = 8,
    timeout: float | None = None,
    budget_usd: float | None = None,
    progress: bool = True,
) -> list[Judged]:
    """Have finished runs judged by one or more language models.

    Parameters
    ----------
    *runs : path or RunFile
        The run files.
    judges, scorers : sequence of str
        The endpoints' names of the judging models, and what is scored.
    base_urls, settings : sequence
        Endpoint and model settings (file or dict, role ``judge``) of each judge; one for all, or one each in the same
        order.
    store : str or Path, optional
        The store the runs were played on; by default the one that each of them names.
    tools : str, optional
        ``module:name`` of the user's own tools, for runs that were played with some; by default a judge is shown what
        the run file keeps of them.
    limit : int, optional
        Judge only so many conversations of each run: the same ones each time, picked by the hash of their record.
    apart, unfinished : bool
        One call a scorer in place of one call for all; also judge a run that still lacks conversations.
    concurrency : int
        Conversations judged at once.
    budget_usd : float, optional
        Stop before the judges' calls on a run file have cost more than this.

    Raises
    ------
    BadInput
        Before anything is spent, or when an endpoint refuses key, model or settings.
    """
    if not judges:
        raise BadInput("no judge is named: write `deskbench judge RUN --judge MODEL`")
    if twice := [judge for at, judge in enumerate(judges) if judge in judges[:at]]:
        raise BadInput(f"the judge {twice[0]} is named twice: name each judge once")
    _check_numbers(limit, concurrency, budget_usd, timeout)
    rubrics = load_rubrics(scorers)
    files = [run if isinstance(run, RunFile) else RunFile(run) for run in runs]
    shops = [store_of(run.path, run.manifest, store, tools) for run in files]
    cases = [check_run(run, shop, unfinished) for run, shop in zip(files, shops, strict=True)]
    done = []
    for run, shop, its_cases in zip(files, shops, cases, strict=True):
        models = judge_models(
            judges, base_urls, settings, timeout=timeout, concurrency=concurrency, priced=budget_usd is not None
        )
        with RunLock(run.path):
            how: dict[str, Any] = {"apart": apart, "limit": limit, "concurrency": concurrency, "progress": progress}
            work = Judging(run, models, rubrics, its_cases, shop, **how)
            done.append(await work.play(budget_usd))
        if done[-1].stopped is not None:
            break
    return done


def judging_cost(run: RunFile) -> tuple[float, int, int]:
    """Return the cost of judging on a run file: US dollars, calls, and the calls without a known price."""
    costs = [call["cost_usd"] for call in run.calls() if call["side"] == SIDE]
    return sum(c or 0.0 for c in costs), len(costs), costs.count(None)


def judge_models(
    judges: Sequence[str],
    base_urls: Sequence[str],
    settings: Sequence[Any],
    *,
    timeout: float | None,
    concurrency: int,
    priced: bool = False,
) -> list[Model]:
    """Return the judging models with their endpoints and prices, checked before anything is sent."""
    roles = [load_settings(given)[SIDE] for given in _each(settings, judges, "--settings")]
    return [
        model_at(Endpoint(name, base_url, settings=role, timeout=timeout, concurrency=concurrency), priced)
        for name, base_url, role in zip(judges, _each(base_urls, judges, "--base-url"), roles)
    ]


def _each(given: Sequence[Any], judges: Sequence[str], option: str) -> list[Any]:
    """Return one value a judge, from none, one for all, or one each."""
    if len(given) not in (0, 1, len(judges)):
        raise BadInput(
            f"{option} is given {len(given)} times for {len(judges)} judges: give it once, or once for each "
            "judge in their order"
        )
    return list(given) if len(given) == len(judges) else [*given, None][:1] * len(judges)


def _check_numbers(limit: int | None, concurrency: int, budget_usd: float | None, timeout: float | None) -> None:
    for count, option in ((limit, "--limit"), (concurrency, "--concurrency")):
        if count is not None and count < 1:
            raise BadInput(f"{option} {count} is no number of conversations: give a whole number from 1 up")
    for value, option in ((budget_usd, "--budget-usd"), (timeout, "--timeout")):
        if value is not None and not 0 < value < float("inf"):
            raise BadInput(f"{option} must be a number above 0, not {value!r}")


def check_run(run: RunFile, store: Store, unfinished: bool) -> dict[str, Case]:
    """Return the cases a judge is shown; refuse an unfinished run and one played on other cases."""
    run.check()
    manifest = run.manifest
    cases = same_cases(run.path, manifest, store, "judge it")
    planned, finished = sum(manifest["planned"].values()), run.counts()["finished"]
    if finished < planned and not unfinished:
        raise BadInput(
            f"{run.path} holds {finished} of {planned} planned conversations: finish the run first, or add "
            "--unfinished to judge what is there"
        )
    return cases


class Judging:
    """One round of judging on one run file, which the caller holds locked."""

    def __init__(
        self,
        run: RunFile,
        models: list[Model],
        rubrics: list[Rubric],
        cases: dict[str, Case],
        store: Store,
        *,
        apart: bool = False,
        limit: int | None = None,
        concurrency: int = 8,
        progress: bool = True,
    ):
        self.run, self.models, self.rubrics, self.cases, self.store = run, models, rubrics, cases, store
        self.apart, self.concurrency, self.shown = apart, concurrency, progress
        losses = rubrics[0].reads_losses
        rests = rests_on() if losses else ()
        self.versions = {m.endpoint.model: judging_version(rubrics, m.settings, apart, store, rests) for m in models}
        self.readings = readings_of(run, _chosen(run, None), cases, store, limit) if losses else {}
        self.done = Judged(run.path)
        self._error: Exception | None = None
        on_file = {(v["record_hash"], v["judge"], v["version"]) for v in run.verdicts()}
        self._work = []
        for digest in self.readings if losses else _chosen(run, limit):
            for model in models:
                self.done.conversations += 1
                if (digest, model.endpoint.model, self.versions[model.endpoint.model]) not in on_file:
                    self._work.append((digest, model))
        self._jobs: Iterator[tuple[str, Model]] = iter(self._work)

    async def play(self, budget_usd: float | None) -> Judged:
        """Judge what has no verdict of this version yet.

        `BadInput` when an endpoint refuses key, model or settings at its first call, `CannotSave` when the file cannot
        be written any more.
        """
        if self._work:
            await self._check_reach()
        if self.shown and (coming := [(self.readings[digest], model) for digest, model in self._work if self.readings]):
            note(forecast(self.run.path, coming, self.rubrics[0], self.store, self.apart))
        spent, *_ = judging_cost(self.run)
        self._records = {digest: record for _, _, digest, record in self.run.conversations()}
        self._kept, self._writer = JudgeCalls(self.run.path), Writer(self.run.path)
        total = self.done.conversations
        self._progress = Progress(f"judging {self.run.path.stem}", total, total - len(self._work), self.shown)
        self._lines = self._open_lines(Budget(budget_usd, spent))
        workers = [asyncio.ensure_future(self._worker()) for _ in range(min(self.concurrency, len(self._work)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._close()
        error = self._writer.failure or self._error
        if error is not None:
            raise error
        if self.done.stopped is not None and self.done.stopped.refused:
            raise BadInput(self.done.stopped.sentence)
        return self.done

    async def _check_reach(self) -> None:
        try:
            for model in self.models:
                await in_thread(model.endpoint.reach)
        except EndpointError as error:
            raise BadInput(str(error)) from None

    def _open_lines(self, budget: Budget) -> dict[str, Line]:
        shared: dict[str, Any] = {"budget": budget, "writer": self._writer, "wave": self.concurrency}
        shared |= {"stop": self._stop, "called": self._progress.call}
        return {model.endpoint.model: Line(SIDE, model, **shared) for model in self.models}

    def _stop(self, stop: Stop) -> None:
        self.done.stopped = self.done.stopped or stop
        for line in self._lines.values():
            line.stopped = True

    async def _close(self) -> None:
        self._kept.close()
        self._writer.close()
        self._progress.close()
        for model in self.models:
            with contextlib.suppress(Exception, asyncio.CancelledError):
                await model.endpoint.aclose()

    async def _worker(self) -> None:
        for digest, model in self._jobs:
            try:
                await self._one(digest, model)
            except asyncio.CancelledError:
                if self.done.stopped is None:
                    raise
            except EndpointError:
                self.done.incomplete += 1
                self._progress.fault()
            except Exception as error:
                self._error = self._error or error
                self._stop(Stop(str(error), refused=True))
            if self.done.stopped is not None:
                return

    async def _one(self, digest: str, model: Model) -> None:
        """Judge one conversation by one judge; its verdict is on disk when this ends."""
        reading = self.readings.get(digest)
        conversation = reading.conversation if reading else Conversation.from_json(self._records[digest])
        name = model.endpoint.model
        complete = JudgeRecorder(conversation.case_id, conversation.trial, self._lines[name], self._kept)
        if reading:
            case = None if reading.is_planted else self.cases[conversation.case_id]
            verdict = await read_again(complete, reading, case, self.store, self.rubrics[0], self.apart)
        else:
            case = self.cases[conversation.case_id]
            store = self.store.of(case)
            verdict = await judge_conversation(complete, conversation, case, store, self.rubrics, self.apart)
        verdict["entrant"] = same_model(name, conversation.model)
        await self._writer.put("verdicts", (digest, name, self.versions[name], orjson.dumps(verdict)))
        self.done.made += 1
        told = next(verdict[what] for what in ("scores", "customer", "losses") if what in verdict)
        self.done.unscored.update(s["unscored"] for s in told.values() if s["unscored"])
        self._progress.conversation()


def _chosen(run: RunFile, limit: int | None) -> list[str]:
    """Record hashes of the finished conversations; with a limit those that come first, a sample that stays the same."""
    endings = run.endings()
    found = [digest for case_id, trial, digest, _ in run.conversations() if endings[case_id, trial] not in NOT_SCORED]
    return found if limit is None else sorted(found)[:limit]


def same_model(one: str, other: str) -> bool:
    """Return whether two names mean one model, whatever their vendor prefix and capitals."""
    return one.lower().rpartition("/")[2] == other.lower().rpartition("/")[2]


class JudgeCalls:
    """The finished calls of all judges and versions on a run file, and the numbers that new ones get."""

    def __init__(self, path: Path):
        self._db = connect_to_read(path)
        rows = self._db.execute("SELECT case_id, trial, max(n) FROM calls WHERE side=? GROUP BY 1, 2", (SIDE,))
        self._last = {(case_id, trial): n for case_id, trial, n in rows}

    def find(self, case_id: str, trial: int, model: str, request: bytes) -> KeptCall | None:
        """Return the call of this judge with this request, if it is on file."""
        sql = (
            "SELECT request_hash, response, latency_s, attempts FROM calls WHERE side=? AND case_id=? AND "
            "trial=? AND model=? "
            "AND request_hash=?"
        )
        row = self._db.execute(sql, (SIDE, case_id, trial, model, content_hash(request))).fetchone()
        return None if row is None else KeptCall(*row)

    def next_number(self, case_id: str, trial: int) -> int:
        """Return the number of a new call."""
        self._last[case_id, trial] = self._last.get((case_id, trial), 0) + 1
        return self._last[case_id, trial]

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()


class JudgeRecorder:
    """The calls of one judge about one conversation: from the file where they are on it, else made and written."""

    def __init__(self, case_id: str, trial: int, line: Line, kept: JudgeCalls):
        self.case_id, self.trial, self._line, self._kept = case_id, trial, line, kept

    async def __call__(self, messages: list[Any]) -> Completion:
        """Return the completion of a request."""
        endpoint = self._line.endpoint
        request = orjson.dumps([endpoint.model, endpoint.settings.body, messages], option=orjson.OPT_SORT_KEYS)
        kept = self._kept.find(self.case_id, self.trial, endpoint.model, request)
        if kept is not None:
            return kept.completion()
        number = self._kept.next_number(self.case_id, self.trial)
        return await self._line.call((self.case_id, self.trial, number), request, messages, None, {})
