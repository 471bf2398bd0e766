"""Judge finished runs: no verdict is made twice, and no call is bought twice."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from ...cases import Case
from ...cases.load import same_cases, store_of
from ...cli.codes import note
from ...endpoint import Completion, Endpoint, EndpointError, load_settings
from ...errors import BadInput
from ...experiment.recorder import Budget, KeptCalls, Line, Model, Request, Stop, model_at
from ...experiment.summary import Progress
from ...experiment.writer import RunLock, Writer
from ...records import NOT_SCORED, Conversation, content_hash
from ...runfile import RunFile
from ...store import Store
from ...textfiles import read_yaml
from .losses import SecondReading, forecast, planted_losses, read_again, readings_of, rests_on
from .verdicts import SCORERS, Rubric, judge_conversation, judging_version, load_rubrics

SIDE = "judge"
TEXTS: dict[str, Any] = read_yaml(Path(__file__).with_name("texts.yaml"))


@dataclass
class Judged:
    """Result of a round of judging on one run file.

    Attributes
    ----------
    conversations, made : int
        Number of conversations for every judge to judge, and of verdicts made now; the other verdicts were on file.
    unscored : Counter
        Number of scores in the new verdicts that do not count, by reason.
    incomplete : int
        Number of conversations that an endpoint fault left without a verdict.
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
    """Judge finished runs with one or more language models.

    Parameters
    ----------
    *runs : path or RunFile
        The run files.
    judges, scorers : sequence of str
        The judging models, by their names at the endpoints, and the scorers.
    base_urls, settings : sequence
        Endpoint and model settings (file or dict, role ``judge``): one for all judges, or one for each, in their order.
    store, tools : str or Path, optional
        The store, and ``module:name`` of the user's own tools; by default those that each run file names or keeps.
    limit : int, optional
        Maximum number of conversations per run: always the same ones, chosen by the hash of their record.
    apart, unfinished : bool
        Make one call per scorer instead of one for all; also judge a run that still lacks conversations.
    concurrency : int
        Number of conversations judged at once.
    budget_usd : float, optional
        Stop before the judges' calls for a run file cost more than this.

    Raises
    ------
    BadInput
        If an argument is invalid, before anything is spent; or if an endpoint refuses key, model or settings.
    """
    if not judges:
        raise BadInput(TEXTS["no judge"])
    if twice := [judge for at, judge in enumerate(judges) if judge in judges[:at]]:
        raise BadInput(TEXTS["twice"].format(judge=twice[0]))
    for count, option in ((limit, "--limit"), (concurrency, "--concurrency")):
        if count is not None and count < 1:
            raise BadInput(TEXTS["no count"].format(option=option, count=count))
    for value, option in ((budget_usd, "--budget-usd"), (timeout, "--timeout")):
        if value is not None and not 0 < value < float("inf"):
            raise BadInput(TEXTS["no amount"].format(option=option, value=value))
    rubrics = load_rubrics(scorers)
    files = [run if isinstance(run, RunFile) else RunFile(run) for run in runs]
    shops = [store_of(run.path, run.manifest, store, tools) for run in files]
    cases = [check_run(run, shop, unfinished) for run, shop in zip(files, shops, strict=True)]
    done = []
    for run, shop, its_cases in zip(files, shops, cases, strict=True):
        priced = budget_usd is not None
        models = judge_models(judges, base_urls, settings, timeout=timeout, concurrency=concurrency, priced=priced)
        with RunLock(run.path):
            work = Judging(run, models, rubrics, its_cases, shop, apart, limit, concurrency, progress)
            done.append(await work.play(budget_usd))
        if done[-1].stopped is not None:
            break
    return done


def judging_cost(run: RunFile) -> tuple[float, int, int]:
    """Return the cost of judging a run in US dollars, the calls, and those without a price."""
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
    """Return the judging models with endpoints and prices, checked before anything is sent."""
    roles = [load_settings(given)[SIDE] for given in _each(settings, judges, "--settings")]
    return [
        model_at(Endpoint(name, base_url, settings=role, timeout=timeout, concurrency=concurrency), priced)
        for name, base_url, role in zip(judges, _each(base_urls, judges, "--base-url"), roles)
    ]


def _each(given: Sequence[Any], judges: Sequence[str], option: str) -> list[Any]:
    if len(given) not in (0, 1, len(judges)):
        raise BadInput(TEXTS["times"].format(option=option, times=len(given), judges=len(judges)))
    return list(given) if len(given) == len(judges) else [*given, None][:1] * len(judges)


def check_run(run: RunFile, store: Store, unfinished: bool) -> dict[str, Case]:
    """Return the cases to show a judge; refuse an unfinished run and a run on other cases."""
    run.check()
    manifest = run.manifest
    cases = same_cases(run.path, manifest, store, "judge it")
    planned, finished = sum(manifest["planned"].values()), run.counts()["finished"]
    if finished < planned and not unfinished:
        raise BadInput(TEXTS["unfinished"].format(path=run.path, finished=finished, planned=planned))
    return cases


@dataclass
class Judging:
    """One round of judging on one run file, which the caller has locked."""

    run: RunFile
    models: list[Model]
    rubrics: list[Rubric]
    cases: dict[str, Case]
    store: Store
    apart: bool
    limit: int | None
    concurrency: int
    progress: bool

    def __post_init__(self) -> None:
        losses, endings = self.rubrics[0].reads == "losses", self.run.endings()
        records = {
            digest: record
            for case_id, trial, digest, record in self.run.conversations()
            if endings[case_id, trial] not in NOT_SCORED
        }
        how = (self.apart, self.store, rests_on() if losses else ())
        self.versions = {m.endpoint.model: judging_version(self.rubrics, m.settings, *how) for m in self.models}
        found: dict[str, Any] = readings_of(records, self.cases, self.store) if losses else records
        # A limited sample stays the same and is part of any larger one: the first by hash.
        chosen = list(found) if self.limit is None else sorted(found)[: self.limit]
        planted = {content_hash(p.conversation.to_json()): p for p in planted_losses()} if losses and found else {}
        on_file = {(v["record_hash"], v["judge"], v["version"]) for v in self.run.verdicts()}
        shown = planted | {digest: found[digest] for digest in chosen}
        every = [(digest, what, model) for digest, what in shown.items() for model in self.models]
        self._work = [
            (digest, what, model)
            for digest, what, model in every
            if (digest, model.endpoint.model, self.versions[model.endpoint.model]) not in on_file
        ]
        self.done = Judged(self.run.path, len(every))
        self._error: Exception | None = None
        self.stopped: Stop | None = None

    async def play(self, budget_usd: float | None) -> Judged:
        """Judge the conversations that have no verdict of this version yet.

        Raise `BadInput` if an endpoint refuses key, model or settings at its first call, and `CannotSave` if the file
        can no longer be written.
        """
        coming = [(what, model) for _, what, model in self._work if isinstance(what, SecondReading)]
        if self.progress and coming:
            note(forecast(self.run.path, coming, self.rubrics[0], self.store, self.apart))
        total, left = self.done.conversations, len(self._work)
        self._bar = Progress(f"judging {self.run.path.stem}", total, total - left, self.progress)
        self._kept, self._writer = JudgeCalls(self.run.path), Writer(self.run.path)
        self.budget = Budget(budget_usd, judging_cost(self.run)[0], self.stop)
        self.put, self.called = self._writer.put, self._bar.call
        self._lines = {model.endpoint.model: Line(SIDE, model, self, self.concurrency) for model in self.models}
        jobs = iter(self._work)
        try:
            async with asyncio.TaskGroup() as workers:
                for _ in range(min(self.concurrency, left)):
                    workers.create_task(self._worker(jobs))
        finally:
            for part in (self._kept, self._writer, self._bar):
                part.close()
            for model in self.models:
                with contextlib.suppress(Exception, asyncio.CancelledError):
                    await model.endpoint.aclose()
        if failure := self._writer.failure or self._error:
            raise failure
        if self.done.stopped is not None and self.done.stopped.refused:
            raise BadInput(self.done.stopped.sentence)
        return self.done

    def stop(self, stop: Stop) -> None:
        """Start no further calls."""
        self.done.stopped = self.stopped = self.stopped or stop

    async def _worker(self, jobs: Any) -> None:
        for digest, what, model in jobs:
            try:
                await self._one(digest, what, model.endpoint.model)
            except asyncio.CancelledError:
                if self.done.stopped is None:
                    raise
            except EndpointError:
                self.done.incomplete += 1
                self._bar.fault()
            except Exception as error:
                self._error = self._error or error
                self.stop(Stop(str(error), refused=True))
            if self.done.stopped is not None:
                return

    async def _one(self, digest: str, what: SecondReading | bytes, name: str) -> None:
        """Have one judge judge one conversation; the verdict is on disk when this returns."""
        conversation = what.conversation if isinstance(what, SecondReading) else Conversation.from_json(what)
        complete = self._kept.recorder(conversation, self._lines[name])
        if isinstance(what, SecondReading):
            verdict = await read_again(complete, what, self.store, self.rubrics[0], self.apart)
        else:
            case = self.cases[conversation.case_id]
            how = (case, self.store.of(case), self.rubrics, self.apart)
            verdict = await judge_conversation(complete, conversation, *how)
        verdict["entrant"] = same_model(name, conversation.model)
        await self._writer.put("verdicts", (digest, name, self.versions[name], orjson.dumps(verdict)))
        self.done.made += 1
        kept = next(verdict[part] for part in ("scores", "customer", "losses") if part in verdict)
        self.done.unscored.update(s["unscored"] for s in kept.values() if s["unscored"])
        self._bar.conversation()


def same_model(one: str, other: str) -> bool:
    """Return whether two names mean the same model, ignoring vendor prefix and capitals."""
    return one.lower().rpartition("/")[2] == other.lower().rpartition("/")[2]


class JudgeCalls(KeptCalls):
    """Calls of all judges on a run file, replayed by request; a new call gets the next number."""

    def __init__(self, path: Path):
        super().__init__(path)
        self._last: Counter[tuple[str, int]] = Counter()

    def recorder(self, conversation: Conversation, line: Line) -> Any:
        """Return ``complete(messages) -> Completion`` for one judge and one conversation."""
        key = conversation.case_id, conversation.trial
        numbered = {n: call for (side, n), call in self.of(*key).items() if side == SIDE}
        kept = {call.request_hash: call for call in numbered.values()}
        self._last[key] = max([self._last[key], *numbered])

        async def complete(messages: list[Any]) -> Completion:
            endpoint = line.model.endpoint
            request = orjson.dumps([endpoint.model, endpoint.settings.body, messages], option=orjson.OPT_SORT_KEYS)
            if call := kept.get(content_hash(request)):
                return call.completion()
            self._last[key] += 1
            return await line.call(Request((*key, self._last[key]), request, messages))

        return complete
