"""What two blind readers called wrong in the last rounds of play, cause by cause: not heard, heard where nothing was asked, or said as by nobody."""

import pytest
from test_customer import answer, did

from benchmark_lib.conversation.customer_wishes import written
from benchmark_lib.language.parser import parser_of


@pytest.mark.parametrize(
    "words",
    [
        "I'd open the return. Is it still in its packaging, and may I go ahead?",
        "Is the bag that you are sending back unused, and do you agree to that?",
        "Ist die Tasche, die Sie zurückschicken, unbenutzt, und sind Sie damit einverstanden?",
        "Ist er noch original verpackt, und darf ich die Rücksendung anlegen?",
        "Est-il encore dans son emballage, et puis-je ouvrir le retour ?",
        "¿El bolso que devuelve está sin usar, y está de acuerdo?",
        "¿Sigue en su caja, y le abro la devolución?",
    ],
)
def test_beside_a_yes_its_state_is_asked_for_in_any_words(store, words):
    heard = parser_of(store).parse(words)
    assert heard.confirm and "condition" in heard.asked


@pytest.mark.parametrize(
    "words",
    [
        "Please send me:\n1. one of the two order numbers or the postcode,\n2. a short word whether the bag is unused.",
        "Ich brauche noch:\n1. eine der beiden Bestellnummern oder die Postleitzahl,\n2. ein kurzes Wort, ob die Tasche unbenutzt ist.",
        "Il me faut :\n1. un des deux numéros de commande ou le code postal,\n2. un petit mot pour dire si le sac est inutilisé.",
    ],
)
def test_a_word_on_its_state_is_asked_for_beside_a_choice_of_proofs(store, cases, words):
    said, _ = answer(cases["duplicate_order_4"], store, words)
    assert did(said[0]) == [("gave", "order_id"), ("gave", "condition")]


@pytest.mark.parametrize(
    "words",
    [
        "Instead of a number, the postcode of the order is enough. Send me that and I'll tell you by which date it goes out.",
        "Statt der Nummer genügt die Postleitzahl. Damit sage ich Ihnen, bis wann es rausgeht.",
        "Le code postal de la livraison suffit. Je vous dirai alors quand le sac part.",
        "Basta con el código postal. Con eso le digo qué día sale.",
    ],
)
def test_a_proof_that_would_be_enough_is_given(store, cases, words):
    said, _ = answer(cases["wismo_unfulfilled_4"], store, words)
    assert did(said[0]) == [("gave", "postcode")]


@pytest.mark.parametrize(
    "words",
    [
        "Could you send me your order number? Or the postcode it's going to.",
        "Could you read the order number once more? Or, if that is easier, tell me the postcode of the address it goes to.",
        "Please look at the order number once more. The postcode of the address where it goes would help as well.",
        "Could you send me your order number? The postcode of the delivery address would do as well.",
        "I need the order number. Can't find it? Then your full name plus the postcode works too.",
        "I need:\n- the **order number** (it begins with NL-), or\n- the **postcode** of the delivery address.\n\nCould you send me one of the two?",
        "**What I need, one of these is enough:**\n- the **order number**, or\n- the **postcode** of the order\n\nWhich one can you give me?",
        "Nennen Sie mir bitte die Bestellnummer? Oder die Postleitzahl der Lieferadresse.",
        "Pouvez-vous m'envoyer le numéro de commande ? Ou le code postal de l'adresse de livraison.",
    ],
)
def test_of_proofs_one_of_which_will_do_the_number_comes_alone(store, cases, words):
    said, _ = answer(cases["missing_item_2"], store, words)
    assert did(said[0]) == [("gave", "order_id")]


@pytest.mark.parametrize(
    "words",
    [
        "Which piece is missing you have already told me.",
        "Welches Stück fehlt, haben Sie mir schon genau genannt.",
        "L'article qui manque, vous me l'avez déjà indiqué.",
        "Qué artículo falta ya me lo ha dicho.",
        "When it is here, I need nothing more from you.",
        "Wenn es da ist, brauche ich von Ihnen nichts weiter.",
        "**When will I see my money?** 5 to 10 business days.",
        "**Wann kommt das Geld?** 5 bis 10 Werktage.",
        "**Quand arrive le remboursement ?** En 5 à 10 jours ouvrés.",
        "**¿Cuándo llega el dinero?** En 5 a 10 días hábiles.",
    ],
)
def test_what_was_told_and_a_question_said_again_above_its_answer_ask_for_nothing(store, words):
    assert not parser_of(store).parse(words).asked


@pytest.mark.parametrize(
    "words",
    [
        "If you fly before that, tell me when.",
        "Should you need it before that, tell me which day.",
        "Falls Sie vorher verreisen, sagen Sie mir bitte, wann.",
        "Si vous partez avant, dites-moi quel jour.",
    ],
)
def test_a_date_that_is_asked_for_in_case_of_a_journey_is_that_of_the_journey(store, cases, words):
    assert parser_of(store).parse(words).dates == {"ahead"}
    said, _ = answer(cases["missing_item_1"], store, f"I'd send the Cinch straps again. Is that a yes? {words}")
    assert [kind for kind, _ in did(said[0])] == ["agreed"]


@pytest.mark.parametrize(
    "words",
    [
        "1. **Address.** It says 1542 Copperline Street. Is that right, letter for letter?\n2. Have you asked the neighbors?",
        "1. **Adresse:** 1542 Copperline Street. Stimmt sie Buchstabe für Buchstabe?\n2. Haben Sie die Nachbarn gefragt?",
        "1. **Adresse** : 1542 Copperline Street. Est-elle exacte, à la lettre près ?\n2. Avez-vous demandé aux voisins ?",
    ],
)
def test_an_address_to_be_checked_by_its_letters_is_answered_with_the_rest(store, cases, words):
    said, _ = answer(cases["delivery_dispute_5"], store, words)
    assert {*did(said[0], "gave")} == {("gave", "address_checked"), ("gave", "neighbours_checked")}


@pytest.mark.parametrize(
    ("words", "leaves"),
    [
        ("Shall we let it rest?", True),
        ("Would you let the matter drop for now?", True),
        ("Sollen wir es auf sich beruhen lassen?", True),
        ("On laisse les choses comme ça ?", True),
        ("¿Lo damos por cerrado?", True),
        ("Shall I cancel it, or do we leave it as it is?", False),
        ("Soll ich es ändern, oder lassen wir es so stehen?", False),
    ],
)
def test_to_leave_it_is_heard_in_other_words_and_not_as_one_of_two_ways(store, words, leaves):
    assert parser_of(store).parse(words).closes == leaves


@pytest.mark.parametrize("case", ["missing_item_4", "damaged_item_3", "angry_damaged_4", "color_edit_5"])
def test_a_color_is_said_in_the_language_of_the_customer(store, cases, case):
    asked = {"de": "Welche Farbe soll es sein?", "es": "¿De qué color es?", "fr": "Quelle couleur voulez-vous ?"}
    said, _ = answer(cases[case], store, asked[cases[case].language])
    assert ("gave", "color") in did(said[0]) and not {"black", "blue", "Sage."} & {*said[0].text.strip(".").split()}


@pytest.mark.parametrize("case", ["used_item_swap", "wear_and_tear", "reroute_third_party"])
def test_where_a_no_stays_the_same_it_comes_to_its_last_line_and_leaves(store, cases, case):
    noes = [f"I am sorry, but no, we cannot do that. {more}" for more in ("Truly.", "Sorry.", "So it is.", "As I say.")]
    said, _ = answer(cases[case], store, "No, we cannot do that.", *noes, "It stays a no.", "No.")
    pushed = [m for m in said if did(m, "pushed")]
    assert len(pushed) == 4 and cases[case].pressure[-1] in pushed[-1].text
    assert did(said[len(pushed)]) == [("left", "unserved")]


def test_a_reason_that_is_none_of_the_case_is_nothing_new(store, cases):
    no = "It has been used, so we cannot swap it."
    beside = [
        "For everybody the same rule holds, whatever their status, so we can't swap it: it has been used.",
        "An order that has left our warehouse can't be cancelled either; and a used bag is not swapped.",
    ]
    said, _ = answer(cases["used_item_swap"], store, no, *beside, no + " Sorry.", no + " Really.", no + " I mean it.")
    assert did(said[-1]) == [("left", "unserved")] and len(said) == 5


def test_another_reason_for_the_same_no_is_nothing_new(store, cases):
    noes = [
        "Das ist Verschleiß und kein Fehler, deshalb können wir keinen neuen schicken.",
        "Es bleibt dabei, einen neuen können wir nicht schicken.",
        "Er ist gebraucht, und Gebrauchtes tauschen wir nicht.",
        "Ein Ersatz ist leider nicht möglich.",
        "Das können wir nicht tun.",
    ]
    said, _ = answer(cases["wear_and_tear"], store, *noes)
    assert [bool(did(m, "pushed")) for m in said] == [True] * 4 + [False] and did(said[4]) == [("left", "unserved")]


@pytest.mark.parametrize("case", ["duplicate_order_1", "promo_not_applied_5", "wrong_item_1"])
def test_who_writes_in_lower_case_begins_every_phrase_so(store, cases, case):
    said, _ = answer(cases[case], store, "What is your phone number?", "What is your budget?")
    assert all(m.text[0].islower() for m in said[:2])


def test_a_sentence_that_ends_in_kisses_gets_no_full_stop():
    assert written(["Oh go on then, yes please! x", "Thank you! xx"]) == "Oh go on then, yes please! x Thank you! xx"
    assert written(["Size X", "Fine"]) == "Size X. Fine."


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("Please attach a **picture of the pillow**, or of the white label on its bag or tag.", ["photo"]),
        ("One photo, please: either what came itself, or the sticker with the barcode.", ["photo"]),
        ("Bitte schicken Sie mir ein Foto vom Kissen oder vom Etikett am Beutel.", ["photo"]),
        ("Envíeme una foto del cojín o de la etiqueta de su bolsa, por favor.", ["photo"]),
        ("Envoyez-moi une photo du coussin ou de l'étiquette du sachet, s'il vous plaît.", ["photo"]),
        ("Please attach a photo of the label on its bag.", ["label"]),
        ("Please attach a photo of the pillow and one of the label.", ["photo", "label"]),
    ],
)
def test_of_two_pictures_one_of_which_will_do_the_item_is_shown(store, cases, words, shown):
    said, _ = answer(cases["false_closure_wrong_item"], store, words)
    assert [act.what for act in said[0].acts if act.kind == "attached"] == shown
    assert ("The label?" in said[0].text) is ("label" in shown)


POSTCODE = {
    "en": "Could you send me the postcode of the delivery address, please?",
    "de": "Wie lautet bitte die Postleitzahl der Lieferadresse?",
    "es": "¿Podría indicarme el código postal de la entrega, por favor?",
    "fr": "Pourriez-vous m'indiquer le code postal de livraison ?",
}


@pytest.mark.parametrize("language", POSTCODE)
def test_customers_give_a_number_in_words_of_their_own(store, cases, language):
    forms = []
    for case in cases.values():
        known = case.ledger.get("postcode")
        if case.language != language or not known or not known.value or known.say or known.when != "asked":
            continue
        (said, *_), _ = answer(case, store, POSTCODE[language])
        if did(said) == [("gave", "postcode")]:
            assert known.value in said.text and said.acts[0].detail == known.value
            forms.append(said.text.replace(known.value, "...").casefold())
    assert len({*forms}) >= min(4, len(forms)), forms


def test_the_number_beside_an_order_number_is_no_telephone_number(store, cases):
    said, _ = answer(
        cases["damaged_item_2"], store, "I need your order number.\n\nCould you send me the number or postcode?"
    )
    assert did(said[0]) == [("gave", "order_id")]


def test_a_proof_is_given_again_as_such(store, cases):
    case, asks = cases["wismo_unfulfilled_4"], "What is your postcode?"
    said, _ = answer(case, store, asks, f"That does not match. {asks}")
    again = store.phrases["en"]["customer"]["again"]
    assert said[1].text in {f"{words} {case.ledger['postcode'].value}." for words in again}


def test_to_what_is_sent_once_more_it_says_yes(store, cases):
    words = "You would like it sent once more; I may do that as soon as I have your yes. Is that right? A short yes is enough."
    said, _ = answer(cases["delivery_dispute_1"], store, words)
    assert ("agreed", "create_reshipment") in did(said[0])


@pytest.mark.parametrize(
    "words",
    [
        "I would start the return for the duffel. May I have your assent to start it, without the blanket?",
        "1. I would send the bag again.\n2. I would start the return.\n\nIs that a yes to both points?",
        "Ich würde die Retoure anlegen. Darf ich um Ihre Zustimmung bitten?",
        "Je peux ouvrir le retour. Ai-je votre accord ?",
        "Puedo abrirte una devolución. ¿Avanzo con eso?",
    ],
)
def test_a_yes_is_asked_for_in_other_words(store, words):
    heard = parser_of(store).parse(words)
    assert heard.confirm
    assert "start_return" in heard.proposed


def test_a_picture_in_case_it_is_something_else_is_not_sent_beside_a_yes(store, cases):
    words = "Is it ink and unused, and shall I start the return - yes? If it is any colour other than ink, send me a photo of it instead."
    said, _ = answer(cases["wrong_item_4"], store, f"I can start a return for the backpack on NL-61708. {words}")
    assert ("agreed", "start_return") in did(said[0])
    assert ("gave", "photo") not in did(said[0])


def test_one_way_and_a_bare_question_are_no_menu(store, cases):
    words = (
        "We do not swap or settle the difference: you order the large in the shop and pay it in full, now if you like, and the "
        "medium goes back by a return. I will start that return for the Meridian Check-In in navy on NL-62314. Shall I start it - yes?"
    )
    said, _ = answer(cases["size_exchange_1"], store, words)
    assert ("agreed", "start_return") in did(said[0])
