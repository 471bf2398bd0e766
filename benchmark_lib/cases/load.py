"""Load a store's cases, select some by a pattern, and list the names for selection."""

import difflib
import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from ..commands import command
from ..errors import BadInput
from ..remembered import remembered
from ..store import Store, foreign_named, load_store
from ..textfiles import read_yaml
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
    if str(store).endswith(f":{HARD}") or _is_hard_set(store):  # within a hard set, the name alone means the arm
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


def _is_hard_set(store: str | Path) -> bool:
    path = Path(store) / "store.yaml"
    info = read_yaml(path) if path.is_file() else None
    return isinstance(info, dict) and f":{HARD}" in str(info.get("name"))


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
