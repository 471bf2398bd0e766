"""Work divided between this process and forks of it, which share all that it has read."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import connection, get_context
from typing import Any

from ...errors import BadInput

MOST = 3
"""How many forks there are at most; each may come to hold a copy of what this process has read."""


def forks_here() -> int:
    """How many forks there may be: one for each further core, and none where a fork could find a lock that nobody opens.

    That is the case beside other threads of Python, and outside Linux.
    """
    if sys.platform != "linux" or threading.active_count() > 1:
        return 0
    return min(len(os.sched_getaffinity(0)) - 1, MOST)


@contextmanager
def divided(work: Callable[[Any], Iterable[Any]], items: Sequence[Any], forks: int) -> Iterator[Iterator[Any]]:
    """What `work` yields for all of some items, in no order; forks begin at once, and this process takes part when it is asked for results.

    A fork leaves Ctrl-C to this process and is ended with the ``with``; if this process is killed, it ends by itself after
    its item. What it does not expect to go wrong it prints, and this process refuses to go on without it.
    """
    if not forks:
        yield (result for item in items for result in work(item))
        return
    context = get_context("fork")
    left = _Left(items, context.Value("i", 0))
    with ExitStack() as ended:
        ends = []
        for _ in range(forks):
            here, there = context.Pipe(duplex=False)
            ends.append(here)
            fork = context.Process(target=_serve, args=(work, left, tuple(ends), there), daemon=True)
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # stays blocked in the fork
            try:
                fork.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            there.close()
            ended.callback(fork.join)
            ended.callback(fork.kill)
        yield _results(work, left, ends)


class _Left:
    """The items that nobody has begun, for several processes; each is taken once."""

    def __init__(self, items: Sequence[Any], begun: Any):
        self._items, self._begun = items, begun

    def __iter__(self) -> Iterator[Any]:
        while True:
            with self._begun.get_lock():
                at = self._begun.value
                self._begun.value += 1
            if at >= len(self._items):
                return
            yield self._items[at]


def _serve(
    work: Callable[[Any], Iterable[Any]],
    left: _Left,
    ends: tuple[connection.Connection, ...],
    there: connection.Connection,
) -> None:
    """A fork: hands back what it did, item by item, and last None or what went wrong."""
    for end in ends:  # so that sending fails once the process that reads is gone
        end.close()
    with suppress(BrokenPipeError):
        try:
            for item in left:
                there.send(list(work(item)))
            there.send(None)
        except (OSError, ValueError) as error:
            there.send(error)


def _results(work: Callable[[Any], Iterable[Any]], left: _Left, ends: Iterable[connection.Connection]) -> Iterator[Any]:
    for item in left:
        yield from work(item)
    for end in ends:
        try:
            while (found := end.recv()) is not None:
                if isinstance(found, Exception):
                    raise found
                yield from found
        except EOFError:
            raise BadInput("a process that wrote pages was ended: see whether memory is short, and try again") from None
