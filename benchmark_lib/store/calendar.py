"""Count business days: Monday to Friday, except the store's holidays."""

from datetime import date, timedelta
from typing import Any

from ..remembered import remembered
from .protocols import Store


@remembered("policy")
def holidays(store: Store) -> tuple[date, ...]:
    """Return the store's holidays."""
    return tuple(date.fromisoformat(str(h["date"])) for h in store.policy.get("calendar", {}).get("holidays", ()))


def as_day(value: Any) -> date | None:
    """Parse a date from a row or a result; return None for anything else."""
    try:
        return date.fromisoformat(value)
    except (TypeError, ValueError):
        return None


def within_months(since: date, today: date, months: int) -> bool:
    """Return whether `today` is at most `months` calendar months after `since`."""
    full = (today.year - since.year) * 12 + today.month - since.month
    return full < months or (full == months and today.day <= since.day)


def business_days_between(first: date, last: date, store: Store) -> int:
    """Count business days after `first` up to and including `last`, with numpy's calendar."""
    import numpy as np

    return int(np.busday_count(first + timedelta(1), last + timedelta(1), holidays=list(holidays(store))))


def add_business_days(start: date, count: int, store: Store) -> date:
    """Return the date `count` business days after `start`."""
    import numpy as np

    day: date = np.busday_offset(start, count, roll="backward", holidays=list(holidays(store))).astype(object)
    return day
