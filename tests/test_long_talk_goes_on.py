"""A customer with a list goes on with it after a wrong figure, and asks all of a question that it has no short words for."""

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.conversation.speaker import Reply
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.store import load_store


@pytest.fixture(scope="module")
def store():
    return load_store("northline:hard")


class Desk:
    """Says one line after the other, and the last one again."""

    def __init__(self, *lines):
        self.lines = lines

    def reply(self, talk):
        return Reply(self.lines[min(talk.turn, len(self.lines)) - 1])


def brought_up(case, store, *lines):
    conversation = play(case, store, Desk(*lines), "desk")
    return [
        (act.what, message.text)
        for message in conversation.messages
        for act in message.acts
        if act.kind == "followed_up"
    ]


@pytest.fixture(scope="module")
def case(store):
    return next(c for c in load_cases(store, "long_talk_3") if c.id == "long_talk_3")


def test_after_a_wrong_figure_it_goes_on_with_its_list(case, store):
    figures = "20 cm, 65 W, and up to 17 inches."
    said = brought_up(case, store, "It was delivered on June 23.", "Noted.", figures, "Noted.", "2,150 g.", "Noted.")
    assert ("4", case.followups[4].say) in said


def test_a_question_without_words_of_its_own_is_asked_in_whole(case, store):
    early = "It was delivered on June 23. The large adapter gives up to 65 W."
    worded = {name: fact.ask for name, fact in case.facts.items() if fact.after == 1}
    said = dict(brought_up(case, store, early, "Noted.", "Noted."))
    assert all(worded.values()) and worded["deep"] in said["1"] and worded["watts"] not in said["1"]
    mixed = case.model_copy(
        update={"facts": case.facts | {"deep": case.facts["deep"].model_copy(update={"ask": None})}}
    )
    assert dict(brought_up(mixed, store, early, "Noted.", "Noted."))["1"] == case.followups[1].say
