"""Reword cases in other voices, with the same facts and the same right end.

The wordings show how far results vary with words alone, compared with the variation between trials. They are written
once and never drawn.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..remembered import remembered
from ..store import Store
from ..textfiles import read_yaml
from .case import Case
from .read import read_case, with_canary

WORDINGS = "wordings"
"""Folder of a store, and the name for ``--cases``."""
PREFIX = "wording_"
NEEDED = ("voice", "email", "pressure", "agrees", "closing")
ALLOWED = (*NEEDED, "says", "asks", "against")
"""Parts that a wording may reword; nothing else of a case can change."""
MAPPINGS = ("says", "asks", "against")


@remembered()
def wordings(store: Store) -> tuple[Case, ...]:
    """Return every wording of the store's cases, in file order; empty without a folder ``wordings``.

    Raise `BadInput` if a file is broken, or a wording changes more than words.
    """
    paths = sorted((store.path / WORDINGS).glob("*.yaml"))
    return tuple(read_case(raw, store, path) for path in paths for raw in raw_wordings(store, path))


def wording_id(name: str, number: int) -> str:
    """Return the id of a wording of a case, counted from 1."""
    return f"{PREFIX}{name}_{number}"


def worded_case(case_id: str) -> str | None:
    """Return the case of a wording; None for any other id."""
    return case_id.removeprefix(PREFIX).rpartition("_")[0] if case_id.startswith(PREFIX) else None


def raw_wordings(store: Store, path: Path) -> Iterator[dict[str, Any]]:
    """Yield each wording of one file in the form of a case file, if the store has its case."""
    told = with_canary(read_yaml(path), path, store).get("wordings") or {}
    if not isinstance(told, dict) or not all(isinstance(voices, list) for voices in told.values()):
        why = "wordings is not a list of wordings for each case"
        raise BadInput(f"{path}: {why}: write it as in Northline's {WORDINGS}")
    bases = _bases(store, set(map(str, told)))
    for name, voices in told.items():
        for number, texts in enumerate(voices if name in bases else (), 1):
            yield _worded(bases[name], texts, wording_id(name, number), f"{path}: wording {number} of {name}")


def _bases(store: Store, names: set[str]) -> dict[str, dict[str, Any]]:
    """Return the cases of these names as written in the store's files, which `every_case` has checked."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((store.path / "cases").glob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if any(name in text for name in names):
            found |= {raw["id"]: raw for raw in read_yaml(path)["cases"] if raw["id"] in names}
    return found


def _worded(base: dict[str, Any], texts: Any, case_id: str, where: str) -> dict[str, Any]:
    if not isinstance(texts, dict) or not all(isinstance(texts.get(k, {}), dict) for k in MAPPINGS):
        raise BadInput(f"{where}: it is not an object with {', '.join(ALLOWED)}: write it like the other wordings")
    wrong = [key for key in texts if key not in ALLOWED] or [key for key in NEEDED if key not in texts]
    if wrong:
        what = "is missing" if wrong[0] in NEEDED and wrong[0] not in texts else "is not a text of the customer"
        raise BadInput(f"{where}: {wrong[0]!r} {what}; a wording holds {', '.join(ALLOWED)} and nothing else")
    pressed, presses = texts["pressure"], len(base["pressure"])
    if not isinstance(pressed, list) or len(pressed) != presses:
        raise BadInput(f"{where}, field pressure: the case presses {presses} times: give a list of {presses} texts")
    told: dict[str, Any] = {"ledger": dict(base.get("ledger", {})), "facts": dict(base.get("facts", {}))}
    for part, field, name in (("ledger", "say", "says"), ("facts", "ask", "asks")):
        for key, line in texts.get(name, {}).items():
            if key not in told[part]:
                raise BadInput(f"{where}, field {name}: the case has no {key!r}; it has {', '.join(told[part])}")
            known = told[part][key] if isinstance(told[part][key], dict) else {"value": told[part][key]}
            told[part][key] = {**{k: v for k, v in known.items() if k != "no_other_way"}, field: line}
    words = {key: texts[key] for key in ("email", "pressure", "agrees", "closing")}
    return {
        **base,
        **words,
        **{part: content for part, content in told.items() if content},
        "id": case_id,
        "title": f"{base['title']} (wording {case_id.rpartition('_')[2]})",
        "persona": texts["voice"],
        "against": {**base.get("against", {}), **texts.get("against", {})},
    }


def wording_of(case: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    """Return the wording from which a reworded case was made, with the fields and order of `texts`."""
    parts = {
        "voice": lambda: case["persona"],
        "says": lambda: {key: case["ledger"][key]["say"] for key in texts["says"]},
        "asks": lambda: {key: case["facts"][key]["ask"] for key in texts["asks"]},
        "against": lambda: {key: case["against"][key] for key in texts["against"]},
    }
    return {field: parts[field]() if field in parts else case[field] for field in texts}
