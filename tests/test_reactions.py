"""How a customer reacts to what it is told: to a no at once, to a way out once, to its own mistake before the yes."""

import pytest
from test_customer import answer, did

from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.patterns import cue_of_several
from benchmark_lib.language.sentences import plain
from benchmark_lib.language.word_lists import LANGUAGES, said_by_customers


def reactions(kind):
    return {words.casefold() for language in LANGUAGES for words in said_by_customers(language, "reactions", kind)}


def reacts(message, kind):
    return any(words in message.text.casefold() for words in reactions(kind))


NO_PHOTO = "Could you attach a photo of the damage, please?"
WAYS = [
    "Perhaps a neighbour could take it? Any camera will do.",
    "You could borrow a phone for a minute.",
    "Vielleicht kann eine Nachbarin das Foto machen?",
    "Jede Kamera ist recht, auch ein Tablet.",
    "Sans photo, je ne peux pas l'envoyer. Un proche pourrait-il prendre la photo ?",
    "N'importe quel appareil convient, une tablette aussi.",
    "¿Podría tomarla un vecino con su teléfono?",
    "Cualquier cámara sirve, también una tableta.",
]
SOMEBODY = [
    "Do you know somebody who could take the picture?",
    "Could a friend snap the picture for you?",
    "Kennen Sie jemanden, der das Foto machen könnte?",
    "Un voisin pourrait-il prendre la photo ?",
    "¿Hay alguien que pueda tomar la foto?",
]


def declines(message, case):
    """Which of its own ways to say that there is no other way a message holds."""
    return [words for words in case.ledger["photo"].no_other_way if words in message.text]


@pytest.mark.parametrize("way", WAYS)
def test_a_way_to_the_picture_is_answered_once_and_then_it_argues(store, cases, way):
    case = cases["damaged_no_proof"]
    said, _ = answer(case, store, NO_PHOTO, way, "As I said, any other camera will do.")
    assert [len(declines(m, case)) for m in said[:3]] == [0, 1, 0]
    assert did(said[1]) == [("pushed", "1")]


@pytest.mark.parametrize("asked", SOMEBODY)
def test_asked_for_somebody_who_could_take_it_a_customer_answers_each_time_in_its_own_words(store, cases, asked):
    case = cases["vip_skip_checks"]
    said, _ = answer(case, store, NO_PHOTO, asked, f"I do need it. {asked}")
    assert declines(said[1], case) + declines(said[2], case) == case.ledger["photo"].no_other_way[:2]
    assert did(said[2], "pushed") and not did(said[2], "lacked", "waited")


def test_who_has_no_words_of_its_own_says_it_in_those_of_the_store(store, cases):
    case = cases["damaged_no_proof"]
    photo = case.ledger["photo"].model_copy(update={"no_other_way": []})
    said, _ = answer(case.model_copy(update={"ledger": {**case.ledger, "photo": photo}}), store, NO_PHOTO, WAYS[0])
    assert reacts(said[1], "no_other_way")


def test_where_no_way_is_named_there_is_none_to_decline(store, cases):
    said, _ = answer(
        cases["damaged_no_proof"], store, NO_PHOTO, "Without a photo I cannot send it, whoever asks. I'm sorry."
    )
    assert not reacts(said[1], "no_other_way")


def test_of_a_line_and_the_argument_that_it_comes_to_one_is_said(store, cases):
    case = cases["damaged_no_proof"]
    case = case.model_copy(update={"moot": {1: ["photo_needed"]}})
    refused = "Without a photo I cannot send a new one."
    said, _ = answer(case, store, NO_PHOTO, refused, refused + " That is the same for all.")
    assert case.against["photo_needed"] in said[1].text and case.pressure[1] in said[2].text
    late, _ = answer(case, store, "I am sorry, no.", refused, refused)
    assert case.pressure[0] in late[0].text and case.against["photo_needed"] not in " ".join(m.text for m in late)


@pytest.mark.parametrize(
    "words",
    [
        "Is it still unused, and shall I start the return?",
        "Ist sie noch unbenutzt, und soll ich die Rücksendung eröffnen?",
        "Est-elle encore inutilisée, et dois-je ouvrir le retour ?",
        "¿Está sin usar, y le abro la devolución?",
    ],
)
def test_a_question_beside_the_one_for_a_yes_is_heard(store, words):
    heard = parser_of(store).parse(words)
    assert heard.confirm and heard.asked == ["condition"]


@pytest.mark.parametrize(
    "words",
    [
        "Shall I open the return and send you the link?",
        "Shall I change the color and the address?",
        "Is that right, and shall I go ahead?",
    ],
)
def test_two_things_to_agree_to_are_no_question(store, words):
    heard = parser_of(store).parse(words)
    assert heard.confirm and not heard.asked


def test_the_answer_comes_with_the_yes_and_after_what_was_news(store, cases):
    case = cases["false_closure_refund"]
    offer = (
        f"Order {case.order} shows as delivered, and there is no return and no refund on it. So no money is on its way right now. You have "
        "until September 8 to start a return, as long as it is unused. If you like, I'll start that for you. Is it unused, and shall I start it?"
    )
    said, _ = answer(case, store, offer)
    assert {("gave", "condition"), ("agreed", "start_return")} <= {*did(said[0])}
    assert reacts(said[0], "news") and said[0].text.index(case.agrees[0]) < said[0].text.index(
        case.ledger["condition"].value
    )


@pytest.mark.parametrize("names_both", [True, False])
def test_a_wrong_name_that_the_desk_mends_is_owned_up_to_once(store, cases, names_both):
    case = cases["color_edit_1"]
    wish = case.outcomes[0].calls[0].arguments
    line = store.tables["orders"][case.order]["lines"][0]
    wrong = next(
        p["title"]
        for p in store.tables["products"].values()
        if p["title"] in case.email.text and p["title"] not in str(store.tables["orders"][case.order])
    )
    mended = f"The bag on it is not the {wrong} but the {line['title']}. " if names_both else ""
    said, _ = answer(
        case, store, f"{mended}I would change the {line['title']} of order {wish['order_id']} to black. Shall I?"
    )
    assert reacts(said[0], "other_name") == names_both
    assert ("agreed", "update_line_item") in did(said[0])


NO = "I can't start a return for it: returns are for unused things only, and a week of travel makes it a used one."


def test_a_no_is_answered_in_the_next_message_together_with_a_question(store, cases):
    said, _ = answer(cases["return_used_1"], store, f"{NO} Which size have you got?", "It stays a no, I am sorry.")
    assert [act.kind for act in said[0].acts] == ["gave", "pushed"]
    assert "left" in [act.kind for act in said[1].acts]


def test_what_was_offered_in_place_of_a_first_wish_is_taken_and_not_asked_for(store, cases):
    case = cases["damaged_item_4"]
    offer = "We don't mail single wheels. What we do instead is this: we replace the whole duffel. All I need is a photo of it."
    said, _ = answer(case, store, offer)
    assert case.followups[0].say not in said[0].text
    assert {("followed_up", "0"), ("agreed", "create_replacement")} <= {*did(said[0])}
    said, _ = answer(case, store, "All I need is a photo of it.")
    assert case.followups[0].say in said[0].text


def test_offered_what_it_was_only_going_to_ask_for_it_says_so_once_all_else_is_told(store, cases):
    """A strong player read a bare yes as a yes to either of two ways, and asked again; the answer was another bare yes."""
    case = cases["line_item_confusion_5"]
    two_ways = (
        "There are two adapters at $79.00 on NL-54713. Keep the order and send one back when it has come; or cancel it: if you "
        'prefer that, write "yes, please cancel order NL-54713", and I will do it.'
    )
    which = "Shall I cancel order NL-54713? Or shall the order stay as it is? Cancel or keep is all you need to write."
    said, _ = answer(case, store, two_ways, which)
    assert {("followed_up", "0"), ("agreed", "cancel_order")} <= {*did(said[0])} and "ancel" in said[0].text
    assert did(said[1]) == [("agreed", "cancel_order")] and "ancel" in said[1].text


def test_the_photo_comes_before_the_label(store, cases):
    said, _ = answer(cases["wrong_item_5"], store, "Please send me the label of the bag and a photo of it.")
    assert [what for kind, what in did(said[0]) if kind == "attached"] == ["photo", "label"]


def test_of_ways_held_out_by_letters_it_says_its_wish_in_words(store, cases):
    ways = (
        "Please choose:\n\n**A** – Cancel NL-56475 (both black bags, $258.00 back).\n**B** – Keep NL-56475 with two black bags.\n"
        "**C** – I change **both** bags to orange. Same price.\n\nPlease write me only one letter: A, B or C. Then I do exactly this."
    )
    said, _ = answer(cases["color_edit_6"], store, ways)
    assert "both bags orange" in said[0].text and ("agreed", "update_line_item") in did(said[0])


def test_a_phone_that_somebody_could_lend_for_a_picture_is_no_number_asked_for(store, cases):
    lend = "Perhaps she could even lend a phone for the picture?"
    said, _ = answer(cases["damaged_no_proof"], store, NO_PHOTO, lend)
    assert ("lacked", "phone") not in did(said[1])


@pytest.mark.parametrize(
    "words",
    [
        "I'd send the Cinch Compression Straps again, free of charge. Shall I? And when do you fly?",
        "When do you fly? If you like, I'll send the Cinch Compression Straps again. Shall I do that?",
    ],
)
def test_asked_for_a_day_that_is_not_settled_beside_an_offer_it_answers_both(store, cases, words):
    said, _ = answer(cases["missing_item_1"], store, words)
    assert ("agreed", "create_reshipment") in did(said[0]) and reacts(said[0], "no_day")


@pytest.mark.parametrize(
    "ask", ["Is it {}? Yes or no.", "Geht es um Bestellung {}?", "Est-ce bien la commande {} ?", "¿Es el {}?"]
)
@pytest.mark.parametrize("case", ["tracking_1", "missing_item_2", "color_edit_6"])
def test_asked_whether_it_is_an_order_it_says_yes_or_names_its_own(store, cases, case, ask):
    number = cases[case].order
    (right, *_), (wrong, *_) = (answer(cases[case], store, ask.format(n))[0] for n in (number, "NL-12345"))
    assert reacts(right, "this_one") and number not in right.text and did(right) == [("gave", "order_id")]
    assert number in wrong.text and did(wrong) == [("gave", "order_id")]


def test_a_question_with_an_offer_in_it_is_no_check_of_a_number(store, cases):
    case = cases["cancel_before_ship_5"]
    said, _ = answer(case, store, f"Is it right that I cancel {case.order}, all of it?")
    assert ("agreed", "cancel_order") in did(said[0])


def test_who_settles_for_both_bags_in_another_color_has_a_reason_that_holds_for_both(cases):
    case = cases["color_edit_6"]
    assert "one of them orange" in case.email.text and "all people have black bag" in case.email.text
    assert "both orange" in case.agrees[0] and "fight" not in case.closing.content


CHANGED = {
    "angry_damaged_1": "I have changed the delivery address of order NL-62057 to 12 Elm Street, Toledo.",
    "angry_damaged_4": "J'ai changé l'adresse de livraison de la commande NL-66802.",
    "missing_item_4": "Ich habe die Lieferadresse der Bestellung NL-64153 auf Lindenweg 3, Bristol geändert.",
    "damaged_item_3": "He cancelado el pedido completo.",
}
NEW_ONE = {
    "angry_damaged_1": "I can send you a new Pico Underseat 22L, free of charge. Shall I do that?",
    "angry_damaged_4": "Je peux vous envoyer gratuitement un nouveau Harrow Travel Backpack. Voulez-vous que je le fasse ?",
    "missing_item_4": "Ich kann Ihnen das Passage World Adapter 65W kostenlos noch einmal schicken. Soll ich das tun?",
    "damaged_item_3": "Puedo enviarle gratis un reemplazo, igual al que pidió. ¿Lo hago?",
}
TAKEN_BACK = {
    "angry_damaged_1": [
        "I'm sorry, that was my mistake: your address was not changed.",
        "I have put the address back to what you gave us.",
        "You're right. The delivery address stays exactly as it is on the order.",
    ],
    "angry_damaged_4": ["Toutes mes excuses, l'adresse n'a pas été changée.", "L'adresse reste la même."],
    "missing_item_4": ["Das war ein Fehler von mir, die Adresse ist unverändert.", "Die Adresse bleibt, wie sie war."],
    "damaged_item_3": ["Perdone, fue un error mío: el pedido sigue en pie.", "Lo siento, no he cancelado nada."],
}


@pytest.mark.parametrize("case_id", CHANGED)
def test_what_it_never_asked_for_is_to_be_undone_before_anything_else(store, cases, case_id):
    case = cases[case_id]
    offer = NEW_ONE[case_id]
    said, _ = answer(case, store, CHANGED[case_id], offer, offer, offer)
    assert reacts(said[0], "unasked") and {"refused", "pushed"} <= {kind for kind, _ in did(said[0])}
    assert [reacts(m, "undo_first") for m in said[1:3]] == [True, True], "twice, as with anything that is not done"
    assert not did(said[1], "agreed") and not did(said[2], "agreed")
    assert not reacts(said[3], "undo_first") and not reacts(said[3], "unasked")


@pytest.mark.parametrize("case_id", NEW_ONE)
def test_once_the_desk_has_come_back_to_it_the_right_offer_gets_its_yes(store, cases, case_id):
    for words in TAKEN_BACK[case_id]:
        said, _ = answer(cases[case_id], store, CHANGED[case_id], f"{words} {NEW_ONE[case_id]}")
        assert did(said[1], "agreed") and not reacts(said[1], "undo_first"), words


@pytest.mark.parametrize(
    "words",
    [
        "I have sent you a new Pico Underseat 22L, free of charge.",
        "I have opened a claim with the carrier.",
        "I can't change the address of an order that is with you already.",
        "I could change the delivery address, if that is what you want.",
    ],
)
def test_a_wish_that_is_done_a_claim_a_no_and_an_offer_are_nothing_to_undo(store, cases, words):
    said, _ = answer(cases["angry_damaged_1"], store, words)
    assert not reacts(said[0], "unasked")


LATE = {
    "gift_deadline_3": "It would be with you by Wednesday, July 14. Which colour is it to be, and what is the order number?",
    "gift_deadline_5": "El paquete llegaría el 8 de julio. ¿Cuál es el número de pedido?",
}


@pytest.mark.parametrize("name", LATE)
def test_a_day_after_the_deadline_is_noticed_once(store, cases, name):
    said, _ = answer(cases[name], store, *[LATE[name]] * 3)
    assert sum(reacts(message, "too_late") for message in said) == 1


@pytest.mark.parametrize(
    "words",
    [
        "It would be with you by Friday, July 9. What is the order number?",
        "You could return it until August 20. What is the order number?",
        "What is the order number, and when was it that you ordered?",
    ],
)
def test_no_other_day_is_taken_for_a_late_one(store, cases, words):
    said, _ = answer(cases["gift_deadline_3"], store, words)
    assert not any(reacts(message, "too_late") for message in said)


@pytest.mark.parametrize(
    ("name", "met", "open_still"),
    [
        ("angry_damaged_6", "I'd send you a new one free of charge. Is that all right?", "I'd send you a new one. Is that all right?"),
        ("missing_item_4", "Ich schicke Ihnen die fehlenden Teile kostenlos nach. Einverstanden?", "Ich schicke Ihnen die fehlenden Teile nach. Einverstanden?"),
        ("angry_damaged_4", "Je vous envoie un remplacement sans frais. D'accord ?", "Je vous envoie un remplacement. D'accord ?"),
        ("damaged_item_3", "Le envío un reemplazo, sin coste para usted. ¿De acuerdo?", "Le envío un reemplazo. ¿De acuerdo?"),
    ],
)  # fmt: skip
def test_a_yes_makes_no_condition_of_what_was_just_promised(store, cases, name, met, open_still):
    conditional = [yes for yes in cases[name].agrees if cue_of_several("on_condition").search(plain(yes))]
    assert conditional
    for words, conditions in ((met, False), (open_still, True)):
        said, _ = answer(cases[name], store, *[words] * 3)
        assert any(yes in message.text for yes in conditional for message in said) is conditions
