"""Read from a header or the words of an error how long an endpoint asks clients to wait."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_MEANT_S = 7 * 86_400.0
"""A longer requested wait is a mistake and is ignored."""
LONGEST_GUESS_S = 120.0
"""A longer time until a reset counts as a wait only if the matching header says that nothing remains."""
UNITS = {"milli": 0.001, "ms": 0.001, "m": 60.0, "h": 3600.0, "s": 1.0, "d": 86_400.0}
"""Seconds per unit by the beginning of its name; the first match applies."""
WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
WORDS |= {"nine": 9, "ten": 10, "fifteen": 15, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90}
NUMBER = rf"(?:\d+(?:\.\d+)?|(?:{'|'.join(WORDS)})(?= ))"
PIECE = rf"{NUMBER} ?(?:milliseconds?|ms|minutes?|mins?|m|hours?|hrs?|h|seconds?|secs?|s|days?|d)"
WHOLE = re.compile(rf"{PIECE}(?:(?:,? and |,? ?){PIECE})*", re.IGNORECASE)
CLOCK = r"(?:\d+:)?[0-5]?\d:[0-5]\d(?:\.\d+)?"
MOMENT = (
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.]*(?: ?Z| ?UTC|[+-]\d\d:?\d\d)?"
    r"|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT"
)
ASKED = (
    r"(?:try(?:ing)?(?: again)?|retr(?:y|ied|ying)|wait(?:ing)?|available|allowed|resets?|retry_?delay"
    r"|slow down|cool ?down)"
)
IN_WORDS = re.compile(
    rf"{ASKED}(?:[ _-](?:your request|again|in|after|for|at|until|on|least|about|approximately|around))*"
    rf"[\W_]{{1,6}}({MOMENT}|{CLOCK}(?![\d:]| ?[ap]\.?m\b)|{WHOLE.pattern}(?![a-z]))",
    re.IGNORECASE,
)
TIME_OF_DAY = re.compile(rf"(?:at|until|on|resets?)[\W_]+{CLOCK}$", re.IGNORECASE)
"""A time of day without date and zone is ignored."""
CHINESE_JAPANESE = re.compile(r"(\d+) ?(秒|分)[钟鐘間]?之?[后後]")
LIMIT = re.compile(r"\b(?:r|remaining) ?= ?0\b.*?\b(?:t|reset) ?= ?(\d+)")
"""The header ``RateLimit`` of the IETF's drafts when nothing remains, as ``"default";r=0;t=25``, ``remaining=0,
reset=35``."""
BARE = re.compile(r"retry[ _-]?after(?:_?(ms)|_?seconds)?\W{1,5}(\d+(?:\.\d+)?)(?![\w.:-])", re.IGNORECASE)


def _meant(seconds: float | None) -> float | None:
    return seconds if seconds is not None and 0 <= seconds <= LONGEST_MEANT_S else None


def _duration(text: str) -> float | None:
    # The seconds of ``45``, ``1m12s``, ``00:01:12`` or ``two minutes``.
    if re.fullmatch(CLOCK, text):
        return sum(float(part) * 60.0**place for place, part in enumerate(reversed(text.split(":"))))
    with suppress(ValueError):
        return float(text)
    if not WHOLE.fullmatch(text):
        return None
    pieces = re.findall(rf"({NUMBER}) ?([a-z]+)", text.lower())
    return sum(
        float(WORDS.get(n, n)) * next(s for start, s in UNITS.items() if unit.startswith(start)) for n, unit in pieces
    )


def wait_in(text: str) -> float | None:
    """Return the wait in seconds that the words of an error ask for, or None."""
    if found := next((asked for asked in IN_WORDS.finditer(text) if not TIME_OF_DAY.search(asked[0])), None):
        return _meant(_until(found[1], datetime.now(UTC)))
    if found := CHINESE_JAPANESE.search(text):
        return _meant(float(found[1]) * (1.0 if found[2] == "秒" else 60.0))
    bare = BARE.search(text)
    return _meant(float(bare[2]) * (0.001 if bare[1] else 1.0)) if bare else None


def asked_for(headers: Mapping[str, str], status: int = 429, now: datetime | None = None) -> float | None:
    """Return the wait in seconds that the headers of an answer ask for, or None.

    A gateway passes on a provider's header with its own prefix. The times of the next resets, which every answer has,
    count only with status 429 and only for a limit that is used up.
    """
    by_name = {name.lower(): (value or "").strip() for name, value in headers.items()}
    now = now or datetime.now(UTC)
    for ending in ("retry-after-ms", "retry-after"):
        for name, value in by_name.items():
            if name.endswith(ending) and (seconds := _meant(_until(value, now, name.endswith("-ms")))) is not None:
                return seconds
    if status != 429:
        return None
    resets = []
    for name, value in by_name.items():
        if "reset" in name and "limit" in name and (seconds := _meant(_until(value, now))) is not None:
            left = _duration(by_name.get(name.replace("reset", "remaining"), ""))
            if left == 0 or (left is None and seconds <= LONGEST_GUESS_S):
                resets.append(seconds)
    if (limit := LIMIT.search(by_name.get("ratelimit", ""))) and _meant(float(limit[1])) is not None:
        resets.append(float(limit[1]))
    return max(resets, default=None)


def _until(value: str, now: datetime, in_ms: bool = False) -> float | None:
    # The seconds to wait that a text gives as a duration, a date or a Unix time.
    # A bare number is in milliseconds with `in_ms`, and also if it would be implausible in seconds.
    seconds, bare = _duration(value), re.fullmatch(r"\d+(?:\.\d+)?", value)
    if seconds is not None and seconds > 1e9:
        return seconds / (1000.0 if seconds > 1e12 else 1.0) - now.timestamp()
    if seconds is not None:
        return seconds / 1000.0 if bare and (in_ms or seconds > LONGEST_MEANT_S) else seconds
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        with suppress(TypeError, ValueError, OverflowError):
            moment = read(value.removesuffix(" UTC"))
            return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds())
    return None
