"""Pages that several processes write: the same as those of one, an interruption that ends all, and no half site."""

import asyncio
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from commands import Command, played

from benchmark_lib import Experiment
from benchmark_lib.cli import main
from benchmark_lib.cli.codes import INTERRUPTED, REFUSED
from benchmark_lib.reports.site import build_site

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks are used on Linux alone")


def both_ways(folders):
    """Build one site in one process and one in three."""
    for cores in (1, 3):
        os.sched_getaffinity = lambda _, cores=cores: range(cores)
        print(build_site(folders[0], f"{folders[1]}/{cores}").pages)


def always_forked(words):
    """The command on a machine of two cores, with a process group of its own as a terminal gives it."""
    os.setsid()
    os.sched_getaffinity = lambda _: range(2)
    return main(["site", *words])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for model in ("scripted:oracle", "scripted:comply_all"):
        out = folder / f"{model[9:]}.deskbench"
        asyncio.run(Experiment(model, cases="tracking,adversarial", trials=2, out=out, progress=False).run())
    return folder


def test_a_site_of_several_processes_is_that_of_one(runs, tmp_path):
    alone, together = played([runs, tmp_path], main=both_ways).stdout.splitlines()
    assert alone == together and "'transcripts'" in alone
    files = {n: {p.relative_to(tmp_path / n): p for p in (tmp_path / n).rglob("*.*")} for n in ("1", "3")}
    assert files["1"].keys() == files["3"].keys()
    for name, path in files["1"].items():
        assert path.read_bytes() == files["3"][name].read_bytes(), name


def building(folder):
    return [p for p in folder.iterdir() if p.suffix == ".new"] if folder.exists() else []


def children_of(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def begun(runs, out):
    """A command that builds a site with a fork, once it writes the pages of cases, and the fork; begun anew where it was done unseen."""
    for _ in range(20):
        site = Command([runs, "--out", out], main=always_forked)
        while site.poll() is None:
            if any((folder / "cases").exists() for folder in building(out.parent)):
                return site, children_of(site)
            time.sleep(0.005)
        assert site.returncode == 0, site.stderr.read()
        shutil.rmtree(out)
    raise AssertionError("the site was always done before it was seen")


def is_running(pid):
    with suppress(FileNotFoundError, ProcessLookupError):
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    return False


def test_an_interrupted_site_ends_without_a_word_and_leaves_nothing(runs, tmp_path):
    for attempt in range(20):  # a site that is finished before the signal comes shows nothing
        out = tmp_path / f"made {attempt}" / "site"
        site, _ = begun(runs, out)
        os.killpg(site.pid, signal.SIGINT)  # as a terminal does: to this process and its forks
        _, said = site.communicate(timeout=60)
        if site.returncode:
            break
    assert (site.returncode, said) == (INTERRUPTED, "")
    assert not out.parent.exists()


def test_a_killed_site_leaves_neither_a_fork_nor_a_site(runs, tmp_path):
    out = tmp_path / "site"
    site, children = begun(runs, out)
    site.kill()
    site.wait(60)
    for pid in children:
        while is_running(pid):
            time.sleep(0.01)
    assert not out.exists() and building(tmp_path) and not (building(tmp_path)[0] / "site.json").exists()


def test_a_fork_that_is_killed_is_told_and_leaves_no_site(runs, tmp_path):
    for attempt in range(20):  # a fork that has done its work before it is seen may be killed
        out = tmp_path / f"made {attempt}" / "site"
        site = Command([runs, "--out", out], main=always_forked)
        while site.poll() is None and not (children := children_of(site)):
            time.sleep(0.002)
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        _, said = site.communicate(timeout=120)
        if site.returncode:
            break
    assert site.returncode == REFUSED and "a process that wrote pages was killed" in said
    assert not out.exists()
