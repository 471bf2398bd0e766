"""What strong agents asked about: prompt, articles and tools leave no doubt, and say the same."""

import re

import pytest

from benchmark_lib.cases import load_cases
from benchmark_lib.store import load_store
from benchmark_lib.store.desk import CLOSE, HANDOVER
from benchmark_lib.textfiles import render


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
        ("KB-02", "Whom you are writing to is settled before that."),
        ("KB-02", "A yes that came before the photo still holds"),
        ("KB-02", "is a yes to that part: do it without asking again"),
        # Lines with several pieces, and what a swap costs
        ("KB-09", "A line with several pieces is changed as a whole"),
        ("KB-11", "A change goes to the whole line, a cancellation to the whole order"),
        ("KB-11", "the customer chooses on the return page how many pieces go back"),
        ("KB-12", "neither can one piece of a line with several"),
        ("KB-15", "we neither charge nor pay out a difference"),
        ("KB-31", "So it is for the difference in price to another size"),
        ("KB-33", "the difference in price to another size"),
        # Chargebacks and scans
        ("KB-29", "At once means in your next message, without a question and without a yes."),
        ("KB-29", "no replacement, no reshipment, no cancellation"),
        ("KB-25", "Every entry on the tracking page counts as a scan"),
        ("KB-18", "A yes to the same offer that came before the photo is enough."),
        ("KB-18", "the photo may follow later, also after the last day"),
        ("KB-18", "may be named beside the photo, not instead of it"),
        ("KB-21", "damage that was reported in time stays reported"),
        ("KB-26", "The claim, unlike the handover, needs the identity check first"),
        # Dates
        ("KB-08", "count the short transit from today"),
        ("KB-08", "From the last packing day on, the long count begins today as well."),
        ("KB-08", "or on one of these two: it may work, and it may not"),
        # Hold or hand over
        ("KB-10", "where the only trouble with the new address is its country"),
        ("KB-31", "An order that has been placed already and is to go to another country is a change of address"),
        ("KB-16", "not the temper and not the number of rounds"),
        ("KB-30", "explain it again, and hand nothing over"),
        ("KB-32", "nobody can grant it"),
        ("KB-33", "say once that this desk has nothing of the kind to give. If the customer then asks for it again"),
        ("KB-33", "hand over, after everything else that can be done now"),
        ("KB-33", "That no needs no check"),
        ("KB-33", "which means after that no and not before it"),
        ("KB-33", "Of a used thing such a demand counts the first time"),
        # One reading each
        ("KB-10", "do not ask for a street address in its place"),
        ("KB-10", "A replacement or a reshipment goes to the address of its order"),
        ("KB-14", "without it they count as used"),
        ("KB-18", "also where the new one is asked for as an exception"),
        ("KB-18", "the first report, also one in an earlier message"),
        ("KB-28", "placed within 24 hours of each other"),
        ("KB-30", "rounded to the nearest cent at the end, half a cent up"),
        ("KB-34", "nothing else is done or answered first"),
        ("KB-35", "Abuse and fraud are about danger"),
        ("KB-33", "asks for nothing but something of the kind, and nothing else is open"),
        ("KB-13", "one who cannot prove it is passed on without the day"),
        ("KB-31", "this queue, not the one for demands of money"),
        ("KB-34", "the first time and before any check, without a warning"),
        ("KB-34", "That is the answer to the first message that asks for a person"),
        (
            "KB-23",
            "If there is none after you have asked twice, the last of the three points below can be done without it",
        ),
        ("KB-23", "Your first question counts as one of the two."),
        ("KB-23", "also if it goes through a whole list of items"),
        ("KB-12", "is still asking for the same thing"),
        ("KB-16", "are not handed over however they are asked for"),
        ("KB-13", "without waiting for an answer in between; whatever else is open comes first"),
        ("KB-31", "you need not ask first whether it is to be kept"),
        ("KB-10", "you need neither an order number nor a check"),
        ("KB-10", "A name from the customer's address book, or from another order, is new as well"),
        ("KB-30", "Cancelling and ordering again may be named once"),
        # Returns and what becomes of things
        ("KB-13", "If the customer has not said whether the item was used, ask"),
        ("KB-19", "The faulty one does not have to be sent back first"),
        ("KB-28", "the delivery charge of the one that comes back stays"),
        ("KB-28", "A twin in somebody else's account is neither told of nor touched"),
        ("KB-38", "a smaller one, such as a Medium, takes one"),
        ("KB-30", "or is for a first order only"),
        ("KB-35", "is named as found by you and not verified"),
        # Tracking words and parcels
        ("KB-07", "From here the order counts as packed"),
        ("KB-03", "until the carrier has collected the parcel"),
        *(
            (kb, "an email brings its tracking link when the carrier has it")
            for kb in ("KB-18", "KB-19", "KB-22", "KB-23", "KB-26")
        ),
        ("KB-05", "A holiday that does not stand here is a business day"),
        ("KB-24", "A parcel whose label has not been printed yet is not on the order so far"),
        ("KB-24", "which is the last day of its delivery window"),
        # What comes back of an order with a code
        ("KB-17", "Of several lines each is rounded by itself, then they are added up"),
        ("KB-17", "You may name the exact sum that it gives for an item before the item has come back"),
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


def test_the_example_of_a_share_is_counted_right(texts):
    off, first, second, both, back, share = (
        float(n)
        for n in re.search(
            r"took ([\d.]+) USD off two lines of ([\d.]+) USD and ([\d.]+) USD, together ([\d.]+) USD\. .*?so ([\d.]+) USD is paid back; its share was ([\d.]+) USD\.",
            texts["KB-17"],
        ).groups()
    )
    assert both == pytest.approx(first + second)
    assert (back, share) == (round(first * (both - off) / both, 2), round(first * off / both, 2))


@pytest.fixture(scope="module")
def hard_texts():
    """The articles that one hard case or another reads, by id."""
    hard = load_store("northline:hard")
    seen = [hard.of(case).articles for case in load_cases(hard, "policy_in_time_4,policy_in_time_8,arithmetic_6")]
    return {a["id"]: plain(a["text"]) for articles in seen for a in articles}


@pytest.mark.parametrize(
    "where, words",
    [
        ("KB-42", "is no decision"),
        ("KB-42", "An earlier ticket in which damage was reported counts as the report"),
        ("KB-42", "and none of the three queues below has decided on it"),
        ("KB-43", "the battery comes first, then the button"),
        ("KB-43", "that matter stays open, nothing is handed over for it"),
        ("KB-44", "Pins and the contacts in a port are meant to be seen."),
        ("KB-44", "A threat against us with a lawyer, a court or an authority is not in this table"),
        ("KB-44", "so is a journalist, or somebody with a column or a blog, who wants an ordinary matter settled"),
        ("KB-65", "the day of delivery is day zero, the last day counts"),
        ("KB-70", "The hours run round the clock"),
        ("KB-70", "wherever the customer lives"),
        ("KB-71", "each line rounded to the cent by itself"),
    ],
)
def test_articles_of_the_hard_set_say_it_without_doubt(hard_texts, where, words):
    assert words in hard_texts[where]


@pytest.mark.parametrize("cents, paid", [(1450, 1233), (1430, 1216), (50, 43)])
def test_half_a_cent_is_rounded_up_as_the_articles_say(cents, paid):
    assert render("{{ (cents * 85 / 100) | round | int }}", "a key", cents=cents) == str(paid)


def test_no_article_refers_to_what_no_tool_shows(texts):
    assert not any("still running" in texts[name] for name in texts)
    assert "A claim that has been opened in this conversation stands in the order" in texts["KB-27"]


def test_versions_tell_the_new_texts_apart(store):
    assert (store.info["version"], store.policy["version"], store.prompt()[1]) == ("1.12.0", "1.1.0", "agent-3")
