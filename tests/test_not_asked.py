"""What sounds like a request and asks for nothing; the sentences in English are from recorded blind play, and so are the longer messages."""

import pytest
from test_customer import answer, did

from benchmark_lib.cases.load import every_case
from benchmark_lib.extras.claims.orders import proves
from benchmark_lib.language.parser import parser_of
from benchmark_lib.store import load_store


@pytest.fixture(scope="module")
def hard():
    return load_store("northline:hard")


@pytest.fixture(scope="module")
def hard_cases(hard):
    return {case.id: case for case in every_case(hard)}


NOTHING = {
    "to go on": [
        "What may I turn to next?",
        "And what follows?",
        "You said first question. What is the next?",
        "Womit machen wir weiter?",
        "Par quoi commence-t-on ensuite ?",
        "¿Con qué seguimos?",
    ],
    "somebody else": [
        "Before you buy, please ask your airline which size it takes in the cabin.",
        "Fragen Sie bitte bei Ihrer Fluggesellschaft nach, welche Größe sie erlaubt.",
        "Demandez à votre compagnie aérienne quelle taille elle accepte.",
        "Pregunte a su aerolínea qué tamaño acepta.",
    ],
    "what is there": [
        "The picture of the sock label is here with me for when we get to it.",
        "Das Foto vom Etikett liegt mir vor.",
        "La photo de l'étiquette est bien arrivée.",
        "La foto de la etiqueta ya está aquí.",
    ],
    "how to handle it": [
        "The label there is prepaid; please leave the seal on and keep the drop-off receipt.",
        "You may dispose of the cracked one, or we'll ask for it later with a label.",
        "Please leave the pillow's seal or tag on.",
        "Lassen Sie bitte das Siegel dran und heben Sie den Beleg auf.",
        "Gardez le reçu et laissez le scellé en place, s'il vous plaît.",
        "Deje el precinto puesto y guarde el recibo, por favor.",
    ],
    "later": [
        "Tell me when we get there, soon if you can, since the order may be packed any time.",
        "And tell me the rest when you have a hand free.",
        "Sagen Sie mir Bescheid, sobald wir so weit sind.",
        "Dites-moi quand nous y serons.",
        "Avíseme cuando lleguemos a eso.",
    ],
    "whether it can print": [
        "Do you have a printer for the label?",
        "Can you print the label at home?",
        "Haben Sie einen Drucker für das Etikett?",
        "Avez-vous une imprimante pour l'étiquette ?",
        "¿Tiene impresora para la etiqueta?",
    ],
    "whether to explain": [
        "Is there anything you would like to know about the return?",
        "Shall I explain how the return works?",
        "Gibt es etwas, das Sie zur Rückgabe wissen möchten?",
        "Souhaitez-vous savoir quelque chose sur le retour ?",
        "¿Hay algo que quiera saber sobre la devolución?",
    ],
    "a yes that is there": [
        "Your yes to the replacement has arrived.",
        "With your yes I created the replacement.",
        "Ihr Ja zum Koffer habe ich.",
        "Votre oui est bien arrivé.",
        "Su sí ya lo tengo.",
        "Noted: your yes to the silver case stands, and you need not repeat it.",
        "Ihr Ja zum Koffer gilt, Sie brauchen es nicht zu wiederholen.",
        "Votre oui tient toujours, inutile de le redire.",
        "Su sí a la maleta sigue en pie.",
        "The plan stands as I described it, and I have your yes: the slate one to Larkmoor Street.",
        "Ihr Ja habe ich, jetzt geht es weiter.",
    ],
    "a thumbs up beside a report": ["Now you get the thumbs up. The return is started (RT-1). Print the label there."],
    "no day of the customer's": [
        "Reply on whatever day you can.",
        "As soon as I have it, I'll look what date you can count on.",
        "How many minutes was that?",
    ],
    "what something depends on": [
        "How many sets you need depends on the size of your case.",
        "Wie viele Sets Sie brauchen, hängt von der Größe Ihres Koffers ab.",
        "Le nombre de jeux dépend de la taille de votre valise.",
        "Cuántos juegos necesita depende del tamaño de su maleta.",
    ],
    "a table": [
        "| | Price |\n|---|---|\n| **You pay** | **$202.00** |",
        "| | Item | Color | List price |\n|---|---|---|---|",
    ],
    "which proof": [
        "Which of them can you give me?",
        "Was davon haben Sie?",
        "Lequel des deux pouvez-vous me donner ?",
        "Which one do you have handy?",
        "Was davon haben Sie zur Hand?",
        "Lequel avez-vous sous la main ?",
        "¿Cuál tiene a mano?",
    ],
}


@pytest.mark.parametrize("words", [words for kind in NOTHING.values() for words in kind])
def test_what_asks_for_nothing_is_no_request(hard, words):
    heard = parser_of(hard).parse(words)
    assert not heard.asked and not heard.confirm and not heard.question


@pytest.mark.parametrize(
    ("words", "slot"),
    [
        ("The photo has arrived, but I still need a picture of the label.", "label"),
        ("Please send me exactly what stands there, or a photo of the label.", "label"),
        ("Bitte legen Sie das Etikett daneben und schicken Sie mir ein Foto.", "photo"),
        ("Is that a yes, and is the address still right?", "address_checked"),
        ("Where does the job send you first?", "address"),
        ("Please ask your neighbors whether they took it in.", "neighbours_checked"),
        ("Could you print the name on the label here, or send a photo of the label?", "label"),
        ("Do you still have the label?", "label"),
    ],
)
def test_what_sounds_like_it_and_asks_is_heard(hard, words, slot):
    assert slot in parser_of(hard).parse(words).asked


@pytest.mark.parametrize(
    "words",
    [
        "Is that a yes?",
        "Me donnez-vous votre oui pour la couleur et pour l'adresse ?",
        "¿Me da su sí para el 1 y el 3?",
        "Habe ich Ihr Ja zu beidem?",
    ],
)
def test_a_yes_in_so_many_words_asks_for_nothing_beside_it(hard, words):
    heard = parser_of(hard).parse(words)
    assert heard.confirm and not heard.asked


@pytest.mark.parametrize(
    "words",
    [
        "¿Qué número calzas?",
        "¿Qué número usas de zapato?",
        "What number are your shoes?",
        "Vous chaussez du combien ?",
        "Quelle pointure faites-vous ?",
        "Welche Schuhgröße haben Sie?",
    ],
)
def test_a_size_that_is_called_a_number_is_a_size(store, words):
    assert parser_of(store).parse(words).asked == ["size"]


PHOTO_AND_YES = {
    "damaged_item_1": [
        "I need two things:\n- A **photo** of the crack\n- **Your yes** to this: once the photo is here, I'll send one Meridian Carry-On 38L in navy.",
        "I would then send one Meridian Carry-On 38L in navy, free of charge. For that I need:\n1. A photo of the crack.\n2. Your **yes** to what I would send.",
        "Could you attach a photo? And please tell me at the same time whether this is right for you: I would send one Meridian Carry-On 38L in navy.",
        "Send me a photo of the crack. And tell me if I may send a new Meridian Carry-On 38L in navy.",
        "Please send a photo of the crack. I would then send a new Meridian in navy. You can say yes to that in the same message.",
    ],
    "damaged_item_5": [
        "Bitte schicken Sie mir ein Foto. Und sagen Sie mir gleich dazu, ob das so recht ist: Ich würde Ihnen einen neuen Koffer schicken.",
        "Ich brauche ein Foto vom Schaden. Sobald es da ist, schicke ich Ihnen einen neuen Koffer. Ihr Ja dazu können Sie gleich mitschicken.",
    ],
    "angry_damaged_4": [
        "Il me faut deux choses :\n1. une photo de la couture\n2. votre **oui** à ceci : j'envoie un nouveau sac",
        "Il me faut une photo ainsi que votre accord pour l'envoi d'un nouveau sac.",
    ],
}


@pytest.mark.parametrize(
    ("case", "words"), [(case, words) for case, all_of in PHOTO_AND_YES.items() for words in all_of]
)
def test_a_yes_asked_for_beside_a_photo_comes_with_it(store, cases, case, words):
    said, _ = answer(cases[case], store, words)
    assert did(said[0], "agreed", "attached") == [("agreed", "create_replacement"), ("attached", "photo")]


@pytest.mark.parametrize(
    "words",
    [
        "As soon as I have the photo, I'll tell you exactly what I would send and ask for your yes.",
        "Send the photo whenever you can say yes or no to it.",
        "Once it is here, I name what I would send, and you give me your yes.",
    ],
)
def test_a_yes_that_will_be_asked_for_later_is_not_asked_for(store, words):
    assert not parser_of(store).parse(words).confirm


@pytest.mark.parametrize(
    "words",
    [
        "I need the order number (NL-…) or the postcode. Which one do you have handy?",
        "Could you send me **either the order number (NL-...) or the postcode it was delivered to**?",
        "Ich brauche die **Bestellnummer (NL-…) oder die Postleitzahl der Lieferadresse**.",
        "Il me faut le numéro de commande (NL-…) ou le code postal de livraison.",
    ],
)
def test_a_remark_in_brackets_does_not_part_two_proofs(store, cases, words):
    said, _ = answer(cases["damaged_item_2"], store, words)
    assert did(said[0]) == [("gave", "order_id")]


def test_a_number_told_before_is_not_told_again_to_a_refusal(store, cases):
    words = "My answer stays no: without another postcode of the order I can't say anything about it."
    said, _ = answer(cases["damaged_item_2"], store, "Which postcode is it?", words)
    assert did(said[0]) == [("gave", "postcode")] and not did(said[1], "gave")


def test_to_a_question_it_does_not_follow_it_sends_the_picture_that_is_named(hard, hard_cases):
    words = "Beim Koffer darf ich erst nach dem Foto loslegen. Haben Sie eines zur Hand?"
    said, _ = answer(hard_cases["languages_3_de"], hard, words)
    assert did(said[0]) == [("gave", "photo"), ("attached", "photo")]


def test_a_choice_by_the_marks_of_a_list_is_between_its_acts(store):
    words = "Please choose:\nA) I change the backpack from coral to black.\nB) I cancel the whole order.\n\nShall I do A or B?"
    assert parser_of(store).parse(words).alternatives == {"update_line_item", "cancel_order"}


BOTH = """**Der Koffer:** Bitte hängen Sie ein Foto an Ihre Antwort, auf dem man den Riss erkennt. Sobald es da ist, schicke ich Ihnen \
kostenlos den gleichen noch einmal: Meridian Check-In, Medium, in Salbeigrün.

**Das Schloss:** Unsere Packunterlagen zeigen, dass das Sentry TSA Cable Lock in Rot nicht mit eingepackt wurde. Ich schicke es Ihnen nach.

Ist es Ihnen so recht: Koffer in Salbeigrün, Medium, und Cable Lock in Rot an diese Adresse? Dann bitte ein Ja und das Foto."""


def test_what_is_sent_again_is_taken_for_the_wish_whose_goods_are_named(hard, hard_cases):
    said, _ = answer(hard_cases["languages_3_de"], hard, BOTH)
    assert set(did(said[0], "agreed", "refused")) == {
        ("agreed", "create_replacement"),
        ("agreed", "create_reshipment"),
    }


def test_the_order_that_is_only_told_about_is_not_among_what_is_agreed_to(hard, hard_cases):
    words = (
        "NL-80707: the two things were sent again on June 9, and that parcel was delivered on June 15, in the mailroom. "
        "Please also ask your neighbors about it.\n\nI will cancel NL-80708 with everything on it. Is that a yes?"
    )
    said, _ = answer(hard_cases["second_contact_6"], hard, words)
    assert did(said[0], "agreed") == [("agreed", "cancel_order")]


def test_an_offer_with_every_detail_outweighs_a_status_of_another_line(hard, hard_cases):
    offers = (
        "Voici où en est la commande NL-81409 :\n\n1. Les pochettes à souliers (Sole Shoe Bags, pair) voyagent dans un deuxième colis.\n\n"
        "2. La poche à linge sale : nos relevés d'emballage montrent que nous l'avons oubliée, désolés. J'enverrais, sans frais, un "
        "Rinse Laundry Bag anthracite (charcoal) au 903, avenue Moreau, Québec, QC G1V 3B2.\n\n3. J'ouvrirais un retour pour le "
        "Commuter 20 Backpack bleu marine (navy).\n\nEst-ce oui pour l'envoi (2) et pour le retour (3) ?"
    )
    said, _ = answer(hard_cases["languages_7_fr"], hard, offers)
    assert did(said[0], "agreed", "refused") == [("agreed", "create_reshipment"), ("agreed", "start_return")]


def test_an_order_that_the_offer_names_itself_is_the_only_one_agreed_to(hard, hard_cases):
    words = "NL-80707 was delivered on June 15, to the mailroom.\n\nI will cancel NL-80708 with everything on it. Is that a yes?"
    said, _ = answer(hard_cases["second_contact_6"], hard, words)
    assert did(said[0], "agreed") == [("agreed", "cancel_order")]


def test_what_was_just_done_and_reported_in_any_words_is_done(hard, hard_cases):
    case = hard_cases["languages_5_es"]
    call = case.outcomes[0].calls[0]

    def sends(talk):
        assert not talk.call(call.tool, {**call.arguments, "reason": "defective"}).error
        return "Hecho, Pablo: la Ridgeway Duffel 55L en verde bosque ya está pedida, sin coste, y va a tu dirección. La garantía llega hasta el 7 de noviembre de 2027."

    said, _ = answer(
        case, hard, "Puedo mandarte una nueva, la misma, sin coste. ¿Me das el sí?", sends, "Aquí no hay más que hacer."
    )
    assert did(said[1]) == [("followed_up", "0")]
    assert did(said[2], "pushed") and not did(said[2], "left")


def test_a_postcode_that_is_not_the_orders_may_be_asked_for_again(hard, hard_cases):
    case = hard_cases["privacy_7"]
    own = hard.tables["orders"][case.order]["shipping_address"]["postcode"]
    assert [proves("postcode", value, case, hard) for value in (case.ledger["postcode"].value, own)] == [False, True]
