"""A ticket by exceptions that grants a call for a line opens its window, for that call and line alone, until its day."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.records import ToolCall
from benchmark_lib.store import load_store
from benchmark_lib.store.retail.rules import window
from benchmark_lib.store.rules import Before

ORDER = "NL-80709"


@pytest.fixture(scope="module")
def arms():
    store = load_store("northline:hard")
    return {case.arm: store.of(case) for case in load_cases(store) if case.pair == "second_contact_7"}


def allowed(store, tool="start_return", line="L1"):
    call = ToolCall(2, 0, tool, {"order_id": ORDER.lower(), "line_ids": [line], "reason": "unused"}, {}, None, True)
    return window(call, Before([], []), store, store.policy["process_rules"]["window"])


def test_a_grant_opens_the_window_for_its_line_and_only_where_the_ticket_is(arms):
    assert allowed(arms["hard"])
    assert not allowed(arms["clean"])


def test_a_grant_ends_with_its_day(arms, monkeypatch):
    monkeypatch.setitem(vars(arms["hard"]), "now", arms["hard"].now.replace(month=7, day=1))
    assert not allowed(arms["hard"])


def test_a_grant_names_a_tool_and_a_line(arms):
    grants = [g for ticket in arms["hard"].tables["history"].values() for g in ticket.get("granted", ())]
    assert {(g["tool"], g["line_id"]) for g in grants} == {("start_return", "L1")}
