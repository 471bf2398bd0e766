"""Read a store's tables as read-only rows, make changed copies, and search texts with BM25."""

from __future__ import annotations

import copy
import csv
import io
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import orjson

from ..errors import BadInput
from ..textfiles import read_text

if TYPE_CHECKING:
    import numpy as np


def check_shape(given: Any, sample: Any, where: str, optional: tuple[str, ...] | None = None) -> None:
    """Refuse other forms than the sample's and, unless `optional` is None, missing fields."""
    if _form(given) != _form(sample):
        raise BadInput(
            f"{where.rstrip(': ')} must be {_form(sample)}, not {str(given)[:40]!r}: compare it with the shipped store"
        )
    if not isinstance(sample, dict):
        return
    forms = {_form(value): value for value in sample.values()}
    for name in given.keys() - sample.keys() if len(forms) == 1 else ():  # the user's own entries
        if _form(given[name]) not in forms:
            raise BadInput(
                f"{where}{name} must be {[*forms][0]}, not {str(given[name])[:40]!r}: write it like the others"
            )
    for name, value in sample.items():
        if name in given:
            check_shape(given[name], value, f"{where}{name}: ", None)
        elif optional is not None and name not in optional:
            raise BadInput(f"{where}{name} is missing: copy it from the shipped store and change it")


def _form(value: Any) -> str:
    forms: dict[type, str] = {
        dict: "a mapping",
        list: "a list",
        tuple: "a list",
        str: "a text",
        type(None): "empty",
    }
    return next((words for form, words in forms.items() if isinstance(value, form)), "a number")


def _csv_rows(path: Path, key: str) -> dict[str, dict[str, Any]]:
    """Read a table as CSV; whole numbers become numbers, except in the key's column."""
    lines = csv.DictReader(io.StringIO(read_text(path), newline=""))
    rows: dict[str, dict[str, Any]] = {}
    try:
        for line in (line for line in lines if any(line.values())):  # spreadsheets add empty rows
            name = (line.get(key) or "").strip()
            if not name or name in rows or None in line or None in line.values():
                count = "has a different number of fields from the header"
                why = count if name and name not in rows else f"needs its own {key}"
                raise BadInput(f"{path}:{lines.line_num}: a row {why}: correct it there")
            rows[name] = frozen({k.strip(): _number(v.strip(), k.strip() == key) for k, v in line.items()})
    except csv.Error as error:
        raise BadInput(f"{path}:{lines.line_num}: this is not a CSV row ({error}): correct it there") from None
    return rows


def _number(text: str, is_key: bool) -> str | int | None:
    return int(text) if not is_key and re.fullmatch(r"-?(0|[1-9]\d{0,14})", text) else text or None


def rows_in(paths: list[Path], key: str) -> dict[str, dict[str, Any]]:
    """Read a table's rows by their key from CSV files, or files with one JSON object per line."""
    rows: dict[str, dict[str, Any]] = {}
    for path in paths:
        if path.suffix == ".csv":
            rows |= _csv_rows(path, key)
            continue
        lines = read_text(path).split("\n")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                if row[key] in rows:
                    raise BadInput(f"{path}:{number}: {key} {row[key]} occurs twice; give it another id")
                rows[row[key]] = frozen(row)
            except (orjson.JSONDecodeError, KeyError, TypeError) as error:
                raise BadInput(f"{path}:{number}: not a JSON object with {key}: {error}") from None
    return FrozenDict(rows)


# --- Frozen rows


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested data with their fields, at any depth, without recursion."""
    waiting = [(key, value)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [(str(name), inner) for name, inner in reversed(value.items())]
        elif isinstance(value, list | tuple):
            waiting += [(key, inner) for inner in reversed(value)]
        else:
            yield key, value


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping in nested data, outer mappings first."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from dicts(inner)


def _refuse(self: Any, *arguments: Any, **named: Any) -> NoReturn:
    raise TypeError(
        "the store is shared by every conversation and cannot be changed: take desk.edit(table, key), which "
        "gives a copy that can"
    )


class FrozenDict(dict):
    """A read-only dict; ``dict(row)`` and ``desk.edit`` return an editable copy."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class FrozenList(list):
    """A read-only list; ``list(rows)`` returns an editable copy."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)


def frozen(value: Any) -> Any:
    """Return a read-only copy, at every depth, of dicts and lists.

    Subclasses work better than proxies: orjson writes them at full speed, and `isinstance` and equality keep working.
    """
    if isinstance(value, dict):
        return FrozenDict({key: frozen(inner) for key, inner in value.items()})
    return FrozenList(map(frozen, value)) if isinstance(value, list) else value


def thawed(value: Any) -> Any:
    """Return a plain copy that can be edited and written as YAML."""
    return copy.deepcopy(value)


def merged(below: Any, over: Any) -> Any:
    """Merge one tree of plain data over another.

    Mappings are merged, other values replace old ones, and None removes them. A mapping by position (``{"0": ...}``)
    is merged into the entries of a list. A dotted key, such as ``parcels.0.delivered_at``, means nested mappings.
    """
    if not isinstance(over, Mapping):
        return over
    if isinstance(below, list) and over and all(str(key).partition(".")[0].isdigit() for key in over):
        entries = list(below)
        for key, value in over.items():
            place, _, path = str(key).partition(".")
            entries[int(place)] = merged(entries[int(place)], {path: value} if path else value)
        return entries
    if not isinstance(below, Mapping):
        return over
    result = dict(below)
    for key, value in over.items():
        if isinstance(key, str) and "." in key and key not in result:
            key, _, path = key.partition(".")
            value = {path: value}
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key, {}), value)
    return result


CHUNK_WORDS = 400
"""Number of words after which a passage ends with its paragraph. Most articles are a single passage, which keeps a
rule and its exceptions together."""
BEGINNING = 5
"""Number of first letters that forms of a word share, such as "cancelled" and "cancellation"."""
WEIGHT_OF_PHRASE = 0.6
"""Weight of an article's best phrase (title, topic or ``asked_as`` wording) relative to its text."""


class Search:
    """The index of a knowledge base; it caches answers, because many queries recur."""

    def __init__(self, articles: list[dict[str, Any]]):
        import numpy as np

        self._chunks = [c for a in articles for c in chunks(a)]
        self._index = TextIndex([f"{'; '.join(c['phrases'])} {c['text']}" for c in self._chunks], words_and_beginnings)
        self._phrases = TextIndex([phrase for c in self._chunks for phrase in c["phrases"]], words_and_beginnings)
        self._first_phrase = np.cumsum([0, *(len(c["phrases"]) for c in self._chunks)])[:-1]
        self.knowledge_base = lru_cache(maxsize=4096)(self._knowledge_base)

    def _knowledge_base(self, query: str, count: int = 4) -> list[dict[str, str]]:
        import numpy as np

        scores = self._index.scores(query)
        nearest = np.maximum.reduceat(self._phrases.scores(query), self._first_phrase)
        places = best(scores + WEIGHT_OF_PHRASE * nearest, count)
        return frozen([{k: self._chunks[i][k] for k in ("article_id", "title", "text")} for i in places])


def chunks(article: dict[str, Any]) -> list[dict[str, Any]]:
    """Split an article at paragraph ends into passages of about `CHUNK_WORDS` words.

    Each passage has phrases to search: the article's id and title, its ``topics`` and its ``asked_as`` wordings, which
    semicolons separate. Of these, only id and title are shown.
    """
    passages, part = [], []
    for paragraph in article["text"].split("\n\n"):
        part.append(paragraph)
        if len(" ".join(part).split()) >= CHUNK_WORDS:
            passages.append("\n\n".join(part))
            part = []
    if part:
        passages.append("\n\n".join(part))
    asked = [phrase.strip() for phrase in (article.get("asked_as") or "").split(";")]
    phrases = [article["id"], article["title"], *(article.get("topics") or []), *filter(None, asked)]
    about = {"article_id": article["id"], "title": article["title"], "phrases": phrases}
    return [{**about, "text": text} for text in passages]


@lru_cache(maxsize=8192)
def words_and_beginnings(text: str) -> tuple[str, ...]:
    """Return a text's words without stop words, and the beginnings that their forms share."""
    from bm25s.stopwords import STOPWORDS_EN

    words = [w for w in re.findall(r"\w\w+", text) if w not in STOPWORDS_EN]
    return (*words, *(f"{w[:BEGINNING]}*" for w in words))


class TextIndex:
    """One BM25 index with the tokenizer of its texts.

    `splitter` splits a text in lower case into the words to compare; the default omits only the most common ones.
    """

    def __init__(self, texts: list[str], splitter: Callable[[str], Sequence[str]] | None = None):
        import bm25s
        from bm25s.tokenization import Tokenizer

        logging.getLogger("bm25s").setLevel(logging.WARNING)
        own: dict[str, Any] = {"splitter": splitter, "stopwords": None} if splitter else {"stopwords": "en"}
        self._tokenizer, self._bm25, self._count = Tokenizer(**own), bm25s.BM25(), len(texts)
        self._bm25.index(self._tokenizer.tokenize(texts, return_as="tuple", show_progress=False), show_progress=False)

    def scores(self, query: str) -> np.ndarray:
        """Return each text's BM25 score for a query; 0 if they share no word."""
        import numpy as np

        words = next(self._tokenizer.streaming_tokenize([query], update_vocab=False, allow_empty=False))
        return self._bm25.get_scores_from_ids(words) if words else np.zeros(self._count)


def best(scores: np.ndarray, count: int) -> list[int]:
    """Return the indexes of the `count` highest scores above 0, highest first."""
    return [int(i) for i in (-scores).argsort(kind="stable")[:count] if scores[i] > 0]
