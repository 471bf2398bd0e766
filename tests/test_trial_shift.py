"""A whole trial that differs from the others, as when a provider changes the model during a run, is found and said."""

import numpy as np
import pytest
from made_runs import TUNED

from benchmark_lib import estimators, tables


def test_trials_that_differ_by_chance_alone_are_left_in_peace():
    rng = np.random.default_rng(0)
    theta = rng.beta(3, 1, (60, 1))
    p = [estimators.trial_shift(rng.random((60, 3)) < theta, n_resamples=199, rng=rng).p for _ in range(200)]
    assert np.mean(np.array(p) <= 0.05) == pytest.approx(0.05, abs=0.045)


def test_a_trial_of_its_own_is_found_and_named():
    rng = np.random.default_rng(0)
    values = (rng.random((120, 3)) < [0.85, 0.6, 0.85]).astype(float)
    found = estimators.trial_shift(values)
    assert found.trial == 1 and found.p < 0.01 and found.estimate < found.others
    same = estimators.trial_shift(np.repeat(values[:, :1], 3, axis=1))
    assert same.p == 1 and "fewer than two trials" in estimators.trial_shift(values[:, :1]).reason


def test_the_board_and_the_table_say_it(talks):
    assert (tables.shift_table(talks)["finding"] == "").all()
    drifted = talks.copy()
    rows = drifted["entry"].eq(TUNED) & drifted["trial"].eq(2)
    drifted.loc[rows, "success"] = False
    table = tables.shift_table(drifted).set_index("entry")
    assert table.loc[TUNED, "trial"] == 2 and "trial 2 differs" in table.loc[TUNED, "finding"]
    board = tables.leaderboard(drifted).set_index("entry")
    assert (
        "trial 2 differs" in board.loc[TUNED, "notes"] and "the endpoint may have changed" in board.loc[TUNED, "notes"]
    )
