"""A function for many things on the workers of a cluster: pages of many models, panels of a recovery, tables of a large board."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

from ...errors import BadInput
from ...project import code_version
from ..options import Options
from .cluster import WITHOUT_WORKERS_S, Cluster, check_executor, close_all, cluster_of

CHECKED_EVERY_S = 5.0
"""How often is looked whether there is still a worker while a result is waited for, in seconds."""


def spread(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    executor: str | None = "dask",
    scheduler: str | None = None,
    workers: int | None = None,
) -> Iterator[Any]:
    """What a function returns for each of many things, in their order.

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
    closing: list[Any] = []
    try:
        with ThreadPoolExecutor(1) as aside:  # a notebook has an event loop of its own
            cluster = aside.submit(asyncio.run, cluster_of(options, closing)).result()
        _check_versions(cluster)
        yield from _results(cluster, function, list(items))
    finally:
        close_all(closing)


def _results(cluster: Cluster, function: Callable[[Any], Any], items: list[Any]) -> Iterator[Any]:
    from distributed.scheduler import KilledWorker

    futures = cluster.client.map(function, items, pure=False)
    try:
        for item, future in zip(items, futures):
            try:
                yield _result(cluster, future)
            except KilledWorker:
                raise BadInput(
                    f"every worker that began {str(item)[:80]!r} died: look at its memory and its log, or leave --executor out"
                ) from None
            except CancelledError:
                raise BadInput(f"{cluster.where} is gone: start it again, or leave --executor out") from None
    finally:
        cluster.client.cancel(futures)


def _result(cluster: Cluster, future: Any) -> Any:
    """The result of one thing; a cluster without workers is not waited for longer than it may take to start one anew."""
    done, manned_at = threading.Event(), time.monotonic()
    future.add_done_callback(lambda _: done.set())
    while not done.wait(CHECKED_EVERY_S):
        if _is_manned(cluster):
            manned_at = time.monotonic()
        elif time.monotonic() - manned_at > WITHOUT_WORKERS_S:
            raise BadInput(
                f"{cluster.where} has had no worker for {WITHOUT_WORKERS_S:g} s: look at the memory and the log of the last ones, "
                "or leave --executor out"
            )
    return future.result()


def _is_manned(cluster: Cluster) -> bool:
    try:
        return cluster.client.status == "running" and bool(cluster.workers())
    except OSError:
        return False


def _check_versions(cluster: Cluster) -> None:
    names, here = cluster.workers(), code_version()
    for address, there in cluster.client.run(code_version).items():
        if there != here:
            raise BadInput(
                f"worker {names.get(address, address)} has another version of Deskbench ({_told(there)}, here {_told(here)}): install the same one there"
            )


def _told(code: dict[str, str]) -> str:
    return f"{code['version']}, source {code['hash'][:8]}"
