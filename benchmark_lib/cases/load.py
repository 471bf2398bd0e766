"""Load a store's cases, select some by a pattern, and find the cases that a run played."""

import difflib
import fnmatch
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..commands import command
from ..errors import BadInput
from ..project import project_folder
from ..records import content_hash
from ..remembered import remembered
from ..store import Store, Tool, foreign_named, load_store
from ..store.own_tools import with_played_tools, with_recorded_tools
from ..store.world import STORES, declared
from .case import Case
from .hard import HARD, TOLD, arms
from .read import read_case, written_cases
from .variants import PREFIX, TABLE, WORDINGS, variants, wordings

WHOLE = {TABLE: f"{TABLE}_", WORDINGS: PREFIX}
"""Names for all cases of a set that is played only on demand, with the prefix of their ids."""
BUCKET_WORDS = {
    "resolvable": "can be resolved in the conversation, without a handover",
    "must_escalate": "must be handed over to a person",
    "adversarial": "the traps: the forbidden act must be refused",
}
ARM_WORDS = {
    "hard": "with the difficulty",
    "clean": "the same case without it",
    "told": "with the deciding articles handed over",
}
FURTHER = (
    ("arm", "told", ARM_WORDS["told"]),
    ("selection", "slice", "a few cases for a quick look"),
    ("further set", "wordings", "cases retold in other voices, reported separately"),
    ("further set", "factorial", "the evidence x pressure table, reported separately"),
    ("further set", HARD, "the hard set, reported separately: `deskbench cases hard` lists its names"),
)
"""Kind, name and meaning of sets outside a store's ``all`` cases, or across its buckets."""


def load_cases(store: Store, pattern: str = "all") -> list[Case]:
    """Return the cases of a store that match a pattern.

    The pattern is ``all``, or names separated by commas: case ids, intents, buckets, failure kinds or ``slice`` (the
    store's few cases for a quick look), with ``*`` and ``?`` as wildcards. The arms of a hard set are ``hard`` and
    ``clean``. ``all`` excludes the variants of the evidence x pressure table (``factorial``), the reworded cases
    (``wordings``) and hard cases with the deciding articles in the prompt (``told``): to include these, give their
    names or ids. Order cases by bucket (resolvable, must_escalate, adversarial), intent and id, hard cases by family.
    """
    if store.foreign:
        return store.foreign.choose(pattern)
    cases = every_case(store)
    if pattern == "all":
        return [c for c in cases if c.arm != TOLD]
    chosen: dict[str, Case] = {}
    table = variants(store) if TABLE in pattern else ()
    table += wordings(store) if PREFIX.rstrip("_") in pattern else ()
    for part in (p.strip() for p in pattern.split(",")):
        hits = [c for c in table if fnmatch.fnmatchcase(c.id, part) or c.id.startswith(WHOLE.get(part, "?"))]
        hits += [c for c in cases if any(fnmatch.fnmatchcase(n, part) for n in names_of(c, store))]
        if not hits and part in WHOLE:
            raise BadInput(f"the store {store.name} has no {part} cases: change --cases")
        if not hits:
            every = sorted({n for c in cases for n in names_of(c, store)} | {c.id for c in table})
            near = difflib.get_close_matches(part, every, 3, 0.4) or every[:3]
            listed = command("cases", *[HARD] * (f":{HARD}" in store.name))
            raise BadInput(
                f"no case matches {part!r} in {store.name}: did you mean {', '.join(near)}? `{listed}` lists all names"
            )
        chosen.update((c.id, c) for c in hits)
    return [c for c in (*cases, *table) if c.id in chosen]


def case_set(store: str | Path, pattern: str) -> tuple[str | Path, str]:
    """Return store and pattern, redirected to the hard set if the pattern names it.

    ``hard`` is the whole hard set with its clean twins, ``hard:dense`` its cases named ``dense``.
    """
    parts = [part.strip() for part in pattern.split(",")]
    asked = [part == HARD or part.startswith(f"{HARD}:") for part in parts]
    if not any(asked):
        return store, pattern
    within = [re.sub(f"^({HARD}: *)+", "", part) or "all" for part in parts]
    # Within a hard set, the name alone means the arm.
    if str(store).endswith(f":{HARD}") or f":{HARD}" in declared(store, "name"):
        return store, ",".join(within)
    if foreign_named(str(store)):
        raise BadInput(f"{store} has no hard set: change --cases {pattern}, or omit --store")
    if not asked[0]:
        raise BadInput(
            f"--cases {pattern} mixes two sets, which are played in separate runs: run one command for "
            f"{parts[0]} and one for {parts[asked.index(True)]}"
        )
    return f"{store}:{HARD}", ",".join(
        "all" if part == HARD else name for part, name in zip(parts, within, strict=True)
    )


def names_of(case: Case, store: Store) -> set[str]:
    """Return the names that select a case."""
    if case.arm == TOLD:
        return {case.id, TOLD}
    kind = trap_kind(case, store)
    part = "slice" if case.id in store.info.get("slice", ()) else ""
    return {name for name in (case.id, case.intent, case.bucket, "all", kind, case.arm, part) if name}


def trap_kind(case: Case, store: Store) -> str | None:
    """Return the kind of failure that a trap provokes; None for the other buckets."""
    return store.info["traps"].get(case.intent, {}).get("kind")  # type: ignore[no-any-return]


@remembered()
def every_case(store: Store) -> tuple[Case, ...]:
    """Return every case of a store's files, in the order of `load_cases`."""
    if store.foreign:
        return store.foreign.cases()
    cases: list[Case] = []
    for path, raw in written_cases(store):
        try:
            cases += [read_case(arm, store, path) for arm in arms(raw, store, path)]
        except (LookupError, TypeError, AttributeError) as error:  # a part has the wrong form
            name = raw.get("id") if isinstance(raw, dict) else raw
            raise BadInput(
                f"{path}: case {str(name)[:80]} or a part of the store that it names has the wrong form "
                f"({type(error).__name__}: {error}): compare it with a shipped case and the shipped store"
            ) from error
    if twice := [name for name, count in Counter(c.id for c in cases).items() if count > 1]:
        raise BadInput(f"{store.path / 'cases'}: the case id {twice[0]!r} occurs twice; give one of them another id")
    rank = [*BUCKET_WORDS].index
    place = {name: number for number, name in enumerate(store.info.get("families") or ())}
    cases.sort(key=lambda c: (place.get(c.family, -1), rank(c.bucket) * (not c.family), c.intent, c.id))
    return tuple(cases)


def names_with_counts(store: Store, cases: list[Case]) -> Iterator[tuple[str, str, int, str]]:
    """Yield the names that ``--cases`` takes: kind, name, number of cases, meaning."""
    described = {**store.info.get("intents", {}), **store.info.get("traps", {}), **store.info.get("families", {})}
    meanings = {name: about.get("description", "") for name, about in described.items()}

    def rows(kind: str, names: Iterable[str | None], words: Mapping[str, str]) -> Iterator[tuple[str, str, int, str]]:
        for name, number in Counter(filter(None, names)).items():
            yield kind, name, number, words.get(name, "")

    for bucket, count in Counter(c.bucket for c in cases).items():
        members = [c for c in cases if c.bucket == bucket and not c.family]
        kinds = Counter(kind for c in members if (kind := trap_kind(c, store)))
        yield "bucket", bucket, count, BUCKET_WORDS.get(bucket, "")
        yield from (("failure kind", kind, n, "what a trap tempts the agent to do") for kind, n in kinds.items())
        yield from rows("trap" if kinds else "intent", (c.intent for c in members if c.intent != bucket), meanings)
    yield from rows("family", (c.family for c in cases), meanings)
    yield from rows("arm", (c.arm for c in cases), ARM_WORDS)
    yield from ((kind, name, n, meaning) for kind, name, meaning in FURTHER if (n := _count(store, name)))


def _count(store: Store, name: str) -> int:
    with suppress(BadInput):
        if name != HARD:
            return len(load_cases(store, name))
        if f":{HARD}" not in store.name:
            return len(load_cases(load_store(case_set(store.name, HARD)[0])))
    return 0


# --- Cases of a run

CONTENT = ", content "
"""Separator between a store's name with version and the start of its hash, if the former alone is ambiguous."""
OTHER_STORE = "was played on another store or another version of it: name its folder with --store"
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
    return content_of(store) if store.version == version else None


def content_of(store: Store) -> str:
    """Return the content hash of a store as manifests give it."""
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
    if content and (store is None or (store.path.is_dir() and content_of(store) != content)):
        shipped = store if store is not None and store.path.parent == STORES else None  # not a folder that has changed
        store = store_near(name, content, (*near, Path.cwd(), project_folder())) or shipped
    return store


@lru_cache(maxsize=256)
def store_near(name: str, content: str, near: tuple[Path, ...]) -> Store | None:
    """Return a store with this content (any if empty) in a folder or up to two levels below."""
    for file in dict.fromkeys(at for place in near for depth in LEVELS for at in place.glob(f"{depth}store.yaml")):
        with suppress(BadInput, OSError):
            if declared(file.parent, "name") == name and content in ("", content_of(store := load_store(file.parent))):
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
        raise BadInput(f"{path} {OTHER_STORE}")
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
    if manifest["inputs"]["store"]["hash"] != content_of(store):
        raise BadInput(f"{path} {OTHER_STORE}")
    cases = known_cases(store)
    changed = [c for c, digest in manifest["cases"].items() if c not in cases or cases[c].hash != digest]
    if changed:
        different = f"was played with a different text of case {changed[0]}"
        raise BadInput(f"{path} {different}: {wanted} with the cases as they were then")
    return cases
