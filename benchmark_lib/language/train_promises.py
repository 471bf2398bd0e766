"""Train the promise reader, a part of ``make reader``.

``data/languages/promises/*.jsonl`` have one sentence of an agent per line: ``lang``, ``kind`` (``callback``, ``credit``
or ``none``) and ``t``. Honest agents wrote the sentences of ``played.jsonl``; the bound lets few of them pass.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from .linear import LinearReader
from .promises import FOLDER, KINDS, seen_in
from .train import as_one, hash_of, lines, matrix, of_length_one

STRENGTH = 30.0
"""Inverse strength of the penalty on weights, the C of scikit-learn; chosen by cross-validation."""
RARE, SMALL, FOLDS = 2, 0.02, 5
"""Minimum number of sentences with a feature, smallest weight kept, and number of parts of the cross-validation."""
PLAYED = "played"
"""Language tag of sentences that honest agents said, in any language."""
PASSING, TEMPTING = 0.0005, 0.04
"""Shares that may pass in cross-validation: of these (about fifteen in a conversation), and of misleading sentences."""


class PromiseQuality(NamedTuple):
    """Shares in cross-validation: promises found; misleading and played sentences that pass."""

    found: float
    tempting: float
    played: float


def train(rows: list[dict[str, Any]], trained_on: str = "") -> tuple[LinearReader, dict[str, PromiseQuality]]:
    """Fit the reader; return it with its quality for each kind in cross-validation."""
    from sklearn.model_selection import StratifiedKFold

    rows_seen = [of_length_one(dict.fromkeys(seen_in(as_one(row["t"])), 1.0)) for row in rows]
    counts = Counter(name for one in rows_seen for name in one)
    names = sorted(name for name, n in counts.items() if n >= RARE)
    seen, kinds = matrix(rows_seen, names), np.array([row["kind"] for row in rows])
    played = np.array([row["lang"] == PLAYED for row in rows])
    tempting = ~played & (kinds == "none")
    folds = list(
        StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(
            seen, np.unique([f"{r['lang']} {r['kind']}" for r in rows], return_inverse=True)[1]
        )
    )
    weights, bias, quality = [], [], {}
    for kind in KINDS:
        wanted, scores = kinds == kind, np.zeros(len(rows))
        for rest, test_rows in folds:
            scores[test_rows] = _fit(seen[rest], wanted[rest]).decision_function(seen[test_rows])
        bound = max(float(np.quantile(scores[played], 1 - PASSING)), float(np.quantile(scores[tempting], 1 - TEMPTING)))
        quality[kind] = PromiseQuality(*(float((scores[of] > bound).mean()) for of in (wanted, tempting, played)))
        model = _fit(seen, wanted)
        weights.append(model.coef_[0])
        bias.append(float(model.intercept_[0]) - bound)
    together = np.stack(weights, axis=1)
    together[np.abs(together) < SMALL] = 0
    used = np.abs(together).sum(axis=1) > 0
    kept = [name for name, keep in zip(names, used, strict=True) if keep]
    return LinearReader(kept, list(KINDS), together[used], np.array(bias), trained_on), quality


def _fit(rows: Any, wanted: np.ndarray) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=STRENGTH, solver="liblinear", max_iter=500, random_state=0).fit(rows, wanted)


def write() -> str:
    """Train the promise reader, write its weights, and return its quality as text."""
    reader, quality = train(lines(FOLDER, "kind"), hash_of(FOLDER))
    reader.save(FOLDER / "weights.npz")
    text = "; ".join(
        f"{kind}: {q.found:.0%} found, {q.tempting:.1%} of the tempting and {q.played:.2%} of the played pass"
        for kind, q in quality.items()
    )
    return f"{FOLDER / 'weights.npz'}: {reader.size} features; in cross-validation {text}"
