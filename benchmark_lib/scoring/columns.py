"""Columns of a frame, declared once.

The frames, the importers and the data dictionary take types, units and words from one kind of row.
"""

import types
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

Kind = Literal["flag", "count", "number", "text"]
KINDS: dict[type, Kind] = {bool: "flag", int: "count", float: "number", str: "text"}
"""How a declared type appears in a frame. True, false or unknown; a whole number; a measured number, NaN where unknown;
text."""


@dataclass(frozen=True)
class Column:
    """One column of a frame. A row declares the words, the unit and, where the frame has a better one, the name; the rest comes from the annotated field."""

    words: str
    """One sentence that says what it holds."""
    unit: str = ""
    """What is counted or measured; empty for flags and text."""
    name: str = ""
    """Its name in the frame; the field's unless declared."""
    field: str = ""
    """The field it is read from, by which a run file keeps the value."""
    kind: Kind = "text"
    """One of `KINDS`."""

    @property
    def meaning(self) -> str:
        """The words with the unit in square brackets."""
        return f"{self.words.removesuffix('.')} [{self.unit}]." if self.unit else self.words


@lru_cache
def columns_of(row: type) -> dict[str, Column]:
    """The columns that a kind of row declares, by their names in the frame; a field without a `Column` stays in the run file as a detail.

    Parameters
    ----------
    row : type
        A TypedDict whose columns are ``Annotated[TYPE, Column(...)]``.
    """
    found = {}
    for field, hint in get_type_hints(row, include_extras=True).items():
        if get_origin(hint) is Annotated:
            declared, column = get_args(hint)
            name = column.name or field
            found[name] = replace(column, name=name, field=field, kind=_kind(declared))
    return found


@lru_cache
def names_of(row: type) -> dict[str, str]:
    """The name in the frame of every field that is a column."""
    return {column.field: name for name, column in columns_of(row).items()}


def _kind(declared: Any) -> Kind:
    """The kind of a declared type; whether it may be unknown does not matter."""
    options = get_args(declared) if isinstance(declared, types.UnionType) else (declared,)
    return KINDS[next(option for option in options if option is not type(None))]
