"""Use cases: every intent of a store in one group, and the numbers of a group are what counting gives."""

import shutil

import pytest

from benchmark_lib import BadInput
from benchmark_lib.analysis.panels import groups_of_store
from benchmark_lib.store import FolderStore


class Folder:
    """As much of a store as has groups."""

    def __init__(self, path, text):
        self.path, self.info = path, {"intents": {"tracking": {}, "promo": {}}}
        (path / "groups.yaml").write_text(text)

    def file(self, name):
        return self.path / name


def test_every_intent_and_trap_is_in_one_group(store):
    grouped = [intent for group in groups_of_store(store).values() for intent in group["intents"]]
    assert sorted(grouped) == sorted([*store.info["intents"], *store.info["traps"]])


def test_grouping_changes_nothing_that_is_played(store, tmp_path):
    """The file may be edited between two sessions of a run: it is no part of the hash that a resumed run must match."""
    copy = tmp_path / "northline"
    shutil.copytree(store.path, copy)
    (copy / "groups.yaml").write_text("work: {intents: [tracking]}\n")
    other = FolderStore(copy)
    assert other.hash == store.hash and list(groups_of_store(other)) == ["work"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: {intents: [tracking, nothing]}", "there is no intent 'nothing'"),
        ("a: {intents: [tracking]}\nb: {intents: [tracking]}", "in the groups a and b"),
        ("a: [tracking]", "has no list of intents"),
    ],
)
def test_a_bad_grouping_is_refused(tmp_path, text, said):
    with pytest.raises(BadInput, match=said):
        groups_of_store(Folder(tmp_path, text))
