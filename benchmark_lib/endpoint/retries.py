"""One retry layer and one limit on requests in flight, for all calls to an endpoint."""

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_RETRY_AFTER_S = 120.0
FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S = 1.0, 30.0, 1.0
LONGEST_MEANT_S = 7 * 86_400.0
"""A longer requested wait is a mistake and is ignored."""
UNITS = {"ms": 0.001, "milli": 0.001, "m": 60.0, "h": 3600.0, "s": 1.0}
"""Seconds per unit by the beginning of its name; the first match applies."""
PIECE = r"(\d+(?:\.\d+)?) ?(milliseconds?|ms|minutes?|mins?|m|hours?|hrs?|h|seconds?|secs?|s)(?![a-z])"
IN_WORDS = re.compile(
    rf"(?:try(?:ing)?(?: again)?|retr(?:y|ied|ying)|wait|available|resets?|retry_?delay)"
    rf"(?:[ _-](?:again|in|after|for|about))*[\W_]{{1,6}}({PIECE}(?:(?: and|,)? ?{PIECE})*)",
    re.IGNORECASE,
)


def wait_before(attempt: int, asked_s: float | None) -> float:
    """Return the seconds to wait before an attempt (from 2): as requested, or doubled each time."""
    doubled = min(FIRST_WAIT_S * 2.0 ** (attempt - 2) + random.uniform(0.0, JITTER_S), LONGEST_WAIT_S)
    return asked_s or doubled


class Limiter:
    """Limit on requests in flight: halved by a rate refusal, raised again by successes.

    Additive increase, multiplicative decrease, as in TCP congestion control (Chiu and Jain, 1989). `limit` successes
    raise the limit by one, to at most `most`. A refusal halves it, unless the request was already under way at the last
    halving. Use ``async with limiter:`` around one attempt; requests are served in order of arrival.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._halved_at = float("-inf")

    async def __aenter__(self) -> float:
        """Wait for a place and return the time at which it was given, for `refused`."""
        if self._waiting or self.in_flight >= int(self.limit):
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():  # the place had just been given: pass it on
                    await self.__aexit__()
                raise
        else:
            self.in_flight += 1
        return time.monotonic()

    async def __aexit__(self, *_: object) -> None:
        """Give the place back, to those who wait for one."""
        self.in_flight -= 1
        while self._waiting and self.in_flight < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)

    def succeeded(self) -> None:
        """Note an answer: raise the limit by one over the number of requests allowed in flight."""
        if self.limit < self.most:
            self.limit = min(float(self.most), self.limit + 1.0 / self.limit)

    def refused(self, sent_at: float) -> None:
        """Note that a request sent at `sent_at` was refused by the rate limit."""
        if sent_at > self._halved_at:
            self.limit = max(1.0, self.limit / 2)
            self._halved_at = time.monotonic()


def start_delay_s(index: int, concurrency: int, latency_s: float) -> float:
    """Return the seconds that conversation `index` (from 0) waits before its first call.

    The first `concurrency` starts are spread evenly over the time of one call, so that calls do not come in waves.
    Later conversations start when an earlier one ends, without a wait.
    """
    return latency_s * index / concurrency if index < concurrency else 0.0


def wait_in(text: str) -> float | None:
    """Return the wait in seconds that the words of an error ask for, or None."""
    found = IN_WORDS.search(text)
    if not found:
        return None
    pieces = re.findall(PIECE, found[1].lower())
    return _meant(sum(float(n) * next(s for start, s in UNITS.items() if u.startswith(start)) for n, u in pieces))


def asked_for(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the wait in seconds that the headers of an answer ask for, or None.

    A gateway passes on a provider's header with its own prefix.
    """
    for ending, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        for value in (value or "" for name, value in headers.items() if name.lower().endswith(ending)):
            with suppress(ValueError):
                return _meant(unit * float(value))
            with suppress(TypeError, ValueError, OverflowError):
                moment = parsedate_to_datetime(value)
                wait_s = (moment.replace(tzinfo=moment.tzinfo or UTC) - (now or datetime.now(UTC))).total_seconds()
                return _meant(max(0.0, wait_s))
    return None


def _meant(seconds: float) -> float | None:
    return seconds if 0 <= seconds <= LONGEST_MEANT_S else None
