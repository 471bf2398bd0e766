"""Find the extras' offers by group and name, from the ``offers.toml`` of each folder.

A group is an extension point: ``commands``, ``tables``, ``figures``, ``stores``, ``findings``. An offer is written
``module:name``, relative to the extra's folder, and imported on first use. Without the folder ``extras/`` there are no
offers, and the core works without them.
"""

import tomllib
from collections.abc import Container, Iterator
from functools import lru_cache
from importlib import import_module
from inspect import ismodule
from pathlib import Path
from typing import Any

from .errors import BadInput

EXTRAS = Path(__file__).with_name("extras")


@lru_cache
def _tables() -> dict[str, dict[str, Any]]:
    return {path.parent.name: tomllib.loads(path.read_text("utf-8")) for path in sorted(EXTRAS.glob("*/offers.toml"))}


def groups() -> set[str]:
    """Return the groups that have offers."""
    return {group for table in _tables().values() for group in table}


def offered(group: str) -> dict[str, tuple[str, Any]]:
    """Return a group's offers by name, each as (extra, words), in the order of their files."""
    return {
        name: (extra, words) for extra, groups in _tables().items() for name, words in groups.get(group, {}).items()
    }


def offer(group: str, name: str) -> Any:
    """Return one offer, imported; raise `BadInput` if the folder of its extra is missing."""
    if name not in offered(group):
        raise BadInput(
            f"{name} ({group}) needs a folder of benchmark_lib/extras that is missing: install the whole package"
        )
    return load(*offered(group)[name])


def offers(group: str, names: Container[str] | None = None) -> Iterator[Any]:
    """Yield the offers of a group, imported: all, or those of the given names that are there."""
    yield from (load(*found) for name, found in offered(group).items() if names is None or name in names)


def load(extra: str, words: str) -> Any:
    """Return the object that ``module:name`` means in an extra; without a name, the module."""
    module, _, name = words.partition(":")
    inner = f".{module}" if module else ""
    found = import_module(f"{__package__}.extras.{extra}{inner}")
    return getattr(found, name) if name else found


def public(group: str, names: dict[str, Any]) -> list[str]:
    """Return a module's own public names, except modules, and the names of a group's offers."""
    own = {name for name, thing in names.items() if not (name.startswith("_") or ismodule(thing))}
    return sorted([*own - {"face", "public"}, *offered(group)])


def face(group: str, module: str) -> Any:
    """Return a ``__getattr__`` with which a module also exposes the offers of a group."""

    def get(name: str) -> Any:
        entry = offered(group).get(name)
        if entry is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return load(*entry)

    return get
