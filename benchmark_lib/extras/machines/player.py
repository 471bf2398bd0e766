"""A player on a worker, and the requests between it and the run."""

import asyncio
import contextlib
import itertools
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from distributed import get_worker

from ...errors import BadInput
from ...experiment.engine import Ended, play_whole, quiet_collector
from ...experiment.manifest import differences
from ...experiment.options import Options
from ...experiment.plan import Plan, prepare
from ...experiment.recorder import Budget, KeptCall, Line, Stop
from ...project import code_version
from ...threads import in_thread

Message = tuple[int | None, str, Any]
"""A request's number (None if it needs no answer), method ("" for an answer), and arguments or result."""


class Post:
    """One end of a connection: `taken` returns its messages, `receive` accepts the other's.

    A request names a method of `serves`, whose awaited result is sent back. `waiting` is called when there is something
    to send.
    """

    def __init__(self, serves: Any, waiting: Callable[[], object]):
        self._serves, self._waiting, self._numbers = serves, waiting, itertools.count()
        self._out, self._asked = list[Message](), dict[int, asyncio.Future[Any]]()
        self.serving = set[asyncio.Future[Any]]()

    def ask(self, method: str, *arguments: Any) -> asyncio.Future[Any]:
        """Send a request and return the future of its answer."""
        number = next(self._numbers)
        future = self._asked[number] = asyncio.get_running_loop().create_future()
        self._send(number, method, arguments)
        return future

    def tell(self, method: str, *arguments: Any) -> None:
        """Send a request that needs no answer."""
        self._send(None, method, arguments)

    def taken(self) -> list[Message]:
        """Take all messages that are waiting to be sent."""
        out, self._out = self._out, []
        return out

    def receive(self, messages: list[Message]) -> None:
        """Carry out incoming requests, and pass on answers."""
        for number, method, content in messages:
            if method == "":
                self._answered(number, *content)
                continue
            served = getattr(self._serves, method)(*content)
            if number is not None:
                future = asyncio.ensure_future(served)
                self.serving.add(future)
                future.add_done_callback(partial(self._answer, number))

    def end(self, error: Exception) -> None:
        """Fail every open request with an error."""
        for number in [*self._asked]:
            self._answered(number, None, error)

    def _send(self, number: int | None, method: str, content: Any) -> None:
        if not self._out:
            self._waiting()
        self._out.append((number, method, content))

    def _answer(self, number: int, future: asyncio.Future[Any]) -> None:
        self.serving.discard(future)
        error = None if future.cancelled() else future.exception()
        self._send(number, "", (None if error or future.cancelled() else future.result(), error))

    def _answered(self, number: Any, answer: Any, error: Exception | None) -> None:
        future = self._asked.pop(number)
        if future.done():
            return
        if error is None:
            future.set_result(answer)
        else:
            future.set_exception(error)


# --- Player

TAKE_S = 10.0
"""Seconds after which `Player.take` returns, even if there is no message."""
GATHER_S = 0.008
"""Seconds to wait for more messages after the first: sending one costs as much as sending ten."""
ABANDONED_S = 60.0
"""Seconds without a `Player.take` after which a player ends: its run must have been killed."""


def identity(plan: Plan) -> dict[str, Any]:
    """Return the values that must be the same on every machine of a run."""
    code, prices = code_version(), {side: model.listed for side, model in plan.models.items()}
    same = {"deskbench": f"{code['version']} ({code['hash'][:8]})", "prices": prices, "scoring": plan.scoring_version}
    return same | {name: plan.manifest[name] for name in ("inputs", "cases")}


class Player:
    """Player of concurrent conversations on one worker, for the run that created it.

    It answers `play` and `end`. To its lines, it is the run and the budget, to which it forwards their requests.
    """

    name, stopped = "", False

    def __init__(self) -> None:
        worker = get_worker()
        unnamed = worker.name in (worker.address, "") or isinstance(worker.name, int)
        self.name = worker.address if unnamed else f"{worker.name} ({worker.address})"
        self._news = asyncio.Event()
        self._post = Post(self, self._news.set)
        self._open, self._abandoned = contextlib.ExitStack(), contextlib.ExitStack()

    async def prepare(self, options: dict[str, Any], here: dict[str, Any], began: bool) -> None:
        """Prepare the plan; raise `BadInput` if its `identity` differs from the run's (`here`)."""
        self._plan = plan = await in_thread(lambda: prepare(Options(**options)))
        there, found = identity(plan), differences(identity(plan), here)
        parts = (part for part in ("deskbench", "scoring", "prices") if there[part] != here[part])
        found += [f"{part} is {there[part]} there and {here[part]} here" for part in parts]
        if found:
            raise BadInput(f"differs from this machine: {'; '.join(found)}: install and copy the same versions there")
        await plan.rehearse()
        self._cases = {c.id: c for c in plan.cases}
        self.budget = Budget(None, 0.0, self.stop) if plan.options.budget_usd is None else self
        wave = plan.options.concurrency
        self._lines = {side: Line(side, model, self, wave, began) for side, model in plan.models.items()}
        self._open.enter_context(quiet_collector())

    async def take(self) -> list[Message]:
        """Return the messages for the run as soon as there are any."""
        loop = asyncio.get_running_loop()
        self._abandoned.close()
        self._abandoned.callback(loop.call_later(ABANDONED_S, lambda: loop.create_task(self.close())).cancel)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TAKE_S):
                await self._news.wait()
                await asyncio.sleep(GATHER_S)
        self._news.clear()
        return self._post.taken()

    async def receive(self, messages: list[Message]) -> None:
        """Receive the run's messages."""
        self._post.receive(messages)

    async def close(self) -> None:
        """Cancel all open conversations and close the endpoints."""
        self._abandoned.close()
        for task in [*self._post.serving]:
            task.cancel()
        await asyncio.gather(*self._post.serving, return_exceptions=True)
        self._open.close()
        for model in self._plan.models.values():
            with contextlib.suppress(Exception):
                await model.endpoint.aclose()

    async def play(self, case_id: str, trial: int, kept: dict[tuple[str, int], KeptCall]) -> Ended | None:
        """Play one conversation; return None if it ends with the run."""
        try:
            return await play_whole(self._plan, self._cases[case_id], trial, self._lines, kept)
        except Exception as error:
            end = self._plan.blame(error, case_id, trial)
            if isinstance(end, Stop):
                self.stop(end)
                return None
            if isinstance(end, BadInput):
                raise BadInput(str(end)) from None  # only the text of an error can travel
            raise RuntimeError(f"on worker {self.name}: {''.join(traceback.format_exception(end))}") from None

    def end(self) -> None:
        """Start no further calls."""
        self.stopped = True

    def stop(self, stop: Stop) -> None:
        """End the run."""
        self.end()
        self._post.tell("stop", stop)

    def called(self, cost_usd: float | None) -> None:
        """Leave it to the run, which counts the calls that it writes."""

    def put(self, table: str, row: tuple[Any, ...], urgent: bool = False) -> asyncio.Future[Any]:
        """Send a row to the writer; the returned future is done once the row is on disk."""
        return self._post.ask("put", table, row, urgent)

    async def reserve(self, usd: float) -> bool:
        """Request money from the run's budget."""
        return bool(await self._post.ask("reserve", usd))

    def settle(self, reserved: float, cost_usd: float) -> None:
        """Replace a reservation with the actual cost of the call."""
        self._post.tell("settle", reserved, cost_usd)
