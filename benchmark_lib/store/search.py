"""BM25 search (library: bm25s) over texts, and over the knowledge base in passages."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .frozen import frozen

if TYPE_CHECKING:
    import numpy as np

CHUNK_WORDS = 400
"""Words from which a passage ends with its paragraph.

An article of the usual length is one passage, so that a rule is found together with its exceptions.
"""
BEGINNING = 5
"""Letters by which forms of a word are alike: "cancelled" and "cancellation"."""
WEIGHT_OF_PHRASE = 0.6
"""What the best single phrase of an article (its title, a topic, a wording it is asked for in) counts beside its
text."""


class Search:
    """The index of a knowledge base; answers are kept, since the same question is asked in many conversations."""

    def __init__(self, articles: list[dict[str, Any]]):
        import numpy as np

        self._chunks = [c for a in articles for c in chunks(a)]
        self._index = TextIndex([f"{'; '.join(c['phrases'])} {c['text']}" for c in self._chunks], words_and_beginnings)
        self._phrases = TextIndex([phrase for c in self._chunks for phrase in c["phrases"]], words_and_beginnings)
        self._first_phrase = np.cumsum([0, *(len(c["phrases"]) for c in self._chunks)])[:-1]
        self.knowledge_base = lru_cache(maxsize=4096)(self._knowledge_base)

    def _knowledge_base(self, query: str, count: int = 4) -> list[dict[str, str]]:
        """The `count` best passages: article_id, title, text."""
        import numpy as np

        scores = self._index.scores(query)
        nearest = np.maximum.reduceat(self._phrases.scores(query), self._first_phrase)
        places = best(scores + WEIGHT_OF_PHRASE * nearest, count)
        return frozen([{k: self._chunks[i][k] for k in ("article_id", "title", "text")} for i in places])


def chunks(article: dict[str, Any]) -> list[dict[str, Any]]:
    """Split an article at paragraph ends into passages of about `CHUNK_WORDS` words.

    The phrases of each are the article's id and title, its ``topics`` and, separated by semicolons, the wordings it is
    ``asked_as``; they are searched, and of them only id and title are shown.
    """
    found, part = [], []
    for paragraph in article["text"].split("\n\n"):
        part.append(paragraph)
        if len(" ".join(part).split()) >= CHUNK_WORDS:
            found.append("\n\n".join(part))
            part = []
    if part:
        found.append("\n\n".join(part))
    asked = [phrase.strip() for phrase in (article.get("asked_as") or "").split(";")]
    phrases = [article["id"], article["title"], *(article.get("topics") or []), *filter(None, asked)]
    return [{"article_id": article["id"], "title": article["title"], "phrases": phrases, "text": t} for t in found]


@lru_cache(maxsize=8192)
def words_and_beginnings(text: str) -> tuple[str, ...]:
    """The words of a text that mean something, and beside each its beginning, which the forms of a word share."""
    from bm25s.stopwords import STOPWORDS_EN

    words = [w for w in re.findall(r"\w\w+", text) if w not in STOPWORDS_EN]
    return (*words, *(f"{w[:BEGINNING]}*" for w in words))


class TextIndex:
    """One BM25 index with the tokenizer of its texts.

    `splitter` makes the words in lower case that are compared; by default they are all but the most common ones.
    """

    def __init__(self, texts: list[str], splitter: Callable[[str], Sequence[str]] | None = None):
        import bm25s
        from bm25s.tokenization import Tokenizer

        logging.getLogger("bm25s").setLevel(logging.WARNING)
        own: dict[str, Any] = {"splitter": splitter, "stopwords": None} if splitter else {"stopwords": "en"}
        self._tokenizer, self._bm25, self._count = Tokenizer(**own), bm25s.BM25(), len(texts)
        self._bm25.index(self._tokenizer.tokenize(texts, return_as="tuple", show_progress=False), show_progress=False)

    def scores(self, query: str) -> np.ndarray:
        """How well each text answers a query; 0 for one that shares no word with it."""
        import numpy as np

        words = next(self._tokenizer.streaming_tokenize([query], update_vocab=False, allow_empty=False))
        return self._bm25.get_scores_from_ids(words) if words else np.zeros(self._count)

    def best(self, query: str, count: int) -> list[int]:
        """Places of the `count` best texts, best first; none that shares no word with the query."""
        return best(self.scores(query), count)


def best(scores: np.ndarray, count: int) -> list[int]:
    """Places of the `count` highest scores above 0, highest first."""
    return [int(i) for i in (-scores).argsort(kind="stable")[:count] if scores[i] > 0]
