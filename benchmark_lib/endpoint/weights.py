"""Say whether a model's weights are open, from a dated file that users may edit."""

from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from ..project import DATA
from ..records import is_played, source_of
from .plain_data import Noted, filled, fitting, read_as, read_mapping

WEIGHTS = DATA / "weights.yaml"
OPEN, CLOSED, UNKNOWN, NO_MODEL = "open", "closed", "unknown", "no model"


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class StatedWeights:
    """What the file states about one model or family; `model` is its name or a pattern."""

    model: str
    weights: Literal["open", "closed"]
    as_of: Noted = ""
    source: Noted = ""


def find_weights(model: str, path: str | Path | None = None) -> StatedWeights | None:
    """Return what the file states about a model, or None; raise `BadInput` for a wrong file.

    A name with a vendor in front (``z-ai/glm-5.2``) is also looked up without it.
    """
    path = Path(path or WEIGHTS)
    return next(fitting(load_weights(path, path.stat().st_mtime_ns if path.exists() else 0), model), None)


@lru_cache(maxsize=4)
def load_weights(path: Path, changed_ns: int = 0) -> list[StatedWeights]:
    """Return the entries of a file; read it again only if its modification time has changed."""
    return read_as(list[StatedWeights], filled(read_mapping(path).get("models")), f"{path}: models")


def weights_of_run(manifest: dict[str, Any]) -> str:
    """Return ``open``, ``closed``, ``unknown`` or ``no model``."""
    source = source_of(manifest)
    if source in ("scripted", "synthetic") or is_played(source):
        return NO_MODEL
    stated = find_weights(str(manifest["model"]))
    return stated.weights if stated else UNKNOWN
