"""Looking through nested data."""

from collections.abc import Iterator
from typing import Any


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of nested data, each with the field it stands in."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner, key)
    else:
        yield key, value


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Every mapping in nested data, the outer ones first."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from dicts(inner)
