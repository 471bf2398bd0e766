"""Two models compared case by case: differences, the cases on which they part, and how much more would tell."""

import re

import numpy as np
import pandas as pd
import pytest
from made_runs import OTHER, TUNED
from told import numbers_in

from benchmark_lib import analysis, figures, reports, tables
from benchmark_lib.analysis.estimators.comparisons import SURE
from benchmark_lib.analysis.panels import short_name
from benchmark_lib.analysis.tables.comparison import PLANNED
from benchmark_lib.analysis.tables.verdicts import outcome_in_words


@pytest.fixture(scope="module")
def compared(talks):
    return tables.comparison_table(talks, TUNED, OTHER)


def test_what_cannot_be_compared_says_why(odd):
    uneven = tables.comparison_table(odd["different trials"], TUNED, OTHER)
    assert uneven[uneven["metric"].isin(PLANNED)]["reason"].map(numbers_in).map({3, 1}.issubset).all()
    one = odd["one model"]
    told = tables.comparison_in_words(
        tables.comparison_table(one, TUNED, TUNED), tables.differing_cases(one, TUNED, TUNED), TUNED, TUNED
    )
    assert "nothing to compare" in told


def test_two_models_are_compared_case_by_case(talks, compared):
    there, back = compared, tables.comparison_table(talks, OTHER, TUNED)
    assert np.allclose(there["difference"], -back["difference"], equal_nan=True) and np.allclose(
        there["p"], back["p"], equal_nan=True
    )
    assert np.allclose(there["low"].astype(float), -back["high"].astype(float), equal_nan=True)
    row = there.set_index("metric").loc["resolved"]
    values = [
        talks[(talks["model"] == m) & (talks["bucket"] == "resolvable")].groupby("case_id")["resolved"].mean()
        for m in (TUNED, OTHER)
    ]
    assert row["difference"] == pytest.approx((values[1] - values[0]).mean()) and row["better"] == OTHER
    assert row["truth"] == pytest.approx(0.9 * 0.9 - 0.8 * 0.7) and row["low"] <= row["truth"] <= row["high"]
    planned = there[there["metric"].isin(PLANNED)]
    assert (planned["p_adjusted"] >= planned["p"] - 1e-12).all() and there.loc[
        ~there.index.isin(planned.index), "p_adjusted"
    ].isna().all()
    assert there.set_index("metric").loc["unsafe", "p_these"] < 0.05


def test_the_outcome_stands_in_one_sentence_and_differences_of_shares_in_points(talks, compared):
    rows = compared[compared["metric"].isin(PLANNED)].to_dict("records")
    open_ = [row["title"].lower() for row in rows if row["word"] != SURE]
    said = outcome_in_words(rows)
    assert said.startswith(f"tunable s.9 c.1 k.1 is better at {4 - len(open_)} of the 4 planned measures (")
    assert said.endswith(" Both played the same 162 cases.")
    open_alone = [row | {"word": ""} for row in rows if row["metric"] == "unsafe"]
    assert outcome_in_words(open_alone).startswith("Unsafe actions are too close to call. ")
    idle = [row | {"a": 0.1} if row["metric"] == "resolved" else row for row in rows]
    assert (
        f"{short_name(TUNED)} resolves under half of the resolvable cases (10.0%), so" in outcome_in_words(idle)
        and "under half" not in said
    )
    shown = reports.readable(compared, "comparison").set_index("Metric")["B minus A (cases like these)"]
    assert "points" in shown["Resolved"] and "%" not in re.sub(r"[\d.]+% interval", "", "".join(shown))


def test_a_metric_without_pairs_has_no_query_and_every_other_query_is_read(five_agents):
    table = tables.comparison_table(five_agents, TUNED, OTHER)
    alone = table["cases"] == 0
    assert alone.any() and (table.loc[alone, ["query_a", "query_b"]] == "").all(axis=None)
    for query, cases in table.loc[~alone, ["query_b", "cases"]].itertuples(index=False):
        assert five_agents.where(query)["case_id"].nunique() <= cases


def test_a_comparison_without_planned_metrics_begins_with_the_cases(talks):
    table = tables.comparison_table(talks, TUNED, OTHER, ("agent_messages",))
    said = tables.comparison_in_words(table, tables.differing_cases(talks, TUNED, OTHER), TUNED, OTHER)
    assert said.startswith("Both played the same 162 cases. They differ on ")


def test_the_trial_that_is_shown_is_one_in_which_the_two_differ(talks):
    cases = tables.differing_cases(talks, TUNED, OTHER)
    for row in cases[cases["differ"].str.startswith("success")].itertuples():
        assert {row.a_trials[row.trial - 1], row.b_trials[row.trial - 1]} == {"+", "-"}


def test_no_row_contradicts_itself_and_the_rows_shown_do_not_matter(talks, compared):
    tested = compared[compared["p"].notna()]
    read = tested["p_adjusted"].fillna(tested["p"])
    apart = (tested["low"] > 0) | (tested["high"] < 0)
    assert (apart == (read < 0.05)).all() and (apart == tested["word"].eq("clear difference")).all()
    assert (tested[tested["p_adjusted"].notna()]["level"] >= 0.95).all()
    alone = tables.comparison_table(talks, TUNED, OTHER, ("unsafe",)).iloc[0]
    assert alone["p_adjusted"] == compared.set_index("metric").loc["unsafe", "p_adjusted"]


def test_the_cases_on_which_two_part_are_named(talks):
    cases = tables.differing_cases(talks, "scripted:oracle", "scripted:no_op")
    assert (
        len(cases) == 162
        and (cases["split"] == "always").all()
        and set(cases["a_trials"]) == {"+++"}
        and set(cases["b_trials"]) == {"---"}
    )


def test_a_case_whose_every_trial_differs_in_the_handover_alone_is_no_case_in_part(talks):
    """Both fail in all trials, one of them with a needless handover each time."""
    idle = talks[talks["entry"].eq("scripted:no_op") & talks["bucket"].eq("resolvable")]
    both = pd.concat([idle, idle.assign(entry="pusher", needless_handover=True)], ignore_index=True)
    cases = tables.differing_cases(both, "scripted:no_op", "pusher")
    assert set(cases["differ"]) == {"over-escalation"} and (cases["difference"] == 0).all()
    assert len(cases) > 100 and set(cases["split"]) == {"always"}
    compared = tables.comparison_table(both, "scripted:no_op", "pusher")
    said = tables.comparison_in_words(compared, cases, "scripted:no_op", "pusher")
    assert f"on {len(cases)} of them in every trial" in said


def test_a_case_that_differs_in_a_planned_metric_alone_is_named_and_single_trials_are_not_called_every(talks):
    once = talks[talks["trial"] == 1].copy()
    mine = once["entry"].eq(OTHER) & once["bucket"].eq("resolvable")
    theirs = once[once["entry"].eq(TUNED)].set_index("case_id")
    once.loc[mine, ["success", "resolved"]] = theirs.loc[once.loc[mine, "case_id"], ["success", "resolved"]].to_numpy()
    both = (
        once[mine]
        .set_index("case_id")["needless_handover"]
        .ne(theirs["needless_handover"].reindex(once.loc[mine, "case_id"]))
    )
    cases = tables.differing_cases(once, TUNED, OTHER)
    alone = cases[cases["differ"] == "over-escalation"]
    assert set(alone["case_id"]) == set(both.index[both]) and len(alone) and (alone["difference"] == 0).all()
    assert set(cases["split"]) == {""} and "Split" not in reports.readable(cases, "cases")
    said = tables.comparison_in_words(tables.comparison_table(once, TUNED, OTHER), cases, TUNED, OTHER)
    assert f" They differ on {len(cases)} cases. The largest of the other differences" in said
    assert "every trial" not in said
    drawn = figures.differing_cases(table=cases, a=TUNED, b=OTHER)
    assert f"all {(cases['difference'] != 0).sum()}" in drawn.get_xlabel() or "widest" in drawn.get_xlabel()


def test_two_that_share_few_cases_say_so(talks):
    frame = analysis.conversations_of(talks)
    solved, tempted = frame["bucket"] == "resolvable", frame["bucket"] == "adversarial"
    apart = frame[(frame["model"].eq(TUNED) & solved) | (frame["model"].eq(OTHER) & tempted)]
    ax = figures.differing_cases(table=tables.differing_cases(apart, TUNED, OTHER), a=TUNED, b=OTHER)
    assert "both ran" in ax.texts[0].get_text() and "same cases" not in ax.texts[0].get_text()
    mine = tables.differing_cases(talks, TUNED, OTHER, bucket="adversarial")
    assert set(mine["bucket"]) == {"adversarial"} and mine["difference"].abs().is_monotonic_decreasing
