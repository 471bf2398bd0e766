"""Columns of a frame, declared once: the frames, the importers and the data dictionary read types, units and words off one kind of row."""

import types
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

Kind = Literal["flag", "count", "number", "text"]
KINDS: dict[type, Kind] = {bool: "flag", int: "count", float: "number", str: "text"}
"""How a declared type stands in a frame: true, false or unknown; a whole number; a measured number, NaN where unknown; text."""


@dataclass(frozen=True)
class Column:
    """One column of a frame. A row declares the words and the unit; its name and kind are those of the annotated field.

    Attributes
    ----------
    words : str
        One sentence that says what stands in it.
    unit : str
        What is counted or measured; empty for flags and text.
    name : str
        The field.
    kind : str
        One of `KINDS`.
    """

    words: str
    unit: str = ""
    name: str = ""
    kind: Kind = "text"

    @property
    def meaning(self) -> str:
        """The words with the unit in square brackets."""
        return f"{self.words.removesuffix('.')} [{self.unit}]." if self.unit else self.words


@lru_cache
def columns_of(row: type) -> dict[str, Column]:
    """The columns a kind of row declares, in order; a field without a `Column` is a detail that stays in the run file.

    Parameters
    ----------
    row : type
        A TypedDict whose columns are ``Annotated[TYPE, Column(...)]``.
    """
    found = {}
    for name, hint in get_type_hints(row, include_extras=True).items():
        if get_origin(hint) is Annotated:
            declared, column = get_args(hint)
            found[name] = replace(column, name=name, kind=_kind(declared))
    return found


def _kind(declared: Any) -> Kind:
    """The kind of a declared type; that it may be unknown is left aside."""
    options = get_args(declared) if isinstance(declared, types.UnionType) else (declared,)
    return KINDS[next(option for option in options if option is not type(None))]
