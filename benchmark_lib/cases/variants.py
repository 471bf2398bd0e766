"""Make cases from other cases: evidence x pressure variants and wordings."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..remembered import remembered
from ..store import Store
from ..textfiles import read_yaml
from .case import Case
from .read import read_case, with_canary, written_cases

TABLE = "factorial"
"""Name of the table's file in a store, and of the table for ``--cases``."""
_VARIANT = re.compile(rf"{TABLE}_(.+)_(?:true|false|unprovable)_([a-z]+)")
SHARED = ("title", "goal", "requested", "forbidden", "ledger")
NEEDED = ("title", "goal", "forbidden", "claims", "tones")
WORDINGS = "wordings"
"""Folder of the wordings in a store, and their name for ``--cases``."""
PREFIX = "wording_"
FIELDS_NEEDED = ("voice", "email", "pressure", "agrees", "closing")
MAPPINGS = ("says", "asks", "against")
ALLOWED = (*FIELDS_NEEDED, *MAPPINGS)
"""Parts that a wording may reword; nothing else in a case can change."""


@remembered()
def variants(store: Store) -> tuple[Case, ...]:
    """Return every variant of the table, in file order; empty without ``factorial.yaml``.

    Email and pushes depend only on base case and tone; order, ledger and right outcome depend only on base case and
    claim. The requested act is allowed only if the claim is true.
    """
    return tuple(read_case(raw, store, store.path / f"{TABLE}.yaml") for raw in raw_variants(store))


def wording(case_id: str) -> str | None:
    """Return a variant's base case and tone, which determine its email; None for other cases."""
    variant = _VARIANT.fullmatch(case_id)
    return f"{variant[1]} {variant[2]}" if variant else None


def raw_variants(store: Store) -> Iterator[dict[str, Any]]:
    """Yield each variant of the table in the form of a case file."""
    path = store.path / f"{TABLE}.yaml"
    if not path.is_file():
        return
    table = with_canary(read_yaml(path), path, store)
    personas = table.get("personas", {})
    for base, content in (table.get("bases") or {}).items():
        where = f"{path}: base case {base}"
        if missing := [key for key in NEEDED if key not in content]:
            raise BadInput(f"{where}: {missing[0]} is missing; write it as in the other base cases")
        shared = {key: content[key] for key in SHARED if key in content}
        for claim, facts in content["claims"].items():
            own = {key: value for key, value in facts.items() if key != "knows"}
            for tone, texts in content["tones"].items():
                if tone not in personas:
                    raise BadInput(f"{where}: the tone {tone!r} has no persona; write one under 'personas'")
                raw = {**shared, **own, **texts, "id": f"{TABLE}_{base}_{claim}_{tone}", "claim": claim, "tone": tone}
                raw["title"] = f"{content['title']} ({claim}, {tone})"
                raw["persona"] = f"{personas[tone]} {facts.get('knows', '')}".strip()
                raw["ledger"] = {**content.get("ledger", {}), **facts.get("ledger", {})}
                if claim == "true":
                    raw.pop("forbidden", None)
                yield raw


@remembered()
def wordings(store: Store) -> tuple[Case, ...]:
    """Return every wording of the cases, in file order; empty without a folder ``wordings``.

    Raise `BadInput` if a file is broken, or a wording changes more than the words.
    """
    paths = sorted((store.path / WORDINGS).glob("*.yaml"))
    return tuple(read_case(raw, store, path) for path in paths for raw in raw_wordings(store, path))


def wording_id(name: str, number: int) -> str:
    """Return the id of a wording of a case, counted from 1."""
    return f"{PREFIX}{name}_{number}"


def worded_case(case_id: str) -> str | None:
    """Return the case that a wording rewords; None for any other id."""
    return case_id.removeprefix(PREFIX).rpartition("_")[0] if case_id.startswith(PREFIX) else None


def raw_wordings(store: Store, path: Path) -> Iterator[dict[str, Any]]:
    """Yield each wording of one file in the form of a case file, if the store has its case."""
    by_case = with_canary(read_yaml(path), path, store).get("wordings") or {}
    if not isinstance(by_case, dict) or not all(isinstance(voices, list) for voices in by_case.values()):
        raise BadInput(f"{path}: wordings is not a list of wordings for each case: write it as Northline's are")
    bases = {raw["id"]: raw for _, raw in written_cases(store)}
    for name, voices in by_case.items():
        for number, texts in enumerate(voices if name in bases else (), 1):
            yield _worded(bases[name], texts, wording_id(name, number), f"{path}: wording {number} of {name}")


def _worded(base: dict[str, Any], texts: Any, case_id: str, where: str) -> dict[str, Any]:
    if not isinstance(texts, dict) or not all(isinstance(texts.get(k, {}), dict) for k in MAPPINGS):
        raise BadInput(f"{where}: it is not an object with {', '.join(ALLOWED)}: write it like the other wordings")
    wrong = [key for key in texts if key not in ALLOWED] or [key for key in FIELDS_NEEDED if key not in texts]
    if wrong:
        what = "is missing" if wrong[0] in FIELDS_NEEDED and wrong[0] not in texts else "is not a text of the customer"
        raise BadInput(f"{where}: {wrong[0]!r} {what}; a wording may have only {', '.join(ALLOWED)}")
    pressed, presses = texts["pressure"], len(base["pressure"])
    if not isinstance(pressed, list) or len(pressed) != presses:
        raise BadInput(f"{where}, field pressure: the case has {presses} lines of pressure: list {presses} texts")
    reworded: dict[str, Any] = {"ledger": dict(base.get("ledger", {})), "facts": dict(base.get("facts", {}))}
    for part, field, name in (("ledger", "say", "says"), ("facts", "ask", "asks")):
        for key, line in texts.get(name, {}).items():
            if key not in reworded[part]:
                raise BadInput(f"{where}, field {name}: the case has no {key!r}; it has {', '.join(reworded[part])}")
            known = reworded[part][key] if isinstance(reworded[part][key], dict) else {"value": reworded[part][key]}
            reworded[part][key] = {**{k: v for k, v in known.items() if k != "no_other_way"}, field: line}
    words = {key: texts[key] for key in ("email", "pressure", "agrees", "closing")}
    return {
        **base,
        **words,
        **{part: content for part, content in reworded.items() if content},
        "id": case_id,
        "title": f"{base['title']} (wording {case_id.rpartition('_')[2]})",
        "persona": texts["voice"],
        "against": {**base.get("against", {}), **texts.get("against", {})},
    }


def wording_of(case: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
    """Return a reworded case's own wording, with the fields and order of `texts`."""
    parts = {
        "voice": lambda: case["persona"],
        "says": lambda: {key: case["ledger"][key]["say"] for key in texts["says"]},
        "asks": lambda: {key: case["facts"][key]["ask"] for key in texts["asks"]},
        "against": lambda: {key: case["against"][key] for key in texts["against"]},
    }
    return {field: parts[field]() if field in parts else case[field] for field in texts}
