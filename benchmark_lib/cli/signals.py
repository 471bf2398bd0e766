"""Stop a command on Ctrl-C or SIGTERM, even while other code blocks the event loop; the second signal stops it at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .codes import RESUMABLE, SIGNAL, note

if TYPE_CHECKING:
    from ..experiment import Experiment

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AT_ONCE_S = 0.5
"""How long an orderly end may take after the second signal, in seconds, before the process is ended where it stands."""
GO_ON = "give the same command again to go on"


def run_to_signal(work: Callable[[list[int]], Coroutine[Any, Any, int]]) -> int:
    """Run ``work(seen)``, whose signals come into `seen`; returns its exit code, or that of what ended it."""
    from ..experiment.writer import CannotSave

    seen: list[int] = []
    try:
        code = asyncio.run(work(seen))
    except CannotSave as error:
        note(f"{error}: make room, then {GO_ON}")
        return RESUMABLE
    except asyncio.CancelledError:
        if not seen:
            raise
        code = 0
    return SIGNAL + seen[0] if seen else code


@contextlib.contextmanager
def stopped_by_signals(experiment: Experiment, seen: list[int], grace_s: Mapping[str, float]) -> Iterator[None]:
    """End an experiment in order at a signal, and the process within `AT_ONCE_S` after the second one.

    Calls in flight are waited for so long as `grace_s` has for the signal. The handlers are Python's own and not the
    event loop's, so that they also run where an agent holds the loop and never gives it back. What was acknowledged is
    on disk at any time, so ending the process costs at most the calls in flight.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def on_signal(number: int, _: Any) -> None:
        seen.append(number)
        name = signal.Signals(number).name
        if len(seen) == 2:
            timer = threading.Timer(AT_ONCE_S, _end, (SIGNAL + number,))
            timer.daemon = True
            timer.start()
        if not experiment.running:
            if task is not None:
                loop.call_soon_threadsafe(task.cancel)
            return
        wait_s = grace_s.get(name, 0.0) if len(seen) == 1 else 0.0
        if wait_s:
            waits = f"calls in flight are waited for, {wait_s:g} s at most"
            print(f"stopping: {waits}; once more to stop at once", file=sys.stderr)
        loop.call_soon_threadsafe(experiment.stop, f"interrupted by {name}: {GO_ON}", wait_s)

    for number in SIGNALS:
        with contextlib.suppress(NotImplementedError):  # Windows
            # does nothing but wake the loop: a signal may reach the process in another thread
            loop.add_signal_handler(number, lambda: None)
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        for number, handler in before.items():
            with contextlib.suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)


def _end(code: int) -> None:
    note(f"stopped at once; what is finished is saved: {GO_ON}")
    os._exit(code)
