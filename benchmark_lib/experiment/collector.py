"""Python's garbage collector during a run: avoid scanning the store again and again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

THRESHOLDS = (20_000, 20, 20)
"""Allocations before a collection, and collections before an older generation is scanned."""
_usual: list[tuple[int, int, int]] = []


@contextmanager
def quiet_collector() -> Iterator[None]:
    """Exclude loaded objects from collections and collect less often; restore both at the end.

    A store has some hundred thousand objects that live as long as the run. A collection that scans them all takes
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
