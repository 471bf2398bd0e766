"""A linear reader of a sentence's features, and the reader of a store's reasons."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson

from ..errors import BadInput
from ..textfiles import read_yaml
from .patterns import alternatives, compile_patterns, cue_of_several
from .pours import is_poured
from .sentences import (
    kept,
    nearest_languages,
    sentences,
    squash,
)

_LINK = re.compile(r"https?://\S{1,300}")
_ID = re.compile(r"\b[a-z]{1,4}-?\d[\w-]*")
_MONEY = re.compile(r"[$€£] ?\d[\d.,]*|\d[\d.,]* ?[$€£]")
_DIGITS = re.compile(r"\d+")
_TOKEN = re.compile(r"[^\W_]+|[?!:;,.|/]")

KNOWN = 2.0
"""Weight of a pattern from a phrase file, relative to the weight of a word."""

STEM = 5
"""Initial letters that represent all forms of a longer word."""


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


# --- Reasons

NEAR = 6
"""Number of following concepts whose order counts."""
MEANT = 3.0
"""Weight of a concept, relative to the weight of a word."""


class ReasonReader:
    """The concepts in a store's ``reasons`` folder, with its weights or the given ones."""

    def __init__(self, folder: Path, reader: LinearReader | None = None):
        path = folder / "concepts.yaml"
        try:
            concepts = read_yaml(path)["concepts"]
            self._signs = {
                language: {
                    name: compile_patterns(alternatives(signs[language]), tail=r"(?!\w)")
                    for name, signs in concepts.items()
                }
                for language in next(iter(concepts.values()))
            }
        except (KeyError, TypeError, AttributeError, StopIteration, re.error) as error:
            raise BadInput(
                f"{path}: a concept lacks a language or has a broken pattern ({error}); correct it"
            ) from None
        self.reader = reader or LinearReader.load(folder / "weights.npz")
        self._found = lru_cache(maxsize=8192)(self._concepts)
        self.told = lru_cache(maxsize=4096)(self._told)

    def _told(self, text: str) -> tuple[str, ...]:
        words, concepts = self.features(text)
        chances = self.reader.probabilities(self.reader.seen(concepts, MEANT, self.reader.seen(words)))
        told = [name for name, chance in chances.items() if chance > 0.5]
        return tuple(sorted(told, key=chances.__getitem__, reverse=True))

    def features(self, text: str) -> tuple[list[str], list[str]]:
        """Return a message's words and pairs of words, and its concepts and their pairs."""
        message = [s for s in sentences(kept(text)) if cue_of_several("ignored").sub("", s.plain)]
        near = nearest_languages(message)
        languages = tuple(language for language in self._signs if language in near) or tuple(self._signs)
        concepts = [(self._found(s.plain, languages), s.plain.endswith("?")) for s in message]
        words = dict.fromkeys(name for s in message for name in features(s.plain, False, ""))
        return [*words], [*dict.fromkeys(f"c={name}" for name in _features(concepts))]

    def _concepts(self, plain: str, languages: tuple[str, ...]) -> tuple[str, ...]:
        signs = (sign for language in languages for sign in self._signs[language].items())
        signs_found = {(m.start(), name) for name, sign in signs for m in sign.finditer(plain)}
        return tuple(name for _, name in sorted(signs_found))


def _features(found: list[tuple[tuple[str, ...], bool]]) -> Iterator[str]:
    # Each sentence comes as its concepts and whether it asks.
    for concepts, asks in found:
        mark = "?" if asks else ""
        for index, first in enumerate(concepts):
            yield f"{first}{mark}"
            near = concepts[index + 1 : index + 1 + NEAR]
            yield from (f"{first}>{second}{mark}" for second in near if second != first)
    if len(found) > 1:
        yield from (f"first {name}" for name in found[0][0])
        yield from (f"last {name}" for name in found[-1][0])


class WordedReasons:
    """Reasons with patterns of their own, for a store without a trained model; may be empty.

    A reason counts if its sentence, or the one before or after, denies something. Anybody can copy the sentences of
    articles, so these do not count as reasons.
    """

    def __init__(self, store: Any):
        named = [(book, book.get("reasons") or {}) for book in store.phrases.values()]
        patterns = {name: r["patterns"] for _, found in named for name, r in found.items() if "patterns" in r}
        self._reasons = {name: compile_patterns(each) for name, each in patterns.items()}
        denies = [cue for book, _ in named for part in ("deny", "denied", "declines") for cue in book.get(part, ())]
        self._denies = compile_patterns(denies if patterns else [])
        self._known = [squash(article["text"]) for article in store.articles] if patterns else []

    def named_in(self, texts: Iterable[str], heard: Iterable[str]) -> set[str]:
        """Return the reasons in an agent's own words, ignoring dumps, articles and quotations."""
        known, named = [*self._known, *map(squash, heard)], set[str]()
        for text in (t for t in texts if self._reasons and not is_poured(t)):
            said = [s for s in sentences(kept(text)) if not any(squash(s.text) in words for words in known)]
            denied = [bool(self._denies.search(s.plain)) for s in said]
            near = [s.plain for at, s in enumerate(said) if any(denied[max(at - 1, 0) : at + 2])]
            named |= {
                name
                for name, sign in self._reasons.items()
                for plain in near
                if sign.search(plain) and plain[-1:] != "?"
            }
        return named


def reasons_in(texts: Iterable[str], folder: Path, heard: Iterable[str] = ()) -> list[str]:
    """Return the reasons in an agent's own words, the strongest of each message first."""
    reader = _reader_of(folder)
    if reader is None:
        return []
    known = {s.plain for text in heard for s in sentences(kept(text))}
    own = ["\n".join(s.text for s in sentences(kept(t)) if s.plain not in known) if known else t for t in texts]
    return list(dict.fromkeys(name for text in own if not is_poured(text) for name in reader.told(text)))


@lru_cache(maxsize=8)
def _reader_of(folder: Path) -> ReasonReader | None:
    return ReasonReader(folder) if (folder / "weights.npz").is_file() else None
