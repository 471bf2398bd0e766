"""BM25 search (library: bm25s) over the knowledge base, in chunks, and over the goods."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .world import Store

CHUNK_WORDS = 90


class Search:
    """Both indexes of a store; answers are kept, since the same question is asked in many conversations."""

    def __init__(self, store: "Store"):
        self._chunks = [c for a in store.articles for c in chunks(a)]
        self._products = list(store.tables["products"].values())
        self._knowledge = _index([f"{c['title']} {' '.join(c['topics'])} {c['text']}" for c in self._chunks])
        self._goods = _index([product_text(p) for p in self._products])
        self.knowledge_base = lru_cache(maxsize=4096)(self._knowledge_base)
        self.products = lru_cache(maxsize=4096)(self._search_products)

    def _knowledge_base(self, query: str, count: int = 4) -> list[dict[str, str]]:
        """The `count` best chunks: article_id, title, text."""
        places = _best(self._knowledge, query, count)
        return [{k: self._chunks[i][k] for k in ("article_id", "title", "text")} for i in places]

    def _search_products(self, query: str, count: int = 60) -> list[dict[str, Any]]:
        """Products that share a word with the query, best first."""
        return [self._products[i] for i in _best(self._goods, query, count)]


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


def _index(texts: list[str]) -> Any:
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    return index


def _best(index: Any, query: str, count: int) -> list[int]:
    import bm25s

    words = bm25s.tokenize(query, stopwords="en", return_ids=False, show_progress=False)[0]
    known = [w for w in words if w in index.vocab_dict]
    if not known:
        return []
    scores = index.get_scores(known)
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [i for i in order[:count] if scores[i] > 0]
