"""Who is better, and by how much: in words, from the better one's side, and the same whichever is named first."""

import numpy as np
import pytest

from benchmark_lib.analysis.estimators.comparisons import NOT_TESTED, SURE
from benchmark_lib.analysis.tables.comparison import PLANNED, compare_values, show_values
from benchmark_lib.analysis.tables.verdicts import what_is_tested, winner_in_words
from benchmark_lib.scoring.metrics import METRICS

GOOD, POOR = "acme-large", "acme-mini"


def values(a, b, cases=24):
    """Rates of two models on cases of twelve intents, three trials each; every fourth case is like the other model's."""
    turn = np.arange(cases) % 4 == 0
    return {
        "intent": np.array([f"i{n % 12}" for n in range(cases)], dtype=object),
        "a": np.where(turn, b, a),
        "b": np.full(cases, b),
        **{f"{side}_trials": np.full(cases, 3) for side in "ab"},
    }


@pytest.mark.parametrize("name", PLANNED)
def test_the_better_one_is_named_with_the_direction_of_the_metric(name):
    metric = METRICS[name]
    good, poor = (1.0, 0.0) if metric.higher_is_better else (0.0, 1.0)
    there = winner_in_words(metric, compare_values(metric, values(good, poor)), GOOD, POOR)
    back = winner_in_words(metric, compare_values(metric, values(poor, good)), POOR, GOOD)
    assert there.startswith(f"{GOOD} {metric.winner}, by ") and " % interval " in there and "(plain p " in there
    assert there == back and "-" not in there.replace(GOOD, "") and "+" not in there


def test_a_difference_that_is_not_clear_names_nobody():
    resolved = METRICS["resolved"]
    noisy = values(1.0, 1.0) | {"a": np.tile([1.0, 0.0, 1.0], 8), "b": np.tile([0.0, 1.0], 12)}
    once = noisy | {f"{side}_trials": np.ones(24) for side in "ab"}
    told = winner_in_words(resolved, compare_values(resolved, once), GOOD, POOR)
    assert told.startswith("too close to call (") and GOOD not in told
    alike = winner_in_words(resolved, compare_values(resolved, values(1.0, 1.0)), GOOD, POOR)
    assert alike == "equal"
    these = winner_in_words(resolved, compare_values(resolved, noisy), GOOD, POOR)
    assert these.startswith(f"on these cases, {GOOD} resolves more, by 16.7 points, 95 % interval ")
    assert "; for cases like these too close to call (" in these


def test_what_is_only_shown_has_its_difference_and_no_verdict():
    metric = METRICS["corrupt_success"]
    tested, shown = (make(metric, values(1.0, 0.0)) for make in (compare_values, show_values))
    assert tested.word == SURE and shown.word == NOT_TESTED and shown.difference == tested.difference
    assert np.isnan([*shown.interval, *shown.these_interval, shown.like.p]).all()
    assert winner_in_words(metric, shown, GOOD, POOR) == NOT_TESTED


def test_neither_end_of_a_neutral_metric_is_called_better():
    metric = METRICS["agent_messages"]
    given = values(4.0, 2.0) | {"a": np.linspace(3.0, 5.0, 24)}
    assert winner_in_words(metric, compare_values(metric, given), GOOD, POOR).startswith(
        f"{GOOD} has more, by 2.0 messages"
    )


def test_it_is_said_what_is_tested_and_why_the_rest_is_not():
    told = what_is_tested()
    assert all(METRICS[name].title.lower() in told for name in PLANNED)
    assert f"other {len(METRICS) - len(PLANNED)} metrics are not tested: of so many" in told
