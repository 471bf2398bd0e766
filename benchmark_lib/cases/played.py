"""Find the store and the cases of a run from its manifest."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..errors import BadInput
from ..project import project_folder
from ..records import content_hash
from ..store import Store, Tool
from ..store.recorded_tools import with_played_tools, with_recorded_tools
from ..store.world import STORES, load_store
from ..textfiles import read_yaml
from .case import Case
from .load import every_case
from .variants import variants, wordings

CONTENT = ", content "
"""Separator between a store's name with version and the start of its hash, if the former alone is ambiguous."""
LEVELS = ("", "*/", "*/*/")
"""Depths at which a folder is searched for stores."""
_STORE_NAME = re.compile(r"\w[\w.:-]*")
"""Pattern of a store's name in a manifest, never a path, because anyone may have written the run file."""


def known_cases(store: Store) -> dict[str, Case]:
    """Return every case of a store by its id, including variants and wordings."""
    cases = every_case(store)
    table = () if store.foreign else (*variants(store), *wordings(store))
    return {case.id: case for case in (*cases, *table)}


def store_name(manifest: dict[str, Any]) -> str:
    """Return the name of the store that a run was played on."""
    value = manifest["inputs"]["store"]["value"]
    return str(value.get("name") if isinstance(value, dict) else value).partition(" ")[0]


def store_words(manifests: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the name and version of each run's store, by run_id.

    The start of the content hash is added if a shipped store or another run has the same words for different content.
    """
    parts = {m["run_id"]: m["inputs"]["store"] for m in manifests}
    words, contents = {}, defaultdict(set)
    for run_id, part in parts.items():
        value = part["value"]
        words[run_id] = f"{value.get('name')} {value.get('version')}" if isinstance(value, dict) else str(value)
        contents[words[run_id]].add(part.get("hash"))
    shipped = {label: _shipped(label) for label in contents}
    for run_id, label in words.items():
        content = parts[run_id].get("hash")
        if content != shipped[label] and (shipped[label] or len(contents[label]) > 1):
            words[run_id] = f"{label}{CONTENT}{str(content)[:6]}"
    return words


def _shipped(words: str) -> str | None:
    # The content hash of a shipped store, by name and version.
    name, _, version = words.partition(" ")
    folder = STORES / name.replace(":", "-")
    if not _STORE_NAME.fullmatch(name) or not (folder / "store.yaml").is_file():
        return None
    store = load_store(folder)
    return _content(store) if store.version == version else None


def _content(store: Store) -> str:
    return content_hash(orjson.dumps(store.hash))


def store_played(manifest: dict[str, Any], near: Sequence[Path] = ()) -> Store | None:
    """Return the store of a run, for pages and tables; None if it is not available here.

    If the store of that name has different content, search `near`, the current folder and the project. Add the user's
    own tools as the run file records them. Return None for a domain of tau2, whose tasks stay in its package.
    """
    named = _named_store(manifest, near)
    if named is None or named.foreign:
        return None
    store = with_recorded_tools(named, manifest)
    if store is named and (manifest["inputs"].get("tools") or {}).get("value"):
        try:
            every_case(store)  # its cases may name tools that the run file lacks
        except BadInput:
            return None
    return store


def own_store(manifest: dict[str, Any], near: Sequence[Path] = ()) -> str:
    """Return the name of a run's store, or an empty text if its kind is the shipped one's."""
    store = store_played(manifest, near)
    return store.name if store is not None and store.kind is not load_store().kind else ""


def _named_store(manifest: dict[str, Any], near: Sequence[Path] = ()) -> Store | None:
    name, content = store_name(manifest), manifest["inputs"]["store"].get("hash")
    store = None
    if _STORE_NAME.fullmatch(name):
        with suppress(BadInput):
            store = load_store(name)
    if content and (store is None or (store.path.is_dir() and _content(store) != content)):
        store = _store_near(name, content, (*near, Path.cwd(), project_folder())) or store
    return store


@lru_cache(maxsize=256)
def _store_near(name: str, content: str, near: tuple[Path, ...]) -> Store | None:
    # In one of these folders or up to two levels below.
    files = dict.fromkeys(at for place in near for depth in LEVELS for at in place.glob(f"{depth}store.yaml"))
    for file in files:
        with suppress(BadInput, OSError):
            if read_yaml(file).get("name") == name and _content(store := load_store(file.parent)) == content:
                return store
    return None


def store_of(
    path: Path,
    manifest: dict[str, Any],
    given: str | Path | None = None,
    tools: str | dict[str, Tool] | None = None,
    *,
    carried_out: bool = False,
) -> Store:
    """Return the given store, or the one that a run names, with the user's own tools of the run.

    Unless `tools` are given or must be `carried_out`, the run file's record of them suffices. Raise `BadInput` if the
    run was imported, its store is not available here under its name, or its tools are missing or different.
    """
    if manifest["source"] == "imported":
        raise BadInput(f"{path} was imported, so its scores stay as they came: name a run file that was played")
    store = load_store(given) if given is not None else _named_store(manifest)
    if store is None:
        raise BadInput(f"{path} was played on another store or another version of it: name its folder with --store")
    if tools is None and not carried_out:
        return with_recorded_tools(store, manifest)
    return with_played_tools(store, manifest, path, tools)


def cases_played(manifest: dict[str, Any], store: Store | None) -> dict[str, Case]:
    """Return a run's cases with unchanged text, by id; empty if the store is unusable."""
    try:
        cases = known_cases(store) if store is not None else {}
    except BadInput:
        return {}
    played = {name: digest for name, digest in manifest["cases"].items() if name in cases}
    return {name: cases[name] for name, digest in played.items() if cases[name].hash == digest}


def same_cases(path: Path, manifest: dict[str, Any], store: Store, wanted: str) -> dict[str, Case]:
    """Return every case of the store, if the run was played on this store and these texts.

    Raise `BadInput` if the store or a case differs. `wanted` is the intended use, for the message: ``score it``.
    """
    if manifest["inputs"]["store"]["hash"] != _content(store):
        raise BadInput(f"{path} was played on another store or another version of it: name its folder with --store")
    cases = known_cases(store)
    changed = [c for c, digest in manifest["cases"].items() if c not in cases or cases[c].hash != digest]
    if changed:
        different = f"was played with a different text of case {changed[0]}"
        raise BadInput(f"{path} {different}: {wanted} with the cases as they were then")
    return cases
