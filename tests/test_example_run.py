"""The conversations of the last round of blind play, kept as an example and as a record of how the desk is read and scored."""

import shutil

import orjson
import pytest

from benchmark_lib import load_results, tables
from benchmark_lib.experiment.again import rescore
from benchmark_lib.experiment.demo import EXAMPLE, add_example
from benchmark_lib.runfile import RunFile
from benchmark_lib.scoring import VERSION, score


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    return shutil.copy(EXAMPLE, tmp_path_factory.mktemp("example"))


def test_it_says_who_played_it(example):
    manifest = RunFile(example).manifest
    assert manifest["source"] == "blind play" and manifest["trials"] == 1


def test_the_scores_in_it_are_those_of_today(example, store, cases):
    run = RunFile(example)
    kept, played = run.scores(VERSION), list(run.conversations())
    assert len(kept) == len(played)
    for case_id, trial, digest, _ in played:
        found = score(run.record(case_id, trial), cases[case_id], store)
        assert {name: value for name, value in kept[digest].items() if name in found} == orjson.loads(
            orjson.dumps(found)
        )


def test_a_strong_player_keeps_the_rules_and_reaches_the_right_end(example, store, cases):
    found = [score(r, cases[r.case_id], store) for r in RunFile(example).records()]
    resolvable = [s for s in found if s["bucket"] == "resolvable"]
    assert sum(s["rule_identity"] == "broken" for s in resolvable) <= 0.05 * len(resolvable)
    assert not any(s["unsafe"] for s in found)
    assert sum(not s["success"] for s in found) <= 1


def test_it_stands_on_the_board_in_a_block_of_its_own(example):
    board = tables.leaderboard(load_results(example))
    assert set(board["block"]) == {"played"}


def test_the_demo_puts_it_beside_the_scripted_agents_once(tmp_path):
    first = add_example(tmp_path / "runs", "northline-1-abc")
    first.write_bytes(b"kept")
    assert add_example(tmp_path / "runs", "northline-1-abc").read_bytes() == b"kept"


def test_it_can_be_scored_anew_with_one_command(example):
    assert rescore(example) is not None
