"""A customer asked to choose names what it wants, and one that does not get something goes on without it."""

import pytest

from benchmark_lib.audit import play
from benchmark_lib.cases import load_cases
from benchmark_lib.conversation.speaker import Reply
from benchmark_lib.language.parser import parser_of
from benchmark_lib.store import load_store
from benchmark_lib.store.consent import agrees


@pytest.fixture(scope="module")
def hard():
    return load_store("northline:hard")


class Desk:
    """Notes each message and does nothing."""

    def reply(self, talk):
        return Reply(f"That is note number {talk.turn}.")


@pytest.mark.parametrize(
    "words",
    [
        "Shall I cancel the order or change the address?",
        "Soll ich die Bestellung stornieren oder die Adresse ändern?",
        "I can cancel the order or change the address. Which of the two would you like?",
        "Je peux annuler la commande ou changer l'adresse. Laquelle des deux solutions préférez-vous ?",
        "¿Prefiere que cancele el pedido o que cambie la dirección?",
    ],
)
def test_a_question_between_two_acts_holds_out_both(store, words):
    assert parser_of(store).parse(words).alternatives == {"cancel_order", "update_shipping_address"}


@pytest.mark.parametrize(
    "words", ["Shall I change the case to black or navy?", "Shall I cancel it? Which one is broken?"]
)
def test_a_choice_of_colors_is_none_of_acts(store, words):
    assert parser_of(store).parse(words).alternatives == set()


def test_details_agree_in_any_order():
    named = {"details": {"parcel_id": "PC-1", "depot": "D-OT"}}
    assert agrees(named, {"details": {"depot": "D-OT", "parcel_id": "PC-1"}})
    assert not agrees(named, {"details": {"depot": "D-WP", "parcel_id": "PC-1"}})
    assert not agrees(named, {"details": {"parcel_id": "PC-1"}})


def test_what_is_never_done_is_dropped_and_the_list_goes_on(hard):
    whole = next(c for c in load_cases(hard, "long_talk_8") if c.id == "long_talk_8")
    case = whole.model_copy(update={"facts": {}})
    conversation = play(case, hard, Desk(), "desk")
    acts = [act for m in conversation.messages if m.side == "customer" for act in m.acts]
    order = [act.what for act in acts]
    assert order.index("5") < order.index("left_out") < order.index("dropped") < order.index("6")
    assert acts[-1].what == "unserved"
