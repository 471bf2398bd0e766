"""`Experiment`: one model and setting over many cases and trials, for scripts and notebooks."""

import asyncio
import sys
from contextlib import nullcontext
from dataclasses import dataclass, field

from ..errors import BadInput
from ..extension import offer
from ..records import UNPROTECTED
from ..runfile import RunFile
from .again import replay
from .engine import Engine, quiet_collector
from .forecast import Forecast, forecast
from .options import SCRIPTED, Options
from .plan import Plan, prepare
from .recorder import Stop
from .summary import in_notebook, several_endpoints
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
    """

    stopped: Stop | None = field(default=None, init=False, repr=False)
    replayed: int = field(default=0, init=False, repr=False)
    nothing_to_play: bool = field(default=False, init=False, repr=False, compare=False)
    _engine: Engine | None = field(default=None, init=False, repr=False, compare=False)

    def plan(self, keyless: bool = False) -> Plan:
        """Read and check everything that the options name; see `prepare`."""
        return prepare(self, keyless)

    def forecast(self, dry: bool = False, greet: bool = False) -> Forecast:
        """Forecast calls, tokens, cost and minutes of `run` from the cases and the run file.

        With `dry` no key is needed and no connection is opened. Otherwise, with `greet` or without a key, a one-token
        call checks that each endpoint accepts the key and knows the model. Raise `BadInput` for input that `run` would
        refuse, and `EndpointError` if an endpoint is out of reach or refuses that call.
        """
        plan = self.plan(keyless=dry)
        finished = plan.finished()
        if not dry:
            if plan.path.parent.is_dir():
                with RunLock(plan.path):  # refuse a file in use before printing anything
                    pass
            if self.executor is None and plan.missing(finished):
                for model in plan.models.values():
                    if greet or model.endpoint.keyless:
                        asyncio.run(model.endpoint.greet())
        return self._foresee(plan, finished)

    def _foresee(self, plan: Plan, finished: set[tuple[str, int]]) -> Forecast:
        return forecast(plan, finished)

    @property
    def calls_models(self) -> bool:
        """True if one of its sides is a language model."""
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
        if self.replay:
            run, self.replayed = await replay(plan)
            return run
        if why := plan.session.get(UNPROTECTED):
            print(f"deskbench: the agent is {UNPROTECTED}, and so its row is marked: {why}", file=sys.stderr)
        elsewhere = self.executor and plan.missing(plan.finished())
        async with offer("executors", "opened")(self) if elsewhere else nullcontext() as cluster:
            with locked_run_file(plan) as run:
                for said in several_endpoints(run.manifest):
                    print(f"deskbench: {said}", file=sys.stderr)
                far = cluster is not None
                await self._play(run, offer("executors", "engine")(plan, run, cluster) if far else Engine(plan, run))
        return run

    async def _play(self, run: RunFile, engine: Engine) -> None:
        self._engine, self.nothing_to_play = engine, engine.done == engine.total
        try:
            with quiet_collector():
                self.stopped = await engine.play()
        finally:
            self._engine = None
            if self.progress and in_notebook() and engine.done < engine.total:  # the command line prints its own line
                why = f"{self.stopped.sentence}; " if self.stopped else ""
                so_far = f"{engine.done} of {engine.total} conversations are on file in {run.path}"
                print(f"{why}{so_far}: run the cell again to continue", file=sys.stderr)
        if self.stopped is not None and self.stopped.refused:
            raise BadInput(self.stopped.sentence)

    @property
    def running(self) -> bool:
        """True if conversations are being played."""
        return self._engine is not None

    def stop(self, reason: str, grace_s: float = 8.0) -> None:
        """Stop a run: start no new call, and give calls in flight up to `grace_s` seconds."""
        if self._engine is not None:
            self._engine.stop(Stop(reason), grace_s)
