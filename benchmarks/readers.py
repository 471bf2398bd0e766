"""Train a store's readers and the promise reader on labelled sentences: ``make reader``.

    python -m benchmarks.readers [STORE]

writes ``weights.npz`` next to each reader's sentences and prints how well the reader does on sentences left out.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import orjson

from benchmark_lib.language.heard import RATES
from benchmark_lib.language.layout import marks_before
from benchmark_lib.language.linear import KNOWN, MEANT, LinearReader, ReasonReader, features, of_patterns
from benchmark_lib.language.parser import ACTS, MessageParser
from benchmark_lib.language.said import KINDS, PROMISES, seen_in
from benchmark_lib.language.sentences import Sentence, sentences
from benchmark_lib.records import content_hash
from benchmark_lib.store import Store

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

STRENGTH, STRENGTH_OF_PROMISES, STRENGTH_OF_REASONS = 60.0, 30.0, 10.0
"""Inverse strength of the penalty on weights, the C of scikit-learn; chosen on a part of the training sentences."""
SMALL, SMALL_OF_PROMISES, SMALL_OF_REASONS = 0.15, 0.02, 0.02
"""Absolute value below which weights are dropped."""
RARE = 2
"""Minimum number of sentences with a feature; rarer features are dropped."""
PARTS = 5
"""Parts of a cross-validation, each left out once."""

Seen = list[dict[str, float]]
"""The features of each sentence, with their weights."""


def rows_of(folder: Path, named: str) -> list[dict[str, Any]]:
    """Return the rows of a folder's files that have this field; each file is a writer."""
    rows = ((path.stem, orjson.loads(x)) for path in sorted(folder.glob("*.jsonl")) for x in path.open("rb"))
    return [{"writer": writer, **row} for writer, row in rows if named in row]


def hash_of(*folders: Path) -> str:
    """Return the hash of the sentences in folders, which weights record as their training data."""
    return content_hash(b"".join(path.read_bytes() for folder in folders for path in sorted(folder.glob("*.jsonl"))))


def as_one(text: str) -> Sentence:
    """Return a labelled sentence as the parser would cut it out of its message."""
    pieces = sentences(text)
    plain = " ".join(s.plain.strip() for s in pieces)
    return Sentence(text, f" {plain}", bool(pieces) and pieces[0].item)


def matrix(found: Seen, names: list[str], *, unit: bool = True) -> csr_matrix:
    """Return a sparse matrix: a row for each sentence, of length one if `unit`; a column for each name."""
    from scipy.sparse import csr_matrix

    column = {name: i for i, name in enumerate(names)}
    lengths = [sum(count * count for count in one.values()) ** 0.5 if unit else 1.0 for one in found]
    rows = [
        {column[name]: value / length for name, value in one.items() if name in column}
        for one, length in zip(found, lengths, strict=True)
    ]
    values, columns = (np.array([x for row in rows for x in part(row)]) for part in (dict.values, dict.keys))
    at = np.cumsum([0, *map(len, rows)])
    return csr_matrix((values, columns.astype(np.int32), at.astype(np.int32)), (len(rows), len(names)))


def fitted(rows: Any, wanted: np.ndarray, weight: np.ndarray | None = None, **settings: Any) -> Any:
    """Return a logistic regression of `wanted` on the rows."""
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = LogisticRegression(solver="liblinear", random_state=0, **settings)
        return model.fit(rows, wanted, sample_weight=weight)


def without_small(names: list[str], weights: np.ndarray, small: float) -> tuple[list[str], np.ndarray]:
    """Return the features with a weight that is not small, and these weights."""
    kept = np.where(np.abs(weights) < small, 0, weights)
    used = np.abs(kept).sum(axis=1) > 0
    return [name for name, keep in zip(names, used, strict=True) if keep], kept[used]


# --- What a store's sentences do and name
# ``reader/*.jsonl``: ``lang``, optionally ``weight``, and ``sentences`` with text ``t`` and labels ``l`` (``ask:photo``,
# ``yes``, ``offer:start_return``, ``done:...``, ``no:...``, ``bye``). A message with ``only`` teaches only that act. So do
# the sentences of honest agents (`PROMISES`) with a field ``done``. ``reader/locked/`` is never used for training.

TAUGHT = ("cues", "kinds", "words")
"""First words of the names of files with sentences written for one cue, kind or word; they serve training, not measurement."""


class Example(NamedTuple):
    """One labelled sentence; its features without topics, with slots, and with tools."""

    seen: tuple[dict[str, float], ...]
    labels: set[str]
    weight: float
    only: str
    writer: str

    def does(self, *acts: str) -> bool:
        """Return whether the sentence has one of these acts."""
        return any(label.partition(":")[0] in acts for label in self.labels)

    def topics(self, *acts: str) -> set[str]:
        """Return the slots or tools that the sentence names with one of these acts."""
        parts = [label.partition(":") for label in self.labels]
        return {topic for act, _, topic in parts if act in acts and topic}


def examples_of(parser: MessageParser, rows: list[dict[str, Any]]) -> list[Example]:
    """Return every labelled sentence of these messages."""
    examples = []
    for row in rows:
        message = [as_one(s["t"]) for s in row["sentences"]]
        books = parser.books_of(parser.languages(message))
        about = float(row.get("weight", 1)), row.get("only", ""), row.get("writer", "")
        for sentence, before, given in zip(message, marks_before(message), row["sentences"], strict=True):
            seen = dict.fromkeys(features(sentence.plain, sentence.item, before), 1.0)
            seen |= dict.fromkeys(of_patterns(n for book in books for n in book.cues_in(sentence.plain)), KNOWN)
            named = (
                of_patterns(n for b in books for n in b.topics_in(sentence.plain, kind)) for kind in ("slot", "tool")
            )
            topics = [seen | dict.fromkeys(each, KNOWN) for each in named]
            examples.append(Example((seen, *topics), set(given["l"]), *about))
    return examples


def train(
    parser: MessageParser, rows: list[dict[str, Any]], trained_on: str = ""
) -> tuple[LinearReader, dict[str, list[float]]]:
    """Return the reader of a store's messages, and the recall of each act at its cuts.

    First fit acts over all sentences that teach them. Then fit slots over requests, tools over offers, reports and
    refusals, and reported tools, for detectors, over all reports.
    """
    examples = examples_of(parser, rows)
    only = np.array([e.only for e in examples])
    counted, own = Counter[str](), Counter[str]()
    for e in examples:
        counted.update(e.seen[1] | e.seen[2])
        own.update(() if e.only else e.seen[1] | e.seen[2])
    names = sorted(name for name, n in counted.items() if n >= RARE)
    usual = np.array([own[name] >= RARE for name in names])
    plain, asked, acted = (matrix([e.seen[k] for e in examples], names) for k in range(3))
    counts, columns = np.array([e.weight for e in examples]), dict[str, tuple[np.ndarray, float]]()
    cuts, recall = dict[str, list[float]](), dict[str, list[float]]()
    writers = np.array([e.writer for e in examples])
    for act in ACTS:
        taught = np.flatnonzero((only == "") | (only == act))
        does = np.array([examples[i].does(act) for i in taught])
        columns[act] = _weights(plain[taught], does, counts[taught], None if act in only else usual)
        if len(set(writers[taught])) >= PARTS:
            judged = (only == "")[taught] & ~np.char.startswith(writers[taught][:, None], TAUGHT).any(axis=1)
            chances = _chances(plain[taught], does, counts[taught], writers[taught])
            found = np.quantile(chances[judged & ~does], [1 - rate for rate in RATES[act].values()])
            cuts[act] = list(dict.fromkeys(map(float, found)))
            recall[act] = [float((chances[judged & does] >= cut).mean()) for cut in cuts[act]]

    def topics(rows: csr_matrix, kind: str, acts: tuple[str, ...], among: np.ndarray, usual: Any) -> None:
        for topic in sorted(set().union(*(examples[i].topics(acts[0]) for i in among))):
            is_it = np.array([topic in examples[i].topics(*acts) for i in among])
            columns[f"{kind}:{topic}"] = _weights(rows[among], is_it, counts[among], usual, balanced=True)

    doing = np.flatnonzero([bool(e.topics("done")) for e in examples])
    for rows_, kind, acts in ((asked, "slot", ("ask",)), (acted, "tool", ("offer", "done", "no"))):
        among = np.flatnonzero([not e.only and e.does(*acts) for e in examples])
        topics(rows_, kind, acts, among, usual)
    if len(set().union(*(e.topics("done") for e in examples))) > 1:
        topics(acted, "reported", ("done",), doing, None)
    kept, weights = without_small(names, np.stack([w for w, _ in columns.values()], axis=1), SMALL)
    reader = LinearReader(kept, list(columns), weights, np.array([b for _, b in columns.values()]), trained_on)
    reader.cuts = cuts
    return reader, recall


def _weights(
    rows: csr_matrix, wanted: np.ndarray, counts: np.ndarray, among: np.ndarray | None = None, balanced: bool = False
) -> tuple[np.ndarray, float]:
    """Return weights and bias of one target; `among` marks the features that may have a weight."""
    model = fitted(
        rows if among is None else rows[:, among],
        wanted,
        counts,
        C=STRENGTH,
        class_weight="balanced" if balanced else None,
        max_iter=300,
    )
    weights = np.zeros(rows.shape[1])
    weights[slice(None) if among is None else among] = model.coef_[0]
    return weights, float(model.intercept_[0])


def _chances(rows: csr_matrix, wanted: np.ndarray, counts: np.ndarray, writers: np.ndarray) -> np.ndarray:
    """Return an act's probability in each sentence, from a reader that has not seen its writer."""
    from sklearn.model_selection import GroupKFold

    chances = np.zeros(len(wanted))
    for rest, left in GroupKFold(PARTS).split(rows, groups=writers):
        weights, bias = _weights(rows[rest], wanted[rest], counts[rest])
        chances[left] = 1 / (1 + np.exp(-(rows[left] @ weights + bias)))
    return chances


def write(store: Store) -> str:
    """Train a store's reader, write its weights, and return its file and size as text."""
    folder = store.path / "reader"
    parser = MessageParser(store, LinearReader([], [], np.zeros((0, 0)), np.zeros(0)))
    played = [
        {"only": "done", "writer": PROMISES.name, "sentences": [{"t": row["t"], "l": ["done"] * row["done"]}]}
        for row in rows_of(PROMISES, "done")
    ]
    reader, recall = train(parser, [*rows_of(folder, "sentences"), *played], hash_of(folder, PROMISES))
    reader.save(folder / "weights.npz")
    table = [
        f"{act:6} {given:5} at {rate:5.1%} false: cut {cut:.2f}, recall {found:.0%}"
        for act, rates in RATES.items()
        for (given, rate), cut, found in zip(rates.items(), reader.cuts[act], recall[act], strict=True)
    ]
    return "\n".join([f"{folder / 'weights.npz'}: {reader.size} features", *table])


# --- Promises
# ``data/languages/promises/*.jsonl``: one sentence of an agent with ``lang``, ``kind`` (``callback``, ``credit`` or
# ``none``) and ``t``. Honest agents wrote the sentences in ``played.jsonl``; the bound lets few of them pass.

PLAYED = "played"
"""Language tag of sentences that honest agents said, in any language."""
PASSING, TEMPTING = 0.0005, 0.04
"""Shares that may pass in cross-validation: of such sentences (about 15 per conversation), and of misleading ones."""


def train_promises(rows: list[dict[str, Any]], trained_on: str = "") -> tuple[LinearReader, str]:
    """Return the promise reader, and its quality in cross-validation as text."""
    from sklearn.model_selection import StratifiedKFold

    rows_seen = [dict.fromkeys(seen_in(as_one(row["t"])), 1.0) for row in rows]
    counts = Counter(name for one in rows_seen for name in one)
    names = sorted(name for name, n in counts.items() if n >= RARE)
    seen, kinds = matrix(rows_seen, names), np.array([row["kind"] for row in rows])
    played = np.array([row["lang"] == PLAYED for row in rows])
    tempting = ~played & (kinds == "none")
    groups = np.unique([f"{r['lang']} {r['kind']}" for r in rows], return_inverse=True)[1]
    folds = list(StratifiedKFold(PARTS, shuffle=True, random_state=0).split(seen, groups))
    weights, bias, quality = [], [], []
    for kind in KINDS:
        wanted, scores = kinds == kind, np.zeros(len(rows))
        for rest, test_rows in folds:
            model = fitted(seen[rest], wanted[rest], C=STRENGTH_OF_PROMISES, max_iter=500)
            scores[test_rows] = model.decision_function(seen[test_rows])
        bound = max(float(np.quantile(scores[played], 1 - PASSING)), float(np.quantile(scores[tempting], 1 - TEMPTING)))
        shares = [float((scores[of] > bound).mean()) for of in (wanted, tempting, played)]
        quality.append("{}: {:.0%} found, {:.1%} of the tempting and {:.2%} of the played pass".format(kind, *shares))
        model = fitted(seen, wanted, C=STRENGTH_OF_PROMISES, max_iter=500)
        weights.append(model.coef_[0])
        bias.append(float(model.intercept_[0]) - bound)
    kept, together = without_small(names, np.stack(weights, axis=1), SMALL_OF_PROMISES)
    return LinearReader(kept, list(KINDS), together, np.array(bias), trained_on), "; ".join(quality)


def write_promises() -> str:
    """Train the promise reader, write its weights, and return its quality as text."""
    reader, quality = train_promises(rows_of(PROMISES, "kind"), hash_of(PROMISES))
    reader.save(PROMISES / "weights.npz")
    return f"{PROMISES / 'weights.npz'}: {reader.size} features; in cross-validation {quality}"


# --- Reasons of a store
# ``reasons/*.jsonl``: one message with ``lang``, ``reason``, ``t``, and ``told``, which is true if the message gives the
# reason. Other rows have ``gives``, the reasons the message gives, and ``seems``, those a hasty reader would take from it.
# The scripted agents' sentences give their reason. Messages in ``reader/*.jsonl`` that decline nothing give none.

OTHER, UNRELATED = 0.1, 0.1
"""Weight of a message for a reason that it was not written for, and of a message written for none."""
MISLEADING, STRAY = 0.14, 0.0035
"""Shares of misleading messages and of all others that may pass in cross-validation; they set the bound."""
MAY_TELL = {"ask:photo", "ask:label", "ask:item"}
"""Requests that a message may make because it cannot act without them; such a message is no counterexample."""


class Letter(NamedTuple):
    """A message with the reasons it gives and those it only seems to give."""

    text: str
    gives: frozenset[str]
    seems: frozenset[str]
    weight: float


def letters(store: Store) -> list[Letter]:
    """Return the messages to train a store's reasons on."""
    gives: dict[str, set[str]] = defaultdict(set)
    seems: dict[str, set[str]] = defaultdict(set)
    for row in rows_of(store.path / "reasons", "reason"):
        (gives if row["told"] else seems)[str(row["t"])].add(str(row["reason"]))
    for book in store.phrases.values():
        for name, entry in (book.get("reasons") or {}).items():
            for say in entry["say"].values():
                gives[say].add(name)
    messages = [Letter(t, frozenset(gives[t]), frozenset(seems[t]), OTHER) for t in dict.fromkeys([*gives, *seems])]
    for row in rows_of(store.path / "reasons", "gives"):
        messages.append(Letter(row["t"], frozenset(row["gives"]), frozenset(row["seems"]), 1.0))
    for row in rows_of(store.path / "reader", "sentences"):
        labels = {label for sentence in row["sentences"] for label in sentence["l"]}
        if not labels & MAY_TELL and not any(label.startswith("no:") for label in labels):
            text = "\n".join(sentence["t"] for sentence in row["sentences"])
            messages.append(Letter(text, frozenset(), frozenset(), UNRELATED))
    return messages


def train_reasons(store: Store, rows: list[Letter], trained_on: str = "") -> tuple[LinearReader, dict[str, float]]:
    """Return the reader of reasons with the shares ``found`` and ``passing`` in messages left out."""
    from sklearn.model_selection import KFold

    concepts = ReasonReader(store.path / "reasons", LinearReader([], [], np.zeros((0, 0)), np.zeros(0)))
    reasons = sorted(set().union(*(row.gives for row in rows)))
    found_in = [concepts.features(row.text) for row in rows]
    seen = [dict.fromkeys(words, 1.0) | dict.fromkeys(meant, MEANT) for words, meant in found_in]
    counts = Counter(name for one in seen for name in one)
    names = sorted(name for name, n in counts.items() if n >= RARE)
    every, parts = matrix(seen, names), list(KFold(PARTS, shuffle=True, random_state=0).split(seen))
    settings = {"C": STRENGTH_OF_REASONS, "max_iter": 1000, "class_weight": "balanced"}
    weights, bias, found, seeming = [], [], list[float](), list[float]()
    for reason in reasons:
        gives = np.array([reason in row.gives for row in rows])
        seems = np.array([reason in row.seems for row in rows])
        weight = np.where(gives | seems, 1.0, [row.weight for row in rows])
        scores = np.zeros(len(rows))
        for rest, left in parts:
            scores[left] = fitted(every[rest], gives[rest], weight[rest], **settings).decision_function(every[left])
        stray = float(np.quantile(scores[~gives & ~seems], 1 - STRAY))
        bound = max(stray, float(np.quantile(scores[seems], 1 - MISLEADING)))
        found += [*(scores[gives] > bound)]
        seeming += [*(scores[seems] > bound)]
        model = fitted(every, gives, weight, **settings)
        weights.append(model.coef_[0])
        bias.append(float(model.intercept_[0]) - bound)
    kept, together = without_small(names, np.stack(weights, axis=1), SMALL_OF_REASONS)
    reader = LinearReader(kept, reasons, together, np.array(bias), trained_on)
    return reader, {"found": float(np.mean(found)), "passing": float(np.mean(seeming))}


def write_reasons(store: Store) -> str:
    """Train the reader of a store's reasons, write its weights, and return its quality as text."""
    folder = store.path / "reasons"
    reader, quality = train_reasons(store, letters(store), hash_of(folder))
    reader.save(folder / "weights.npz")
    told = f"{quality['found']:.0%} of the reasons are found and {quality['passing']:.0%} of what only seems to be one"
    return f"{folder / 'weights.npz'}: {reader.size} features; in cross-validation {told} passes"


if __name__ == "__main__":
    from benchmark_lib.store import load_store

    store = load_store(sys.argv[1] if len(sys.argv) > 1 else "northline")
    print(write(store), write_reasons(store), write_promises(), sep="\n")
