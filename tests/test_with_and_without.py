"""Every metric in two forms: over all conversations, and over those whose customer the audit did not flag."""

import numpy as np
import pandas as pd
import pytest
from browser import open_browser, open_page

from benchmark_lib import load_results, tables
from benchmark_lib.analysis import Query, facets
from benchmark_lib.analysis.facets import flags_of
from benchmark_lib.analysis.tables.board_cells import APART, board_table
from benchmark_lib.analysis.tables.leaderboard import ENDS, WITHOUT
from benchmark_lib.analysis.tables.nuisance import both_forms
from benchmark_lib.reports.html import board_parts
from benchmark_lib.reports.site import build_site
from benchmark_lib.scoring.metrics import METRICS, Shown, shown_on

MODEL, EXAMPLE = "scripted:oracle", "data/examples/blind-play-hard.deskbench"


@pytest.fixture(scope="module")
def flagged(talks):
    """One agent's conversations, those of trial 1 of every bucket's first cases flagged though it did well in them."""
    rows = talks[talks["model"] == MODEL].copy()
    rows["customer_flagged"] = (rows["trial"] == 1) & rows["case_id"].str.endswith("_1")
    rows.loc[rows["customer_flagged"] & (rows["bucket"] == "resolvable"), ["resolved", "success"]] = False
    return rows


def test_the_board_gives_every_metric_in_both_forms(flagged):
    (row,) = tables.leaderboard(flagged).to_dict("records")
    kept = tables.leaderboard(flagged[~flagged["customer_flagged"]]).iloc[0]
    assert row["flagged"] == flagged["customer_flagged"].sum() > 0
    for name in METRICS:
        found = [row[f"{name}{WITHOUT}{end}"] for end in ENDS]
        assert found == pytest.approx([kept[f"{name}{end}"] for end in ENDS], nan_ok=True), name
    assert row["resolved_mean"] < 1 == row["resolved_without_mean"]


def test_the_findings_of_the_audit_count_and_faults_only_where_none_was_run():
    frame = pd.DataFrame(
        {
            "customer_flagged": pd.array([True, False, None, None, False], dtype="boolean"),
            "customer_faults": [0, 2, 1, 0, 0],
            "ended_by": [*["resolved_by_customer"] * 4, "customer_fault"],
        }
    )
    assert flags_of(frame).tolist() == [True, False, True, False, True]


def test_the_board_has_a_part_without_flagged_customers(flagged):
    *_, more, without = board_parts(board_table(tables.leaderboard(flagged)))
    assert without.rows[0]["flagged"] == f"{flagged['customer_flagged'].sum()} of {len(flagged)}"
    names = [column.key for column in without.columns if column.key.endswith(WITHOUT)]
    assert names == [f"{name}{WITHOUT}" for name in shown_on(Shown.BOARD)]
    assert all(head.endswith(APART) for column in without.columns[2:] for head in column.heads)
    assert not any(column.key.endswith(WITHOUT) for column in more.columns)


def test_the_conversations_counted_as_flagged_are_those_listed(flagged):
    assert Query.of(customer_flagged=True).mask(facets(flagged)).sum() == flags_of(flagged).sum()


def test_a_customer_fault_that_falls_on_successes_and_failures_alike_moves_nothing(talks):
    """Leaving conversations out at random is no bias: over many drawings the mean without them is the mean of all."""
    rng, rows = np.random.default_rng(7), talks[talks["model"].str.startswith("scripted:tunable?skill=0.7")]
    means = []
    for _ in range(60):
        flagged = rows.assign(customer_flagged=rng.random(len(rows)) < 0.2)
        [(every, without)] = both_forms(flagged, ["resolved"])
        means.append(without.mean.estimate)
    assert abs(np.mean(means) - every.mean.estimate) < 4 * np.std(means) / np.sqrt(60) + 0.005


def test_the_board_of_the_site_shows_the_other_form_at_the_press_of_a_button(tmp_path):
    results = load_results(EXAMPLE)
    results.conversations["customer_flagged"] = results.conversations["bucket"].eq("resolvable") & (
        results.conversations.index % 2 == 0
    )
    site, row = build_site(results, tmp_path / "site"), tables.leaderboard(results).iloc[0]
    with open_browser() as browser, open_page(browser) as (page, seen):
        page.goto((site.path / "index.html").as_uri())
        cell = page.locator("tr.row").first.locator("td[data-key=resolved]")
        before = cell.inner_text()
        page.click("#unflagged")
        assert f"{100 * row['resolved_without_mean']:.1f}%" in cell.inner_text() != before
        assert "without flagged customers" in page.inner_text("#board-status")
        page.locator("tr.row").first.locator(f"text=/^{row['flagged']}$/").click()
        page.get_by_text(f"{row['flagged']} conversation").first.wait_for()
        assert not seen.errors
