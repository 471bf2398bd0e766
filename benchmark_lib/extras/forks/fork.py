"""`Fork`: continue recorded conversations many times from chosen turns, from a script, command line or notebook."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from ...analysis import load_results
from ...cases import Case
from ...cases.played import same_cases, store_name, store_of
from ...conversation import make_agent, make_customer
from ...conversation.speaker import Speaker
from ...errors import BadInput
from ...experiment import Experiment
from ...experiment.forecast import Forecast, Range, forecast
from ...experiment.manifest import addresses, default_name, differences, part, played_as
from ...experiment.plan import Plan, prepare
from ...experiment.recorder import KeptCall, KeptCalls, Recorder
from ...project import project_folder
from ...records import FORK, Conversation, Usage, content_hash
from ...runfile import RunFile
from .branch import Branch, Calls, ForkedAgent, ForkedCustomer, NotRestored, Spoken
from .changes import Change
from .points import (
    EVERY,
    RULES,
    Point,
    along,
    by_rule,
    finished,
    named,
    number_of,
    numbered,
    pivots,
    place_of,
    twins,
)

OWN_PREFIX, SHARED_PREFIX, STOPS = "own prefix", "shared prefix", "to the next deciding act"
"""Kinds of forks: of a model's own conversation, and of a conversation that another agent began."""
NOT_FORKED = {"imported": "was imported", "published": "has published figures alone", FORK: "is a file of forks"}
"""Sources of files that cannot be forked, in words."""
MOST = 9_999
SAME = ("store", "prompt", "tools", "seed", "messages", "customer", "rules")
"""Inputs that a fork shares with the run; for an own prefix also the settings."""
COSTLIER = 2.0
"""Factor between the likely and the highest end of a forecast, and between the lowest and the likely one."""


@dataclass(kw_only=True)
class Fork(Experiment):
    """Forks of a run to play, resume or replay; the parameters of `Options` come from the run where not given.

    Parameters
    ----------
    parent : RunFile or path
        The run whose conversations are continued.
    times : int
        Forks at each point.
    at : str or list of str
        A rule (``decision``, ``pressure``, ``trouble``, ``every``) or points ``CASE:TRIAL:TURN``.
    where : str
        A query of the conversations that a rule looks at, as in `Results.where`.
    pivots : RunFile or path, optional
        Another run: fork where the two first differ, in place of `at`.
    along : str, optional
        ``CASE:TRIAL``: fork every turn up to the last act of one conversation, in place of `at`.
    with_twins : bool
        Fork also the same turns of the clean twins.
    shared : bool
        Let the model continue the conversation as one that another agent began, even if it was its own.
    stop_at_decision : bool
        End each fork after its next write, handover or close.
    what_if : str, optional
        One change, see `Change`; the same command without it gives the forks to compare with.
    """

    model: str | None = None
    store: str | Path | None = None  # type: ignore[assignment]
    parent: Any = None
    times: int = 10
    at: str | list[str] = "decision"
    where: str = ""
    pivots: Any = None
    along: str | None = None
    with_twins: bool = False
    shared: bool = False
    stop_at_decision: bool = False
    what_if: str | None = None
    left_out: list[str] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take from the run what is not given."""
        self.run_file = self.parent if isinstance(self.parent, RunFile) else RunFile(self.parent)
        manifest = self._begun = self.run_file.manifest
        if manifest["source"] in NOT_FORKED:
            what = NOT_FORKED[manifest["source"]]
            raise BadInput(f"{self.run_file.path} {what}, so it cannot be forked: name a run that was played here")
        if self.model is None and self.agent is None and manifest["source"] not in ("model", "scripted"):
            who = f"{manifest['model']} ({manifest['source']})"
            raise BadInput(f"{who} is no model that can go on: name one with --model, or your own agent with --agent")
        inputs = manifest["inputs"]
        self.model = self.model or (manifest["model"] if self.agent is None else None)
        self.store = store_name(manifest) if self.store is None else self.store
        self.seed, self.messages = inputs["seed"]["value"], inputs["messages"]["value"]
        self.customer = inputs["customer"]["value"]
        known = addresses(manifest)
        if self.model == manifest["model"]:
            self.base_url = self.base_url or next(reversed(known.get("agent", [])), None)
        self.customer_base_url = self.customer_base_url or next(reversed(known.get("customer", [])), None)
        super().__post_init__()

    @cached_property
    def kind(self) -> str:
        """Return whose conversation is continued: `OWN_PREFIX` or `SHARED_PREFIX`."""
        same = self.agent is None and self.model == self._begun["model"]
        own = same and self._begun["source"] in ("model", "scripted") and not self._begun["inputs"]["agent"]["value"]
        return OWN_PREFIX if own and not self.shared else SHARED_PREFIX

    @cached_property
    def change(self) -> Change:
        """Return the change of `what_if`."""
        return Change.of(self.what_if)

    def plan(self, keyless: bool = False) -> ForkPlan:
        """Choose the points and check everything the options name; raise `BadInput` for the first mistake."""
        if not isinstance(self.times, int) or not 1 <= self.times <= MOST:
            raise BadInput(f"times must be a whole number from 1 to {MOST:,}, not {self.times!r}: change --times")
        if self.executor is not None or self.players is not None:
            raise BadInput("forks are played on this machine by a model or an agent: leave --executor and players out")
        shop = store_of(self.run_file.path, self._begun, self.store, self.tools, carried_out=True)
        cases = same_cases(self.run_file.path, self._begun, shop, "fork it")
        self.change.prompt("", shop)  # refuses an article or a rule that does not exist
        points = self._points(cases)
        self.cases = ",".join(dict.fromkeys(point.case_id for point in points))
        self.trials = self.times
        self.out = self._path() if self.out is None else self.out
        plan = prepare(self, keyless)
        self._check_inputs(plan)
        return ForkPlan(
            **{**vars(plan), "source": FORK, "manifest": self._manifest(plan, points)},
            fork=self,
            points=points,
        )

    def _points(self, cases: dict[str, Case]) -> list[Point]:
        records = finished(self.run_file.records())
        some = self._asked(records)
        given = [self.at] if isinstance(self.at, str) else [*self.at]
        if self.along is not None:
            points = along(self.along, records)
        elif self.pivots is not None:
            points = pivots(some, finished(RunFile(self.pivots).records()))
        else:
            points = [p for one in given for p in (by_rule(some, one) if one in RULES else [named(one, records)])]
        points += twins(points, records, cases) if self.with_twins else []
        points = list(dict.fromkeys(points))
        kept = [p for p in points if self.change.fits(records[p.case_id, p.trial], p, cases[p.case_id])]
        if len(kept) < len(points):
            self.left_out = [
                f"{len(points) - len(kept)} of {len(points)} points have nothing that {self.change} changes"
            ]
        if not kept:
            raise BadInput(
                f"{self.run_file.path} has no turn to fork by these options: name one with --at CASE:TRIAL:TURN, or "
                f"take --at {EVERY}"
            )
        return kept

    def _asked(self, records: dict[tuple[str, int], Conversation]) -> list[Conversation]:
        if not self.where:
            return list(records.values())
        rows = load_results(self.run_file).where(self.where)
        wanted = set(zip(rows["case_id"], rows["trial"], strict=True))
        return [record for key, record in records.items() if key in wanted]

    def _path(self) -> Path:
        words = [self._begun["run_id"], self.kind, str(self.change), self.stop_at_decision, self.base_url]
        words += [str(self.settings), str(self.agent)]
        name = default_name(f"forks-{self.model or self.agent}", words)
        return project_folder() / "data" / "forks" / name

    def _check_inputs(self, plan: Plan) -> None:
        """Refuse a run that was made with other inputs than the fork would be."""
        names = {*SAME, *(["settings"] if self.kind == OWN_PREFIX else [])}
        old, new = (
            {**manifest, "cases": {}, "inputs": {n: p for n, p in manifest["inputs"].items() if n in names}}
            for manifest in (self._begun, plan.manifest)
        )
        if found := differences(old, new):
            raise BadInput(
                f"{self.run_file.path} was played with other inputs, so its turns cannot be restored: "
                f"{'; '.join(found)}: fork it with those inputs"
            )

    def _manifest(self, plan: Plan, points: list[Point]) -> dict[str, Any]:
        before = RunFile(plan.path).manifest.get("points", {}) if plan.path.exists() else {}
        every = numbered(points, before)
        fork = {"of": self._begun["run_id"], "prefix": self.kind, "change": str(self.change)}
        fork |= {"stop": "decision" if self.stop_at_decision else ""}
        words = ", ".join(filter(None, [f"{self.kind} of {fork['of']}", fork["change"], fork["stop"] and STOPS]))
        inputs = {**plan.manifest["inputs"], "fork": part(words, fork)}
        planned = {case: len(mine) * self.times for case, mine in every.items()}
        listed = {case: [[p.trial, p.turn, p.digest] for p in mine] for case, mine in every.items()}
        return {**plan.manifest, "source": FORK, "inputs": inputs, "planned": planned, "points": listed, "fork": fork}

    async def _foresee(self, plan: Plan, done: set[tuple[str, int]]) -> Forecast:
        found = await forecast(plan, done)
        return plan.foreseen(found, done) if isinstance(plan, ForkPlan) else found


@dataclass(kw_only=True)
class ForkPlan(Plan):
    """A plan whose conversations are forks at `points`."""

    fork: Fork
    points: list[Point]

    def pairs(self) -> Iterator[tuple[Case, int]]:
        """Yield case and trial of every fork, each point once before any a second time."""
        cases = {case.id: case for case in self.cases}
        for n in range(1, self.trials + 1):
            for point in self.points:
                yield cases[point.case_id], number_of(self._place(point), n)

    def _place(self, point: Point) -> int:
        return self.manifest["points"][point.case_id].index([point.trial, point.turn, point.digest])

    def point_of(self, case_id: str, trial: int) -> Point:
        """Return the point of a fork."""
        return Point(case_id, *self.manifest["points"][case_id][place_of(trial)[0]])

    @cached_property
    def _parent(self) -> Any:
        """Return a function that reads a parent's record and model calls, and remembers the latest ones."""

        def read(case_id: str, trial: int) -> tuple[Conversation, dict[tuple[str, int], KeptCall]]:
            with closing(KeptCalls(self.fork.run_file.path)) as kept:
                return self.fork.run_file.record(case_id, trial), kept.of(case_id, trial)

        return lru_cache(maxsize=256)(read)

    async def play(
        self, case: Case, trial: int, complete: dict[str, Recorder], as_trial: int | None = None
    ) -> Conversation:
        """Play one fork; `complete` is the model call of each side."""
        point = self.point_of(case.id, trial)
        record, kept = self._parent(case.id, point.trial)
        if content_hash(record.to_json()) != point.digest:
            raise NotRestored(f"{point} is another conversation than when it was first forked: give another --out")
        change = self.fork.change
        edit = partial(change.said, record=record, point=point, case=case) if change.name else None
        entropy = [self.seed, crc32(case.id.encode()), point.trial, point.turn, place_of(trial)[1]]
        rng = np.random.default_rng(entropy)
        branch = Branch(record, point.turn, self.fork.stop_at_decision, edit, rng=rng)
        conversation = await self._continue(case, branch, kept, complete, change)
        conversation.trial = trial
        return conversation

    async def _continue(
        self,
        case: Case,
        branch: Branch,
        kept: dict[tuple[str, int], KeptCall],
        complete: dict[str, Recorder],
        change: Change,
    ) -> Conversation:
        record, played = branch.record, change.case(case)
        calls = {
            side: Calls(branch, Recorder(side, case.id, record.trial, None, kept), complete.get(side))
            for side in ("agent", "customer")
        }
        spoken = Spoken(record) if self.fork.kind == SHARED_PREFIX else None
        live = await self._live(case, calls["agent"])
        agent = ForkedAgent(branch, live, spoken, change.prompt(self.prompt_of(case), self.store.of(case)))
        inner = make_customer(self.customer_name, case=case, store=self.store, complete=calls["customer"])
        as_trial = played_as(self.fork._begun, case.id, record.trial)
        return await self.converse(played, agent, ForkedCustomer(branch, inner), as_trial)

    async def _live(self, case: Case, calls: Calls) -> Speaker:
        if self.own_agent is not None:
            return await self.agent(case, 0, None)
        return make_agent(self.model, case=case, store=self.store, complete=calls)

    async def rehearse(self) -> None:
        """Restore every point once before anything is paid; raise `NotRestored` for the first that differs."""
        cases, last = {case.id: case for case in self.cases}, dict[tuple[str, int], int]()
        for point in self.points:
            last[point.case_id, point.trial] = max(point.turn, last.get((point.case_id, point.trial), 0))
        for (case_id, trial), turn in last.items():
            record, kept = self._parent(case_id, trial)
            branch = Branch(record, turn, rehearsal=True)
            await self._continue(cases[case_id], branch, kept, {}, self.fork.change)
            if not branch.live:
                raise NotRestored(branch.refusal("the conversation ends before it today"))
            await asyncio.sleep(0)

    def foreseen(self, guess: Forecast, done: set[tuple[str, int]]) -> Forecast:
        """Return a forecast from what the parents needed after each point; without calls on file, the `guess`."""
        missing = Counter(self.point_of(c.id, trial) for c, trial in self.pairs() if (c.id, trial) not in done)
        needed: Counter[str] = Counter()
        for point, times in missing.items():
            calls = _calls_after(self.fork.run_file, point)
            if not calls or None in (call["prompt_tokens"] for call in calls):
                return guess
            needed["calls"] += times * len(calls)
            for name in ("prompt_tokens", "completion_tokens"):
                needed[name] += times * sum(call[name] for call in calls)
        price = self.models["agent"].price if "agent" in self.models and needed else None
        cost = (
            price(Usage(needed["prompt_tokens"], needed["completion_tokens"], calls=needed["calls"])) if price else None
        )
        share = needed["calls"] / guess.calls.likely if guess.calls.likely else 1.0
        return replace(
            guess,
            calls=_around(needed["calls"]),
            prompt_tokens=_around(needed["prompt_tokens"]),
            completion_tokens=_around(needed["completion_tokens"]),
            cost_usd=guess.cost_usd and _around(cost or 0.0),
            minutes=_around(share * guess.minutes.likely),
        )


def _calls_after(run: RunFile, point: Point) -> list[dict[str, Any]]:
    """Return the agent's model calls from a point on, by the share of its messages and calls that come after it."""
    mine = sorted((c for c in run.calls_of(point.case_id, point.trial) if c["side"] == "agent"), key=lambda c: c["n"])
    record = run.record(point.case_id, point.trial)
    acts = [m.turn for m in record.replies()] + [c.turn for c in record.tool_calls if c.side == "agent"]
    before = sum(turn < point.turn for turn in acts) * len(mine) // max(len(acts), 1)
    return mine[before:]


def _around(value: float) -> Range:
    return Range(value / COSTLIER, value, value * COSTLIER)
