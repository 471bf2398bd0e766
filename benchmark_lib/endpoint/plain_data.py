"""Read small, user-edited YAML files as typed data, and say where an error is."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

import orjson
from pydantic import BeforeValidator, TypeAdapter, ValidationError

from ..errors import BadInput
from ..textfiles import read_yaml

LARGEST_FILE = 1_000_000
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
SAID = {
    "invalid_key": "this name is not a string; put it in quotes",
    "invalid-json-value": "JSON cannot represent this value; put it in quotes",
    "missing": "field required; add it",
}
"""Our explanations, by pydantic's name for the error."""
T = TypeVar("T")
Noted = Annotated[str, BeforeValidator(lambda value: str(value) if isinstance(value, (date, int, float)) else value)]
"""A text that YAML may have read as a date or a number."""


def read_mapping(path: Path) -> dict[Any, Any]:
    """Return the mapping in a YAML file; raise `BadInput` if there is none to read."""
    content = read_yaml(path, LARGEST_FILE)
    if not isinstance(content, dict | None):
        raise BadInput(f"{path} must contain a mapping; begin it with a line like 'agent:'")
    return content or {}


def read_as(kind: type[T], content: Any, where: str, unknown: str = "is not known there; remove it") -> T:
    """Return plain data, or the bytes of a JSON text, as a typed value.

    Raise a `BadInput` that names the first part that does not fit; `unknown` is the reason given for an unknown field.
    """
    reader, in_json = _adapter(kind), isinstance(content, bytes)
    try:
        return reader.validate_json(content, strict=True) if in_json else reader.validate_python(content)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        first = next((problem for problem in problems if problem["type"] in UNKNOWN), problems[0])
        place = _place(first, orjson.loads(content) if in_json else content)
        why = f"{place!r} {unknown}" if first["type"] in UNKNOWN else f"{place}: {_reason(first)}".removeprefix(": ")
        raise BadInput(f"{where}: {why}") from None


def _reason(error: Any) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    message = error["msg"].partition(" or an instance of ")[0]
    kind = "invalid_key" if error["loc"][-1:] == ("[key]",) else error["type"]
    return SAID.get(kind, f"{message[0].lower()}{message[1:]}; change that value")


def _place(error: Any, content: Any) -> str:
    # The place of an error in the file, without the names that only pydantic uses.
    parts = []
    for part in error["loc"]:
        if isinstance(content, list) and isinstance(part, int):
            parts.append(f"entry {part + 1}")
            content = content[part]
        elif isinstance(content, dict) and (part in content or error["type"] == "missing"):
            parts.append(str(part))
            content = content.get(part)
    return " ".join(", ".join(parts).split())[:100]


_adapter: Callable[[Any], TypeAdapter[Any]] = lru_cache(maxsize=16)(TypeAdapter)


def filled(entries: Any) -> Any:
    """Return a list of mappings without their empty fields, and anything else unchanged."""
    if not isinstance(entries, list):
        return entries or []
    return [{n: v for n, v in e.items() if v not in (None, "")} if isinstance(e, dict) else e for e in entries]


def fitting(entries: Iterable[T], model: str) -> Iterator[T]:
    """Yield the entries whose `model` (a name or pattern) matches, with or without the vendor."""
    entries = list(entries)
    for name in dict.fromkeys((model.lower(), model.lower().rpartition("/")[2])):
        yield from (entry for entry in entries if fnmatchcase(name, entry.model.lower()))  # type: ignore[attr-defined]
