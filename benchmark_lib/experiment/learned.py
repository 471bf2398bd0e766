"""Corrections of a forecast by its past error on file and the variation between intents."""

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
"""Inputs that may differ between a run on file and the forecast."""
SCATTER, WORTH = 0.5, 1
"""Prior scatter of an intent around its forecast, as a share, and the weight of this prior in intents."""
UNSEEN = 0.35
"""Possible common error, as a share, for intents not on file; the first intents are seldom a random choice."""
DOUBT = 1.6
"""Factor by which a range without conversations on file is widened when weighed against observations."""
CERTAINTY = 0.95
"""Quantile of each end of a range: values exceed it once in twenty times."""
QUANTITIES = ("calls", "prompt", "completion", "cost", "seconds")


@dataclass
class OnFile:
    """Usage of one case's conversations on file; a sum is None if a call's value is unknown."""

    conversations: int = 0
    took: dict[str, dict[str, float | None]] = field(default_factory=dict)

    def add(self, side: str, one: dict[str, float | None]) -> None:
        """Add the usage of one call."""
        sums = self.took.setdefault(side, dict.fromkeys(QUANTITIES, 0.0))
        for name, value in one.items():
            known = sums[name]
            sums[name] = None if known is None or value is None else known + value


@dataclass
class Experience:
    """One quantity by intent: actual and forecast values on file, and the forecast still ahead.

    Cases of one intent are alike and say little about other intents, so each intent is one observation.
    """

    seen: dict[str, tuple[float, float]] = field(default_factory=dict)
    ahead: dict[str, float] = field(default_factory=dict)

    def add(self, intent: str, said: float, actual: float | None, ahead: float) -> None:
        """Add a case: forecast and actual use on file, and the forecast of what is missing."""
        if said and actual:
            before = self.seen.get(intent, (0.0, 0.0))
            self.seen[intent] = before[0] + actual, before[1] + said
        if ahead:
            self.ahead[intent] = self.ahead.get(intent, 0.0) + ahead

    def correct(self, low: float, likely: float, high: float) -> tuple[float, float, float]:
        """Shift a range by the ratio of actual to forecast; the ratio's scatter sets its width.

        The prior guess and the observations are weighted by the width of both, so one intent alone moves little.
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
        before, spread = log(high / low) / 2, reach / sqrt(intents)
        guess = DOUBT * before
        both = guess * spread / hypot(guess, spread)
        middle = likely * ratio ** (guess**2 / (guess**2 + spread**2))
        new = sum(size for intent, size in self.ahead.items() if intent not in self.seen) / sum(self.ahead.values())
        width = exp(min(before, hypot(both, reach / sqrt(_as_many([*self.ahead.values()])), UNSEEN * new)))
        return middle / width, middle, middle * width


def _as_many(sizes: Sequence[float]) -> float:
    """Return the effective number of intents: how many of equal size give as good an average."""
    return sum(sizes) ** 2 / sum(size**2 for size in sizes)


def on_file(plan: Plan) -> dict[str, OnFile]:
    """Return the usage by case on file, from runs of the same setting in the plan's folder."""
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
    """Return the run files that were played like the plan, each with its unchanged cases."""
    # Count each run once, alone or within a merged file.
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
