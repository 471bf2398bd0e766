"""What runs on a worker: it prepares the plan from its own files and keys, plays what it is dealt, sends rows back."""

import asyncio
import contextlib
import itertools
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from distributed import Client, Queue, Worker, get_worker

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
from .mail import Outbox

SILENT_S = 30.0
"""How long a player waits for a word of its command, which sends one each second, before it ends."""


def serve(options: dict[str, Any], up: str, down: str, seat: int) -> None:
    """Play for the run that reads the queue `up` until it says on `down` that nothing is left; Dask calls this in a thread."""
    asyncio.run(_serve(get_worker(), options, up, down, seat))


async def _serve(worker: Worker, options: dict[str, Any], up: str, down: str, seat: int) -> None:
    where = {"security": worker.security, "asynchronous": True, "set_as_default": False}
    async with Client(worker.scheduler.address, **where) as client:
        orders, outbox = await Queue(down, client=client), Outbox(await Queue(up, client=client))
        tell = partial(outbox.send, seat)
        try:
            plan = await _prepared(options)
            tell("ready", identity(plan))
            with quiet_collector():
                await Player(plan, tell).play(orders)
        except (BadInput, EndpointError) as error:
            tell("refused", str(error))
        finally:
            await outbox.close()
            orders.close()


async def _prepared(options: dict[str, Any]) -> Plan:
    plan = prepare(Options(**options))
    for model in plan.models.values():
        await in_thread(model.endpoint.reach)
    await plan.rehearse()
    return plan


def identity(plan: Plan) -> dict[str, Any]:
    """What has to be the same on every machine of a run."""
    return {
        "inputs": plan.manifest["inputs"],
        "cases": plan.manifest["cases"],
        "deskbench": code_version(),
        "prices": {side: model.listed for side, model in plan.models.items()},
        "scoring": plan.scoring_version,
    }


class FarWriter:
    """Hands rows to the one writer, which is on the machine where the command was given."""

    def __init__(self, tell: Callable[..., None]):
        self._tell, self._numbers = tell, itertools.count()
        self._waited_for: dict[int, asyncio.Future[None]] = {}

    def put(self, table: str, row: tuple[Any, ...], urgent: bool = False) -> asyncio.Future[None]:
        """Hand over a row; the future is done when it is on disk."""
        future = asyncio.get_running_loop().create_future()
        number = next(self._numbers)
        self._waited_for[number] = future
        self._tell("row", number, table, row, urgent)
        return future

    def on_disk(self, number: int) -> None:
        """A row is on disk."""
        future = self._waited_for.pop(number)
        if not future.done():
            future.set_result(None)


class FarBudget:
    """Asks for money where it is counted, call by call; a run without a limit asks for none."""

    def __init__(self, limited: bool, tell: Callable[..., None]):
        self._limited, self._tell, self._numbers = limited, tell, itertools.count()
        self._asked: dict[int, asyncio.Future[Stop | None]] = {}
        self._stop: Stop | None = None

    async def reserve(self, usd: float) -> bool:
        """Wait until `usd` fits beside what is spent and in flight; False when it never will."""
        if not self._limited:
            return True
        number = next(self._numbers)
        self._asked[number] = asyncio.get_running_loop().create_future()
        self._tell("reserve", number, usd)
        stop = await self._asked[number]
        self._stop = stop or self._stop
        return stop is None

    def answer(self, number: int, stop: list[Any] | None) -> None:
        """The answer to a reservation: none where it fits, else how the run ends."""
        future = self._asked.pop(number)
        if not future.done():
            future.set_result(Stop(*stop) if stop else None)

    def passed(self, usd: float) -> Stop:
        """The end of a run whose next call does not fit."""
        if self._stop is None:
            raise RuntimeError("no reservation was refused, so there is no end to tell")
        return self._stop

    def settle(self, reserved: float, cost_usd: float) -> None:
        """Replace a reservation by what the call cost."""
        if self._limited:
            self._tell("settle", reserved, cost_usd)


class Player:
    """Plays the conversations that one worker is dealt, all at once."""

    def __init__(self, plan: Plan, tell: Callable[..., None]):
        self.plan, self._tell, self._stopped = plan, tell, False
        self._writer, self._budget = FarWriter(tell), FarBudget(plan.budget_usd is not None, tell)
        self._cases = {c.id: c for c in plan.cases}
        self._playing: set[asyncio.Task[None]] = set()
        shared = {"budget": self._budget, "writer": self._writer, "stop": self._stop, "wave": plan.concurrency}
        self._lines = lines_to(plan.models, called=lambda cost: None, **shared)  # the run counts the rows

    async def play(self, orders: Queue) -> None:
        """Play what is dealt until the run says that it is over, or is gone."""
        try:
            with contextlib.suppress(TimeoutError, OSError):
                while True:
                    for kind, *content in await orders.get(timeout=SILENT_S):
                        if kind == "end":
                            return
                        getattr(self, f"_on_{kind}")(*content)
        finally:
            for task in self._playing:
                task.cancel()
            await asyncio.gather(*self._playing, return_exceptions=True)
            for model in self.plan.models.values():
                with contextlib.suppress(Exception):
                    await model.endpoint.aclose()

    def _on_play(self, conversations: list[tuple[str, int, int, list[Any]]]) -> None:
        for case_id, trial, as_trial, calls in conversations:
            kept = {(side, n): KeptCall(*rest) for side, n, *rest in calls}
            task = asyncio.ensure_future(self._one(case_id, trial, as_trial, kept))
            self._playing.add(task)
            task.add_done_callback(self._playing.discard)

    def _on_here(self) -> None:
        """Do nothing: the command is there, which is all it says."""

    def _on_disk(self, numbers: list[int]) -> None:
        for number in numbers:
            self._writer.on_disk(number)

    def _on_budget(self, number: int, stop: list[Any] | None) -> None:
        self._budget.answer(number, stop)

    def _on_stop(self) -> None:
        self._stopped = True
        for line in self._lines.values():
            line.stopped = True

    def _stop(self, stop: Stop) -> None:
        self._on_stop()
        self._tell("stop", stop.sentence, stop.refused)

    async def _one(self, case_id: str, trial: int, as_trial: int, kept: dict[tuple[str, int], KeptCall]) -> None:
        """One conversation: played, scored, sent back; one that ends without a record is only said to be left."""
        if not self._stopped:
            try:
                return await self._played(case_id, trial, as_trial, kept)
            except asyncio.CancelledError:
                pass
            except Exception as error:
                end = end_after(error, case_id, trial)
                if end is not None:
                    self._stop(end)
                else:
                    self._broke(self.plan.blame(error, case_id, trial))
        self._tell("left", case_id, trial)

    def _broke(self, error: Exception) -> None:
        told = str(error) if isinstance(error, BadInput) else "".join(traceback.format_exception(error))
        self._on_stop()
        self._tell("broke", isinstance(error, BadInput), told)

    async def _played(self, case_id: str, trial: int, as_trial: int, kept: dict[tuple[str, int], KeptCall]) -> None:
        case = self._cases[case_id]
        complete = {side: Recorder(side, case_id, trial, line, kept) for side, line in self._lines.items()}
        conversation = await play_one(self.plan, case, trial, complete, as_trial)
        finished = conversation.ended_by not in NOT_SCORED
        if self._stopped and not finished:
            raise asyncio.CancelledError
        record = conversation.to_json()
        scores, known = await scores_row(self.plan, conversation, case, record)
        self._tell("ended", conversation_row(conversation, record), finished, scores, known)
        await asyncio.sleep(0)
