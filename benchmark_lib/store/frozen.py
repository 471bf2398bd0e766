"""Make rows and policies read-only, walk over them, and make changed copies of them."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested data with their fields, at any depth, without recursion."""
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


def _refuse(self: Any, *arguments: Any, **named: Any) -> NoReturn:
    raise TypeError(
        "the store is shared by every conversation and cannot be changed: take desk.edit(table, key), which "
        "gives a copy that can"
    )


class FrozenDict(dict):
    """A read-only dict; ``dict(row)`` and ``desk.edit`` return an editable copy."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class FrozenList(list):
    """A read-only list; ``list(rows)`` returns an editable copy."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)


def frozen(value: Any) -> Any:
    """Return a read-only copy, at every depth, of dicts and lists.

    Subclasses work better than proxies: orjson writes them at full speed, and `isinstance` and equality keep working.
    """
    if isinstance(value, dict):
        return FrozenDict({key: frozen(inner) for key, inner in value.items()})
    return FrozenList(map(frozen, value)) if isinstance(value, list) else value


def thawed(value: Any) -> Any:
    """Return a plain copy that can be edited and written as YAML."""
    return copy.deepcopy(value)


def merged(below: Any, over: Any) -> Any:
    """Merge one tree of plain data over another.

    Mappings are merged, other values replace old ones, and None removes them. A mapping by position (``{"0": ...}``)
    is merged into the entries of a list. A dotted key, such as ``parcels.0.delivered_at``, means nested mappings.
    """
    if not isinstance(over, Mapping):
        return over
    if isinstance(below, list) and over and all(str(key).partition(".")[0].isdigit() for key in over):
        entries = list(below)
        for key, value in over.items():
            place, _, path = str(key).partition(".")
            entries[int(place)] = merged(entries[int(place)], {path: value} if path else value)
        return entries
    if not isinstance(below, Mapping):
        return over
    result = dict(below)
    for key, value in over.items():
        if isinstance(key, str) and "." in key and key not in result:
            key, _, path = key.partition(".")
            value = {path: value}
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key, {}), value)
    return result
