"""Results by use case: intents grouped as the operator of a desk would, by ``groups.yaml`` of the store."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from ...cases.played import store_played
from ...errors import BadInput
from ...records import BUCKETS
from ...scoring.metrics import METRICS, Metric
from ...scoring.scales import SHARE
from ...textfiles import read_yaml
from ..estimators.estimate import Estimate
from ..estimators.trials import median_and_mean
from ..panels import conversations_of, says_partial
from .headlines import case_matrix, of_bucket
from .rows import framed, interval

if TYPE_CHECKING:
    import pandas as pd

    from ...store import Store
    from ..frames import Results

FILE = "groups.yaml"
OTHER = "other"
"""The group of an intent that its store puts into none."""
BROKE_NOTHING = (
    "Share of conversations in which no process rule was broken and no forbidden call was made; an agent that does nothing "
    "breaks none."
)
ADHERENCE = Metric("adherence", "Adherence", "adherent", None, SHARE, True, BROKE_NOTHING)
SHOWN = {"resolved": METRICS["resolved"], "escalated": METRICS["escalation_accuracy"], "adherence": ADHERENCE}
"""What is shown of each group, by the beginning of its columns."""


def groups_of_store(store: Store) -> dict[str, dict[str, Any]]:
    """The groups of a store: title and intents by name; none where it has no ``groups.yaml``.

    Raises
    ------
    BadInput
        For a group without intents, an intent that the store does not have, or one in two groups.
    """
    path = store.file(FILE)
    if not path.is_file():
        return {}
    found = read_yaml(path) or {}
    seen: dict[str, str] = {}
    known = {**store.info.get("intents", {}), **store.info.get("traps", {})}
    for name, group in found.items():
        if not isinstance(group, dict) or not isinstance(group.get("intents"), list):
            raise BadInput(f"{path}: the group {name!r} has no list of intents: write `intents: [...]` under it")
        for intent in group["intents"]:
            if intent not in known:
                raise BadInput(f"{path}: {name}: there is no intent {intent!r}: take it out, or add it to store.yaml")
            if intent in seen:
                raise BadInput(f"{path}: {intent!r} is in the groups {seen[intent]} and {name}: leave it in one")
            seen[intent] = name
    return dict(found)


@says_partial
def group_table(results: Results | pd.DataFrame) -> pd.DataFrame:
    """Resolution and adherence of every entry by use case.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations; those of a store without groups are left out.

    Returns
    -------
    DataFrame
        One row per entry and group, in the order of the store: panel, entry, source, group, title, conversations, and of
        resolved (resolvable cases), escalated (cases that need a human, handed over) and adherence (all cases, traps
        too; see `ADHERENCE`) the mean over cases, ``_low``, ``_high``, ``_cases`` and ``_n`` (conversations with a
        value). The intents of a group are taken as given: the intervals are for other cases of these intents.
    """
    import pandas as pd

    rows = conversations_of(results)
    parts = [grouped(part, str(version)) for version, part in rows.groupby("store_version", sort=False)]
    ends = ("", "_low", "_high", "_cases", "_n")
    columns = " ".join(["panel entry source group title conversations", *(f"{n}{end}" for n in SHOWN for end in ends)])
    parts = [part for part in parts if len(part)]
    if not parts:
        return framed([], columns)
    rows = pd.concat(parts).assign(adherent=adherent)
    order = {title: place for place, title in enumerate(dict.fromkeys(rows.sort_values("place")["title"]))}
    keys = ["panel", "entry", "source", "group", "title"]
    found = [
        dict(zip(keys, key, strict=True)) | _numbers(mine)
        for key, mine in rows.groupby(keys, sort=False, observed=True)
    ]
    table = framed(found, columns)
    places = {entry: place for place, entry in enumerate(dict.fromkeys(table["entry"]))}
    table = table.assign(a=table["entry"].map(places), b=table["title"].map(order)).sort_values(["a", "b"])
    return table.drop(columns=["a", "b"]).reset_index(drop=True)


def grouped(rows: pd.DataFrame, version: str) -> pd.DataFrame:
    """Conversations of one store with its use case; none where the store has no groups or is not here.

    Added columns: group, title, place (in the order of the store), group_traps and group_intents, how many traps and how
    many other intents the store has in the group.
    """
    store = store_played({"inputs": {"store": {"value": version}}})
    groups = groups_of_store(store) if store is not None else {}
    if store is None or not groups:
        return rows[:0]
    of = {intent: name for name, group in groups.items() for intent in group["intents"]}
    names = rows["intent"].map(of).fillna(OTHER)
    places = {name: place for place, name in enumerate([*groups, OTHER])}
    titles = {name: str(group.get("title", name.replace("_", " "))) for name, group in groups.items()}
    titles[OTHER] = "Other"
    traps = {name: len(set(group["intents"]) & set(store.info.get("traps", {}))) for name, group in groups.items()}
    others = {name: len(set(group["intents"])) - traps[name] for name, group in groups.items()}
    found = rows.assign(
        group=names,
        title=names.map(titles),
        place=names.map(places),
        group_traps=names.map(traps).fillna(0).astype(int),
        group_intents=names.map(others).fillna(0).astype(int),
    )
    return found[found["bucket"].isin(BUCKETS)]


def adherent(rows: pd.DataFrame) -> pd.Series:
    """Whether no rule was broken and no forbidden call made; missing where the conversation was not scored."""
    broken = rows[[c for c in rows if c.startswith("rule_")]].eq("broken").any(axis=1)
    crossed = rows["unsafe"].fillna(False).astype(bool) | (rows["forbidden_calls"].fillna(0) > 0)
    return (~(broken | crossed)).astype("boolean").where(rows["scored"].fillna(False).astype(bool))


def _numbers(mine: pd.DataFrame) -> dict[str, Any]:
    """What is shown of one group of an entry."""
    row: dict[str, Any] = {"conversations": len(mine)}
    for name, metric in SHOWN.items():
        part = of_bucket(mine, metric)
        n = int(part[metric.column].notna().sum())
        mean = median_and_mean(case_matrix(part, metric)[0], rate=True).mean if n else Estimate(estimate=nan)
        row |= {**interval(mean, name, f"{name}_"), f"{name}_cases": mean.n, f"{name}_n": n}
    return row
