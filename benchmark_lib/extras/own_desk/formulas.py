"""Evaluate formulas over a row, the policy and the day, in the sandbox of templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from ...cases.facts import money
from ...errors import BadInput
from ...store.calendar import add_business_days
from ...textfiles import render

if TYPE_CHECKING:
    from .desk_file import DeskFile


def evaluated(formula: Any, where: str, names: Mapping[str, Any]) -> Any:
    """Return the value of a formula: yes or no, a whole number, a text, or None.

    Raise `BadInput` with its place for a formula that cannot be evaluated, such as one with an unknown name.
    """
    if not isinstance(formula, str):
        return formula
    text = render("{{ (" + formula + ") }}", f"{where}: the formula {formula[:80]!r}", **names)
    constants = {"True": True, "False": False, "None": None, "": None}
    if text in constants:
        return constants[text]
    return int(text) if re.fullmatch(r"-?\d{1,15}", text) else text


def joined(row: Mapping[str, Any], desk: DeskFile, row_of: Callable[[str, str], Any]) -> dict[str, Any]:
    """Return a row with the columns of the rows that it refers to by key; its own columns win."""
    found, tables = dict(row), [*desk.tables.items()]
    for name, table in tables * len(tables):
        found = {**(row_of(name, str(found.get(table.key))) or {}), **found}
    return found


def joined_in(store: Any, table: str, key: Any, desk: DeskFile) -> dict[str, Any] | None:
    """Return a row of the store's table as `joined`; None if there is none with this key."""
    row = store.tables[table].get(str(key))
    return row and joined(row, desk, lambda name, other: store.tables[name].get(other))


def names_of(
    store: Any, row: Mapping[str, Any], given: Mapping[str, Any], knows: Mapping[str, Any], **sender: str
) -> dict[str, Any]:
    """Return the names of a formula: the row's columns, ``policy``, ``today`` and so on.

    `sender` has ``sender`` and ``sender_name``, where somebody writes.
    """
    today = store.now.date().isoformat()
    return {
        **row,
        **sender,
        "row": row,
        "policy": store.policy,
        "today": today,
        "given": given,
        "knows": knows,
        "days": days,
        "plus_days": plus_days,
        "plus_months": plus_months,
        "plus_business_days": lambda day, count: add_business_days(_day(day), int(count), store).isoformat(),
        "money": money,
        "min": min,
        "max": max,
    }


def days(first: str, last: str) -> int:
    """Return the days from one date to another; negative if the second is earlier."""
    return (_day(last) - _day(first)).days


def plus_days(day: str, count: int) -> str:
    """Return the date some days later."""
    return (_day(day) + timedelta(days=int(count))).isoformat()


def plus_months(day: str, count: int) -> str:
    """Return the date some months later; the last day of a shorter month."""
    from calendar import monthrange

    start = _day(day)
    month = start.month - 1 + int(count)
    year, month = start.year + month // 12, month % 12 + 1
    return date(year, month, min(start.day, monthrange(year, month)[1])).isoformat()


def _day(value: Any) -> date:
    if not isinstance(value, str | date):
        raise BadInput(f"{value!r} is not a date: write dates as 2026-06-29")
    return value if isinstance(value, date) else date.fromisoformat(value[:10])
