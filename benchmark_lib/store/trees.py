"""Walk through nested data."""

from collections.abc import Iterator
from typing import Any


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested data, each with its field; works at any depth without recursion."""
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
