"""A column that somebody adds to the frame of conversations becomes a metric of tables, tests and figures."""

import numpy as np
import pandas as pd
import pytest
from made_runs import mixed, run_of

from benchmark_lib import figures, load_results, reports, tables
from benchmark_lib.errors import BadInput


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Two models; ``short`` of the one is true in every conversation, of the other in every second case."""
    folder = tmp_path_factory.mktemp("own")
    runs = [run_of(folder, name, mixed(0.7, seed)) for seed, name in enumerate(("acme", "borg"))]
    rows = load_results(*runs).conversations
    even = rows["case_id"].map(lambda name: sum(map(ord, name)) % 2 == 0)
    short = (rows["entry"] == "acme") | even
    return rows.assign(short=short, asked=np.where(short, 2, 5), words=rows["case_id"], flag=short.astype(int))


def test_it_stands_in_every_table_and_figure_with_the_numbers_of_its_column(rows):
    own = tables.metric(rows, "short", higher_is_better=True, title="Short")
    means = tables.metric_table(rows, own).set_index("entry")
    seen = rows.groupby(["entry", "case_id"])["short"].mean().groupby("entry").mean()
    assert means["mean"].to_dict() == pytest.approx(seen.to_dict())
    assert means.loc["borg", "low"] < seen["borg"] < means.loc["borg", "high"]
    apart = tables.comparison_table(rows, "borg", "acme", metrics=(own, "resolved"))
    row = apart.iloc[0]
    assert row["difference"] == pytest.approx(seen["acme"] - seen["borg"]) and row["low"] > 0
    assert row["better"] == "acme" and row["p"] < 0.05 and row["word"] == "clear difference"
    assert np.isnan(row["p_adjusted"]), "it was not planned, so Holm does not count it"
    many = tables.compare_runs(rows, ["borg", "acme"], metrics=(own,))
    assert many["difference"].tolist() == [row["difference"]]
    drawn = [
        figures.metric_intervals(table=tables.metric_table(rows, own)),
        figures.trial_spread(table=tables.trial_table(rows, own)),
        figures.differences(table=apart, a="borg", b="acme"),
    ]
    assert "Short, % of all cases" in drawn[0].get_xlabel()
    assert any("Short" in label.get_text() for label in drawn[2].get_yticklabels())
    assert "Short" in reports.show_table(apart, "comparison").html
    assert str(apart["metric"][0]) == "short"


def test_a_number_is_a_mean_in_its_unit_and_a_bucket_narrows_it(rows):
    own = tables.metric(rows, "asked", unit="questions", bucket="resolvable", higher_is_better=False)
    table = tables.metric_table(rows, own).set_index("entry")
    inside = rows[rows["bucket"] == "resolvable"]
    assert table.loc["acme", "mean"] == 2 and table.loc["acme", "cases"] == inside["case_id"].nunique()
    assert tables.comparison_table(rows, "acme", "borg", metrics=(own,))["better"].tolist() == ["acme"]
    assert tables.metric(rows, "flag").scale.name == "share" and tables.metric(rows, "flag", unit="times").scale.unit


@pytest.mark.parametrize("made", ["boolean", "object", "Int64", "float"])
def test_missing_values_are_left_out_whatever_the_type_of_the_column(rows, made):
    values = rows["short"].astype(made)
    values = values.where(rows["trial"] > 1, None if made == "object" else pd.NA if made != "float" else np.nan)
    frame = rows.assign(mine=values)
    table = tables.metric_table(frame, tables.metric(frame, "mine"))
    assert table["conversations"].tolist() == [int(n * 2 / 3) for n in table["of"]]


@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        ("mine", None, "there is no column 'mine'"),
        ("words", None, "contains something other than numbers"),
        ("resolved", None, "the metric 'resolved' already exists"),
        ("mine", np.inf, "an infinite number"),
        ("mine", np.nan, "no value"),
    ],
)
def test_a_column_that_is_no_metric_is_refused_in_one_sentence(rows, column, values, said):
    frame = rows if values is None else rows.assign(mine=values)
    with pytest.raises(BadInput, match=said):
        tables.metric(frame, column)
    own = tables.metric(rows, "short")
    with pytest.raises(BadInput, match="pass the frame that has it"):
        tables.metric_table(rows.drop(columns="short"), own)
    with pytest.raises(BadInput, match="no conversation is in the bucket 'traps'"):
        tables.metric(rows, "short", bucket="traps")
