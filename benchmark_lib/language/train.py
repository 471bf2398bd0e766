"""Train the linear reader of a store from labelled sentences, a part of ``make reader``.

The store's ``reader/*.jsonl`` have one message per line: ``lang``, optionally ``weight``, and ``sentences`` with text
``t`` and labels ``l`` (``ask:photo``, ``yes``, ``offer:start_return``, ``done:...``, ``no:...``, ``bye``). Files in
``reader/locked/`` are never used for training. A message with ``only`` teaches that act alone: ``done``, and its
tools. So do sentences of honest agents (``played.jsonl`` of `train_promises`) with a field ``done``: true if an act was
carried out with them. Each file is a writer: the cuts of an act hold for writers left out.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ..records import content_hash
from .heard import RATES
from .linear import LinearReader
from .parser import ACTS, MessageParser, Phrases, marks_before
from .promises import FOLDER as PLAYED_FOLDER
from .sentences import Sentence, sentences

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STRENGTH = 60.0
"""Inverse strength of the penalty on weights, the C of scikit-learn; chosen on a part of the training sentences."""
SMALL = 0.15
"""Absolute value below which weights are dropped."""
RARE = 2
"""Minimum number of sentences with a feature; rarer features are dropped."""
TAUGHT = "cues"
"""Name of the file with sentences for each cue, which teach but measure nothing."""
PARTS = 5
"""Parts into which the writers are divided, each left out once, for the cuts."""


def lines(folder: Path, named: str) -> list[dict[str, Any]]:
    """Return the rows of a folder's files that have this field, such as ``sentences``."""
    rows = ((path.stem, orjson.loads(x)) for path in sorted(folder.glob("*.jsonl")) for x in path.open("rb"))
    return [{"writer": writer, **row} for writer, row in rows if named in row]


def labelled(
    parser: MessageParser, rows: list[dict[str, Any]]
) -> Iterator[tuple[tuple[dict[str, float], ...], set[str], float]]:
    """Yield for each sentence its features without and with topics, its labels, and its weight."""
    for row in rows:
        message = [as_one(s["t"]) for s in row["sentences"]]
        languages = tuple(parser.languages(message))
        for sentence, before, given in zip(message, marks_before(message), row["sentences"]):
            yield parser.features_of(sentence, before, languages), set(given["l"]), float(row.get("weight", 1))


def as_one(text: str) -> Sentence:
    """Return a labelled sentence as the parser would cut it out of its message."""
    pieces = sentences(text)
    plain = " ".join(s.plain.strip() for s in pieces)
    return Sentence(text, f" {plain}", bool(pieces) and pieces[0].item)


def train(parser: MessageParser, rows: list[dict[str, Any]], trained_on: str = "") -> LinearReader:
    """Fit the reader.

    First fit acts over all sentences that teach them. Then fit slots over requests, tools over offers, reports and
    refusals, and reported tools, for detectors, over all reports.
    """
    examples = list(labelled(parser, rows))
    only = np.array([row.get("only", "") for row in rows for _ in row["sentences"]])
    counted, own = Counter[str](), Counter[str]()
    for ((_, slots, tools), _, _), act in zip(examples, only, strict=True):
        counted.update(slots | tools)
        own.update(() if act else slots | tools)
    names = sorted(name for name, n in counted.items() if n >= RARE)
    usual = np.array([own[name] >= RARE for name in names])
    plain, asked, acted = (matrix([of_length_one(seen[k]) for seen, _, _ in examples], names) for k in range(3))
    labels = [given for _, given, _ in examples]
    counts = np.array([count for _, _, count in examples])
    columns: dict[str, tuple[np.ndarray, float]] = {}
    does = {act: np.array([any(la.split(":")[0] == act for la in one) for one in labels]) for act in ACTS}
    writers = np.array([row.get("writer", "") for row in rows for _ in row["sentences"]])
    cuts: dict[str, dict[float, float]] = {}
    for act in ACTS:
        taught = np.flatnonzero((only == "") | (only == act))
        sentences_ = plain[taught], does[act][taught], counts[taught]
        columns[act] = _fit(*sentences_, among=None if act in only else usual)
        if len(set(writers[taught])) >= PARTS:
            cuts[act] = _cuts(
                *sentences_,
                writers[taught],
                (only == "")[taught] & (writers[taught] != TAUGHT),
                list(RATES[act].values()),
            )
    asking = np.flatnonzero(does["ask"] & (only == ""))
    for slot in _named([labels[i] for i in asking], ("ask",)):
        is_it = np.array([f"ask:{slot}" in labels[i] for i in asking])
        columns[f"slot:{slot}"] = _fit(asked[asking], is_it, counts[asking], usual, balanced=True)
    acting = np.flatnonzero((does["offer"] | does["done"] | does["no"]) & (only == ""))
    for tool in _named([labels[i] for i in acting], ("offer", "done", "no")):
        is_it = np.array([any(f"{act}:{tool}" in labels[i] for act in ("offer", "done", "no")) for i in acting])
        columns[f"tool:{tool}"] = _fit(acted[acting], is_it, counts[acting], usual, balanced=True)
    doing = np.flatnonzero([bool(_named([one], ("done",))) for one in labels])
    reported = _named(labels, ("done",))
    for tool in reported if len(reported) > 1 else []:
        is_it = np.array([f"done:{tool}" in labels[i] for i in doing])
        columns[f"reported:{tool}"] = _fit(acted[doing], is_it, counts[doing], balanced=True)
    weights = np.stack([w for w, _ in columns.values()], axis=1)
    weights[np.abs(weights) < SMALL] = 0
    used = np.abs(weights).sum(axis=1) > 0
    kept = [name for name, keep in zip(names, used) if keep]
    reader = LinearReader(kept, list(columns), weights[used], np.array([b for _, b in columns.values()]), trained_on)
    reader.cuts = {act: list(examples) for act, examples in cuts.items()}
    reader.recall = {act: list(examples.values()) for act, examples in cuts.items()}
    return reader


def _cuts(
    rows: csr_matrix,
    wanted: np.ndarray,
    counts: np.ndarray,
    writers: np.ndarray,
    judged: np.ndarray,
    rates: list[float],
) -> dict[float, float]:
    """Return an act's probabilities at these rates for writers left out, with the recall."""
    from sklearn.model_selection import GroupKFold

    chances = np.zeros(len(wanted))
    for rest, left in GroupKFold(PARTS).split(rows, groups=writers):
        weights, bias = _fit(rows[rest], wanted[rest], counts[rest])
        chances[left] = 1 / (1 + np.exp(-(rows[left] @ weights + bias)))
    cuts = np.quantile(chances[judged & ~wanted], [1 - rate for rate in rates])
    return {float(cut): float((chances[judged & wanted] >= cut).mean()) for cut in cuts}


def _named(labels: list[set[str]], acts: tuple[str, ...]) -> list[str]:
    return sorted({la.split(":")[1] for one in labels for la in one if la.split(":")[0] in acts and ":" in la})


def of_length_one(seen: dict[str, float]) -> dict[str, float]:
    """Return the features scaled to length one."""
    length = sum(count * count for count in seen.values()) ** 0.5
    return {name: count / length for name, count in seen.items()}


def matrix(found: list[dict[str, float]], names: list[str]) -> csr_matrix:
    """Return the features as a sparse matrix, a row for each sentence, a column for each name."""
    from scipy.sparse import csr_matrix

    column = {name: i for i, name in enumerate(names)}
    rows = [{column[name]: value for name, value in one.items() if name in column} for one in found]
    values, columns = (np.array([x for row in rows for x in part(row)]) for part in (dict.values, dict.keys))
    at = np.cumsum([0, *map(len, rows)])
    return csr_matrix((values, columns.astype(np.int32), at.astype(np.int32)), (len(rows), len(names)))


def _fit(
    rows: csr_matrix, wanted: np.ndarray, counts: np.ndarray, among: np.ndarray | None = None, balanced: bool = False
) -> tuple[np.ndarray, float]:
    """Return weights and bias of one target; `among` marks the features that may have a weight."""
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = LogisticRegression(
            C=STRENGTH, solver="liblinear", class_weight="balanced" if balanced else None, max_iter=300, random_state=0
        )
        model.fit(rows if among is None else rows[:, among], wanted, sample_weight=counts)
    weights = np.zeros(rows.shape[1])
    weights[slice(None) if among is None else among] = model.coef_[0]
    return weights, float(model.intercept_[0])


def hash_of(*folders: Path) -> str:
    """Return the hash of the sentences in folders, which weights record as their training data."""
    return content_hash(b"".join(path.read_bytes() for folder in folders for path in sorted(folder.glob("*.jsonl"))))


def played() -> list[dict[str, Any]]:
    """Return the honest agents' sentences with a field ``done``, which teach reports only."""
    rows = lines(PLAYED_FOLDER, "done")
    return [
        {"only": "done", "writer": PLAYED_FOLDER.name, "sentences": [{"t": row["t"], "l": ["done"] * row["done"]}]}
        for row in rows
    ]


def write(store: Phrases) -> str:
    """Train a store's reader, write its weights, and return its file and size as text."""
    folder = store.path / "reader"
    parser = MessageParser(store, LinearReader([], [], np.zeros((0, 0)), np.zeros(0)))
    reader = train(parser, [*lines(folder, "sentences"), *played()], hash_of(folder, PLAYED_FOLDER))
    reader.save(folder / "weights.npz")
    table = [
        f"{act:6} {given:5} at {rate:5.1%} false: cut {cut:.2f}, recall {recall:.0%}"
        for act, rates in RATES.items()
        for (given, rate), cut, recall in zip(rates.items(), reader.cuts[act], reader.recall[act], strict=True)
    ]
    return "\n".join([f"{folder / 'weights.npz'}: {reader.size} features", *table])
