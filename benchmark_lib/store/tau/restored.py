"""A parsed database of tau2 restored instead of read again: its rows are copied when they are first taken, and shared until then.

Tools of tau2 change a row only after they have taken it from its table, by its key or in a walk over a list; where they
walk over a table that goes by keys, they read.
"""

import copy
from collections.abc import Iterator
from datetime import date
from enum import Enum
from typing import Any, SupportsIndex

from pydantic import BaseModel

PLAIN = {str, int, float, bool, type(None), date}
"""What most fields hold: nothing of it can change, so it needs no copy."""


class Rows(dict):
    """A table that goes by keys."""

    def __init__(self, rows: dict[str, Any]):
        super().__init__(rows)
        self.taken: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        row = super().__getitem__(key)
        if key not in self.taken:
            row = own_copy(row)
            self[key] = row
        return row

    def __setitem__(self, key: str, row: Any) -> None:
        self.taken.add(key)
        super().__setitem__(key, row)

    def get(self, key: str, default: Any = None) -> Any:
        """The row of a key, the conversation's own copy of it."""
        try:
            return self[key]
        except KeyError:
            return default


class Listed(list):
    """A table that is a list, to which tools of tau2 append and from which they take nothing away."""

    def __init__(self, rows: list[Any]):
        super().__init__(list.copy(rows))
        self._shared = set(range(len(rows)))

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        return list(self)[place]

    def __iter__(self) -> Iterator[Any]:
        return self._taking() if self._shared else super().__iter__()

    def own(self) -> list[int]:
        """The places of the rows that the conversation has taken or added."""
        return [place for place in range(len(self)) if place not in self._shared]

    def _taking(self) -> Iterator[Any]:
        for place, row in enumerate(super().__iter__()):
            if place in self._shared:
                self._shared.remove(place)
                row = own_copy(row)
                super().__setitem__(place, row)
            yield row


def restored(database: Any) -> Any:
    """A database for one conversation."""
    fields = vars(database)
    return database.model_copy(update={name: _opened(value) for name, value in fields.items()})


def own_copy(value: Any) -> Any:
    """A deep copy of a row, quicker than one that has to look for members which hold each other."""
    if isinstance(value, Enum):
        return value
    if isinstance(value, BaseModel):
        fresh = value.model_copy()
        held = vars(fresh)
        for name, inner in held.items():
            if type(inner) not in PLAIN:
                held[name] = own_copy(inner)
        return fresh
    if type(value) is list:
        return [one if type(one) in PLAIN else own_copy(one) for one in value]
    if type(value) is dict:
        return {key: own_copy(one) for key, one in value.items()}
    return copy.deepcopy(value)


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        return Rows(value)
    return Listed(value) if isinstance(value, list) else own_copy(value)
