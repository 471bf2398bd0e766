"""Limit spending: estimate the highest cost of a call, and enforce the budget of a run."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..records import Usage
from ..scoring import written

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


class CallCost:
    """Upper estimate of the next call's cost for one side, from the settings and earlier calls.

    `price` turns usage into US dollars (None if no price is known). A token limit in the settings bounds the reply.
    """

    def __init__(self, price: Callable[[Usage], float | None], settings: dict[str, Any]):
        self.price = price
        self._limit = next((int(settings[name]) for name in LIMIT_NAMES if settings.get(name)), None)
        self._largest, self._tokens_a_byte = 0, 0.0

    def cost(self, request_bytes: int) -> float:
        """Return an upper estimate in US dollars for a request of this size."""
        prompt = request_bytes * (1.05 * self._tokens_a_byte or 1 / BYTES_A_TOKEN)
        reply = self._limit or (MARGIN * self._largest if self._largest else FIRST_COMPLETION)
        return self.price(Usage(prompt_tokens=int(prompt) + 1, completion_tokens=int(reply), calls=1)) or 0.0

    def learn(self, request_bytes: int, usage: Usage) -> None:
        """Update the estimate with the usage of a finished call."""
        self._largest = max(self._largest, usage.completion_tokens)
        self._tokens_a_byte = max(self._tokens_a_byte, usage.prompt_tokens / max(request_bytes, 1))


class Budget:
    """A limit in US dollars for the total cost of a run file; each call first reserves its cost.

    With a token limit in the settings, the sum never exceeds the limit. Without one, a reply that is much larger than
    all earlier replies may exceed the budget by the difference.
    """

    def __init__(self, limit_usd: float | None, spent_usd: float):
        self.limit, self.spent, self.reserved = limit_usd, spent_usd, 0.0
        self._changed = asyncio.Event()

    async def reserve(self, usd: float) -> bool:
        """Wait until `usd` fits in the budget and reserve it; return False if it never will."""
        if self.limit is not None:
            while self.spent + self.reserved + usd > self.limit:
                if self.reserved <= 0:
                    return False
                self._changed.clear()
                await self._changed.wait()
        self.reserved += usd
        return True

    def passed(self, usd: float) -> Stop:
        """Return the stop of a run whose next call, at up to `usd`, does not fit."""
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
