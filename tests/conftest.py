"""What every test may use: the shared store, and the rule that nothing is skipped in CI."""

import os

import pytest
from hypothesis import settings

from benchmark_lib.cases import load_cases
from benchmark_lib.store import load_store


settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def store():
    """Northline; immutable, so one for all tests."""
    return load_store()


@pytest.fixture(scope="session")
def cases(store):
    """Every case by id."""
    return {c.id: c for c in load_cases(store)}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome, report.longrepr = "failed", f"skipped, which CI does not allow: {reason}"
