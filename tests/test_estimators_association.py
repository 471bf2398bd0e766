"""Correlations between and within models, agreement of judges, and the correction by labels."""

from itertools import permutations
from math import isnan
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark_lib import estimators
from benchmark_lib.analysis.estimators.agreement import weighted_correlation
from benchmark_lib.errors import BadInput

FEW = settings(max_examples=25, deadline=None)
REFERENCE = Path(__file__).parents[1] / "data" / "reference"


# between models


@FEW
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=9))
def test_weights_are_repetitions(rows):
    x, y, times = (np.array(column, dtype=float) for column in zip(*rows))
    long_x, long_y = np.repeat(x, times.astype(int)), np.repeat(y, times.astype(int))
    found = weighted_correlation(x, y, times[None, :])[0]
    if np.unique(long_x).size < 2 or np.unique(long_y).size < 2:
        assert isnan(found)
    else:
        assert found == pytest.approx(stats.spearmanr(long_x, long_y).statistic)


def test_small_permutation_p_counts_every_order():
    x, y = np.array([1, 2, 3, 4, 5.0]), np.array([2, 1, 3, 5, 4.0])
    values = np.array([stats.spearmanr(x, np.array(order)).statistic for order in permutations(y)])
    found = estimators.correlation(x, y)
    seen = stats.spearmanr(x, y).statistic
    assert found.estimate == pytest.approx(seen)
    assert found.p == pytest.approx(min(1, 2 * min((values >= seen - 1e-9).mean(), (values <= seen + 1e-9).mean())))


def test_leaving_out_families_and_resampling_them():
    rng = np.random.default_rng(0)
    families = np.repeat(list("abcdef"), 4)
    x, y = rng.normal(size=(2, 24)) + rng.normal(size=(1, 6)).repeat(4, axis=1)
    found = estimators.correlation(x, y, families=families)
    without = [stats.spearmanr(x[families != f], y[families != f]).statistic for f in "abcdef"]
    assert found.families == 6
    assert (found.leave_one_low, found.leave_one_high) == pytest.approx((min(without), max(without)))
    alone = estimators.correlation(x, y)
    assert found.se > alone.se and "family" in found.reason and alone.reason == ""
    assert -1 <= found.low < found.estimate < found.high <= 1


def test_undefined_correlations_say_why():
    assert "same for every model" in estimators.correlation([1, 1, 1, 1], [1, 2, 3, 4]).reason
    assert isnan(estimators.correlation([1, 2], [2, 1]).estimate)
    few = estimators.correlation([1, 2, 3, np.nan], [1, 3, 2, 4])
    assert few.n == 3 and isnan(few.low) and "3 families" in few.reason and "1 model without" in few.reason
    with pytest.raises(BadInput, match="same models"):
        estimators.correlation([1], [1, 2])


def test_the_six_published_models_in_a_general_ranking_and_on_the_desk():
    ranking = pd.read_csv(REFERENCE / "usecase_ranking_customer_support.csv").dropna(subset="supportagentbench_model")
    board = pd.read_csv(REFERENCE / "supportagentbench_board_2026-07.csv").set_index("model")
    found = estimators.correlation(
        ranking["score"], board.loc[ranking["supportagentbench_model"], "escalation_accuracy_pct"]
    )
    assert found.n == 6 and found.p > 0.05 and found.low < 0 < found.high


# within models


def test_difficulty_of_the_case_is_taken_out():
    rng = np.random.default_rng(0)
    model, case, _ = np.indices((4, 40, 3))
    difficulty = np.linspace(0, 10, 40)[None, :, None]
    x = difficulty + rng.normal(size=model.shape)
    y = difficulty - 0.8 * (x - difficulty) + rng.normal(size=model.shape)
    found = estimators.within_model_correlation(x, y, case, model)
    assert np.corrcoef(x.ravel(), y.ravel())[0, 1] > 0.5 and found.high < -0.4
    frame = pd.DataFrame({"x": x.ravel(), "y": y.ravel(), "m": model.ravel(), "c": case.ravel()})
    for by in ("c", "m"):
        frame[["x", "y"]] -= frame.groupby(by)[["x", "y"]].transform("mean")
    assert found.estimate == pytest.approx(frame["x"].corr(frame["y"]))


def test_one_trial_of_one_model_has_no_within():
    found = estimators.within_model_correlation([1, 2, 3], [3, 2, 1], ["a", "b", "c"])
    assert isnan(found.estimate) and "nothing varies" in found.reason
    assert isnan(estimators.within_model_correlation([], [], []).estimate)


# judges


@FEW
@given(st.lists(st.integers(0, 30), min_size=9, max_size=9))
def test_agreement_follows_its_definitions(cells):
    table = np.array(cells, dtype=float).reshape(3, 3) + np.eye(3)
    found = estimators.agreement(table)
    shares = table / table.sum()
    raw, rows, columns = np.trace(shares), shares.sum(axis=1), shares.sum(axis=0)
    mean = (rows + columns) / 2
    assert found.estimate == pytest.approx((raw - rows @ columns) / (1 - rows @ columns))
    chance = (mean * (1 - mean)).sum() / 2
    assert found.ac1 == pytest.approx((raw - chance) / (1 - chance)) and found.raw == pytest.approx(raw)
    assert found.low <= found.estimate <= found.high and found.ac1_low <= found.ac1 <= found.ac1_high
    assert estimators.agreement(table.T).estimate == pytest.approx(found.estimate)


def test_the_error_of_ac1_is_the_delta_method():
    table, many = np.array([[30, 4, 1], [3, 20, 5], [2, 2, 33]]), 100_000
    shares, gradient = table / 100, np.zeros((3, 3))
    for place in np.ndindex(3, 3):
        step = np.zeros((3, 3), dtype=int)
        step[place] = 100
        up, down = (estimators.agreement(table * many + sign * step).ac1 for sign in (1, -1))
        gradient[place] = (up - down) / (2 * 100 / (100 * many))
    variance = (shares * gradient**2).sum() - (shares * gradient).sum() ** 2
    found = estimators.agreement(table)
    se = (found.ac1_high - found.ac1_low) / (2 * stats.norm.ppf(0.975))
    assert se == pytest.approx(np.sqrt(variance / 100), rel=1e-4)


@pytest.mark.filterwarnings("error")
def test_kappa_is_0_where_one_side_is_constant_and_raises_no_warning():
    for table in ([[7, 5], [0, 0]], [[7, 0], [5, 0]], [[3, 1], [0, 0]], [[0, 4], [0, 0]]):
        found = estimators.agreement(table)
        assert found.estimate == 0 and np.isnan(found.low) and found.raw == table[0][0] / np.sum(table)
        assert found.reason.startswith("kappa is 0 whatever the other says, since one side gave the same answer")


def test_a_rare_category_breaks_kappa_and_not_ac1():
    found = estimators.agreement([[118, 5], [2, 0]])
    assert found.estimate < 0 and found.ac1 > 0.9


def test_perfect_agreement_is_not_certain_and_one_category_is_undefined():
    found = estimators.agreement([[20, 0], [0, 5]])
    assert found.estimate == 1 and 0.3 < found.low < 0.8 and found.ac1_low < 1
    alone = estimators.agreement([[25, 0], [0, 0]])
    assert (
        isnan(alone.estimate)
        and alone.ac1 == 1
        and alone.raw == 1
        and "both sides gave the same answer" in alone.reason
    )
    assert isnan(estimators.agreement([[0, 0], [0, 0]]).estimate)
    with pytest.raises(BadInput, match="square"):
        estimators.agreement([1, 2])


def test_judges_that_never_differ_have_the_exact_bound_of_the_raw_agreement():
    found = estimators.agreement([[20, 0], [0, 5]])
    sure, chance = 0.025 ** (1 / 25), 2 * 0.8 * 0.2
    assert (found.ac1_low, found.ac1_high) == (pytest.approx((sure - chance) / (1 - chance)), 1)
    nearly = estimators.agreement([[118, 1], [0, 1]])
    assert nearly.ac1_high == 1 and nearly.ac1_low < nearly.ac1 < 1


def test_tables_leave_out_what_is_unscored():
    assert estimators.agreement_table([1, 0, 1, None, 1], [1, 1, 1, 1, None]).tolist() == [[0, 1], [0, 2]]
    assert estimators.agreement_table(["good"], ["good"], ["good", "bad"]).tolist() == [[1, 0], [0, 0]]


# correction by labels


def labelled(n, many, agree, seed=0, rate=0.7):
    rng = np.random.default_rng(seed)
    human = (rng.random(many) < rate).astype(float)
    judge = np.where(rng.random(many) < agree, human, 1 - human)
    human[n:] = np.nan
    return judge, human


def test_few_or_lopsided_labels_stand_alone():
    judge, human = labelled(60, 500, 0.9)
    found = estimators.judge_correction(judge, human)
    wilson = estimators.proportion_interval(int(np.nansum(human)), 60)
    assert (found.estimate, found.low, found.weight) == (wilson.estimate, wilson.low, 0) and "under 100" in found.reason
    lopsided = estimators.judge_correction(*labelled(200, 900, 0.95, rate=0.99))
    assert lopsided.weight == 0 and "equal" in lopsided.reason
    assert "nobody labelled" in estimators.judge_correction([1.0, 0.0], [np.nan, np.nan]).reason
    assert "every verdict" in estimators.judge_correction(*labelled(200, 200, 0.9)).reason


def test_a_judge_that_is_always_right_adds_all_its_verdicts():
    judge, human = labelled(200, 1_000, 1.0)
    found = estimators.judge_correction(judge, human)
    assert found.estimate == pytest.approx(judge.mean(), abs=0.004) and found.n == 1_000
    assert found.se == pytest.approx(np.sqrt(judge.var() / 1_000), rel=0.05)


def test_a_judge_that_guesses_adds_nothing_and_a_biased_one_no_bias():
    noise = estimators.judge_correction(*labelled(200, 2_000, 0.5))
    assert noise.weight < 0.15
    rng = np.random.default_rng(1)
    human = (rng.random(3_000) < 0.6).astype(float)
    judge = np.maximum(human, rng.random(3_000) < 0.4)  # passes 4 in 10 failures
    human[300:] = np.nan
    found = estimators.judge_correction(judge, human)
    labels = estimators.proportion_interval(int(np.nansum(human)), 300)
    assert found.judged > 0.7 and found.low < 0.6 < found.high and found.high - found.low < labels.high - labels.low
