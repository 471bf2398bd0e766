"""Which color and size an offer names: what looks like a size and is none is no other size than the one that is wished for."""

import pytest

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
    assert view.kind.named_in(text, WISH, view) == (set(), set())


@pytest.mark.parametrize(
    "text", ["I'd change the socks to L.", "Je les change en taille l?", "Ich nehme Größe S.", "¿En talla L?"]
)
def test_another_size_differs(view, text):
    assert view.kind.named_in(text, WISH, view) == (set(), {"variant_id"})


@pytest.mark.parametrize("text", ["The socks in M?", "taille m", "in Größe M, bitte", "plum, at the same price"])
def test_the_size_or_color_that_is_wished_for_is_named(view, text):
    assert view.kind.named_in(text, WISH, view) == ({"variant_id"}, set())
