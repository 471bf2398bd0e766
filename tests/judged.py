"""Scripted judges: what they are sent, what they answer, and the verdicts that come of it."""

import asyncio
import json

from servers import ScriptedServer

from benchmark_lib import RunFile
from benchmark_lib.extras.judges.judging import judge_runs
from benchmark_lib.extras.judges.verdicts import SCORERS

CASES_TO_JUDGE = "cancel_before_ship_1,damaged_item_1,return_request_1"
PRICED = "gpt-5.5"


def record_in(request):
    """The lines of the record that a judge was sent."""
    text = request["messages"][1]["content"]
    begin = next(line for line in text.splitlines() if line.startswith("<<<record "))
    inside = text.split(begin)[1].split(begin.replace("<<<record", "<<<end of record"))[0]
    return [json.loads(line) for line in inside.strip().splitlines()]


def scorers_in(request):
    return [s for s in SCORERS if f"## {s}:" in request["messages"][0]["content"]]


def quote_of(request):
    """A passage that stands in the record."""
    return next(line["customer"] for line in record_in(request) if "customer" in line)[:40]


def verdict(request, number=0, **changes):
    """A sound verdict as text; `changes` by scorer replace parts of its entry."""
    entry = {"quote": quote_of(request), "reason": "It is so.", "score": 80}
    return json.dumps({"scores": {s: {**entry, **changes.get(s, {})} for s in scorers_in(request)}})


def judged(run, reply=verdict, judges=(PRICED,), **options):
    """Judge a run with a scripted judge; the rows of verdicts and the server."""
    with ScriptedServer(reply) as server:
        done = asyncio.run(judge_runs(run, judges=judges, base_urls=[server.base_url], progress=False, **options))
    return [v["verdict"] for v in RunFile(run).verdicts()], server, done[0]


def one(run, reply, **options):
    """The scores of the one conversation of a sample of one, and the server."""
    verdicts, server, _ = judged(run, reply, limit=1, **options)
    return verdicts[0]["scores"], server
