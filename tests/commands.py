"""Commands in processes of their own, forked from one that has loaded the library: each starts in a twentieth of the processor time."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver, get_context
from pathlib import Path
from unittest.mock import patch

FORKED = get_context("forkserver")
FORKED.set_forkserver_preload(["commands_loaded"])


class Command:
    """A running ``deskbench`` command, with what `subprocess.Popen` has of it.

    Parameters
    ----------
    words : iterable of str
        What stands behind ``deskbench``; `main` may be another function that takes them.
    cwd : path, optional
    env : dict, optional
        The whole environment; that of this process unless given.
    """

    def __init__(self, words, cwd=None, env=None, main=None):
        pipes = {name: FORKED.Pipe(duplex=False) for name in ("stdout", "stderr")}
        ends = [write for _, write in pipes.values()]
        there = Path(cwd or "."), dict(env or os.environ)
        self._process = FORKED.Process(target=_begin, args=(main, [*map(str, words)], *there, *ends), daemon=False)
        started()
        self._process.start()
        for write in ends:
            write.close()
        self.stdout, self.stderr = (open(os.dup(read.fileno())) for read, _ in pipes.values())  # noqa: SIM115
        self.pid = self._process.pid

    returncode = property(lambda self: self._process.exitcode)

    def poll(self):
        return self.returncode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("deskbench", timeout)
        return self.returncode

    def send_signal(self, number):
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def communicate(self, timeout=None):
        """Wait for the end; returns what it said and what it complained of."""
        with ThreadPoolExecutor(2) as readers, self.stdout, self.stderr:
            said = [readers.submit(stream.read) for stream in (self.stdout, self.stderr)]
            found = [one.result(timeout) for one in said]
        self.wait(timeout)
        return found


def started():
    """Start the process to fork from; it finds what it loads in this folder."""
    with patch.dict(os.environ, PYTHONPATH=str(Path(__file__).parent)):
        forkserver.ensure_running()


def _begin(main, words, cwd, env, stdout, stderr):
    """Become the command, in the forked process."""
    from benchmark_lib.cli import main as deskbench

    for number, (name, end) in enumerate({"stdout": stdout, "stderr": stderr}.items(), 1):
        os.dup2(end.fileno(), number)
        end.close()
        setattr(sys, name, io.TextIOWrapper(io.FileIO(number, "w", closefd=False), write_through=number == 2))
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = (main or deskbench)(words)
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.flush()
    sys.exit(code)


def played(words, **how):
    """A command that was run to its end, as `subprocess.run` returns it."""
    process = Command(words, **how)
    said, complained = process.communicate()
    return subprocess.CompletedProcess(words, process.returncode, said, complained)


def load():
    """What most commands load: their modules, a store with its cases, and the patterns of all languages."""
    from benchmark_lib.cli import main

    with contextlib.ExitStack() as quiet:
        folder = quiet.enter_context(tempfile.TemporaryDirectory())
        nowhere = quiet.enter_context(open(os.devnull, "w"))
        quiet.enter_context(contextlib.redirect_stdout(nowhere))
        quiet.enter_context(contextlib.redirect_stderr(nowhere))
        main(["run", "scripted:echo", "--cases", "tracking_1", "--trials", "1", "--out", f"{folder}/run.deskbench"])
