"""A transcript says why a fact whose value the agent wrote was not counted as told."""

import dataclasses
import json

import pytest
from test_customer import Says

from benchmark_lib.conversation.scripted import Oracle
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.sentences import sentences
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


@pytest.mark.parametrize("why", ["NOWHERE", "POURED", "NOT_SAID"])
def test_the_reason_for_an_untold_fact_is_named(asked, why):
    case, store, record = asked
    ways = {
        "NOWHERE": lambda text: "I will look into it.",
        "POURED": lambda text: f"{text}\n{dumped(store, case)}",
        "NOT_SAID": lambda text: "\n".join(f"It is not {fact.value}." for fact in case.facts.values()),
    }
    told = reworded(record, ways[why])
    scored = score(told, case, store)
    found = facts.why_untold(told, case, store, scored["facts"])
    assert found and set(found.values()) == {getattr(facts, why)}, found
    page = transcript_html(told, scored, case=case, store=store)
    assert f"not stated: {getattr(facts, why)}".replace("'", "&#39;") in page


def test_a_fact_counts_in_own_words_beside_what_is_pasted(store, cases):
    case, article = cases["return_used_1"], next(a["text"] for a in store.articles if a["id"] == "KB-13")
    whole = play(case, store, Says(article), "agent")
    assert facts.why_untold(whole, case, store, {"only_unused": False}) == {"only_unused": facts.BECAUSE_PASTED}
    few = " ".join(
        [s.text for s in sentences(article) if len(s.text.split()) >= facts.FEWEST_WORDS][: facts.COPIED - 1]
    )
    told = {
        text: score(reworded(whole, lambda _, said=text: said), case, store)["facts"]["only_unused"]
        for text in (few, f"We only take back what is unused. {few}", f"We only take back what is unused. {article}")
    }
    assert [*told.values()] == [False, True, False]


def test_a_told_fact_needs_no_reason(asked):
    case, store, record = asked
    assert facts.why_untold(record, case, store, score(record, case, store)["facts"]) == {}
