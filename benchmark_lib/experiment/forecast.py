"""Forecast of a run: calls, tokens, money and minutes, each as a range.

Every case is played twice without a model, by an agent that knows what to do and by an agent that never helps. A
model's conversation has a length between the two. Sizes of prompt, tools, messages and results turn calls into
tokens, and the price list turns tokens into money. Conversations of the same model on file correct and narrow the
range.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from datetime import datetime
from functools import partial
from math import exp, hypot, log, sqrt
from typing import Any

import orjson

from ..cases import Case
from ..conversation import converse, make_agent, make_customer
from ..conversation.model_customer import customer_prompt
from ..endpoint.prices import how_to_add
from ..errors import BadInput
from ..records import Conversation, Usage
from ..runfile import RunFile
from ..scoring.written import rounded
from .budget import LIMIT_NAMES, Budget, CallCost
from .learned import Experience, OnFile, on_file
from .manifest import merged
from .plan import Model, Plan

NEEDED, STUBBORN = "oracle", ("no_op", "echo")
CALLS_A_REPLY, CALLS_A_TOOL = 2, 3
"""Maximum number of calls assumed per reply to a customer who is never helped, and per tool call that a case needs."""
REPLY_BYTES = (300, 800)
RESULT_BYTES = (1_200, 2_400)
"""Bytes of a tool's answer: from one order to two articles of the knowledge base."""
TOKENS_A_BYTE = (1 / 5, 1 / 3.2)
REPLY_TOKENS = (50, 600)
"""Tokens of one answer of a model: from a tool call to a long reply with hidden reasoning."""
CALL_S = (0.5, 10.0)
"""Seconds of one answer."""
DRIFT = 1.5
"""Factor by which an endpoint may be faster or slower than for the conversations on file."""
CACHED = 0.8
"""The largest share of a prompt that a provider's cache may supply: all but what is new since the last call."""


@dataclass(frozen=True)
class Range:
    """A range: lowest, likely and highest value."""

    low: float
    likely: float
    high: float

    @classmethod
    def of(cls, low: float, high: float) -> Range:
        """Return a range whose likely value is the geometric mean of its ends."""
        return cls(low, sqrt(low * high), high)

    def corrected(self, by: Experience) -> Range:
        """Return the range corrected by conversations on file; unchanged without any."""
        return Range(*by.correct(*astuple(self)))

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def times(self, other: Range) -> Range:
        """Return the product of two independent quantities, rarely both at their ends."""
        likely = self.likely * other.likely
        if not self.low or not other.low:
            return Range(self.low * other.low, likely, self.high * other.high)
        return Range(
            likely / exp(hypot(log(self.likely / self.low), log(other.likely / other.low))),
            likely,
            likely * exp(hypot(log(self.high / self.likely), log(other.high / other.likely))),
        )

    def written(self, digits: int = 0) -> str:
        """Write ``about 1,900 (1,200 to 3,100)``, with two significant digits."""
        low, likely, high = self._rounded(digits)
        return f"about {likely} ({low} to {high})"

    def holds(self, written: str, digits: int = 0) -> bool:
        """Return whether a value is within the range, with both rounded as shown to a reader."""
        low, value, high = (
            float(n.replace(",", "")) for n in (self._rounded(digits)[0], written, self._rounded(digits)[2])
        )
        return low <= value <= high

    def _rounded(self, digits: int) -> list[str]:
        return [rounded(float(f"{v:.2g}"), digits if v < 10 else 0) for v in (self.low, self.likely, self.high)]


@dataclass(frozen=True)
class Forecast:
    """Forecast of one run.

    Attributes
    ----------
    conversations, on_file : int
        Conversations to play, and conversations already finished.
    calls, prompt_tokens, completion_tokens, minutes : Range
        Of all models together.
    cost_usd : Range or None
        None if a price is not known, see `unpriced`.
    unpriced : tuple of str
        Models without a price in data/prices.yaml.
    concurrency : int
        Number of concurrent conversations.
    base_urls : tuple of str
        Addresses of the models, each once.
    budget_usd : float or None
        The limit of the run.
    spent_usd : float
        Cost of the calls on file, which counts towards the limit.
    learned_from : int
        Number of finished conversations, of this run or others of the same model and inputs, that corrected the ranges.
    own_agent : bool
        Whether the user's own agent plays, whose calls are not known.
    """

    conversations: int
    on_file: int
    calls: Range
    prompt_tokens: Range
    completion_tokens: Range
    cost_usd: Range | None
    minutes: Range
    unpriced: tuple[str, ...]
    concurrency: int
    base_urls: tuple[str, ...] = ()
    budget_usd: float | None = None
    spent_usd: float = 0.0
    learned_from: int = 0
    own_agent: bool = False

    def sentences(self, name: str | None) -> list[str]:
        """Return the forecast as text for a person, one line per item."""
        head = f"forecast for {name}: {self.conversations:,} conversation{'s' * (self.conversations != 1)}"
        if not self.conversations:
            return [f"forecast for {name}: nothing to play, all {self.on_file:,} conversations are on file"]
        if not self.calls.high:
            own = ", but the agent's own calls are not known" * self.own_agent
            return [f"{head} without a language model of Deskbench's: nothing to pay{own}"]
        before = f", {self.on_file:,} more are on file" if self.on_file else ""
        cost = "\n  ".join(f"cost unknown: no price for {name}\n    {how_to_add(name)}" for name in self.unpriced)
        if self.cost_usd is not None:
            free = not self.cost_usd.high
            cost = "cost 0 USD" if free else f"cost {self.cost_usd.written(2)} USD"
        return [
            head + before,
            *(f"  at {url}" for url in self.base_urls),
            *[f"  from {self.learned_from:,} conversation{'s' * (self.learned_from != 1)} on file"]
            * bool(self.learned_from),
            f"  {self.calls.written()} model calls",
            f"  {self.prompt_tokens.written()} prompt tokens, {self.completion_tokens.written()} completion tokens",
            f"  {cost}",
            (
                f"  {self.minutes.written(1)} minutes with up to {self.concurrency} "
                f"conversation{'s' * (self.concurrency != 1)} at once"
            ),
            *self._stop(),
        ]

    def _stop(self) -> list[str]:
        """Return a line on where the budget will probably stop the run, if it will."""
        if self.budget_usd is None or self.cost_usd is None:
            return []
        left = max(self.budget_usd - self.spent_usd, 0)
        if self.cost_usd.likely <= left:
            return []
        enough = int(self.conversations * left / self.cost_usd.likely)
        spent = f", of which {self.spent_usd:.2f} are spent," if self.spent_usd else ""
        of = f"about {enough:,} of {self.conversations:,} conversations"
        return [f"  a budget of {self.budget_usd:g} USD{spent} is likely to stop this after {of}"]

    def as_data(self) -> dict[str, Any]:
        """Return the ranges as plain data, for the run file."""
        return asdict(self)


async def forecast(plan: Plan, finished: Iterable[tuple[str, int]] = ()) -> Forecast:
    """Forecast the missing conversations of a plan.

    Parameters
    ----------
    plan : Plan
        Only sides that are models count; without any, everything is 0.
    finished : iterable of (str, int)
        Cases and trials that are on file.
    """
    done = set(finished)
    missing = Counter(case.id for case, trial in plan.pairs() if (case.id, trial) not in done)
    to_play = missing.total()
    at_once = max(1, min(plan.concurrency, to_play))
    unpriced = tuple(m.endpoint.model for m in plan.models.values() if m.listed is None)
    known = on_file(plan) if to_play else {}
    sides, pace, longest = {side: _Side() for side in plan.models}, Experience(), Range(0, 0, 0)
    for case in plan.cases if plan.models else ():
        seen = known.get(case.id, OnFile())
        if not missing[case.id] and not seen.conversations:
            continue
        play = await _dry_play(plan, case)
        calls = Range(0, 0, 0)
        for side, model in plan.models.items():
            one = _agent_side(plan, case, play, model) if side == "agent" else _customer_side(plan, case, play, model)
            one["cost"], took = _cost(one, model), seen.took.get(side, {})
            sides[side].add(case.intent, one, missing[case.id], seen.conversations, took)
            pace.add(
                case.intent,
                (took.get("calls") or 0) * Range.of(*CALL_S).likely,
                took.get("seconds"),
                missing[case.id] * one["calls"].likely,
            )
            calls += one["calls"]
        longest = max(longest, calls, key=lambda r: r.high) if missing[case.id] else longest
    totals = _totals(sides)
    as_guessed = sum(side.totals["calls"].likely for side in sides.values())
    if as_guessed:
        longest = _times(longest, totals["calls"].likely / as_guessed)
    return Forecast(
        conversations=to_play,
        on_file=len(done & {(case.id, trial) for case, trial in plan.pairs()}),
        calls=totals["calls"],
        prompt_tokens=totals["prompt"],
        completion_tokens=totals["completion"],
        cost_usd=None if unpriced else totals["cost"],
        minutes=_minutes(totals["calls"], longest, at_once, pace),
        unpriced=unpriced,
        concurrency=at_once,
        base_urls=tuple(dict.fromkeys(m.endpoint.base_url for m in plan.models.values())),
        budget_usd=plan.budget_usd,
        spent_usd=RunFile(plan.path).cost()[0] if os.path.exists(plan.path) else 0.0,
        own_agent=plan.own_agent is not None,
        learned_from=sum(one.conversations for one in known.values()),
    )


class _Side:
    """Forecast of one model in total, with its corrections from conversations on file."""

    def __init__(self) -> None:
        self.totals = dict.fromkeys(("calls", "prompt", "completion", "cost"), Range(0, 0, 0))
        self.experience = {name: Experience() for name in self.totals}

    def add(
        self, intent: str, one: dict[str, Range], missing: int, on_file: int, took: dict[str, float | None]
    ) -> None:
        """Add a case: its forecast per conversation, and its total usage on file."""
        for name, said in one.items():
            self.totals[name] += _times(said, missing)
            self.experience[name].add(intent, on_file * said.likely, took.get(name), missing * said.likely)


def _totals(sides: dict[str, _Side]) -> dict[str, Range]:
    totals = dict.fromkeys(("calls", "prompt", "completion", "cost"), Range(0, 0, 0))
    for side in sides.values():
        totals = {name: total + side.totals[name].corrected(side.experience[name]) for name, total in totals.items()}
    return totals


def check_budget(plan: Plan) -> None:
    """Refuse a budget that the agent's first call may already pass."""
    agent = plan.models.get("agent")
    if agent is None or plan.budget_usd is None or plan.path.exists():
        return
    least = CallCost(agent.price, agent.settings).cost(len(orjson.dumps([plan.prompt, plan.schemas])))
    if least > plan.budget_usd:
        raise BadInput(Budget(plan.budget_usd, 0.0).passed(least).sentence)


def finished_on(plan: Plan) -> set[tuple[str, int]]:
    """Return a plan's finished conversations; raise `BadInput` if the inputs of its file differ."""
    if not os.path.exists(plan.path):
        return set()
    run = RunFile(plan.path)
    merged(run.manifest, plan.manifest, plan.path)
    return run.finished(plan.retry_faults)


def lacking(plan: Plan) -> bool:
    """Return whether a conversation of a plan is still to be played."""
    finished = finished_on(plan)
    return any((case.id, trial) not in finished for case, trial in plan.pairs())


def forecast_against_real(run: RunFile) -> list[str]:
    """Compare the forecast of a run's last session with its actual values, in lines.

    Return an empty list without a forecast, without calls since, or if the run is not finished.
    """
    session = run.manifest["sessions"][-1]
    foreseen = session.get("forecast")
    calls = [call for call in run.calls() if call["finished_at"] >= session["started"]]
    if not foreseen or not calls or run.counts()["finished"] < sum(run.manifest["planned"].values()):
        return []
    began, ended = (datetime.fromisoformat(at) for at in (session["started"], max(c["finished_at"] for c in calls)))
    real = {
        "calls": len(calls),
        "prompt_tokens": _sum(call["prompt_tokens"] for call in calls),
        "completion_tokens": _sum(call["completion_tokens"] for call in calls),
        "cost_usd": _sum(call["cost_usd"] for call in calls),
        "minutes": (ended - began).total_seconds() / 60,
    }
    units = {"cost_usd": "USD", "prompt_tokens": "prompt tokens", "completion_tokens": "completion tokens"}
    lines = []
    for name, value in real.items():
        if value is None or foreseen.get(name) is None:
            continue
        digits = {"cost_usd": 2, "minutes": 1}.get(name, 0)
        said = Range(**foreseen[name])
        actual = rounded(value, digits)
        outside = "" if said.holds(actual, digits) else ", outside the range"
        lines.append(f"{said.written(digits)} {units.get(name, name)}, actual {actual}{outside}")
    this = " of this session" if len(run.manifest["sessions"]) > 1 else ""
    return [f"forecast{this} {lines[0]}", *(f"         {line}" for line in lines[1:])] if lines else []


def _sum(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else sum(v for v in known if v is not None)


@dataclass(frozen=True)
class _DryPlay:
    """Two plays of a case: by an agent that does everything needed, and by one that never helps."""

    needed: Conversation
    stubborn: Conversation

    @property
    def tools(self) -> int:
        record = self.needed
        return sum(call.side == "agent" and call.turn >= record.taken_over for call in record.tool_calls)


def _own_replies(record: Conversation) -> int:
    return sum(message.turn >= record.taken_over for message in record.replies())


async def _dry_play(plan: Plan, case: Case) -> _DryPlay:
    play = partial(
        converse, case, plan.store, max_messages=plan.messages, seed=plan.seed, prompt="", schemas=plan.schemas
    )
    stubborn = STUBBORN[:1] if plan.store.foreign else STUBBORN
    records = [
        await play(
            make_agent(f"scripted:{name}", case=case, store=plan.store),
            make_customer("scripted", case=case, store=plan.store),
        )
        for name in (NEEDED, *stubborn)
    ]
    return _DryPlay(records[0], max(records[1:], key=_own_replies))


def _agent_side(plan: Plan, case: Case, play: _DryPlay, model: Model) -> dict[str, Range]:
    fixed = len(plan.prompt_of(case).encode()) + len(orjson.dumps(plan.schemas))
    least, most = _own_replies(play.needed), _own_replies(play.stubborn)
    calls = Range.of(least + play.tools, CALLS_A_REPLY * max(most, least) + CALLS_A_TOOL * play.tools)
    ends = enumerate(((play.needed, least, calls.low), (play.stubborn, most, calls.high)))
    final = [
        _bytes_said(record) + replies * REPLY_BYTES[end] + (count - replies) * RESULT_BYTES[end]
        for end, (record, replies, count) in ends
    ]
    # a call sends everything said so far, which is half of the whole conversation on average
    sent = [count * (fixed + size / 2) for count, size in zip((calls.low, calls.high), final, strict=True)]
    return {"calls": calls, "prompt": _tokens(sent), "completion": _completion(calls, model)}


def _customer_side(plan: Plan, case: Case, play: _DryPlay, model: Model) -> dict[str, Range]:
    """Forecast a model customer: one call per reply of the agent, or two with a correction."""
    least, most = _own_replies(play.needed), _own_replies(play.stubborn)
    calls = Range.of(least, 2 * max(least, most))
    fixed = len(customer_prompt(case, plan.store.of(case), case.limit or plan.messages).encode())
    sent = [count * (fixed + count * REPLY_BYTES[end] / 2) for end, count in enumerate((calls.low, calls.high))]
    return {"calls": calls, "prompt": _tokens(sent), "completion": _completion(calls, model)}


def _tokens(sent: list[float]) -> Range:
    return Range.of(*sent).times(Range.of(*TOKENS_A_BYTE))


def _completion(calls: Range, model: Model) -> Range:
    limit = next((model.settings[name] for name in LIMIT_NAMES if model.settings.get(name)), REPLY_TOKENS[1])
    return calls.times(Range.of(*(min(tokens, limit) for tokens in REPLY_TOKENS)))


def _cost(one: dict[str, Range], model: Model) -> Range:
    """Forecast the money for one conversation; only the low end assumes a cached prompt."""
    if model.listed is None:
        return Range(0, 0, 0)

    def price(end: str, cached: float) -> float:
        prompt, completion = getattr(one["prompt"], end), getattr(one["completion"], end)
        used = Usage(int(prompt), int(completion), cached_tokens=int(cached * prompt), calls=1)
        return model.price(used) or 0.0

    return Range(price("low", CACHED), price("likely", CACHED / 2), price("high", 0.0))


def _minutes(calls: Range, longest: Range, at_once: int, pace: Experience) -> Range:
    """Forecast the minutes of all calls, at least those of the longest conversation."""
    # The longest conversation may begin last.
    if not calls.high:
        return calls
    in_a_row = Range(
        max(calls.low / at_once, longest.low),
        max(calls.likely / at_once, longest.likely),
        calls.high / at_once + longest.high * (1 - 1 / at_once),
    )
    seconds = Range.of(*CALL_S).corrected(pace)
    if pace.seen:
        seconds = seconds.times(Range.of(1 / DRIFT, DRIFT))
    return _times(in_a_row.times(seconds), 1 / 60)


def _times(one: Range, count: float) -> Range:
    return Range(count * one.low, count * one.likely, count * one.high)


def _bytes_said(record: Conversation) -> int:
    return sum(len(m.text.encode()) for m in record.messages if m.side == "customer")
