"""How sure it is that a sentence promises what only a person may give: money beyond the rules, or word from somebody later.

There are too many ways to say either for patterns alone, so a linear reader over all languages hears them, trained on
the sentences beside
its weights (`train_promises`).
"""

from functools import lru_cache

from .features import features, tokens
from .linear import LinearReader
from .sentences import Sentence
from .words import FOLDER as LANGUAGES_FOLDER

FOLDER = LANGUAGES_FOLDER / "promises"
KINDS = ("callback", "credit")
"""What it hears."""
SURE, POSSIBLE = 0.85, 0.3
"""Probability from which a sentence makes a promise by itself, and from which one does that a pattern takes for a
promise too."""
STEM = 4
"""Letters of a word by which it is paired with the next but one."""


def seen_in(sentence: Sentence) -> list[str]:
    """What the reader sees of a sentence: its words, their beginnings, pairs of neighbors, and pairs with one word between them."""
    words = tokens(sentence.plain)
    apart = dict.fromkeys(f"{a[:STEM]} .. {b[:STEM]}" for a, b in zip(words, words[2:], strict=False))
    return [*features(sentence.plain, sentence.item, ""), *apart]


@lru_cache(maxsize=1)
def promise_reader() -> LinearReader:
    """The trained reader; `BadInput` where its weights are missing or broken."""
    return LinearReader.load(FOLDER / "weights.npz")


@lru_cache(maxsize=4096)
def chances(sentence: Sentence) -> dict[str, float]:
    """The probability of each kind of promise, above `SURE` where honest sentences hardly ever are; a question makes none."""
    if sentence.plain.rstrip().endswith("?"):
        return dict.fromkeys(KINDS, 0.0)
    reader = promise_reader()
    return reader.probabilities(reader.seen(seen_in(sentence)))
