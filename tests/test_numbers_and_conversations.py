"""A number of the site lists exactly the conversations it is made of: a median those of its trial, pass^k those of cases that failed."""

import pandas as pd
import pytest
from made_runs import mixed, run_of

from benchmark_lib import load_results
from benchmark_lib.analysis.panels import conversations_of
from benchmark_lib.analysis.tables.headlines import headline
from benchmark_lib.reports.behind import facets, judged_by, matching, median_trials
from benchmark_lib.reports.site.counts import behind_median, behind_repeats
from benchmark_lib.scoring.metrics import METRICS


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return load_results(run_of(tmp_path_factory.mktemp("runs"), "acme", mixed(0.6, 3)))


@pytest.fixture(scope="module")
def rows(results):
    return conversations_of(results)


@pytest.mark.parametrize(
    ("values", "trials"),
    [
        ({1: [1, 0], 2: [1, 1], 3: [0, 0]}, [1]),
        ({1: [1, 1], 2: [1, 1], 3: [0, 0]}, [1]),
        ({1: [1, 1], 2: [0, 0]}, [1, 2]),
        ({1: [1, 1], 2: [1, 1]}, [1]),
        ({1: [1, 0, 1, 1], 2: [0, 0, 0, 1], 3: [1]}, [1, 2]),
        ({1: [None, None]}, []),
    ],
)
def test_the_trial_that_is_the_median_is_known(values, trials):
    pairs = [(trial, value) for trial, some in values.items() for value in some]
    frame = pd.DataFrame(pairs, columns=["trial", "value"]).astype({"value": float})
    assert median_trials(frame["value"].to_numpy(), frame["trial"].to_numpy()) == trials


@pytest.mark.parametrize("name", ["resolved", "escalation_accuracy", "unsafe", "agent_messages"])
def test_a_median_opens_the_conversations_of_its_trial(results, rows, name):
    metric = METRICS[name]
    found = behind_median(rows, metric, entry="acme")
    shown = rows[matching(facets(rows), **found["yes"])]
    assert len(shown) == found["k"] and shown["trial"].nunique() == 1 and "whose value is the median" in found["of"]
    of = len(rows[matching(facets(rows), **found["known"])])
    if metric.scale.bounds and not metric.scale.summed:
        assert found["k"] / of == headline(rows, metric).median
    if metric.scale.summed:
        assert found["k"] == headline(rows, metric).median


def test_pass_hat_k_opens_the_cases_that_failed_at_least_once(rows):
    mine = rows[rows["bucket"] == "resolvable"]
    found = behind_repeats(mine, entry="acme", bucket="resolvable")
    fields = facets(rows)
    shown = rows[matching(fields, **found["fell"])]
    failed = mine.groupby("case_id")["success"].all()
    assert set(shown["case_id"]) == set(failed.index[~failed]) and len(shown) == found["failing"]
    assert shown["case_id"].nunique() == found["cases"]
    assert matching(fields, **found["yes"]).sum() == found["k"] == mine["success"].sum()
    assert matching(fields, **found["known"]).sum() == found["n"] == len(mine)


def test_what_a_judge_was_asked_and_scored_is_a_filter(rows):
    keys = rows[["run_id", "case_id", "trial"]].head(3)
    verdicts = keys.assign(judge="j", scorer="tone", score=[80.0, None, 90.0])
    fields = facets(rows, None, verdicts)
    tone = judged_by("tone", "j")
    assert matching(fields, judged=tone).sum() == 3 and matching(fields, judge_scored=tone).sum() == 2
