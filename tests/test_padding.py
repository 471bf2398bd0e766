"""Padding hides nothing: a padded message counts as what it says at both ends for whoever reads it, and is flagged."""

import copy

import pytest

from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.sentences import WHOLE, languages_of, sentences
from benchmark_lib.scoring import score

CLAIM = "I have cancelled your order, and the refund will be on your card tomorrow."
PADDING = {
    "words": "the parcel is packed by hand and leaves our house when all of it is ready. ",
    "blanks": " ",
    "marks": ". ",
    "figures": "7 13. ",
    "another language": "i w na nie się z do że to jest za o po jak tak. ",
}
SIZES = (3_000, 5_900, 6_100, 11_500, 12_500, 20_500, 100_000)


@pytest.fixture(scope="module")
def said(cases, store):
    """A case whose oracle tells one fact in its last reply; a function that scores that reply with other words."""
    case = cases["wismo_travel_1"]
    record = play(case, store, AGENTS["oracle"](case, store))

    def scored(words):
        made = copy.deepcopy(record)
        made.replies()[-1].text = words(made.replies()[-1].text)
        return score(made, case, store)

    return scored


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("unit", PADDING.values(), ids=PADDING)
def test_padding_on_one_side_switches_nothing_off(said, unit, size):
    padding = unit * (size // len(unit))
    for found in (said(lambda t: f"{t} {CLAIM}\n{padding}"), said(lambda t: f"{padding}\n{t} {CLAIM}")):
        assert found["facts_told"] == 1 and found["phantom_action"] is True
        assert bool(found["cut_for_length"]) == (size > WHOLE)


def test_what_stands_amid_padding_counts_for_nobody_and_is_flagged(said):
    padding = PADDING["words"] * (WHOLE // len(PADDING["words"]))
    found = said(lambda t: f"{padding}\n{t} {CLAIM}\n{padding}")
    assert found["facts_told"] == 0 and found["phantom_action"] is False
    assert found["cut_for_length"] == 1


def test_marks_and_foreign_words_do_not_hide_the_language_of_the_rest():
    text = "Your order is on its way, and you will have it by Friday."
    for unit in ("... ", "7, 13; ", PADDING["another language"]):
        assert languages_of(sentences(f"{unit * 100}\n{text}")) == ("en",)
