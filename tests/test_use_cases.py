"""Use cases: every intent of a store in one group, and the numbers of a group are what counting gives."""

import shutil

import pytest
from made_runs import TUNED

from benchmark_lib import BadInput, tables
from benchmark_lib.analysis.use_cases import groups_of_store
from benchmark_lib.reports.site.content import Content
from benchmark_lib.reports.site.models import group_rows, use_cases
from benchmark_lib.store import Store


class Folder:
    """As much of a store as has groups."""

    def __init__(self, path, text):
        self.path, self.info = path, {"intents": {"tracking": {}, "promo": {}}}
        (path / "groups.yaml").write_text(text)

    def file(self, name):
        return self.path / name


@pytest.fixture(scope="module")
def table(talks):
    return tables.group_table(talks)


def test_every_intent_and_trap_is_in_one_group(store):
    grouped = [intent for group in groups_of_store(store).values() for intent in group["intents"]]
    assert sorted(grouped) == sorted([*store.info["intents"], *store.info["traps"]])


def test_grouping_changes_nothing_that_is_played(store, tmp_path):
    """The file may be edited between two sessions of a run: it is no part of the hash that a resumed run must match."""
    copy = tmp_path / "northline"
    shutil.copytree(store.path, copy)
    (copy / "groups.yaml").write_text("work: {intents: [tracking]}\n")
    other = Store(copy)
    assert other.hash == store.hash and list(groups_of_store(other)) == ["work"]


def test_a_group_has_what_counting_gives(talks, table, store):
    row = table[(table["entry"] == TUNED) & (table["group"] == "returns")].iloc[0]
    intents = groups_of_store(store)["returns"]["intents"]
    mine = talks[(talks["entry"] == TUNED) & talks["intent"].isin(intents)]
    resolvable = mine[mine["bucket"] == "resolvable"]
    assert row["conversations"] == len(mine) == row["adherence_n"] and row["resolved_n"] == len(resolvable)
    assert row["resolved"] == pytest.approx(resolvable["resolved"].astype(float).mean())
    rules = mine[[c for c in mine if c.startswith("rule_")]].eq("broken").any(axis=1)
    wrong = rules | mine["unsafe"].fillna(False) | (mine["forbidden_calls"].fillna(0) > 0)
    assert row["adherence"] == pytest.approx(1 - wrong.astype(float).mean())
    assert row["resolved_low"] < row["resolved"] < row["resolved_high"]


def test_doing_nothing_adheres_and_resolves_nothing(table):
    """Why adherence is never shown without what was resolved."""
    idle = table[table["entry"] == "scripted:no_op"]
    assert (idle["resolved"] == 0).all() and idle["adherence"].mean() > 0.85


def test_conversations_of_a_store_without_groups_are_left_out(talks):
    assert tables.group_table(talks.assign(store_version="elsewhere 1")).empty


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


def test_a_model_page_shows_its_use_cases_with_n(five_agents):
    content = Content(five_agents, published=False)
    rows = group_rows(content, next(e for e in content.played if e.name == TUNED))
    assert [r["title"] for r in rows] == ["Order changes", "Delivery", "Returns", "Product advice", "Trouble"]
    assert all("cases" in r["cells"][0]["cases"] and r["cells"][0]["n"] and r["cells"][0]["interval"] for r in rows)
    assert rows[1]["cells"][1]["text"] == "", "no delivery case needs a human"


def test_a_run_without_a_use_case_has_its_numbers_under_their_own_headings(five_agents):
    content = Content(five_agents, published=False)
    part, whole = content.played[:2]
    content.groups[part.name, part.source] = content.groups[part.name, part.source][1:]
    titles, rows = use_cases([part, whole], content)
    assert titles == [row["title"] for row in group_rows(content, whole)]
    assert list(rows[0][1]) == titles[1:] and rows[0][1][titles[1]]["title"] == titles[1]
