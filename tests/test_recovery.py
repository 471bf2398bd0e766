"""Agents whose true rates are known play the real cases.

What is recorded agrees with the truth as often as it should.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from filelock import FileLock
from scipy import stats

from benchmark_lib import analysis, estimators
from benchmark_lib.experiment import demo
from benchmarks.recovery import (
    coverage,
    differences,
    in_words,
    recovered_correlations,
    recovered_estimators,
    recovered_in_short,
    recovered_rates,
)

AGENTS = 6
UNLIKELY = 0.001


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A small panel over every case, three trials; and an agent that is certain of everything."""
    panel = demo.known_panel(AGENTS, rng=np.random.default_rng(6))
    results = analysis.load_results(demo.play_panel(panel, tmp_path_factory.mktemp("panel")))
    return panel, results


@pytest.fixture(scope="module")
def rates(played):
    return recovered_rates(*played)


def test_recorded_rates_scatter_around_the_truth_as_counts_do(rates):
    z = rates["z"].dropna()
    assert len(z) == AGENTS * len(demo.TRUTHS)
    independent = rates[rates["metric"] != "unsafe"][
        "z"
    ].dropna()  # success on traps is the complement of an unsafe act here
    assert UNLIKELY < stats.chi2.cdf((independent**2).sum(), len(independent)) < 1 - UNLIKELY
    assert abs(independent.mean()) * np.sqrt(len(independent)) < stats.norm.ppf(1 - UNLIKELY)


def test_intervals_hold_the_truth_as_often_as_they_should(rates):
    held, n = int(rates["holds"].sum()), len(rates)
    assert stats.binom.cdf(held, n, 0.95) > UNLIKELY, rates[~rates["holds"]].to_string()
    assert (
        rates[["low", "high"]].notna().all(axis=None)
        and (rates["low"] <= rates["estimate"]).all()
        and (rates["estimate"] <= rates["high"]).all()
    )


def test_differences_hold_the_truth_and_point_the_right_way(played):
    table = differences(*played)
    assert stats.binom.cdf(table["holds"].sum(), len(table), 0.95) > UNLIKELY
    far = table[(table["metric"] != "unsafe") & (table["truth"].abs() > 0.2)]
    assert len(far) and (np.sign(far["estimate"]) == np.sign(far["truth"])).all() and (far["p"] < 0.05).all()


def test_correlations_are_those_of_the_truth(played, rates):
    panel, _ = played
    recorded = (
        rates[rates["interval"] == "mean"]
        .pivot(index="entry", columns="metric", values="estimate")
        .reindex(panel["model"])
    )
    for metric in ("over_escalation", "resolved", "escalation_accuracy"):
        assert estimators.correlation(panel[f"true_{metric}"], recorded[metric], n_resamples=100).estimate > 0.8
    table = recovered_correlations(panel, rates)
    assert list(table["truth"].round(1)) == [-0.4, -0.6, 0.0, -0.3] and table["estimate"].between(-1, 1).all()


def test_an_agent_that_is_sure_of_everything_is_recorded_so(tmp_path):
    certain = demo.known_panel(2, rng=np.random.default_rng(0))
    certain[["skill", "credulity", "caution"]] = [[1, 0, 0], [0, 1, 1]]
    certain["model"] = [
        "scripted:tunable?skill=1&credulity=0&caution=0",
        "scripted:tunable?skill=0&credulity=1&caution=1",
    ]
    certain = certain.assign(**{f"true_{name}": truth(certain) for name, truth in demo.TRUTHS.items()})
    runs = demo.play_panel(certain, tmp_path, trials=1)
    found = recovered_rates(certain, analysis.load_results(runs)).set_index(["entry", "metric", "interval"])
    assert (found["estimate"] - found["truth"]).abs().max() < 1e-9 and found["holds"].all()
    assert found.loc[(certain["model"][0], "unsafe", "traps like these"), "high"] == pytest.approx(3.335, abs=0.01)
    with_names = differences(certain, analysis.load_results(runs)).set_index("metric")
    assert with_names.loc["unsafe", "truth"] == -18 and with_names["holds"].all()


def test_the_truth_is_read_from_the_name_of_an_agent():
    assert demo.truth_of("scripted:tunable")["unsafe"] == pytest.approx(3.6)
    assert demo.truth_of("scripted:tunable?skill=0.5&caution=0.2")["resolved"] == pytest.approx(0.4)
    assert demo.truth_of("scripted:oracle") == {} and demo.truth_of("gpt-5.5") == {}


def test_a_panel_on_file_is_played_again_only_where_it_is_not_what_is_wanted(tmp_path):
    panel = demo.known_panel(2)
    first = [r.run_id for r in demo.play_panel(panel, tmp_path, cases="slice", trials=1)]
    assert [r.run_id for r in demo.play_panel(panel, tmp_path, cases="slice", trials=1)] == first
    again = [r.run_id for r in demo.play_panel(panel, tmp_path, cases="slice", trials=2)]
    assert not set(first) & set(again) and sorted(p.name for p in tmp_path.glob("*.deskbench")) == [
        "panel-01.deskbench",
        "panel-02.deskbench",
    ]
    assert demo.panel_runs(None) == []


def test_the_same_seed_draws_the_same_panel():
    assert demo.known_panel().equals(demo.known_panel())
    many = demo.known_panel(3_000)
    for name, (low, high) in demo.RANGES.items():
        assert many[name].between(low, high).all()
    for pair, strength in demo.LINKS.items():
        assert stats.spearmanr(*(many[name] for name in pair)).statistic == pytest.approx(strength, abs=0.06)
    assert many["seed"].is_unique and demo.known_panel()["model"].is_unique


def test_coverage_says_in_words_what_it_found():
    import pandas as pd

    few, many = (pd.DataFrame({"kind": "x", "holds": [True] * held + [False] * (200 - held)}) for held in (170, 190))
    rows = [coverage(t, ["kind"]).iloc[0].to_dict() for t in (few, many)]
    assert [in_words(r) for r in rows] == ["less often than they should", "as often as they should"]
    assert rows[0]["share"] == pytest.approx(0.85)


def test_who_asks_for_a_panel_that_another_plays_waits_for_its_runs(tmp_path):
    nobody = demo.known_panel(1).head(0)
    with ThreadPoolExecutor(1) as other:
        with FileLock(tmp_path / demo.LOCK):
            asked = other.submit(demo.play_panel, nobody, tmp_path)
            with pytest.raises(TimeoutError):
                asked.result(timeout=0.2)
        assert asked.result() == []


def test_estimators_of_cases_that_differ_find_the_planted_truth():
    """Flip rate, extrapolated pass^k, correlation within models, AC1 and precision of handovers."""
    short = recovered_in_short(recovered_estimators(12)).set_index("estimator")
    assert len(short) == 7 and (short["intervals"] == 12).all() and (short["held"] >= 8).all()
    assert (short["bias"].abs() <= 0.06).all()
