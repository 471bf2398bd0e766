"""Data that every conversation shares and none may change: dicts and lists that refuse to be altered."""

import copy
from typing import Any, NoReturn


def _refuse(self: Any, *arguments: Any, **named: Any) -> NoReturn:
    raise TypeError(
        "the store is shared by every conversation and cannot be changed: take desk.edit(table, key), which "
        "gives a copy that can"
    )


class FrozenDict(dict):
    """A dict that is only read; ``dict(row)`` and ``desk.edit`` give one that can be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> Any:
        return dict, (dict(self),)


class FrozenList(list):
    """A list that is only read; ``list(rows)`` gives one that can be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def __reduce__(self) -> Any:
        return list, (list(self),)


def frozen(value: Any) -> Any:
    """Freeze dicts and lists all the way down; what is given is used up.

    Subclasses rather than proxies: orjson writes them as fast as plain ones, and `isinstance` and equality still work.
    """
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                value[key] = frozen(inner)
        return FrozenDict(value)
    if isinstance(value, list):
        return FrozenList([frozen(inner) if isinstance(inner, (dict, list)) else inner for inner in value])
    return value


def thawed(value: Any) -> Any:
    """A plain copy that may be changed, and that YAML can write."""
    return copy.deepcopy(value)
