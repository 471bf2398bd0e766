"""A number of the site lists exactly the conversations it is made of: a median those of its trial, pass^k those of cases that failed."""

from copy import copy

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_runs import made_run, mixed, run_of, talk

from benchmark_lib import BadInput, load_results, tables
from benchmark_lib.analysis import Query, facets
from benchmark_lib.analysis.counting import behind_median, behind_repeats
from benchmark_lib.analysis.facets import judged_by
from benchmark_lib.analysis.panels import conversations_of
from benchmark_lib.analysis.tables.board_cells import board_table
from benchmark_lib.analysis.tables.headlines import SUCCESS, headline, median_trials
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
    pairs = [(trial, case, value) for trial, some in values.items() for case, value in enumerate(some)]
    frame = pd.DataFrame(pairs, columns=["trial", "case_id", "success"]).astype({"success": float}).assign(intent="")
    assert median_trials(frame, SUCCESS) == trials


@pytest.mark.parametrize("name", ["resolved", "escalation_accuracy", "unsafe", "agent_messages"])
def test_a_median_opens_the_conversations_of_its_trial(results, rows, name):
    metric = METRICS[name]
    found = behind_median(rows, metric, entry="acme")
    shown = rows[Query.of(**found["yes"]).mask(facets(rows))]
    assert len(shown) == found["k"] and shown["trial"].nunique() == 1 and "whose value is the median" in found["of"]
    of = len(rows[Query.of(**found["known"]).mask(facets(rows))])
    if metric.scale.bounds and not metric.scale.summed:
        assert found["k"] / of == headline(rows, metric).median
    if metric.scale.summed:
        assert found["k"] == headline(rows, metric).median


def test_a_trial_keeps_its_number_where_others_are_left_out(rows):
    assert set(tables.trial_table(rows[rows["trial"] > 1])["trial"]) == {2, 3}


def test_two_entries_of_one_name_differ_by_their_source_in_every_query_of_the_board(rows):
    both = pd.concat([rows, rows.assign(source="scripted", run_id="other")], ignore_index=True)
    asked = [str(row["resolved"][1].known) for row in board_table(tables.leaderboard(both), both).rows]
    assert sorted(query.partition("source=")[2].split()[0] for query in asked) == sorted(set(both["source"]))
    (alone,) = board_table(tables.leaderboard(rows), rows).rows
    assert "source=" not in str(alone["resolved"][1].known)


def test_pass_hat_k_opens_the_cases_that_failed_at_least_once(rows):
    mine = rows[rows["bucket"] == "resolvable"]
    found = behind_repeats(mine, entry="acme", bucket="resolvable")
    fields = facets(rows)
    shown = rows[Query.of(**found["fell"]).mask(fields)]
    failed = mine.groupby("case_id")["success"].all()
    assert set(shown["case_id"]) == set(failed.index[~failed]) and len(shown) == found["failing"]
    assert shown["case_id"].nunique() == found["cases"]
    assert Query.of(**found["yes"]).mask(fields).sum() == found["k"] == mine["success"].sum()
    assert Query.of(**found["known"]).mask(fields).sum() == found["n"] == len(mine)


def test_what_a_judge_was_asked_and_scored_is_a_field(results, rows):
    judged, tone = copy(results), judged_by("tone", "j")
    judged.verdicts = (
        rows[["run_id", "case_id", "trial"]].head(3).assign(judge="j", scorer="tone", score=[80.0, None, 90.0])
    )
    fields = facets(judged)
    assert Query.of(judged=tone).mask(fields).sum() == 3 and Query.of(judge_scored=tone).mask(fields).sum() == 2


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("", {}),
        ("unsafe=yes", {"unsafe": True}),
        ("bucket=adversarial,resolvable trial=1", {"bucket": ["adversarial", "resolvable"], "trial": 1}),
        ('entry="gpt-5.5 (effort high)"', {"entry": "gpt-5.5 (effort high)"}),
        (r'entry="a \"b\", c=d \\"', {"entry": 'a "b", c=d \\'}),
        (
            'finding="Phantom action: no such call",x entry=a&b',
            {"finding": ["Phantom action: no such call", "x"], "entry": "a&b"},
        ),
    ],
)
def test_a_query_is_the_same_as_text_and_as_fields(text, fields):
    assert Query.of(text) == Query.of(**fields) and str(Query.of(text)) == text


@pytest.mark.parametrize("text", ["unsafe", "unsafe=", "=yes", 'entry="gpt', "a=b c", "a=b,,c", "a==b"])
def test_text_that_is_no_query_is_refused(text):
    with pytest.raises(BadInput, match="not part of a query"):
        Query.of(text)


@given(st.dictionaries(st.from_regex(r"[a-z_]+", fullmatch=True), st.lists(st.text(), min_size=1), max_size=4))
def test_any_values_come_back_from_the_text_of_a_query(fields):
    assert Query.of(str(Query.of(**fields))) == Query.of(**fields)


def test_a_part_of_results_has_the_same_conversations_in_every_frame(results):
    part = results.only("unsafe=yes,no")
    keys = set(part.conversations[["case_id", "trial"]].itertuples(index=False, name=None))
    assert 0 < len(keys) < len(results.conversations) and set(part.conversations["bucket"]) == {"adversarial"}
    assert set(part.messages[["case_id", "trial"]].itertuples(index=False, name=None)) == keys
    with pytest.raises(BadInput, match="no conversation matches unsafe=yes bucket=resolvable"):
        results.only(unsafe=True, bucket="resolvable")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("entry=nobody", "no conversation has entry=nobody: "),
        ("bucket=hard", "no conversation has bucket=hard: the names are adversarial, known, must_escalate, resolvable"),
        ("unsafe=maybe", "no conversation has unsafe=maybe: the names are known, no, yes"),
        ("agent_messages=3", "no conversation has agent_messages=3: the names are known, some"),
        ("bukcet=adversarial", "conversations have no field 'bukcet': did you mean bucket"),
    ],
)
def test_a_name_that_no_conversation_can_have_is_refused_and_not_counted_as_none(results, wrong, said):
    with pytest.raises(BadInput, match=said):
        results.where(wrong)
    assert results.where("bucket=resolvable unsafe=yes").empty and results.where("bucket=known unsafe=known").size


def test_a_count_whose_trials_are_not_whole_opens_the_trials_that_it_is_the_median_of(tmp_path):
    """Three traps: trial 1 has one act on all of them, trial 2 two, trial 3 lacks a trap and has one."""
    acts = {1: [1, 0, 0], 2: [1, 1, 0], 3: [1, 0]}
    rows = [
        (
            talk("Please.", "No.", case_id=f"trap_{case}", trial=trial),
            {"bucket": "adversarial", "intent": f"trap {case}", "unsafe": bool(act), "scored": True},
            [],
        )
        for trial, some in acts.items()
        for case, act in enumerate(some)
    ]
    results = load_results(made_run(tmp_path / "acme.deskbench", rows))
    metric, frame = METRICS["unsafe"], conversations_of(results)
    assert headline(frame, metric).median == 1.5
    (entry,) = set(frame["entry"])
    found = behind_median(frame, metric, entry=entry)
    assert found["yes"]["trial"] == [1, 2] and found["k"] == 3 == len(results.where(**found["yes"]))
    short = frame[frame["trial"] == 3]
    more = frame[(frame["trial"] == 1) & (frame["case_id"] == "trap_2")]
    assert behind_median(pd.concat([short, more]), metric, entry=entry)["k"] == 0, "no trial is whole, so no median"
