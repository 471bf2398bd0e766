"""Overlay a store with a case's own rows, policy and articles, for one conversation."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .frozen import FrozenDict, frozen, merged, thawed

if TYPE_CHECKING:
    from .world import Store

WHOLE = "large"
"""Name of a store's whole library; cases that add nothing to it share one index."""


def laid_over(
    store: Store, name: str, world: Mapping[str, Any], library: str | None = None, seed: str | None = None
) -> Store:
    """Return the store as a case sees it: the store itself if the case has no world of its own.

    Parameters
    ----------
    store, name : Store, str
        A store without an overlay, and the case's id, under which the result is cached.
    world : mapping
        ``rows`` (table, id, fields), ``policy`` (dotted path to value) and ``articles`` (each a mapping with id, title,
        topics and text).
    library : str, optional
        ``large`` for the store's whole library, or comma-separated ids of its articles.
    seed : str, optional
        Seed of the world's draws, combined with the store's canary; `name` by default.

    Raises
    ------
    BadInput
        If the world names a table that the store does not have.
    """
    if store.below is not None or not (world or library):
        return store
    kept = store.views.get(name)
    if kept is None or kept[0] != (world, library):
        kept = store.views[name] = ((world, library), _laid(store, name, world, library, seed or name))
    return kept[1]


def _laid(store: Store, name: str, world: Mapping[str, Any], library: str | None, seed: str) -> Store:
    rows, articles = world.get("rows") or {}, world.get("articles") or []
    if unknown := sorted(set(rows) - set(store.tables)):
        raise BadInput(
            f"case {name}: world.rows: there is no table {unknown[0]!r}: name one of {', '.join(store.tables)}"
        )
    own: dict[str, Any] = {"below": store, "views": {}}
    if rows:
        own["tables"] = FrozenDict({**store.tables, **{t: _rows(store.tables[t], over) for t, over in rows.items()}})
    policy = _drawn(world.get("policy") or {}, f"{store.info.get('canary')} {seed}")
    if policy:
        own["policy"] = frozen(merged(thawed(store.policy), policy))
    rewritten = bool(policy or articles or library)
    own["laid"] = frozenset({*rows, *(["policy"] if policy else []), *(["articles"] if rewritten else [])})
    other = copy.copy(store)
    vars(other).update(own)
    if rewritten:
        for cached in ("articles", "search"):
            vars(other).pop(cached, None)
        if library == WHOLE and name != WHOLE and not (policy or articles):
            whole = laid_over(store, WHOLE, {}, WHOLE)
            vars(other).update(articles=whole.articles, search=whole.search)
        else:
            below = other.read_articles() if policy else thawed(store.articles)
            vars(other)["articles"] = frozen(_articles(other, below, articles, library))
    return other


def _drawn(value: Any, seed: str) -> Any:
    """Replace each ``{one_of: [...]}`` of a tree with one of its values, determined by the seed."""
    if isinstance(value, Mapping):
        if value.keys() == {"one_of"}:
            return value["one_of"][zlib.crc32(seed.encode()) % len(value["one_of"])]
        return {key: _drawn(inner, f"{seed}.{key}") for key, inner in value.items()}
    return [_drawn(inner, f"{seed}.{index}") for index, inner in enumerate(value)] if isinstance(value, list) else value


def _rows(below: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    return FrozenDict({**below, **{key: frozen(merged(thawed(below.get(key, {})), row)) for key, row in over.items()}})


def _articles(
    store: Store, below: list[dict[str, Any]], own: list[dict[str, Any]], library: str | None
) -> list[dict[str, Any]]:
    # Of articles with the same id, the last replaces the others.
    wanted = None if library == WHOLE else frozenset(part.strip() for part in (library or "").split(","))
    added = store.read_library(wanted) if library else []
    filled = [{**article, "text": store.filled(article["text"], article["id"]).strip()} for article in own]
    return list({article["id"]: article for article in (*below, *added, *filled)}.values())
