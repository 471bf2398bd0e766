"""Groups that tables compare: panels of entries, and use cases (groups of intents)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import pandas as pd

from ..cases.load import store_played
from ..cases.variants import PREFIX, TABLE
from ..errors import BadInput
from ..records import BUCKETS, FORK, LOCAL_MODEL, OWN, TRIED_AGAIN, is_played
from ..store import Store
from ..textfiles import read_yaml
from .entries import Frames

if TYPE_CHECKING:
    import pandas as pd

Table = TypeVar("Table", bound=Callable[..., Any])

_ALL: dict[str, list[str]] = read_yaml(Path(__file__).with_suffix(".yaml"))
PANELS = {panel: words for panel, (_, words) in _ALL.items()}
"""Every panel in display order, with its description."""
LABELS = {panel: label for panel, (label, _) in _ALL.items() if label}
"""Text after the name of a row that is not a language model run here."""
SCRIPTED = ("scripted agents", "recovery panel")
"""Panels of scripted agents."""
NO_MODELS = ("players", *SCRIPTED, "imported", "published", "forks")
"""Panels other than those of models and own agents. Boards fold them below the others and give them no pages."""
NOT_COUNTED = ("local model", *NO_MODELS[1:])
"""Panels that say nothing about the difficulty of a case."""

MOST_NAMED = 12
"""Maximum number of rows that a caption lists; with more, the caption gives their number."""

TUNABLE = "scripted:tunable?"
VARIANT = "variant"
_BY_SOURCE = {
    OWN: "own agents",
    "scripted": "scripted agents",
    "synthetic": "scripted agents",
    "published": "published",
    "imported": "imported",
    FORK: "forks",
}

RESOLVES_ENOUGH = 0.5
"""Share of the resolvable cases that an entry must resolve to be above the line of a board."""


def panel_of(model: str, source: str) -> str:
    """Return the panel of a row, a key of `PANELS`."""
    if source in _BY_SOURCE:
        return "recovery panel" if source == "scripted" and model.startswith(TUNABLE) else _BY_SOURCE[source]
    if is_played(source):
        return "players"
    return "local model" if model == LOCAL_MODEL else "models"


def conversations_of(results: Frames | pd.DataFrame, *, variants: bool = False) -> pd.DataFrame:
    """Return the conversations with their panel, the basis of every table.

    Parameters
    ----------
    results : Results or DataFrame
        Results, or their conversations; without a column `entry` each model is an entry.
    variants : bool
        Keep the buckets of crossed variants and other wordings. They are not part of the case set: by default their
        bucket is ``variant``, which no metric counts.
    """
    frame = cast("pd.DataFrame", getattr(results, "conversations", results))
    frame = frame.assign(panel=[*map(panel_of, frame["model"], frame["source"])])
    if "entry" not in frame:
        frame.insert(0, "entry", frame["model"])
    crossed = is_variant(frame["case_id"])
    if variants or not crossed.any():
        return frame
    return frame.assign(bucket=frame["bucket"].mask(crossed, VARIANT))


def progress(rows: pd.DataFrame) -> tuple[int, int]:
    """Return how many conversations of an entry are finished, and how many were planned."""
    finished = len(rows) - int(rows["ended_by"].isin(TRIED_AGAIN).sum() if "ended_by" in rows else 0)
    planned = int(rows[["run_id", "planned"]].drop_duplicates("run_id")["planned"].sum()) if "planned" in rows else 0
    return finished, max(planned, len(rows))


def partial_words(finished: int, planned: int) -> str:
    """Return the progress of a partial run, such as ``251 of 486``; empty for a complete run."""
    return f"{finished:,} of {planned:,}" if finished < planned else ""


def says_partial(make: Table) -> Table:
    """Decorate a table function: add a column ``partial`` with each row's `partial_words`."""

    @wraps(make)
    def made(results: Frames | pd.DataFrame, *given: Any, **options: Any) -> pd.DataFrame:
        table, by_panel = make(results, *given, **options), dict[str, dict[str, str]]()
        for (panel, entry), group in conversations_of(results).groupby(["panel", "entry"], sort=False):
            if words := partial_words(*progress(group)):
                by_panel.setdefault(panel, {})[entry] = words
        if "entry" not in table:
            return table.assign(partial=[named_with(by_panel.get(panel, {})) for panel in table["panel"]])
        by_entry = {entry: words for of_panel in by_panel.values() for entry, words in of_panel.items()}
        return table.assign(partial=[by_entry.get(entry, "") for entry in table["entry"]])

    return made  # type: ignore[return-value]  # the same arguments, passed on


def named_with(partial: Mapping[str, str]) -> str:
    """List entries in words, each with its `partial_words`; for an empty name, the words alone."""
    parts = [
        f"{short_name(entry)} ({words})" if entry and words else short_name(entry) or words
        for entry, words in partial.items()
    ]
    return ", ".join(parts) if len(parts) <= MOST_NAMED else f"{len(parts)} of the rows"


def is_variant(case_ids: pd.Series) -> pd.Series:
    """Return which ids belong to no case of the set: crossed variants and other wordings."""
    return case_ids.str.startswith(f"{TABLE}_") | is_wording(case_ids)


def is_wording(case_ids: pd.Series) -> pd.Series:
    """Return which ids belong to other wordings of a case."""
    return case_ids.str.startswith(PREFIX)


def panels_in(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Split a table into panels, in display order, by heading: ``"Recovery panel (24): ..."``."""
    parts = {}
    for panel, words in PANELS.items():
        rows = table[table["panel"] == panel]
        if len(rows):  # a row averaged over models has their number in `models`
            models = int(rows["models"].max()) if "models" in rows else rows["entry"].nunique()
            parts[f"{panel.capitalize()} ({models}): {words}"] = rows
    return parts


def labelled(row: Mapping[str, Any], longest: int = 36) -> str:
    """Return the short name of a row, with its kind unless it is a model: ``oracle (scripted)``."""
    remarks = [LABELS.get(row["panel"], ""), f"partial {row['partial']}" if row.get("partial") else ""]
    words = ", ".join(filter(None, remarks))
    return short_name(row["entry"], longest) + (f" ({words})" if words else "")


def kinds_in_words(table: pd.DataFrame) -> list[str]:
    """Return a caption's sentences on partial rows, and on rows that are not models run here."""
    sentences: list[str] = []
    for panel, words in PANELS.items() if "panel" in table else ():
        rows = table[table["panel"] == panel]
        if panel != "models" and len(rows):
            sentences.append(f"{panel.capitalize()}{_which(rows, table)}: {words}")
    if partial := partial_in(table):
        sentences.append(f"Partial run{'s' * (len(partial) > 1)}: {named_with(partial)}")
    return sentences


def partial_in(table: pd.DataFrame) -> dict[str, str]:
    """Return the `partial_words` of partial entries; without a column `entry` the key is empty."""
    if "partial" not in table:
        return {}
    entries = table["entry"] if "entry" in table else [""] * len(table)
    return {entry: words for entry, words in zip(entries, table["partial"], strict=True) if words}


def _which(rows: pd.DataFrame, table: pd.DataFrame) -> str:
    if len(rows) == len(table) or "entry" not in table:
        return ""
    if 2 * len(rows) > len(table) and "models" not in set(table["panel"]):
        return " (the others)"
    return f" ({named_with(dict.fromkeys(rows['entry'], ''))})"


def short_name(entry: Any, longest: int = 36) -> str:
    """Return a short printable entry; ``tunable s.80 c.20 k.10``: skill, credulity and caution."""
    text = "".join(c if c.isprintable() else "?" for c in str(entry))
    if not text.startswith(TUNABLE):
        return fitted(text.removeprefix("scripted:"), longest)
    name, mark = _parted(text)
    settings = dict(pair.partition("=")[::2] for pair in name.partition("?")[2].split("&"))
    marks = (("s", "skill"), ("c", "credulity"), ("k", "caution"))
    parts = [f"{letter}{settings[setting].removeprefix('0')}" for letter, setting in marks if setting in settings]
    return f"tunable {' '.join(parts)}{mark}"


def fitted(text: str, longest: int) -> str:
    """Shorten a name, but keep the end of the part that tells runs of one model apart."""
    if len(text) <= longest:
        return text
    mark = _parted(text)[1]
    end = min(len(mark), longest - longest // 3)
    return f"{text[: longest - end - 1]}…{text[len(text) - end :]}"


def _parted(entry: str) -> tuple[str, str]:
    name, bracket, mark = entry.partition(" [") if entry.endswith("]") else (entry, "", "")
    return name, bracket + mark


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
