"""Whether a model's weights are open: a dated file that a user may edit; what nobody states stays unknown."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..project import DATA
from ..records import is_played, source_of
from .plain_data import read_mapping

WEIGHTS = DATA / "weights.yaml"
OPEN, CLOSED, UNKNOWN, NO_MODEL = "open", "closed", "unknown", "no model"
STATED = (OPEN, CLOSED)
FIELDS = frozenset({"model", "weights", "as_of", "source"})


@dataclass(frozen=True)
class StatedWeights:
    """What is stated about one model or family: the name or pattern, one of `STATED`, when it was read, and where."""

    model: str
    weights: str
    as_of: str
    source: str


def find_weights(model: str, path: str | Path | None = None) -> StatedWeights | None:
    """What the file states about a model, None where it says nothing; `BadInput` for a file with anything else in it.

    A name with a vendor in front (``z-ai/glm-5.2``) is also looked up without it.
    """
    path = Path(path or WEIGHTS)
    entries = load_weights(path, path.stat().st_mtime_ns if path.exists() else 0)
    names = dict.fromkeys((model.lower(), model.lower().rpartition("/")[2]))
    return next((e for name in names for e in entries if fnmatchcase(name, e.model.lower())), None)


@lru_cache(maxsize=4)
def load_weights(path: Path, changed_ns: int = 0) -> tuple[StatedWeights, ...]:
    """The entries of a file; it is read again only if it was changed at another time than before."""
    listed = read_mapping(path).get("models") or []
    if not isinstance(listed, list):
        raise BadInput(f"{path}: 'models' must be a list; begin each entry with a dash")
    return tuple(_entry(entry, f"{path}: models, entry {n}") for n, entry in enumerate(listed, 1))


def _entry(entry: Any, where: str) -> StatedWeights:
    if not isinstance(entry, dict) or not isinstance(entry.get("model"), str):
        raise BadInput(f"{where}: an entry names its 'model' and its weights; add the name")
    unknown = sorted(str(key) for key in entry if key not in FIELDS)
    if unknown:
        raise BadInput(
            f"{where} ({entry['model']:.60}): {unknown[0]!r} is not known; it holds {', '.join(sorted(FIELDS))}"
        )
    if entry.get("weights") not in STATED:
        raise BadInput(f"{where} ({entry['model']:.60}): 'weights' must be open or closed; correct it")
    return StatedWeights(entry["model"], entry["weights"], str(entry.get("as_of", "")), str(entry.get("source", "")))


def weights_of_run(manifest: dict[str, Any]) -> str:
    """Whether the weights of a run's model are open: what the run was told, otherwise what the file states.

    ``open``, ``closed``, ``unknown``, or ``no model`` for agents that are none.
    """
    told = [
        s.get("weights") for s in manifest.get("sessions") or () if isinstance(s, dict) and s.get("weights") in STATED
    ]
    if told:
        return str(told[-1])
    source = source_of(manifest)
    if source in ("scripted", "synthetic") or is_played(source):
        return NO_MODEL
    stated = find_weights(str(manifest["model"]))
    return stated.weights if stated else UNKNOWN
