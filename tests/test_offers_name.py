"""Which color, size and order an offer names: what looks like a size and is none, and an order that is kept, is nothing else than what is wished for."""

import pytest
from test_customer import answer

WISH = {"order_id": "NL-81402", "line_id": "L2", "variant_id": "P-160-PLM-M"}
"""Socks of an order that stands in the hard set: in plum and in size M; so far they are navy."""


@pytest.fixture(scope="module")
def view():
    from benchmark_lib.cases import load_cases
    from benchmark_lib.store import load_store

    hard = load_store("northline:hard")
    (case,) = load_cases(hard, "languages_1_fr")
    return hard.of(case)


@pytest.mark.parametrize(
    "text",
    [
        "Est-ce que j'ouvre le retour de l'oreiller, et est-ce que je change les bas?",
        "It's in stock. Shall I change the socks? I'd do it at once.",
        "M. Lévesque, je change la couleur des bas?",
        "S'il vous plaît, dites-moi si je change les bas.",
    ],
)
def test_an_apostrophe_or_a_title_makes_no_size(view, text):
    named, differing = view.kind.named_in(text, WISH, view)
    assert "variant_id" not in named | differing


@pytest.mark.parametrize(
    "text", ["I'd change the socks to L.", "Je les change en taille l?", "Ich nehme Größe S.", "¿En talla L?"]
)
def test_another_size_differs(view, text):
    assert view.kind.named_in(text, WISH, view)[1] == {"variant_id"}


@pytest.mark.parametrize("text", ["The socks in M?", "taille m", "in Größe M, bitte", "plum, at the same price"])
def test_the_size_or_color_that_is_wished_for_is_named(view, text):
    named, differing = view.kind.named_in(text, WISH, view)
    assert "variant_id" in named and not differing


@pytest.mark.parametrize(
    "text",
    [
        "Here's what I'd do:\n- **Cancel {}** (the second one), 418.60 USD back.\n- **Keep {}** (10:41 pm).\n\nOK to go ahead?",
        "I'd keep {1} and cancel {0}. Shall I?",
        "- {1} stays as it is\n- {0} is the one I'd cancel",
        "| {} | cancel |\n| {} | keep |",
        "Ich würde **{}** stornieren und **{}** behalten Sie. Einverstanden?",
        "{1} bleibt bestehen, {0} storniere ich. Recht so?",
        "J'annulerais {} et vous gardez {}. D'accord ?",
        "- {1} : reste en place\n- {0} : à annuler",
        "Cancelaría {} y {} se queda como está. ¿De acuerdo?",
        "Usted conserva {1}; anulo {0}. ¿Sí?",
    ],
)
def test_of_two_orders_the_one_that_is_kept_is_not_the_one_that_is_offered(store, text):
    one, other = "NL-51920", "NL-51934"
    words = text.format(one, other)
    assert one in store.tables["orders"] and store.kind.named_in(words, {"order_id": one}, store)[0] == {"order_id"}
    assert store.kind.named_in(words.replace(one, "NL-00001").replace(other, one), {"order_id": one}, store) == (
        set(),
        {"order_id"},
    )


@pytest.mark.parametrize(
    ("offer", "arguments"),
    [
        ("I'd cancel {mine} (the second one):\n- one case\nand keep {twin}. OK to go ahead?", {"order_id": "mine"}),
        ("Of {twin} and {mine} I can cancel either one, they are the same. Shall I cancel one of them?", {}),
    ],
)
def test_a_yes_to_one_of_two_twins_is_to_the_one_that_goes(store, cases, offer, arguments):
    case = cases["duplicate_order_1"]
    numbers = {"twin": case.order, "mine": case.others["twin"]}
    said, _ = answer(case, store, offer.format(**numbers))
    (act,) = [a for a in said[0].acts if a.kind == "agreed"]
    assert act.arguments == {name: numbers[which] for name, which in arguments.items()}


@pytest.mark.parametrize(
    "text",
    [
        "- socks in green: stay as they are\n- socks in navy: become plum, M\nMay I?",
        "The green pair is left unchanged, the navy one becomes plum in M. OK?",
        "Die Socken in green bleiben so, die in navy werden plum, M. Soll ich?",
    ],
)
def test_a_color_that_stays_leaves_the_new_one_named(view, text):
    assert view.kind.named_in(text, WISH, view)[0] >= {"variant_id"}


@pytest.mark.parametrize("text", ["The navy pair stays, the other becomes green in M. OK?", "I'd make them green, M."])
def test_another_new_color_still_differs(view, text):
    assert view.kind.named_in(text, WISH, view)[1] >= {"variant_id"}


def test_a_yes_beside_an_answer_names_nothing_twice(cases, store):
    asked = (
        "I need the order number and a photo of what came. Once I have both, your yes sends the backpack on its way."
    )
    said, _ = answer(cases["wrong_item_5"], store, asked)
    assert said[0].text.count("NL-67538") == 1


@pytest.mark.parametrize("details", ["x", None, ["L1"], {"line_id": ["L1"]}])
def test_details_of_any_form_are_read_without_an_error(store, details):
    arguments = {"procedure": "term_return", "order_id": next(iter(store.tables["orders"])), "details": details}
    assert store.kind.named_in("the backpack", arguments, store)[0] == set()


PARTLY = """Dear Ms. Achterberg,

1. Meridian Carry-On Pro 36L: I am sorry, but it has been on a trip, so it stays with you.
2. Twin Shoe Case: still wrapped, so it may go back.

Shall I open the return?"""


def test_a_yes_to_one_of_two_things_names_only_that_one(store, cases):
    """The customer used to redefine the offer: "I mean Both: ..."."""
    said, _ = answer(cases["return_used_6"], store, PARTLY)
    (act,) = [a for a in said[0].acts if a.kind == "agreed"]
    assert (act.what, act.arguments["line_ids"]) == ("start_return", ["L2"])
    assert "Both" not in said[0].text and "Carry-On" not in said[0].text


def test_an_offer_in_a_list_under_its_lead_in_names_its_object(store, cases):
    order = cases["missing_item_3"].order
    offer = f"With your agreement, I will send, free of charge:\n\n1 Reserve Power Bank 20K from order {order}.\n\nDo you agree?"
    said, _ = answer(cases["missing_item_3"], store, f"Featherlight Down Blanket: it is in a second parcel.\n\n{offer}")
    assert [a.what for a in said[0].acts if a.kind == "agreed"] == ["create_reshipment"]
    assert "Blanket" not in said[0].text
