"""Write numbers and the desk's values for every page, table and sentence."""

import re
from collections import Counter
from collections.abc import Iterable
from math import copysign, floor, isfinite, log10
from textwrap import shorten
from typing import Any

DASH = "–"
"""Text for a value that is not defined."""

ADDRESS = ("name", "line1", "line2", "city", "region", "postcode", "country")
"""The parts of an address in the order in which they are written."""
KINDS_SHOWN, REASON_SHOWN = 3, 160
"""Maximum number of kinds of faults that a sentence names, and of characters in a reason."""
DEEPEST = 4
"""Deepest nesting that a sentence writes out; dots replace deeper values."""
LONGEST = 20_000
"""Maximum number of characters shown of one text."""
MOST_DIGITS = 8
"""Maximum number of decimals in a sum of money."""


def missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, or pandas' NA and NaT."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA compares as NA; a list of values is a value
        return type(value).__name__ == "NAType"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun: ``1 case``, ``3 cases``."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def rounded(value: float | None, digits: int = 1) -> str:
    """Return a number with thousands separators, ``1,234.5``; a dash if it is not defined.

    Halves round away from zero; a zero has no minus.
    """
    if value is None or missing(value):
        return DASH
    # A half is rarely exact in binary, and Python rounds it to the even digit.
    half_up = value + copysign(10 ** -(digits + 9), value)
    text = f"{half_up:,.{digits}f}"
    return text if text.strip("-0.,") else text.removeprefix("-")


def digits_for(low: float, high: float, most: int = 4) -> int:
    """Return an interval's decimals: two significant digits of its width, at most `most`."""
    width = high - low
    if not isfinite(width) or width <= 0:
        return most
    return min(max(1 - floor(log10(width) + 1e-9), 0), most)


_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that are invisible or that change the reading direction."""


def visible(text: Any) -> str:
    """Return a text with its hidden characters made visible, cut after `LONGEST` characters."""
    text = str(text)
    cut = f"{text[:LONGEST]} ... ({len(text):,} characters)" if len(text) > LONGEST else text
    return _HIDDEN.sub(lambda m: f"[U+{ord(m.group()):04X}]", cut)


def words(name: Any) -> str:
    """Return a name of the data in words: ``must_escalate`` as *must escalate*."""
    return str(name).replace("_", " ")


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share as ``8%``; a dash if it is not defined."""
    return DASH if share is None or missing(share) else f"{rounded(100 * share, digits)}%"


def span(low: float | None, high: float | None, digits: int = 0) -> str:
    """Return an interval as ``5 to 13``; empty if it is not defined."""
    return "" if missing(low) else f"{rounded(low, digits)} to {rounded(high, digits)}"


def cost_in_words(amount: float, calls: int, unpriced: int, own: int | None = None) -> str:
    """Return the cost of calls in words; a missing price makes it a lower bound or unknown.

    `own` counts the calls that an own agent charged; it pays for them, and for any others.
    """
    if own is not None:
        known = f"{cost_in_words(amount, calls, unpriced)} for these, " if calls else ""
        return f"{known}cost unknown for {own or 'any'} call{'s' * (own != 1)} of the agent's own"
    if not calls:
        return "nothing to pay"
    if unpriced == calls:
        return "cost unknown (no known price)"
    if unpriced:
        return f"at least {usd(amount)} ({unpriced:,} of the calls without a known price)"
    return usd(amount)


def failed_calls(faults: Iterable[dict[str, Any]]) -> list[str]:
    """Return the kinds of failed calls (rows of `RunFile.faults`) and the commonest reason."""
    counts = Counter((fault["kind"], fault["detail"]) for fault in faults)
    if not counts:
        return []
    kinds = Counter(kind for kind, _ in counts.elements())
    (kind, detail), count = counts.most_common(1)[0]
    which = ", ".join(f"{words(name)} {number}" for name, number in kinds.most_common(KINDS_SHOWN))
    often = f" ({words(kind)}, {count} x)" if len(counts) > 1 else ""
    return [f"calls that failed permanently: {which}; commonest reason{often}: {shorten(detail, REASON_SHOWN)}"]


def money(amount: float | None, low: float | None = None, high: float | None = None) -> str:
    """Return dollars with at least two decimals and two significant digits; a dash if unknown.

    Examples: ``0.0040``, ``11.44 (10.33 to 12.55)``.
    """
    if amount is None or missing(amount):
        return DASH
    digits = max(2, min(1 - floor(log10(abs(amount))), MOST_DIGITS)) if amount else 2
    ends = span(low, high, digits)
    return f"{rounded(amount, digits)} ({ends})" if ends else rounded(amount, digits)


def usd(amount: float, digits: int = 4) -> str:
    """Return a sum of money as ``0.0123 USD``."""
    return f"{rounded(amount, digits)} USD"


def in_words(value: Any, depth: int = 0) -> str:
    """Return a value of the desk in words: lists with commas, ``yes`` for True."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (dict, list, tuple)):
        return str(value)
    if depth > DEEPEST:
        return "…"
    if isinstance(value, dict):
        return _address(value) if value and set(value) <= {*ADDRESS} else details(value, depth) or "none"
    parts = [in_words(v, depth + 1) for v in value]
    if len(parts) < 2 or _nested(value):
        return "; ".join(parts) or "none"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _nested(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(v, (dict, list, tuple)) for v in value)


def details(arguments: dict[Any, Any], depth: int = 0) -> str:
    """Return arguments by name, short ones first: ``order NL-52648, lines L1 and L2``."""
    long = {k for k, v in arguments.items() if isinstance(v, dict) or _nested(v)}
    ordered = sorted(arguments.items(), key=lambda item: item[0] in long)
    parts = [_detail(str(name), value, depth) for name, value in ordered]
    return ("; " if long else ", ").join(parts)


def _detail(name: str, value: Any, depth: int) -> str:
    several = isinstance(value, (list, tuple)) and len(value) != 1
    if name.endswith("_ids"):
        name = name.removesuffix("_ids") + "s" * several
    name = name.removesuffix("_id")
    text = in_words(value, depth + 1)
    if isinstance(value, str) and (not text or " " in text):
        text = f"“{text}”"
    elif isinstance(value, dict) and not set(value) <= {*ADDRESS}:
        text = f"({text})"
    return f"{name.replace('_', ' ')} {text}"


def _address(parts: dict[str, Any]) -> str:
    known = {name: str(parts[name]) for name in ADDRESS if parts.get(name)}
    town = " ".join(known.pop(name) for name in ("region", "postcode") if name in known)
    country = known.pop("country", "")
    return ", ".join(text for text in (*known.values(), town, country) if text)
