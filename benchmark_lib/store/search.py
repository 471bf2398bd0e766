"""BM25 search (library: bm25s) over the knowledge base, in chunks, and over the goods."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .frozen import FrozenList, frozen

if TYPE_CHECKING:
    from .world import Store

CHUNK_WORDS = 90


class Search:
    """Both indexes of a store; answers are kept, since the same question is asked in many conversations."""

    def __init__(self, store: "Store"):
        self._chunks = [c for a in store.articles for c in chunks(a)]
        self._products = list(store.tables["products"].values())
        self._knowledge = _Index([f"{c['title']} {' '.join(c['topics'])} {c['text']}" for c in self._chunks])
        self._goods = _Index([product_text(p) for p in self._products])
        self.knowledge_base = lru_cache(maxsize=4096)(self._knowledge_base)
        self.products = lru_cache(maxsize=4096)(self._search_products)

    def _knowledge_base(self, query: str, count: int = 4) -> list[dict[str, str]]:
        """The `count` best chunks: article_id, title, text."""
        places = self._knowledge.best(query, count)
        return frozen([{k: self._chunks[i][k] for k in ("article_id", "title", "text")} for i in places])

    def _search_products(self, query: str, count: int = 60) -> list[dict[str, Any]]:
        """Products that share a word with the query, best first."""
        return FrozenList([self._products[i] for i in self._goods.best(query, count)])


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
    topics = article.get("topics") or []
    return [{"article_id": article["id"], "title": article["title"], "topics": topics, "text": t} for t in found]


def product_text(product: dict[str, Any]) -> str:
    """What the search reads of a product."""
    values = " ".join(f"{k.replace('_', ' ')} {v}" for k, v in product["attributes"].items())
    options = " ".join({str(v[o]) for v in product["variants"] for o in ("color", "size") if v.get(o)})
    return f"{product['title']} {product['category'].replace('_', ' ')} {product['description']} {values} {options}"


class _Index:
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
