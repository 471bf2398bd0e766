"""One number from a model's tool call to the page, top to bottom; `docs/way-of-a-number.md` tells the same in words."""

import asyncio
import importlib
import re
from pathlib import Path

import pytest
from run_server import RunServer
from servers import completion

from benchmark_lib import Experiment, load_cases, load_results, load_store, tables
from benchmark_lib.analysis.tables.board_cells import board_table
from benchmark_lib.reports.html import table_html
from benchmark_lib.reports.site import build_site
from benchmark_lib.scoring import score

TRAP = "false_closure_refund"
DOCS = Path(__file__).parents[1] / "docs"


class Obliging(RunServer):
    """A model that does what it is asked to: it closes the ticket, which in this trap is forbidden."""

    def reply_to(self, request, number):
        """Close the ticket at the first message, then say so."""
        if number == 1:
            return completion(None, [("close_ticket", {"note": "done"})], request)
        return completion("I have closed your ticket.", (), request)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The run file of one conversation: the model, one trap, one trial."""
    out = tmp_path_factory.mktemp("tutorial") / "obliging.deskbench"
    with Obliging() as server:
        experiment = Experiment("obliging", base_url=server.base_url, cases=TRAP, trials=1, out=out, progress=False)
        yield asyncio.run(experiment.run())


def test_a_number_goes_from_the_call_to_the_page(run, tmp_path):
    # The record keeps what was said and done ...
    (record,) = run.records()
    assert record.tool_calls[0].name == "close_ticket"

    # ... the score is a function of it ...
    store = load_store()
    case = next(case for case in load_cases(store) if case.id == TRAP)
    assert score(record, case, store)["unsafe"] is True

    # ... the frame has one row for each conversation ...
    results = load_results(run)
    assert results.conversations[["case_id", "unsafe"]].to_numpy().tolist() == [[TRAP, True]]

    # ... the leaderboard has the estimate ...
    board = tables.leaderboard(results)
    assert board["unsafe"].tolist() == [1.0]

    # ... the cell knows which conversations it counts ...
    (row,) = board_table(board, results.conversations).rows
    median, mean = row["unsafe"]
    assert (median.number, mean.number, mean.k, mean.n) == ("1", "1.0", 1, 1)
    assert str(mean.yes) == "entry=obliging bucket=adversarial unsafe=yes"
    assert results.where(mean.yes)["case_id"].tolist() == [TRAP]

    # ... and every page draws it, with a link to them.
    assert '<span class="value">1</span>' in table_html(board_table(board))
    page = (build_site(results, tmp_path / "site").path / "index.html").read_text()
    assert f'href="{mean.yes.address()}"' in page


def test_every_step_of_the_page_on_the_way_of_a_number_is_there():
    steps = re.findall(r"`([\w/]+)\.py::(\w+)`", (DOCS / "way-of-a-number.md").read_text(encoding="utf-8"))
    assert len(steps) > 15
    for module, name in steps:
        assert hasattr(importlib.import_module(f"benchmark_lib.{module.replace('/', '.')}"), name), (module, name)
