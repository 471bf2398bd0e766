"""Run files made by hand: any conversation, any score, any verdict, whoever wrote its texts."""

import orjson

from benchmark_lib.records import Conversation, Message, content_hash
from benchmark_lib.runfile import RunFile, connect_to_write, create, upsert

AT = "2026-01-01T00:00:00"


def made_run(path, rows, *, run_id="made-1", model="made", cases=None):
    """A run file.

    Parameters
    ----------
    rows : list of (Conversation, score dict or None, list of (judge, {scorer: {score, reason, quote}}))
    cases : dict of str to str
        Content hashes, where the cases are to be found in their store.
    """
    planned = {c.case_id: 1 for c, *_ in rows}
    create(path, {"run_id": run_id, "model": model, "source": "model", "inputs": {"store": {"value": "northline 1.0.0", "hash": "-"}},
                  "cases": cases or dict.fromkeys(planned, "-"), "trials": 1, "planned": planned, "sessions": []})  # fmt: skip
    db = connect_to_write(path)
    db.execute("BEGIN")
    for conversation, score, verdicts in rows:
        record = conversation.to_json()
        digest = content_hash(record)
        db.execute(upsert("conversations"), (conversation.case_id, conversation.trial, conversation.ended_by, digest, record, AT))
        if score is not None:
            db.execute(upsert("scores"), (digest, "scoring-1", orjson.dumps(score)))
        for judge, scores in verdicts:
            db.execute(upsert("verdicts"), (digest, judge, "judge-1", orjson.dumps({"scores": scores})))
    db.execute("COMMIT")
    db.close()
    return RunFile(path)


def talk(*messages, case_id="made_case", trial=1, model="made", calls=(), ended_by="turn_limit", **more):
    """A conversation whose messages are given in order, customer first."""
    said = [m if isinstance(m, Message) else Message(1 + n // 2, ("customer", "agent")[n % 2], m) for n, m in enumerate(messages)]
    return Conversation(case_id, trial, model, "model", "scripted", said, list(calls), ended_by=ended_by, **more)
