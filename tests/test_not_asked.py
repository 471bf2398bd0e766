"""What sounds like a request and asks for nothing; the sentences in English are from recorded blind play, and so are the longer messages."""

import pytest
from test_customer import answer, did

from benchmark_lib.cases.load import every_case
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
    "which proof": [
        "Which of them can you give me?",
        "Was davon haben Sie?",
        "Lequel des deux pouvez-vous me donner ?",
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
