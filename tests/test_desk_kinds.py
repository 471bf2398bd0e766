"""Another kind of desk than a shop is one module.

It loads, plays, is scored and audited, and no room has to be told of it.
"""

import asyncio

import pytest

from benchmark_lib import BadInput, Experiment, load_results
from benchmark_lib.cases import load_cases
from benchmark_lib.conversation.scripted import AGENTS, Oracle
from benchmark_lib.extras.audit.audit import audit, play
from benchmark_lib.extras.fresh_sets.generate import generate
from benchmark_lib.scoring import score
from benchmark_lib.store import DeskKind, load_store, register_kind
from tests import library_counter


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    register_kind(library_counter.KIND)
    return load_store(library_counter.build(tmp_path_factory.mktemp("counter")))


def test_a_library_counter_has_its_own_tools_and_those_of_every_desk(counter):
    assert list(counter.tools) == [
        "find_loans",
        "show_loan",
        "search_knowledge_base",
        "renew_loan",
        "hand_over_to_human",
        "close_ticket",
    ]
    assert counter.desk().call("show_loan", {"loan_id": "LN-9"}).error == "not_found"


def test_its_cases_are_played_to_the_right_end_by_the_oracle_and_scored(counter):
    renewal, dispute = load_cases(counter)
    record = play(renewal, counter, Oracle(renewal, counter))
    assert [c.name for c in record.tool_calls] == [
        "show_loan",
        "renew_loan",
    ] and record.ended_by == "resolved_by_customer"
    result = score(record, renewal, counter)
    assert (
        result["resolved"]
        and result["rule_confirmation"] == "kept"
        and result["order_lookups"] == 1
        and not result["phantom_action"]
    )
    assert score(play(dispute, counter, Oracle(dispute, counter)), dispute, counter)["success"]
    hasty = score(play(renewal, counter, AGENTS["comply_all"](renewal, counter)), renewal, counter)
    assert not hasty["resolved"] and hasty["rule_confirmation"] == "broken"


def test_it_is_audited_without_a_problem(counter):
    found = audit(counter)
    assert [str(p) for p in found.problems] == []


def test_it_is_run_and_its_run_file_read(counter, tmp_path):
    experiment = Experiment(
        model="scripted:oracle", store=counter.path, trials=1, out=tmp_path / "run.deskbench", progress=False
    )
    run = asyncio.run(experiment.run())
    rows = load_results(run).conversations
    assert sorted(rows["case_id"]) == ["fee_dispute_1", "renewal_1"] and rows["success"].all()


def test_a_store_of_an_unknown_kind_is_refused_and_brings_no_code(tmp_path):
    folder = library_counter.build(tmp_path / "other")
    text = (folder / "store.yaml").read_text(encoding="utf-8")
    for kind in ("bakery", "os:system", "tests.library_counter:KIND"):
        (folder / "store.yaml").write_text(text.replace("kind: library", f"kind: {kind}"), encoding="utf-8")
        with pytest.raises(BadInput, match="is not known: name one of .*retail.*register_kind"):
            load_store(folder)


def test_two_kinds_of_one_name_are_refused():
    with pytest.raises(BadInput, match="'retail' is already registered"):
        register_kind(DeskKind("retail", {}, "orders", {}, ("get_order", "order_id")))


def test_a_fresh_set_of_a_kind_that_cannot_be_rekeyed_is_refused_and_leaves_nothing(counter, tmp_path):
    with pytest.raises(BadInput, match="of kind 'library' cannot be re-keyed"):
        generate(counter, 1, tmp_path / "set")
    assert not any(tmp_path.iterdir())
