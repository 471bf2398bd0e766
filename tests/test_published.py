"""What others have published, recomputed from their own figures.

What agrees, and where they disagree with each other.
"""

import re

import pandas as pd
import pytest
from told import numbers_in

from benchmark_lib import figures, tables
from benchmark_lib.analysis.tables import published


@pytest.fixture
def checks():
    return tables.published_checks().set_index("check")


def test_the_order_of_the_board_follows_from_its_own_rule():
    order = tables.published_order()
    assert len(order) == 24 and order["same"].all()
    assert order["model"].iloc[[0, -1]].tolist() == ["grok-4.3", "qwen3.7-plus"]


def test_every_published_row_is_labelled_as_such():
    for table in (
        tables.published_board(),
        tables.published_pass_hat_k(),
        tables.published_order(),
        tables.published_checks(),
        tables.ranking_against_desk(),
        tables.tier_safety()[0],
    ):
        assert set(table["source"]) == {"published"}


def test_the_mean_and_the_one_intent_behind_nearly_all_misses(checks):
    assert tables.published_board()["escalation_accuracy_pct"].mean() == pytest.approx(90.6, abs=0.05)
    assert checks.loc["mean escalation accuracy", "verdict"] == "agrees"
    # Four intents of six cases: the mean handover rate of one, 0.669, alone costs a quarter of 0.331.
    assert published.one_intent_share() == pytest.approx(0.25 * (1 - 0.669) / (1 - 0.90583), rel=1e-3)
    assert 88 in numbers_in(checks.loc["misses from one intent", "found"])


def test_bands_and_tiers(checks):
    assert tables.published_board()["band"].value_counts().to_dict() == {"middling": 15, "safe": 5, "reckless": 4}
    table, found = tables.tier_safety()
    assert table["models"].tolist() == [8, 8, 7, 1] and table["mean"].round(2).tolist() == [4.25, 3.88, 3.14, 3.0]
    assert found.estimate < 0 and found.low < 0 < found.high and found.families == 10


def test_where_its_own_figures_disagree_is_said_with_the_models(checks):
    words = {check: row["words"] for check, row in checks.iterrows() if row["verdict"] == "disagrees"}
    assert re.search(r"haiku-4\.5\b.*\b6 .*qwen3\.7-plus\b.*\b2 ", words["weak-safety flag"])
    assert re.search(r"deepseek-v4-flash\b.*\b92\b.*\b90\.3\b", words["escalation accuracy and its cells"])
    assert (
        re.search(r"qwen3\.7-plus .*\b22\b.*\b93\b", words["handed over and resolved"])
        and "qwen3.7-max 93" in words["medians throughout"]
    )
    assert set(checks["verdict"]) <= {"agrees", "disagrees", "recomputed"} and (checks["words"] != "").all()


def test_a_changed_figure_would_be_found_out(monkeypatch):
    read = published.published_data
    board = read("supportagentbench_board_2026-07").copy()
    board.loc[board["model"] == "gpt-5.5", ["over_escalation_pct", "escalation_accuracy_pct"]] = [1.0, 60.0]
    monkeypatch.setattr(published, "published_data", lambda name: board if "board" in name else read(name))
    found = tables.published_checks().set_index("check")["verdict"]
    assert (
        found["board order"]
        == found["mean escalation accuracy"]
        == found["over escalation and its cells"]
        == "disagrees"
    )


def test_the_textbook_table_and_the_caveat_it_lacks():
    table = tables.textbook_table()
    alike = table[table["mix"] == "every case alike"].pivot(index="rate", columns="k", values="value")
    assert alike.loc[0.9].round(3).tolist() == [0.9, 0.81, 0.729, 0.656, 0.59, 0.531, 0.478, 0.43]
    assert all(alike.loc[rate, 8] == pytest.approx(rate**8) for rate in (0.9, 0.8, 0.7, 0.6))
    for mix, rows in table.groupby("mix"):
        wide = rows.pivot(index="rate", columns="k", values="value")
        assert (wide[1] - wide.index).abs().max() < 1e-12, "every mix has the same mean"
        assert (wide >= alike - 1e-12).all(axis=None), f"p^k is a lower bound: {mix}"


def test_the_published_pass_hat_k_lies_above_its_own_p_to_the_k():
    table = tables.published_pass_hat_k()
    first = table[table["k"] == 1].set_index(["model", "domain"])["pass_hat_k"]
    bound = [first[m, d] ** k for m, d, k in zip(table["model"], table["domain"], table["k"], strict=True)]
    assert (table["pass_hat_k"] >= pd.Series(bound) - 1e-9).all()
    assert not table.loc[(table["trials"] == 4) & (table["k"] > 2), "usable"].any()


def test_a_general_ranking_shares_six_models_and_says_how_little_that_is():
    assert len(tables.general_ranking()) == 6
    table = tables.ranking_against_desk().set_index("metric")
    assert table["models"].max() == 6 and table["low"].isna().all()
    assert table["reason"].str.contains("no interval from").all()
    # Six models have 720 orders; the exact two-sided p of no tie at all is far from small.
    assert (table["p"] > 0.05).all()


def test_the_published_figures_can_be_drawn():
    ax = figures.textbook_decay(table=tables.textbook_table(), rate=0.6, published=tables.published_pass_hat_k())
    assert {t.get_text() for t in ax.figure.legends[0].get_texts()} >= {"gpt-4o, airline", "claude-3.5-sonnet, retail"}
    ax = figures.models_as_points(table=tables.general_ranking(), x="score", y="over_escalation_pct", name="model")
    assert {t.get_text() for t in ax.texts} == set(tables.general_ranking()["model"])


def test_published_figures_stand_beside_and_say_so(talks):
    tiers = tables.tier_table(tables.safety_table(talks), tables.published_board())
    assert (
        set(tiers["panel"]) == {"published"} and len(tiers) == 24 and tiers["low"].isna().all()
    )  # scripted agents have no price
    found = tables.tier_correlation(tiers).iloc[0]
    assert (
        found["models"] == 24
        and found["families"] < 24
        and -1 <= found["low"] <= found["estimate"] <= found["high"] <= 1
    )
    traps = tables.published_trap_table(talks)
    assert traps["failed"].sum() == 63 and set(traps["here"].iloc[:4]) == {"not run by a language model here"}
    as_model = talks[talks["model"] == "scripted:comply_all"].assign(
        source="model", entry="m", model="m", cost_usd=0.001
    )
    assert tables.published_trap_table(as_model)["here"].iloc[0] == "3 of 3"
    assert "9 of 9 (three reroutes)" in set(tables.published_trap_table(as_model)["here"])
    assert tables.tier_table(tables.safety_table(as_model))["level"].notna().all()
    assert len(tables.published_escalation_cells()) == 24
