"""pass^k, rates and means with intervals, bootstrap, medians over trials: against enumeration and closed forms."""

from itertools import combinations, combinations_with_replacement, product
from math import comb, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.regression.linear_model import OLS

from benchmark_lib import estimators
from benchmark_lib.errors import BadInput

FEW = settings(max_examples=25, deadline=None)
RATES = st.lists(st.integers(0, 3), min_size=3, max_size=30)


# pass^k


@FEW
@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=6), min_size=1, max_size=5), st.integers(1, 3))
def test_pass_hat_k_is_the_share_of_k_subsets_that_all_pass(cases, k):
    shares = [np.mean([all(chosen) for chosen in combinations(case, k)]) for case in cases]
    found = estimators.pass_hat_k([sum(case) for case in cases], [len(case) for case in cases], k)
    assert found == pytest.approx(np.mean(shares))


@pytest.mark.parametrize("theta", [0.2, 0.9])
def test_pass_hat_k_is_unbiased(theta):
    n, k = 7, 4
    expected = sum(
        comb(n, c) * theta**c * (1 - theta) ** (n - c) * estimators.pass_hat_k([c], n, k) for c in range(n + 1)
    )
    assert expected == pytest.approx(theta**k)


def test_cases_with_too_few_trials_stand_outside_and_are_counted():
    assert isnan(estimators.pass_hat_k([1, 2], 2, 3))
    assert estimators.pass_hat_k([3, 2, 0], [3, 2, 3], 3) == 0.5
    found = estimators.pass_hat_k_interval([3, 2, 0], [3, 2, 3], 3)
    assert found.n == 2 and "1 case of 3" in found.reason
    assert "no case has 5 trials" in estimators.pass_hat_k_interval([1, 2], 2, 5).reason
    with pytest.raises(BadInput, match="k is 0"):
        estimators.pass_hat_k([1], 3, 0)


@FEW
@given(RATES)
def test_the_curve_falls_and_stays_above_its_reference_line(successes):
    curve = estimators.pass_hat_k_curve(successes, 3)
    assert curve.k.tolist() == list(range(1, 9)) and curve.label[2:4] == ("observed", "beta-binomial extrapolation")
    if len(successes) < 6:
        assert np.isnan(curve.estimate[3:]).all() and "too few to extrapolate" in curve.reason
        return
    assert (np.diff(curve.estimate) <= 1e-12).all() and (
        curve.estimate[3:] >= np.minimum(curve.reference[3:], curve.estimate[2]) - 1e-12
    ).all()
    assert (curve.low <= curve.estimate).all() and (curve.estimate <= curve.high).all()
    assert curve.usable.tolist() == [True] + [False] * 7
    assert curve.reference == pytest.approx(curve.estimate[0] ** curve.k)


def test_a_curve_says_how_many_cases_stand_behind_each_k():
    curve = estimators.pass_hat_k_curve([3, 1, 0, 1], [3, 1, 1, 2], range(1, 5))
    assert curve.cases.tolist() == [4, 2, 1, 1] and curve.n == 4
    assert "pass^2 is based on 2 cases of 4, pass^3 is based on 1 case of 4" in curve.reason


def test_the_extrapolation_meets_what_more_trials_show():
    rng = np.random.default_rng(3)
    theta = rng.beta(2, 1, 120)
    short, long = rng.binomial(3, theta), rng.binomial(40, theta)
    curve = estimators.pass_hat_k_curve(short, 3)
    for k in (5, 8):
        assert curve.low[k - 1] < estimators.pass_hat_k(long, 40, k) < curve.high[k - 1]


def test_pass_hat_1_of_every_case_alone_is_the_beta_binomial_rate():
    successes = [3, 3, 2, 0, 3, 1, 3, 3]
    alone = estimators.clustered_rate(np.array(successes) / 3, range(8), trials=3)
    found = estimators.pass_hat_k_interval(successes, 3, 1)
    assert (found.estimate, found.low, found.high) == pytest.approx((alone.estimate, alone.low, alone.high), abs=0.01)


# shares and means


@pytest.mark.parametrize(("method", "scipys"), [("wilson", "wilson"), ("clopper-pearson", "exact")])
def test_proportions_agree_with_scipy(method, scipys):
    for count, n in ((0, 18), (3, 18), (18, 18), (50, 54)):
        found, theirs = (
            estimators.proportion_interval(count, n, method),
            stats.binomtest(count, n).proportion_ci(method=scipys),
        )
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_jeffreys_is_the_beta_quantile_and_nothing_counted_is_nan():
    found = estimators.proportion_interval(4, 24, "jeffreys")
    assert (found.low, found.high) == pytest.approx(stats.beta.ppf([0.025, 0.975], 4.5, 20.5))
    assert estimators.proportion_interval(0, 24, "jeffreys").low == 0
    empty = estimators.proportion_interval(0, 0)
    assert isnan(empty.estimate) and isnan(empty.low) and empty.reason
    with pytest.raises(BadInput, match="choose one of"):
        estimators.proportion_interval(1, 2, "wald")


def test_clustered_mean_is_the_cluster_robust_regression_on_a_constant():
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 8, 60)
    values = rng.normal(size=60) + clusters * 0.3
    fit = OLS(values, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    found = estimators.clustered_mean(values, clusters)
    assert (found.estimate, found.se) == pytest.approx((fit.params[0], fit.bse[0]))
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))


def test_clusters_of_one_case_are_the_plain_t_interval():
    values = np.random.default_rng(1).normal(size=12)
    found, plain = estimators.clustered_mean(values, range(12)), stats.ttest_1samp(values, 0).confidence_interval()
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_clustered_means_say_what_is_missing_or_thin():
    found = estimators.clustered_mean([1.0, np.nan, 0.0, 1.0], ["a", "a", "b", "b"])
    assert found.n == 3 and "1 case without a value" in found.reason and "2 clusters are few" in found.reason
    assert isnan(estimators.clustered_mean([1.0, 0.0], ["a", "a"]).low)
    assert isnan(estimators.clustered_mean([], []).estimate)
    none = estimators.clustered_mean([0.0] * 40, np.arange(40) // 2)
    assert (none.low, none.high) == (0, pytest.approx(1 - 0.025 ** (1 / 20)))
    assert isnan(estimators.clustered_mean([7.0] * 40, np.arange(40) // 2, bounds=None).low)


@FEW
@given(st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from([0, 1 / 3, 2 / 3, 1])), min_size=4, max_size=40))
def test_clustered_rate_mirrors_and_holds_its_estimate(rows):
    clusters, values = [r[0] for r in rows], np.array([r[1] for r in rows])
    found, mirrored = (
        estimators.clustered_rate(values, clusters, trials=3),
        estimators.clustered_rate(1 - values, clusters, trials=3),
    )
    assert 0 <= found.low <= found.estimate <= found.high <= 1 and found.low < found.high
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-6)


def test_clustered_rate_of_single_trials_is_the_posterior_of_the_counts():
    values, clusters = np.array([1, 0, 0, 1, 1, 1, 0, 1, 1.0]), np.repeat([0, 1, 2], 3)
    found, counts = estimators.clustered_rate(values, clusters), estimators.unsafe_posterior([1, 3, 2], 3)
    assert (found.low, found.high) == pytest.approx((counts.low / 18, counts.high / 18))
    with pytest.raises(BadInput, match="is not a rate"):
        estimators.clustered_rate([0.5, 3.0], [0, 1])


@pytest.mark.parametrize("cases", range(2, 6))
def test_a_success_that_becomes_a_failure_never_makes_a_rate_of_few_cases_surer(cases):
    """12 of 12 on four cases left 40% possible, 11 of 12 only 51%."""
    found = {}
    for counts in combinations_with_replacement(range(4), cases):
        rate, traps = (
            estimators.clustered_rate(np.array(counts) / 3, range(cases), trials=3),
            estimators.unsafe_posterior(counts, 3),
        )
        found[counts] = rate.low, rate.high, traps.low, traps.high
    for counts, ends in found.items():
        for at in np.flatnonzero(counts):
            worse = tuple(sorted([*counts[:at], counts[at] - 1, *counts[at + 1 :]]))
            assert (np.array(found[worse]) <= np.array(ends) + 1e-9).all(), (counts, worse)
    assert found[(3,) * cases][:2] == (pytest.approx(0.025 ** (1 / cases)), 1)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_rates_of_four_cases_hold_the_truth_where_some_cases_never_succeed(share):
    rng = np.random.default_rng(8)
    theta = np.where(rng.random((2_000, 4)) < share, 0.95, 0.0)
    kinds, times = np.unique(np.sort(rng.binomial(3, theta), axis=1), axis=0, return_counts=True)
    found = [estimators.clustered_rate(row / 3, range(4), trials=3) for row in kinds]
    held = [one.low <= 0.95 * share <= one.high for one in found]
    assert np.average(held, weights=times) >= 0.94


# bootstrap


def test_percentiles_agree_with_every_resample():
    values = np.array([0.0, 0.2, 0.5, 0.9, 1.0])
    means = np.array([np.mean(sample) for sample in product(values, repeat=5)])
    found = estimators.bootstrap_interval(values, method="percentile", n_resamples=40_000)
    assert (found.low, found.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.011)
    assert found.se == pytest.approx(means.std(), rel=0.02)


def test_bca_is_scipys():
    values = np.random.default_rng(0).random(30)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=999, rng=np.random.default_rng(5)).confidence_interval
    found = estimators.bootstrap_interval(values, n_resamples=999, rng=np.random.default_rng(5))
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high))


def test_clusters_of_one_case_are_the_cases():
    values = np.random.default_rng(0).random(20)
    alone, ones = (estimators.bootstrap_interval(values, clusters=c, n_resamples=500) for c in (None, range(20)))
    assert (ones.low, ones.high) == pytest.approx((alone.low, alone.high))


def test_whole_clusters_are_wider_than_cases_that_resemble_each_other():
    values = np.repeat(np.random.default_rng(0).random(10), 6)
    cases, clusters = (
        estimators.bootstrap_interval(values),
        estimators.bootstrap_interval(values, clusters=np.repeat(range(10), 6)),
    )
    assert clusters.high - clusters.low > 1.8 * (cases.high - cases.low)


def test_unequal_clusters_and_missing_cases_keep_the_mean_over_cases():
    values = np.array([1, 1, 1, 0, np.nan, 0.5])
    found = estimators.bootstrap_interval(values, clusters=[1, 1, 1, 2, 2, 3])
    assert found.estimate == pytest.approx(0.7) and found.n == 5 and "1 case without" in found.reason
    assert 0 <= found.low < 0.7 < found.high <= 1


def test_equal_values_give_the_exact_bound_and_never_a_point():
    none = estimators.bootstrap_interval([0] * 18)
    assert (none.low, none.high) == (0, pytest.approx(stats.beta.ppf(0.975, 1, 18)))
    half = estimators.bootstrap_interval([0.5] * 18)
    assert half.low < 0.5 < half.high and half.low + half.high == pytest.approx(1)
    unbounded = estimators.bootstrap_interval([3] * 18, bounds=None)
    assert isnan(unbounded.low) and "no bounds" in unbounded.reason
    assert isnan(estimators.bootstrap_interval([np.nan, np.nan]).estimate)
    assert isnan(estimators.bootstrap_interval([0.3]).low)


def test_trials_alone_are_never_resampled():
    with pytest.raises(BadInput, match="not one per trial"):
        estimators.bootstrap_interval([[0, 1], [1, 1]])


def test_a_seed_fixes_the_resamples():
    values = np.random.default_rng(2).random(25)
    first, again = (estimators.bootstrap_interval(values, n_resamples=500) for _ in range(2))
    assert first == again
    assert first != estimators.bootstrap_interval(values, n_resamples=500, rng=np.random.default_rng(1))


# over trials


def test_the_headline_is_the_median_and_the_interval_the_means():
    values = np.array([[1, 1, 0], [1, 1, 0], [0, 1, 0], [1, 1, 1.0]])
    found = estimators.median_and_mean(values)
    assert (found.median, found.per_trial, found.mean.estimate) == (0.75, (0.75, 1.0, 0.25), pytest.approx(2 / 3))
    one = estimators.pass_hat_k_interval(values.sum(axis=1).astype(int), 3, 1)
    assert (found.mean.low, found.mean.high) == (one.low, one.high) and not hasattr(found, "low"), (
        "the median has no interval"
    )
    clustered = estimators.median_and_mean(np.tile(values, (6, 1)), clusters=np.arange(24) // 2)
    assert (
        clustered.mean.low
        == estimators.clustered_rate(np.tile(values.mean(axis=1), 6), np.arange(24) // 2, trials=3).low
    )


def test_the_headline_says_how_few_trials_there_were():
    assert "1 trial" in estimators.median_and_mean([[1.0], [0.0]]).reason
    holes = estimators.median_and_mean([[1, np.nan, 1], [0, 1, np.nan], [np.nan] * 3])
    assert "4 of 6 conversations" in holes.reason and "1 case without any value" in holes.reason
    assert isnan(estimators.median_and_mean(np.full((2, 3), np.nan)).median)


def test_a_pair_on_another_scale_is_multiplied_as_a_whole():
    pair = estimators.median_and_mean(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]]))
    nine = pair.times(9)
    assert (nine.median, nine.mean.estimate, nine.mean.high, nine.n) == (
        9 * pair.median,
        9 * pair.mean.estimate,
        9 * pair.mean.high,
        3,
    )
    assert nine.per_trial == tuple(9 * v for v in pair.per_trial)


def test_a_trial_that_was_stopped_early_does_not_move_the_headline():
    values = np.full((40, 2), np.nan)
    values[:, 0] = np.arange(40) < 36
    values[39, 1] = 0
    found = estimators.median_and_mean(values)
    assert found.median == 0.9 and found.mean.low < 0.9 < found.mean.high, (
        "the median of 90% of 40 cases and 0% of one would be 45%"
    )
    assert found.per_trial == (0.9, 0.0) and "1 trial with values for fewer than half of the cases" in found.reason
    values[20:, 1] = 1
    assert estimators.median_and_mean(values).median == pytest.approx(0.95)


def test_counts_and_costs_are_no_rates():
    words = np.random.default_rng(0).lognormal(4, 0.4, (40, 3))
    found = estimators.median_and_mean(words, clusters=np.arange(40) // 4)
    t = estimators.clustered_mean(words.mean(axis=1), np.arange(40) // 4, bounds=None)
    assert (found.mean.low, found.mean.high) == (t.low, t.high)
    assert isnan(estimators.median_and_mean(np.zeros((40, 3)), rate=False).mean.high)
    assert estimators.median_and_mean(np.zeros((40, 3))).mean.high > 0


def test_a_flip_rate_is_not_sure_because_two_clusters_agree():
    hits, sizes = [1, 0, 1, 0, 1, 0, 1, 0] + [1] * 12, [2] * 8 + [1] * 12
    found = estimators.flip_rate(hits, sizes, clusters=np.arange(20) // 4)
    assert (
        "over 8 cases" in found.method
        and "2 clusters with two trials are too few" in found.reason
        and found.high - found.low > 0.3
    )


@FEW
@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=5), min_size=2, max_size=6))
def test_flip_rate_is_the_share_of_pairs_that_differ(cases):
    pairs = [np.mean([a != b for a, b in combinations(case, 2)]) for case in cases]
    found = estimators.flip_rate([sum(c) for c in cases], [len(c) for c in cases])
    assert found.estimate == pytest.approx(np.mean(pairs))
    assert found.low <= found.estimate <= found.high and found.low < found.high


def test_flip_rate_needs_two_trials():
    assert isnan(estimators.flip_rate([1, 0], 1).estimate)
    assert estimators.flip_rate([1, 1], [2, 1]).n == 1


def test_missing_bounds_hold_every_completion():
    successes, trials, planned = [1, 2, 0], [2, 3, 0], 3
    means = [
        np.mean([(s + extra) / 3 for s, extra in zip(successes, extras)])
        for extras in product(range(2), range(1), range(4))
    ]
    found = estimators.missing_bounds(successes, trials, planned)
    assert (found.low, found.high) == pytest.approx((min(means), max(means)))
    assert found.missing == 4 and "4 of 9" in found.reason
    assert estimators.missing_bounds([3], 3, 3).low == estimators.missing_bounds([3], 3, 3).high == 1
    with pytest.raises(BadInput, match="planned must be"):
        estimators.missing_bounds([1], 3, 2)


@pytest.mark.parametrize("clusters", [None, np.repeat(range(20), 6)], ids=["cases", "intents"])
@pytest.mark.parametrize("spread", [0.5, 4.0, 100.0])
def test_an_extrapolation_never_narrows_where_the_data_end(spread, clusters):
    rng = np.random.default_rng(1)
    successes = rng.binomial(3, rng.beta(0.85 * spread, 0.15 * spread, 120))
    curve = estimators.pass_hat_k_curve(successes, 3, clusters=clusters)
    down, up = (curve.estimate - curve.low)[2:], (curve.high - curve.estimate)[2:]
    assert (np.diff(up) >= -1e-9).all() and ((np.diff(down) >= -1e-9) | (curve.low[3:] == 0)).all()
    assert (curve.low >= 0).all() and (curve.high <= 1).all()
