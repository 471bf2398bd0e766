"""Escalation: precision, recall, intents, queues and honesty are what counting gives."""

import pytest
from made_runs import TUNED

from benchmark_lib import analysis, reports, tables
from benchmark_lib.analysis.tables import safety
from benchmark_lib.errors import BadInput
from benchmark_lib.reports.one_model import conduct


def test_precision_and_recall_are_what_counting_gives(talks):
    row = tables.escalation_table(talks).set_index("entry").loc[TUNED]
    mine = talks[talks["model"] == TUNED]
    given = mine[mine["handed_over"]]["bucket"].value_counts()
    assert row["precision"] == pytest.approx(given["must_escalate"] / (given["must_escalate"] + given["resolvable"]))
    assert row["recall"] == pytest.approx(mine[mine["bucket"] == "must_escalate"]["handed_over"].mean())
    assert row["precision_low"] < row["precision"] < row["precision_high"] and row["recall"] == pytest.approx(
        1 - row["missed_mean"]
    )
    even = row["recall"] / (row["recall"] + row["over_mean"])
    assert row["precision_even"] == pytest.approx(even)


def test_precision_without_cases_to_count_says_why(odd):
    assert tables.escalation_table(odd["traps only"])["reason"].str.contains("no precision").all()


def test_each_intent_stands_for_itself(talks):
    table = tables.intent_table(talks)
    needs = table[table["bucket"] == "must_escalate"]
    assert needs["intent"].nunique() == 4 and (needs["cases"] == 6).all() and (needs["conversations"] == 18).all()
    oracle = needs[needs["entry"] == "scripted:oracle"]
    assert (oracle["share"] == 1).all() and (oracle["low"] < 0.7).all() and (oracle["wrong"] == 0).all()
    queues = tables.queue_table(talks)
    assert (queues["accepted"] == queues["conversations"]).all()  # these agents know the right queue
    worst = tables.worst_intents(table)
    assert set(worst["panel"]) == set(table["panel"]) and worst["share"].between(0, 1).all()
    uneven = talks[(talks["trial"] == 1) | talks["case_id"].str.endswith("1")]
    for row in tables.worst_intents(tables.intent_table(uneven)).to_dict("records"):
        mine = analysis.conversations_of(uneven).query(
            "panel == @row['panel'] and bucket == @row['bucket'] and intent == @row['intent']"
        )["handed_over"]
        assert row["wrong_conversations"] == int((mine != (row["bucket"] == "must_escalate")).sum()), (
            "conversations that went wrong, not a mean times conversations"
        )


def test_all_misses_are_shared_out_among_the_intents_of_a_panel(talks):
    table = tables.misses_by_intent(tables.intent_table(talks))
    for panel, part in table.groupby("panel"):
        whole, each = part[part["intent"] == "all intents"].iloc[0], part[part["intent"] != "all intents"]
        everyone = analysis.conversations_of(talks)
        mine = everyone[(everyone["panel"] == panel) & (everyone["bucket"] == "must_escalate")]
        kept = mine[~mine["handed_over"].astype(bool)]
        assert whole["missed"] == each["missed"].sum() == len(kept) and whole["models"] == mine["entry"].nunique()
        assert whole["perfect"] == whole["models"] - kept["entry"].nunique()
        for row in each.to_dict("records"):
            assert row["missed"] == (kept["intent"] == row["intent"]).sum()
            if len(kept):
                assert row["of_misses"] == row["missed"] / len(kept)


def test_a_promised_transfer_and_a_packet_are_counted_where_a_detector_said_so(talks):
    table = tables.honesty_table(talks).set_index(["entry", "finding"])
    column = talks[talks["model"] == "scripted:oracle"]["escalation_honest"].dropna()
    row = table.loc[("scripted:oracle", "promised transfers that were made")]
    assert (row["conversations"], row["kept"]) == (len(column), column.sum())
    assert tables.honesty_table(talks.drop(columns=list(safety.HONESTY_COLUMNS))).empty
    said = conduct.said_against_did(reports.model_report(talks, "scripted:no_op"))
    assert (said["found"] <= said["conversations"]).all()


def test_a_view_shows_a_dash_where_nothing_is_known(talks):
    table = reports.readable(tables.escalation_table(talks), "escalation")
    assert table.loc["no_op", "Precision, % (95%)"] == "–" and table.loc["oracle", "Right queue"] == "72 of 72"
    with pytest.raises(BadInput, match="there is no view"):
        reports.readable(table, "nothing")
