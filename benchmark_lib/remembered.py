"""Cache results computed from a store, or another unchanging object, while it lives."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

Made = TypeVar("Made")


def remembered(*parts: str) -> Callable[[Callable[[Any], Made]], Callable[[Any], Made]]:
    """Return a decorator that caches the result of a function of one store with that store.

    A store with a case's own world (see `benchmark_lib.store.world`) shares the results that depend on unchanged parts.
    A thousand such stores therefore cost only what they change.

    Parameters
    ----------
    *parts : str
        What the result depends on: tables by name, ``policy`` and ``articles``; if empty, only the store's folder.
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
