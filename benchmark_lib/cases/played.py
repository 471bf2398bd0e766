"""The store and the cases that a run was played on, found again from its manifest."""

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
from .factorial import variants
from .load import every_case
from .wordings import wordings

CONTENT = ", content "
"""What stands in the words of a store before the beginning of its hash, where words alone do not tell it from another
one."""
LEVELS = ("", "*/", "*/*/")
"""Where the folder of a store is looked for below a place."""
_STORE_NAME = re.compile(r"\w[\w.:-]*")
"""What a manifest may name: a store by its name, never by a path, since anyone may have written a run file."""


def known_cases(store: Store) -> dict[str, Case]:
    """Every case of a store by its id, including the variants of its evidence x pressure table and its wordings."""
    cases = every_case(store)
    table = () if store.foreign else (*variants(store), *wordings(store))
    return {case.id: case for case in (*cases, *table)}


def store_name(manifest: dict[str, Any]) -> str:
    """The name of the store that a run was played on."""
    value = manifest["inputs"]["store"]["value"]
    return str(value.get("name") if isinstance(value, dict) else value).partition(" ")[0]


def store_words(manifests: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return name and version of the store of each run, by run_id.

    The beginning of the content hash follows where a shipped store, or another run, has the same words for other
    content.
    """
    parts = {m["run_id"]: m["inputs"]["store"] for m in manifests}
    words, contents = {}, defaultdict(set)
    for run_id, part in parts.items():
        value = part["value"]
        words[run_id] = f"{value.get('name')} {value.get('version')}" if isinstance(value, dict) else str(value)
        contents[words[run_id]].add(part.get("hash"))
    shipped = {said: _shipped(said) for said in contents}
    for run_id, said in words.items():
        content = parts[run_id].get("hash")
        if content != shipped[said] and (shipped[said] or len(contents[said]) > 1):
            words[run_id] = f"{said}{CONTENT}{str(content)[:6]}"
    return words


def _shipped(words: str) -> str | None:
    """Return the content hash, as manifests keep it, of the shipped store of a name and version; None where there is none."""
    name, _, version = words.partition(" ")
    folder = STORES / name.replace(":", "-")
    if not _STORE_NAME.fullmatch(name) or not (folder / "store.yaml").is_file():
        return None
    store = load_store(folder)
    return _content(store) if store.version == version else None


def _content(store: Store) -> str:
    return content_hash(orjson.dumps(store.hash))


def store_played(manifest: dict[str, Any], near: Sequence[Path] = ()) -> Store | None:
    """The store that a run names, for pages and tables that show its cases.

    Where the store of that name has another content, it is the folder of the very content that is `near`, or below the
    current folder or the project. Tools of the user's own stand beside its tools as the run file keeps them. None if it
    is not available on this machine, or is a domain of tau2: its tasks stay in its package, and pages show what was
    said
    about them.
    """
    found = _found(manifest, near)
    if found is None or found.foreign:
        return None
    store = with_recorded_tools(found, manifest)
    return store if store is not found or _is_readable(found, manifest) else None


def _is_readable(store: Store, manifest: dict[str, Any]) -> bool:
    """Whether the cases of a store can be read; where a run had own tools that it does not keep, they may name these."""
    if (manifest["inputs"].get("tools") or {}).get("value"):
        try:
            every_case(store)
        except BadInput:
            return False
    return True


def _found(manifest: dict[str, Any], near: Sequence[Path] = ()) -> Store | None:
    name, content = store_name(manifest), manifest["inputs"]["store"].get("hash")
    found = _store_named(name)
    if content and (found is None or not (found.foreign or _content(found) == content)):
        found = _store_near(name, content, (*near, Path.cwd(), project_folder())) or found
    return found


@lru_cache(maxsize=256)
def _store_near(name: str, content: str, near: tuple[Path, ...]) -> Store | None:
    """Return the store of a name and content whose folder is one of these places, or at most two levels below one."""
    for folder in dict.fromkeys(
        at.parent for place in near for depth in LEVELS for at in place.glob(f"{depth}store.yaml")
    ):
        with suppress(BadInput, OSError):
            if (
                read_yaml(folder / "store.yaml").get("name") == name
                and _content(store := load_store(folder)) == content
            ):
                return store
    return None


def _store_named(name: str) -> Store | None:
    if not _STORE_NAME.fullmatch(name):
        return None
    try:
        return load_store(name)
    except BadInput:
        return None


def store_of(
    path: Path,
    manifest: dict[str, Any],
    given: str | Path | None = None,
    tools: str | dict[str, Tool] | None = None,
    *,
    carried_out: bool = False,
) -> Store:
    """The store that is given, or else the one that a run names, with the tools of the user's own that it was played with.

    Parameters
    ----------
    given : str or Path, optional
        A store by name, or its folder.
    tools : str or dict of str to Tool, optional
        Where the user's own tools are, for a run that was played with some; by default in the module that it names.
    carried_out : bool
        Whether they have to be carried out; if not, and none are given, what the run file keeps of them is enough.

    Raises
    ------
    BadInput
        If the run was imported; if it names no store that is available here, or not by its name; if its tools are not
        found, or others.
    """
    if manifest["source"] == "imported":
        why = "so its scores stay as they came: name the run file that was played instead"
        raise BadInput(f"{path} was imported, {why}")
    store = load_store(given) if given is not None else _found(manifest)
    if store is None:
        raise BadInput(f"{path} was played on another store or another version of it: name its folder with --store")
    if tools is None and not carried_out:
        return with_recorded_tools(store, manifest)
    return with_played_tools(store, manifest, path, tools)


def cases_played(manifest: dict[str, Any], store: Store | None) -> dict[str, Case]:
    """The cases of a run by id, as far as their text is still what was played.

    None if the store is not available or is broken.
    """
    try:
        cases = known_cases(store) if store is not None else {}
    except BadInput:
        return {}
    played = {name: digest for name, digest in manifest["cases"].items() if name in cases}
    return {name: cases[name] for name, digest in played.items() if cases[name].hash == digest}


def same_cases(path: Path, manifest: dict[str, Any], store: Store, wanted: str) -> dict[str, Case]:
    """Every case of the store, if the run was played on this very store and on these texts of its cases.

    Parameters
    ----------
    wanted : str
        What is to be done with the run, for the error message: ``score it``.

    Raises
    ------
    BadInput
        If the store or a case is not the one the run was played on.
    """
    if manifest["inputs"]["store"]["hash"] != _content(store):
        raise BadInput(f"{path} was played on another store or another version of it: name its folder with --store")
    cases = known_cases(store)
    changed = [c for c, digest in manifest["cases"].items() if c not in cases or cases[c].hash != digest]
    if changed:
        why = f"{wanted} with the cases of that time"
        raise BadInput(f"{path} was played with another text of case {changed[0]}: {why}")
    return cases
