"""A tool's arguments as single fields, for a person to fill in."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """One argument, or one field of an argument that is an object.

    Attributes
    ----------
    path : tuple of str
        The names from the outermost argument inwards.
    hint : str
        Description of the expected value.
    """

    path: tuple[str, ...]
    kind: str
    required: bool
    hint: str

    @property
    def place(self) -> str:
        """Return the path as text, such as ``address.city``."""
        return ".".join(self.path)

    def put(self, text: str, arguments: dict[str, Any]) -> None:
        """Store the typed value in the arguments; omit an empty optional field.

        Raise `ValueError` with an explanation if the value has the wrong type.
        """
        text = text.strip()
        if not text and not self.required:
            return
        value = self._read(text)
        *outer, last = self.path
        for name in outer:
            arguments = arguments.setdefault(name, {})
        arguments[last] = value

    def _read(self, text: str) -> Any:
        try:
            return _READERS.get(self.kind, str)(text)
        except (ValueError, KeyError):
            raise ValueError(f"{self.place} cannot be {text!r}: {self.hint or self.kind}") from None


def _several(text: str) -> list[Any]:
    if text.startswith("["):
        return json.loads(text)
    return [one.strip() for one in text.split(",") if one.strip()]


_TRUTH = {"true": True, "yes": True, "false": False, "no": False}
_READERS: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "number": float,
    "boolean": lambda text: _TRUTH[text.lower()],
    "array": _several,
}
"""Parsers of typed text by JSON type; values of other types remain text."""


def fields_of(schema: dict[str, Any], path: tuple[str, ...] = (), needed: bool = True) -> list[Field]:
    """Return the fields of an object's schema, with inner objects expanded."""
    fields = []
    for name, inner in schema.get("properties", {}).items():
        required = needed and name in schema.get("required", [])
        if inner.get("type") == "object" and inner.get("properties"):
            fields += fields_of(inner, (*path, name), required)
        else:
            fields.append(Field((*path, name), inner.get("type", "string"), required, _hint(inner, required)))
    return fields


_HOW = {
    "array": "several separated by commas",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "yes or no",
}
"""How to enter a value of each type, if its description does not say."""


def _hint(schema: dict[str, Any], required: bool) -> str:
    words = [
        schema.get("description", "").rstrip("."),
        f"one of {', '.join(map(str, schema['enum']))}" if "enum" in schema else "",
        _HOW.get(schema.get("type", ""), ""),
        "" if required else "may be left empty",
    ]
    return "; ".join(filter(None, words))
