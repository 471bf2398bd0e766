"""Read from a header or the words of an error how long an endpoint asks clients to wait."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

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
