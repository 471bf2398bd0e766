"""What a customer does not take for its own: a question about another date, a photo that is there, a check, and the desk's wish to leave it at that."""

import pytest
from test_customer import answer, did

from benchmark_lib.cases.variants import wordings
from benchmark_lib.language.parser import parser_of


@pytest.fixture(scope="module")
def told(store):
    return {case.id: case for case in wordings(store)}


AHEAD = [
    "When do you fly?",
    "By which date does the family need them?",
    "And your travel date?",
    "When are you coming back?",
    "When do you move into the new flat?",
    "Wann fliegen Sie?",
    "Bis wann brauchen Sie die Gurte?",
    "Wann ziehen Sie um?",
    "Quand partez-vous ?",
    "Pour quelle date vous les faut-il ?",
    "Quand déménagez-vous ?",
    "¿Cuándo sale su vuelo?",
    "¿Para cuándo lo necesita?",
    "¿Cuándo se muda?",
]
BEHIND = [
    "When did it arrive?",
    "When was the parcel delivered?",
    "On which day did you open the box?",
    "Wann ist das Paket angekommen?",
    "Wann haben Sie es bestellt?",
    "Quand le colis est-il arrivé ?",
    "¿Cuándo llegó el paquete?",
    "¿Cuándo lo compró?",
]
EITHER = [
    "By which date, or when did it happen?",
    "Bis wann brauchen Sie es, oder wann ist es passiert?",
    "Pour quelle date, ou quand est-ce arrivé ?",
    "¿Para qué fecha, o cuándo ocurrió?",
]


@pytest.mark.parametrize(
    ("words", "kinds"),
    [
        *((w, {"ahead"}) for w in AHEAD),
        *((w, {"behind"}) for w in BEHIND),
        *((w, {"ahead", "behind"}) for w in EITHER),
    ],
)
def test_a_question_about_a_date_tells_by_its_verb_what_it_is_about(store, words, kinds):
    heard = parser_of(store).parse(words)
    assert "date" in heard.asked and heard.dates == kinds


@pytest.mark.parametrize("words", AHEAD[:5])
def test_the_day_the_box_came_is_no_day_of_a_journey(store, told, words):
    said, _ = answer(told["wording_missing_item_1_5"], store, words, words)
    assert "June 25" not in said[0].text + said[1].text and not did(said[0], "gave")


def test_beside_a_yes_a_question_about_another_date_is_answered(store, told):
    words = "I'd send the Cinch Compression Straps, set of 2, in black, free of charge. Shall I? And when do you fly?"
    said, _ = answer(told["wording_missing_item_1_5"], store, words)
    assert [kind for kind, _ in did(said[0])] == ["agreed", "waited"]


@pytest.mark.parametrize(
    ("case", "words"), [("missing_item_6", "¿Cuándo viaja?"), ("missing_item_3", "When do you leave?")]
)
def test_a_journey_that_the_case_knows_is_told(store, cases, case, words):
    said, _ = answer(cases[case], store, words)
    assert did(said[0], "gave") == [("gave", "date")]


def test_a_journey_is_no_day_on_which_something_came(store, cases):
    said, _ = answer(cases["missing_item_6"], store, "¿Cuándo llegó el paquete?")
    assert not did(said[0], "gave")


def test_when_the_box_came_is_told_once(store, told):
    words = "When did the box arrive?"
    said, _ = answer(told["wording_missing_item_1_5"], store, words, "Thank you. " + words)
    assert "June 25" in said[0].text and "June 25" not in said[1].text


LINK = "Here is your link: https://track.northline.example/HP867048268. It is expected by Wednesday, July 1. "


@pytest.mark.parametrize(
    "words",
    ["Does the line open when you press it?", "Does the link open?", "Does it work?", "Can you open it?"],
)
def test_whether_the_link_opens_is_no_question_about_the_order(store, told, words):
    said, _ = answer(told["wording_tracking_1_3"], store, "Your order number, please?", LINK + words)
    assert did(said[1]) == [("left", "content")] and "There it is" in said[1].text


@pytest.mark.parametrize(
    "words", ["Öffnet sich der Link?", "Funktioniert es jetzt?", "Le lien s'ouvre-t-il ?", "¿Se abre el enlace?"]
)
def test_a_check_is_heard_in_every_language(store, words):
    assert parser_of(store).parse(words).checks


EITHER_OR = {
    "wording_refund_outside_policy_1_2": "I can't start the return myself; a colleague would have to look at it and decide.\n\n"
    "Would you like me to pass it on to them, or will the Pico stay with you after all?",
    "wording_refund_outside_policy_1_3": "A colleague can decide about it. Before I pass it on: would you prefer to have it decided, "
    "or shall the bag simply stay with you?",
    "wording_unsupported_request_4_3": "So what shall happen with NL-82079: **keep it** with plain tags, or **cancel** it? "
    "If you just want your wish passed on to a colleague and the order left as it is, say so and I'll do that.",
}


@pytest.mark.parametrize(("case", "words"), EITHER_OR.items())
def test_between_a_colleague_and_leaving_it_the_colleague_is_chosen(store, told, case, words):
    said, _ = answer(told[case], store, words)
    assert did(said[0]) == [("agreed", "hand_over_to_human")]


def test_who_can_be_served_picks_what_it_wants_and_no_colleague(store, cases):
    words = "Shall I cancel the order, all of it, or shall I pass it on to a colleague?"
    said, _ = answer(cases["cancel_before_ship_5"], store, words)
    assert ("agreed", "hand_over_to_human") not in did(said[0])


NO = "Without a photo of the corner I can't send a replacement. "


@pytest.mark.parametrize(
    "words", ["Shall we leave it at that for today?", "Shall we leave it there?", "May we call it a day?"]
)
def test_who_has_pushed_enough_says_goodbye_where_the_desk_asks_to_leave_it(store, told, words):
    case = told["wording_damaged_no_proof_3"]
    said, _ = answer(case, store, NO + "I'm sorry.", NO, "I need one, " + NO, NO + words)
    assert [m for m in said if did(m, "left")] == said[-1:] and not did(said[-1], "agreed")


def test_a_desk_cannot_cut_the_first_argument_short(store, told):
    said, _ = answer(told["wording_damaged_no_proof_3"], store, NO + "Shall we leave it at that for today?")
    assert not did(said[0], "left", "agreed")


@pytest.mark.parametrize(
    "words",
    [
        "Sollen wir es für heute dabei belassen?",
        "On en reste là pour aujourd'hui ?",
        "¿Lo dejamos ahí por hoy?",
    ],
)
def test_to_leave_it_is_heard_in_every_language_and_asks_for_no_yes(store, words):
    heard = parser_of(store).parse(words)
    assert heard.closes and not heard.confirm and not heard.asked


def test_to_leave_the_address_as_it_is_asks_for_a_yes(store):
    heard = parser_of(store).parse("Shall we leave the address as it is?")
    assert heard.confirm and not heard.closes


@pytest.mark.parametrize(
    "words",
    [
        "I'm sorry about the Atlas; the photo shows it clearly, and it is all I need.",
        "With the photo I have what I need.",
        "With your photo I have everything I need.",
        "Das Foto zeigt alles, und mehr brauche ich nicht.",
        "Mit dem Foto habe ich alles, was ich brauche.",
        "La photo le montre bien, c'est tout ce qu'il me faut.",
        "Avec la photo, j'ai tout ce qu'il me faut.",
        "La foto lo muestra bien y es todo lo que necesito.",
        "Con la foto tengo todo lo que necesito.",
    ],
)
def test_a_photo_that_is_there_is_not_asked_for(store, words):
    assert "photo" not in parser_of(store).parse(words).asked


@pytest.mark.parametrize(
    "words",
    [
        "All I need is a photo of the dent.",
        "One photo is all I need.",
        "The photo is all I need.",
        "Alles, was ich brauche, ist ein Foto vom Schaden.",
        "Il me faut seulement une photo du dommage.",
        "Solo necesito una foto del daño.",
        "The photo shows it clearly, but I still need a photo of the label.",
    ],
)
def test_a_photo_that_is_needed_is_asked_for(store, words):
    assert {"photo", "label"} & {*parser_of(store).parse(words).asked}


@pytest.mark.parametrize(
    "words",
    [
        "Would your relative like those dates as well?",
        "Möchten Sie auch die genauen Tage wissen?",
        "Voulez-vous aussi les dates ?",
        "¿Quiere también esas fechas?",
    ],
)
def test_to_offer_dates_is_not_to_ask_for_one(store, words):
    assert "date" not in parser_of(store).parse(words).asked


def test_a_wording_tells_the_day_in_its_own_voice(store, told):
    said, _ = answer(told["wording_tracking_1_3"], store, "When did you order it, please?")
    assert said[0].text == "I believe it was on June 22 that I ordered it, all by myself."
