"""Arguments of commands that can work on the processes of a Dask cluster."""

import argparse

from .options import add_options


def executor_arguments(parser: argparse.ArgumentParser, what: str) -> None:
    """``--executor``, ``--scheduler`` and ``--workers``; `what` says what the workers do."""
    options = {
        "--executor NAME": f"dask: {what} on the workers of a Dask cluster (needs the extra `dask`)",
        "--scheduler ADDRESS": "the cluster's scheduler, such as tls://10.0.0.1:8786, with the certificates that Dask's configuration names",
        "--workers N": ("a cluster of N processes on this machine (default: one for each core)", int),
    }
    add_options(parser, options)
