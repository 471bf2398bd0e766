"""BM25 search (library: bm25s) over texts, and over the knowledge base in chunks."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from .frozen import frozen

CHUNK_WORDS = 400
"""Words from which a passage ends with its paragraph: an article of usual length is one passage, its rule beside its exceptions."""


class Search:
    """The index of a knowledge base; answers are kept, since the same question is asked in many conversations."""

    def __init__(self, articles: list[dict[str, Any]]):
        self._chunks = [c for a in articles for c in chunks(a)]
        self._index = Index([f"{c['title']} {' '.join(c['words'])} {c['text']}" for c in self._chunks])
        self.knowledge_base = lru_cache(maxsize=4096)(self._knowledge_base)

    def _knowledge_base(self, query: str, count: int = 4) -> list[dict[str, str]]:
        """The `count` best chunks: article_id, title, text."""
        places = self._index.best(query, count)
        return frozen([{k: self._chunks[i][k] for k in ("article_id", "title", "text")} for i in places])


def chunks(article: dict[str, Any]) -> list[dict[str, Any]]:
    """Split an article at paragraph ends into chunks of about `CHUNK_WORDS` words."""
    found, part = [], []
    for paragraph in article["text"].split("\n\n"):
        part.append(paragraph)
        if len(" ".join(part).split()) >= CHUNK_WORDS:
            found.append("\n\n".join(part))
            part = []
    if part:
        found.append("\n\n".join(part))
    words = [*(article.get("topics") or []), *(article.get("asked_as") or [])]
    return [{"article_id": article["id"], "title": article["title"], "words": words, "text": t} for t in found]


class Index:
    """One BM25 index with the tokenizer of its texts."""

    def __init__(self, texts: list[str]):
        import bm25s
        from bm25s.tokenization import Tokenizer

        logging.getLogger("bm25s").setLevel(logging.WARNING)
        self._tokenizer, self._bm25 = Tokenizer(stopwords="en"), bm25s.BM25()
        self._bm25.index(self._tokenizer.tokenize(texts, return_as="tuple", show_progress=False), show_progress=False)

    def best(self, query: str, count: int) -> list[int]:
        """Places of the `count` best texts, best first; none that shares no word with the query."""
        words = next(self._tokenizer.streaming_tokenize([query], update_vocab=False, allow_empty=False))
        if not words:
            return []
        scores = self._bm25.get_scores_from_ids(words)
        return [int(i) for i in (-scores).argsort(kind="stable")[:count] if scores[i] > 0]
