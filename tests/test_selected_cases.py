"""A run on some cases of its set says so wherever its numbers are shown, even if no run on all of them is loaded."""

import asyncio

import pytest

from benchmark_lib import Experiment, load_results, reports, tables
from benchmark_lib.reports.terminal import terminal_board


def played(folder, cases):
    out = folder / "played.deskbench"
    asyncio.run(Experiment("scripted:no_op", cases=cases, trials=1, out=out, progress=False).run())
    return load_results(out)


def shown(results):
    board = tables.leaderboard(results)
    yield "board", board["notes"].item()
    yield "table for print", " ".join(note for _, note in tables.paper(board).notes)
    yield "methods", reports.methods(results)
    yield "terminal", " ".join(terminal_board(results.runs).split())


@pytest.mark.parametrize(("cases", "part"), [("slice", True), ("all", False)])
def test_a_part_of_the_cases_is_said_to_be_one_and_all_are_not(tmp_path, cases, part):
    results = played(tmp_path, cases)
    words = f"{results.conversations['case_id'].nunique()} of 162 cases of northline"
    assert {where: words in text for where, text in shown(results)} == dict.fromkeys(
        ("board", "table for print", "methods", "terminal"), part
    )
