"""Nothing that an agent or a customer says can stop or stall a run: made conversations are scored, and any text is read in linear time.

`python -m benchmarks.attack` does the same for ten minutes, with more ways in; seeds make each test the same every
time.
"""

import random

import pytest
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
TRIED, KEPT, SMALL, LARGE = 40, 5, 8_000, reading.MIDDLE
GOAL_S = reading.GOALS[LARGE]
FASTER_THAN_LINEAR = 3.0
"""Times by which a text may take longer than its length says.

A tenth for a text twelve times as long would be 12, the square 156.
"""


@pytest.mark.parametrize("text", NUMBERS.values(), ids=NUMBERS)
def test_a_number_of_any_size_in_a_reply_is_scored(store, cases, text):
    for case in [
        next(c for c in cases.values() if c.bucket == bucket)
        for bucket in ("resolvable", "must_escalate", "adversarial")
    ]:
        made = talk(case.email.text, text, text, f"We promise: {text}.", case_id=case.id, customer="some-model")
        assert score(made, case, store)["scored"]


@pytest.mark.parametrize("first", range(0, 240, 40))
def test_made_conversations_are_played_and_scored_without_an_exception(first):
    found = {seed: scores.attack_one(seed) for seed in range(first, first + 40)}
    assert {seed: raised for seed, (*raised, _) in found.items() if any(raised)} == {}
    assert {seed: seconds for seed, (*_, seconds) in found.items() if seconds > scores.SLOWEST_S} == {}


@pytest.mark.parametrize("name", reading.READERS)
def test_reading_takes_time_in_proportion_to_the_text(name):
    reader, rng = reading.READERS[name], random.Random(name)
    reader("Shall I cancel NL-51386? It costs $12.50, and takes 3 to 5 days.")
    parts = [
        *texts.KNOWN.values(),
        *(pumps.pump(rng) for _ in range(TRIED)),
        *(texts.family(rng) for _ in range(TRIED // 3)),
    ]
    small = {part: reading.seconds_for(reader, part, SMALL, GOAL_S / 2)[0] for part in parts}
    slow = {part: f"{seconds:.2f} s for {SMALL} characters" for part, seconds in small.items() if seconds > GOAL_S}
    for part in [] if slow else sorted(small, key=small.__getitem__)[-KEPT:]:
        seconds, cut = reading.seconds_for(reader, part, LARGE, GOAL_S)
        growth = seconds / small[part] / (LARGE / SMALL)
        if cut or (seconds > GOAL_S and growth > FASTER_THAN_LINEAR):
            slow[part] = f"{seconds:.2f} s for {LARGE}, {growth:.1f} times what its length says"
    assert slow == {}
