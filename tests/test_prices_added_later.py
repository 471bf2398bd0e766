"""A price that is added after a run: what was unknown is computed from the recorded tokens, and nothing else is touched."""

import asyncio

import pytest
from made_runs import AT, add_rows, change_manifest
from run_server import RunServer, some_cases

from benchmark_lib import Experiment, load_results, tables
from benchmark_lib.cli import main
from benchmark_lib.endpoint import prices
from benchmark_lib.experiment.summary import summary
from benchmark_lib.runfile import RunFile

LISTED = "dated: 2026-11-24\ntiers: [{name: $, up_to_usd: null}]\nmodels:\n"
ENTRY = "- {model: newcomer, input: 2.0, output: 10.0, cached_input: 1.0}\n"
CALL = (1000 * 2 + 100 * 10) / 1e6


@pytest.fixture
def price_file(tmp_path, monkeypatch):
    """The project's price file, which knows nobody yet."""
    path = tmp_path / "prices.yaml"
    path.write_text(LISTED.replace("models:\n", ""))
    monkeypatch.setattr(prices, "PRICES", path)
    return path


@pytest.fixture
def played(own_store, price_file, tmp_path, monkeypatch):
    """A run of a model without a price; the last of its calls reported no tokens, and another was estimated for a budget."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    cases = ",".join(some_cases(own_store, 3))
    with RunServer() as server:
        how = {"store": own_store, "cases": cases, "trials": 1, "messages": 2, "progress": False}
        run = asyncio.run(Experiment("newcomer", base_url=server.base_url, out=tmp_path / "r.deskbench", **how).run())
    untold = ("made", 1, "agent", 1, "x", "newcomer", b"{}", None, None, None, None, 0.5, "[]", None, AT)
    add_rows(run.path, calls=[untold, (*untold[:3], 2, *untold[4:13], 0.5, AT)])
    return run.path


def test_unknown_costs_are_computed_from_the_recorded_tokens_and_the_file_stays_as_it_is(played, price_file):
    run, content = RunFile(played), played.read_bytes()
    (known, unknown), sessions = run.cost(), run.manifest["sessions"]
    assert known == 0.5 and unknown == run.counts()["calls"] - 1 and sessions[0]["endpoints"]["agent"]["price"] is None
    price_file.write_text(LISTED + ENTRY)
    assert run.cost() == (pytest.approx(0.5 + (unknown - 1) * CALL), 1), "one call reported no tokens"
    assert [call["cost_usd"] for call in run.calls()].count(CALL) == unknown - 1
    case_id = next(call["case_id"] for call in run.calls() if call["case_id"] != "made")
    assert {call["cost_usd"] for call in run.calls_of(case_id, 1)} == {CALL}
    assert f"{known + (unknown - 1) * CALL:.4f} USD" in summary(run)[-1]
    assert played.read_bytes() == content


def test_a_cost_that_was_known_stays_when_the_price_changes(own_store, price_file, tmp_path):
    price_file.write_text(LISTED + ENTRY)
    with RunServer() as server:
        how = {"store": own_store, "cases": some_cases(own_store, 1)[0], "trials": 1, "messages": 1, "progress": False}
        run = asyncio.run(Experiment("newcomer", base_url=server.base_url, out=tmp_path / "r.deskbench", **how).run())
    cost = run.cost()
    price_file.write_text(LISTED + ENTRY.replace("2.0", "200.0"))
    assert cost[0] > 0 and run.cost() == cost


def test_a_price_without_a_day_has_that_of_its_file(price_file, capsys):
    price_file.write_text(LISTED + ENTRY)
    assert main(["doctor", "newcomer", "--base-url", "http://127.0.0.1:9/v1"]) != 0
    assert "10 USD out for a million tokens, as of 2026-11-24." in capsys.readouterr().out


def test_endpoints_with_different_prices_leave_the_cost_unknown(played, price_file):
    price_file.write_text(LISTED + ENTRY.replace("model:", "at: 127.0.0.1, model:"))
    sessions = RunFile(played).manifest["sessions"]
    agent = sessions[0]["endpoints"]["agent"]
    elsewhere = {"endpoints": {"agent": agent | {"base_url": "https://elsewhere.example/v1"}}}
    change_manifest(played, sessions=[*sessions, sessions[0] | elsewhere])
    assert RunFile(played).cost()[0] == 0.5
    change_manifest(played, sessions=sessions)
    assert RunFile(played).cost()[0] > 0.5


def test_where_a_price_is_unknown_the_board_says_where_to_add_it(played):
    results = load_results(played)
    reason, note = (table(results).iloc[0] for table in (tables.cost_table, tables.leaderboard))
    for words in (reason["reason"], note["notes"]):
        assert "price unknown" in words and "add the model to data/prices.yaml" in words
