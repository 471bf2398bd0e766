"""A function for many things on the workers of a cluster: pages of many models, panels of a recovery, tables of a large board."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any

from ...errors import BadInput
from ...experiment.options import Options
from ...project import code_version
from .cluster import UNPROTECTED, Cluster, Gone, check_executor, is_private, opened

CHECKED_EVERY_S = 5.0
"""Seconds after which the wait for a result makes sure that a worker is there."""


def spread(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    executor: str | None = "dask",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Iterator[Any]:
    """Yield what a function returns for each of many things, in their order.

    `function` and what it returns travel to other processes; what it reads and writes as files has to be in reach of
    every worker. The options are as in `Experiment`; without an executor the things are done here, one after another.
    `BadInput` for options that do not go together, a cluster that cannot be reached or that ends, a worker with another
    version of Deskbench, a thing with which one worker after another died, and where no worker is left.
    """
    options = Options(executor=executor, scheduler=scheduler, workers=workers)
    check_executor(options)
    if executor is None:
        yield from map(function, items)
        return
    loop = asyncio.new_event_loop()  # a notebook has one of its own, and this one serves the cluster between results
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
    """Return the futures of all things, once every worker is found to be private and of this version."""
    here = code_version()
    for address, there in (await cluster.client.run(code_version)).items():
        if not is_private(address):
            raise BadInput(f"worker {address} {UNPROTECTED}")
        if there != here:
            other, this = (f"{code['version']}, source {code['hash'][:8]}" for code in (there, here))
            raise BadInput(
                f"worker {address} has another version of Deskbench ({other}, here {this}): install the same one there"
            )
    futures: list[Any] = cluster.client.map(function, items, pure=False)
    return futures


async def _result(cluster: Cluster, item: Any, future: Any) -> Any:
    """Return the result of one thing, as long as the cluster has workers."""
    from distributed.scheduler import KilledWorker

    while True:
        try:
            return await future.result(timeout=CHECKED_EVERY_S)
        except KilledWorker:
            raise BadInput(
                f"every worker that began {str(item)[:80]!r} died: look at its memory and its log, or leave "
                "--executor out"
            ) from None
        except CancelledError:
            raise BadInput(f"{cluster.gone}, or leave --executor out") from None
        except TimeoutError:
            if future.done():  # it came just now, or the function itself raised this
                return await future.result()
        try:
            await cluster.workers()
        except Gone as gone:
            raise BadInput(f"{gone}, or leave --executor out") from None
