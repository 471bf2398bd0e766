"""What a customer attaches says what it shows, to everybody who reads the conversation."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.conversation.agent_view import SeenMessage
from benchmark_lib.conversation.model_agent import letter
from benchmark_lib.conversation.model_customer import customer_prompt
from benchmark_lib.extras.audit import audit as auditing
from benchmark_lib.extras.audit.audit import audit, play
from benchmark_lib.extras.claims.findings import AgentClaims
from benchmark_lib.extras.exchange.imports import read_jsonl
from benchmark_lib.extras.judges.shown import transcript
from benchmark_lib.records import Conversation
from benchmark_lib.reports.html import transcript_html
from benchmark_lib.store import load_store

SENT = "<b>a cracked</b> shell"


class Reads:
    """Keeps what it is shown, and asks for a photo."""

    def reply(self, talk):
        self.letters = [*getattr(self, "letters", []), letter(talk)]
        return "Please send us a photo of the damage."


def with_line(case, line, slot="photo"):
    """The case with another line for what its photo shows."""
    return case.model_copy(
        update={"ledger": {**case.ledger, slot: case.ledger[slot].model_copy(update={"shows": line})}}
    )


@pytest.fixture(scope="module")
def shown(store, cases):
    """A conversation in which a photo was sent, and the agent it was sent to."""
    agent = Reads()
    return play(with_line(cases["damaged_item_2"], SENT), store, agent), agent


def test_the_agent_reads_what_a_photo_shows(shown):
    record, agent = shown
    assert record.messages[0].shows == {"photo": SENT}
    assert agent.letters[0].endswith(f"\n[attachment: photo; it shows: {SENT}]")


def test_an_agent_in_a_process_of_its_own_gets_it_too(shown):
    first = shown[0].messages[0]
    seen = SeenMessage(first.turn, first.side, first.text, tuple(first.attachments), dict(first.shows))
    sent = json.loads(json.dumps(asdict(seen)))
    assert SeenMessage(**{**sent, "attachments": tuple(sent["attachments"])}) == seen and len({seen}) == 1


def test_record_import_and_judge_have_it(shown, tmp_path):
    record, _ = shown
    assert Conversation.from_json(record.to_json()).messages[0].shows == {"photo": SENT}
    again = read_jsonl(record.to_json(), Path("records.jsonl"), None, None)
    assert again.rows[0][0].messages[0].shows == {"photo": SENT}
    assert json.loads(transcript(record)[0])["attached"] == {"photo": SENT}


def test_a_page_shows_it_as_text(shown):
    page = transcript_html(shown[0])
    assert "photo (&lt;b&gt;a cracked&lt;/b&gt; shell)" in page and SENT not in page


def test_what_an_attachment_shows_is_known_to_the_desk(shown, store, cases):
    assert "cracked" in AgentClaims(shown[0], cases["damaged_item_2"], store).customer_words(1)


def test_a_model_that_plays_the_customer_knows_what_it_sends(store, cases):
    assert f"record attached photo; it shows: {SENT}" in customer_prompt(
        with_line(cases["damaged_item_1"], SENT), store
    )


def test_an_old_record_without_a_line_is_read_and_shown(shown):
    raw = json.loads(shown[0].to_json())
    for message in raw["messages"]:
        del message["shows"]
    old = Conversation.from_json(json.dumps(raw))
    assert "attached: photo<" in transcript_html(old) and json.loads(transcript(old)[0])["attached"] == {"photo": ""}


def test_what_a_label_says_may_name_what_the_order_says(store, cases):
    """It is evidence to be compared with the order, and no leak of a fact in the customer's own words."""
    case = cases["wrong_item_4"]
    color = store.tables["orders"][case.order]["lines"][0]["variant_id"]
    assert color.split("-")[2].lower() in case.ledger["label"].shows
    assert not [p for p in audit(store, case.id).problems if p.check == "fact leaks"]


@pytest.mark.parametrize("slot, line", [("photo", None), ("label", "something")])
def test_the_audit_wants_a_line_for_every_attachment_and_for_nothing_else(slot, line, store, cases, monkeypatch):
    case = with_line(cases["damaged_item_1"], line, slot)
    monkeypatch.setattr(auditing, "load_cases", lambda *_: [case])
    assert any(p.check == f"ledger {slot}" and "'shows'" in p.why for p in audit(store, case.id).problems)


@pytest.mark.parametrize(("name", "sets"), [("northline", "all,factorial,wordings"), ("northline:hard", "all")])
def test_a_thing_that_begins_with_a_vowel_has_its_n(name, sets):
    found = load_cases(load_store(name), sets)
    lines = [entry.shows for case in found for entry in case.ledger.values() if entry.shows]
    lines += [case.email.text for case in found if case.language == "en"]
    assert any(line.startswith("an A") for line in lines)
    assert not [line for line in lines if re.search(r"\b[Aa] [AEIO][a-z]+ [A-Z]", line)]
