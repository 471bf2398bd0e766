"""Forecast a run: calls, tokens, money and minutes, each as a range.

A case says how many tool calls it needs and how many messages its customer may write. Sizes of prompt, tools, messages
and results turn calls into tokens, and the price list turns tokens into money. Finished conversations on the run's own
file correct the guess.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import exp, hypot, log, nan, sqrt

import orjson

from ..cases import Case
from ..conversation.model_customer import customer_prompt
from ..endpoint.prices import how_to_add
from ..records import NOT_SCORED, Usage
from ..runfile import RunFile
from ..scoring.written import rounded
from .budget import LIMIT_NAMES
from .plan import Model, Plan

PATIENCE = 6
"""Messages after which a customer who is never helped gives up."""
STEPS, STEPS_A_CHANGE, UNKNOWN_STEPS = 1, 1.5, 5
"""Tool calls that every case needs, further calls per change to the desk, and calls of a case that names no outcome."""
CALLS_A_REPLY, CALLS_A_STEP = 2, 3
"""Maximum number of calls assumed per reply and per tool call that a case needs."""
CALL_BYTES = (400, 2_000)
"""Bytes that a call adds to the conversation: from a short reply to an article of the knowledge base."""
REPLY_BYTES = (300, 800)
TOKENS_A_BYTE = (1 / 5, 1 / 3.2)
REPLY_TOKENS = (50, 600)
"""Tokens of one answer of a model: from a tool call to a long reply with hidden reasoning."""
CALL_S = (0.5, 10.0)
"""Seconds of one answer."""
DRIFT = 1.5
"""Factor by which an endpoint may be faster or slower than in the conversations on file."""
CACHED = 0.8
"""The largest share of a prompt that a provider's cache may supply: all but what is new since the last call."""
GUESS_IN_CASES = 5
"""Number of cases on file that carry as much weight as the guess."""
QUANTITIES = ("calls", "prompt", "completion", "cost")


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

    def corrected(self, ratio: float, cases: int) -> Range:
        """Return the range after `cases` took `ratio` times the likely value; NaN changes nothing."""
        if not (ratio > 0 and cases and self.low):
            return self
        left = GUESS_IN_CASES / (cases + GUESS_IN_CASES)
        likely, width = self.likely * ratio ** (1 - left), sqrt(left)
        low, high = (likely * (end / self.likely) ** width for end in (self.low, self.high))
        return Range(low, likely, high)

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def scaled(self, by: float) -> Range:
        """Return the range multiplied by `by`."""
        return Range(by * self.low, by * self.likely, by * self.high)

    def times(self, other: Range) -> Range:
        """Return the product of two independent quantities, which are rarely both at their ends."""
        likely = self.likely * other.likely
        if not self.low or not other.low:
            return Range(self.low * other.low, likely, self.high * other.high)
        down, up = (
            exp(hypot(log(one / self.likely), log(two / other.likely)))
            for one, two in ((self.low, other.low), (self.high, other.high))
        )
        return Range(likely / down, likely, likely * up)

    def written(self, digits: int = 0) -> str:
        """Write ``about 1,900 (1,200 to 3,100)``, with two significant digits."""
        low, likely, high = (
            rounded(float(f"{v:.2g}"), digits if v < 10 else 0) for v in (self.low, self.likely, self.high)
        )
        return f"about {likely} ({low} to {high})"


NOTHING = Range(0, 0, 0)


@dataclass(frozen=True)
class Forecast:
    """Forecast of the conversations of a run that are not `on_file`, for all models together.

    `cost_usd` is None if models are `unpriced`. `spent_usd` is the cost of the calls on file, which counts towards
    `budget_usd`. `learned_from` counts the finished conversations on file that corrected the ranges. The calls of an
    `own_agent` are not known.
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
            return [f"{head} in which Deskbench calls no language model: nothing to pay{own}"]
        lines = [head + (f", {self.on_file:,} more are on file" if self.on_file else "")]
        lines += [f"  at {url}" for url in self.base_urls]
        if self.learned_from:
            lines.append(f"  from {self.learned_from:,} conversation{'s' * (self.learned_from != 1)} on file")
        lines.append(f"  {self.calls.written()} model calls")
        tokens = f"{self.prompt_tokens.written()} prompt tokens, {self.completion_tokens.written()} completion tokens"
        lines.append(f"  {tokens}")
        if self.cost_usd is None:
            lines += [f"  cost unknown: no price for {name}\n    {how_to_add(name)}" for name in self.unpriced]
        else:
            lines.append(f"  cost {self.cost_usd.written(2) if self.cost_usd.high else 0} USD")
        at_once = f"up to {self.concurrency} conversation{'s' * (self.concurrency != 1)} at once"
        lines.append(f"  {self.minutes.written(1)} minutes with {at_once}")
        return [*lines, *self._where_the_budget_ends()]

    def _where_the_budget_ends(self) -> list[str]:
        if self.budget_usd is None or self.cost_usd is None:
            return []
        left = max(self.budget_usd - self.spent_usd, 0)
        if self.cost_usd.likely <= left:
            return []
        enough = int(self.conversations * left / self.cost_usd.likely)
        spent = f", of which {self.spent_usd:.2f} is spent," if self.spent_usd else ""
        of = f"about {enough:,} of {self.conversations:,} conversations"
        return [f"  a budget of {self.budget_usd:g} USD{spent} is likely to stop this after {of}"]


@dataclass
class OnFile:
    """Finished conversations by case, and their totals by side and quantity (NaN: unknown)."""

    conversations: Counter[str] = field(default_factory=Counter)
    took: defaultdict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))

    def ratio(self, side: str, name: str, likely: dict[str, float]) -> float:
        """Return what a side's conversations took, relative to what was `likely` for each case."""
        guessed = sum(count * likely[case_id] for case_id, count in self.conversations.items())
        return self.took[side, name] / guessed if guessed else nan


def forecast(plan: Plan, finished: Iterable[tuple[str, int]] = ()) -> Forecast:
    """Forecast the conversations of a plan that are not `finished`; only language models count."""
    pairs, done = [(case.id, trial) for case, trial in plan.pairs()], set(finished)
    missing = Counter(case_id for case_id, trial in pairs if (case_id, trial) not in done)
    to_play = missing.total()
    known = _on_file(plan) if to_play else OnFile()
    totals = dict.fromkeys(QUANTITIES, NOTHING)
    for side, model in plan.models.items():
        guesses = {case.id: _guess(plan, case, side, model) for case in plan.cases}
        for name in QUANTITIES:
            ahead = sum((guesses[case_id][name].scaled(count) for case_id, count in missing.items()), NOTHING)
            ratio = known.ratio(side, name, {case_id: guess[name].likely for case_id, guess in guesses.items()})
            totals[name] += ahead.corrected(ratio, len(known.conversations))
    at_once = max(1, min(plan.concurrency, to_play))
    in_a_row = totals["calls"].scaled(1 / at_once)
    in_a_row = replace(in_a_row, high=in_a_row.high * (2 - 1 / at_once))  # the longest conversation may begin last
    unpriced = tuple(m.endpoint.model for m in plan.models.values() if m.listed is None)
    return Forecast(
        conversations=to_play,
        on_file=len(done & {*pairs}),
        calls=totals["calls"],
        prompt_tokens=totals["prompt"],
        completion_tokens=totals["completion"],
        cost_usd=None if unpriced else totals["cost"],
        minutes=in_a_row.times(_seconds(known)).scaled(1 / 60),
        unpriced=unpriced,
        concurrency=at_once,
        base_urls=tuple(dict.fromkeys(m.endpoint.base_url for m in plan.models.values())),
        budget_usd=plan.budget_usd,
        spent_usd=RunFile(plan.path).cost()[0] if plan.path.exists() else 0.0,
        own_agent=plan.own_agent is not None,
        learned_from=known.conversations.total(),
    )


def _guess(plan: Plan, case: Case, side: str, model: Model) -> dict[str, Range]:
    begun = 0
    if plan.store.foreign:  # it may begin in the middle of a chat
        begun = getattr(plan.store.foreign.resumed(None, case), "taken_over", 0)
    messages = (case.limit or plan.messages) - max(begun - 1, 0)
    steps = STEPS + STEPS_A_CHANGE * len(case.outcomes[0].calls) if case.outcomes else UNKNOWN_STEPS
    replies = min(messages, 2), min(messages, PATIENCE)
    if side == "agent":
        most = CALLS_A_REPLY * replies[1] + CALLS_A_STEP * min(steps, 2 * messages)
        calls, added = Range.of(replies[0] + min(steps, messages - 1), most), CALL_BYTES
        fixed = len(plan.prompt_of(case).encode()) + len(orjson.dumps(plan.schemas))
    else:  # one call per reply of the agent, or two with a correction
        calls, added = Range.of(replies[0], 2 * replies[1]), REPLY_BYTES
        fixed = len(customer_prompt(case, plan.store.of(case), case.limit or plan.messages).encode())
    # a call sends everything said so far, which is half of the whole conversation on average
    sent = [count * (fixed + count * more / 2) for count, more in zip((calls.low, calls.high), added, strict=True)]
    limit = next((model.settings[name] for name in LIMIT_NAMES if model.settings.get(name)), REPLY_TOKENS[1])
    prompt = Range.of(*sent).times(Range.of(*TOKENS_A_BYTE))
    completion = calls.times(Range.of(*(min(tokens, limit) for tokens in REPLY_TOKENS)))
    return {"calls": calls, "prompt": prompt, "completion": completion, "cost": _cost(prompt, completion, model)}


def _cost(prompt: Range, completion: Range, model: Model) -> Range:
    # the low end assumes a cached prompt, the likely value half of that, the high end none
    ends = ((prompt.low, completion.low, CACHED), (prompt.likely, completion.likely, CACHED / 2))
    used = (
        Usage(int(sent), int(answered), cached_tokens=int(cached * sent), calls=1)
        for sent, answered, cached in (*ends, (prompt.high, completion.high, 0.0))
    )
    return Range(*(model.price(usage) or 0.0 for usage in used))


def _seconds(known: OnFile) -> Range:
    # the seconds of one call; an endpoint's speed drifts, even after many conversations
    calls, waited = (sum(n for (_, name), n in known.took.items() if name == wanted) for wanted in ("calls", "seconds"))
    seconds = Range.of(*CALL_S)
    if not calls:
        return seconds
    return seconds.corrected(waited / calls / seconds.likely, len(known.conversations)).times(
        Range.of(1 / DRIFT, DRIFT)
    )


def _on_file(plan: Plan) -> OnFile:
    known = OnFile()
    if not plan.models or not plan.path.exists():
        return known
    run = RunFile(plan.path)
    finished = {key for key, ending in run.endings().items() if ending not in NOT_SCORED} & {
        (case.id, trial) for case, trial in plan.pairs()
    }
    known.conversations.update(case_id for case_id, _ in finished)
    for call in run.calls():
        side, prompt, completion = call["side"], call["prompt_tokens"], call["completion_tokens"]
        if side not in plan.models or (call["case_id"], call["trial"]) not in finished:
            continue
        cost = None
        if prompt is not None:
            used = Usage(prompt, completion, cached_tokens=call["cached_tokens"] or 0, calls=1)
            cost = plan.models[side].price(used)
        waited = call["latency_s"] or 0.0
        took = {"calls": 1, "prompt": prompt, "completion": completion, "cost": cost, "seconds": waited}
        for name, value in took.items():
            known.took[side, name] += nan if value is None else value
    return known
