"""The engine of a run on many machines: it distributes conversations and writes the results."""

import asyncio
import contextlib
import sys
from collections import Counter, deque
from functools import partial
from typing import Any

from ...cases import Case
from ...endpoint import load_settings
from ...errors import BadInput
from ...experiment.engine import GRACE_S, Ended, Engine, ended
from ...experiment.manifest import now
from ...experiment.options import Options
from ...experiment.plan import Plan
from ...experiment.recorder import Stop
from ...records import Conversation, Fault
from ...runfile import COLUMNS, RunFile
from .cluster import CONNECT_S, REFUSALS, Cluster, Gone, first_line, is_private
from .player import Player, Post, identity

STAFF_EVERY_S = 1.0
"""Seconds between checks for workers that have joined or left."""
TRIES = 2
"""Number of workers that may die during a conversation before the run gives it up."""
COST = COLUMNS["calls"].index("cost_usd")
LOST = "worker_lost"
"""Kind of fault recorded if a worker died during a conversation."""
OF_THIS_MACHINE = ("executor", "scheduler", "workers", "players", "out", "progress", "replay", "settings")
"""Options that a worker does not receive, or not in their original form."""


class Lost(Exception):
    """The worker that was playing a conversation is gone."""


class Seat:
    """One worker and, once the plan is prepared, its player.

    It answers the player's requests: `put`, `reserve`, `settle` and `stop`.
    """

    def __init__(self, address: str, engine: "MachinesEngine"):
        self.address = self.name = address
        self.player: Any = None
        self.playing, self._reserved = set[tuple[str, int]](), 0.0
        self._engine, self.post = engine, Post(self, partial(asyncio.get_running_loop().call_soon, self._send))
        self.put, self.stop = engine.put, engine.stop
        self.task = asyncio.ensure_future(engine.attend(self))

    async def reserve(self, usd: float) -> bool:
        """Reserve money from the budget and return True, or stop the run if there is too little."""
        fits = await self._engine.budget.reserve(usd)
        if fits:
            self._reserved += usd
        return fits

    def settle(self, reserved: float, cost_usd: float) -> None:
        """Replace a reservation with the actual cost of the call."""
        self._reserved -= reserved
        self._engine.budget.settle(reserved, cost_usd)

    def leave(self) -> None:
        """Count a lost worker's calls in flight as paid, and mark its conversations as lost."""
        for asking in [*self.post.serving]:
            asking.cancel()
        self.player = None
        self.settle(self._reserved, self._reserved)
        self.post.end(Lost())

    def _send(self) -> None:
        messages = self.post.taken()
        if self.player is not None:
            self.player.receive(messages)


class MachinesEngine(Engine):
    """Engine that plays the missing conversations on the workers of a cluster.

    If a worker dies, each of its conversations becomes a suspect. A worker plays one suspect at a time, along with
    fresh conversations. One that loses a second worker is given up.
    """

    also_faulty = ", a worker"

    def __init__(self, plan: Plan, run: RunFile, cluster: Cluster):
        super().__init__(plan, run)
        self._cluster = cluster
        self._fresh, self._suspects = deque(self._again), deque[tuple[Case, int]]()
        self._lost, self._out = Counter[tuple[str, int]](), 0
        self._seats, self._refused = dict[str, Seat](), dict[str, str]()
        self._news = asyncio.Event()

    def stop(self, stop: Stop, grace_s: float = GRACE_S) -> None:
        """End the run, on every worker too."""
        super().stop(stop, grace_s)
        for seat in self._free():
            seat.post.tell("end")
        self._changed()

    async def _prepare(self) -> None:
        pass  # the workers rehearse

    def _open_lines(self) -> dict[str, Any]:
        return {}  # the workers have them

    def _begin(self) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self._lead())]

    def _changed(self) -> None:
        self._news.set()
        self._news.clear()

    def _fail(self, error: BaseException) -> None:
        self._error = self._error or error
        self.stop(Stop(str(error), refused=True), 0.0)

    async def _lead(self) -> None:
        """Play everything at the run's concurrency, then release the workers."""
        staff = asyncio.ensure_future(self._staff())
        try:
            await asyncio.gather(*super()._begin())
        finally:
            staff.cancel()
            with contextlib.suppress(Exception):
                closing = (seat.player.close() for seat in self._free())
                await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), CONNECT_S)
            tasks = [seat.task for seat in self._seats.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(staff, *tasks, return_exceptions=True)

    async def _next(self) -> tuple[Case, int] | None:
        while self.stopped is None:
            for suspect, due in ((True, self._suspects), (False, self._fresh)):
                if due and self._free(suspect):
                    return due.popleft()
            if not (self._suspects or self._fresh or self._out):
                break
            await self._news.wait()
        return None

    def _free(self, suspect: bool = False) -> list[Seat]:
        """Return the workers that can play; with `suspect`, only those that play no suspect."""
        seats = [seat for seat in self._seats.values() if seat.player is not None]
        return [seat for seat in seats if self._lost.keys().isdisjoint(seat.playing)] if suspect else seats

    async def _played(self, case: Case, trial: int) -> Ended | None:
        key = case.id, trial
        lost = key in self._lost
        seat = min(self._free(lost), key=lambda free: len(free.playing))
        seat.playing.add(key)
        self._out += 1
        try:
            kept = self._kept.of(*key, began=lost)
            played: Ended | None = await seat.post.ask("play", *key, kept)
            return played
        except Lost:
            self._lost[key] += 1
            if self._lost[key] >= TRIES and self.stopped is None:
                return await self._given_up(case, trial, seat.name)
            self._suspects.append((case, trial))
            return None
        finally:
            seat.playing.discard(key)
            self._out -= 1
            self._changed()

    async def _given_up(self, case: Case, trial: int, worker: str) -> Ended:
        detail = f"{TRIES} workers died while playing this conversation; the last was {worker}"
        source = self.plan.manifest["source"]
        record = Conversation(case.id, trial, self.plan.model, source, self.plan.options.customer)
        record.ended_by, record.faults = "infrastructure_fault", [Fault("infrastructure", LOST, detail)]
        self._writer.put("faults", (case.id, trial, "agent", LOST, detail, "[]", now()))
        return await ended(self.plan, case, record)

    async def _staff(self) -> None:
        """Send a player to each new worker, and release lost workers."""
        try:
            with self._cluster.client.as_current():
                while True:
                    workers = await self._cluster.workers()
                    if workers is not None:
                        self._look_at(workers)
                    await asyncio.sleep(STAFF_EVERY_S)
        except Gone as gone:
            self.stop(Stop(f"{gone}, then rerun the same command to resume"))
        except Exception as error:
            self._fail(error)

    def _look_at(self, workers: set[str]) -> None:
        for seat in self._seats.values():
            if seat.address not in workers:
                seat.task.cancel()
        for address in workers - self._seats.keys() - self._refused.keys() if self.stopped is None else ():
            self._seats[address] = Seat(address, self)
        if self._refused and not self._seats:
            on_file = self.run.counts()["calls"] or self.run.counts()["finished"]
            self.stop(Stop(next(iter(self._refused.values())), refused=not on_file))

    async def attend(self, seat: Seat) -> None:
        """Receive the messages of one worker's player until the worker is gone."""
        try:
            why = await self._hire(seat)
            if why:
                self._refused[seat.address] = sentence = f"worker {seat.name} {why}"
                if len(self._seats) > 1:
                    print(f"deskbench: {sentence}: the run continues without it", file=sys.stderr)
                return
            self._changed()
            while True:
                try:
                    messages = await seat.player.take()
                except (OSError, RuntimeError):  # what Dask raises if the worker of an actor is gone
                    return
                seat.post.receive(messages)
        except Exception as error:
            self._fail(error)
        finally:
            del self._seats[seat.address]
            seat.leave()
            self._changed()

    def put(self, table: str, row: tuple[Any, ...], urgent: bool = False) -> asyncio.Future[None]:
        """Write a row from a worker, and count the cost of a call."""
        if table == "calls":
            self.called(row[COST])
        on_disk = super().put(table, row, urgent)
        on_disk.add_done_callback(self._check_writer)
        return on_disk

    def _check_writer(self, _: object) -> None:
        if self._writer.failure is not None:
            self._fail(self._writer.failure)

    async def _hire(self, seat: Seat) -> str | None:
        """Prepare a player on a worker; return why it cannot play, or None."""
        if not is_private(seat.address):
            return str(REFUSALS["unprotected"])
        try:
            player = await self._cluster.client.submit(Player, actor=True, pure=False, workers=[seat.address])
            seat.name = await player.name
            await player.prepare(self._for_worker(), identity(self.plan), self.run.counts()["calls"] > 0)
        except BadInput as error:
            return str(error)
        except Exception as error:
            return f"cannot play ({type(error).__name__}: {first_line(error)})"
        seat.player = player
        return None

    def _for_worker(self) -> dict[str, Any]:
        options = self.plan.options
        given = {name: getattr(options, name) for name in Options.__dataclass_fields__}
        sent = {name: value for name, value in given.items() if name not in OF_THIS_MACHINE and value is not None}
        sent |= {name: str(sent[name]) for name in ("store", "prompt") if name in sent}
        settings = {r: s.model_dump(exclude_defaults=True) for r, s in load_settings(options.settings).items()}
        return sent | {"settings": settings, "progress": False, "out": "run.deskbench"}
