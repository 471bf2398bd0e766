"""Parallel map on the workers of a cluster, used for the pages of many models."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from ...errors import BadInput
from ...experiment.options import Options
from ...project import code_version
from .cluster import REFUSALS, Cluster, Gone, check_executor, is_private, opened, refusal

CHECKED_EVERY_S = 5.0
"""Seconds between two checks for workers while waiting for a result."""


def spread(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    executor: str | None = "dask",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Iterator[Any]:
    """Yield a function's result for each item, in order.

    `function` and its results travel to other processes; every worker must reach the files that it reads and writes.
    The options are those of `Experiment`; without an executor, the results are computed here one by one. Raise
    `BadInput` for conflicting options, an unreachable or ended cluster, or a worker with another version of Deskbench.
    Also raise it if an item kills one worker after another, or if no worker is left.
    """
    options = Options(executor=executor, scheduler=scheduler, workers=workers)
    check_executor(options)
    if executor is None:
        yield from map(function, items)
        return
    loop = asyncio.new_event_loop()  # a notebook has its own loop; this one serves the cluster between results
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def wait(step: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(step, loop).result()

    given, opening = list(items), opened(options)
    try:
        cluster = wait(opening.__aenter__())
        try:
            for item, future in zip(given, wait(_begun(cluster, function, given))):
                yield wait(_result(cluster, item, future))
        finally:
            wait(opening.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)


async def _begun(cluster: Cluster, function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
    """Return the futures of all items; refuse workers without encryption or of another version."""
    here = code_version()
    for address, there in (await cluster.client.run(code_version)).items():
        if not is_private(address):
            raise BadInput(f"worker {address} {REFUSALS['unprotected']}")
        if there != here:
            other, this = (f"{code['version']}, source {code['hash'][:8]}" for code in (there, here))
            raise refusal("worker version", address=address, other=other, this=this)
    futures: list[Any] = cluster.client.map(function, items, pure=False)
    return futures


async def _result(cluster: Cluster, item: Any, future: Any) -> Any:
    """Return the result of one item; raise `BadInput` once the cluster has no workers."""
    from distributed.scheduler import KilledWorker

    while True:
        try:
            return await future.result(timeout=CHECKED_EVERY_S)
        except KilledWorker:
            raise refusal("item died", item=str(item)[:80]) from None
        except CancelledError:
            raise BadInput(f"{cluster.gone}, or omit --executor") from None
        except TimeoutError:
            if future.done():  # the result has just come, or the function itself raised this
                return await future.result()
        try:
            await cluster.workers()
        except Gone as gone:
            raise BadInput(f"{gone}, or omit --executor") from None
