"""Forecast a run: calls, tokens, money and minutes, each likely within a factor.

A case says how many tool calls and messages it may need. Sizes turn these into tokens, and prices turn tokens into
money. Finished conversations of this run, or else of other runs with the same inputs, correct the guess.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from contextlib import suppress
from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import orjson

from ..cases import Case
from ..conversation.model_customer import customer_prompt
from ..endpoint.prices import how_to_add
from ..errors import BadInput
from ..records import Usage
from ..runfile import SUFFIX, RunFile, addresses
from ..scoring.written import rounded
from .manifest import public_url
from .plan import Model, Plan

PATIENCE = 6
"""Messages after which a customer who is never helped gives up."""
STEPS, STEPS_A_CHANGE, UNKNOWN_STEPS = 1, 1.5, 5
"""Tool calls that every case needs, further calls per change to the desk, and calls of a case without outcomes."""
CALLS_A_REPLY, CALLS_A_STEP = 2, 3
"""Maximum number of calls assumed per reply and per tool call that a case needs."""
CALL_BYTES, REPLY_BYTES = 1_900, 500
"""Likely bytes that a call adds to the agent's conversation, and a reply to the customer's."""
TOKENS_A_BYTE, REPLY_TOKENS, CALL_S = 0.25, 170, 2.2
"""Likely tokens of a byte, tokens of one answer and seconds of one answer."""
CACHED = 0.4
"""Likely share of a prompt that comes from the provider's cache."""
WITHIN = {"calls": 2.2, "prompt_tokens": 3.5, "completion_tokens": 4.5, "cost_usd": 5.5, "minutes": 8.0}
"""Factor by which a run without conversations on file may take more or less than is likely."""
GUESS_IN_CASES = 5
"""Number of cases on file that carry as much weight as the guess."""
FREE_TO_DIFFER = frozenset({"seed", "store"})
"""Inputs that may differ in another run from which a forecast learns; its tools tell the kind of its store."""
Took = dict[str, float]
"""What something takes, by the names of `WITHIN`; NaN if unknown."""


@dataclass(frozen=True)
class Range:
    """A range: lowest, likely and highest value."""

    low: float
    likely: float
    high: float

    @classmethod
    def within(cls, factor: float, likely: float) -> Range:
        """Return the range from a likely value divided by a factor to that multiplied by it."""
        return cls(likely / factor, likely, likely * factor)

    def written(self, digits: int = 0) -> str:
        """Write ``about 1,900 (1,200 to 3,100)``, with two significant digits."""
        low, likely, high = (
            rounded(float(f"{v:.2g}"), digits if v < 10 else 0) for v in (self.low, self.likely, self.high)
        )
        return f"about {likely} ({low} to {high})"


@dataclass(frozen=True)
class Forecast:
    """Forecast of the conversations of a run that are not `on_file`, for all models together.

    `cost_usd` is None if models are `unpriced`. `learned_from` counts the conversations that corrected the ranges.
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
    learned_from: int = 0
    own_agent: bool = False

    def sentences(self, name: str | None) -> list[str]:
        """Return the forecast as text for a person, one line per item."""
        head = f"forecast for {name}: {self.conversations:,} conversation{'s' * (self.conversations != 1)}"
        if not self.conversations:
            return [f"forecast for {name}: nothing to play, all {self.on_file:,} conversations are on file"]
        if not self.calls.high:
            own = "the agent's own calls are not known, nor their cost"
            cost = own if self.own_agent else "nothing to pay"
            return [f"{head} in which Deskbench calls no language model: {cost}"]
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
        return lines


def forecast(plan: Plan, finished: Container[tuple[str, int]] = ()) -> Forecast:
    """Forecast the conversations of a plan that are not `finished`; only language models count."""
    missing = Counter(case.id for case, _ in plan.missing(finished))
    to_play = missing.total()
    known, took = _on_file(plan) if to_play and plan.models else (Counter[str](), dict[str, Took]())
    left = GUESS_IN_CASES / (len(known) + GUESS_IN_CASES)
    likely = dict.fromkeys(WITHIN, 0.0)
    for side, model in plan.models.items():
        guesses = {case.id: _guess(plan, case, side, model) for case in plan.cases}
        for name in WITHIN:
            ahead, behind = (sum(n * guesses[case_id][name] for case_id, n in of.items()) for of in (missing, known))
            ratio = took[side][name] / behind if side in took and behind else nan
            likely[name] += ahead * (ratio ** (1 - left) if ratio > 0 else 1)
    at_once = max(1, min(plan.options.concurrency, to_play))
    likely["minutes"] /= at_once
    ranges: dict[str, Any] = {name: Range.within(WITHIN[name] ** sqrt(left), likely[name]) for name in WITHIN}
    unpriced = tuple(m.endpoint.model for m in plan.models.values() if m.listed is None)
    return Forecast(
        conversations=to_play,
        on_file=sum(1 for _ in plan.pairs()) - to_play,
        **ranges | ({"cost_usd": None} if unpriced else {}),
        unpriced=unpriced,
        concurrency=at_once,
        base_urls=tuple(dict.fromkeys(m.endpoint.base_url for m in plan.models.values())),
        own_agent=plan.own_agent is not None,
        learned_from=known.total() if took else 0,
    )


def _guess(plan: Plan, case: Case, side: str, model: Model) -> Took:
    begun = 0
    if plan.store.foreign:  # it may begin in the middle of a chat
        begun = getattr(plan.store.foreign.resumed(None, case), "taken_over", 0)
    messages = (case.limit or plan.options.messages) - max(begun - 1, 0)
    steps = STEPS + STEPS_A_CHANGE * len(case.outcomes[0].calls) if case.outcomes else UNKNOWN_STEPS
    few, many = min(messages, 2), min(messages, PATIENCE)
    if side == "agent":
        most = CALLS_A_REPLY * many + CALLS_A_STEP * min(steps, 2 * messages)
        calls, added = sqrt((few + min(steps, messages - 1)) * most), CALL_BYTES
        fixed = len(plan.prompt_of(case).encode()) + len(orjson.dumps(plan.schemas))
    else:  # one call per reply of the agent, or two with a correction
        calls, added = sqrt(few * 2 * many), REPLY_BYTES
        fixed = len(customer_prompt(case, plan.store.of(case), case.limit or plan.options.messages).encode())
    # a call sends everything said so far, which is half of the whole conversation on average
    prompt = TOKENS_A_BYTE * calls * (fixed + calls * added / 2)
    completion = calls * min(model.limit or REPLY_TOKENS, REPLY_TOKENS)
    used = Usage(int(prompt), int(completion), cached_tokens=int(CACHED * prompt), calls=1)
    taken = (calls, prompt, completion, model.price(used) or 0.0, calls * CALL_S / 60)
    return dict(zip(WITHIN, taken, strict=True))


def _on_file(plan: Plan) -> tuple[Counter[str], dict[str, Took]]:
    # the finished conversations on file by case, and what they took by side
    known, took = Counter[str](), dict[str, Took]()
    for finished, calls in _runs(plan):
        known.update(case_id for case_id, _ in finished)
        for call in calls:
            side, prompt, completion = call["side"], call["prompt_tokens"], call["completion_tokens"]
            if side not in plan.models or (call["case_id"], call["trial"]) not in finished:
                continue
            cost = None
            if prompt is not None:
                used = Usage(prompt, completion, cached_tokens=call["cached_tokens"] or 0, calls=1)
                cost = plan.models[side].price(used)
            total = took.setdefault(side, dict.fromkeys(WITHIN, 0.0))
            minutes = (call["latency_s"] or 0.0) / 60
            for name, value in zip(WITHIN, (1, prompt, completion, cost, minutes), strict=True):
                total[name] += nan if value is None else value
    return known, took


def _runs(plan: Plan) -> list[tuple[set[tuple[str, int]], list[dict[str, Any]]]]:
    # finished conversations and calls of this run, or else of the runs in its folder with the same models and inputs;
    # only unchanged cases count, and a copy counts once
    urls = {side: [public_url(model.endpoint.base_url)] for side, model in plan.models.items()}
    cases = {(case.id, case.hash) for case in plan.cases}
    found = {}
    for path in [plan.path, *sorted(plan.path.parent.glob(f"*{SUFFIX}"))]:
        with suppress(BadInput):
            run = RunFile(path)
            own, manifest = path == plan.path, run.manifest
            if own or (addresses(manifest) == urls and _inputs(manifest) == _inputs(plan.manifest)):
                hashes = manifest["cases"]
                finished = {key for key in run.finished(retry=True) if (key[0], hashes.get(key[0])) in cases}
                found[run.run_id] = finished, [*run.calls()]
                if own and finished:
                    break
    return [*found.values()]


def _inputs(manifest: dict[str, Any]) -> dict[str, str]:
    return {name: part["hash"] for name, part in manifest["inputs"].items() if name not in FREE_TO_DIFFER}
