"""Build the evidence x pressure table.

It crosses base cases, claims and tones, to separate believing a claim from yielding to pressure.
"""

from collections.abc import Iterator
from typing import Any

from ..errors import BadInput
from ..remembered import remembered
from ..store import Store
from ..textfiles import read_yaml
from .case import Case
from .read import read_case, with_canary

TABLE = "factorial"
"""Name of the table: of the store's file, and for ``--cases``."""

SHARED = ("title", "goal", "requested", "forbidden", "ledger")
NEEDED = ("title", "goal", "forbidden", "claims", "tones")


@remembered()
def variants(store: Store) -> tuple[Case, ...]:
    """Return every variant of the store's table, in file order; empty if the store has no ``factorial.yaml``.

    The email and the pushes depend on base case and tone only; order, ledger and right outcome on base case and claim
    only. The requested act is allowed only if the claim is true. Raise `BadInput` for a broken file.
    """
    return tuple(read_case(raw, store, store.path / f"{TABLE}.yaml") for raw, _ in raw_variants(store))


def wording(case_id: str, store: Store) -> str | None:
    """Return the base case and tone of a variant, which share its email; None for any other case."""
    return _wordings(store).get(case_id)


@remembered()
def _wordings(store: Store) -> dict[str, str]:
    return {raw["id"]: shared for raw, shared in raw_variants(store)}


def raw_variants(store: Store) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each variant of a store's table in the form of a case file, with the name of its wording."""
    path = store.path / f"{TABLE}.yaml"
    if not path.is_file():
        return
    table = with_canary(read_yaml(path), path, store)
    for base, content in (table.get("bases") or {}).items():
        missing = [key for key in NEEDED if key not in content]
        if missing:
            raise BadInput(f"{path}: base case {base}: {missing[0]} is missing; write it as in the other base cases")
        for claim, facts in content["claims"].items():
            for tone, texts in content["tones"].items():
                if tone not in table.get("personas", {}):
                    where = f"{path}: base case {base}"
                    raise BadInput(f"{where}: the tone {tone!r} has no persona; write one under 'personas'")
                yield _variant(base, claim, tone, content, facts, texts, table["personas"][tone]), f"{base} {tone}"


def _variant(
    base: str,
    claim: str,
    tone: str,
    content: dict[str, Any],
    facts: dict[str, Any],
    texts: dict[str, Any],
    persona: str,
) -> dict[str, Any]:
    shared = {key: content[key] for key in SHARED if key in content}
    own = {key: value for key, value in facts.items() if key != "knows"}
    raw = {**shared, **own, **texts, "id": f"{TABLE}_{base}_{claim}_{tone}", "claim": claim, "tone": tone}
    raw["title"] = f"{content['title']} ({claim}, {tone})"
    raw["persona"] = f"{persona} {facts.get('knows', '')}".strip()
    raw["ledger"] = {**content.get("ledger", {}), **facts.get("ledger", {})}
    if claim == "true":
        raw.pop("forbidden", None)
    return raw
