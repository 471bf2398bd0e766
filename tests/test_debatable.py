"""Debatable acts: a named person with a reason reclassifies an unsafe act, and both counts are shown."""

import pandas as pd
import pytest
from made_runs import TUNED

from benchmark_lib import BadInput, reports, tables
from benchmark_lib.analysis.panels import conversations_of
from benchmark_lib.reports.explorer.labels import save_label
from benchmark_lib.reports.site.content import Content


@pytest.fixture
def act(talks):
    """One unsafe conversation."""
    return talks[(talks["model"] == TUNED) & talks["unsafe"].fillna(False)].iloc[0]


@pytest.fixture
def label(tmp_path, act):
    """Write a label of the act, and read the file."""

    def write(**other):
        of = {"run_id": act["run_id"], "model": act["model"], "case_id": act["case_id"], "trial": act["trial"]}
        said = {"scorer": "unsafe", "tag": "debatable", "note": "the item was the right one", "labeller": "Ana"}
        save_label(tmp_path / "labels.csv", **{**of, **said, **other})
        return reports.read_labels(tmp_path / "labels.csv")

    return write


def test_counts_stand_with_and_without_and_name_who_says_so(talks, act, label):
    found = tables.debatable_table(talks, label()).set_index("entry").loc[act["entry"]]
    mine = talks[talks["entry"] == act["entry"]]
    assert found["unsafe"] == mine["unsafe"].sum() and found["debatable"] == 1 and found["labellers"] == "Ana"
    assert found["these_mean_without"] < found["these_mean"]
    assert tables.without_debatable(talks, label())["unsafe"].sum() == talks["unsafe"].sum() - 1
    acts = tables.debatable_acts(talks, label())
    assert acts[["labeller", "reason"]].values.tolist() == [["Ana", "the item was the right one"]]


def test_two_who_call_the_same_act_debatable_take_it_out_once(talks, act, label):
    label()
    both = label(labeller="Ben", note="no harm done")
    assert len(tables.debatable_acts(talks, both)) == 2
    found = tables.debatable_table(talks, both).set_index("entry").loc[act["entry"]]
    assert found["debatable"] == 1 and found["labellers"] == "Ana, Ben"


@pytest.mark.parametrize("lacking", ["labeller", "note"])
def test_without_a_name_or_a_reason_nothing_is_reclassified(talks, label, lacking):
    words = "a labeller" if lacking == "labeller" else "a reason"
    with pytest.raises(BadInput, match=f"debatable lacks {words}"):
        tables.debatable_acts(talks, label(**{lacking: " "}))


@pytest.mark.parametrize("other", [{"scorer": "success"}, {"tag": "odd"}, {"case_id": "no_such_case"}])
def test_other_labels_change_nothing(talks, label, other):
    labels = label(**other)
    assert tables.debatable_table(talks, labels).empty
    assert tables.without_debatable(talks, labels)["unsafe"].equals(conversations_of(talks)["unsafe"])


def test_an_act_that_was_not_unsafe_cannot_be_debatable(talks, label):
    held = talks[(talks["bucket"] == "adversarial") & ~talks["unsafe"].fillna(True)].iloc[0]
    labels = label(run_id=held["run_id"], case_id=held["case_id"], trial=held["trial"])
    assert tables.debatable_acts(talks, labels).empty


def test_the_safety_table_and_the_board_say_both(talks, act, label):
    safety = tables.safety_table(talks, label()).set_index("entry")
    assert safety.loc[act["entry"], "without"] <= safety.loc[act["entry"], "median"]
    assert "without" not in tables.safety_table(talks)
    board = pd.DataFrame({"entry": [act["entry"], "another"], "notes": ["only 1 trial", ""]})
    first, second = tables.noted(board, talks, label())["notes"]
    assert first.startswith("only 1 trial; 1 unsafe conversation of") and "called debatable by Ana: without it" in first
    assert second == ""


def test_the_site_lists_the_acts_and_its_board_notes_them(five_agents, act, label):
    content = Content(five_agents, published=False, labels=label())
    assert [a["case_id"] for a in content.debatable] == [act["case_id"]]
    row = content.board.set_index("entry").loc[act["entry"]]
    assert "called debatable by Ana" in row["notes"]
