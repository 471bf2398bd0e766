"""Each language is one file of words; the code names none of them."""

import ast
from pathlib import Path

import pytest
import yaml

from benchmark_lib import BadInput, load_store
from benchmark_lib.cases import Fact
from benchmark_lib.cases.read import read_case
from benchmark_lib.language.sentences import languages_of, nearest_languages, sentences
from benchmark_lib.language.values import values_in
from benchmark_lib.language.word_lists import LANGUAGES, books
from benchmark_lib.project import PACKAGE

SAID = {
    "en": "Your order will arrive on July 3, five business days after it was packed.",
    "es": "Su pedido llegará el 3 de julio, cinco días hábiles después de su envío.",
    "fr": "Votre commande sera chez vous le 3 juillet, cinq jours ouvrés après son envoi.",
    "de": "Ihre Bestellung kommt am 3. Juli bei Ihnen an, fünf Werktage nach dem Versand.",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_holds_what_the_room_reads(language):
    book, english = books()[language], books()["en"]
    assert {"words", "numbers", "units", "values", "customer"} <= set(book)
    assert set(book["numbers"]) <= set(english["numbers"]) and set(book["units"]) == set(english["units"])
    assert set(book["customer"]) == set(english["customer"]) and set(book["customer"]["threats"]) == {
        "law",
        "bank",
        "violence",
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_is_read_in_its_language_with_its_values(language):
    said = sentences(SAID[language])
    assert languages_of(said) == nearest_languages(said) == (language,)
    assert [(v.kind, v.value) for v in values_in(SAID[language], 2026)] == [
        ("date", "2026-07-03"),
        ("business_days", "5"),
    ]
    assert Fact(kind="date", value="2026-07-03").told([SAID[language]]) and Fact(
        kind="measure", value=5, unit="business_days"
    ).told([SAID[language]])


def test_a_message_in_a_language_without_a_file_is_in_none():
    assert (
        languages_of(sentences("Uw bestelling is onderweg en wij hebben een bericht van de vervoerder voor u.")) == ()
    )


def test_a_case_in_a_language_the_store_has_no_phrases_in_is_refused():
    store = load_store()
    path = store.path / "cases" / "tracking.yaml"
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))["cases"][0]
    with pytest.raises(BadInput, match="there is no language 'nl'"):
        read_case({**raw, "language": "nl"}, store, path)


def test_no_room_but_that_of_the_shop_names_one_of_its_tools():
    store = load_store()
    found = []
    for path in sorted(Path(PACKAGE).rglob("*.py")):
        if any(room in path.as_posix() for room in ("store/retail", "extras/audit/sly", "extras/claims/orders")):
            continue  # the shop itself, the agents that are written against it, and what detectors compare in its orders
        texts = {
            n.value
            for n in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(n, ast.Constant) and isinstance(n.value, str)
        }
        found += [(path.name, name) for name in store.kind.tools if name in texts]
    assert found == []
