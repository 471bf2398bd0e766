"""`Fork`: continue recorded conversations many times from chosen turns."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from ...analysis import load_results
from ...analysis.estimators.estimate import sentence
from ...cases import Case
from ...cases.load import same_cases, store_name, store_of
from ...conversation import make_customer
from ...conversation.model_agent import Spoken
from ...errors import BadInput
from ...experiment import Experiment
from ...experiment.forecast import Forecast, Range, forecast
from ...experiment.manifest import default_name, differences, part
from ...experiment.plan import Plan, prepare
from ...experiment.recorder import KeptCall, KeptCalls, Recorder
from ...project import project_folder
from ...records import FORK, Conversation, content_hash
from ...runfile import RunFile, addresses
from .branch import Branch, ForkedAgent, ForkedCustomer
from .points import (
    PLACES,
    RULES,
    ForkPoint,
    along,
    chosen,
    finished,
    numbered,
    pivots,
    place_of,
    point_in,
    twins,
)
from .tables import TEXTS, WhatIf

OWN_PREFIX, SHARED_PREFIX, STOPS = "own prefix", "shared prefix", "to the next deciding act"
"""Kinds of forks: of a model's own conversation, and of a conversation that another agent began."""
REFUSED: dict[str, str] = TEXTS["refused"]
NOT_FORKED = ("imported", "published", FORK)
"""Sources whose files cannot be forked; `REFUSED` has the reasons."""
MOST = 9_999
SAME = {"store", "prompt", "tools", "seed", "messages", "customer", "rules"}
"""Inputs that a fork shares with the run; a fork of its own prefix also shares the settings."""


@dataclass(kw_only=True)
class Fork(Experiment):
    """Forks of a run to play, resume or replay; omitted `Options` come from the run.

    Parameters
    ----------
    parent : RunFile or path
        The run whose conversations are continued.
    times : int
        Number of forks at each point.
    at : str or list of str
        A rule (``decision``, ``pressure``, ``trouble``, ``every``) or points ``CASE:TRIAL:TURN``.
    where : str
        A query for the conversations to which a rule applies, as in `Results.where`.
    pivots : RunFile or path, optional
        Another run: fork where the two first differ, in place of `at`.
    along : str, optional
        ``CASE:TRIAL``: fork every turn up to the last act of one conversation, in place of `at`.
    with_twins : bool
        Also fork the same turns of the clean twins.
    shared : bool
        Let the model continue the conversation as one that another agent began, even if it was its own.
    stop_at_decision : bool
        End each fork after its next write, handover or close.
    what_if : str, optional
        One change, as in ``docs/forks.md``; the same command without it gives the forks to compare with.
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
    left_out: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take omitted options from the run."""
        self.run_file = self.parent if isinstance(self.parent, RunFile) else RunFile(self.parent)
        begun = self.begun = self.run_file.manifest
        if begun["source"] in NOT_FORKED:
            raise BadInput(REFUSED["source"].format(path=self.run_file.path, why=REFUSED[begun["source"]]))
        if self.model is None and self.agent is None and begun["source"] not in ("model", "scripted"):
            raise BadInput(REFUSED["no model"].format(**begun))
        self.model = self.model or (begun["model"] if self.agent is None else None)
        self.store = store_name(begun) if self.store is None else self.store
        for name in ("seed", "messages", "customer"):
            setattr(self, name, begun["inputs"][name]["value"])
        known = addresses(begun)
        if self.model == begun["model"]:
            self.base_url = self.base_url or next(reversed(known.get("agent", [])), None)
        self.customer_base_url = self.customer_base_url or next(reversed(known.get("customer", [])), None)
        super().__post_init__()

    @cached_property
    def kind(self) -> str:
        """Return whose conversation is continued: `OWN_PREFIX` or `SHARED_PREFIX`."""
        same = self.agent is None and self.model == self.begun["model"]
        ours = self.begun["source"] in ("model", "scripted")
        own = same and ours and not self.begun["inputs"]["agent"]["value"]
        return OWN_PREFIX if own and not self.shared else SHARED_PREFIX

    @property
    def rules_of_points(self) -> set[str]:
        """Return the rules that choose turns."""
        given = {self.at} if isinstance(self.at, str) else {*self.at}
        return given & {*RULES} if self.along is None and self.pivots is None else set()

    @cached_property
    def change(self) -> WhatIf:
        """Return the change of `what_if`."""
        return WhatIf.of(self.what_if)

    @cached_property
    def words(self) -> dict[str, str]:
        """Return what all forks of a file share: run, prefix, change, and where they stop."""
        stop = STOPS if self.stop_at_decision else ""
        return {"of": self.begun["run_id"], "prefix": self.kind, "change": str(self.change), "stop": stop}

    def plan(self, keyless: bool = False) -> ForkPlan:
        """Choose the points and check all options; raise `BadInput` for the first mistake."""
        if not isinstance(self.times, int) or not 1 <= self.times <= MOST:
            raise BadInput(REFUSED["times"].format(most=MOST, times=self.times))
        if self.executor is not None or self.players is not None:
            raise BadInput(REFUSED["elsewhere"])
        shop = store_of(self.run_file.path, self.begun, self.store, self.tools, carried_out=True)
        self.change.prompt("", shop)  # refuses an article or a rule that does not exist
        points = self._points(same_cases(self.run_file.path, self.begun, shop, "fork it"))
        self.cases, self.trials = ",".join(dict.fromkeys(point.case_id for point in points)), self.times
        if self.out is None:
            given = [self.words, self.base_url, str(self.settings), str(self.agent)]
            self.out = project_folder() / "data" / "forks" / default_name(f"forks-{self.model or self.agent}", given)
        plan = prepare(self, keyless)
        self._check_inputs(plan)
        return ForkPlan(**{**vars(plan), "manifest": self._manifest(plan, points)}, fork=self, points=points)

    def _points(self, cases: dict[str, Case]) -> list[ForkPoint]:
        records = finished(self.run_file.records())
        some = list(records.values())
        if self.where:
            rows = load_results(self.run_file).where(self.where)
            keys = zip(rows["case_id"], rows["trial"], strict=True)
            some = [records[key] for key in keys if key in records]
        if self.along is not None:
            points = along(self.along, records)
        elif self.pivots is not None:
            points = pivots(some, finished(RunFile(self.pivots).records()))
        else:
            points = chosen([self.at] if isinstance(self.at, str) else self.at, some, records)
        points = list(dict.fromkeys(points + (twins(points, records, cases) if self.with_twins else [])))
        without = len({(r.case_id, r.trial) for r in some} - {point[:2] for point in points})
        few = f"{without} of {len(some)} conversations have no such turn"
        kept = [p for p in points if self.change.fits(records[p.case_id, p.trial], p, cases[p.case_id])]
        same = len(points) - len(kept)
        unchanged = f"{same} of {len(points)} points have nothing that {self.change} changes"
        self.left_out = sentence(few * bool(without and self.rules_of_points), unchanged * bool(same))
        if not kept:
            raise BadInput(REFUSED["no turn"].format(path=self.run_file.path))
        return kept

    def _check_inputs(self, plan: Plan) -> None:
        """Refuse a run whose inputs differ from those of the fork."""
        names = SAME | ({"settings"} if self.kind == OWN_PREFIX else set())
        old, new = (
            {"cases": {}, "inputs": {name: given for name, given in m["inputs"].items() if name in names}}
            for m in (self.begun, plan.manifest)
        )
        if found := "; ".join(differences(old, new)):
            raise BadInput(REFUSED["inputs"].format(path=self.run_file.path, found=found))

    def _manifest(self, plan: Plan, points: list[ForkPoint]) -> dict[str, Any]:
        before = RunFile(plan.path).manifest if plan.path.exists() else {}
        every, words = numbered(points, before.get("points", {})), self.words
        shown = ", ".join(filter(None, [f"{self.kind} of {words['of']}", words["change"], words["stop"]]))
        return plan.manifest | {
            "source": FORK,
            "inputs": plan.manifest["inputs"] | {"fork": part(shown, words)},
            "planned": {case: len(case_points) * self.times for case, case_points in every.items()},
            "points": {case: [list(point[1:]) for point in case_points] for case, case_points in every.items()},
            "rules": sorted({*before.get("rules", ())} | self.rules_of_points),
            "fork": words,
        }

    def _foresee(self, plan: Any, done: set[tuple[str, int]]) -> Forecast:
        """Scale the forecast for whole conversations down to the share after each point."""
        whole, after, every = forecast(plan, done), 0, 0
        for point in plan.points:
            record = self.run_file.record(point.case_id, point.trial)
            called = [c.turn for c in record.tool_calls if c.side == "agent"]
            turns = [m.turn for m in record.replies()] + called
            after, every = after + sum(turn >= point.turn for turn in turns), every + len(turns)
        share = after / max(every, 1)
        ranges = ((name, r) for name, r in vars(whole).items() if isinstance(r, Range))
        cut: dict[str, Any] = {name: Range(share * r.low, share * r.likely, share * r.high) for name, r in ranges}
        return replace(whole, **cut)


@dataclass(kw_only=True)
class ForkPlan(Plan):
    """A plan whose conversations are forks at `points`."""

    fork: Fork
    points: list[ForkPoint]

    def pairs(self) -> Iterator[tuple[Case, int]]:
        """Yield case and trial of every fork: each point once before any point twice."""
        cases, listed = {case.id: case for case in self.cases}, self.manifest["points"]
        places = [(cases[p.case_id], listed[p.case_id].index([*p[1:]])) for p in self.points]
        trials = range(1, self.options.trials + 1)
        return ((case, place * PLACES + n) for n in trials for case, place in places)

    @cached_property
    def _parent(self) -> Any:
        def read(case_id: str, trial: int) -> tuple[Conversation, dict[tuple[str, int], KeptCall]]:
            with closing(KeptCalls(self.fork.run_file.path)) as kept:
                return self.fork.run_file.record(case_id, trial), kept.of(case_id, trial)

        return lru_cache(maxsize=256)(read)

    async def play(self, case: Case, trial: int, complete: dict[str, Recorder]) -> Conversation:
        """Play one fork; `complete` is the model call of each side."""
        point = point_in(self.manifest, case.id, trial)
        record, change = self._parent(case.id, point.trial)[0], self.fork.change
        edit = partial(change.said, case=case) if change.name else None
        seeds = [self.options.seed, crc32(case.id.encode()), point.trial, point.turn, place_of(trial)[1]]
        rng = np.random.default_rng(seeds)
        branch = Branch(record, point.turn, self.fork.stop_at_decision, edit, rng=rng)
        if content_hash(record.to_json()) != point.digest:
            raise branch.not_restored("the run's conversation has changed since it was first forked")
        conversation = await self._continue(case, branch, complete)
        conversation.trial = trial
        return conversation

    async def _continue(self, case: Case, branch: Branch, complete: dict[str, Recorder]) -> Conversation:
        record, change, own = branch.record, self.fork.change, self.fork.kind == OWN_PREFIX
        _, kept = self._parent(case.id, record.trial)
        calls: dict[str, Any] = {
            side: branch.calls(Recorder(side, case.id, record.trial, None, kept), complete.get(side))
            for side in ("agent", "customer")
        }
        live = await self.agent(case, calls["agent"])
        prompt = change.prompt(self.prompt_of(case), self.store.of(case))
        agent = ForkedAgent(branch, live, None if own else Spoken(record), prompt)
        inner = make_customer(self.options.customer, case=case, store=self.store, complete=calls["customer"])
        return await self.converse(change.case(case), agent, ForkedCustomer(branch, inner), record.trial)

    async def rehearse(self) -> None:
        """Restore every point before anything is paid for; raise `NotRestored` if one differs."""
        cases, last = {case.id: case for case in self.cases}, dict[tuple[str, int], int]()
        for point in self.points:
            last[point[:2]] = max(point.turn, last.get(point[:2], 0))
        for (case_id, trial), turn in last.items():
            branch = Branch(self._parent(case_id, trial)[0], turn, rehearsal=True)
            await self._continue(cases[case_id], branch, {})
            if not branch.live:
                raise branch.not_restored("the conversation now ends before this turn")
            await asyncio.sleep(0)
