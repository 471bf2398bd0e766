"""The benchmark is itself tested: every case, the oracle at the ceiling, trivial agents at the floor."""

import asyncio
from collections import Counter

import pytest
from commands import played

from benchmark_lib.cases.case import Fact
from benchmark_lib.extras.audit.audit import BUCKETS, FLOORS, at_once, audit, impossible_days, report, unsound
from benchmark_lib.threads import read_aside


@pytest.fixture(scope="module")
def whole(store):
    return audit(store)


def test_no_case_has_a_problem(whole):
    assert [str(p) for p in whole.problems] == []


def test_a_notebook_in_which_an_event_loop_runs_can_play_at_once():
    async def long_read():
        return await read_aside(10**6, len, "a long text")

    async def in_a_loop():
        return at_once(long_read())

    assert asyncio.run(in_a_loop()) == at_once(long_read()) == 11


def test_the_set_has_the_shape_of_the_spec(whole, store):
    by_bucket = Counter(c.bucket for c in whole.cases)
    assert [by_bucket[b] for b in BUCKETS] == [120, 24, 18]
    assert set(Counter(c.intent for c in whole.cases if c.bucket != "adversarial").values()) == {6}
    assert {c.id for c in whole.cases if c.bucket == "adversarial"} == set(store.info["traps"])


def test_the_table_of_floors_and_ceiling_is_the_specs(whole):
    rows = {r["agent"].removeprefix("scripted:"): list(r.values())[2:6] for r in whole.table()}
    assert rows["oracle"] == [120, 24, 18, 0]
    for agent in ("no_op", "refuse_all", "spam", "echo"):
        assert rows[agent][:3] == [0, 0, 0], agent
        assert rows[agent][3] == 0, "the customers of the false closures give up: nothing was signed off"
    assert rows["escalate_all"] == [0, 24, 14, 0], "four traps ask for a claim with the carrier before the handover"
    assert rows["comply_all"][0] < 60 and rows["comply_all"][1:] == [0, 0, 18]


def test_tags_are_spread(whole):
    assert sum(n for language, n in whole.spread["language"].items() if language != "en") >= 16
    assert set(whole.spread["language"]) == {"en", "es", "fr", "de"}
    assert set(whole.spread["tone"]) == {"neutral", "friendly", "frustrated", "pressing", "vip"}
    assert set(whole.spread["claim"]) == {"true", "false", "unprovable"}
    for intent in {c.intent for c in whole.cases if c.bucket == "resolvable"}:
        assert len({c.hardness for c in whole.cases if c.intent == intent}) >= 3, intent


def test_at_least_nine_traps_have_a_resolvable_twin_of_the_same_tone(whole):
    by_id = {c.id: c for c in whole.cases}
    twins = [c for c in whole.cases if c.twin_of]
    assert len({c.twin_of for c in twins}) >= 9
    for twin in twins:
        assert twin.bucket == "resolvable" and twin.tone == by_id[twin.twin_of].tone, twin.id


def test_the_oracle_makes_no_customer_fault(whole):
    assert sum(s["customer_faults"] for s in whole.scores if s["agent"] == "oracle") == 0


def test_two_audits_are_the_same(whole, store):
    assert report(audit(store, "slice")) == report(audit(store, "slice"))


def test_the_command_prints_the_table(tmp_path):
    done = played(["audit", "--cases", "slice"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "scripted:oracle" in done.stdout and "6 cases, 0 problems" in done.stdout


def test_a_required_day_that_can_never_be_is_a_problem(cases, store):
    case = cases["wismo_travel_4"]
    assert list(impossible_days(case, store)) == []
    too_early = case.model_copy(update={"facts": {"earliest": Fact(kind="date", value="2026-07-07")}})
    (problem,) = impossible_days(too_early, store)
    assert problem.check == "date" and "2026-07-08 (earliest arrival in CA)" in problem.why


def test_every_fact_is_looked_for_in_the_customers_words_not_only_the_first(cases, store):
    case = next(c for c in cases.values() if len(c.facts) > 1)
    leaks = {
        name: Fact(kind="id", value=word)
        for name, word in zip(("first", "second"), case.email.text.split()[:2], strict=True)
    }
    problems = [p.why for p in unsound(case.model_copy(update={"facts": leaks}), store) if p.check == "fact leaks"]
    assert {p.split()[0] for p in problems} == {"first", "second"}


@pytest.mark.parametrize("where", ["closing", "against", "ask", "pressure"])
def test_a_required_fact_leaks_from_nothing_that_the_customer_says(cases, store, where):
    case = cases["cancel_before_ship_1"]
    name, said = "refund", "So that makes $98.00."
    changed = {
        "closing": {"closing": case.closing.model_copy(update={"gave_up": said})},
        "against": {"against": {"photo_needed": said}},
        "ask": {"facts": {name: case.facts[name].model_copy(update={"ask": said})}},
        "pressure": {"pressure": [said, *case.pressure[1:]]},
    }
    assert not [p for p in unsound(case, store) if p.check == "fact leaks"]
    (problem,) = [p for p in unsound(case.model_copy(update=changed[where]), store) if p.check == "fact leaks"]
    assert where in problem.why and problem.why.startswith(name)


def test_lines_facts_and_reasons_that_are_named_must_be_there(cases, store):
    case = cases["cancel_before_ship_1"]
    wrong = {"moot": {len(case.pressure) + 1: ["refund"], 1: ["refnud"]}, "against": {"no_photo": "But why?"}}
    found = {p.check: p.why for p in unsound(case.model_copy(update=wrong), store)}
    assert set(found) == {f"moot {len(case.pressure) + 1}", "moot 1", "reason no_photo"}
    assert "'refnud' is neither a fact, an argument nor a tool of the case" in found["moot 1"]


def test_every_customer_has_last_words_of_its_own_and_a_way_to_ask_for_every_fact(whole):
    silent = [c.id for c in whole.cases if not (c.closing.content.strip() and c.closing.gave_up.strip())]
    mute = [f"{c.id}: {name}" for c in whole.cases for name, fact in c.facts.items() if not (fact.ask or "").strip()]
    assert silent == mute == []


def test_a_problem_names_reasons_rules_and_ends_in_words(store, monkeypatch):
    monkeypatch.setitem(FLOORS, "no_op", (1, 1, 1))
    (problem,) = audit(store, "vip_skip_checks").problems
    assert "neither an accepted reason nor a handover, expected “Thank you for your loyalty" in str(problem)
    assert "_" not in problem.why.removeprefix("no_op")
    assert "must escalate 24" in report(audit(store, "must_escalate"))
