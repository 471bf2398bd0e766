"""Check the form of a manifest, and keep the list of hidden run files."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ..outputs import writing

HIDDEN = ".hidden"
"""Name of the file in a folder of runs that lists the hidden runs, one per line."""
LINE_ENDS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class _Input(_Strict):
    value: Any
    hash: str


class _Session(_Strict):
    code: dict[str, Any] = {}


class _Manifest(_Strict):
    run_id: str
    model: str
    source: str
    inputs: dict[str, _Input]
    cases: dict[str, str]
    trials: int
    planned: dict[str, Annotated[int, Field(ge=0)]] = Field(min_length=1)
    sessions: list[_Session]
    counted_on: dict[str, list[Annotated[list[int], Field(min_length=2, max_length=2)]]] = {}

    @field_validator("inputs")
    @classmethod
    def _names_its_store(cls, inputs: dict[str, _Input]) -> dict[str, _Input]:
        if "store" not in inputs:
            raise ValueError("the store is missing")
        return inputs


def wrong_part(manifest: dict[str, Any]) -> str | None:
    """Describe the first part of a manifest that is missing or wrong; None if all are fine."""
    try:
        _Manifest.model_validate(manifest)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ").removeprefix("Input ")
        return f"no {place}" if first["type"] == "missing" else f"a wrong {place} ({message})"
    return None


def without_line_ends(text: str) -> str:
    """Replace each sequence of tabs and line ends in a name or line with one space."""
    return LINE_ENDS.sub(" ", text)


def is_hidden(path: Path) -> bool:
    """Return whether a run file is hidden in its folder."""
    return path.name in _hidden_in(path.parent)


def hide(path: Path, hidden: bool = True) -> bool:
    """Hide a run file, or show it again; return whether that changed anything."""
    names = _hidden_in(path.parent)
    if (path.name in names) == hidden:
        return False
    with writing(path.parent, ""):
        text = "".join(f"{name}\n" for name in sorted(names ^ {path.name}))
        (path.parent / HIDDEN).write_text(text, encoding="utf-8")
    return True


def _hidden_in(folder: Path) -> set[str]:
    try:
        return set((folder / HIDDEN).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        return set()
