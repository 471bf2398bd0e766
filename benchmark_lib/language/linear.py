"""Read sentences with a trained linear model: a probability for each act, from feature weights (see `train`)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import BadInput


class Seen(NamedTuple):
    """Features seen in a sentence: sum of their weights, shape (targets,), and square of their length."""

    total: np.ndarray
    squared: float


class LinearReader:
    """Weights of a logistic regression for each target.

    Targets are ``ask``, ``yes``, ``offer``, ``done``, ``no`` and ``bye`` for the act, ``slot:...`` and ``tool:...`` for
    the topic. Weights have shape (features, targets), the bias (targets,). `trained_on` is the hash of the sentences.
    """

    def __init__(
        self, features: list[str], targets: list[str], weights: np.ndarray, bias: np.ndarray, trained_on: str = ""
    ):
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
        """Return the probability of each target for a sentence, with its features scaled to length one."""
        total = self._bias + seen.total / math.sqrt(seen.squared or 1.0)
        return dict(zip(self.targets, (1.0 / (1.0 + np.exp(-total))).tolist()))

    def save(self, path: Path) -> None:
        """Write the weights that are not zero."""
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
                return cls(features, labels, weights, kept["bias"], trained_on)
        except (OSError, KeyError, ValueError, IndexError) as error:
            why = f"the weights of the reader cannot be read ({error}); make them again with `make reader`"
            raise BadInput(f"{path}: {why}") from None
