"""Train the reader of a store's reasons, a part of ``make reader``.

The store's ``reasons/*.jsonl`` have one message per line: ``lang``, ``reason``, ``t``, and ``told``, which is true if
the message gives the reason. The scripted agents' sentences give their reason. Messages in ``reader/*.jsonl`` that
decline nothing give no reason.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .linear import LinearReader
from .parser import Phrases
from .reasons import ALWAYS, ReasonReader
from .train import hash_of, lines, matrix

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STRENGTH = 0.15
"""Inverse strength of the penalty on weights, the C of scikit-learn; chosen by cross-validation."""
OWN = 1.5
"""Factor on a reason's own weights relative to shared ones: granting cancels every reason."""
OTHER, UNRELATED = 0.1, 0.03
"""Weight of a message for a reason that it was not written for, and of a message written for none."""
RARE, SMALL = 3, 0.004
"""Minimum number of messages with a feature, and smallest weight kept."""
PASSING = 0.1
"""Share of misleading messages that may pass in cross-validation; it sets the bound."""
FOLDS = 5
MAY_TELL = {"ask:photo", "ask:label", "ask:item"}
"""Requests that a message may make because it cannot act without them; such a message is no counterexample."""


class Told(NamedTuple):
    """A message with the reasons it gives and those it only seems to give."""

    text: str
    told: frozenset[str]
    not_told: frozenset[str]
    weight: float


def examples(store: Phrases) -> list[Told]:
    """Return the messages to train on."""
    told: dict[str, set[str]] = defaultdict(set)
    seeming: dict[str, set[str]] = defaultdict(set)
    for row in lines(store.path / "reasons", "reason"):
        (told if row["told"] else seeming)[str(row["t"])].add(str(row["reason"]))
    for book in store.phrases.values():
        for name, entry in (book.get("reasons") or {}).items():
            for say in entry["say"].values():
                told[say].add(name)
    messages = [Told(t, frozenset(told[t]), frozenset(seeming[t]), OTHER) for t in dict.fromkeys([*told, *seeming])]
    for row in lines(store.path / "reader", "sentences"):
        labels = {label for sentence in row["sentences"] for label in sentence["l"]}
        if not labels & MAY_TELL and not any(label.startswith("no:") for label in labels):
            text = "\n".join(sentence["t"] for sentence in row["sentences"])
            messages.append(Told(text, frozenset(), frozenset(), UNRELATED))
    return messages


class _Samples:
    """Every stretch of every message for every reason: features, label and weight."""

    def __init__(self, store: Phrases, rows: list[Told]):
        empty = LinearReader([], [], np.zeros((0, 0)), np.zeros(0))
        reader = ReasonReader(store.path / "reasons", empty)
        self.reasons = sorted(set().union(*(row.told for row in rows)))
        seen = [(number, features) for number, row in enumerate(rows) for features in reader.features(row.text)]
        counts = Counter(name for _, features in seen for name in features)
        self.names = sorted(name for name, n in counts.items() if n >= RARE or name == ALWAYS)
        self.plain = matrix([dict.fromkeys(sorted(features), 1.0) for _, features in seen], self.names)
        self.rows = [(place, number, r) for place, (number, _) in enumerate(seen) for r in range(len(self.reasons))]
        pairs = [(rows[number], self.reasons[r]) for _, number, r in self.rows]
        self.told = np.array([reason in row.told for row, reason in pairs])
        own = [reason in row.told | row.not_told for row, reason in pairs]
        self.own = np.array(own)
        self.weight = np.array([1.0 if mine else row.weight for (row, _), mine in zip(pairs, own, strict=True)])
        self.message = np.array([number for _, number, _ in self.rows])
        self.reason = np.array([r for *_, r in self.rows])

    def matrix(self) -> csr_matrix:
        """Return the features that all reasons share, followed by those of each reason."""
        from scipy.sparse import diags, hstack

        plain = self.plain[np.array([place for place, *_ in self.rows])]
        own = [diags((self.reason == r) * OWN) @ plain for r in range(len(self.reasons))]
        return hstack([plain, *own]).tocsr()


def train(store: Phrases, rows: list[Told], trained_on: str = "") -> tuple[LinearReader, dict[str, float]]:
    """Fit the weights; return them with the shares ``found`` and ``passing`` on left-out parts."""
    from sklearn.model_selection import GroupKFold

    samples = _Samples(store, rows)
    every = samples.matrix()
    scores = np.zeros(len(samples.told))
    for rest, test_rows in GroupKFold(FOLDS).split(every, groups=samples.message):
        scores[test_rows] = every[test_rows] @ _fit(every[rest], samples.told[rest], samples.weight[rest])
    told, seeming = _best(samples, scores, True), _best(samples, scores, False)
    bound = float(np.quantile(seeming, 1 - PASSING))
    shared, *own = np.split(_fit(every, samples.told, samples.weight), len(samples.reasons) + 1)
    weights = np.stack([shared + OWN * own_weights for own_weights in own], axis=1)
    weights[np.abs(weights) < SMALL] = 0
    weights[samples.names.index(ALWAYS)] -= bound
    used = np.abs(weights).sum(axis=1) > 0
    names = [name for name, keep in zip(samples.names, used, strict=True) if keep]
    reader = LinearReader(names, samples.reasons, weights[used], np.zeros(len(samples.reasons)), trained_on)
    return reader, {"found": float((told > bound).mean()), "passing": float((seeming > bound).mean())}


def _best(samples: _Samples, scores: np.ndarray, told: bool) -> np.ndarray:
    best: dict[tuple[int, int], float] = {}
    for at in np.flatnonzero(samples.own & (samples.told == told)):
        key = (int(samples.message[at]), int(samples.reason[at]))
        best[key] = max(best.get(key, -np.inf), float(scores[at]))
    return np.array(list(best.values()))


def _fit(rows: csr_matrix, told: np.ndarray, weight: np.ndarray) -> np.ndarray:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=STRENGTH, solver="liblinear", fit_intercept=False, max_iter=3000, random_state=0)
    return model.fit(rows, told, sample_weight=weight).coef_[0]


def write(store: Phrases) -> str:
    """Train the reader of a store's reasons, write its weights, and return its quality as text."""
    folder = store.path / "reasons"
    reader, quality = train(store, examples(store), hash_of(folder))
    reader.save(folder / "weights.npz")
    return (
        f"{folder / 'weights.npz'}: {reader.size} features; in cross-validation {quality['found']:.0%} of the "
        "reasons are found and "
        f"{quality['passing']:.0%} of what only seems to be one passes"
    )
