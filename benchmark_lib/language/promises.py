"""Estimate how likely a sentence promises extra money or a later message.

The wordings are too many for patterns alone. A linear reader over all languages is trained on the sentences in the
folder of its weights (`train_promises`).
"""

from functools import lru_cache

from .linear import LinearReader, features, tokens
from .sentences import Sentence
from .word_lists import FOLDER as LANGUAGES_FOLDER

FOLDER = LANGUAGES_FOLDER / "promises"
KINDS = ("callback", "credit")
"""Kinds of promises."""
SURE, POSSIBLE = 0.85, 0.3
"""Probability from which a sentence is a promise alone, and together with a matching pattern."""
STEM = 4
"""Letters of a word that are paired with the next but one."""


def seen_in(sentence: Sentence) -> list[str]:
    """Return the reader's features of a sentence: words, beginnings and pairs of words."""
    words = tokens(sentence.plain)
    skipping = dict.fromkeys(f"{a[:STEM]} .. {b[:STEM]}" for a, b in zip(words, words[2:], strict=False))
    return [*features(sentence.plain, sentence.item, ""), *skipping]


@lru_cache(maxsize=1)
def promise_reader() -> LinearReader:
    """Return the trained reader; raise `BadInput` if its weights are missing or broken."""
    return LinearReader.load(FOLDER / "weights.npz")


@lru_cache(maxsize=4096)
def chances(sentence: Sentence) -> dict[str, float]:
    """Return each kind of promise with its probability; a question promises nothing."""
    if sentence.plain.rstrip().endswith("?"):
        return dict.fromkeys(KINDS, 0.0)
    reader = promise_reader()
    return reader.probabilities(reader.seen(seen_in(sentence)))
