"""What the scripted customer does with an agent's words: it answers what was asked, agrees to its own thing, reacts, and leaves when served."""

import pytest

from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.patterns import cue_of_several
from benchmark_lib.language.sentences import plain


class Says:
    """An agent that says these lines, one a turn; a callable line gets the talk."""

    def __init__(self, *lines):
        self.lines = lines

    def reply(self, talk):
        line = self.lines[min(talk.turn, len(self.lines)) - 1]
        return line(talk) if callable(line) else line


def answer(case, store, *lines):
    """The customer's messages after its email, and the record."""
    record = play(case, store, Says(*lines))
    return [m for m in record.messages if m.side == "customer"][1:], record


def did(message, *kinds):
    return [(a.kind, a.what) for a in message.acts if not kinds or a.kind in kinds]


OFFER = "I can cancel order {order_id}, all of it. Shall I go ahead?"


@pytest.fixture
def cancelling(cases):
    return cases["cancel_before_ship_5"]


@pytest.mark.parametrize(
    "words",
    [
        "We'll send you a label once it is open.",
        "The condition of the bag decides about it, and so does the date.",
        "Thank you for the photo. Is there anything else I can do for you?",
        "I've found your order, and the address on it is the one you gave.",
    ],
)
def test_a_word_is_not_a_question(store, cases, words):
    said, _ = answer(cases["damaged_item_2"], store, words)
    assert not did(said[0], "gave", "lacked", "agreed")


def test_of_two_proofs_either_of_which_will_do_one_is_given(store, cases):
    said, _ = answer(cases["damaged_item_2"], store, "Could you send me the order number, or else your postcode?")
    assert did(said[0]) == [("gave", "order_id")]
    assert cases["damaged_item_2"].ledger["order_id"].value in said[0].text


@pytest.mark.parametrize(
    "words",
    [
        "Could you let me have the order number? If you haven't got it to hand, the postcode will do just as well.",
        "I need one of the following:\n- the order number\n- the postcode of the delivery address",
        "Necesito el **número de pedido** o, si no lo tienes a mano, el **código postal** de la entrega.",
        "Dígame el número de pedido, por favor. Si no lo encuentra, también me sirve el código postal.",
        "Il me faut le numéro de la commande ou, si c'est plus simple, le code postal de livraison.",
        "Pourriez-vous m'indiquer le numéro de commande ? À défaut, le code postal suffit aussi.",
        "Bitte nennen Sie mir die Bestellnummer. Falls Sie sie nicht zur Hand haben, reicht auch die Postleitzahl.",
        "Ich brauche eine der beiden Angaben:\n- Ihre Bestellnummer\n- die Postleitzahl der Lieferadresse",
    ],
)
def test_one_is_given_however_the_other_is_held_out_in_its_place(store, cases, words):
    said, _ = answer(cases["damaged_item_2"], store, words)
    assert did(said[0]) == [("gave", "order_id")]


def test_both_are_given_where_both_are_asked_for(store, cases):
    said, _ = answer(cases["damaged_item_2"], store, "Please send me:\n- your order number\n- your postcode")
    assert did(said[0]) == [("gave", "order_id"), ("gave", "postcode")]


def test_a_yes_names_the_call_and_its_arguments(store, cancelling):
    wish = cancelling.outcomes[0].calls[0]
    said, _ = answer(cancelling, store, OFFER.format(order_id=wish.arguments["order_id"]))
    (act,) = [a for a in said[0].acts if a.kind == "agreed"]
    assert (act.what, act.detail, act.arguments) == ("cancel_order", None, wish.arguments)
    assert said[0].text.startswith(tuple(cancelling.agrees))


def test_another_order_is_corrected_and_not_agreed_to(store, cancelling):
    mine = cancelling.outcomes[0].calls[0].arguments["order_id"]
    said, _ = answer(cancelling, store, OFFER.format(order_id="NL-00000"))
    assert (
        not did(said[0], "agreed") and did(said[0], "refused") == [("refused", "cancel_order")] and mine in said[0].text
    )


def test_it_asks_back_twice_about_what_it_does_not_recognise_and_then_says_its_wish(store, cases):
    case = cases["damaged_item_2"]
    words = "I can sort this out for you free of charge. Shall I?"
    said, record = answer(case, store, words, "It costs you nothing. Shall I?", "It is a good way out. Shall I?")
    assert [did(m, "asked_back", "agreed") for m in said[:3]] == [[("asked_back", "offer")]] * 2 + [[]]
    assert record.faults[0].kind == "offer_not_recognised" and "good way out" in record.faults[0].detail


def test_asking_back_does_not_use_up_a_message(store, cases):
    _, short = answer(cases["damaged_item_2"], store, "Which order is it?")
    _, long = answer(cases["damaged_item_2"], store, "I can sort this out. Shall I?", "Which order is it?")
    assert short.ended_by == long.ended_by == "turn_limit"
    assert len(long.messages) == len(short.messages) + 2


def test_nothing_is_agreed_to_where_nothing_was_offered(store, cases):
    said, _ = answer(cases["damaged_item_2"], store, "Shall I go ahead?")
    assert not did(said[0], "agreed")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ([], "One line is plenty, no pictures needed."),
        ([], "Une ligne suffit, sans photo."),
        ([], "Ein Satz genügt, ohne Foto."),
        ([], "Con el nombre basta, sin fotos."),
        ([], "What does the last scan mean? It is the last place where somebody saw the parcel."),
        ([], "Was bedeutet die Spanne? Sie ist unser Fenster."),
        (["photo"], "Please send us a photo; we cannot judge it without one."),
    ],
)
def test_what_is_not_needed_and_what_the_desk_answers_itself_is_not_asked(store, asked, words):
    assert parser_of(store).parse(words).asked == asked


@pytest.mark.parametrize(
    "words", ["So no cancellation today. The return is open to you from the day it's delivered, for 100 days."]
)
def test_what_only_sounds_like_an_act_is_not_to_be_undone(store, cases, words):
    said, _ = answer(cases["cancel_after_ship"], store, words)
    assert not any(a.kind == "refused" and a.what == "start_return" for a in said[0].acts)


def test_from_a_menu_of_remedies_it_does_not_choose(store, cases):
    menu = (
        "Here is what I can do:\n- I can open a return for it.\n- I can send you a replacement.\n- I can cancel the order.\n"
        "- I can send the parcel again.\nShall I do one of these?"
    )
    said, _ = answer(cases["damaged_item_2"], store, menu)
    assert not did(said[0], "agreed") and did(said[0], "refused") == [("refused", "menu")]


def test_answers_and_yes_come_in_one_message(store, cases):
    case = cases["angry_damaged_1"]
    said, _ = answer(
        case,
        store,
        "Please send me your order number and a photo. I'd then send you a new one free of charge: shall I?",
    )
    assert {("gave", "order_id"), ("attached", "photo"), ("agreed", "create_replacement")} <= set(did(said[0]))


def test_it_leaves_in_its_own_words_once_it_is_served(store, cancelling):
    wish = cancelling.outcomes[0].calls[0]

    def cancel(talk):
        talk.call("cancel_order", {**wish.arguments, "reason": "r"})
        return f"That has been taken care of. {cancelling.facts['refund'].say}"

    said, record = answer(cancelling, store, OFFER.format(order_id=wish.arguments["order_id"]), cancel)
    assert record.ended_by == "resolved_by_customer" and said[-1].text == cancelling.closing.content


def test_a_fact_that_an_answer_leaves_out_is_asked_for_in_its_own_words(store, cases):
    case = cases["tracking_1"]
    said, _ = answer(case, store, "Your parcel is on its way and everything looks fine.")
    assert said[0].text in {fact.ask for fact in case.facts.values()}


def told(case, *names):
    return " ".join(case.facts[name].say for name in names)


def test_of_a_follow_up_only_what_is_still_untold_is_asked_for(store, cases):
    case = cases["promo_not_applied_5"]
    call = case.outcomes[0].calls[0]

    def cancel(talk):
        talk.call("cancel_order", {**call.arguments, "reason": "r"})
        return f"El pedido está cancelado. {told(case, 'taken_off', 'refund')}"

    said, _ = answer(case, store, f"Puedo cancelar el pedido {case.order} entero. ¿Lo hago?", cancel)
    assert said[1].text == case.facts["new_total"].ask and did(said[1]) == [("followed_up", "0")]


def test_a_follow_up_whose_questions_are_answered_is_a_yes_where_its_wish_is_offered(store, cases):
    case = cases["line_item_confusion_5"]
    words = (
        "The order says two adapters instead of one. It has not been packed yet, so the choice is yours:\n\n"
        "1. **Cancel and order again.** I can cancel the whole of NL-54713, both adapters. The $158.00 goes back to your "
        "Visa within 5 to 10 business days. You would then order one: $79.00 plus $9.00 delivery, $88.00 in all.\n"
        "2. **Keep both**, and nothing needs doing.\n\n"
        'Which would you like? If it is the first, a plain "yes, cancel NL-54713" is enough.'
    )
    said, _ = answer(case, store, words)
    assert did(said[0]) == [("followed_up", "0"), ("agreed", "cancel_order")] and "?" not in said[0].text


def test_answers_to_questions_are_no_yes_to_something_that_nobody_offered(store, cases):
    words = (
        "Pour avancer, il me faut trois choses :\n1. le numéro de la commande ;\n"
        "2. l'adresse indiquée sur votre confirmation : est-elle bien la vôtre, à la lettre près ?\n"
        "3. avez-vous demandé aux voisins ?\n\nDès que j'ai vos réponses, je regarde ce que nous pouvons faire."
    )
    said, record = answer(cases["delivery_dispute_2"], store, words)
    assert {a.kind for a in said[0].acts} == {"gave"} and not record.faults[:1]


def test_a_yes_is_to_what_was_offered_and_to_nothing_less_likely(store, cases):
    words = "Je peux ouvrir le retour de la commande NL-64689 et vous envoyer le lien. Êtes-vous d'accord ?"
    said, _ = answer(cases["size_exchange_5"], store, words)
    assert did(said[0], "agreed") == [("agreed", "start_return")]


def test_an_offer_beside_something_declined_gets_its_yes(store, cases):
    words = (
        "Un article ne peut pas être annulé seul. Je peux en revanche annuler la commande NL-58816 en entier. "
        "Est-ce que j'annule ?"
    )
    said, _ = answer(cases["cancel_before_ship_2"], store, words)
    assert did(said[0], "agreed") == [("agreed", "cancel_order")]


ASKED = "Please send me the order number and a photo of the damage."


def replaced(case, words):
    arguments = {**case.outcomes[0].calls[0].arguments, "reason": "damaged"}
    return lambda talk: talk.call("create_replacement", arguments) and words


def test_once_it_is_served_a_statement_is_no_question(store, cases):
    case = cases["damaged_item_6"]
    done = (
        "Done! Your new duffel is ordered, free of charge. It is packed within 1 to 2 business days and then travels "
        "3 to 5 business days. The broken one can be disposed of, or we ask for it later with a label."
    )
    said, record = answer(case, store, ASKED, replaced(case, done))
    assert said[1].text == case.closing.content and record.ended_by == "resolved_by_customer"


def test_what_was_given_is_not_pushed_for(store, cases):
    case = cases["damaged_item_6"].model_copy(update={"pushes_before_accepting": 2})
    done = "Done! Your new duffel is ordered, free of charge. It is packed within 1 to 2 business days."
    said, _ = answer(case, store, ASKED, replaced(case, done))
    assert len(said) == 2 and did(said[1]) == [("left", "content")]


def test_what_was_given_without_an_answer_is_asked_for_twice_and_not_pushed_for(store, cases):
    case = next(
        c for c in cases.values() if c.bucket == "resolvable" and c.facts and c.outcomes[0].calls and not c.followups
    )
    call = case.outcomes[0].calls[0]

    def act(talk):
        if talk.turn == 1:
            for wish in case.outcomes[0].calls:
                talk.call(
                    wish.tool,
                    {**wish.arguments, **({"reason": "r"} if call.tool in ("cancel_order", "start_return") else {})},
                )
        return "That has been taken care of." + "!" * talk.turn

    said, record = answer(case, store, act)
    assert not [m for m in said if did(m, "pushed")] and record.ended_by == "customer_gave_up"
    assert len([m for m in said if did(m, "waited")]) >= 2


def test_it_argues_against_a_reason_once(store, cases):
    case = next(c for c in cases.values() if "wear_not_defect" in c.against and c.bucket == "adversarial")
    words = {
        "en": "What you describe is ordinary wear and not a defect, so the warranty does not cover it.",
        "de": "Was Sie beschreiben, ist gewöhnlicher Verschleiß und kein Mangel, die Garantie deckt das nicht ab.",
    }[case.language]
    said, _ = answer(case, store, words)
    assert said[0].text == case.against["wear_not_defect"]


def test_every_case_has_its_own_last_words_its_own_yes_and_a_question_for_every_fact(cases):
    for case in cases.values():
        assert case.closing.content and case.closing.gave_up and case.agrees, case.id
        assert all(fact.ask for fact in case.facts.values()), case.id
        assert all(1 <= line <= len(case.pressure) for line in case.moot), case.id


def test_a_weight_just_told_is_not_asked_for_beside_the_wish(cases, store):
    case = cases["color_edit_6"]
    told = f"{case.facts['weight'].say} One bag alone is not possible, so you can have both orange, or both black. Which one do you want?"
    said, _ = answer(case, store, told)
    assert "orange" in said[0].text and "weight" not in said[0].text.casefold()


def test_an_offer_of_the_last_step_is_a_yes_and_what_is_open_is_asked_for(cases, store):
    case = cases["line_item_confusion_5"]
    told = (
        f"{case.facts['one_costs'].say} Your order has not been packed. I cannot take one off, but I can cancel the whole order "
        f"{case.order}. Shall I?"
    )
    said, _ = answer(case, store, "May I have your order number?", told)
    assert ("agreed", "cancel_order") in did(said[1]) and "take one off" not in said[1].text
    assert all(case.facts[name].ask.lstrip("And ") in said[1].text for name in ("one_delivered", "refund_time"))


def test_what_was_in_the_parcel_is_no_word_on_its_weight(cases, store):
    listed = (
        "Este es el contenido del paquete: los cubos, la bolsa y el candado. ¿Cuál faltaba? "
        "Lo pequeño a veces viaja dentro de lo grande, así que un vistazo dentro de la bolsa no está de más."
    )
    said, _ = answer(cases["missing_item_vague"], store, "¿Me da el número de pedido?", listed)
    assert not [act for act in said[1].acts if act.kind == "argued"] and "báscula" not in said[1].text


@pytest.mark.parametrize(
    "asked",
    [
        "The order holds two backpacks: one in graphite, one in navy. Which of the two do you have?",
        "The backpack that came right: is it **graphite** or **navy**?",
        "Could your assistant look at the one that came: dark grey (graphite) or dark blue (navy)?",
    ],
)
def test_asked_to_choose_between_colors_it_names_its_own(cases, store, asked):
    case = cases["wrong_item_5"]
    said, _ = answer(case, store, "The order number and a photo, please?", asked)
    assert case.ledger["color"].say in said[1].text and not did(said[1], "agreed", "pushed")


def test_asked_which_of_several_ways_it_brings_up_what_it_has_in_store(cases, store):
    case = cases["wismo_travel_2"]
    ways = (
        f"{case.facts['earliest'].say} I can still:\n\n- send it to an address of yours over there, in your name (US or Canada), or\n"
        "- cancel the order, with everything paid back.\n\nOr leave it be, and it waits for you at home. What suits you?"
    )
    said, _ = answer(case, store, ways)
    assert ("followed_up", "0") in did(said[0]) and not did(said[0], "lacked")


EITHER_YES = {
    "color_edit_6": [
        'Both bags are one line. **A.** I change both to orange. **B.** I cancel NL-50426 and you order again. If A or B, please write "yes, A" or "yes, B".',
        "I can change both bags to orange, or I can cancel the whole order. Just say **yes to both orange** or **yes to cancelling**, and I do it.",
        'I can change both bags to orange, or I can cancel the order. Reply with one of these:\n- "Yes, both orange"\n- "Yes, cancel"',
    ],
    "color_edit_5": [
        "Ich kann die Farbe ändern oder die Bestellung stornieren. Schreiben Sie bitte „Ja, Farbe“ oder „Ja, Storno“.",
        "Ich kann die Farbe ändern oder die Bestellung stornieren. Antworten Sie einfach:\n- Ja, ändern\n- Ja, stornieren",
    ],
}


@pytest.mark.parametrize(("case", "words"), [(case, words) for case, all_of in EITHER_YES.items() for words in all_of])
def test_where_every_answer_begins_with_a_yes_it_says_which(cases, store, case, words):
    said, _ = answer(cases[case], store, words)
    goal = cases[case].ledger["goal"]
    assert said[0].text.startswith(goal.say or goal.value), said[0].text


@pytest.mark.parametrize(
    ("words", "each"),
    [
        ("Answer “yes to the black one” or “yes to the blue one”.", True),
        ("Answer with a yes to the return or a yes to the exchange.", True),
        ("Schreiben Sie mir „Ja, A“ oder „Ja, B“.", True),
        ("Geben Sie mir ein Ja zur Rückgabe oder ein Ja zum Umtausch.", True),
        ("Escríbame «sí, A» o «sí, B».", True),
        ("Respóndame con una de estas dos:\n- Sí, las dos en naranja\n- Sí, anule el pedido", True),
        ("Écrivez-moi « oui, A » ou « oui, B ».", True),
        ("Répondez simplement :\n- Oui, les deux en orange\n- Oui, annulez", True),
        ("A yes is enough, or tell me what should be different.", False),
        ("Just write yes, or yes if the address is right.", False),
        (
            "To your questions:\n- Yes, it fits under the seat\n- Yes, it is waterproof\n\nShall I change the color?",
            False,
        ),
        ("Ein Ja genügt, oder sagen Sie mir, was anders sein soll.", False),
        ("Dígame si le parece bien o si prefiere esperar.", False),
        ("Un oui suffit, ou dites-moi ce qui ne va pas.", False),
    ],
)
def test_one_yes_of_several_is_asked_for_in_every_language(words, each):
    assert bool(cue_of_several("yes_each").search(plain(words))) is each


@pytest.mark.parametrize(
    "words, again",
    [
        ("Ein Mangel wäre etwa ein Riss am Rollenlager, und davon ist auf Ihrem Foto nichts zu sehen.", False),
        ("Falls ein Griff klemmt, sind wir gern für Sie da. Ein Foto des Schadens genügt dann.", False),
        ("Bitte senden Sie uns ein schärferes Foto.", True),
        ("Ich brauche noch ein Foto, auf dem der Riss zu sehen ist.", True),
    ],
)
def test_a_photo_is_sent_again_only_if_it_is_asked_for(store, cases, words, again):
    said, _ = answer(cases["wear_and_tear"], store, f"Das ist Abnutzung und kein Defekt. {words}")
    assert (("attached", "photo") in did(said[0])) == again


def test_one_of_two_proofs_is_enough_with_another_sentence_between(store, cases):
    words = (
        "1. The postcode that your order was delivered to. I may not speak about an order on the strength of the email address alone. "
        "(Should the order number turn up after all, that will do just as well.)\n2. A photo of the crack, attached to your reply."
    )
    said, _ = answer(cases["damaged_item_6"], store, words)
    assert len({what for kind, what in did(said[0], "gave")} & {"postcode", "order_id"}) == 1
