"""Conversations by use case: the groups of intents in the store's ``groups.yaml``."""

from typing import Any

import pandas as pd

from ..cases.load import store_played
from ..errors import BadInput
from ..records import BUCKETS
from ..store import Store
from ..textfiles import read_yaml

FILE = "groups.yaml"
OTHER = "other"
"""Group of an intent that its store assigns to no group."""
UNGROUPED = "All intents"
"""Title of the one use case of a store without groups."""


def groups_of_store(store: Store) -> dict[str, dict[str, Any]]:
    """Return the groups of a store by name, with title and intents; empty without a file.

    Refuse a group without intents, an intent that the store does not have, and an intent in two groups.
    """
    path = store.file(FILE)
    if not path.is_file():
        return {}
    groups = read_yaml(path) or {}
    seen: dict[str, str] = {}
    known = {**store.info.get("intents", {}), **store.info.get("traps", {})}
    for name, group in groups.items():
        if not isinstance(group, dict) or not isinstance(group.get("intents"), list):
            raise BadInput(f"{path}: the group {name!r} has no list of intents: write `intents: [...]` under it")
        for intent in group["intents"]:
            if intent not in known:
                raise BadInput(f"{path}: {name}: there is no intent {intent!r}: remove it, or add it to store.yaml")
            if intent in seen:
                raise BadInput(f"{path}: {intent!r} is in the groups {seen[intent]} and {name}: keep it in only one")
            seen[intent] = name
    return dict(groups)


def with_use_case(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the conversations of the desk's buckets with their use case.

    A store without groups has one use case. Added columns: group, title, place (in the order of the store), group_traps
    and group_intents (the numbers of traps and of other intents in the group).
    """
    parts = [_placed(part, str(version)) for version, part in rows.groupby("store_version", sort=False)]
    return pd.concat(parts) if parts else _placed(rows, "")


def _placed(rows: pd.DataFrame, version: str) -> pd.DataFrame:
    store = store_played({"inputs": {"store": {"value": version}}})
    groups, rows = groups_of_store(store) if store is not None else {}, rows[rows["bucket"].isin(BUCKETS)]
    traps = set(store.info.get("traps", {})) if store is not None else {"unknown"}
    if not groups:
        return rows.assign(group=OTHER, title=UNGROUPED, place=0, group_traps=len(traps), group_intents=0)
    names = rows["intent"].map({intent: name for name, group in groups.items() for intent in group["intents"]})
    titles = {name: str(group.get("title", name.replace("_", " "))) for name, group in groups.items()}
    tempting = {name: len(traps.intersection(group["intents"])) for name, group in groups.items()}
    others = {name: len(set(group["intents"]) - traps) for name, group in groups.items()}
    return rows.assign(
        group=names.fillna(OTHER),
        title=names.map(titles).fillna("Other"),
        place=names.map({name: float(place) for place, name in enumerate(groups)}).fillna(len(groups)),
        group_traps=names.map(tempting).fillna(0).astype(int),
        group_intents=names.map(others).fillna(0).astype(int),
    )


def ends_for_desk(rows: pd.DataFrame) -> pd.DataFrame:
    """Return scored conversations with their outcome for the desk: right, wrong, with a person.

    A handover after a forbidden act counts as wrong.
    """
    rows = rows[rows["success"].notna() & rows["handed_over"].notna()]
    success, handed = rows["success"].astype(bool), rows["handed_over"].astype(bool)
    done = rows["forbidden_calls"].fillna(0) > 0 if "forbidden_calls" in rows else ~handed & False
    person = handed & (success | ((rows["bucket"] == "resolvable") & ~done))
    right = success & ~handed
    return rows.assign(is_right=right, is_wrong=~right & ~person, with_person=person)


def desk_view(conversations: pd.DataFrame) -> pd.DataFrame:
    """Return what `scope_table` counts, one row per conversation.

    The columns are use_case (its title) and end_for_desk (``right``, ``wrong`` or ``with a person``; missing for traps
    and unscored conversations).
    """
    asked = ends_for_desk(conversations[conversations["bucket"].isin(["resolvable", "must_escalate"])])
    ended = asked["is_right"].map({True: "right", False: "wrong"}).mask(asked["with_person"], "with a person")
    known = {"use_case": with_use_case(conversations)["title"], "end_for_desk": ended}
    return pd.DataFrame(known, index=conversations.index, dtype="object")
