"""Search texts, and the passages of the knowledge base, with BM25 (library: bm25s)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .files import frozen

if TYPE_CHECKING:
    import numpy as np

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
    return [
        {
            "article_id": article["id"],
            "title": article["title"],
            "phrases": phrases,
            "text": t,
        }
        for t in passages
    ]


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
