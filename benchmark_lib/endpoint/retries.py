"""One retry layer and one bound on what is in flight, for every call of an endpoint."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

LONGEST_RETRY_AFTER_S = 120.0
BACKOFF = wait_exponential_jitter(initial=1.0, max=30.0, exp_base=2, jitter=1.0)


def next_wait_s(state: RetryCallState) -> float:
    """Return the wait before the next attempt in seconds: what the endpoint asked for, else doubling from one."""
    asked = getattr(state.outcome.exception(), "retry_after_s", None) if state.outcome else None
    return asked or BACKOFF(state)


def retrying(attempts: int, wait_scale: float, before_wait: Callable[[RetryCallState], None]) -> AsyncRetrying:
    """Return the policy of an endpoint: which errors are tried again, how often, and after which wait.

    `before_wait` is told of each wait before it begins; the seconds are in ``state.next_action.sleep``.

    One policy serves all calls of a loop at once, which holds as long as no function given here awaits anything. One
    for each call would leave thirty objects in a cycle behind, and collecting them is felt at 400 calls in flight.
    """
    return AsyncRetrying(
        stop=stop_after_attempt(attempts),
        wait=lambda state: next_wait_s(state) * wait_scale,
        retry=retry_if_exception(lambda error: getattr(error, "retry", False)),
        before_sleep=before_wait,
        sleep=asyncio.sleep,
        reraise=True,
    )


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
