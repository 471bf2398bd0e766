"""What strong agents asked about: prompt, articles and tools leave no doubt, and say the same."""

import re

import pytest

from benchmark_lib.store.every_desk import CLOSE, HANDOVER


def plain(text):
    return " ".join(re.sub(r"[*`]", "", text).split())


@pytest.fixture(scope="module")
def texts(store):
    """The prompt, each article, and the tools' descriptions, by name."""
    tools = {name: tool.description for name, tool in store.tools.items()}
    return {"prompt": plain(store.prompt()[0]), **{a["id"]: plain(a["text"]) for a in store.articles}, **tools}


@pytest.mark.parametrize(
    "where, words",
    [
        # Who counts as identified
        ("prompt", "You may look anything up at any time"),
        ("prompt", "what you found yourself proves nothing"),
        ("prompt", "The name in the From line counts; the postcode of a new address does not."),
        ("prompt", "A mistyped number does not count."),
        ("prompt", "Prices, products, delivery times and the rules of the shop may be told to anybody"),
        ("KB-01", "Looking up is always allowed"),
        ("KB-01", "The name in the From line counts as the full name."),
        ("KB-01", "is settled by asking again"),
        ("KB-01", "It holds for all orders of the same customer."),
        # What a yes is
        ("prompt", "A request is not a yes, nor is a yes given in advance"),
        ("KB-02", "Nor is a yes in advance"),
        ("KB-02", "A yes with a condition that your sentence meets"),
        # Dates
        ("KB-08", "count the short transit from today"),
        # Hold or hand over
        ("KB-10", "where the only trouble with the new address is its country"),
        ("KB-31", "An order that has been placed already and is to go to another country is a change of address"),
        ("KB-16", "not the temper and not the number of rounds"),
        ("KB-30", "explain it again, and hand nothing over"),
        ("KB-32", "nobody can grant it"),
        ("KB-33", "say once that this desk has nothing of the kind to give. If the customer then asks for it again"),
        ("KB-23", "A customer who will not name one is told each time"),
        # Ends
        ("prompt", "After the call you write one last message"),
        ("KB-31", "it is the last one that the customer gets from you"),
        (HANDOVER, "After it you write one last message"),
        ("prompt", "Use close_ticket only after the customer has said that nothing is left."),
        ("KB-36", "never in the message that answers, proposes or waits for something"),
        (CLOSE, "once the customer has said that nothing is left"),
    ],
)
def test_it_is_said_without_doubt(texts, where, words):
    assert words in texts[where]


def test_no_article_refers_to_what_no_tool_shows(texts):
    assert not any("still running" in texts[name] for name in texts)
    assert "A claim that has been opened in this conversation stands in the order" in texts["KB-27"]


def test_versions_tell_the_new_texts_apart(store):
    assert (store.info["version"], store.policy["version"], store.prompt()[1]) == ("1.2.0", "1.1.0", "agent-2")
