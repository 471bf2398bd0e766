"""A linear reader: features of a sentence, and the probability of each label."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import orjson

from ..errors import BadInput

_LINK = re.compile(r"https?://\S{1,300}")
_ID = re.compile(r"\b[a-z]{1,4}-?\d[\w-]*")
_MONEY = re.compile(r"[$€£] ?\d[\d.,]*|\d[\d.,]* ?[$€£]")
_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(r"[^\W_]+|[?!:;,.|/]")

KNOWN = 2.0
"""Weight of a pattern from a phrase file, relative to the weight of a word."""

STEM = 5
"""Number of initial letters that represent all forms of a longer word."""


def tokens(plain: str) -> list[str]:
    """Return the words and marks of a `plain` sentence; a link, number or amount is one word."""
    text = _LINK.sub(" xlinkx ", plain) if "://" in plain else plain
    if _DIGITS.search(text):
        text = _DIGITS.sub(" 0 ", _MONEY.sub(" xmoneyx ", _ID.sub(" xidx ", text)))
    return _TOKEN.findall(text)


def features(plain: str, item: bool, before: str) -> list[str]:
    """Return a sentence's distinct words, beginnings, pairs and marks, and the mark before it."""
    words = tokens(plain)
    names = [*words, *(f"p={w[:STEM]}" for w in words if len(w) > STEM)]
    names += [f"{a} {b}" for a, b in zip(["^", *words], [*words, "$"])]
    names.append(f"before={before}")
    if plain.rstrip(" _)").endswith("?"):
        names.append("asks=")
    if item:
        names.append(f"item={before}")
    return list(dict.fromkeys(names))


def of_patterns(names: Iterable[str]) -> list[str]:
    """Return the features of the patterns that a sentence matches, without repetition."""
    return [f"r={name}" for name in dict.fromkeys(names)]


class Seen(NamedTuple):
    """Features of a sentence: sum of weights, shape (targets,), and square of their length."""

    total: np.ndarray
    squared: float


class LinearReader:
    """Weights of a logistic regression for each target.

    Targets are ``ask``, ``yes``, ``offer``, ``done``, ``no`` and ``bye`` for the act, ``slot:...`` and ``tool:...`` for
    the topic. Weights have shape (features, targets), the bias (targets,). `trained_on` is the hash of the sentences;
    `cuts` holds each act's probabilities at the rates in `RATES`.
    """

    def __init__(
        self, features: list[str], targets: list[str], weights: np.ndarray, bias: np.ndarray, trained_on: str = ""
    ):
        self.cuts: dict[str, list[float]] = {}
        self.targets, self.trained_on = targets, trained_on
        self._row = {name: place for place, name in enumerate(features)}
        self._weights, self._bias = np.ascontiguousarray(weights, dtype=np.float32), bias.astype(np.float64)

    @property
    def size(self) -> int:
        """Return the number of features with a weight."""
        return len(self._row)

    def seen(self, features: Iterable[str], count: float = 1.0, before: Seen | None = None) -> Seen:
        """Add new features, each once and weighted by `count`, to those seen before."""
        names = list(features)
        places = [self._row[name] for name in names if name in self._row]
        total = before.total if before else np.zeros(len(self.targets), dtype=np.float32)
        if places:
            total = total + count * np.add.reduce(self._weights.take(places, axis=0), axis=0)
        return Seen(total, (before.squared if before else 0.0) + count * count * len(names))

    def probabilities(self, seen: Seen) -> dict[str, float]:
        """Return each target's probability for a sentence, with its features scaled to length one."""
        total = self._bias + seen.total / math.sqrt(seen.squared or 1.0)
        return dict(zip(self.targets, (1.0 / (1.0 + np.exp(-total))).tolist()))

    def save(self, path: Path) -> None:
        """Write the nonzero weights."""
        place, target = np.nonzero(self._weights)
        names = sorted(self._row, key=self._row.__getitem__)
        np.savez_compressed(
            path,
            features=np.frombuffer("\n".join(names).encode(), dtype=np.uint8),
            targets=np.frombuffer("\n".join(self.targets).encode(), dtype=np.uint8),
            place=place.astype(np.uint32),
            target=target.astype(np.uint8),
            weights=self._weights[place, target].astype(np.float16),
            bias=self._bias,
            trained_on=np.frombuffer(self.trained_on.encode(), dtype=np.uint8),
            cuts=np.frombuffer(orjson.dumps(self.cuts), dtype=np.uint8),
        )

    @classmethod
    def load(cls, path: Path) -> LinearReader:
        """Read the weights; raise `BadInput` if they are missing or broken."""
        try:
            with np.load(path, allow_pickle=False) as kept:
                texts = ("features", "targets", "trained_on")
                names, targets, trained_on = (bytes(kept[key]).decode() for key in texts)
                features, labels = names.split("\n"), targets.split("\n")
                weights = np.zeros((len(features), len(labels)), dtype=np.float32)
                weights[kept["place"], kept["target"]] = kept["weights"]
                reader = cls(features, labels, weights, kept["bias"], trained_on)
                reader.cuts = orjson.loads(bytes(kept["cuts"])) if "cuts" in kept else {}
                return reader
        except (OSError, KeyError, ValueError, IndexError) as error:
            why = f"the reader's weights cannot be read ({error}); rebuild them with `make reader`"
            raise BadInput(f"{path}: {why}") from None
