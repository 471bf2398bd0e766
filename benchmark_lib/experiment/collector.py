"""Python's garbage collector during a run, which need not look at the store again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)
"""Allocations before a collection, and collections before an older generation is looked at."""
_usual: list[tuple[int, int, int]] = []


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Leave what is loaded by now out of collections and collect less often; as before when the last run has ended.

    A store is some hundred thousand objects that live as long as the run, and a collection that looks at them all takes
    longer than ten model calls.
    """
    _usual.append(gc.get_threshold())
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    try:
        yield
    finally:
        if len(_usual) == 1:
            gc.unfreeze()
            gc.set_threshold(*_usual[0])
            _usual.clear()
        else:
            _usual.pop()
