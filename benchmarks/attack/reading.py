"""Part: texts made to be slow to read, for every reader of texts.

The texts that are slowest at a small size are tried again at large sizes.
"""

import asyncio
import itertools
import math
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import orjson

from . import pumps, texts
from .figure import Figure, at_most, cpu_seconds

SMALL, MIDDLE, LARGE = 16_000, 100_000, 1_000_000
"""Characters of a text: to find the slow ones, and the two sizes that have goals."""
GOALS = {MIDDLE: 0.1, LARGE: 1.0}
"""CPU seconds that a text of this size may take."""
GIVEN_UP = 5.0
"""Multiple of its goal after which a text is given up."""
AGAIN = 2
"""Number of times that a text over its goal is read again; the fastest counts, since the machine may be shared."""
ORDINARY = (
    "Shall I cancel NL-51386? It costs $12.50, and takes 3 to 5 days.",
    "¿Quiere que cancele el pedido NL-51386? Cuesta 12,50 $ y tarda de 3 a 5 días.",
    "Voulez-vous que j'annule la commande NL-51386 ? Elle coûte 12,50 $ et prend de 3 à 5 jours.",
    "Soll ich die Bestellung NL-51386 stornieren? Sie kostet 12,50 $ und dauert 3 bis 5 Tage.",
)
"""Texts read first, so that loading on first use (one file per language) does not count as a text's cost."""
KEPT = 8
"""Number of the slowest small texts that are tried at the sizes with goals."""

Part = tuple[str, str, str]
_number = itertools.count(1)


@lru_cache(maxsize=1)
def _desk() -> tuple[Any, Any, Any]:
    """Return the store, a trap, and the case with the most facts to tell."""
    from benchmark_lib import load_cases, load_store

    store = load_store()
    cases = load_cases(store)
    return store, next(c for c in cases if c.bucket == "adversarial"), max(cases, key=lambda c: len(c.facts))


def hear(text: str) -> None:
    """Parse a message."""
    from benchmark_lib.language.parser import parser_of

    parser_of(_desk()[0]).parse(text)


def score_one(text: str) -> None:
    """Score a conversation in which the agent's first reply is this text, in a case with facts."""
    _score(_desk()[2], [text])


def score_eight(text: str) -> None:
    """Score a conversation with the text spread over eight replies, in a trap."""
    step = len(text) // 8 + 1
    _score(_desk()[1], [f"{text[i : i + step]} {i}" for i in range(0, len(text), step)])


def _score(case: Any, said: list[str], customer: str = "scripted") -> None:
    from benchmark_lib.records import Conversation, Message
    from benchmark_lib.scoring import score

    c = Conversation(case.id, 1, "made", "model", customer, ended_by="turn_limit")
    for turn, text in enumerate(said, 1):
        answer = text if customer != "scripted" and turn > 1 else case.email.text
        c.messages += [
            Message(turn, "customer", answer),
            Message(turn, "agent", text if customer == "scripted" else "Yes?"),
        ]
    score(c, case, _desk()[0])


def audit(text: str) -> None:
    """Audit a model customer that writes this text."""
    _score(_desk()[1], ["-", text], customer="some-model")


def model_customer(text: str) -> None:
    """Read a model customer's answer, and the message of a well-formed answer."""
    from benchmark_lib.conversation import CustomerFault, make_customer
    from benchmark_lib.conversation.speaker import ConversationState
    from benchmark_lib.records import Message

    from .conversations import completion

    store, case, _ = _desk()
    answers = itertools.cycle([text, orjson.dumps({"message": text, "acts": [], "end": False}).decode()])

    async def complete(*_: Any, **__: Any) -> Any:
        return completion(next(answers))

    talk = ConversationState(case, store.desk(), trial=1, seed=0, prompt="-", tools=[])
    talk.messages += [Message(1, "customer", case.email.text), Message(1, "agent", "May I have your order number?")]
    talk.desk.turn = 2
    with suppress(CustomerFault):  # an unusable answer is the customer's fault, and must be detected quickly
        asyncio.run(make_customer("some-model", case=case, store=store, complete=complete).reply(talk))


READERS: dict[str, Callable[[str], None]] = {
    "message parser": hear,
    "score, one reply": score_one,
    "score, eight replies": score_eight,
    "customer audit": audit,
    "model customer": model_customer,
}
"""Readers of what is said, by name."""


def seconds_for(reader: Callable[[str], None], part: Part, size: int, goal: float) -> tuple[float, bool]:
    """Return the CPU seconds of reading a text of this size, and whether it was given up.

    The text is always a new one, because readers cache what they read.
    """
    quickest = math.inf
    for _ in range(1 + AGAIN):
        text = texts.repeated(part, size, f" {next(_number)}")
        took, cut = cpu_seconds(lambda: reader(text), GIVEN_UP * goal)
        quickest = min(quickest, took)
        if cut or quickest <= goal:
            break
    return quickest, cut


def measure(seed: int, seconds: float) -> Iterator[Figure]:
    """Yield the figures of this part, two for each reader."""
    began = time.monotonic()
    for place, (name, reader) in enumerate(READERS.items(), 1):
        until = began + 0.95 * seconds * place / len(READERS)
        for sentence in ORDINARY:
            reader(sentence)
        yield from _figures(name, reader, random.Random(f"{seed} {name}"), until)


def _figures(name: str, reader: Callable[[str], None], rng: random.Random, until: float) -> Iterator[Figure]:
    began, tried = time.monotonic(), {}
    parts = itertools.chain(
        texts.KNOWN.values(), iter(lambda: (pumps.pump if rng.random() < 0.7 else texts.family)(rng), None)
    )
    for part in parts:
        tried[part] = max(seconds_for(reader, part, SMALL, GOALS[MIDDLE])[0], tried.get(part, 0.0))
        if time.monotonic() > began + (until - began) / 2 and len(tried) >= len(texts.KNOWN):
            break
    worst = sorted(tried, key=tried.__getitem__, reverse=True)[:KEPT]
    hopeless = {
        part: took for part, took in tried.items() if took > GOALS[MIDDLE]
    }  # a large text could not even be given up
    for size, goal in GOALS.items():
        slowest, cut, by = 0.0, False, worst[0]
        for part in worst:
            took, given_up = (hopeless[part], True) if part in hopeless else seconds_for(reader, part, size, goal)
            if given_up:
                hopeless[part] = took
            if (given_up, took) > (cut, slowest):
                slowest, cut, by = took, given_up, part
            if cut or (time.monotonic() > until and slowest > 0):
                break
        what = f"{name}: slowest {size // 1000:,} kB of {len(tried):,} texts, CPU ({texts.repeated(by, 24)[:36]!r} ...)"
        yield at_most(what, slowest, goal, "s", cut)
