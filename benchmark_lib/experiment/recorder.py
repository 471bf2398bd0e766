"""Tie model calls to the run file and to its budget: reuse, make, pay for and write them."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import orjson

from ..endpoint import Completion, Endpoint, EndpointError, RequestedCall, start_delay_s
from ..endpoint.faults import STOPS_THE_RUN
from ..endpoint.prices import Price, find_price, how_to_add
from ..errors import BadInput
from ..records import Usage, content_hash
from ..runfile import connect_to_read
from ..scoring import written
from .manifest import now

BYTES_A_TOKEN = 3.0
"""Bytes of a request per prompt token, assumed until the endpoint reports tokens; a cautious value."""
FIRST_COMPLETION = 1024
"""Completion tokens assumed before the first reply if the settings state no limit."""
MARGIN = 1.5
"""Factor by which the next reply may exceed the largest so far if the settings state no limit."""
LIMIT_NAMES = ("max_completion_tokens", "max_tokens")


def is_estimate(call: dict[str, Any]) -> bool:
    """Return whether the cost of a call on file is an estimate: a cost without reported tokens."""
    return call["prompt_tokens"] is None and bool(call["cost_usd"])


def costs_of(calls: Iterable[dict[str, Any]]) -> dict[tuple[str, int, str], float | None]:
    """Return the cost by conversation and side; None if a call has no price or no tokens."""
    costs: dict[tuple[str, int, str], float | None] = {}
    for call in calls:
        key = (call["case_id"], call["trial"], call["side"])
        before = costs.get(key, 0.0)
        unknown = before is None or call["cost_usd"] is None or is_estimate(call)
        costs[key] = None if unknown else before + call["cost_usd"]
    return costs


@dataclass(frozen=True)
class Stop:
    """Why a run ends early: a sentence with the cause and how to continue.

    If it is `refused`, the input has to change first; otherwise the same command resumes the run.
    """

    sentence: str
    refused: bool = False


class Model:
    """A side that is a language model: its endpoint, its price, and what its next call may cost.

    `price` turns usage into US dollars (None if no price is known), and `listed` is the price on record. `limit` is the
    largest number of completion tokens that the settings allow.
    """

    def __init__(self, endpoint: Endpoint, price: Price | None):
        self.endpoint, self.listed = endpoint, price and asdict(price)
        self.price: Callable[[Usage], float | None] = price.cost_usd if price else lambda usage: None
        body: dict[str, Any] = endpoint.settings.body
        self.limit = next((int(body[name]) for name in LIMIT_NAMES if body.get(name)), None)
        self.settings, self._largest, self._tokens_a_byte = body, 0, 0.0

    def next_cost(self, request_bytes: int) -> float:
        """Return an upper estimate in US dollars for a request of this size."""
        prompt = request_bytes * (1.05 * self._tokens_a_byte or 1 / BYTES_A_TOKEN)
        reply = self.limit or (MARGIN * self._largest if self._largest else FIRST_COMPLETION)
        return self.price(Usage(prompt_tokens=int(prompt) + 1, completion_tokens=int(reply), calls=1)) or 0.0

    def learn(self, request_bytes: int, usage: Usage) -> None:
        """Update the estimate with the usage of a finished call."""
        self._largest = max(self._largest, usage.completion_tokens)
        self._tokens_a_byte = max(self._tokens_a_byte, usage.prompt_tokens / max(request_bytes, 1))


def model_at(endpoint: Endpoint, priced: bool) -> Model:
    """Return the model at an endpoint with its price; refuse one without a price if `priced`."""
    name, price = endpoint.model, find_price(endpoint.model, endpoint.base_url)
    if price is None and priced:
        raise BadInput(
            f"no price is known for {name}, so a budget cannot be enforced: omit --budget-usd, or {how_to_add(name)}"
        )
    return Model(endpoint, price)


class Budget:
    """A limit in US dollars for the total cost of a run file; each call first reserves its cost.

    Without a token limit in the settings, a reply much larger than all earlier ones may exceed the budget.
    """

    def __init__(self, limit_usd: float | None, spent_usd: float, stop: Callable[[Stop], object]):
        self.limit, self.spent, self.reserved = limit_usd, spent_usd, 0.0
        self._stop, self._changed = stop, asyncio.Event()

    async def reserve(self, usd: float) -> bool:
        """Wait until `usd` fits and reserve it; if it never will, stop the run and return False."""
        if self.limit is not None:
            while self.spent + self.reserved + usd > self.limit:
                if self.reserved <= 0:
                    self._stop(self._passed(usd))
                    return False
                self._changed.clear()
                await self._changed.wait()
        self.reserved += usd
        return True

    def _passed(self, usd: float) -> Stop:
        if not self.spent:
            why = f"more than the budget of {self.limit:g} USD: raise --budget-usd"
            return Stop(f"one call may cost {written.usd(usd)}, {why}", refused=True)
        return Stop(
            f"stopped before exceeding the budget of {self.limit:g} USD, of which {written.usd(self.spent)} is spent: "
            "rerun the same command with a larger --budget-usd to continue"
        )

    def settle(self, reserved: float, cost_usd: float) -> None:
        """Replace a reservation by the actual cost of the call."""
        self.reserved = max(0.0, self.reserved - reserved) if self.reserved - reserved > 1e-12 else 0.0
        self.spent += cost_usd
        self._changed.set()


# --- Calls on file

LONGEST_SPREAD_S = 5.0
"""Maximum seconds over which a run's first calls are spread; usually the leading call's duration."""
LEADERS = 2
"""Number of conversations that must fail, before any call is answered, for the endpoint to be at fault."""
TRIES = {"bad_request": 2, "server": 3, "timeout": 3, "bad_body": 3, "worker_lost": 3}
"""Sessions in which a conversation must fail before its fault is final; other kinds never become final."""
MISTAKES = STOPS_THE_RUN | {"bad_request"}
"""Errors that a person must fix before the same command can continue."""
ANSWERS = frozenset({"context_overflow"})
"""Errors that are the endpoint's answer to this request: stored and replayed like a reply."""
UNKNOWN = (None,) * 4
"""The tokens of a call that reported none."""
RESPONSE = ("text", "tool_calls", "finish_reason", "usage", "reasoning", "raw")


class Request(NamedTuple):
    """One call of a side: its key (case, trial, number), identifying bytes and content."""

    key: tuple[str, int, int]
    content: bytes
    messages: list[Any]
    tools: Any = None
    body: dict[str, Any] = {}


class NotOnFile(RuntimeError):
    """A replay reached a call that is not on the run file."""


@dataclass(frozen=True)
class KeptCall:
    """A finished call on the run file."""

    request_hash: str
    response: bytes
    latency_s: float
    attempts: str

    def completion(self) -> Completion:
        """Return the completion again, or raise the endpoint's error again."""
        raw, attempts = orjson.loads(self.response), orjson.loads(self.attempts)
        if "error" in raw:
            error = EndpointError(**raw["error"])
            error.attempts = attempts
            raise error
        calls = [RequestedCall(**c) for c in raw.pop("tool_calls")]
        usage = Usage(**raw.pop("usage"))
        return Completion(**raw, tool_calls=calls, usage=usage, latency_s=self.latency_s, attempts=attempts)


class KeptCalls:
    """The finished calls of a run file, by conversation."""

    def __init__(self, path: Path):
        self._db = connect_to_read(path)
        self._known = {*self._db.execute("SELECT DISTINCT case_id, trial FROM calls")}

    def of(self, case_id: str, trial: int, began: bool = False) -> dict[tuple[str, int], KeptCall]:
        """Return the calls of one conversation by (side, number).

        With `began`, also query the file for a conversation that had no calls when this session began.
        """
        if not began and (case_id, trial) not in self._known:
            return {}
        sql = "SELECT side, n, request_hash, response, latency_s, attempts FROM calls WHERE case_id=? AND trial=?"
        return {(side, n): KeptCall(*rest) for side, n, *rest in self._db.execute(sql, (case_id, trial))}

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class CallLine(Protocol):
    """Line that answers the calls of one side: a model, or the players in its place."""

    async def call(self, request: Request) -> Completion:
        """Return the completion of one call once it is on disk."""


class Line:
    """Line to one model: one call leads, the next ones are spread over time, and each is paid.

    The `run` has a `budget` and says whether it has `stopped`. It writes rows (`put`), counts costs (`called`) and can
    be ended (`stop`). `wave` conversations begin at once. If calls are on file (`began`), an endpoint out of reach is
    no mistake in the command.
    """

    def __init__(self, side: str, model: Model, run: Any, wave: int, began: bool = False):
        self.side, self.model, self._run, self._began = side, model, run, began
        self._proven, self._gate, self._led = False, asyncio.Lock(), set[tuple[str, int]]()
        self._wave, self._begun, self._spread_s = wave, 0, 0.0

    async def call(self, request: Request) -> Completion:
        """Make one call and return its completion once it is on disk, or raise the endpoint's error.

        Raise `asyncio.CancelledError` if the run is stopping; the conversation stays unfinished.
        """
        if not self._proven:
            async with self._gate:
                if not self._proven:
                    return await self._make(request)
        if self._begun < self._wave:
            self._begun += 1
            await asyncio.sleep(start_delay_s(self._begun, self._wave, self._spread_s))
        return await self._make(request)

    async def _make(self, request: Request) -> Completion:
        self._go_on()
        size = len(request.content)
        reserved = self.model.next_cost(size)
        if not await self._run.budget.reserve(reserved):
            raise asyncio.CancelledError("the budget is used up")
        cost: float | None = 0.0
        try:
            self._go_on()
            completion = await self.model.endpoint.complete(request.messages, request.tools, **request.body)
            cost = self.model.price(completion.usage)
            if cost is None:  # without reported tokens the reservation counts as the cost, even after a resume
                cost = reserved or None
        except EndpointError as error:
            self._failed(request, error)
            raise
        finally:
            self._run.budget.settle(reserved, cost or 0.0)
        if not self._proven:
            self._proven, self._spread_s = True, min(completion.latency_s, LONGEST_SPREAD_S)
        self.model.learn(size, completion.usage)
        self._run.called(cost)
        row = call_row(self.side, self.model.endpoint.model, request, completion, cost)
        await self._run.put("calls", row, urgent=True)
        return completion

    def _go_on(self) -> None:
        if self._run.stopped:
            raise asyncio.CancelledError("the run is being stopped")

    def _failed(self, request: Request, error: EndpointError) -> None:
        case_id, trial, _ = request.key
        attempts = orjson.dumps(error.attempts).decode()
        if error.kind in ANSWERS:
            self._proven = True
            kept = {name: getattr(error, name) for name in ("kind", "fatal", "status", "detail")}
            kept["message"] = str(error)
            paid = (*UNKNOWN, None, attempts, 0.0)
            self._run.put("calls", _row(self.side, self.model.endpoint.model, request, {"error": kept}, paid))
            return
        self._run.put("faults", (case_id, trial, self.side, error.kind, error.detail, attempts, now()))
        refused = error.kind == "bad_request"
        if refused and self._began:  # the endpoint accepted these settings before
            error.fatal = False
        self._led.add((case_id, trial))
        alone = refused or (error.kind in TRIES and len(self._led) < LEADERS)
        if error.fatal or not (self._proven or alone):
            mistaken = error.kind in MISTAKES or (error.kind in ("connection", "bad_body") and not self._began)
            self._run.stop(Stop(str(error), refused=mistaken))


def call_row(side: str, model: str, request: Request, completion: Completion, cost: float | None) -> tuple[Any, ...]:
    """Return a finished call as a row of the run file."""
    used, attempts = completion.usage, orjson.dumps(completion.attempts).decode()
    tokens = (used.prompt_tokens, used.completion_tokens, used.reasoning_tokens, used.cached_tokens)
    paid = (*(UNKNOWN if used.missing else tokens), completion.latency_s, attempts, cost)
    return _row(side, model, request, {name: getattr(completion, name) for name in RESPONSE}, paid)


def _row(side: str, model: str, request: Request, response: dict[str, Any], paid: tuple[Any, ...]) -> tuple[Any, ...]:
    case_id, trial, n = request.key
    return case_id, trial, side, n, content_hash(request.content), model, orjson.dumps(response), *paid, now()


class Recorder:
    """The model calls of one side of one conversation: a model speaker's ``complete``.

    `line` is None in a replay, which uses only the file. `kept` are the calls on file, see `KeptCalls.of`.
    """

    def __init__(
        self, side: str, case_id: str, trial: int, line: CallLine | None, kept: dict[tuple[str, int], KeptCall]
    ):
        self.side, self.case_id, self.trial, self.n = side, case_id, trial, 0
        self._line, self._kept = line, kept

    async def __call__(self, messages: list[Any], tools: Any = None, **body: Any) -> Completion:
        """Return the completion of this side's n-th request, from the file or from the endpoint."""
        self.n += 1
        request = orjson.dumps([messages, tools, body], option=orjson.OPT_SORT_KEYS)
        kept = self._kept.get((self.side, self.n))
        if kept is not None and kept.request_hash == content_hash(request):
            return kept.completion()
        if self._line is None:
            what = "is not on file" if kept is None else "differs from the call on file"
            raise NotOnFile(f"{self.case_id} trial {self.trial}: call {self.n} of the {self.side} {what}")
        return await self._line.call(Request((self.case_id, self.trial, self.n), request, messages, tools, body))
