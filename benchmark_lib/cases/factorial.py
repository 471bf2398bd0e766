"""The evidence x pressure table.

Base cases x claims x tones, so that believing a claim and folding to pressure can be told apart.
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
"""The name of the table: of the file of the store, and of what ``--cases`` asks for."""

SHARED = ("title", "goal", "requested", "forbidden", "ledger")
NEEDED = ("title", "goal", "forbidden", "claims", "tones")


@remembered()
def variants(store: Store) -> tuple[Case, ...]:
    """Every variant of the store's table, in the order of its file; none if the store has no ``factorial.yaml``.

    The email and the pushes of a variant depend on base case and tone alone; order, ledger and what is right depend on
    base case and claim alone. Only where the claim is true is the act that the customer asks for not forbidden.
    `BadInput` if the file is broken.
    """
    return tuple(read_case(raw, store, store.path / f"{TABLE}.yaml") for raw, _ in raw_variants(store))


def wording(case_id: str, store: Store) -> str | None:
    """What the email of a variant is shared by: its base case and tone. None for a case that is no variant."""
    return _wordings(store).get(case_id)


@remembered()
def _wordings(store: Store) -> dict[str, str]:
    return {raw["id"]: shared for raw, shared in raw_variants(store)}


def raw_variants(store: Store) -> Iterator[tuple[dict[str, Any], str]]:
    """Each variant of a store's table as a case would stand in a file, and the name of its wording."""
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
