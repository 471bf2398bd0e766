"""One retry layer and one bound on what is in flight, for every call of an endpoint."""

import asyncio
import random
import time
from collections import deque

LONGEST_RETRY_AFTER_S = 120.0
FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S = 1.0, 30.0, 1.0


def wait_before(attempt: int, asked_s: float | None) -> float:
    """Return the seconds before attempt number `attempt` (from 2): as the endpoint asks, else doubling from one."""
    doubled = min(FIRST_WAIT_S * 2.0 ** (attempt - 2) + random.uniform(0.0, JITTER_S), LONGEST_WAIT_S)
    return asked_s or doubled


class Limiter:
    """Bound on the requests in flight: halved when the endpoint refuses one for its rate, grown back by successes.

    Additive increase, multiplicative decrease, as in TCP congestion control (Chiu and Jain, 1989): `limit` successes
    raise the limit by one, to `most` at most; a refusal halves it, and refusals of requests that were under way at the
    last halving do not halve it again. Used as ``async with limiter:`` around one attempt, first come, first served.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved_at = float("-inf")

    async def __aenter__(self) -> float:
        """Wait for a place; returns the time at which it was given, for `refused`."""
        if self._waiting or self.in_flight >= int(self.limit):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():  # the place had just been given: hand it on
                    self._release()
                raise
        else:
            self.in_flight += 1
        return time.monotonic()

    async def __aexit__(self, *_: object) -> None:
        """Give the place back."""
        self._release()

    def succeeded(self) -> None:
        """Note an answer: the limit grows by one over as many answers as are allowed in flight."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1.0 / self.limit)

    def refused(self, sent_at: float) -> None:
        """Note a refusal for the rate of a request sent at `sent_at`."""
        if sent_at > self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = time.monotonic()

    def _release(self) -> None:
        self.in_flight -= 1
        while self._waiting and self.in_flight < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


def start_delay_s(index: int, concurrency: int, latency_s: float) -> float:
    """Return how long the conversation number `index` (from 0) waits before its first call, in seconds.

    Spreads the first `concurrency` starts evenly over the time one call takes, so that calls do not come in waves for
    the rest of the run. Later conversations start when an earlier one ends and wait for nothing.
    """
    return latency_s * index / concurrency if index < concurrency else 0.0
