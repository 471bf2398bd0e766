"""Remember what is worked out of a store, or of another whole that does not change, for as long as it lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Made = TypeVar("Made")


def remembered(*parts: str) -> Callable[[Callable[[Any], Made]], Callable[[Any], Made]]:
    """Declare a function of one store whose result is kept with that store.

    A store that is laid over another one (see `benchmark_lib.store.laid`) shares what rests on parts that it leaves as
    they are, so that a thousand of them cost no more than what they change.

    Parameters
    ----------
    *parts : str
        What the result rests on: tables by their names, ``policy`` and ``articles``; none: the store's folder alone.
    """

    def declare(function: Callable[[Any], Made]) -> Callable[[Any], Made]:
        made: WeakKeyDictionary[Any, Made] = WeakKeyDictionary()

        @wraps(function)
        def kept(store: Any) -> Made:
            owner = store
            while getattr(owner, "below", None) is not None and owner.laid.isdisjoint(parts):
                owner = owner.below
            if owner not in made:
                made[owner] = function(owner)
            return made[owner]

        return kept

    return declare
