"""Fast tau2 environments: rows of a parsed database are shared until first taken.

The tools of tau2 change a row only after taking it by key, or while iterating over a list.
A shared row never changes, so its copier and its JSON are computed once per process.
"""

import copy
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from enum import Enum
from functools import cached_property, partial
from typing import Any, SupportsIndex

from pydantic import BaseModel

PLAIN = {str, int, float, bool, type(None), date, datetime}
"""Types of most fields; they are immutable and need no copy."""


class Shared:
    """Cached data of an immutable row: its copier, and its JSON once a hash has needed it."""

    def __init__(self, row: Any):
        self.row, self.text = row, b""

    @cached_property
    def copy(self) -> Callable[[], Any]:
        """Return the row's copier."""
        return _copier(self.row)


class Rows(dict):
    """A keyed table in a database or within a row."""

    def __init__(self, rows: dict[str, Any]):
        super().__init__(rows)
        self.taken: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        row = super().__getitem__(key)
        if key not in self.taken:
            row = own_copy(row)
            self[key] = row
        return row

    def __setitem__(self, key: str, row: Any) -> None:
        self.taken.add(key)
        super().__setitem__(key, row)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the conversation's own copy of the row with a key."""
        try:
            return self[key]
        except KeyError:
            return default

    def written(self) -> Iterator[bytes]:
        """Yield the table as pieces of JSON, sorted by key."""
        rows = (_written(row, key not in self.taken, key) for key, row in sorted(self.items()))
        return _joined(b"{}", rows)


class Listed(list):
    """A table that is a list, from which the tools of tau2 never remove anything."""

    def __init__(self, rows: list[Any]):
        super().__init__(list.copy(rows))
        self._shared = set(range(len(rows)))

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        return list(self)[place]

    def __iter__(self) -> Iterator[Any]:
        return self._taking() if self._shared else super().__iter__()

    def own(self) -> list[int]:
        """Return the indices of rows that the conversation has taken or added."""
        return [index for index in range(len(self)) if index not in self._shared]

    def written(self) -> Iterator[bytes]:
        """Yield the table as pieces of JSON."""
        rows = (_written(row, n in self._shared) for n, row in enumerate(super().__iter__()))
        return _joined(b"[]", rows)

    def _taking(self) -> Iterator[Any]:
        for index, row in enumerate(super().__iter__()):
            if index in self._shared:
                self._shared.remove(index)
                row = own_copy(row)
                super().__setitem__(index, row)
            yield row


def restored(database: Any) -> Any:
    """Return a copy of a database for one conversation."""
    fresh = database.model_copy()
    fields = vars(fresh)
    for name, value in fields.items():
        fields[name] = (
            Rows(value) if isinstance(value, dict) else Listed(value) if isinstance(value, list) else own_copy(value)
        )
    return fresh


def own_copy(row: Any) -> Any:
    """Return a deep copy of an immutable row."""
    return _known(row).copy()


def hashed(database: Any) -> str:
    """Return the package's hash of a database, without building its whole JSON."""
    tables = {name for name, value in vars(database).items() if isinstance(value, Rows | Listed)}
    rest, digest = database.model_dump(exclude=tables), hashlib.sha256()
    for index, (name, value) in enumerate(sorted(vars(database).items())):
        digest.update(b", " if index else b"{")
        digest.update(_json(name) + b": ")
        for piece in value.written() if name in tables else [_json(rest[name])]:
            digest.update(piece)
    digest.update(b"}")
    return digest.hexdigest()


_SHARED: dict[int, Shared] = {}


def _known(row: Any) -> Shared:
    # The cache keeps the row alive, so no other object gets its id.
    shared = _SHARED.get(id(row))
    if shared is None:
        shared = _SHARED[id(row)] = Shared(row)
    return shared


def _joined(ends: bytes, rows: Iterable[bytes]) -> Iterator[bytes]:
    yield ends[:1]
    for index, row in enumerate(rows):
        if index:
            yield b", "
        yield row
    yield ends[1:]


def _written(row: Any, shared: bool, key: str | None = None) -> bytes:
    known = _known(row) if shared else None
    if known and known.text:
        return known.text
    text = _json(row.model_dump() if isinstance(row, BaseModel) else row)
    if key is not None:
        text = _json(key) + b": " + text
    if known:
        known.text = text
    return text


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()


def _copier(value: Any) -> Callable[[], Any]:
    """Return a deep copier of a value, faster than `copy.deepcopy`."""
    if isinstance(value, BaseModel) and not (value.__pydantic_extra__ or value.__pydantic_private__):
        return _of_model(value, _copiers(vars(value).items()))
    if isinstance(value, dict):
        return partial(Rows, value) if _copiers(value.items()) else value.copy
    if type(value) is not list:
        return partial(copy.deepcopy, value)
    inner = _copiers(enumerate(value))

    def copied() -> Any:
        fresh = value.copy()
        for key, make in inner:
            fresh[key] = make()
        return fresh

    return copied if inner else value.copy


def _of_model(model: BaseModel, inner: list[tuple[Any, Callable[[], Any]]]) -> Callable[[], Any]:
    """Return a copier of a model that also copies some members."""
    kind, put, values, named = type(model), object.__setattr__, vars(model), model.__pydantic_fields_set__

    def copied() -> Any:
        fresh, fields = kind.__new__(kind), values.copy()
        for name, make in inner:
            fields[name] = make()
        put(fresh, "__dict__", fields)
        put(fresh, "__pydantic_fields_set__", named.copy())
        put(fresh, "__pydantic_extra__", None)
        put(fresh, "__pydantic_private__", None)
        return fresh

    return copied


def _copiers(members: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Callable[[], Any]]]:
    return [(n, _copier(one)) for n, one in members if type(one) not in PLAIN and not isinstance(one, Enum)]


# --- Quick environments

KITS = ("tools", "user_tools")


def quick(environment: Any) -> Any:
    """Return an environment that accepts restored databases.

    Its toolkits do not bind all tools twice for a call, and hash a database from its rows' JSON.
    It formats no result for a log that is disabled.
    """
    from tau2.data_model.message import ToolMessage

    def get_response(self: Any, message: Any) -> Any:
        error = False
        try:
            result = self.make_tool_call(message.name, requestor=message.requestor, **message.arguments)
            self.sync_tools()
        except Exception as raised:
            result, error = f"Error: {raised}", True
        said = {"id": message.id, "content": self.to_json_str(result), "requestor": message.requestor}
        return ToolMessage(**said, role="tool", error=error)

    result = second(environment, get_response=get_response)
    for name in KITS:
        kit = getattr(environment, name)
        setattr(result, name, kit and _kit(kit))
    return result


def second(thing: Any, **methods: Any) -> Any:
    """Return a shallow copy of an object with other methods."""
    kind = type(thing)
    copied: Any = object.__new__(type(kind.__name__, (kind,), methods) if methods else kind)
    vars(copied).update(vars(thing))
    return copied


def _kit(kit: Any) -> Any:
    kind, names = type(kit), frozenset(kit.tools)

    def use_tool(self: Any, tool_name: str, **given: Any) -> Any:
        return getattr(self, tool_name)(**given) if tool_name in names else kind.use_tool(self, tool_name, **given)

    return second(kit, use_tool=use_tool, get_db_hash=lambda self: hashed(self.db))
