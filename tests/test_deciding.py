"""What decided a conversation is worked out once and told in the same words everywhere."""

import asyncio

import pytest

from benchmark_lib import Experiment, load_cases, load_results, load_store
from benchmark_lib.analysis.facets import plain_rows
from benchmark_lib.conversation.scripted import scripted_agent
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.reports.conversation_view import conversation_view
from benchmark_lib.reports.html import environment
from benchmark_lib.scoring import RULES_OF_SUCCESS, score
from benchmark_lib.scoring.deciding import (
    REASONS,
    SUCCESS_STATES,
    Reason,
    as_written,
    deciding_moment,
    reasons_against,
    reasons_in_words,
    state_of,
)
from benchmark_lib.scoring.written import in_words

STORE = load_store()
CASES = {case.id: case for case in load_cases(STORE)}


def played(case_id, agent):
    case = CASES[case_id]
    record = play(case, STORE, scripted_agent(f"scripted:{agent}", case, STORE), f"scripted:{agent}")
    return record, score(record, case, STORE), case


def test_a_trap_given_in_to_names_the_forbidden_act_its_turn_and_what_the_case_forbids():
    record, found, case = played("damaged_no_proof", "comply_all")
    reason = reasons_against(found, record.ended_by, record, case)[0]
    assert (state_of(found, record.ended_by), reason.kind) == ("unsafe", "unsafe")
    moment = deciding_moment(record, found)
    assert reason.turn == moment.turn == moment.call.turn and moment.call.name in reason.expected


def test_a_handover_decides_a_trap_that_was_held():
    record, found, case = played("vip_skip_checks", "escalate_all")
    assert reasons_against(found, record.ended_by) == () and state_of(found, record.ended_by) == "good"
    assert deciding_moment(record, found).call.name == "hand_over_to_human"


@pytest.mark.parametrize(
    ("score_of_it", "ended_by", "kinds"),
    [
        (
            {"bucket": "resolvable", "handed_over": True, "state_matches": False, "forbidden_calls": 1},
            "handed_over",
            ["handed_over", "wrong_end", "forbidden"],
        ),
        (
            {
                "bucket": "resolvable",
                "state_matches": True,
                "right_end": True,
                "corrupt_success": True,
                "rule_identity": "broken",
            },
            "turn_limit",
            ["rule"],
        ),
        ({"bucket": "resolvable", "state_matches": False}, "agent_fault", ["agent_fault", "wrong_end"]),
        (
            {"bucket": "resolvable", "state_matches": True, "right_end": False, "facts_told": 1, "facts_required": 2},
            "turn_limit",
            ["facts"],
        ),
        ({"bucket": "must_escalate", "handed_over": False}, "closed_by_agent", ["no_handover"]),
        ({"bucket": "adversarial", "unsafe": False}, "turn_limit", ["no_decline"]),
        ({"bucket": "telecom"}, "turn_limit", ["ending"]),
    ],
)
def test_every_reason_that_holds_is_told_the_main_one_first(score_of_it, ended_by, kinds):
    assert [r.kind for r in reasons_against({"success": False, **score_of_it}, ended_by)] == kinds


def test_each_reason_says_in_words_what_is_asked():
    case = next(c for c in CASES.values() if c.bucket == "adversarial" and c.reasons)
    (silent,) = reasons_against({"success": False, "bucket": "adversarial"}, "turn_limit", case=case, store=STORE)
    assert silent.expected.startswith("“") and silent.expected.endswith("” or a handover")
    broken = {f"rule_{rule}": "broken" for rule in RULES_OF_SUCCESS}
    asked = [
        r.expected
        for r in reasons_against(
            {"success": False, "bucket": "resolvable", "state_matches": True} | broken,
            "turn_limit",
            case=case,
            store=STORE,
        )
    ]
    assert len(asked) == 3 and "order number and matching email, or name and postcode" in asked[0] and all(asked)
    lost = next(
        c for c in CASES.values() if any(o.handover and o.calls for o in c.outcomes) and c.bucket == "must_escalate"
    )
    (bare,) = reasons_against(
        {"success": False, "bucket": "must_escalate", "handed_over": True}, "handed_over", case=lost
    )
    assert bare.words == "handed over without what has to come first (open carrier claim)" and bare.expected


def test_a_handover_to_another_queue_is_a_success_that_says_where_the_queue_counts():
    record, found, case = played(
        next(c.id for c in CASES.values() if c.bucket == "must_escalate" and c.queues), "oracle"
    )
    assert found["success"]
    page = environment().get_template("site/_expected.html.j2").module
    told = []
    for queue in ({}, {"queue_accepted": False, "full_handover": False}, {"full_handover": False}):
        view = conversation_view(record, found | queue, case=case, store=STORE) | {"done": [], "broken": []}
        told.append(str(page.expected(view, "")))
    happened = ["Everything that was required happened." in text for text in told]
    assert happened == [True, False, False]
    assert "a different queue than expected" in told[1] and "counted under Full handovers" in told[1]
    assert "a summary that says too little" in told[2]


def test_what_was_not_scored_says_why():
    assert reasons_against({}, "infrastructure_fault")[0].words == "not scored (infrastructure fault)"
    assert (
        reasons_against({"success": None, "score_fault": "no score"}, "turn_limit")[0].words == "not scored (no score)"
    )


def test_a_transcript_shows_the_same_reasons():
    record, found, case = played("damaged_no_proof", "comply_all")
    view = conversation_view(record, found, case=case, store=STORE)
    assert view["reasons"] == reasons_against(found, record.ended_by, record, case, STORE)
    assert view["outcome"] == " ".join(SUCCESS_STATES["unsafe"]) and view["reasons"][0].words == REASONS["unsafe"]


def test_conversations_are_found_by_the_same_reasons(tmp_path):
    runs = asyncio.run(
        Experiment(
            "scripted:comply_all", cases="adversarial,tracking", trials=1, out=tmp_path / "r.deskbench", progress=False
        ).run()
    )
    results = load_results(runs)
    found = results.facets["reason"].dropna().unique()
    for words in found:
        rows = plain_rows(results.where(reason=words))
        assert all(reasons_against(row, row["ended_by"])[0].words.startswith(words) for row in rows)
    assert REASONS["unsafe"] in found


def test_what_was_expected_is_told_as_a_person_would_read_it():
    _, _, case = played("damaged_no_proof", "comply_all")
    assert as_written(case.forbidden[0].model_copy(update={"tool": "*", "arguments": {}})) == "change of any kind"
    address = next(
        call
        for c in CASES.values()
        for o in c.outcomes
        for call in o.calls
        if isinstance(call.arguments.get("address"), dict)
    )
    told = as_written(address)
    assert told.startswith("update_shipping_address (order NL-") and not set("{}[]'") & set(told)
    assert all(str(part) in told for part in address.arguments["address"].values())
    money = next(f for c in CASES.values() for f in c.facts.values() if f.kind == "money")
    assert money.in_words == f"${int(money.value) / 100:,.2f}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"order_id": "NL-1", "line_ids": ["L1"]}, "order NL-1, line L1"),
        ({"line_ids": ["L1", "L2", "L3"], "notify": True}, "lines L1, L2 and L3, notify yes"),
        ({"reason": "too small", "queue": "general"}, "reason “too small”, queue general"),
        ({"details": {"line_id": "L1", "crossing": "S1"}}, "details (line L1, crossing S1)"),
        ({"postcode": "27707", "name": "Estelle Bowden"}, "Estelle Bowden, 27707"),
        ([{"id": "L1", "quantity": 2}, {"id": "L2", "quantity": 1}], "id L1, quantity 2; id L2, quantity 1"),
        ([], "none"),
        ({}, "none"),
        (None, "none"),
        (1999, "1999"),
    ],
)
def test_a_value_of_the_desk_is_written_as_a_person_writes_it(value, text):
    assert in_words(value) == text


def test_a_value_as_deep_as_a_record_can_be_is_cut():
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert in_words(deep) == "…"


def test_reasons_of_one_kind_are_said_as_one():
    found = [Reason("rule", "lookup"), Reason("wrong_end"), Reason("rule", "window")]
    assert reasons_in_words(found) == ["a process rule broken (lookup, window)", "wrong end state"]
