"""Alarms on a weekly rate: false ones are as rare as the rule says, and a change is found."""

import numpy as np
import pytest

from benchmark_lib.analysis.estimators import dispersion_allowed, dispersion_of, rate_alarms, rate_change
from benchmark_lib.errors import BadInput
from benchmark_lib.extras.monitoring.alarms import FEWER, MORE, weekly_needed


@pytest.mark.parametrize("rate", [0.02, 0.3])
def test_years_without_a_change_have_an_alarm_no_more_often_than_the_rule_says(rate):
    rng, level, years = np.random.default_rng(7), 0.2, 60
    alarms = 0
    for _ in range(years):
        counts = rng.binomial(100, rate, 52)
        alarms += rate_alarms(counts[:13].sum(), 1300, counts[13:], [100] * 39, level=level).first is not None
    assert alarms <= level * years


def test_a_jump_is_seen_in_the_newest_week_and_a_slow_drift_in_a_long_window():
    jump = rate_alarms(26, 1300, [2] * 10 + [40] * 5, [100] * 15, level=0.01)
    assert (jump.first, jump.window) == (10, 1) and jump.weeks[-1] == 14
    drift = rate_alarms(26, 1300, [2] * 4 + [5] * 30, [100] * 34, level=0.01)
    assert drift.window == 13 and drift.first > 8


def test_each_side_is_watched_by_itself():
    counts, ns = [2] * 20, [100] * 20
    assert rate_alarms(390, 1300, counts, ns, level=0.01, side=MORE).first is None
    assert rate_alarms(390, 1300, counts, ns, level=0.01, side=FEWER).first == 0


def test_a_week_without_conversations_raises_nothing_and_an_empty_baseline_neither():
    assert rate_alarms(5, 100, [0, 0], [0, 0], level=0.5).p.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert rate_alarms(0, 0, [9, 9], [9, 9], level=0.5).first is None
    with pytest.raises(BadInput, match="between 0 and 1"):
        rate_alarms(1, 2, [1], [2], level=1.5)


def test_restless_weeks_count_for_less():
    ns, restless = [100] * 12, [2, 30] * 6
    assert dispersion_of([16] * 12, ns) == 0 and dispersion_allowed([16] * 12, ns) == 1
    assert dispersion_allowed(restless, ns) > dispersion_of(restless, ns) > 10
    assert np.isnan(dispersion_of([0] * 12, ns)) and dispersion_allowed([0] * 12, ns) == 1
    by_chance = rate_alarms(192, 1200, [32], [100], level=0.5)
    allowed = rate_alarms(192, 1200, [32], [100], level=0.5, dispersion=dispersion_allowed(restless, ns))
    assert by_chance.first == 0 and allowed.first is None


def test_the_change_has_the_interval_of_newcombes_first_example():
    change = rate_change(48, 80, 56, 70)
    assert (change.estimate, change.low, change.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)
    assert rate_change(0, 0, 1, 2).reason == "the measure applies to no conversation of the baseline"


@pytest.mark.parametrize("base_weeks", [1, 3, 13])
def test_the_conversations_that_an_alarm_needs_are_the_fewest_that_raise_one(base_weeks):
    level = 0.05 / 13
    needed = weekly_needed(base_weeks, 0.1, 4, level=level)
    raised = [
        bool(rate_alarms(0, n * base_weeks, [0.1 * n] * 4, [n] * 4, level=level).weeks) for n in range(1, needed + 1)
    ]
    assert raised == [False] * (needed - 1) + [True]
    assert (
        weekly_needed(base_weeks, 0.1, 4, level=level / 1000) > needed > weekly_needed(base_weeks, 0.5, 4, level=level)
    )
    assert weekly_needed(base_weeks, 0.1, 4, level=level, most=5) == 5
