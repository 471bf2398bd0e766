"""What finished conversations on file teach a forecast: how far its guesses were off, and how much that differs from intent to intent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, hypot, log, sqrt
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..records import NOT_SCORED, Usage
from ..runfile import SUFFIX, RunFile
from .manifest import addresses, public_url
from .plan import Plan

FREE_TO_DIFFER = frozenset({"seed"})
"""Inputs of a run in which a conversation may differ from those that are forecast."""
SCATTER, WORTH = 0.5, 1
"""How far an intent is off its forecast before any was seen, as a share of it, and how many intents that guess counts
as."""
UNSEEN = 0.35
"""How far all may be off together, as a share, where no intent to be played is on file: who plays some first seldom
draws them at random."""
DOUBT = 1.6
"""How many times wider a range without any conversation on file is taken to be where it is weighed against some."""
CERTAINTY = 0.95
"""Each end of a range is passed once in twenty times."""
QUANTITIES = ("calls", "prompt", "completion", "cost", "seconds")


@dataclass
class OnFile:
    """What the conversations of one case on file took: how many they are, and by side the sums of each of `QUANTITIES`.

    A sum is None where a call reported no tokens, or its price is not known.
    """

    conversations: int = 0
    took: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def add(self, side: str, one: dict[str, float | None]) -> None:
        """Add what one call took."""
        sums = self.took.setdefault(side, dict.fromkeys(QUANTITIES, 0.0))
        for name, value in one.items():
            known = sums[name]
            sums[name] = None if known is None or value is None else known + value


@dataclass
class Experience:
    """One quantity, intent by intent: what it was and what was forecast on file, and what is forecast of those to be played.

    Cases of one intent are alike, so that many of them say little about the others: they count as one.
    """

    seen: dict[str, tuple[float, float]] = field(default_factory=dict)
    ahead: dict[str, float] = field(default_factory=dict)

    def add(self, intent: str, said: float, actual: float | None, ahead: float) -> None:
        """Add a case: what was forecast of its conversations on file and what they took, and what is forecast of those to be played."""
        if said and actual:
            before = self.seen.get(intent, (0.0, 0.0))
            self.seen[intent] = before[0] + actual, before[1] + said
        if ahead:
            self.ahead[intent] = self.ahead.get(intent, 0.0) + ahead

    def correct(self, low: float, likely: float, high: float) -> tuple[float, float, float]:
        """A range moved by the ratio of actual to forecast, and as wide as the scatter of that ratio between intents makes it.

        A guess made before is weighed against what was seen by the width of both, so one intent alone moves little.
        """
        if not self.seen or not self.ahead or not low:
            return low, likely, high
        from scipy.stats import t

        took, guessed = zip(*self.seen.values(), strict=True)
        ratio = sum(took) / sum(guessed)
        said = [ratio * one for one in guessed]
        off = sum((actual - here) ** 2 for actual, here in zip(took, said, strict=True))
        intents, freedom = _as_many(said), len(said) - 1 + WORTH
        scatter = sqrt((WORTH * SCATTER**2 + len(said) * off / sum(here**2 for here in said)) / freedom)
        reach = float(t.ppf(CERTAINTY, freedom)) * scatter
        before, found = log(high / low) / 2, reach / sqrt(intents)
        guess = DOUBT * before
        both = guess * found / hypot(guess, found)
        middle = likely * ratio ** (guess**2 / (guess**2 + found**2))
        new = sum(size for intent, size in self.ahead.items() if intent not in self.seen) / sum(self.ahead.values())
        width = exp(min(before, hypot(both, reach / sqrt(_as_many([*self.ahead.values()])), UNSEEN * new)))
        return middle / width, middle, middle * width


def _as_many(sizes: Sequence[float]) -> float:
    """How many intents of one size are as good an average as these."""
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def on_file(plan: Plan) -> dict[str, OnFile]:
    """What finished conversations took, by case: those of the same models, endpoints and inputs in the folder of a run."""
    found: dict[str, OnFile] = defaultdict(OnFile)
    for run, wanted in _alike(plan) if plan.models else ():
        try:
            endings, calls = run.endings(), [*run.calls()]
        except BadInput:
            continue
        finished = {key for key, ending in endings.items() if ending not in NOT_SCORED and key[0] in wanted}
        for case_id, _ in finished:
            found[case_id].conversations += 1
        for call in calls:
            if call["side"] in plan.models and (call["case_id"], call["trial"]) in finished:
                found[call["case_id"]].add(call["side"], _took(call, plan.models[call["side"]].price))
    return found


def _alike(plan: Plan) -> list[tuple[RunFile, set[str]]]:
    """The run files in the folder of a plan that were played like it, each with the cases whose text is the same.

    Each run counts once, by itself or in a file that it was merged into.
    """
    urls = {side: [public_url(model.endpoint.base_url)] for side, model in plan.models.items()}
    found, merged = {}, set()
    for path in sorted(Path(plan.path).parent.glob(f"*{SUFFIX}")):
        try:
            run = RunFile(path)
            manifest = run.manifest
        except BadInput:
            continue
        if addresses(manifest) == urls and _inputs(manifest) == _inputs(plan.manifest):
            merged |= {*manifest.get("merged", ())}
            found[run.run_id] = run, {case.id for case in plan.cases if manifest["cases"].get(case.id) == case.hash}
    return [one for run_id, one in found.items() if run_id not in merged]


def _inputs(manifest: dict[str, Any]) -> dict[str, str]:
    return {name: part["hash"] for name, part in manifest["inputs"].items() if name not in FREE_TO_DIFFER}


def _took(call: dict[str, Any], price: Callable[[Usage], float | None]) -> dict[str, float | None]:
    prompt, completion = call["prompt_tokens"], call["completion_tokens"]
    cost = (
        None if prompt is None else price(Usage(prompt, completion, cached_tokens=call["cached_tokens"] or 0, calls=1))
    )
    seconds = call["latency_s"] or 0.0
    return {"calls": 1.0, "prompt": prompt, "completion": completion, "cost": cost, "seconds": seconds}
