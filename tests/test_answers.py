"""Which model for which reader: a planted best model is found, equal ones are too close to call, and nothing scripted is ever recommended."""

import re

import numpy as np
import pandas as pd
import pytest
from made_runs import AWKWARD, OTHER, TUNED

from benchmark_lib import BadInput, load_results, reports
from benchmark_lib.analysis.tables.answers import (
    ALONE,
    CLEAR,
    CLOSE,
    NOBODY,
    Stakes,
    answer,
    candidates,
    questions,
    read_stakes,
    with_stakes,
)
from benchmark_lib.cli import main
from benchmark_lib.experiment.demo import EXAMPLE
from benchmark_lib.project import DATA
from benchmark_lib.reports.answers import answers_in_lines, sentence_of
from benchmark_lib.reports.methods import days_played
from benchmark_lib.reports.site.content import Content
from benchmark_lib.reports.site.models import model_scope

ASKED = {q.name: q for q in questions(Stakes())}


def made(rates, *, seed=0, cases=60, handed=0.0, cost=0.01, trials=3):
    """Conversations of models that resolve a case with a known chance; every fifth case needs a human and gets one."""
    rng, parts = np.random.default_rng(seed), []
    ease = rng.beta(8, 2, cases)  # the same cases for all
    for name, rate in rates.items():
        case, trial = np.divmod(np.arange(cases * trials), trials)
        good = rng.random(case.size) < np.clip(rate * ease[case] / 0.8, 0, 1)
        given = (rng.random(case.size) < handed) & ~good
        needs = case % 5 == 0
        part = {
            "entry": name,
            "model": name,
            "source": "model",
            "case_id": [f"c{i}" for i in case],
            "intent": [f"i{i % 12}" for i in case],
            "trial": trial + 1,
            "bucket": np.where(needs, "must_escalate", "resolvable"),
            "store_version": "northline 1",
            "resolved": pd.array(np.where(needs, None, good), dtype="boolean"),
            "success": pd.array(good, dtype="boolean"),
            "handed_over": pd.array(np.where(needs, good, given), dtype="boolean"),
            "cost_usd": cost if isinstance(cost, float) else cost[name],
        }
        parts.append(pd.DataFrame(part))
    return with_stakes(pd.concat(parts, ignore_index=True), Stakes())


def as_models(talks):
    """Conversations of two tunable agents, as if models had them."""
    two = talks[talks["model"].isin([TUNED, OTHER])]
    names = two["model"].map({TUNED: "first", OTHER: "second"})
    return two.assign(model=names, entry=names, source="model", cost_usd=0.01)


@pytest.fixture(scope="module")
def two_models(talks):
    """The conversations of two models, and their answers."""
    rows = as_models(talks)
    return rows, reports.answers(rows)


@pytest.mark.parametrize("name", ["money", "open weights", "person behind"])
def test_a_model_that_is_truly_best_by_far_is_the_answer(name):
    found = answer(ASKED[name], made({"good": 0.9, "poor": 0.5, "middling": 0.55}))
    assert found.verdict == CLEAR and found.models == ("good",)
    assert sentence_of(found).startswith("good: ") and "clear difference" in sentence_of(found)
    assert "Every other model is clearly worse" in sentence_of(found)


def test_equal_models_are_told_apart_no_more_often_than_one_time_in_twenty():
    found = [answer(ASKED["open weights"], made({"a": 0.7, "b": 0.7}, seed=s)) for s in range(20)]
    assert sum(f.verdict == CLEAR for f in found) <= 3  # 1 expected
    close = next(f for f in found if f.verdict == CLOSE)
    assert sentence_of(close).startswith("Too close to call between") and set(close.models) == {"a", "b"}


def test_the_cheaper_of_two_equal_models_gives_more_for_the_money_and_an_unknown_price_is_left_out():
    rows = made({"cheap": 0.7, "dear": 0.7, "unpriced": 0.9}, cost={"cheap": 0.01, "dear": 3.0, "unpriced": np.nan})
    found = answer(ASKED["money"], rows)
    assert found.models == ("cheap",) and "unpriced: price unknown" in found.reason
    assert found.beats_nothing == "clearly better than no agent at all"


def test_a_model_that_fails_silently_is_worse_than_handing_everything_over():
    rows = made({"silent": 0.3, "worse": 0.1})
    assert "clearly worse than handing every conversation to a person" in sentence_of(
        answer(ASKED["person behind"], rows)
    )
    hands_over = made({"hands over": 0.3}, handed=1.0)
    assert answer(ASKED["person behind"], hands_over).table["value"].iloc[0] < 50


def test_a_loss_that_is_worse_than_a_person_is_called_worse_and_the_stakes_stand_beside_it():
    said = sentence_of(answer(ASKED["person behind"], made({"m": 0.9}, seed=1, cases=40)))
    assert "It is measured as worse than handing every conversation to a person, but not clearly." in said
    assert (
        "A person is assumed to cost 5 USD per conversation, and a forbidden act or a wrong end that nobody notices 50 USD."
        in said
    )


def test_an_interval_says_its_level_where_that_is_not_95_percent():
    two, three = made({"good": 0.9, "poor": 0.5}), made({"good": 0.9, "poor": 0.5, "third": 0.4})
    assert "They differ by 34.0 points (97.5% interval 22.9 to 45.1" in sentence_of(answer(ASKED["open weights"], two))
    assert "34.0 points (21.9 to 46.1 points): clear difference" in sentence_of(answer(ASKED["open weights"], three))


def test_the_first_answer_says_what_may_be_answered_alone(two_models):
    page, lines = two_models[1]._repr_html_(), answers_in_lines(two_models[1])
    safest = page.partition('<section id="safest">')[2].partition("</section>")[0]
    for text in (safest, lines[1]):
        assert re.search(r"(first|second) may (not )?answer (any use case )?alone.*approval", text)
        assert "These cases cannot show for any model, however good, that it may answer an intent alone" in text
    assert "a person behind" not in page
    assert re.search(r"10\.00( \(10\.00 to 10\.00\))? USD for 1,000 conversations", page)
    assert not any(re.search(r"\d\s%", cell) for cell in re.findall('<td class="beside">(.*?)</td>', page))


def test_only_one_candidate_is_said_to_be_alone():
    found = answer(ASKED["open weights"], made({"one": 0.7}))
    assert found.verdict == ALONE and "No other model can be compared with it" in sentence_of(found)


def test_scripted_agents_are_never_recommended_and_the_answers_say_so(five_agents):
    found = reports.answers(five_agents)
    assert [item.verdict for item in found] == [NOBODY] * 4 and not any(item.models for item in found)
    assert "scripted agents" in found["safest"].reason and "scripted agents" in sentence_of(found["safest"])
    page = found._repr_html_()
    assert page.count("No answer yet") == 1 and "never recommended: 3 scripted agents" in page
    assert "deskbench run MODEL --trials 3 --dry-run" in page, "where no model was run, the page says how to run one"


@pytest.mark.parametrize("session", [{}, {"started": "yesterday"}])
def test_a_run_whose_sessions_name_no_day_is_dated_by_the_day_it_was_made(session):
    assert days_played([{"created": "2026-03-01T10:00:00", "sessions": [session]}]) == ["2026-03-01"]
    assert days_played([{"created": "no day", "sessions": [session]}]) == []


def test_models_below_the_line_are_no_candidates(talks):
    rows = as_models(talks)
    weak = rows.assign(resolved=rows["resolved"] & (rows["entry"] != "first"))
    assert set(candidates(rows)[0]["entry"]) == {"first", "second"}
    assert set(candidates(weak)[0]["entry"]) == {"second"}, "the other resolves less than half"
    assert "1 language model below the board's line" in candidates(weak)[1]


def test_open_weights_come_from_their_column_and_are_unknown_without_it(two_models):
    rows, found = two_models
    assert found["open weights"].verdict == NOBODY
    assert "2 with unknown weights" in found["open weights"].reason
    weights = rows["entry"].map({"first": "closed", "second": "open"})
    known = reports.answers(rows.assign(weights=weights), board=found.board)["open weights"]
    assert known.models == ("second",) and known.verdict == ALONE and "1 with closed weights" in known.reason


def test_the_stakes_are_the_readers_own_and_stated(two_models):
    rows, before = two_models
    found = reports.answers(rows, reports.Stakes(resolved=2.5, wrong=7, handover=3), board=before.board)
    assert "2.5 USD for each resolved" in found["money"].question.criterion
    assert "costs 7 USD and a handover 3 USD" in found["person behind"].question.criterion
    with pytest.raises(BadInput, match="wrong is -1"):
        reports.Stakes(wrong=-1)


def test_a_hostile_name_stays_text(odd):
    page = reports.answers(odd["a hostile name"])._repr_html_()
    assert "<script>" not in page


@pytest.mark.parametrize(
    ("runs", "name", "why", "step"),
    [
        ("half finished", "half", "7 of its 54 planned conversations are finished", "deskbench run half --trials 3"),
        ("begun beside finished", "begun", "None of its 54 planned", "deskbench run begun --trials 3"),
        (
            "other cases",
            "b",
            "It was played on 12 of the 18 cases that the others played",
            "deskbench run b --trials 3",
        ),
        (
            "other versions",
            "c",
            "It was played on northline 2, the others were played on northline 1",
            "deskbench run c --trials 3",
        ),
        ("no scores on file", "raw", "54 of its 54 conversations have no score", "deskbench score FILE"),
        ("all zeros", "a", "It resolves 0.0% of 12 resolvable cases, and a recommendation requires 50%", ""),
        ("nothing scored", "faulty", "None of its 54 planned", "deskbench run faulty --trials 3"),
        ("traps only", "a", "No resolvable case has a scored conversation", "deskbench run a --trials 3"),
    ],
)
def test_a_model_that_is_left_out_is_told_why_and_what_to_do(tmp_path, runs, name, why, step):
    AWKWARD[runs](tmp_path)
    found = reports.answers(load_results(tmp_path))
    one = {c.name: c for c in found.considered}[name]
    assert not one.compared and one.why.startswith(why) and one.steps[0][1].startswith(step)
    page = found._repr_html_()
    assert f"{name}</bdi>: left out" in page and why.partition(",")[0] in page and step in page


def test_a_model_that_plays_one_trial_is_compared_and_told_to_play_three(tmp_path):
    AWKWARD["different trials"](tmp_path)
    found = {c.name: c for c in reports.answers(load_results(tmp_path)).considered}
    assert found["five"].compared and not found["five"].steps
    assert found["one"].compared and "hardly known" in found["one"].why
    assert found["one"].steps == (("Play 3 trials; conversations on file are kept", "deskbench run one --trials 3"),)


def test_own_stakes_are_read_from_a_small_file_and_named_with_the_answers(tmp_path, two_models):
    path = tmp_path / "mine.yaml"
    path.write_text("wrong: 200\nhandover: 8\n", encoding="utf-8")
    stakes = reports.read_stakes(path)
    assert (stakes.resolved, stakes.wrong, stakes.handover, stakes.approval) == (5, 200, 8, 2)
    page = reports.answers(two_models[0], stakes, board=two_models[1].board)._repr_html_()
    assert "costs 200 USD" in page and "(read from mine.yaml)" in page and str(tmp_path) not in page
    assert "(the defaults)" in two_models[1]._repr_html_()
    assert reports.read_stakes(DATA / "stakes.yaml") == reports.Stakes() == reports.read_stakes(None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("wrng: 5", "'wrng' is not one of the stakes; name any of resolved, wrong, handover, approval"),
        ("wrong: much", "wrong is 'much': give what it costs in US dollars"),
        ("wrong: -1", "wrong is -1"),
        ("wrong: true", "wrong is True"),
        ("wrong: .inf", "wrong is inf"),
        ("", "names no stakes"),
        ("- 5", "must contain a mapping"),
        ("wrong: [", "is not valid YAML"),
    ],
)
def test_stakes_that_are_none_are_refused_in_one_sentence(tmp_path, project, text, why, capsys):
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    assert main(["site", str(EXAMPLE), "--stakes", "mine.yaml"]) == 2
    told = capsys.readouterr().err
    assert why in told and told.count("\n") == 1


def test_the_site_uses_the_stakes_of_the_file(five_agents):
    content = Content(five_agents, published=False, stakes=reports.Stakes(wrong=10, file="mine.yaml"))
    entry = next(e for e in content.played if e.name == TUNED)
    said = model_scope(content, entry)["said"]
    assert "costs 10 USD" in said[1] and "read from mine.yaml" in said[1] and "more than 50%" in said[1]


def test_a_forbidden_act_that_was_carried_out_costs_a_wrong_end_even_if_a_person_follows():
    handed = {"bucket": "resolvable", "resolved": False, "success": False, "handed_over": True, "cost_usd": 0.0}
    calls = [(0, 0), (1, 1), (1, 0), (2, 1)]
    rows = pd.DataFrame(
        [handed | {"forbidden_calls": all_calls, "forbidden_malformed": bad} for all_calls, bad in calls]
    )
    stakes = read_stakes()
    assert with_stakes(rows, stakes)["loss"].tolist() == [stakes.handover, stakes.handover, stakes.wrong, stakes.wrong]
    assert with_stakes(rows.drop(columns=["forbidden_calls"]), stakes)["loss"].tolist() == [stakes.handover] * 4
