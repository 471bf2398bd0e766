"""Whether an agent answers in its customer's language, as a metric of its own; it abstains where a text is too short or mixed to tell."""

import pytest

from benchmark_lib.conversation.scripted import AGENTS
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language.sentences import OTHER_LANGUAGE, written_in
from benchmark_lib.scoring import score
from benchmark_lib.scoring.ending import answers_in_language

GERMAN = "Ihre Bestellung ist noch nicht unterwegs, ich habe die Adresse für Sie geändert."
ENGLISH = "Your order has not left yet, so I have changed the address for you."

SAID = {
    "en": [ENGLISH, "Thanks, Señora Núñez. The Harrow Travel Backpack will be with you by 9 July at the latest."],
    "de": [
        GERMAN,
        "Das geht leider nicht: Wir liefern nicht nach Österreich. Details stehen auf https://help.example/the-and-you.",
    ],
    "fr": [
        "Votre colis est parti hier, vous pouvez le suivre avec ce lien.",
        "Je suis désolé, il nous faut une photo du sac.",
    ],
    "es": [
        "Su pedido ya ha salido, puede seguirlo con este enlace.",
        "Lo siento, necesitamos una foto de la maleta para seguir.",
    ],
}


@pytest.mark.parametrize("language", SAID)
def test_the_language_of_a_reply_is_told(language):
    assert [written_in(text) for text in SAID[language]] == [language] * len(SAID[language])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hi!",
        "OK, merci.",
        "NL-48213",
        "Harrow Travel Backpack 45L, black",
        "Geneviève Thibodeau, 485 rue Prospect, Sherbrooke",
        "$213.00",
    ],
)
def test_names_numbers_and_a_few_words_tell_nothing(text):
    assert written_in(text) is None


def test_a_text_in_two_languages_is_left_alone():
    assert written_in(f"{GERMAN}\n\n{ENGLISH}") is None


def test_what_is_quoted_does_not_count():
    assert written_in(f"{ENGLISH} You wrote: “{GERMAN}”") == "en"


def test_a_language_that_is_not_read_is_no_language_of_a_customer():
    italian = "Sì, certo: le mando la borsa nuova oggi, grazie per la sua pazienza e per il suo ordine."
    assert written_in(italian) == OTHER_LANGUAGE and answers_in_language([italian], "es") is False


def test_one_reply_in_another_language_is_enough():
    assert answers_in_language([GERMAN, "OK!"], "de") is True
    assert answers_in_language([GERMAN, ENGLISH], "de") is False
    assert answers_in_language(["OK!", "NL-48213"], "de") is None


def test_the_score_says_it_and_a_trial_that_does_not_count_says_nothing(cases, store):
    case = next(c for c in cases.values() if c.language == "fr" and c.bucket == "resolvable")
    record = play(case, store, AGENTS["oracle"](case, store))
    assert score(record, case, store)["answers_in_language"] is True
    for message in record.replies():
        message.text = ENGLISH
    assert score(record, case, store)["answers_in_language"] is False
    record.ended_by = "infrastructure_fault"
    assert score(record, case, store)["answers_in_language"] is None
