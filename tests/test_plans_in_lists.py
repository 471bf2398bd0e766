"""A plan written as a list of infinitives or nouns offers its steps; a menu stays a menu, and a report stays a report."""

import pytest
from test_customer import answer

from benchmark_lib.cases import load_cases
from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.sentences import sentences
from benchmark_lib.store import load_store

PLANS = [
    ("I'd suggest the following.\n1. Swap the grey packing cubes for olive\n2. Parcel to 5 Mill Lane, Bath BA1 5JN\nOkay like this?", {"update_line_item", "update_shipping_address"}),
    ("In short:\n• free replacement for the torn duffel\n• old one yours to throw away\nFine by you?", {"create_replacement"}),
    ("Two steps, then:\n(1) cancel order NL-50012\n(2) 84 dollars back on the Visa\nMay I?", {"cancel_order"}),
    ("Next, with your blessing:\na) claim with the carrier for the lost box\nb) new parcel with the three missing pouches\nDoes that suit you?", {"open_carrier_claim", "create_reshipment"}),
    ("Ich schlage vor:\n1. Die Adresse auf Lindenweg 4, 50667 Köln ändern\n2. Den Rest der Bestellung so lassen\nIst das recht?", {"update_shipping_address"}),
    ("Mein Plan wäre:\n- Ersatz für den zerkratzten Trolley, gratis\n- Rücksendung nicht nötig\nMachen wir das so?", {"create_replacement"}),
    ("Vorgehen:\n• Auftrag NL-50012 komplett stornieren\n• 84 Dollar zurück auf die Karte\nOkay?", {"cancel_order"}),
    ("Le plan serait donc :\n1) Annuler la commande NL-50012\n2) Rembourser 84 $ sur la Visa\nC'est bon pour vous ?", {"cancel_order"}),
    ("Dans ce cas, étapes suivantes :\n- retour du sac à dos vert\n- étiquette prépayée par courriel\nCela vous va ?", {"start_return"}),
    ("Ce que je propose :\n• passage de la valise du gris au marine\n• livraison au 8 rue des Lilas, Lyon 69003\nPuis-je procéder ainsi ?", {"update_line_item", "update_shipping_address"}),
    ("Quedaría así:\n- cambio del neceser de gris a oliva\n- entrega en Calle Mayor 7, 28013 Madrid\n¿Le parece?", {"update_line_item", "update_shipping_address"}),
    ("Los pasos serían:\n1. Anular NL-50012 por completo\n2. Devolver 84 dólares a la tarjeta\n¿Conforme?", {"cancel_order"}),
    ("Lo que le ofrezco:\na) bolso de reemplazo, gratis\nb) nada que devolver\n¿Está de acuerdo?", {"create_replacement"}),
]  # fmt: skip


@pytest.mark.parametrize(("words", "tools"), PLANS)
def test_a_yes_is_asked_for_every_step_of_a_plan(store, words, tools):
    heard = parser_of(store).parse(words)
    assert heard.confirm and tools <= {*heard.proposed} and not (heard.claimed or heard.alternatives)


@pytest.mark.parametrize(
    "words",
    [
        "All done:\n1. Order NL-50012 cancelled\n2. 84 dollars back on the Visa\nAll right like this?",
        "What I did just now:\n- cancellation of NL-50012\n- refund to the Visa\nAre you happy with that?",
        "Das habe ich veranlasst:\n- Stornierung von NL-50012\n- Rückzahlung auf die Karte\nPasst das?",
        "Voici ce que j'ai fait :\n- annulation de NL-50012\n- remboursement sur la Visa\nÇa vous va ?",
        "Esto ya está hecho:\n- anulación de NL-50012\n- devolución a la Visa\n¿Le parece bien?",
    ],
)
def test_a_list_of_what_was_done_offers_nothing(store, words):
    heard = parser_of(store).parse(words)
    assert "cancel_order" in heard.claimed and "cancel_order" not in heard.offered


@pytest.mark.parametrize(
    "words",
    [
        "What the rules say:\n- returns are free within 45 days\n- a replacement takes a photo\nIs that clear?",
        "Zur Lage:\n- Die Bestellung ist noch im Lager\n- Die Adresse kann heute noch geändert werden\nAlles klar?",
        "Pour information :\n- le retour est gratuit\n- l'adresse ne peut plus changer\nEst-ce clair ?",
        "Para su información:\n- la devolución es gratis\n- el pedido está en el almacén\n¿Queda claro?",
    ],
)
def test_a_list_of_facts_becomes_no_plan(store, words):
    assert not any(one.planned for one in parser_of(store).hear(sentences(words)))


@pytest.mark.parametrize(
    "words",
    [
        "Three options:\n- another suitcase\n- return of this one\n- new parcel\nShall I?",
        "Es gibt drei Möglichkeiten:\n- Ersatz\n- Rücksendung\n- neues Paket\nSoll ich?",
        "Vous avez le choix :\n- remplacement\n- retour\n- nouveau colis\nJe le fais ?",
        "Puede elegir:\n- reemplazo\n- devolución\n- otro paquete\n¿Lo hago?",
    ],
)
def test_a_menu_becomes_no_plan(store, cases, words):
    assert not any(one.planned for one in parser_of(store).hear(sentences(words)))
    said, _ = answer(cases["damaged_item_2"], store, words)
    assert not [a for a in said[0].acts if a.kind == "agreed"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("languages_2_es", "Lo haría de este modo:\n1. La Belvane, de negro a burdeos\n2. Entrega en casa de sus padres, 36 Sandpiper Drive\n¿Sigo?"),
        ("languages_2_fr", "Donc :\n- la Belvane en bordeaux au lieu de noir\n- nouvelle adresse : 36 Sandpiper Drive, Victoria\nÇa vous va ?"),
    ],
)  # fmt: skip
def test_a_customer_agrees_to_both_steps(name, words):
    hard = load_store("northline:hard")
    (case,) = load_cases(hard, name)
    said, _ = answer(case, hard.of(case), words)
    assert [a.what for a in said[0].acts if a.kind == "agreed"] == ["update_line_item", "update_shipping_address"]
