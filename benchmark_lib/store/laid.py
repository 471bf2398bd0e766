"""Overlay a store with a case's own rows, policy and articles, for one conversation."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BadInput
from .frozen import FrozenDict, frozen, thawed

if TYPE_CHECKING:
    from .world import Store


WHOLE = "large"
"""Name of a store's whole library; cases that add nothing to it share one index."""


def merged(below: Any, over: Any) -> Any:
    """Merge one tree of plain data over another.

    Mappings are merged, other values replace, and None removes. A dotted key reaches further down, also into lists:
    ``parcels.0.delivered_at``. A mapping by position (``{"0": ...}``) is merged into the entries of a list; a dotted
    key becomes such a mapping where nothing exists yet.
    """
    if isinstance(below, list) and isinstance(over, Mapping) and over and all(str(key).isdigit() for key in over):
        return [merged(entry, over.get(str(index), over.get(index, entry))) for index, entry in enumerate(below)]
    if not isinstance(over, Mapping) or not isinstance(below, Mapping):
        return over
    result = dict(below)
    for key, value in over.items():
        if isinstance(key, str) and "." in key and key not in result:
            _reach(result, key.split("."), value)
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key, {}), value)
    return result


def _reach(tree: dict[str, Any], path: list[str], value: Any) -> None:
    """Set the value at a path of `tree`, copying the inner values on the way."""
    node: Any = tree
    for step in path[:-1]:
        key: Any = int(step) if isinstance(node, list) else step
        inner = node[key] if isinstance(node, list) else node.get(key, {})
        node[key] = list(inner) if isinstance(inner, list) else dict(inner)
        node = node[key]
    last: Any = int(path[-1]) if isinstance(node, list) else path[-1]
    if value is None and isinstance(node, dict):
        node.pop(last, None)
    else:
        node[last] = merged(node[last] if isinstance(node, list) or last in node else {}, value)


def drawn(value: Any, seed: str) -> Any:
    """Replace each ``{one_of: [...]}`` of a tree with one of its values, determined by the seed."""
    if isinstance(value, Mapping):
        if value.keys() == {"one_of"}:
            return value["one_of"][zlib.crc32(seed.encode()) % len(value["one_of"])]
        return {key: drawn(inner, f"{seed}.{key}") for key, inner in value.items()}
    return [drawn(inner, f"{seed}.{index}") for index, inner in enumerate(value)] if isinstance(value, list) else value


def laid_over(
    store: Store, name: str, world: Mapping[str, Any], library: str | None = None, seed: str | None = None
) -> Store:
    """Return the store as a case sees it; without a world of its own, the store itself.

    Parameters
    ----------
    store, name : Store, str
        A store without an overlay, and the case's id, under which the result is cached.
    world : mapping
        ``rows`` (table, id, fields), ``policy`` (dotted path to value) and ``articles`` (each a mapping with id, title,
        topics and text).
    library : str, optional
        ``large`` for the store's whole library, or ids of its articles, separated by commas.
    seed : str, optional
        Seed of the world's draws, together with the store; the name by default.

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
    other = copy.copy(store)
    laid: dict[str, Any] = {}
    rows = world.get("rows") or {}
    unknown = sorted(set(rows) - set(store.tables))
    if unknown:
        raise BadInput(
            f"case {name}: world.rows: there is no table {unknown[0]!r}: name one of {', '.join(store.tables)}"
        )
    if rows:
        tables = {table: _rows(store.tables[table], over) for table, over in rows.items()}
        laid |= {"tables": FrozenDict({**store.tables, **tables})}
    policy = drawn(world.get("policy") or {}, f"{store.info.get('canary')} {seed}")
    if policy:
        laid |= {"policy": frozen(merged(thawed(store.policy), policy))}
    vars(other).update(laid, below=store, laid=frozenset({*rows, *(["policy"] if policy else [])}), views={})
    own = world.get("articles") or []
    if policy or own or library:
        vars(other)["laid"] |= {"articles"}
        for made in ("articles", "search"):
            vars(other).pop(made, None)
        if library == WHOLE and name != WHOLE and not (policy or own):
            library_store = laid_over(store, WHOLE, {}, WHOLE)
            vars(other).update(articles=library_store.articles, search=library_store.search)
        else:
            vars(other)["articles"] = frozen(list(_articles(other, own, library)))
    return other


def _rows(below: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    return FrozenDict({**below, **{key: frozen(merged(thawed(below.get(key, {})), row)) for key, row in over.items()}})


def _articles(store: Store, own: list[dict[str, Any]], library: str | None) -> Iterator[dict[str, Any]]:
    """Yield the store's, the library's and a case's own articles; later ids replace earlier."""
    below = store.below if "policy" not in store.laid else None
    by_id = {a["id"]: a for a in (thawed(below.articles) if below is not None else store.read_articles())}
    if library:
        wanted = None if library == WHOLE else frozenset(part.strip() for part in library.split(","))
        by_id |= {a["id"]: a for a in store.read_library(wanted)}
    for article in own:
        text = store.filled(article["text"], article["id"])
        by_id[article["id"]] = {**article, "text": text.strip()}
    yield from by_id.values()
