"""What runs on a worker: an actor that plays what it is dealt, from its own files and keys, and sends rows back."""

import asyncio
import contextlib
import itertools
import traceback
from typing import Any

from distributed import get_worker

from ...endpoint import EndpointError
from ...errors import BadInput
from ...project import code_version
from ...records import NOT_SCORED
from ...threads import in_thread
from ..budget import Stop
from ..collector import quiet_collector
from ..engine import conversation_row, end_after, lines_to, play_one, scores_row
from ..options import Options
from ..plan import Plan, prepare
from ..recorder import KeptCall, Recorder

TAKE_S = 10.0
"""Seconds after which `Player.take` returns, also with nothing."""
GATHER_S = 0.008
"""Seconds in which further messages join the first, because a message by itself costs as much as ten together."""
ABANDONED_S = 60.0
"""Seconds without a `Player.take` after which a player ends: its run was killed."""


def identity(plan: Plan) -> dict[str, Any]:
    """Return what has to be the same on every machine of a run."""
    return {
        "inputs": plan.manifest["inputs"],
        "cases": plan.manifest["cases"],
        "deskbench": code_version(),
        "prices": {side: model.listed for side, model in plan.models.items()},
        "scoring": plan.scoring_version,
    }


class Player:
    """Plays conversations on one worker, all at once; the run calls its public coroutines.

    A message to the run is a number, a kind and what belongs to it; `answer` brings back what the run says to a number.
    `put`, `reserve`, `passed` and `settle` are the writer and the budget of its lines: both are where the run is.
    """

    def __init__(self) -> None:
        worker = get_worker()
        unnamed = worker.name in (worker.address, "") or isinstance(worker.name, int)
        self.name = worker.address if unnamed else f"{worker.name} ({worker.address})"
        self._out, self._news = list[tuple[Any, ...]](), asyncio.Event()
        self._numbers, self._asked = itertools.count(), dict[int, asyncio.Future[Any]]()
        self._playing: set[asyncio.Task[None]] = set()
        self._stopped, self._refusal = False, Stop("")
        self._open = contextlib.ExitStack()
        self._abandoned: asyncio.TimerHandle | None = None
        self.plan: Plan | None = None

    async def prepare(self, options: dict[str, Any]) -> tuple[str, dict[str, Any] | str]:
        """Prepare the plan; return the worker's name and the plan's `identity`, or what this worker refuses."""
        try:
            plan = self.plan = await in_thread(lambda: prepare(Options(**options)))
            for model in plan.models.values():
                await in_thread(model.endpoint.reach)
            await plan.rehearse()
        except (BadInput, EndpointError) as error:
            return self.name, str(error)
        self._cases = {c.id: c for c in plan.cases}
        shared = {"budget": self, "writer": self, "stop": self._end, "wave": plan.concurrency}
        self._lines = lines_to(plan.models, called=lambda cost: None, **shared)  # the run counts the rows
        self._open.enter_context(quiet_collector())
        return self.name, identity(plan)

    async def take(self) -> list[tuple[Any, ...]]:
        """Return the messages for the run, as soon as there are some."""
        if self._abandoned is not None:
            self._abandoned.cancel()
        loop = asyncio.get_running_loop()
        self._abandoned = loop.call_later(ABANDONED_S, lambda: loop.create_task(self.close()))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TAKE_S):
                await self._news.wait()
                await asyncio.sleep(GATHER_S)
        self._news.clear()
        out, self._out = self._out, []
        return out

    async def answer(self, answers: list[tuple[int, Any]]) -> None:
        """Take what the run answers to messages: None where a row is on disk or money is reserved, else a `Stop`."""
        for number, answer in answers:
            future = self._asked.pop(number, None)
            if future is not None and not future.done():
                future.set_result(answer)

    async def play(self, conversations: list[tuple[str, int, int, list[Any]]]) -> None:
        """Begin conversations: case id, trial, the trial that they are played as, and their calls on file."""
        for case_id, trial, as_trial, calls in conversations:
            kept = {(side, n): KeptCall(*rest) for side, n, *rest in calls}
            task = asyncio.ensure_future(self._one(case_id, trial, as_trial, kept))
            self._playing.add(task)
            task.add_done_callback(self._playing.discard)

    async def stop(self) -> None:
        """Begin no call any more."""
        self._stopped = True
        for line in self._lines.values():
            line.stopped = True

    async def close(self) -> None:
        """End everything that is played."""
        if self._abandoned is not None:
            self._abandoned.cancel()
        for task in self._playing:
            task.cancel()
        await asyncio.gather(*self._playing, return_exceptions=True)
        self._open.close()
        for model in self.plan.models.values() if self.plan else ():
            with contextlib.suppress(Exception):
                await model.endpoint.aclose()

    def put(self, table: str, row: tuple[Any, ...], urgent: bool = False) -> asyncio.Future[Any]:
        """Send a row to the writer; the future is done when it is on disk."""
        return self._ask("row", table, row, urgent)

    async def reserve(self, usd: float) -> bool:
        """Ask the budget of the run for money; a run without a limit is not asked."""
        if self.plan is None or self.plan.budget_usd is None:
            return True
        stop = await self._ask("reserve", usd)
        self._refusal = stop or self._refusal
        return stop is None

    def passed(self, usd: float) -> Stop:
        """Return how a run ends whose next call does not fit."""
        return self._refusal

    def settle(self, reserved: float, cost_usd: float) -> None:
        """Replace a reservation by what the call cost."""
        if self.plan is not None and self.plan.budget_usd is not None:
            self._send("settle", reserved, cost_usd)

    def _send(self, kind: str, *content: Any) -> int:
        number = next(self._numbers)
        self._out.append((number, kind, *content))
        self._news.set()
        return number

    def _ask(self, kind: str, *content: Any) -> asyncio.Future[Any]:
        future = asyncio.get_running_loop().create_future()
        self._asked[self._send(kind, *content)] = future
        return future

    def _end(self, stop: Stop) -> None:
        self._stopped = True
        for line in self._lines.values():
            line.stopped = True
        self._send("stop", stop)

    async def _one(self, case_id: str, trial: int, as_trial: int, kept: dict[tuple[str, int], KeptCall]) -> None:
        """Play one conversation, score it and send it; one that ends without a record is only said to be left."""
        assert self.plan is not None
        try:
            if not self._stopped and await self._played(case_id, trial, as_trial, kept):
                return
        except asyncio.CancelledError:
            pass
        except Exception as error:
            end = end_after(error, case_id, trial)
            if end is not None:
                self._end(end)
            else:
                error = self.plan.blame(error, case_id, trial)
                bad = isinstance(error, BadInput)
                self._send("broke", bad, str(error) if bad else "".join(traceback.format_exception(error)))
        self._send("left", case_id, trial)

    async def _played(self, case_id: str, trial: int, as_trial: int, kept: dict[tuple[str, int], KeptCall]) -> bool:
        assert self.plan is not None
        case = self._cases[case_id]
        complete = {side: Recorder(side, case_id, trial, line, kept) for side, line in self._lines.items()}
        conversation = await play_one(self.plan, case, trial, complete, as_trial)
        finished = conversation.ended_by not in NOT_SCORED
        if self._stopped and not finished:
            return False
        record = conversation.to_json()
        scores, known = await scores_row(self.plan, conversation, case, record)
        self._send("ended", conversation_row(conversation, record), finished, scores, known)
        await asyncio.sleep(0)
        return True
