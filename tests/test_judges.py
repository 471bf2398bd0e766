"""What judges are asked and shown, and what of it stays on file."""

import asyncio
import json
import re
from dataclasses import replace

import made_runs
import orjson
import pytest
from judged import CASES_TO_JUDGE, PRICED, judged, record_in, scorers_in
from made_runs import change_rows
from servers import ScriptedServer

from benchmark_lib import BadInput, Experiment, RunFile
from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.extras.judges.judging import judge_runs
from benchmark_lib.extras.judges.shown import case_facts, transcript
from benchmark_lib.extras.judges.verdicts import SCORERS, judge_messages, judging_version, load_rubrics, system_prompt
from benchmark_lib.records import content_hash
from benchmark_lib.reports.marks import marks_of

# --- what is asked and kept


def test_all_scorers_in_one_call_and_nothing_is_bought_twice(run_to_judge):
    verdicts, server, done = judged(run_to_judge)
    assert server.count == 3 and (done.made, done.conversations, done.incomplete) == (3, 3, 0)
    for found in verdicts:
        assert set(found["scores"]) == set(SCORERS) and all(
            s["score"] == 80 and not s["unscored"] for s in found["scores"].values()
        )
    rubrics = {r.name: r for r in load_rubrics()}
    assert all(
        s["rubric"] == rubrics[n].version and s["hash"] == rubrics[n].hash for n, s in verdicts[0]["scores"].items()
    )
    _, server, again = judged(run_to_judge)
    assert server.count == 0 and again.made == 0
    asyncio.run(
        Experiment(
            "scripted:oracle", cases=CASES_TO_JUDGE, trials=1, out=run_to_judge, progress=False, replay=True
        ).run()
    )


def test_calls_of_all_judges_stay_on_the_cost_ledger(run_to_judge):
    judged(run_to_judge, judges=(PRICED, "unpriced"))
    judged(run_to_judge, judges=(PRICED,), scorers=("tone",))
    calls = [c for c in RunFile(run_to_judge).calls() if c["side"] == "judge"]
    assert len(calls) == 9 and {c["n"] for c in calls} == {1, 2, 3}
    assert all((c["cost_usd"] or 0) > 0 for c in calls if c["model"] == PRICED) and all(
        c["cost_usd"] is None for c in calls if c["model"] == "unpriced"
    )


def test_a_call_on_file_is_not_bought_again_when_its_verdict_was_lost(run_to_judge):
    judged(run_to_judge)
    change_rows(run_to_judge, "DELETE FROM verdicts")
    verdicts, server, done = judged(run_to_judge)
    assert server.count == 0 and done.made == len(verdicts) == 3


def test_the_judge_sees_calls_results_rules_and_the_right_outcome(run_to_judge, store, cases):
    _, server, _ = judged(run_to_judge)
    request = next(
        r
        for r in server.requests
        if '"about":' in r["messages"][1]["content"] and "cancel_order" in r["messages"][1]["content"]
    )
    system, user = (m["content"] for m in request["messages"])
    assert store.prompt()[0] in system and "window_days: 100" in system and "process_rules" not in system
    lines = record_in(request)
    call = next(line for line in lines if line.get("agent calls") == "cancel_order")
    assert call["result"] and call["arguments"]["order_id"] and lines[-1]["ended"] == "resolved_by_customer"
    assert '"tool":"cancel_order"' in user.split("<<<record")[0], "the accepted outcome stands before the record"
    assert len({r["messages"][0]["content"] for r in server.requests}) == 1, (
        "what is the same for all comes first and stays the same"
    )


def test_a_call_comes_before_the_reply_it_belongs_to(store, cases):
    case = cases["cancel_before_ship_1"]
    lines = [json.loads(line) for line in transcript(play(case, store, Oracle(case, store)))]
    place = next(n for n, line in enumerate(lines) if "agent calls" in line)
    assert "customer" in lines[place - 1] and any("agent" in line for line in lines[place + 1 : place + 4])


def found_article(desk, query):
    return next(
        p for p in desk.call("search_knowledge_base", {"query": query}).result["passages"] if len(p["text"]) > 600
    )


def test_an_article_is_shown_whole_and_once(store, cases):
    """The deciding sentence often stands at the end of a long article, and an agent finds the same one again and again."""
    case, desk = cases["cancel_before_ship_1"], store.desk()
    desk.turn = 1
    article = found_article(desk, "conditions for sending a lost parcel again")
    desk.call("search_knowledge_base", {"query": "conditions for sending a lost parcel again"})
    record = made_runs.talk(case.email.text, "Done.", case_id=case.id, calls=desk.calls)
    shown = "\n".join(transcript(record, case))
    assert orjson.dumps(article["text"]).decode() in shown and "[cut: " not in shown
    assert (
        shown.count(article["text"][:40].replace("\n", "\\n")) == 1 and "[the same text as above, in turn 1]" in shown
    )


def test_a_pour_of_results_is_cut_and_says_so(store, cases):
    case, desk = cases["cancel_before_ship_1"], store.desk()
    desk.turn = 1
    text = "".join(f"{n:05d} and so on and so forth. " for n in range(40))
    for n in range(200):
        desk.call("search_products", {"query": "bag"}).result = {"found": f"{n} {text}"}
    lines = transcript(made_runs.talk("Hello", "Hi", case_id=case.id, calls=desk.calls), case)
    cut = ["[cut: " in line for line in lines if '"agent calls"' in line]
    assert not any(cut[:40]) and all(cut[60:]) and sum(map(len, lines)) < 250_000


def test_the_judge_is_told_who_writes_and_what_attachments_show(store, cases):
    case = cases["damaged_item_2"]
    record = play(case, store, Oracle(case, store))
    for message in record.messages:
        message.shows = {}  # as records made before attachments said what they show
    _, user = (m["content"] for m in judge_messages(record, case, store, load_rubrics()))
    facts, lines = user.split("<<<record ")[0], user.split("<<<record ")[1]
    assert f"{case.sender_name} <{case.sender}>" in facts and case.order in facts
    held = next(k.shows for k in case.ledger.values() if k.attach == "photo")
    assert held and orjson.dumps(held).decode() in lines


def test_reasons_are_given_in_words(store, cases):
    case = next(c for c in cases.values() if c.reasons and any(o.reason for o in c.outcomes))
    facts = case_facts(case, store)
    assert all(" " in reason for reason in facts["reasons that decline it rightly"])
    assert all(" " in o["reason"] for o in facts["accepted outcomes, any one"] if "reason" in o)


def test_what_must_not_be_called_comes_with_its_arguments(store, cases):
    """Where any call with the new address is forbidden, the name of a tool says nothing."""
    (call,) = case_facts(cases["reroute_forwarder"], store)["must not be called"]
    assert call["tool"] == "*" and call["address"]["postcode"]


def test_a_page_says_why_a_score_does_not_count():
    judged = {
        "judge": "j",
        "scorer": "tone",
        "score": None,
        "reason": "So.",
        "quote": "",
        "unscored": "the reply is empty",
    }
    (mark,) = marks_of({}, [judged])
    assert mark.label == "tone unscored" and mark.note == "j: the reply is empty"


def test_the_task_says_what_the_agent_sees_and_how_to_score(store):
    task = system_prompt(tuple(load_rubrics()), store)
    for said in (
        "It does not see the limits and windows given here as data",
        "Give any whole number from 0 to 100",
        "the reason and the summary of a handover are such",
        "count nothing twice",
    ):
        assert said in task
    texts = {r.name: r.text for r in load_rubrics()}
    assert (
        '"at the latest" included' in texts["scope_of_promises"]
        and "after a real handover" in texts["scope_of_promises"]
    )
    assert (
        "summary of the handover" in texts["resolution"] and "looking up is always allowed" in texts["policy_adherence"]
    )
    for name in ("groundedness", "policy_adherence", "scope_of_promises"):
        assert {"groundedness", "policy_adherence", "scope_of_promises"} - {name} <= set(
            re.findall(r"\w+_\w+|groundedness", texts[name])
        )


def test_the_mood_is_not_scored_where_the_customer_wrote_once(tmp_path):
    """It is not asked for either, and another judge's strict answer format that holds it does no harm."""
    path = tmp_path / "once.deskbench"
    case = "unsupported_request_1"
    asyncio.run(Experiment("scripted:oracle", cases=case, trials=1, out=path, progress=False).run())
    everything = json.dumps(
        {"scores": {s: {"quote": "Hi there, darlings", "reason": "So.", "score": 80} for s in SCORERS}}
    )
    with ScriptedServer(everything) as server:
        asyncio.run(judge_runs(path, judges=[PRICED], base_urls=[server.base_url], progress=False))
        asyncio.run(
            judge_runs(path, judges=["b"], base_urls=[server.base_url], progress=False, scorers=["sentiment_trend"])
        )
    first, second = (v["verdict"]["scores"] for v in RunFile(path).verdicts())
    assert server.count == 1 and "sentiment_trend" not in scorers_in(server.requests[0])
    assert list(first) == list(SCORERS) and first["tone"]["rubric"]
    for found in (first, second):
        trend = found["sentiment_trend"]
        assert trend["score"] is None and "fewer than 2 messages of the customer" in trend["unscored"] and trend["hash"]


def test_a_rubric_with_an_impossible_number_of_messages_is_refused(tmp_path):
    (tmp_path / "tone.md").write_text("---\nversion: v\ntitle: t\ncustomer_messages: none\n---\nx")
    with pytest.raises(BadInput, match="customer_messages is 'none'"):
        load_rubrics(["tone"], tmp_path)


def test_some_scorers_one_call_each_and_a_sample(run_to_judge):
    verdicts, server, done = judged(run_to_judge, scorers=("tone", "resolution"), apart=True, limit=2)
    assert (
        server.count == 4
        and done.conversations == 2
        and all(set(v["scores"]) == {"tone", "resolution"} for v in verdicts)
    )
    assert all(len(scorers_in(r)) == 1 for r in server.requests)
    _, server, _ = judged(run_to_judge, scorers=("tone", "resolution"), apart=True)
    assert server.count == 2, "the sample is part of the whole"


def test_a_changed_rubric_task_or_setting_is_another_version(store):
    rubrics = load_rubrics()
    changed = [replace(rubrics[0], text="Other words.", hash=content_hash(b"other")), *rubrics[1:]]
    versions = [
        judging_version(rubrics, {}, False, store),
        judging_version(changed, {}, False, store),
        judging_version(rubrics[:1], {}, False, store),
        judging_version(rubrics, {"temperature": 0}, False, store),
        judging_version(rubrics, {}, True, store),
    ]
    assert len(set(versions)) == 5 and all(v.startswith("judge-2 ") for v in versions)
