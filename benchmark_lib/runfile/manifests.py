"""Check the form of a manifest, and set run files aside."""

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

OLD = "old"
"""The subfolder for run files that were set aside."""
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


def addresses(manifest: dict[str, Any]) -> dict[str, list[str]]:
    """Return the addresses of a run's models by side, each address once."""
    urls: dict[str, list[str]] = {}
    for one in manifest["sessions"]:
        for side, at in one.get("endpoints", {}).items():
            known = urls.setdefault(side, [])
            known += [at["base_url"]] * (at["base_url"] not in known)
    return urls


def without_line_ends(text: str) -> str:
    """Replace each sequence of tabs and line ends in a name or line with one space."""
    return LINE_ENDS.sub(" ", text)


def set_aside(path: Path) -> Path:
    """Move a run file into ``old/``, from which nothing is loaded; return its new path."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    new = path.parent / OLD / f"{path.stem[:200]}-{stamp}-{secrets.token_hex(2)}{path.suffix}"
    new.parent.mkdir(exist_ok=True)
    return path.replace(new)
