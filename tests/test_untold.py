"""A transcript says why a fact whose value the agent wrote was not counted as told."""

import dataclasses
import json

import pytest

from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.reports.html import transcript_html
from benchmark_lib.scoring import facts, score

CASE = "tracking_1"


@pytest.fixture(scope="module")
def asked(cases, store):
    """A case with a fact to tell, its store, and how the oracle plays it."""
    case = cases[CASE]
    return case, store, play(case, store, Oracle(case, store))


def reworded(record, change):
    """The record with other words of the agent."""
    said = [dataclasses.replace(m, text=change(m.text)) if m.side == "agent" else m for m in record.messages]
    return dataclasses.replace(record, messages=said)


def dumped(store, case):
    """The order as a machine writes it."""
    return json.dumps(store.tables["orders"][case.order], default=str, indent=1)


@pytest.mark.parametrize("why", ["NOWHERE", "POURED", "NOT_SAID", "BECAUSE_PASTED"])
def test_the_reason_for_an_untold_fact_is_named(asked, why):
    case, store, record = asked
    article = max((a["text"] for a in store.articles), key=len)
    ways = {
        "NOWHERE": lambda text: "I will look into it.",
        "POURED": lambda text: f"{text}\n{dumped(store, case)}",
        "NOT_SAID": lambda text: "\n".join(f"It is not {fact.value}." for fact in case.facts.values()),
        "BECAUSE_PASTED": lambda text: f"{text}\n{article}",
    }
    told = reworded(record, ways[why])
    scored = score(told, case, store)
    found = facts.why_untold(told, case, store, scored["facts"])
    assert found and set(found.values()) == {getattr(facts, why)}, found
    page = transcript_html(told, scored, case=case, store=store)
    assert f"not stated: {getattr(facts, why)}".replace("'", "&#39;") in page


def test_a_told_fact_needs_no_reason(asked):
    case, store, record = asked
    assert facts.why_untold(record, case, store, score(record, case, store)["facts"]) == {}
