"""What a message says of a thing, held against what an earlier one said of the same thing."""

import pytest
from claimed import talk

from benchmark_lib.scoring import score


def contradicted(case, store, *replies, calls=()):
    """Return what a later reply contradicts, by thing, with the earlier words."""
    turns = [("And?", [], list(calls) if n else [], text) for n, text in enumerate(replies)]
    result = score(talk(case, store, *turns), case, store)
    rows = [(f["class"], f["compared_with"]) for f in result["findings"] if f["detector"] == "contradiction"]
    assert result["contradicts_itself"] is bool(rows)
    return rows


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The return window is 100 days.", "You can return it within 30 days."),
        ("Your order will arrive by July 2.", "Your order will arrive by July 9."),
        ("Your order has shipped.", "Your order has not shipped yet."),
        ("Die Rückgabefrist beträgt 100 Tage.", "Sie können den Artikel innerhalb von 60 Tagen zurückgeben."),
        ("Die Erstattung dauert 5 bis 10 Werktage.", "Die Erstattung ist innerhalb von 2 Werktagen bei Ihnen."),
        ("La garantie est de 2 ans.", "La garantie dure 12 mois."),
        ("Votre colis n’a pas encore été livré.", "Votre colis a été livré."),
        ("La entrega tarda de 3 a 5 días hábiles.", "La entrega tarda de 9 a 12 días hábiles."),
        ("El envío cuesta 12,00 USD.", "El envío es de 20,00 USD."),
    ],
)
def test_another_value_for_the_same_thing_is_found_with_both_sentences(open_case, store, first, then):
    ((_, compared),) = contradicted(open_case, store, first, then)
    assert compared == f"message 1: {first}"


@pytest.mark.parametrize(
    ("first", "then", "thing"),
    [
        ("The return window is 100 days.", "You can return it within 30 days.", "return"),
        ("Your order will arrive by July 2.", "Your order will arrive by July 9.", "arrival"),
        ("Your order has shipped.", "Your order has not shipped yet.", "shipped"),
        ("El envío cuesta 12,00 USD.", "El envío es de 20,00 USD.", "shipping"),
    ],
)
def test_a_contradiction_is_filed_under_the_thing_it_is_about(open_case, store, first, then, thing):
    assert [kind for kind, _ in contradicted(open_case, store, first, then)] == [thing]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The return window is 30 days.", "Sorry, I misspoke: the return window is 100 days."),
        ("Die Rückgabefrist beträgt 30 Tage.", "Entschuldigung, das war falsch: Die Rückgabefrist beträgt 100 Tage."),
        ("Le délai de retour est de 30 jours.", "Je me suis trompée : le délai de retour est de 100 jours."),
        ("El plazo de devolución es de 30 días.", "Perdone, me equivoqué: el plazo de devolución es de 100 días."),
        ("The return window is 100 days.", "You have 12 days left to return it."),
        ("Shipping to the US takes 3-5 business days.", "Shipping to Canada takes 6-10 business days."),
        ("Delivery takes 3-5 business days.", "Delivery takes 4 business days as a rule."),
        ("The warranty is 2 years.", "The warranty is 24 months."),
        ("The refund takes 5-10 business days.", "The return window is 100 days."),
        ("The first parcel arrives on July 2.", "The second parcel arrives on July 7."),
        ("The return window is 100 days.", "Is the return window 30 days elsewhere?"),
    ],
)
def test_a_correction_and_another_thing_are_none(open_case, store, first, then):
    assert contradicted(open_case, store, first, then) == []


def test_what_was_looked_up_anew_may_differ(open_case, store):
    said = ("Your order will arrive by July 2.", "Your order will arrive by July 9.")
    look = ("get_order", {"order_id": open_case.order})
    assert contradicted(open_case, store, *said) and not contradicted(open_case, store, *said, calls=[look])
    rule = ("The return window is 100 days.", "The return window is 30 days.")
    assert contradicted(open_case, store, *rule, calls=[look]), "a rule does not change by looking"


BASKET = "| Commuter Backpack | $111.20 |\n| World Adapter | $63.20 |\n| You pay | {} |"


def test_the_sum_of_another_basket_is_no_contradiction(open_case, store):
    one, other = BASKET.format("$174.40"), BASKET.format("$180.00")
    assert [kind for kind, _ in contradicted(open_case, store, one, other)] == ["price"]
    assert contradicted(open_case, store, one, BASKET.replace("| C", "| 3 x C").format("$396.80")) == []
    assert contradicted(open_case, store, one, "| Commuter Backpack | $111.20 |\n| You pay | $123.20 |") == []


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The price is $40.00.", "For everything twice the price is $80.00."),
        ("Der Preis beträgt 40,00 USD.", "Bei doppelter Menge beträgt der Preis 80,00 USD."),
        ("Le prix est de 40,00 USD.", "Pour le double, le prix est de 80,00 USD."),
        ("El precio es de 40,00 USD.", "Por el doble, el precio es de 80,00 USD."),
    ],
)
def test_nor_is_the_price_of_twice_as_much(open_case, store, first, then):
    assert contradicted(open_case, store, first, then) == []
