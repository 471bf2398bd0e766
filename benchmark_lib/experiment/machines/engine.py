"""The engine of a run on many machines: deals conversations to the workers and writes what they send back."""

import asyncio
import contextlib
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...errors import BadInput
from ...records import Conversation, Fault
from ...runfile import RunFile
from ...runfile.seals import COLUMNS
from ..budget import Budget, Stop
from ..engine import GRACE_S, Engine, conversation_row, scores_row
from ..manifest import differences, now, played_as
from ..options import Options
from ..plan import Plan
from .cluster import CONNECT_S, UNPROTECTED, WITHOUT_WORKERS_S, Cluster, first_line, is_private
from .dealing import TRIES, Deck, Key
from .player import Player, identity

STAFF_EVERY_S = 1.0
"""Seconds between two looks for workers that came or went."""
COST = COLUMNS["calls"].index("cost_usd")
LOST = "worker_lost"
"""The kind of a fault where a worker died with a conversation."""
OF_THIS_MACHINE = ("executor", "scheduler", "workers", "players", "out", "progress", "replay", "settings")
"""Options that a worker does not get, or not as they were given."""


@dataclass(eq=False)
class Seat:
    """One worker of the run: its address and name, and its player once it has prepared the plan."""

    address: str
    name: str
    task: asyncio.Task[None] | None = None
    player: Any = None
    reserved: list[float] = field(default_factory=list)
    answers: list[tuple[int, Any]] = field(default_factory=list)


class MachinesEngine(Engine):
    """Plays what is missing on a run file on the workers of a cluster, each of which prepares the plan for itself."""

    also_faulty = ", a worker"

    def __init__(self, plan: Plan, run: RunFile, cluster: Cluster, options: Options):
        super().__init__(plan, run)
        self._cluster, self._options = cluster, options
        self._deck = Deck((case.id, trial) for case, trial in self._again)
        self._cases = {c.id: c for c in plan.cases}
        self._seats: dict[str, Seat] = {}
        self._refused: dict[str, str] = {}
        self._news, self._manned_at = asyncio.Event(), time.monotonic()
        self._asking: set[asyncio.Task[None]] = set()

    def stop(self, stop: Stop, grace_s: float = GRACE_S) -> None:
        """End the run: no new call begins on any worker, those in flight get `grace_s` seconds."""
        super().stop(stop, grace_s)
        for seat in self._playing():
            seat.player.stop()
        self._news.set()

    async def _prepare(self) -> Stop | None:
        return None  # the workers reach the endpoint and rehearse

    def _open_lines(self, budget: Budget) -> dict[str, Any]:
        self._budget = budget
        return {}

    def _begin(self) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self._lead())]

    def _playing(self) -> list[Seat]:
        return [seat for seat in self._seats.values() if seat.player is not None]

    async def _lead(self) -> None:
        """Seat a player on each worker until everything is played or the run is stopped."""
        try:
            with self._cluster.client.as_current():
                while not self._over():
                    if self.stopped is None:
                        await self._staff()
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), STAFF_EVERY_S)
                    self._news.clear()
        except Exception as error:
            self._error = self._error or error
        finally:
            tasks = [seat.task for seat in self._seats.values() if seat.task is not None]
            for task in tasks:
                task.cancel()
            with contextlib.suppress(Exception):
                closing = (seat.player.close() for seat in self._playing())
                await asyncio.wait_for(asyncio.gather(*closing, return_exceptions=True), CONNECT_S)
            await asyncio.gather(*tasks, return_exceptions=True)

    def _over(self) -> bool:
        if self._writer.failure is not None or self._error is not None:
            return True
        return not (self._deck.dealt if self.stopped else self._deck.dealt + self._deck.waiting + self._on_the_way)

    async def _staff(self) -> None:
        """Send a player to each worker that has none, let go of those that are gone."""
        try:
            workers = await self._cluster.workers()
        except TimeoutError:
            return
        if workers is None:
            self.stop(Stop(f"{self._cluster.where} is gone: start it again, then give the same command to go on"))
            return
        for seat in [*self._seats.values()]:
            if seat.address not in workers and seat.task is not None:
                seat.task.cancel()
        for address in workers - self._seats.keys() - self._refused.keys():
            seat = self._seats[address] = Seat(address, address)
            if is_private(address):
                seat.task = asyncio.ensure_future(self._attend(seat))
                seat.task.add_done_callback(partial(self._gone, seat))
            else:
                self._refuse(seat, UNPROTECTED)
        if self._seats:
            self._manned_at = time.monotonic()
        elif self._refused:
            count = self.run.counts()
            self.stop(Stop(next(iter(self._refused.values())), refused=not (count["calls"] or count["finished"])))
        elif time.monotonic() - self._manned_at > WITHOUT_WORKERS_S:
            what = f"{self._cluster.where} has had no worker for {WITHOUT_WORKERS_S:g} s"
            self.stop(Stop(f"{what}: start some, then give the same command to go on"))

    async def _attend(self, seat: Seat) -> None:
        """Take what the player of one worker sends, until the worker is gone."""
        try:
            actor = self._cluster.client.submit(Player, actor=True, pure=False, workers=[seat.address])
            player = await actor
            seat.name, there = await player.prepare(self._plan_for_worker())
        except Exception as error:
            return self._refuse(seat, f"cannot play ({type(error).__name__}: {first_line(error)})")
        found = [there] if isinstance(there, str) else self._unlike(there)
        if found:
            return self._refuse(seat, "; ".join(found))
        seat.player = player
        self._deal()
        with contextlib.suppress(OSError, RuntimeError):  # what Dask raises where the worker of an actor is gone
            while True:
                for number, kind, *content in await player.take():
                    self._receive(seat, number, kind, content)

    def _receive(self, seat: Seat, number: int, kind: str, content: list[Any]) -> None:
        try:
            getattr(self, f"_on_{kind}")(seat, number, *content)
        except Exception as error:
            self._error = self._error or error
            self.stop(Stop(str(error), refused=True), 0.0)

    def _unlike(self, there: dict[str, Any]) -> list[str]:
        """Return what is not the same on a worker, as one part of a sentence, or nothing."""
        here = identity(self.plan)
        found = differences(there, here)
        for name in ("deskbench", "scoring", "prices"):
            if there[name] != here[name]:
                found.append(f"{name} is {_shown(there[name])} there and {_shown(here[name])} here")
        return found and [f"differs from this machine: {'; '.join(found)}: install and copy the same there"]

    def _refuse(self, seat: Seat, why: str) -> None:
        self._seats.pop(seat.address, None)
        self._refused[seat.address] = sentence = f"worker {seat.name} {why}"
        if self._seats:
            print(f"deskbench: {sentence}: the run goes on without it", file=sys.stderr)
        self._news.set()

    def _plan_for_worker(self) -> dict[str, Any]:
        from ...endpoint import load_settings

        given = {name: value for name, value in vars(self._options).items() if name in Options.__dataclass_fields__}
        sent = {name: value for name, value in given.items() if name not in OF_THIS_MACHINE and value is not None}
        sent |= {name: str(sent[name]) for name in ("store", "prompt") if name in sent}
        settings = {r: s.model_dump(exclude_defaults=True) for r, s in load_settings(self._options.settings).items()}
        return sent | {"settings": settings, "progress": False, "out": "run.deskbench"}

    def _deal(self) -> None:
        """Give every player its share of what may be played at once; what one has beyond its share ends first."""
        seats = self._playing()
        if self.stopped is not None or not seats:
            return
        at_once = self.plan.concurrency
        if not self.plan.models and self.plan.own_agent is None:  # nothing is waited for: a second hand is ready
            at_once += min(at_once, self._deck.waiting // 2)
        share, room = -(-at_once // len(seats)), at_once - self._deck.dealt
        for seat in seats:
            keys = self._deck.deal(seat, min(share - len(self._deck.hands.get(seat, ())), room))
            room -= len(keys)
            if keys:
                played = ((key, played_as(self.manifest, *key), self._deck.was_lost(key)) for key in keys)
                seat.player.play([(*key, number, self._kept.rows(*key, lost)) for key, number, lost in played])

    def _answer(self, seat: Seat, number: int, answer: Any = None) -> None:
        if not seat.answers:
            asyncio.get_running_loop().call_soon(self._send_answers, seat)
        seat.answers.append((number, answer))

    def _send_answers(self, seat: Seat) -> None:
        answers, seat.answers = seat.answers, []
        if seat.player is not None:
            seat.player.answer(answers)

    def _on_row(self, seat: Seat, number: int, table: str, row: tuple[Any, ...], urgent: bool) -> None:
        def kept(on_disk: asyncio.Future[None]) -> None:
            if on_disk.cancelled() or on_disk.exception() is not None:
                self._news.set()
            else:
                self._answer(seat, number)

        if table == "calls":
            self._progress.call(row[COST])
        self._writer.put(table, row, urgent).add_done_callback(kept)

    def _on_ended(self, seat: Seat, _: int, row: tuple[Any, ...], finished: bool, scores: Any, known: bool) -> None:
        def kept(on_disk: asyncio.Future[None]) -> None:
            if not on_disk.cancelled() and on_disk.exception() is None:
                self._deck.ended(seat, row[:2])
                self._deal()
            if self._over():
                self._news.set()

        self._put_scores(row[:2], scores, known)
        self._put_conversation(row, finished).add_done_callback(kept)

    def _on_left(self, seat: Seat, _: int, case_id: str, trial: int) -> None:
        self._deck.ended(seat, (case_id, trial))
        self._news.set()

    def _on_stop(self, seat: Seat, _: int, stop: Stop) -> None:
        self.stop(stop)

    def _on_broke(self, seat: Seat, _: int, bad_input: bool, why: str) -> None:
        self._error = self._error or (BadInput(why) if bad_input else RuntimeError(f"on worker {seat.name}: {why}"))
        self.stop(Stop(why, refused=True))

    def _on_reserve(self, seat: Seat, number: int, usd: float) -> None:
        task = asyncio.ensure_future(self._reserve(seat, number, usd))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _reserve(self, seat: Seat, number: int, usd: float) -> None:
        fits = await self._budget.reserve(usd)
        if fits and seat.player is None:
            self._budget.settle(usd, 0.0)
        elif fits:
            seat.reserved.append(usd)
        self._answer(seat, number, None if fits else self._budget.passed(usd))

    def _on_settle(self, seat: Seat, _: int, reserved: float, cost_usd: float) -> None:
        if reserved in seat.reserved:  # a call that was not granted has nothing to give back
            seat.reserved.remove(reserved)
            self._budget.settle(reserved, cost_usd)

    def _gone(self, seat: Seat, _: Any) -> None:
        """Deal anew what a lost player had, or give it up; its calls in flight count as paid."""
        if self._seats.get(seat.address) is seat:
            del self._seats[seat.address]
        playing, seat.player = seat.player is not None, None
        for usd in seat.reserved:
            self._budget.settle(usd, usd)
        given_up = self._deck.left(seat)
        if playing and self.stopped is None and not self._over():
            for key in given_up:
                self._asking.add(asyncio.ensure_future(self._give_up(seat, key)))
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
