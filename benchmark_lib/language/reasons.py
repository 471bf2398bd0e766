"""Detect with a linear model that a message declines for one of the store's reasons.

The model reads concepts. A word such as "picture", "Bild" or "foto" is a sign of a concept that is the same in every
language (the store's ``reasons/concepts.yaml``). The model sees the concepts of a few sentences, their order, and those
in a question or at the end. `train_reasons` makes its weights from declined and granted requests.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..textfiles import read_yaml
from .detection import nearest_languages
from .linear import LinearReader
from .patterns import alternatives, compile_patterns
from .pours import is_poured
from .sentences import kept, sentences, squash

TOGETHER = 3
"""Number of sentences that are read together; a reason and its consequence are rarely further apart."""
NEAR = 6
"""Number of following concepts whose order counts."""
ALWAYS = "always"
"""Feature that every text has."""


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

    def _told(self, text: str) -> frozenset[str]:
        scores = [self.reader.seen(features).total for features in self.features(text)]
        return frozenset(name for i, name in enumerate(self.reader.targets) if any(s[i] > 0 for s in scores))

    def features(self, text: str) -> Iterator[set[str]]:
        """Yield the features of a short message, or of every few sentences of a longer one."""
        message = sentences(kept(text))
        near = nearest_languages(message)
        languages = tuple(language for language in self._signs if language in near) or tuple(self._signs)
        concepts = [(self._found(s.plain, languages), s.plain.endswith("?")) for s in message]
        last = max(len(concepts) - TOGETHER, 0) if len(concepts) > TOGETHER + 1 else 0
        for start in range(last + 1):
            yield set(_features(concepts[start : start + TOGETHER] if last else concepts))

    def _concepts(self, plain: str, languages: tuple[str, ...]) -> tuple[str, ...]:
        signs = (sign for language in languages for sign in self._signs[language].items())
        signs_found = {(m.start(), name) for name, sign in signs for m in sign.finditer(plain)}
        return tuple(name for _, name in sorted(signs_found))


def _features(found: list[tuple[tuple[str, ...], bool]]) -> Iterator[str]:
    # Each sentence comes as its concepts and whether it asks.
    yield ALWAYS
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
    """Return the reasons in an agent's messages, ignoring dumps and the customer's words."""
    reader = _reader_of(folder)
    if reader is None:
        return []
    known = {s.plain for text in heard for s in sentences(kept(text))}
    own = ["\n".join(s.text for s in sentences(kept(t)) if s.plain not in known) if known else t for t in texts]
    return sorted(set().union(*(reader.told(text) for text in own if not is_poured(text))))


@lru_cache(maxsize=8)
def _reader_of(folder: Path) -> ReasonReader | None:
    return ReasonReader(folder) if (folder / "weights.npz").is_file() else None
