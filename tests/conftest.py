"""What every test may use: the shared store, and the rule that nothing is skipped in CI."""

import asyncio
import fcntl
import gc
import os
import shutil
import subprocess
import sys

import matplotlib
import pytest
from hypothesis import settings
from judged import CASES_TO_JUDGE
from made_runs import odd_frames, play_agents
from run_server import copy_store

from benchmark_lib import Experiment
from benchmark_lib.analysis import load_results
from benchmark_lib.cases import load_cases
from benchmark_lib.store import load_store

matplotlib.use("Agg")

# The many processes that tests start (commands, kernels, workers) read what was compiled once.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def store():
    """Northline; immutable, so one for all tests."""
    return load_store()


@pytest.fixture(scope="module")
def own_store(tmp_path_factory):
    """A copy of Northline with some of its case files: it loads fast, and the tests of a file may change it."""
    return copy_store(tmp_path_factory.mktemp("store"))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project folder, in which the commands of a test are given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


@pytest.fixture(scope="session")
def cases(store):
    """Every case by id."""
    return {c.id: c for c in load_cases(store)}


@pytest.fixture(scope="session")
def open_case(cases, store):
    """A case whose order is still open, of a customer who writes from its address."""
    return next(
        c
        for c in cases.values()
        if c.intent == "color_edit"
        and c.language == "en"
        and c.ledger["order_id"].when == "volunteered"
        and c.sender == store.tables["customers"][c.customer_id]["email"]
    )


@pytest.fixture(scope="session")
def oracle_run(tmp_path_factory):
    """A finished run of three conversations."""
    path = tmp_path_factory.mktemp("runs") / "oracle.deskbench"
    asyncio.run(Experiment("scripted:oracle", cases=CASES_TO_JUDGE, trials=1, out=path, progress=False).run())
    return path


@pytest.fixture
def run_to_judge(oracle_run, tmp_path):
    """A copy of it, which a test may judge and change."""
    return shutil.copy(oracle_run, tmp_path / "run.deskbench")


@pytest.fixture(scope="session")
def five_agents(tmp_path_factory, worker_id):
    """Five scripted agents over every case, played once for all test processes."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "five-agents"
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            building = tmp_path_factory.mktemp("building")
            play_agents(building)
            building.rename(folder)
    return load_results(folder)


@pytest.fixture(scope="session")
def talks(five_agents):
    """The conversations of the five agents as a frame."""
    return five_agents.conversations


@pytest.fixture(scope="session")
def odd(talks):
    """Frames that are half there, lopsided or all alike, by what is odd about them."""
    return odd_frames(talks)


@pytest.fixture(scope="session")
def inspect_python(tmp_path_factory):
    """The interpreter of an environment that has Inspect itself; for slow tests."""
    environment = tmp_path_factory.mktemp("inspect")
    python = str(environment / "bin" / "python")
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    if subprocess.run([python, "-m", "pip", "install", "-q", "inspect-ai==0.3.285", "openai"]).returncode:
        pytest.skip("inspect-ai cannot be installed here")
    return python


@pytest.fixture(autouse=True)
def figures_closed():
    """No figure outlives its test."""
    yield
    if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
        pyplot.close("all")


LONGEST = [
    "test_isolated_agents",
    "test_site",
    "test_many_machines",
    "test_figures_in_print",
    "test_notebooks_awkward",
    "test_awkward_runs",
    "test_fresh_sets",
    "test_sly_agents",
    "test_local_model",
    "test_board_decides",
    "test_killed_runs",
    "test_installed",
    "test_entries",
    "test_forks",
    "test_site_in_forks",
    "test_model_report",
    "test_freeze",
    "test_compare_command",
    "test_mutants",
    "test_readme",
    "test_page_layout",
    "test_own_code_that_fails",
    "test_endpoint",
    "test_scope",
    "test_jupyterlab",
    "test_cli",
    "test_without_extras",
    "test_recovery",
    "test_answers",
    "test_reasoning",
    "test_reading_is_linear",
    "test_small_model_chairs",
]
"""Files that begin first, so that no core waits for one of them at the end."""


def pytest_collection_modifyitems(items):
    """The longest files first, the others in their order; what was imported until now stays, and is not looked at again."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST else len(LONGEST))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome, report.longrepr = "failed", f"skipped, which CI does not allow: {reason}"
