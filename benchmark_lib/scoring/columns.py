"""Declare the columns of a frame once.

The frames, the importers and the data dictionary take types, units and words from the same declaration.
"""

import types
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

Kind = Literal["flag", "count", "number", "text"]
KINDS: dict[type, Kind] = {bool: "flag", int: "count", float: "number", str: "text"}
"""Kind by declared type: flag (true, false or unknown), whole number, measured number (NaN if unknown) or text."""


@dataclass(frozen=True)
class Column:
    """One column of a frame.

    A row declares the words, the unit and, optionally, another name. The annotated field gives the rest.
    """

    words: str
    """Meaning of the column in one sentence."""
    unit: str = ""
    """Unit of a count or a measurement; empty for flags and text."""
    name: str = ""
    """Name in the frame; by default the name of the field."""
    field: str = ""
    """Source field, under which a run file keeps the value."""
    kind: Kind = "text"
    """One of the values of `KINDS`."""

    @property
    def meaning(self) -> str:
        """Return the words with the unit in square brackets."""
        return f"{self.words.removesuffix('.')} [{self.unit}]." if self.unit else self.words


@lru_cache
def columns_of(row: type) -> dict[str, Column]:
    """Return the columns that a kind of row declares, by their names in the frame.

    A field without a `Column` is a detail that stays in the run file.

    Parameters
    ----------
    row : type
        A TypedDict whose columns are ``Annotated[TYPE, Column(...)]``.
    """
    columns = {}
    for field, hint in get_type_hints(row, include_extras=True).items():
        if get_origin(hint) is Annotated:
            declared, column = get_args(hint)
            name = column.name or field
            columns[name] = replace(column, name=name, field=field, kind=_kind(declared))
    return columns


@lru_cache
def names_of(row: type) -> dict[str, str]:
    """Return the frame's name of every field that is a column."""
    return {column.field: name for name, column in columns_of(row).items()}


def _kind(declared: Any) -> Kind:
    options = get_args(declared) if isinstance(declared, types.UnionType) else (declared,)
    return KINDS[next(option for option in options if option is not type(None))]
