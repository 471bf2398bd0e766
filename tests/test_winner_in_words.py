"""Who is better, and by how much: in words, from the better one's side, and the same whichever is named first."""

import numpy as np
import pandas as pd
import pytest
from made_runs import OTHER, TUNED

from benchmark_lib import tables
from benchmark_lib.analysis import facets
from benchmark_lib.analysis.estimators.comparisons import NOT_TESTED, SURE
from benchmark_lib.analysis.tables.comparison import PLANNED
from benchmark_lib.analysis.tables.verdicts import what_is_tested
from benchmark_lib.scoring.metrics import METRICS

GOOD, POOR = "acme-large", "acme-mini"


def side(name, metric, values, trials=3):
    """Conversations of one entry: every trial of a case has the value of the case, the cases are of twelve intents."""
    cases = np.arange(len(values))
    columns = {"entry": name, "model": name, "panel": "models", "case_id": [f"c{n:02}" for n in cases]}
    columns |= {"intent": [f"i{n % 12}" for n in cases], "bucket": metric.bucket or "resolvable", "success": True}
    once = pd.DataFrame(columns | {metric.column: np.asarray(values, dtype=float)})
    return pd.concat([once.assign(trial=trial + 1) for trial in range(trials)], ignore_index=True)


def compared(metric, values, names=(GOOD, POOR), trials=3, **options):
    pair = (side(name, metric, of, trials) for name, of in zip(names, values, strict=True))
    return tables.compare(*pair, metric, **options)


def apart(good, poor, cases=24):
    """Values that differ, but on every fourth case."""
    turn = np.arange(cases) % 4 == 0
    return np.where(turn, poor, good), np.full(cases, poor)


@pytest.mark.parametrize("name", PLANNED)
def test_the_better_one_is_named_with_the_direction_of_the_metric(name):
    metric = METRICS[name]
    values = apart(*((1.0, 0.0) if metric.higher_is_better else (0.0, 1.0)))
    found = compared(metric, values)
    there, back = found.verdict, compared(metric, values[::-1], (POOR, GOOD)).verdict
    assert there.startswith(f"{GOOD} {metric.winner}, by ") and "% interval " in there and "(plain p " in there
    assert there == back and "-" not in there.replace(GOOD, "") and "+" not in there
    assert found.better == GOOD and found.ahead == 0 and found.like.estimate == found.difference


def test_a_difference_that_is_not_clear_names_nobody():
    resolved, noisy = METRICS["resolved"], (np.tile([1.0, 0.0, 1.0], 8), np.tile([0.0, 1.0], 12))
    told = compared(resolved, noisy, trials=1).verdict
    assert told.startswith("too close to call (") and GOOD not in told
    assert compared(resolved, apart(1.0, 1.0)).verdict == "equal"
    these = compared(resolved, noisy).verdict
    assert these.startswith(f"on these cases, {GOOD} resolves more, by 16.7 points, 95% interval ")
    assert "; too close to call for cases like these (" in these


def test_what_is_only_shown_has_its_difference_and_no_verdict():
    metric = METRICS["corrupt_success"]
    tested, shown = (compared(metric, apart(1.0, 0.0), tested=tested) for tested in (True, False))
    assert tested.word == SURE and shown.word == NOT_TESTED == shown.verdict
    assert shown.difference == tested.difference
    assert np.isnan([*shown.interval, *shown.these_interval, shown.like.p]).all()


def test_neither_end_of_a_neutral_metric_is_called_better():
    found = compared(METRICS["agent_messages"], (np.linspace(3.0, 5.0, 24), np.full(24, 2.0)))
    assert found.verdict.startswith(f"{GOOD} has more, by 2.0 messages") and found.better == ""


def test_a_comparison_knows_the_conversations_behind_each_side(talks):
    of = dict(list(talks.groupby("entry")))
    found = tables.compare(of[TUNED], of[OTHER], "resolved")
    for name, entry in (("a", TUNED), ("b", OTHER)):
        listed = found.query(name).mask(facets(talks))
        mine = talks["entry"].eq(entry) & talks["resolved"].eq(True).fillna(False)
        assert listed.sum() == mine.sum() > 0 and (listed == mine).all()
    fewer = of[OTHER][of[OTHER]["case_id"].isin(sorted(set(found.pairs.cases))[:9])]
    some = tables.compare(of[TUNED], fewer, "resolved")
    counted = some.query("a").mask(facets(talks))
    assert some.cases == 9 and set(talks.loc[counted, "case_id"]) <= set(some.pairs.cases)


def test_it_is_said_what_is_tested_and_why_the_rest_is_not():
    told = what_is_tested()
    assert all(METRICS[name].title.lower() in told for name in PLANNED)
    assert f"other {len(METRICS) - len(PLANNED)} metrics are not tested: among so many" in told
