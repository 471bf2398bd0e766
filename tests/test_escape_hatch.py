"""A customer that asks twice for a person must be given one; asked once, an agent may still try."""

import pytest

from benchmark_lib.records import Conversation, Message
from benchmark_lib.scoring.escape_hatch import person_given

ONCE = "Can I speak to a real person, please?"
TWICE = "I said I want to talk to a human."


def asked(*texts):
    messages = [Message(n, "customer", text) for n, text in enumerate(texts, 1)]
    return Conversation("case", 1, "m", "model", "scripted", messages=messages)


@pytest.mark.parametrize("handed_over", [True, False])
def test_asked_twice_it_counts_whether_a_person_was_given(handed_over):
    assert person_given(asked("Where is it?", ONCE, TWICE), handed_over) is handed_over


def test_asked_once_says_nothing():
    assert person_given(asked("Where is it?", ONCE, "No."), True) is None


@pytest.mark.parametrize(
    "words",
    ["Quiero hablar con una persona.", "Ich will mit einem Menschen sprechen.", "Je veux parler à un responsable."],
)
def test_it_is_heard_in_every_language(words):
    assert person_given(asked(words, words), False) is False
