"""The engine of a run on many machines: deals conversations to the workers and writes what they send back."""

import asyncio
import contextlib
import itertools
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from distributed import Client, Future, Queue

from ...errors import BadInput
from ...records import Conversation, Fault
from ...runfile import RunFile
from ...runfile.seals import COLUMNS
from ...threads import in_thread
from ..budget import Budget, Stop
from ..engine import GRACE_S, Engine, conversation_row, scores_row
from ..manifest import differences, now, played_as
from ..options import Options
from ..plan import Plan
from .cluster import CONNECT_S, WITHOUT_WORKERS_S, Cluster
from .dealing import TRIES, Deck, Key
from .mail import Outbox
from .worker import identity, serve

STAFF_EVERY_S = 1.0
"""How often is looked for workers that came or went, in seconds."""
COST = COLUMNS["calls"].index("cost_usd")
LOST = "worker_lost"
"""The kind of a fault where a worker died with a conversation."""
OF_THIS_MACHINE = ("executor", "scheduler", "workers", "players", "out", "progress", "replay", "settings")
"""Options that a worker is not told, or not as they were given."""


@dataclass(eq=False)
class Seat:
    """One worker of the run: where it is, what Dask knows of its player, and the way to it."""

    address: str
    name: str
    task: Future
    outbox: Outbox
    playing: bool = False
    reserved: list[float] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)

    def tell(self, *message: Any) -> None:
        """Send its player a message."""
        self.outbox.send(*message)


class MachinesEngine(Engine):
    """Plays what is missing on a run file on the workers of a cluster, each of which prepares the plan for itself."""

    also_faulty = ", a worker"

    def __init__(self, plan: Plan, run: RunFile, cluster: Cluster, options: Options):
        super().__init__(plan, run)
        self._cluster, self._options = cluster, options
        self._deck = Deck((case.id, trial) for case, trial in self._again)
        self._cases = {c.id: c for c in plan.cases}
        self._seats: dict[int, Seat] = {}
        self._refused: dict[str, str] = {}
        self._numbers, self._news, self._manned_at = itertools.count(1), asyncio.Event(), time.monotonic()
        self._asking: set[asyncio.Task[None]] = set()
        self._leading = True

    def stop(self, stop: Stop, grace_s: float = GRACE_S) -> None:
        """End the run: no new call begins on any worker, those in flight get `grace_s` seconds."""
        super().stop(stop, grace_s)
        for seat in self._seats.values():
            seat.tell("stop")
        self._news.set()

    async def _prepare(self) -> Stop | None:
        return None  # the workers reach the endpoint and rehearse

    def _open_lines(self, budget: Budget) -> dict[str, Any]:
        self._budget = budget
        return {}

    def _begin(self) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self._lead())]

    async def _lead(self) -> None:
        """Seat a player on each worker until everything is played or the run is stopped."""
        known = self._cluster.client
        where = {"security": known.security, "asynchronous": True, "set_as_default": False}
        try:
            async with Client(known.scheduler.address, timeout=CONNECT_S, **where) as self._client:
                self._inbox = await Queue(client=self._client)
                reading = asyncio.ensure_future(self._read())
                try:
                    while not self._over():
                        await self._staff()
                        with contextlib.suppress(TimeoutError):
                            await asyncio.wait_for(self._news.wait(), STAFF_EVERY_S)
                        self._news.clear()
                finally:
                    self._leading = False
                    for seat in self._seats.values():
                        seat.tell("end")
                    await asyncio.gather(*(seat.outbox.close() for seat in self._seats.values()))
                    reading.cancel()
                    self._inbox.close()
        except OSError:
            self._lost()
        except Exception as error:
            self._error = self._error or error

    def _lost(self) -> None:
        self._leading = False
        self.stop(Stop(f"{self._cluster.where} is gone: start it again, then give the same command to go on"))

    async def _read(self) -> None:
        """Do what the players say, batch by batch."""
        while True:
            try:
                for number, kind, *content in await self._inbox.get():
                    seat = self._seats.get(number)
                    if seat is not None:  # what a player says after it was given up is too late
                        getattr(self, f"_on_{kind}")(seat, *content)
            except OSError:
                return self._lost()
            except Exception as error:
                self._error = self._error or error
                self.stop(Stop(str(error), refused=True), 0.0)

    def _over(self) -> bool:
        if self._writer.failure is not None or not self._leading:
            return True
        return not (self._deck.dealt if self.stopped else self._deck.dealt + self._deck.waiting + self._on_the_way)

    async def _staff(self) -> None:
        """Let go of workers that are gone, and send a player to each one that has none while the run goes on."""
        client = self._cluster.client
        try:
            async with asyncio.timeout(CONNECT_S):
                workers = await in_thread(self._cluster.workers) if client.status == "running" else None
        except TimeoutError:  # it is busy: what is being played goes on without it
            return
        except OSError:
            workers = None
        if workers is None:
            return self._lost()
        for number, seat in [*self._seats.items()]:
            seat.tell("here")
            if seat.address not in workers or seat.task.status in ("finished", "error", "cancelled", "lost"):
                await self._gone(number, seat)
        if self.stopped is not None:
            return
        seated = {seat.address for seat in self._seats.values()}
        for address in workers.keys() - seated - self._refused.keys():
            await self._seat(address, workers[address])
        self._count_workers()

    async def _seat(self, address: str, name: str) -> None:
        number, down = next(self._numbers), await Queue(client=self._client)
        given = (self._plan_for_worker(), self._inbox.name, down.name, number)
        task = self._client.submit(serve, *given, workers=[address], pure=False, retries=0)
        self._seats[number] = Seat(address, name, task, Outbox(down))

    def _count_workers(self) -> None:
        if self._seats:
            self._manned_at = time.monotonic()
        elif self._refused:
            count = self.run.counts()
            self.stop(Stop(next(iter(self._refused.values())), refused=not (count["calls"] or count["finished"])))
        elif time.monotonic() - self._manned_at > WITHOUT_WORKERS_S:
            what = f"{self._cluster.where} has had no worker for {WITHOUT_WORKERS_S:g} s"
            self.stop(Stop(f"{what}: start some, then give the same command to go on"))

    def _refuse(self, seat: Seat, why: str) -> None:
        self._refused[seat.address] = sentence = f"worker {seat.name} {why}"
        if {other.address for other in self._seats.values()} - self._refused.keys():
            print(f"deskbench: {sentence}: the run goes on without it", file=sys.stderr)

    def _plan_for_worker(self) -> dict[str, Any]:
        from ...endpoint import load_settings

        given = {name: value for name, value in vars(self._options).items() if name in Options.__dataclass_fields__}
        told = {name: value for name, value in given.items() if name not in OF_THIS_MACHINE and value is not None}
        told |= {name: str(told[name]) for name in ("store", "prompt") if name in told}
        settings = {r: s.model_dump(exclude_defaults=True) for r, s in load_settings(self._options.settings).items()}
        return told | {"settings": settings, "progress": False, "out": "run.deskbench"}

    def _on_refused(self, seat: Seat, sentence: str) -> None:
        self._refuse(seat, f"cannot play: {sentence}")
        self._news.set()

    def _on_ready(self, seat: Seat, there: dict[str, Any]) -> None:
        here = identity(self.plan)
        found = differences(there, here)
        for name in ("deskbench", "scoring", "prices"):
            if there[name] != here[name]:
                found.append(f"{name} is {_shown(there[name])} there and {_shown(here[name])} here")
        if found:
            self._refuse(seat, f"differs from this machine: {'; '.join(found)}: install and copy the same there")
            self._news.set()
            seat.tell("end")
            return
        seat.playing = True
        self._deal()

    def _deal(self) -> None:
        """Give every player its share of what may be played at once; what one has beyond its share ends first."""
        seats = [seat for seat in self._seats.values() if seat.playing]
        if self.stopped is not None or not seats:
            return
        at_once = self.plan.concurrency
        if not self.plan.models and self.plan.own_agent is None:  # nothing is waited for: a second hand lies ready
            at_once += min(at_once, self._deck.waiting // 2)
        share, room = -(-at_once // len(seats)), at_once - self._deck.dealt
        for seat in seats:
            keys = self._deck.deal(seat, min(share - len(self._deck.held_by(seat)), room))
            room -= len(keys)
            if keys:
                played = ((key, played_as(self.manifest, *key), self._deck.was_lost(key)) for key in keys)
                seat.tell("play", [(*key, number, self._kept.rows(*key, lost)) for key, number, lost in played])

    def _on_row(self, seat: Seat, number: int, table: str, row: list[Any], urgent: bool) -> None:
        if table == "calls":
            self._progress.call(row[COST])
        on_disk = self._writer.put(table, tuple(row), urgent)
        on_disk.add_done_callback(lambda future: self._acknowledge(seat, number, future))

    def _acknowledge(self, seat: Seat, number: int, on_disk: asyncio.Future[None]) -> None:
        if on_disk.cancelled() or on_disk.exception() is not None:
            self._news.set()
            return
        if not seat.acknowledged:
            asyncio.get_running_loop().call_soon(self._send_acknowledged, seat)
        seat.acknowledged.append(number)

    def _send_acknowledged(self, seat: Seat) -> None:
        numbers, seat.acknowledged = seat.acknowledged, []
        seat.tell("disk", numbers)

    def _on_ended(self, seat: Seat, row: list[Any], finished: bool, scores: list[Any], known: bool) -> None:
        key = row[0], row[1]
        self._put_scores(key, tuple(scores), known)
        on_disk = self._put_conversation(tuple(row), finished)
        on_disk.add_done_callback(lambda future: self._ended(seat, key, future))

    def _ended(self, seat: Seat, key: Key, on_disk: asyncio.Future[None]) -> None:
        if not on_disk.cancelled() and on_disk.exception() is None:
            self._deck.ended(seat, key)
            self._deal()
        if self._over():
            self._news.set()

    def _on_left(self, seat: Seat, case_id: str, trial: int) -> None:
        self._deck.ended(seat, (case_id, trial))
        self._news.set()

    def _on_stop(self, seat: Seat, sentence: str, refused: bool) -> None:
        self.stop(Stop(sentence, refused))

    def _on_broke(self, seat: Seat, bad_input: bool, told: str) -> None:
        self._error = self._error or (BadInput(told) if bad_input else RuntimeError(f"on worker {seat.name}: {told}"))
        self.stop(Stop(told, refused=True))

    def _on_reserve(self, seat: Seat, number: int, usd: float) -> None:
        task = asyncio.ensure_future(self._reserve(seat, number, usd))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _reserve(self, seat: Seat, number: int, usd: float) -> None:
        fits = await self._budget.reserve(usd)
        if fits and not seat.playing:
            self._budget.settle(usd, 0.0)
        elif fits:
            seat.reserved.append(usd)
        stop = None if fits else self._budget.passed(usd)
        seat.tell("budget", number, stop and [stop.sentence, stop.refused])

    def _on_settle(self, seat: Seat, reserved: float, cost_usd: float) -> None:
        if reserved in seat.reserved:  # a call that was not granted has nothing to give back
            seat.reserved.remove(reserved)
            self._budget.settle(reserved, cost_usd)

    async def _gone(self, number: int, seat: Seat) -> None:
        """Let a player go: its calls in flight count as paid, its conversations are dealt again or given up."""
        self._seats.pop(number)
        if seat.task.status == "error" and not seat.playing:
            self._refuse(seat, f"cannot play ({_one_line(await seat.task.exception())})")
        seat.playing = False
        await asyncio.gather(self._client.cancel(seat.task, force=True), seat.outbox.close())
        for usd in seat.reserved:
            self._budget.settle(usd, usd)
        given_up = self._deck.left(seat)
        if self.stopped is None and self._leading:
            for key in given_up:
                await self._give_up(seat, key)
            self._deal()
        self._news.set()

    async def _give_up(self, seat: Seat, key: Key) -> None:
        """Record a conversation that lost its worker too often: a fault of the infrastructure, for and against nobody."""
        case, trial = self._cases[key[0]], key[1]
        detail = f"{TRIES} workers died while they played this conversation, the last was {seat.name}"
        record = Conversation(case.id, trial, self.plan.model, self.plan.source, self.plan.customer_name)
        record.ended_by, record.faults = "infrastructure_fault", [Fault("infrastructure", LOST, detail)]
        self._writer.put("faults", (case.id, trial, "agent", LOST, detail, "[]", now()))
        scores, known = await scores_row(self.plan, record, case, record.to_json())
        self._put_scores(key, scores, known)
        self._put_conversation(conversation_row(record, record.to_json()), finished=False)


def _shown(value: Any) -> str:
    return f"{value['version']} ({value['hash'][:8]})" if isinstance(value, dict) and "hash" in value else str(value)


def _one_line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
