"""Reliability: pass^k, flips, trials and missing conversations are what counting gives."""

import numpy as np
import pytest
from made_runs import CASES, TUNED, mixed, run_of, some
from told import numbers_in

from benchmark_lib import analysis, estimators, figures, tables
from benchmark_lib.errors import BadInput
from benchmark_lib.reports import model_report
from benchmark_lib.reports.one_model import numbers


class TestReliability:
    def test_pass_hat_k_of_a_table_is_that_of_the_counts(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", mixed(0.7, 1), trials=4))
        counts = tables.success_counts(results.conversations, "resolvable")
        table = tables.reliability_table(results).query("bucket == 'resolvable'").set_index("k")
        for k in (1, 2, 3, 4):
            assert table.loc[k, "estimate"] == pytest.approx(estimators.pass_hat_k(counts.successes, counts.trials, k))
        assert (
            set(table.loc[[1, 2, 3, 4], "label"]) == {"observed"}
            and table.loc[5, "label"] == "beta-binomial extrapolation"
        )
        assert table["usable"].tolist() == [True, True] + [False] * 6
        wide = tables.wide_reliability(table.reset_index()).iloc[0]
        assert wide["pass^3"].endswith("°") and wide["pass^8"].endswith("*") and wide["pass^1"][-1].isdigit()

    def test_buckets_are_never_pooled(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: CASES[c][0] == "resolvable"))
        found = tables.reliability_table(results, (1,)).set_index("bucket")["estimate"].to_dict()
        assert found == {"resolvable": 1.0, "must_escalate": 0.0, "adversarial": 0.0}

    def test_missing_conversations_give_bounds_that_hold_every_completion(self, tmp_path):
        outcome = mixed(0.5, 3)
        results = analysis.load_results(
            run_of(tmp_path, "m", lambda c, t: "absent" if t == 3 else outcome(c, t), planned=3)
        )
        counts = tables.success_counts(results.conversations, "resolvable")
        bounds = estimators.missing_bounds(counts.successes, counts.trials, 3)
        assert (bounds.n, bounds.planned, bounds.missing) == (24, 36, 12)
        hits = np.array([[outcome(c, t) for t in (1, 2)] for c in some("resolvable")])
        for seed in range(20):
            last = np.random.default_rng(seed).random(len(hits)) < 0.5
            assert bounds.low - 1e-9 <= np.column_stack([hits, last]).mean() <= bounds.high + 1e-9

    def test_flips_and_trials_are_counted(self, tmp_path):
        results = analysis.load_results(
            run_of(tmp_path, "m", lambda c, t: c.endswith("1") or (c.endswith("2") and t == 1))
        )
        counts = tables.success_counts(results.conversations, "resolvable")
        flips = estimators.flip_rate(counts.successes, counts.trials)
        assert flips.n == 12 and flips.estimate == pytest.approx(0.5 * 2 * 1 * 2 / (3 * 2))
        spread = tables.trial_table(results, "unsafe")
        assert spread["value"].tolist() == [1.0, 2.0, 2.0], "a count is summed over the traps of a trial"

    def test_a_run_without_a_conversation_gives_empty_tables(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: "absent"))
        safety = tables.safety_table(results)
        assert safety.empty and {"band", "chances", "reason"} <= set(safety)
        with pytest.raises(BadInput, match="no conversations to compare"):
            tables.choose_pair(results)

    def test_a_stopped_trial_stands_outside_the_medians(self, tmp_path):
        results = analysis.load_results(run_of(tmp_path, "m", lambda c, t: t == 1, planned=3))
        frame = results.conversations
        cut = frame[(frame["trial"] == 1) | (frame["case_id"].isin(["trap_1", "trap_2"]) & (frame["trial"] == 2))]
        spread = tables.trial_table(cut, "unsafe")
        assert spread["in_median"].tolist() == [True, False] and "missing" in spread["reason"][1]
        board = tables.leaderboard(cut).iloc[0]
        assert board["unsafe"] == spread["value"][0] and "trial 2" in board["notes"]
        ax = figures.trial_spread(table=spread)
        assert numbers_in(ax.figure.get_supxlabel())[-2:] == [2, 2] and len(ax.get_yticks()) == 1


def test_steadiness_of_an_unfinished_run_counts_only_the_cases_behind_it(talks):
    frame = analysis.conversations_of(talks)
    cut = frame[(frame["model"] == TUNED) & ((frame["trial"] == 1) | frame["case_id"].str.endswith("_1"))]
    (row,) = (row for row in numbers.repeats(model_report(cut)) if row["bucket"] == "resolvable")
    assert (row["cases"], row["flip_cases"]) == (120, 20) and [p["cases"] for p in row["points"]] == [120, 20, 20]
    here = tables.reliability_table(cut, (1, 2, 3)).query("bucket == 'resolvable'")
    for name, column in (("value", "estimate"), ("low", "low"), ("high", "high")):
        assert [p[name] for p in row["points"]] == here[column].tolist(), "one page, one interval: clustered by intent"


def test_avg_at_k_is_the_boards_mean_and_says_its_k(talks):
    table = tables.reliability_table(talks, (1, 3)).drop_duplicates(["entry", "bucket"]).set_index(["entry", "bucket"])
    board = tables.leaderboard(talks).set_index("entry")
    names = {"resolvable": "resolved", "must_escalate": "must_escalate_success", "adversarial": "adversarial_success"}
    for (entry, bucket), row in table.iterrows():
        metric = names[bucket]
        expected = [board.loc[entry, f"{metric}_{end}"] for end in ("mean", "low", "high")]
        assert row[["avg", "avg_low", "avg_high"]].tolist() == pytest.approx(expected) and row["avg_k"] >= 2


def test_avg_at_k_falls_apart_from_pass_hat_k_where_successes_are_luck(tmp_path):
    """Cases that succeed in one or two of three trials are right half the time, and hardly ever every time."""
    lucky = run_of(tmp_path, "lucky", lambda case, trial: trial <= 1 + list(CASES).index(case) % 2)
    rows = tables.reliability_table(analysis.load_results(lucky), (3,)).set_index("bucket")
    wide = tables.wide_reliability(rows.reset_index()).set_index("bucket")
    assert rows.loc["resolvable", "avg"] == pytest.approx(0.5) and rows.loc["resolvable", "estimate"] == 0
    assert wide.loc["resolvable", "avg@k"].startswith("50.0 (") and wide.loc["resolvable", "avg@k"].endswith(", k = 3")
