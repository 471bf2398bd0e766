"""`Experiment`: one model and setting over many cases and trials, for scripts and notebooks."""

import asyncio
import sys
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import BadInput
from ..extension import offer
from ..records import UNPROTECTED
from ..runfile import RunFile
from .again import replay
from .budget import Stop
from .collector import quiet_collector
from .engine import Engine
from .forecast import Forecast, check_budget, forecast
from .options import Options
from .plan import SCRIPTED, Plan, prepare
from .progress import in_notebook
from .writer import RunLock, locked_run_file


@dataclass
class Experiment(Options):
    """One run to start, resume or replay; takes the parameters of `Options`.

    Attributes
    ----------
    stopped : Stop or None
        Why the last `run` ended early; None if it did not.
    replayed : int
        Number of conversations that a replay played again.
    nothing_to_play : bool
        Whether everything was on file when the last `run` began.
    foreseen : Forecast or None
        Result of `forecast`; `run` stores it on the run file.
    """

    stopped: Stop | None = field(default=None, init=False, repr=False)
    replayed: int = field(default=0, init=False, repr=False)
    nothing_to_play: bool = field(default=False, init=False, repr=False, compare=False)
    foreseen: Forecast | None = field(default=None, init=False, repr=False, compare=False)
    _engine: Engine | None = field(default=None, init=False, repr=False, compare=False)

    def forecast(self, dry: bool = False, greet: bool = False) -> Forecast:
        """Forecast calls, tokens, cost and minutes of `run` from the cases and the runs on file.

        With `dry` no key is needed and no connection is opened. Otherwise, with `greet` or without a key, a call of one
        token checks that each endpoint accepts the key and knows the model. Raise `BadInput` for input that `run` would
        refuse. Raise `EndpointError` if an endpoint refuses the connection within five seconds, or refuses that call.
        """
        plan = self.plan(keyless=dry)
        finished = plan.finished()
        if not dry:
            if plan.path.parent.is_dir():
                with RunLock(plan.path):  # refuse another run's file before printing anything
                    pass
            for model in plan.models.values() if self.executor is None else ():
                model.endpoint.reach()
                if plan.lacks_conversations and (greet or model.endpoint.keyless):
                    asyncio.run(model.endpoint.greet())
            check_budget(plan)
        self.foreseen = self._foresee(plan, finished)
        return self.foreseen

    def plan(self, keyless: bool = False) -> Plan:
        """Read and check everything the options name, see `prepare`."""
        return prepare(self, keyless)

    def _foresee(self, plan: Plan, finished: set[tuple[str, int]]) -> Forecast:
        return forecast(plan, finished)

    @property
    def calls_models(self) -> bool:
        """Whether one of its sides is a language model."""
        return self.customer != "scripted" or (self.agent is None and not str(self.model).startswith(SCRIPTED))

    def on_file(self) -> int:
        """Return how many conversations of this experiment are finished on its run file."""
        return len(self.plan(keyless=True).finished())

    async def run(self) -> RunFile:
        """Play the missing conversations and return the run file.

        Afterwards `stopped` says whether the run ended early (budget, faults of the endpoint) and how to continue.

        Raises
        ------
        BadInput
            Before anything is spent, or when the endpoint refuses key, model or settings at the first call.
        CannotSave
            When the file can no longer be written (disk full); every acknowledged row is on it.
        """
        self.stopped = None
        plan = self.plan()
        if self.foreseen is not None:
            plan.session["forecast"] = asdict(self.foreseen)
        if self.replay:
            run, self.replayed = await replay(plan)
            return run
        async with (
            offer("executors", "opened")(self)
            if self.executor and plan.lacks_conversations
            else nullcontext() as cluster
        ):
            return await self._play(plan, cluster)

    async def _play(self, plan: Plan, cluster: Any) -> RunFile:
        if UNPROTECTED in plan.session:
            why = plan.session[UNPROTECTED]
            print(f"deskbench: the agent is {UNPROTECTED}, and so its row is marked: {why}", file=sys.stderr)
        with locked_run_file(plan) as run:
            engine = self._engine = self._engine_of(plan, run, cluster)
            self.nothing_to_play = engine.done == engine.total
            try:
                with quiet_collector():
                    self.stopped = await engine.play()
            finally:
                self._say_how_it_ended(run, engine)
                self._engine = None
            if self.stopped is not None and self.stopped.refused:
                raise BadInput(self.stopped.sentence)
        return run

    def _engine_of(self, plan: Plan, run: RunFile, cluster: Any) -> Engine:
        if cluster is None:
            return Engine(plan, run)
        engine: Engine = offer("executors", "engine")(plan, run, cluster, self)
        return engine

    @property
    def running(self) -> bool:
        """Whether conversations are being played."""
        return self._engine is not None

    def stop(self, reason: str, grace_s: float = 8.0) -> None:
        """Stop a run: start no new call, and give calls in flight up to `grace_s` seconds."""
        if self._engine is not None:
            self._engine.stop(Stop(reason), grace_s)

    def _say_how_it_ended(self, run: RunFile, engine: Engine) -> None:
        """Print in a notebook why a run ended early; the command line prints its own line."""
        if not (self.progress and in_notebook()) or engine.done == engine.total:
            return
        why = f"{self.stopped.sentence}; " if self.stopped else ""
        print(
            (
                f"{why}{engine.done} of {engine.total} conversations are on file in {run.path}: run the cell "
                "again to continue"
            ),
            file=sys.stderr,
        )
