"""Nothing that an agent or a customer says can stop or stall a run: made conversations are scored, and any text is read to its end.

`python -m benchmarks.attack` does the same for ten minutes, with more ways in, and holds the goals in seconds; seeds
make each test the same every time.
"""

import random

import pytest
from floods import assert_read_within
from made_runs import talk

from benchmark_lib.scoring import score
from benchmarks.attack import pumps, reading, scores, texts

NUMBERS = {
    "days": "1000000 days",
    "business days": "It takes 1000000 business days.",
    "a long number": "9" * 310,
    "a long amount": "$" + "1" * 4301,
    "a long amount in German": "1" * 4301 + " dollars, 5" + "0" * 400 + " Tage",
    "long decimals": "3." + "1" * 5000 + " hours",
    "a long share": "9" * 400 + "%",
    "a long range": "1" * 320 + " to " + "2" * 320 + " days",
    "a year of five digits": "July 4, 99999 and 12345-12-12",
    "infinity": "1e999 days, inf days, nan USD",
}
TRIED, SIZE = 25, 100_000
HANGING_S = 60.0
"""CPU seconds after which a conversation is held to hang; the slowest takes a quarter of one."""
PASSES = 120
"""Plain passes over a text that reading it may cost: the slowest takes 62."""


@pytest.mark.parametrize("text", NUMBERS.values(), ids=NUMBERS)
def test_a_number_of_any_size_in_a_reply_is_scored(store, cases, text):
    for case in [
        next(c for c in cases.values() if c.bucket == bucket)
        for bucket in ("resolvable", "must_escalate", "adversarial")
    ]:
        made = talk(case.email.text, text, text, f"We promise: {text}.", case_id=case.id, customer="some-model")
        assert score(made, case, store)["scored"]


@pytest.mark.parametrize("first", range(0, 160, 40))
def test_made_conversations_are_played_and_scored_without_an_exception(first):
    found = {seed: scores.attack_one(seed, HANGING_S) for seed in range(first, first + 40)}
    assert {seed: raised for seed, (*raised, _) in found.items() if any(raised)} == {}
    assert [seed for seed, (*_, seconds) in found.items() if seconds >= HANGING_S] == []


@pytest.mark.parametrize("name", reading.READERS)
def test_any_text_is_read_at_a_small_multiple_of_a_plain_pass(name):
    reader, rng = reading.READERS[name], random.Random(name)
    for sentence in reading.ORDINARY:
        reader(sentence)
    parts = [
        *texts.KNOWN.values(),
        *(pumps.pump(rng) for _ in range(TRIED)),
        *(texts.family(rng) for _ in range(TRIED // 3)),
    ]
    for part in parts:
        assert_read_within(PASSES, lambda n, part=part: texts.repeated(part, SIZE, f" {n}"), reader)
