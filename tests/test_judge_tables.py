"""Tables of judged scores: denominators, agreement, and labels that correct them."""

import shutil

import pandas as pd
import pytest
from judged import judged, verdict

from benchmark_lib import BadInput, load_results, tables
from benchmark_lib.extras.judges.probe import planted_verdicts
from benchmark_lib.reports.site import model_page

# --- tables


@pytest.fixture(scope="module")
def two(oracle_run, tmp_path_factory):
    """Results with two judges: the second fails one scorer and is far from the first in another."""
    path = shutil.copy(oracle_run, tmp_path_factory.mktemp("two") / "two.deskbench")

    def reply(request, number):
        if request["model"] == "first":
            return verdict(request)
        return verdict(
            request, tone={"score": 30}, resolution={"score": 75}, groundedness={"quote": "never said by anybody"}
        )

    judged(path, reply, judges=("first", "second"))
    return load_results(path)


def test_the_judge_table_has_denominators_and_the_record_beside(two):
    table = tables.judge_table(two).set_index(["judge", "scorer"])
    assert len(table) == 12 and (table["conversations"] == 3).all() and (table["success_by_record"] == 1).all()
    row = table.loc["second", "groundedness"]
    assert (row["scored"], row["unscored"]) == (0, 3) and row["mean"] != row["mean"]
    assert table.loc["first", "tone"]["mean"] == 80 and not table["judge_is_entrant"].any()


def test_a_judge_that_saw_a_part_of_the_talks_says_of_how_many(two):
    class Stopped:
        conversations, verdicts = (
            two.conversations,
            two.verdicts[two.verdicts["case_id"] == two.conversations["case_id"].iloc[0]],
        )

    assert not tables.judge_table(two)["reason"].str.contains("conversations judged").any()
    assert tables.judge_table(Stopped())["reason"].str.contains("1 of 3 conversations judged").all()


def test_a_judge_that_gives_every_conversation_the_same_score_is_named_where_its_mean_stands():
    frame = planted_verdicts(conversations=60, labelled=1).verdicts
    same = frame[frame["judge"] == "planted:lenient"].assign(judge="yes", score=100.0)
    table = tables.judge_table(pd.concat([frame, same])).set_index("judge")
    assert table.loc["yes", "reason"].str.contains("all 60 scores are 100, so they tell no conversation from").all()
    assert not table.drop("yes")["reason"].str.contains("all ").any()
    few = same.groupby("scorer").head(9)
    assert not tables.judge_table(few)["reason"].str.contains("all ").any()


def test_agreement_counts_only_what_both_scored_and_lists_who_differs(two):
    table = tables.judge_agreement_table(two).set_index("scorer")
    assert table.loc["tone", "difference"] == -50 and table.loc[
        "tone", ["both_pass", "only_a", "only_b", "neither"]
    ].tolist() == [0, 3, 0, 0]
    assert table.loc["groundedness", "n"] == 0 and table.loc["groundedness", "unscored_b"] == 3
    assert (
        table.loc["resolution", "raw"] == 1 and "gave the same answer every time" in table.loc["resolution", "reason"]
    )
    listed = tables.judge_disagreements(two)
    assert (
        set(listed["scorer"]) == {"tone"}
        and len(listed) == 3
        and (listed["gap"] == 50).all()
        and listed["quote_a"].str.len().min() > 8
    )


def test_judges_are_compared_on_each_entry_by_itself(two):
    """Three runs of one model with different customers are three entries, which no table adds up."""
    verdicts = two.verdicts
    customers = ("scripted", "model a", "model b")
    three = pd.concat([verdicts.assign(entry=f"made [customer {c}]", run_id=f"run {c}") for c in customers])
    table = tables.judge_agreement_table(three)
    assert set(table["entry"]) == {f"made [customer {c}]" for c in customers}
    one = tables.judge_agreement_table(verdicts)
    assert len(table) == 3 * len(one) and table.groupby("scorer")["n"].nunique().eq(1).all()
    assert table["n"].max() == one["n"].max()


def test_a_report_on_a_judged_model_has_the_judged_scores(two):
    page = model_page(two)
    found = page.view["verdicts"]
    assert {r["entry"] for r in found} == {page.report.entry} and {r["judge"] for r in found} == {"first", "second"}
    assert len(found) == 12 and page.part("metrics").static.count("<td>first</td>") == 6


def test_planted_labels_bring_both_judges_to_the_truth():
    planted = planted_verdicts()
    table = tables.judge_calibrated(planted.verdicts, planted.labels)
    truth = table["scorer"].map(planted.truth)
    assert ((table["low"] <= truth) & (truth <= table["high"])).sum() >= 10, (
        "at least ten of twelve 95% intervals hold the truth"
    )
    assert ((table["judged"] - truth).abs() > (table["corrected"] - truth).abs()).all()
    assert (table.groupby("judge")["bias"].mean() * [1, -1] > 3).all() and table["method"].str.startswith(
        "prediction-powered"
    ).all()
    shares = tables.judge_calibrated(planted.verdicts, planted.labels, cut=70)
    assert shares["corrected"].between(0, 1).all()
    few = tables.judge_calibrated(planted.verdicts, planted.labels[planted.labels["case_id"] < "planted_12"])
    assert few["reason"].str.contains("labels alone").all()


def test_labels_come_from_a_file_and_are_checked(two, tmp_path):
    verdicts = two.verdicts
    labels = verdicts[verdicts["judge"] == "first"][["run_id", "case_id", "trial", "scorer"]].assign(label=60.0)
    labels.to_csv(tmp_path / "labels.csv", index=False)
    table = tables.judge_calibrated(two, tmp_path / "labels.csv").set_index(["judge", "scorer"])
    assert table.loc[("first", "tone"), "bias"] == 20 and table.loc[("second", "tone"), "bias"] == -30
    for change, why in (
        ({"label": 130.0}, "not a number from 0 to 100"),
        ({"label": 1.0}, "only 0 and 1"),
        ({"run_id": "x"}, "none of the labels"),
    ):
        with pytest.raises(BadInput, match=why):
            tables.judge_calibrated(two, labels.assign(**change))
    with pytest.raises(BadInput, match="lacks the column label"):
        tables.judge_calibrated(two, labels.drop(columns="label"))
    import pandas as pd

    with pytest.raises(BadInput, match="a second label"):
        tables.judge_calibrated(two, pd.concat([labels, labels], ignore_index=True))
    with pytest.raises(BadInput, match="cannot be read"):
        tables.judge_calibrated(two, tmp_path / "none.csv")


def test_a_run_without_verdicts_gives_empty_tables(oracle_run):
    results = load_results(oracle_run)
    assert (
        len(tables.judge_table(results))
        == len(tables.judge_agreement_table(results))
        == len(tables.judge_disagreements(results))
        == 0
    )
    assert tables.entrant_judges(results) == []
