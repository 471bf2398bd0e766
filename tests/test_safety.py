"""Unsafe actions.

Traps add up, pressure only grows, a clean sheet is not certainty, and reasons stand where nothing can be counted.
"""

import numpy as np
import pandas as pd
import pytest
from made_runs import OTHER, TUNED

from benchmark_lib import estimators, reports, tables
from benchmark_lib.analysis.tables.safety import STATES
from benchmark_lib.reports.one_model import numbers


def test_a_count_that_cannot_be_had_says_why(odd):
    assert "no band" in tables.safety_table(odd["half finished"]).set_index("entry").loc[TUNED, "reason"]
    assert (tables.safety_table(odd["no traps"])["reason"] != "").all()
    assert "not run" in set(
        tables.trap_table(
            pd.concat([odd["resolvable only"], odd["traps only"].loc[lambda rows: rows["model"] == OTHER]])
        )["state"]
    )


def test_all_zero_and_all_one_are_never_certain(odd):
    safe, reckless = (tables.safety_table(odd[k]).iloc[0] for k in ("all ones", "all zeros"))
    assert (
        safe["low"] == 0
        and safe["high"] == pytest.approx(3.335, abs=0.01)
        and reckless["low"] == pytest.approx(14.665, abs=0.01)
    )
    both = tables.escalation_table(odd["all zeros"]).iloc[0]
    assert (
        both["missed_mean"] == 1
        and 0.8 < both["missed_low"] < 1
        and both["over_mean"] == 0
        and 0 < both["over_high"] < 0.25
    )
    assert np.isnan(both["precision"]) and "nothing was handed over" in both["reason"]


def test_traps_add_up(talks):
    table, safety = tables.trap_table(talks), tables.safety_table(talks).set_index("entry")
    assert (table[list(STATES)].sum(axis=1) == table["trials"]).all()
    for model, mine in table.groupby("entry"):
        assert mine["unsafe_share"].sum() == pytest.approx(safety.loc[model, "observed"])
        assert (mine["stability"] == "flips").sum() == safety.loc[model, "flipping"]
    kinds = tables.kind_table(talks).groupby("entry")["count"].sum()
    assert np.allclose(kinds, safety["observed"].reindex(kinds.index))
    flips = table[(table["entry"] == TUNED) & (table["stability"] == "flips")]
    assert len(flips) and (flips["unsafe_share"].between(0.01, 0.99)).all()


def test_the_bootstrap_over_traps_stands_beside_the_posterior(talks):
    table, safety = tables.trap_intervals(talks).set_index("entry"), tables.safety_table(talks).set_index("entry")
    assert (table["traps"] == 18).all() and np.allclose(table["observed"], safety.loc[table.index, "observed"])
    for ends in (["low", "high"], ["these_low", "these_high"]):
        assert np.allclose(table[ends], safety.loc[table.index, ends])
    mine = talks[(talks["entry"] == TUNED) & (talks["bucket"] == "adversarial")]
    bca = estimators.bootstrap_interval(mine.groupby("case_id")["unsafe"].mean().astype(float))
    assert table.loc[TUNED, ["bca_low", "bca_high"]].tolist() == pytest.approx([18 * bca.low, 18 * bca.high])
    assert table.loc[TUNED, "method"] == "BCa over 18 cases" and table["method"].str.contains("exact bound").any()
    shown = reports.readable(table.reset_index(), "trap intervals")
    assert "BCa bootstrap over traps: mean (95%)" in shown


def test_models_without_a_trap_have_no_row_of_intervals(odd):
    assert tables.trap_intervals(odd["no traps"]).empty


def test_pressure_only_ever_grows_and_ends_at_the_count(talks):
    table = tables.pressure_table(talks)
    for model, mine in table.groupby("entry"):
        mine = mine.sort_values("push")
        traps = talks[(talks["model"] == model) & (talks["bucket"] == "adversarial")]
        assert (
            mine["unsafe"].is_monotonic_increasing
            and mine["heard"].is_monotonic_decreasing
            and (mine["given_way"] >= mine["unsafe"]).all()
        )
        assert mine["unsafe"].iloc[-1] == traps["unsafe"].sum() and mine["heard"].iloc[0] == len(traps)


def test_wavering_under_pressure_is_told_from_believing(talks):
    """Three talks made by hand: unsafe at once, unsafe after the second push, wavered after the first."""
    rows = talks[(talks["model"] == TUNED) & (talks["bucket"] == "adversarial")].head(3)
    rows = rows.assign(
        pressure_reached=["unsafe", "unsafe", "wavered"],
        pressure_push=[0.0, 2.0, 1.0],
        pushes=[0, 3, 4],
        unsafe=[True, True, False],
    )
    table = tables.pressure_table(rows).set_index("push")
    assert (
        list(table["unsafe"]) == [1, 1, 2, 2, 2]
        and list(table["given_way"]) == [1, 2, 3, 3, 3]
        and list(table["heard"]) == [3, 2, 2, 2, 1]
    )


def test_crossed_variants_stand_apart_from_the_cases(talks):
    rows = talks[(talks["model"] == TUNED) & (talks["bucket"] == "adversarial")]
    both = pd.concat([rows, rows.assign(case_id="factorial_" + rows["case_id"])])
    assert (
        tables.safety_table(both).iloc[0]["observed"] == tables.safety_table(rows).iloc[0]["observed"]
    )  # the count of 18 knows no variant
    assert tables.leaderboard(both)["unsafe_n"].tolist() == tables.leaderboard(rows)["unsafe_n"].tolist()
    only = both[both["case_id"].str.startswith("factorial")]
    assert tables.safety_table(only).iloc[0]["reason"] and "crossed variants" in numbers.what_is_missing(
        reports.model_report(only)
    )
