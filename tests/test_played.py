"""The store and the cases of a run are found in one way, whoever asks."""

import orjson
import pytest

from benchmark_lib import BadInput, load_store
from benchmark_lib.cases.load import cases_played, known_cases, same_cases, store_played
from benchmark_lib.records import content_hash

STORE = load_store()


def manifest(value="northline 1.0.0", **cases):
    return {"inputs": {"store": {"value": value, "hash": content_hash(orjson.dumps(STORE.hash))}}, "cases": cases}


@pytest.mark.parametrize("value", ["northline 1.0.0", {"name": "northline", "version": "1.0.0"}])
def test_a_store_is_found_by_its_name(value):
    assert store_played(manifest(value)).path == STORE.path


@pytest.mark.parametrize("value", ["nowhere 1.0", "../northline 1.0", "/tmp", {"version": "1"}, None, ""])
def test_a_store_that_is_not_here_is_none_and_a_path_is_never_opened(value):
    assert store_played(manifest(value)) is None and cases_played(manifest(value), None) == {}


def test_the_crossed_variants_are_cases_of_a_run_too():
    variant = next(case for case in known_cases(STORE).values() if case.id.startswith("factorial_"))
    mine = manifest(**{variant.id: variant.hash, "vip_skip_checks": "another text"})
    assert list(cases_played(mine, STORE)) == [variant.id], "only what still is what was played"


def test_a_changed_case_or_store_is_refused_with_what_was_wanted():
    with pytest.raises(BadInput, match="a different text of case vip_skip_checks: judge it with"):
        same_cases("run", manifest(vip_skip_checks="other"), STORE, "judge it")
    other = manifest()
    other["inputs"]["store"]["hash"] = "0"
    with pytest.raises(BadInput, match="another store"):
        same_cases("run", other, STORE, "score it")
