"""The Dask cluster of a run: found at an address, or started on this machine for as long as the run."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import shlex
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...errors import BadInput
from ...threads import in_thread
from ..options import Options

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

CONNECT_S = 10.0
"""How long a scheduler may take to answer, and to have a worker, in seconds."""
WITHOUT_WORKERS_S = 60.0
"""How long is waited for a worker when none is left, in seconds."""
MOST_WORKERS = 256
CERTIFICATES = "DASK_DISTRIBUTED__COMM__TLS__"
"""How the variables begin in which Dask looks for the files of TLS."""
UNWATCHED = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "5s",
}
"""Dask's settings here: no pages, and not a hundred looks per second at what each worker does for a dashboard that nobody opens."""
DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""Run in the workers on this machine: Ctrl-C reaches every process of a terminal, and they end when the run tells them to."""


@dataclass
class Cluster:
    """An open cluster: Dask's client, and how it is named in messages."""

    client: Client
    where: str

    def workers(self) -> dict[str, str]:
        """The workers that are there now: how each is named in a message, by address."""
        known = self.client.scheduler_info(n_workers=-1)["workers"]
        names = {address: info["name"] for address, info in known.items()}
        unnamed = {address for address, name in names.items() if name in (address, "") or isinstance(name, int)}
        return {a: a if a in unnamed else f"{name} ({a})" for a, name in names.items()}


def check_executor(options: Options) -> None:
    """Refuse options that do not go with the executor, or an executor that is not installed, with what to change."""
    if options.executor is None:
        for name in ("scheduler", "workers"):
            if getattr(options, name) is not None:
                raise BadInput(f"--{name} belongs to an executor: give --executor dask too, or leave --{name} out")
        return
    if options.executor != "dask":
        raise BadInput(
            f"there is no executor {options.executor!r}: give --executor dask, or leave it out for one machine"
        )
    if options.scheduler is not None and options.workers is not None:
        raise BadInput(
            "--scheduler names a cluster that is running and --workers starts one here: leave one of them out"
        )
    count = options.workers
    if count is not None and (not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_WORKERS):
        raise BadInput(f"workers must be a whole number from 1 to {MOST_WORKERS}, not {count!r}: change --workers")
    if options.players is not None:
        raise BadInput("a chair is sat in on this machine: leave --executor out")
    for name, given in (("agent", options.agent), ("tools", options.tools)):
        if not isinstance(given, str | None):
            raise BadInput(f"other machines load the {name} by name: give it as module:object, or leave executor out")
    try:
        import cryptography  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as error:
        raise BadInput(
            f"--executor dask needs the extra `dask` ({error}): pip install 'deskbench[dask]', or leave --executor out"
        ) from None


@asynccontextmanager
async def opened(options: Options) -> AsyncIterator[Cluster | None]:
    """The cluster that the options name, closed afterwards if it was started here; None without an executor.

    `BadInput` when there is none at the address, or it has no workers.
    """
    if options.executor is None or options.replay:
        yield None
        return
    closing: list[Any] = []
    try:
        yield await cluster_of(options, closing)
    finally:
        await in_thread(close_all, closing)


async def cluster_of(options: Options, closing: list[Any]) -> Cluster:
    """The cluster that the options name; what is to be closed afterwards is put on a list for `close_all`."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what happens to a worker is told in this run's words
    found: Cluster = await (_answered(options, closing) if options.scheduler else in_thread(_start, options, closing))
    return found


async def _answered(options: Options, closing: list[Any]) -> Cluster:
    """What `_find` finds; something that takes connections and says nothing is not waited for."""
    try:
        async with asyncio.timeout(3 * CONNECT_S):
            found: Cluster = await in_thread(_find, options, closing)
            return found
    except TimeoutError:
        raise BadInput(
            f"{options.scheduler} takes connections and does not answer, so it is not the address of a Dask scheduler: "
            "correct --scheduler"
        ) from None


def _find(options: Options, closing: list[Any]) -> Cluster:
    from distributed import Client

    address = str(options.scheduler)
    check_address(address)
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
        closing.append(client)
    except (OSError, ValueError, TimeoutError) as error:
        raise BadInput(
            f"no Dask scheduler answers at {address} ({_first_line(error)}): start one with `dask scheduler`, or correct --scheduler"
        ) from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError:
        raise BadInput(
            f"the Dask scheduler at {address} has no workers: start some with `{shlex.join(['dask', 'worker', address])}`"
        ) from None
    return Cluster(client, f"the Dask scheduler at {address}")


def check_address(address: str) -> None:
    """Refuse a scheduler's address that leaves this machine without TLS.

    Dask carries pickled objects, so whoever can read or change what travels runs code at both ends.
    """
    scheme, _, rest = address.rpartition("://")
    if scheme == "tls":
        return _check_certificates(address)
    if scheme not in ("", "tcp"):
        raise BadInput(f"{address} is not an address that a run can use: give --scheduler tls://HOST:PORT")
    host = rest.rpartition(":")[0].strip("[]") or rest
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except OSError as error:
        raise BadInput(f"{host} cannot be found ({error.strerror}): correct --scheduler") from None
    if not all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found):
        raise BadInput(
            f"{address} is not encrypted, and whoever reaches that network can run code on every machine of the run: "
            "start the scheduler and its workers with certificates and give --scheduler tls://HOST:PORT"
        )


def _check_certificates(address: str) -> None:
    """Refuse an address with TLS where Dask has not been told of certificates, or cannot read them."""
    from distributed.security import Security

    security = Security()
    given = security.get_tls_config_for_role("client")
    missing = [name for key, name in (("ca_file", "CA_FILE"), ("cert", "CLIENT__CERT")) if not given.get(key)]
    if missing:
        raise BadInput(
            f"{address} needs certificates: name the files in {' and '.join(CERTIFICATES + name for name in missing)} (with CLIENT__KEY, where the "
            "key is in a file of its own), or in Dask's configuration"
        )
    try:
        security.get_connection_args("client")
    except OSError as error:
        raise BadInput(
            f"the certificates for {address} cannot be read ({_first_line(error)}): correct the files that {CERTIFICATES}... or Dask's configuration names"
        ) from None


def _start(options: Options, closing: list[Any]) -> Cluster:
    from distributed import Client

    try:
        cluster = local_cluster(options.workers or os.cpu_count() or 1)
    except RuntimeError as error:  # what Dask raises where a process ends while it starts
        raise BadInput(
            f"the workers on this machine did not start ({_first_line(error)}): give fewer --workers, or leave --executor out"
        ) from None
    closing.append(cluster)
    client = Client(cluster, set_as_default=False)
    closing.append(client)
    return Cluster(client, "the cluster on this machine")


def local_cluster(workers: int) -> LocalCluster:
    """Start workers on this machine, each a process of its own, and their scheduler.

    Every port takes only who holds the certificate, which this process makes and gives to its workers: Dask reads
    pickled objects from whoever connects, so nobody else may.
    """
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    with dask.config.set(UNWATCHED):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            security=Security.temporary(),
            silence_logs=logging.CRITICAL,
            preload=[DEAF],
            config=UNWATCHED,
        )


def close_all(things: list[Any]) -> None:
    """Close clients and clusters, the last that was opened first."""
    for thing in reversed(things):
        try:
            thing.close(timeout=CONNECT_S)
        except Exception:  # a cluster that is gone cannot be closed, and the run has ended
            logging.getLogger(__name__).debug("closing %r", thing, exc_info=True)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
