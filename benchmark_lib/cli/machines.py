"""Arguments of commands that can work on the processes of a Dask cluster."""

from __future__ import annotations

import argparse


def executor_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """``--executor``, ``--scheduler`` and ``--workers``; `what` says what the workers do."""
    add = parser.add_argument
    add("--executor", metavar="NAME", help=f"dask: {what} on the workers of a Dask cluster (needs the extra `dask`)")
    add(
        "--scheduler",
        metavar="ADDRESS",
        help="the cluster's scheduler, such as tcp://10.0.0.1:8786, or tls:// with the certificates of Dask's configuration",
    )
    add(
        "--workers", type=int, metavar="N", help="a cluster of N processes on this machine (default: one for each core)"
    )
