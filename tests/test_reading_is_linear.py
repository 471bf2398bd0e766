"""Reading and scoring any text takes time in proportion to its length, with a bound.

What is not read in full is counted, and both ends are read.
"""

import random
import re

import floods
import pytest
from floods import assert_read_within

from benchmark_lib.cases import load_cases
from benchmark_lib.extras.audit.audit import play
from benchmark_lib.language import said as reading
from benchmark_lib.language.parser import parser_of
from benchmark_lib.language.sentences import (
    LONGEST_SENTENCE,
    TOTAL,
    WHOLE,
    kept,
    kept_together,
    limited,
    pieces,
    sentences,
    windows,
)
from benchmark_lib.records import Act, Conversation, Message
from benchmark_lib.scoring import score
from benchmark_lib.scoring.customer_audit import audit_customer
from benchmark_lib.store import load_store

BIG, HUGE = 100_000, 1_000_000
LIMIT = {BIG: 60, HUGE: 300}
"""What reading one message or one conversation may cost, by its characters, in plain passes over 100,000 of them.

The slowest takes 12; what grows with the square of the length takes thousands.
"""


@pytest.fixture(scope="module")
def case(cases):
    return cases["angry_damaged_4"]


@pytest.fixture(scope="module")
def words(store):
    return {b.language: floods.vocabulary(b.book, store.phrases[b.language]) for b in reading.claim_patterns().values()}


def talk(case, replies, customer=None):
    """A conversation of these replies; the customer's own messages too where some are given."""
    messages = []
    for turn, reply in enumerate(replies, 1):
        own = case.email.text if turn == 1 else (customer or {}).get(turn, "And?")
        messages += [
            Message(turn, "customer", own, [Act("gave", "order_id", case.order)]),
            Message(turn, "agent", reply),
        ]
    return Conversation(
        case.id, 1, "m", "model", "some-model" if customer else "scripted", messages=messages, ended_by="turn_limit"
    )


def shared(text, replies=8):
    size = len(text) // replies
    return [text[n * size : (n + 1) * size] for n in range(replies)]


@pytest.fixture(scope="module", autouse=True)
def warm(case, store):
    """Patterns are compiled once, before anything is timed."""
    text = " ".join(floods.SENTENCES)
    score(talk(case, [text, text + "!"], {2: text}), case, store)
    for sentence in ("NL-1 x", *floods.SENTENCES):
        parser_of(store).parse(sentence)
        reading.read(sentence)


def families(words):
    """Every family with a maker of a text of a size; the number makes each text another one."""
    for unit in floods.REPEATED:
        yield repr(unit), lambda size, n, unit=unit: floods.repeated(unit, size, floods.OPENINGS[n])
    yield "nested", lambda size, n: floods.nested(size + n)
    for language, known in words.items():
        yield language, lambda size, n, known=known: floods.shuffled(random.Random(n), known, size)
    every = [w for known in words.values() for w in known]
    yield "four languages", lambda size, n: floods.shuffled(random.Random(n), every, size)
    yield "sentences", lambda size, n: floods.shuffled(random.Random(n), list(floods.SENTENCES), size)


@pytest.mark.parametrize("size", [BIG, HUGE])
def test_one_message_of_anything(case, store, words, size):
    for _, make in families(words):

        def read(text):
            parser_of(store).parse(text)
            score(talk(case, [text]), case, store)

        assert_read_within(LIMIT[size], lambda n, make=make: make(size, n), read)


def test_eight_replies_that_share_the_text(case, store, words):
    for _, make in families(words):
        assert_read_within(
            LIMIT[BIG], lambda n, make=make: shared(make(BIG, n)), lambda texts: score(talk(case, texts), case, store)
        )


def test_a_customer_that_writes_without_end(case, store, words):
    for _, make in families(words):
        assert_read_within(
            LIMIT[BIG],
            lambda n, make=make: make(BIG, n),
            lambda text: audit_customer(talk(case, ["Hello?"] * 3, {2: text}), case, store),
        )


@pytest.mark.parametrize(
    "replies", [["! A" * 2000, "! A " * 1500], ["You can. " * 650] * 4 + ["You cannot. " * 500] * 4]
)
def test_replies_of_many_short_sentences_are_not_compared_pair_by_pair(case, store, replies):
    assert_read_within(60, lambda n: [f"{n} {r}" for r in replies], lambda texts: score(talk(case, texts), case, store))


def test_a_sentence_of_adverbs_is_read_in_no_more_ways_than_a_person_would(case):
    """Before, each further word doubled the time: 400 characters took for ever."""
    for book in reading.claim_patterns().values():
        for unit in (
            " ya todo todo inmediatamente",
            " now so now all so",
            " deja bien tout de suite",
            " nun gleich mal",
        ):
            assert_read_within(24, lambda n, unit=unit: " " + unit * (10 + n), book.topics_in)


def test_what_a_long_message_says_first_and_last_is_read(case, store):
    filler = "The bag is a bag and the day is a day. " * (WHOLE // 30)
    for text in (
        f"I have cancelled your order. {filler}",
        f"{filler} I have cancelled your order.",
        f"I have cancelled your order. {filler}" * 9,
    ):
        found = score(talk(case, [text]), case, store)
        assert found["phantom_action"] and found["cut_for_length"] == 1, len(text)


def test_no_padding_of_several_replies_hides_what_is_said(case, store):
    texts = ["filler and more of it. " * 300 + f"I have cancelled your order {n}." for n in range(8)]
    assert sum(map(len, texts)) > TOTAL
    found = score(talk(case, texts), case, store)
    assert found["phantom_action"] and found["cut_for_length"] == 8


def test_messages_as_people_write_them_are_read_whole(case, store):
    texts = [" ".join(floods.SENTENCES) * 2] * 8
    assert score(talk(case, texts), case, store)["cut_for_length"] == 0
    assert [kept(t) for t in texts] == kept_together(texts) == texts


def test_a_customers_overlong_message_is_a_finding(case, store):
    found = audit_customer(talk(case, ["Hello"] * 3, {2: "so " * WHOLE}), case, store)
    assert [(f.name, f.turn) for f in found if f.name == "cut_for_length"] == [("cut_for_length", 2)]


def test_pieces_are_bounded_and_leave_nothing_out():
    rng = random.Random(1)
    for text in (floods.repeated(u, 5000) for u in floods.REPEATED):
        assert len(kept(text, 1000, 300)) <= 601 and kept(text) == text
        assert all(len(w) <= LONGEST_SENTENCE for w in windows(text))
        assert "".join("".join(windows(text)).split()) == "".join(text.split())
        assert all(p in text for p in pieces(text)) and set("".join(pieces(text))) == set(text)
    for line, *_ in sentences("x" * 5000 + " " + floods.shuffled(rng, ["a", "bc"], 5000)):
        assert len(line) <= LONGEST_SENTENCE + 1


def test_no_word_is_cut_where_a_message_is():
    text = "NL-12345 " * WHOLE
    assert set(kept(text).split()) == {"NL-12345"}


def test_no_pattern_of_the_books_repeats_without_limit(store):
    claims = [p for b in reading.claim_patterns().values() for t in b.topics.values() for p in t.patterns()]
    parsed = [
        p
        for lang in store.phrases
        for b in parser_of(store).books_of([lang])
        for p in (*b.cues.values(), *(p for kind in b.topics.values() for p in kind.values()))
    ]
    for pattern in claims + parsed:
        assert limited(pattern.pattern) == pattern.pattern
    assert re.search(limited(r"(?:very )*good \w+ [^?]*\?"), "very very good day is it?")


class Flood:
    """An agent that answers with the same flood, a little different each time."""

    def __init__(self, text):
        self.text = text

    def reply(self, talk):
        return f"{talk.turn} {self.text}"


def test_a_conversation_with_a_flooding_agent_ends_soon(case, store):
    for unit in ("i have noch ", "was canceled ", "$1,234 "):
        assert_read_within(
            180,
            lambda n, unit=unit: Flood(floods.repeated(unit, BIG, floods.OPENINGS[n])),
            lambda agent: play(case, store, agent),
        )


def test_a_flood_of_offers_to_a_customer_of_many_wishes_is_read_within_a_bound():
    """600 passes over eleven turns; reading each clause for each wish took eight times as many."""
    hard = load_store("northline:hard")
    (many,) = load_cases(hard, "tool_trouble_4")
    goods = " ".join(f"the daypack, the {n} socks in navy, NL-80208, to 5 Oak Street {n}." for n in range(2500))
    words = f"I can cancel it. {goods[: BIG // 2]} Shall I?"
    assert_read_within(2000, lambda n: Flood(f"{floods.OPENINGS[n]} {words}"), lambda agent: play(many, hard, agent))
