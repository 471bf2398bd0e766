"""Ctrl-C and SIGTERM on the command line.

Heard whatever code holds the event loop, and obeyed at once the second time.
"""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .codes import SIGNAL, note

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AT_ONCE_S = 0.5
"""How long an orderly end may take after the second signal, in seconds, before the process is ended where it stands."""


@contextlib.contextmanager
def heard_signals(told: Callable[[int, str], None]) -> Iterator[None]:
    """Call `told` with the number and name of each signal; after the second one the process ends within `AT_ONCE_S`.

    The handlers are Python's own and not the event loop's, so that they also run where an agent holds the loop and
    never gives it back. What was acknowledged is on disk at any time, so ending the process costs at most the calls in
    flight.
    """
    seen = []

    def on_signal(number: int, _: Any) -> None:
        seen.append(number)
        if len(seen) == 2:
            timer = threading.Timer(AT_ONCE_S, _end, (SIGNAL + number,))
            timer.daemon = True
            timer.start()
        told(number, signal.Signals(number).name)

    loop, before = asyncio.get_running_loop(), {number: signal.getsignal(number) for number in SIGNALS}
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
    note("stopped at once; what is finished is saved: give the same command again to go on")
    os._exit(code)
