"""The small real model on all three chairs, agent, customer and judge.

Real HTTP, real tokens. Structure is asserted, never text.
"""

import asyncio

import pytest

from benchmark_lib import Experiment, RunFile, load_results, tables
from benchmark_lib.conversation.model_customer import AnsweredAct
from benchmark_lib.extras.judges.judging import judge_runs
from benchmark_lib.extras.local.launch import CALL_TIMEOUT_S, local_model, missing_parts
from benchmark_lib.records import ENDINGS

MODEL = "smollm2-135m-instruct"
SCORERS = ("resolution", "tone")
LACKS = missing_parts()


def reply_format():
    """The ``response_format`` that holds an endpoint to the form of a customer's message."""
    parts = {"kind": AnsweredAct.model_json_schema()["properties"]["kind"], "what": {"type": "string"}}
    act = {"type": "object", "properties": parts, "required": ["kind", "what"], "additionalProperties": False}
    stars = {"anyOf": [{"type": "integer", "enum": [1, 2, 3, 4, 5]}, {"type": "null"}]}
    acts = {"type": "array", "items": act}
    fields = {"message": {"type": "string"}, "acts": acts, "end": {"type": "boolean"}, "rating": stars}
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "customer_message", "strict": True, "schema": schema}}


def verdict_format(scorers):
    """The ``response_format`` that holds an endpoint to the form of a verdict."""
    parts = {"quote": {"type": "string"}, "reason": {"type": "string"}, "score": {"type": "integer"}}
    one = {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
    scores = {name: one for name in scorers}
    inner = {"type": "object", "properties": scores, "required": list(scores), "additionalProperties": False}
    schema = {"type": "object", "properties": {"scores": inner}, "required": ["scores"], "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


@pytest.mark.timeout(480)
@pytest.mark.skipif(LACKS is not None, reason=str(LACKS))
@pytest.mark.slow
def test_a_small_real_model_sits_on_all_three_chairs(tmp_path):
    path = tmp_path / "chairs.deskbench"
    settings = {
        "agent": {"body": {"max_tokens": 256}},
        "customer": {"body": {"max_tokens": 128, "response_format": reply_format()}},
        "judge": {"body": {"max_tokens": 256, "response_format": verdict_format(SCORERS)}},
    }
    options = {
        "customer": MODEL,
        "cases": "tracking_1",
        "trials": 1,
        "messages": 2,
        "settings": settings,
        "out": path,
        "progress": False,
        "concurrency": 1,
        "timeout": CALL_TIMEOUT_S,
    }
    with local_model() as base_url:
        play = Experiment(MODEL, base_url=base_url, customer_base_url=base_url, **options)
        asyncio.run(play.run())
        bought = RunFile(path).counts()["calls"]
        asyncio.run(play.run())
        assert RunFile(path).counts()["calls"] == bought, "what is on file is not bought again"
        (done,) = asyncio.run(
            judge_runs(
                path,
                judges=[MODEL],
                base_urls=[base_url],
                settings=[settings],
                scorers=SCORERS,
                concurrency=1,
                timeout=CALL_TIMEOUT_S,
                progress=False,
            )
        )
    assert (done.made, done.incomplete, done.stopped) == (1, 0, None)
    asyncio.run(Experiment(MODEL, replay=True, **options).run())
    check_talks(path)
    check_verdicts(path)


def check_talks(path):
    """One talk, with the tokens of both sides."""
    (record,) = RunFile(path).records()
    assert record.ended_by in ENDINGS and record.ended_by != "infrastructure_fault" and record.customer == MODEL
    assert record.usage["agent"].prompt_tokens > 500 and sum(m.side == "customer" for m in record.messages) <= 3
    assert record.usage["customer"].prompt_tokens > 300 and record.usage["customer"].completion_tokens > 0
    frame = load_results(path).conversations
    assert (
        (frame["cost_usd"] == 0).all()
        and frame["customer_findings"].notna().all()
        and frame["customer_flagged"].notna().all()
    )


def check_verdicts(path):
    """A verdict on the ledger; every score is a number with its quote in the record, or unscored with the reason."""
    results = load_results(path)
    verdicts = results.verdicts
    assert len(verdicts) == len(SCORERS) and verdicts["entrant"].all()
    assert (verdicts["score"].between(0, 100) | (verdicts["score"].isna() & (verdicts["unscored"] != ""))).all()
    judge = results.calls[results.calls["side"] == "judge"]
    assert len(judge) >= 1 and judge["completion_tokens"].gt(0).all() and (judge["cost_usd"] == 0).all()
    assert tables.judge_table(results)["judge_is_entrant"].all() and tables.entrant_judges(results) == [MODEL]
