"""A price that is added after a run: what was unknown is computed from the recorded tokens, and nothing else is touched."""

import asyncio
import sqlite3

import pytest
from made_runs import AT, add_rows, change_manifest
from run_server import RunServer, some_cases

from benchmark_lib import Experiment, load_results, tables
from benchmark_lib.cli import main
from benchmark_lib.endpoint import prices
from benchmark_lib.errors import BadInput
from benchmark_lib.experiment.again import PRICED, price_again
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


def test_unknown_costs_are_computed_from_the_recorded_tokens_and_the_file_says_so(played, price_file, capsys):
    before = RunFile(played)
    sessions, (known, unknown), old = before.manifest["sessions"], before.cost(), [*before.rows("calls")]
    assert known == 0.5 and unknown == len(old) - 1
    price_file.write_text(LISTED + ENTRY)
    assert main(["score", str(played), "--costs"]) == 0
    said, run = capsys.readouterr().out, RunFile(played)
    run.check()
    assert run.cost() == (pytest.approx(0.5 + (unknown - 1) * CALL), 1)
    assert f"computed the cost of {unknown - 1} calls by prices.yaml of 2026-11-24" in said
    assert "1 call reported no tokens, so their cost remains unknown" in said
    (entry,) = run.manifest[PRICED]
    assert entry["price_file"]["hash"] == prices.load_prices(price_file).hash and entry["calls"] == unknown - 1
    assert run.manifest["sessions"] == sessions and sessions[0]["endpoints"]["agent"]["price"] is None
    assert "priced afterwards on" in summary(run)[-1] and entry["price_file"]["hash"][:8] in summary(run)[-1]
    at = 13
    assert [row[:at] + row[at + 1 :] for row in run.rows("calls")] == [row[:at] + row[at + 1 :] for row in old]


def test_a_cost_that_is_known_stays_when_the_price_changes(played, price_file):
    price_file.write_text(LISTED + ENTRY)
    assert price_again(played).priced
    cost = RunFile(played).cost()
    price_file.write_text(LISTED + ENTRY.replace("2.0", "200.0"))
    assert price_again(played).priced == 0
    assert RunFile(played).cost() == cost and len(RunFile(played).manifest[PRICED]) == 1


def test_a_price_without_a_day_has_that_of_its_file(price_file, capsys):
    price_file.write_text(LISTED + ENTRY)
    assert main(["doctor", "newcomer", "--base-url", "http://127.0.0.1:9/v1"]) != 0
    assert "10 USD out for a million tokens, as of 2026-11-24." in capsys.readouterr().out


def test_without_a_price_nothing_is_written_and_how_to_add_it_is_said(played, capsys):
    before = played.read_bytes()
    assert main(["score", str(played), "--costs"]) == 0
    assert "add under models in data/prices.yaml" in (said := capsys.readouterr().out) and "newcomer" in said
    assert played.read_bytes() == before


def test_a_damaged_row_is_not_sealed_anew(played, price_file):
    price_file.write_text(LISTED + ENTRY)
    with sqlite3.connect(played) as db:
        db.execute("UPDATE calls SET response=x'00' WHERE id=1")
    with pytest.raises(BadInput, match="damaged"), pytest.warns(UserWarning, match="1 of its calls left out"):
        price_again(played)


def test_endpoints_with_different_prices_leave_the_cost_unknown(played, price_file):
    price_file.write_text(LISTED + ENTRY.replace("model:", "at: 127.0.0.1, model:"))
    sessions = RunFile(played).manifest["sessions"]
    agent = sessions[0]["endpoints"]["agent"]
    elsewhere = {"endpoints": {"agent": agent | {"base_url": "https://elsewhere.example/v1"}}}
    change_manifest(played, sessions=[*sessions, sessions[0] | elsewhere])
    assert price_again(played).unpriced == ("newcomer",)
    change_manifest(played, sessions=sessions)
    assert price_again(played).priced


def test_where_a_price_is_unknown_the_board_names_the_command(played):
    results = load_results(played)
    reason, note = (table(results).iloc[0] for table in (tables.cost_table, tables.leaderboard))
    for words in (reason["reason"], note["notes"]):
        assert "price unknown" in words and "`deskbench score FILE --costs`" in words
