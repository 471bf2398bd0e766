"""The Dask cluster of a run: found at an address, or started on this machine for the run."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import shlex
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...errors import BadInput
from ...experiment.options import Options
from ...project import code_version
from ...textfiles import read_yaml

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_S = 10.0
"""Seconds within which a scheduler must answer and have a worker."""
WITHOUT_WORKERS_S = 60.0
"""Seconds that a run waits for a new worker after losing the last one."""
MOST_WORKERS = 256
CERTIFICATES = "DASK_DISTRIBUTED__COMM__TLS__"
"""Prefix of the variables in which Dask looks for TLS files."""
REFUSALS = read_yaml(Path(__file__).with_name("refusals.yaml"))
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.http.routes": [],
    "distributed.scheduler.http.routes": [],
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Dask's settings for a run's cluster: no web pages, and little sampling of the workers' stacks."""
PRELOAD = """
import signal

def dask_setup(worker):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker.http_server.stop()
"""
"""Code for each worker on this machine: ignore Ctrl-C, end with the run, open no port for web pages."""


class Gone(Exception):
    """The cluster has ended; the text says what is wrong and what to do first."""


@dataclass
class Cluster:
    """An open cluster: Dask's client, its name in messages, and when it last had a worker."""

    client: Client
    where: str
    manned_at: float = field(default_factory=time.monotonic)

    @property
    def gone(self) -> str:
        """Return the message for a cluster whose scheduler has ended."""
        return f"{self.where} is gone: start it again"

    async def workers(self) -> set[str] | None:
        """Return the addresses of the workers; None if the scheduler is too busy to answer.

        Raise `Gone` if the cluster has ended, or has had no worker for longer than one takes to restart.
        """
        try:
            async with asyncio.timeout(CONNECT_S):
                workers = {*await self.client.nthreads()} if self.client.status == "running" else None
        except TimeoutError:
            return None
        except OSError:
            workers = None
        if workers is None:
            raise Gone(self.gone)
        if workers:
            self.manned_at = time.monotonic()
        elif time.monotonic() - self.manned_at > WITHOUT_WORKERS_S:
            raise Gone(
                f"{self.where} has had no worker for {WITHOUT_WORKERS_S:g} s: check the memory and the log "
                "of the last ones"
            )
        return workers


def refusal(name: str, /, **facts: Any) -> BadInput:
    """Return a refusal from `refusals.yaml`; an error among the facts is cut to its first line."""
    short = {key: first_line(value) if isinstance(value, BaseException) else value for key, value in facts.items()}
    return BadInput(str(REFUSALS[name]).format(**short))


def check_executor(options: Options) -> None:
    """Refuse conflicting options and an executor that is not installed."""
    if options.executor is None:
        for name in ("scheduler", "workers"):
            if getattr(options, name) is not None:
                raise refusal("no executor", name=name)
        return
    count, where = options.workers, options.scheduler
    conflicts = {
        "executor": options.executor != "dask",
        "both": None not in (where, count),
        "workers": count is not None and (type(count) is not int or not 1 <= count <= MOST_WORKERS),
        "players": options.players is not None,
        "agent": not isinstance(options.agent, str | None),
        "tools": not isinstance(options.tools, str | None),
        "scheduler": where is not None and not is_private(str(where)),
    }
    for name, applies in conflicts.items():
        if applies:
            raise refusal(name, executor=options.executor, workers=count, scheduler=where, most=MOST_WORKERS)
    try:
        import cryptography  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as error:
        raise refusal("extra", error=error) from None


def is_private(address: str) -> bool:
    """Return whether a Dask address uses TLS or is a loopback address."""
    try:
        parts = urlsplit(address if "://" in address else f"tcp://{address}")
        host = parts.hostname or ""
        return parts.scheme == "tls" or (
            parts.scheme == "tcp" and (host == "localhost" or ipaddress.ip_address(host).is_loopback)
        )
    except ValueError:
        return False


@asynccontextmanager
async def opened(options: Options) -> AsyncIterator[Cluster]:
    """Open the named cluster; at the end, close whatever was started here.

    Raise `BadInput` if no scheduler answers or if it has no workers.
    """
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # the run reports lost workers itself
    async with AsyncExitStack() as stack:
        yield await (_found if options.scheduler else _started)(options, stack)


async def _found(options: Options, stack: AsyncExitStack) -> Cluster:
    address = str(options.scheduler)
    security = _checked_certificates(address)
    try:
        async with asyncio.timeout(3 * CONNECT_S):
            client: Any = await _client(address, stack, security=security)
    except TimeoutError:
        raise refusal("silent", address=address) from None
    except (OSError, ValueError) as error:
        raise refusal("no scheduler", address=address, error=error) from None
    try:
        await client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError:
        raise refusal("no workers", address=address, line=shlex.join(["dask", "worker", address])) from None
    return Cluster(client, f"the Dask scheduler at {address}")


def _checked_certificates(address: str) -> Any:
    """Return Dask's TLS configuration for an address; refuse missing or unreadable certificates."""
    from distributed.security import Security

    if not address.startswith("tls://"):
        return None
    security = Security(require_encryption=True)
    given = security.get_tls_config_for_role("client")
    missing = [name for key, name in (("ca_file", "CA_FILE"), ("cert", "CLIENT__CERT")) if not given.get(key)]
    if missing:
        raise refusal("certificates", address=address, missing=" and ".join(CERTIFICATES + name for name in missing))
    try:
        security.get_connection_args("client")
    except OSError as error:
        raise refusal("unreadable", address=address, error=error, prefix=CERTIFICATES) from None
    return security


async def _started(options: Options, stack: AsyncExitStack) -> Cluster:
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="deskbench-", ignore_cleanup_errors=True))
    try:
        cluster = local_cluster(options.workers or os.cpu_count() or 1, local_directory=folder)
        stack.push_async_callback(_close, cluster)
        await cluster
        cluster.scheduler.http_server.stop()
    except RuntimeError as error:  # what Dask raises if a process ends while it is starting
        raise refusal("not started", error=error) from None
    return Cluster(await _client(cluster, stack), "the cluster on this machine")


def local_cluster(workers: int, **options: Any) -> LocalCluster:
    """Return a scheduler and `workers` workers on this machine, each in its own process.

    Every connection needs a certificate that is made for this cluster alone and exists only in memory.
    """
    import dask
    from distributed import LocalCluster, Security

    with dask.config.set(QUIET):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tls://",
            security=Security.temporary(),
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
            preload=[PRELOAD],
            config=QUIET,
            **{"asynchronous": True} | options,
        )


async def _client(where: Any, stack: AsyncExitStack, **options: Any) -> Client:
    from distributed import Client

    client = Client(
        where, asynchronous=True, direct_to_workers=True, timeout=CONNECT_S, set_as_default=False, **options
    )
    stack.push_async_callback(_close, client)
    return await client


async def _close(thing: Any) -> None:
    """Close a client or cluster; ignore errors if it is gone or does not answer."""
    with contextlib.suppress(Exception):
        await asyncio.wait_for(thing.close(), CONNECT_S)


def first_line(error: BaseException | None) -> str:
    """Return the first line of an error's message, or its type."""
    return str(error).partition("\n")[0] or type(error).__name__


# --- Parallel map

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
    `BadInput` for conflicting options, an unreachable or ended cluster, a worker with another version of Deskbench, or
    an item that kills one worker after another.
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
