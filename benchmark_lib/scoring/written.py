"""How numbers are written, on every page, in every table and in every sentence."""

from __future__ import annotations

import re
from typing import Any

DASH = "–"
"""What is shown for a value that is not defined."""


def missing(value: Any) -> bool:
    """Whether there is no value: None, NaN, or pandas' NA and NaT."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # NA compares as NA, a list of values is one
        return type(value).__name__ == "NAType"


_TOGETHER = re.compile(r"\([^()]{1,24}\)|\bn = [\d,]+|[\d)] %")


def unbroken(text: str) -> str:
    """A text that is broken over two lines neither within its brackets, where an interval stands, nor between a number and its unit."""
    return _TOGETHER.sub(lambda found: found.group().replace(" ", "\u00a0"), text)


def rounded(value: float | None, digits: int = 1) -> str:
    """A number with thousands separators and no minus before a zero, ``1,234.5``; a dash if it is not defined."""
    if missing(value):
        return DASH
    text = f"{value:,.{digits}f}"
    return text if text.strip("-0.,") else text.removeprefix("-")


def percent(share: float | None, digits: int = 0) -> str:
    """A share as ``8 %``; a dash if it is not defined."""
    return DASH if share is None or missing(share) else f"{rounded(100 * share, digits)} %"


def span(low: float | None, high: float | None, digits: int = 0) -> str:
    """An interval as ``5 to 13``; empty if there is none."""
    return "" if missing(low) else f"{rounded(low, digits)} to {rounded(high, digits)}"


def cost_in_words(amount: float, calls: int, unpriced: int) -> str:
    """What calls have cost: a sum, the least it can be where a price is missing, or that it is not known."""
    if not calls:
        return "nothing to pay"
    if unpriced == calls:
        return "cost unknown (no known price)"
    return f"at least {usd(amount)} ({unpriced:,} of the calls without a known price)" if unpriced else usd(amount)


def usd(amount: float, digits: int = 4) -> str:
    """A sum of money as ``0.0123 USD``."""
    return f"{rounded(amount, digits)} USD"
