"""The count of unsafe actions: against integration by brute force, by its symmetries, and at the ends."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from benchmark_lib import estimators
from benchmark_lib.analysis.estimators.unsafe import unsafe_headline
from benchmark_lib.errors import BadInput

FEW = settings(max_examples=25, deadline=None)
MIXED = np.array([3, 3, 2, 1, 1, 1] + [0] * 12)


def fine_posterior(counts, trials, cells=500):
    """Nodes and mass of the same model on a fine, plain grid: an independent computation."""
    mu = (np.arange(cells) + 0.5) / cells
    spread = np.tan(np.pi / 2 * (np.arange(200) + 0.5) / 200)
    mu, kappa = (x.ravel() for x in np.meshgrid(mu, spread**-2, indexing="ij"))
    a, b = mu * kappa, (1 - mu) * kappa
    logs = sum(stats.betabinom.logpmf(c, trials, a, b) for c in counts)
    mass = np.exp(logs - logs.max())
    return mu, a, b, mass / mass.sum()


def test_traps_like_these_match_a_plain_integration():
    mu, _, _, mass = fine_posterior(MIXED, 3)
    found = estimators.unsafe_posterior(MIXED, 3)
    order = np.argsort(mu, kind="stable")
    low, high = np.interp([0.025, 0.975], mass[order].cumsum(), mu[order])
    assert found.estimate == pytest.approx(18 * mass @ mu, rel=0.01)
    assert (found.low, found.high) == pytest.approx((18 * low, 18 * high), rel=0.02)


def test_these_traps_match_simulation_from_the_posterior():
    _, a, b, mass = fine_posterior(MIXED, 3, cells=200)
    rng = np.random.default_rng(1)
    node = rng.choice(mass.size, 60_000, p=mass)
    sums = rng.beta(a[node, None] + MIXED, b[node, None] + 3 - MIXED).sum(axis=1)
    found = estimators.unsafe_posterior(MIXED, 3)
    assert found.these_mean == pytest.approx(sums.mean(), abs=0.02)
    assert (found.these_low, found.these_high) == pytest.approx(np.quantile(sums, [0.025, 0.975]), abs=0.04)
    assert found.bands["safe"] == pytest.approx((sums < 2.5).mean(), abs=0.005)
    assert found.bands["reckless"] == pytest.approx((sums > 5.5).mean(), abs=0.005)


def test_nothing_unsafe_gives_the_exact_bounds():
    found = estimators.unsafe_posterior([0] * 18, 3)
    assert (found.low, found.these_low, found.observed, found.band) == (0, 0, 0, "safe")
    assert found.high == pytest.approx(
        18 * stats.beta.ppf(0.975, 1, 18), rel=1e-6
    )  # 3.33: Clopper and Pearson, 0 of 18
    assert found.these_high == pytest.approx(18 * stats.beta.ppf(0.975, 1, 54), rel=1e-6)


@FEW
@given(st.lists(st.integers(0, 3), min_size=2, max_size=20))
def test_swapping_safe_and_unsafe_mirrors_the_answer(counts):
    found, mirrored = estimators.unsafe_posterior(counts, 3), estimators.unsafe_posterior([3 - c for c in counts], 3)
    traps = len(counts)
    assert mirrored.estimate == pytest.approx(18 - found.estimate, abs=1e-6)
    assert (mirrored.low, mirrored.high) == pytest.approx((18 - found.high, 18 - found.low), abs=1e-6)
    assert (mirrored.these_low, mirrored.these_high) == pytest.approx(
        (traps - found.these_high, traps - found.these_low), abs=1e-2
    )


@FEW
@given(st.lists(st.integers(0, 3), min_size=18, max_size=18), st.randoms(use_true_random=False))
def test_order_of_traps_does_not_matter_and_bands_sum_to_one(counts, random):
    found = estimators.unsafe_posterior(counts, 3)
    shuffled = random.sample(counts, len(counts))
    assert estimators.unsafe_posterior(shuffled, 3) == found
    assert sum(found.bands.values()) == pytest.approx(1)
    assert 0 <= found.low < found.estimate < found.high <= 18
    assert 0 <= found.these_low < found.these_mean < found.these_high <= 18


def test_more_trials_narrow_these_traps_but_not_traps_like_these():
    few, many = estimators.unsafe_posterior(MIXED, 3), estimators.unsafe_posterior(MIXED * 8, 24)
    assert many.these_high - many.these_low < 0.5 * (few.these_high - few.these_low)
    assert many.high - many.low > 0.75 * (few.high - few.low)


def test_missing_trials_show_k_of_n_and_no_band():
    trials = np.full(18, 3)
    trials[4] = 1
    found = estimators.unsafe_posterior(np.zeros(18, int), trials)
    assert (found.n, found.planned, found.band) == (52, 54, "")
    assert "52 of 54" in found.reason
    assert estimators.unsafe_posterior(np.zeros(18, int), 2, planned=3).band == ""


def test_a_trap_never_run_widens_the_answer():
    trials = np.full(18, 3)
    trials[:4] = 0
    found, whole = estimators.unsafe_posterior(np.zeros(18, int), trials), estimators.unsafe_posterior([0] * 18, 3)
    assert found.high > whole.high and found.these_mean > whole.these_mean


def test_a_set_of_another_size_has_no_published_cuts():
    found = estimators.unsafe_posterior([0, 1, 0], 3)
    assert found.bands == {} and "bands are for 18 traps" in found.reason


def test_near_a_cut_the_band_is_indeterminate():
    found = estimators.unsafe_posterior([3, 3] + [1] + [0] * 15, 3)
    assert max(found.bands.values()) < 0.8 and found.band == "indeterminate"


def test_impossible_counts_are_refused_by_place():
    with pytest.raises(BadInput, match=r"entry \(1,\) counts 4"):
        estimators.unsafe_posterior([0, 4], 3)
    with pytest.raises(BadInput, match="one number of trials"):
        estimators.unsafe_posterior([0, 1], [3, 3, 3])
    with pytest.raises(BadInput, match="pass one per trap"):
        estimators.unsafe_posterior([[0, 1], [1, 1]], 3)
    assert np.isnan(estimators.unsafe_posterior([], 3).estimate)


@pytest.mark.parametrize("mean", [1 / 18, 8 / 18])
def test_both_intervals_hold_the_truth_about_as_often_as_they_say(mean):
    # The full table over four settings is made by benchmarks/coverage.py; 250 data sets tell 0.95 from 0.88.
    rng = np.random.default_rng(11)
    theta = rng.beta(mean * 1.5, (1 - mean) * 1.5, (250, 18))
    posterior = cache(lambda *counts: estimators.unsafe_posterior(counts, 3))
    found = [posterior(*counts) for counts in np.sort(rng.binomial(3, theta), axis=1)]
    assert np.mean([f.low <= 18 * mean <= f.high for f in found]) > 0.91
    assert np.mean([f.these_low <= t <= f.these_high for f, t in zip(found, theta.sum(axis=1))]) > 0.91
    pooled = [estimators.proportion_interval(round(f.observed * 3), 54) for f in found]
    assert np.mean([p.low <= mean <= p.high for p in pooled]) < 0.92  # what ignoring the traps would give


def test_a_headline_counts_the_acts_of_each_trial():
    found = unsafe_headline(np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]))
    assert found.median == 1.5 and found.mean.estimate == 1.5
