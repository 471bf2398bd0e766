"""One numbering of messages: what names a message names its bubble, and a link to it arrives there."""

import re

import pytest
from made_runs import talk
from site_talks import talks_of

from benchmark_lib import load_results
from benchmark_lib.experiment.demo import EXAMPLE, HARD_EXAMPLE
from benchmark_lib.records import Act, Message
from benchmark_lib.reports.conversation_view import conversation_view
from benchmark_lib.reports.fetch import signs_of
from benchmark_lib.reports.html import transcript_html
from benchmark_lib.reports.marks import place_in
from benchmark_lib.reports.site import build_site


@pytest.fixture(scope="module")
def played():
    """The conversations of the hard set that ship, each with its score."""
    return load_results(HARD_EXAMPLE)


def bubbles(view):
    """The texts of the messages by the numbers they have in the transcript."""
    messages = [m for turn in view["turns"] for side in ("customer", "agent") for m in turn[side]]
    return {m["number"]: "".join(part["text"] for part in m["parts"]) for m in messages}


def test_findings_and_promises_name_the_bubble_that_has_their_words(played):
    (run,), checked = played.runs, 0
    for case_id, trial, digest, _ in run.conversations():
        view = conversation_view(run.record(case_id, trial), run.scores()[digest])
        said = bubbles(view)
        assert list(said) == list(range(1, len(said) + 1))
        for number, quote in [(p["message"], p["quote"]) for p in view["promises"]]:
            assert place_in(said[number], quote)
            checked += 1
    assert checked


def test_every_way_to_name_a_message_counts_bubbles():
    given = Message(1, "customer", "Is it NL-1?", [Act("gave", "order_id")])
    c = talk(given, "It comes on Friday.", "Sure?", "It comes on Monday. Which order?", "Bye")
    finding = {"detector": "asked_again", "turn": 2, "sentence": "Which order?", "compared_with": "given in message 1"}
    promise = {"class": "arrival", "state": "contradicted", "turn": 1, "sentence": "It comes on Friday."}
    score = {"findings": [finding], "commitments": [promise | {"compared_with": "message 2"}]}
    view = conversation_view(c, score)
    (mark,), (kept,) = view["marks"], view["promises"]
    assert (mark.message, mark.note) == (4, "given in message 1")
    assert (kept["message"], kept["by"]) == (2, "message 4")
    assert list(signs_of(c)) == ["m1"]
    page = transcript_html(c, score)
    anchors = set(re.findall(r'id="([^"]+)"', page))
    links = re.findall(r'href="#([^"]+)">message (\d+)<', page)
    assert len(links) == 2 and all(aim in anchors and aim.endswith(f"-m{number}") for aim, number in links)


def test_every_mention_of_a_message_on_the_site_links_to_its_bubble(tmp_path):
    site = build_site(load_results(EXAMPLE), tmp_path)
    mentions = 0
    for text in talks_of(site.path).values():
        shown = re.sub(r'<div class="pre".*?</div>', "", text, flags=re.DOTALL)
        linked = re.findall(r'<a href="#m(\d+)">message (\d+)</a>', shown)
        assert all(aim == number and f'id="m{aim}"' in text for aim, number in linked)
        mentions += len(linked)
    assert mentions
