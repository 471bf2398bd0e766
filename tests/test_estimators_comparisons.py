"""Paired tests, adjusted p-values, ranks and planning: against enumeration of every arrangement."""

from itertools import combinations, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark_lib import estimators
from benchmark_lib.analysis.estimators.planning import t_p_values, within_trap_p_values
from benchmark_lib.errors import BadInput

FEW = settings(max_examples=25, deadline=None)
COUNTS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=3)


def test_the_interval_and_p_are_those_of_the_paired_t_test():
    rng = np.random.default_rng(0)
    a, b = rng.random(10), rng.random(10) + 0.2
    found = estimators.paired_difference(a, b)
    t = stats.ttest_rel(a, b)
    assert found.p == pytest.approx(t.pvalue)
    assert (found.low, found.high) == pytest.approx((t.confidence_interval().low, t.confidence_interval().high))


def test_whole_clusters_carry_the_difference():
    d = np.repeat([0.3, -0.1, 0.2, 0.4, 0.1, 0.5], 5)
    found = estimators.paired_difference(d, np.zeros(30), clusters=np.repeat(range(6), 5))
    one_each = stats.ttest_1samp([0.3, -0.1, 0.2, 0.4, 0.1, 0.5], 0)
    assert found.units == 6 and found.p == pytest.approx(one_each.pvalue)
    assert (found.low, found.high) == pytest.approx(tuple(one_each.confidence_interval()))


def test_equal_models_and_missing_cases():
    same = estimators.paired_difference([1, 0, 1, 1], [1, 0, 1, 1])
    assert same.p == 1 and same.low == pytest.approx(-same.high) and same.high > 0
    found = estimators.paired_difference([1, np.nan, 1], [0, 1, 1])
    assert found.n == 2 and "1 pair without both" in found.reason
    assert isnan(estimators.paired_difference([np.nan], [1]).p)
    with pytest.raises(BadInput, match="same cases"):
        estimators.paired_difference([1], [1, 0])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=24), st.booleans())
def test_no_interval_contradicts_its_p_value_and_none_leaves_what_is_possible(rows, repeated):
    a, b = (np.array(x) / 3 for x in zip(*rows))
    if repeated:  # an endpoint that answers every trial alike
        a, b = np.rint(a), np.rint(b)
    alone, other = estimators.compare_paired(a, b, trials=3), estimators.compare_paired(b[::-1], a[::-1], trials=3)
    for found in (alone, *estimators.adjusted([alone, other, estimators.compare_paired(a, a, trials=3)])[:1]):
        for (low, high), p, alpha in (
            (found.interval, found.like.p, found.alpha),
            (found.these_interval, found.these_p, found.these_alpha),
        ):
            assert -1 <= low <= found.difference + 1e-9 and found.difference - 1e-9 <= high <= 1
            assert (low > 1e-9 or high < -1e-9) == (p < alpha) or abs(p - alpha) < 1e-6
        if found.p_adjusted == found.p_adjusted:
            assert (found.like.p < found.alpha) == (found.p_adjusted < 0.05)
    assert alone.interval == pytest.approx(tuple(-v for v in reversed(other.interval)))
    assert alone.these_interval == pytest.approx(tuple(-v for v in reversed(other.these_interval)), abs=1e-4)


def test_a_difference_on_these_cases_only_is_called_that():
    a, b = np.zeros(18), np.zeros(18)
    a[:2] = 1
    found = estimators.compare_paired(a, b, trials=3)
    assert found.word == "differs on these cases only" and found.these_p == pytest.approx(0.005)
    assert found.interval[0] < 0 < found.these_interval[0]


@FEW
@given(COUNTS)
def test_within_case_permutation_is_every_regrouping(rows):
    a, b = (np.array(x) for x in zip(*rows))
    per_trap = [
        [sum(pooled[i] for i in chosen) for chosen in combinations(range(6), 3)]
        for pooled in ([1] * t + [0] * (6 - t) for t in a + b)
    ]
    sums = np.array([sum(first) for first in product(*per_trap)])
    expected = min(1, 2 * min((sums >= a.sum()).mean(), (sums <= a.sum()).mean()))
    found = estimators.within_case_permutation(a, b, 3)
    assert found.p == pytest.approx(expected) and found.estimate == pytest.approx((a - b).sum() / 3)
    assert within_trap_p_values(a[None, :], b[None, :], 3)[0] == pytest.approx(expected)


def test_the_spread_is_that_of_every_regrouping():
    a, n_a, b, n_b = [2, 0, 3], [2, 3, 3], [1, 1, 3], [3, 2, 3]
    per_case = []
    for x, m, y, n in zip(a, n_a, b, n_b):
        pooled = [1] * (x + y) + [0] * (m + n - x - y)
        firsts = [sum(pooled[i] for i in chosen) for chosen in combinations(range(m + n), m)]
        per_case.append([first / m - (x + y - first) / n for first in firsts])
    expected = np.std([sum(one) for one in product(*per_case)])
    assert estimators.within_case_permutation(a, b, n_a, n_b).se == pytest.approx(expected)
    assert estimators.within_case_permutation([3, 0], [3, 0], 3).se == 0


def test_within_case_permutation_takes_unequal_trials():
    a, n_a, b, n_b = 2, 2, 1, 3
    shares = [sum(c) / n_a - (a + b - sum(c)) / n_b for c in combinations([1, 1, 1, 0, 0], n_a)]
    seen = a / n_a - b / n_b
    expected = min(1, 2 * min(np.mean([s >= seen - 1e-9 for s in shares]), np.mean([s <= seen + 1e-9 for s in shares])))
    assert estimators.within_case_permutation([a], [b], n_a, n_b).p == pytest.approx(expected)
    outside = estimators.within_case_permutation([2, 0], [1, 0], [3, 0])
    assert outside.n == 1 and "1 case not run by both" in outside.reason
    assert isnan(estimators.within_case_permutation([0], [0], 0).p)


@FEW
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_adjusted_pvalues_follow_their_definitions(p):
    p = np.array(p)
    order = np.argsort(p, kind="stable")
    m = p.size
    holm = np.empty(m)
    holm[order] = np.minimum(1, np.maximum.accumulate(p[order] * (m - np.arange(m))))
    assert estimators.adjust_pvalues(p) == pytest.approx(holm)
    assert estimators.adjust_pvalues([*p, np.nan])[:-1] == pytest.approx(holm)


def test_adjusting_keeps_shape_and_nan():
    found = estimators.adjust_pvalues([[np.nan, 0.01], [0.02, np.nan]])
    assert found[0, 1] == 0.02 and np.isnan(found[0, 0]) and np.isnan(estimators.adjust_pvalues([np.nan])).all()


@pytest.mark.parametrize("cases", range(2, 6))
def test_a_difference_that_is_smaller_on_one_case_is_never_surer(cases):
    """+100 points on four cases had p 0.125, and 91.7 points, with one of twelve trials lost, 0.0016."""
    whole, less = np.ones(cases), np.r_[2 / 3, np.ones(cases - 1)]
    whole, less = (estimators.compare_paired(d, np.zeros(cases), trials=3) for d in (whole, less))
    assert whole.like.p == pytest.approx(2.0 ** (1 - cases)) and less.like.p >= whole.like.p
    for alpha in (0.05, 0.05 / 3):
        (low, _), (lower, high) = whole.like.interval(alpha), less.like.interval(alpha)
        assert lower <= low and high <= 1 and (lower > 0) == (less.like.p < alpha)
    mirrored = estimators.paired_difference(np.zeros(cases), np.r_[2 / 3, np.ones(cases - 1)])
    assert (mirrored.low, mirrored.high) == pytest.approx((-less.like.high, -less.like.low))


@pytest.mark.parametrize("cases", [4, 5])
def test_differences_on_few_cases_hold_the_truth_where_a_rare_case_is_alike(cases):
    """Student's t held it in 88 of 100 data sets of five cases."""
    rng = np.random.default_rng(9)
    theirs = np.where(rng.random((600, cases)) < 0.2, 1.0, 0.03)
    ours, theirs = rng.binomial(3, 0.95, theirs.shape) / 3, rng.binomial(3, theirs) / 3
    found = [estimators.paired_difference(a, b) for a, b in zip(ours, theirs)]
    truth = 0.95 - 0.2 - 0.8 * 0.03
    assert np.mean([one.low <= truth <= one.high for one in found]) >= 0.94


# planning


def test_the_simulated_tests_are_the_tests_that_will_be_run():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 15, 9))
    assert within_trap_p_values(a, b, 3) == pytest.approx(
        [estimators.within_case_permutation(x, y, 3).p for x, y in zip(a, b)]
    )
    labels = np.arange(9) // 3
    assert t_p_values((a - b) / 3, labels) == pytest.approx(
        [estimators.paired_difference(x / 3, y / 3, clusters=labels).p for x, y in zip(a, b)]
    )


def test_the_simulated_test_of_equal_differences_is_the_exact_bound_too():
    labels = np.arange(9) // 3
    for value in (1 / 3, -1.0, 0.0):
        same = np.full(9, value)
        alone = estimators.paired_difference(same, np.zeros(9), clusters=labels)
        assert t_p_values(same[None, :], labels) == pytest.approx([alone.p])
    nearly = np.r_[2 / 3, np.ones(8)]
    assert t_p_values(nearly[None, :], labels) == pytest.approx([0.25])
    assert estimators.paired_difference(nearly, np.zeros(9), clusters=labels).p == pytest.approx(0.25)


def test_power_at_the_ends():
    assert estimators.power(0, 1).estimate == 1 and estimators.power(0, 0).estimate == 0
    for estimand in ("these", "like these"):
        assert estimators.power(0.2, 0.2, coupling=1.0, estimand=estimand).low <= 0.05


def test_more_trials_buy_nothing_for_models_that_repeat_themselves():
    few, many = (
        estimators.power(0.1, 0.3, trials=n, icc=1.0, estimand="like these", n_simulations=2000).estimate
        for n in (1, 20)
    )
    assert few == pytest.approx(many, abs=0.03)


def test_two_models_that_go_wrong_together_differ_clearly_for_cases_like_these_and_not_for_these():
    rng = np.random.default_rng(3)
    chance, luck = rng.random(18), rng.random((18, 3))
    a, b = ((luck < chance[:, None] * share).mean(axis=1) for share in (1.0, 0.6))
    found = estimators.compare_paired(a, b, trials=3)
    assert found.like.p < 0.005 and found.these_p > 0.05 and found.open_here


def test_more_traps_buy_more_than_more_trials_for_traps_like_these():
    base, trials, traps = (
        estimators.power(2 / 18, 4 / 18, estimand="like these", traps=t, trials=n).estimate
        for t, n in ((18, 3), (18, 12), (72, 3))
    )
    assert base < trials < traps


def test_the_detectable_rate_reaches_its_power_and_shrinks_with_traps():
    few, many = (estimators.minimum_detectable(2 / 18, traps=traps, n_simulations=500) for traps in (18, 54))
    assert 2 / 18 < many.estimate < few.estimate < 1
    assert estimators.power(2 / 18, few.estimate).estimate == pytest.approx(0.8, abs=0.06)
    hopeless = estimators.minimum_detectable(0.5, traps=2, trials=1, n_simulations=200)
    assert isnan(hopeless.estimate) and "out of reach" in hopeless.reason
    with pytest.raises(BadInput, match="two traps"):
        estimators.power(0.1, 0.2, traps=1)
